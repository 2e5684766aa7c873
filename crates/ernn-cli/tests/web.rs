//! `ernn export --to web` through the real binary, and its page in a real browser: Debian's chromium, without a window.

mod support;

use std::process::Command;

use support::browser::{DESK, PHONE, browse, chromium, layout, screenshot, with_script};
use support::{Place, easy_csv};

fn has(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: no {program}");
    }
    found
}

/// A run on easy data; `None` if there is nothing that makes WebAssembly.
fn trained(flags: &str) -> Option<Place> {
    if !["clang", "wasm-ld"].into_iter().all(has) {
        return None;
    }
    let place = Place::new();
    place.write("train.csv", easy_csv(40));
    place.ok(&format!("train train.csv --epochs 4 --hidden 6 {flags} --out run"));
    Some(place)
}

/// What the browser makes of a page.
fn shown(browser: &std::path::Path, place: &Place, page: &str) -> String {
    browse(
        browser,
        place,
        DESK,
        &["--virtual-time-budget=3000", "--dump-dom"],
        page,
    )
}

/// The text of an element.
fn text_of<'a>(page: &'a str, id: &str) -> &'a str {
    let rest = page.split(&format!("id=\"{id}\"")).nth(1).unwrap_or_default();
    let rest = rest.split_once('>').unwrap_or_default().1;
    rest.split_once('<').unwrap_or_default().0
}

#[test]
fn a_page_says_in_a_browser_what_predict_says() {
    let Some(place) = trained("--cell ernn --rank 2") else {
        return;
    };
    for (format, out) in [("f32", "float"), ("int8", "whole")] {
        let done = place.ok(&format!(
            "export run --to web --out {out} --name ernn --calibrate train.csv --format {format}"
        ));
        assert_eq!(done.stdout, format!("{out}\n"));
        assert!(done.stderr.contains("it needs no other file"), "{}", done.stderr);
    }
    let Some(browser) = chromium() else {
        return;
    };
    // The page begins with one sequence of the first class that occurs, which is the file's first.
    let said = place.ok("predict run train.csv --format csv").stdout;
    let class = ["up", "down"].into_iter().find(|class| {
        let first = said.lines().nth(1).unwrap_or_default();
        first.split(',').any(|field| field == *class)
    });
    for page in ["float/ernn.html", "whole/ernn.html"] {
        let dom = shown(&browser, &place, page);
        assert!(
            text_of(&dom, "selftest").starts_with("Self-test passed"),
            "{page}: {dom}"
        );
        let verdict = text_of(&dom, "verdict");
        assert!(
            verdict.starts_with(class.unwrap()) && verdict.contains('%'),
            "{page}: {verdict}"
        );
        assert!(dom.contains("<polyline"), "{page}: no curve");
        // What is no step is named.
        let wrong = with_script(
            &place,
            page,
            "setTimeout(() => { element('steps').value = '1 2\\n1 x'; run(); }, 500)",
        );
        let dom = shown(&browser, &place, wrong);
        assert_eq!(text_of(&dom, "problem"), "line 2: found “x”, expected a number");
        assert_eq!(text_of(&dom, "verdict"), "");
    }
}

#[test]
fn a_page_fits_phone_and_desk_in_light_and_dark() {
    let (Some(place), Some(browser)) = (trained("--cell rnn"), chromium()) else {
        return;
    };
    place.ok("export run --to web --out out --name ernn");
    for size in [PHONE, DESK] {
        let [light, dark] = [false, true].map(|dark| screenshot(&browser, &place, size, dark, "out/ernn.html"));
        for picture in [&light, &dark] {
            assert!(picture.ink() > 0.01 && picture.colors() > 30, "blank");
        }
        assert_eq!((light.paper(), dark.paper()), ([255, 255, 255], [13, 17, 23]));
        layout(&browser, &place, size, "out/ernn.html", "").check("out/ernn.html");
        // Amounts stand in one line with their numbers, whatever the names.
        let long = "model.outputs.forEach((name, place) => { model.outputs[place] = (name + '-of-many-letters').repeat(4); }); run()";
        layout(&browser, &place, size, "out/ernn.html", long).check("out/ernn.html, long names");
        let rows = "[...document.querySelectorAll('#outputs tr')].map(row => { const range = document.createRange(); \
                    range.selectNodeContents(row.cells[1]); return range.getClientRects().length; }).join()";
        let legend = "document.querySelectorAll('#chart .legend li').length";
        let page = with_script(
            &place,
            "out/ernn.html",
            &format!("setTimeout(() => {{ document.title = {rows} + '|' + {legend} }}, 500)"),
        );
        let dom = shown(&browser, &place, page);
        assert!(
            dom.contains("<title>1,1|2</title>"),
            "each number in one line, two names: {dom}"
        );
    }
}

#[test]
fn without_a_compiler_nothing_is_written() {
    let place = Place::new();
    place.write("train.csv", easy_csv(20));
    place.ok("train train.csv --cell rnn --epochs 1 --hidden 4 --out run");
    let mut command = place.command("export run --to web --out out --name ernn");
    let done = support::finish(command.env("PATH", place.path("nothing")).output().unwrap());
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stderr.contains("found no clang, expected one"), "{}", done.stderr);
    assert!(done.stderr.contains("nothing was written"), "{}", done.stderr);
    assert!(!place.path("out").exists());
}
