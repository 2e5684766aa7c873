//! `ernn report` through the real binary, and its page in a real browser: Debian's chromium, without a window.

mod support;

use support::Place;
use support::browser::{DESK, PHONE, browse, chromium, layout, screenshot, with_script};

/// Results of an experiment, one of them cut short, a comparison and a run.
fn results() -> Place {
    let place = Place::new();
    let tiny = "reproduce japanese-vowels --quick --threads 1";
    place.ok(&format!("{tiny} --rows ernn-k1,lstm,rnn --seeds 2"));
    place.ok(&format!("{tiny} --rows ernn-k3 --time-limit 0.0000001"));
    let little = "--epochs 2 --hidden 6 --rank 2 --threads 1";
    place.ok(&format!(
        "compare digits {little} --cells ernn,rnn --iterations 1,3 --seeds 1 --out runs/digits-compare"
    ));
    place.ok(&format!("train digits {little} --out runs/<b>digits"));
    place
}

const REPORT: &str = "report results runs/digits-compare runs/<b>digits --title A&B";

#[test]
fn the_page_needs_nothing_else_and_says_everything() {
    let place = results();
    let done = place.ok(REPORT);
    assert_eq!(done.stdout, "report.html\nreport.md\n");
    let html = place.text("report.html");
    for outside in [
        "http://", "https://", "<script", "<link", "@import", "url(", "<img", "<b>",
    ] {
        let found = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(outside), "{outside}");
    }
    let parts = [
        "<h1>A&amp;B</h1>",
        "japanese-vowels/honest-quick",
        "Tiny version: these numbers say that it runs",
        "<th scope=\"row\">ERNN(K=1)</th>",
        "ernn-k3, seed 1: cut short after 0 of 2 epochs",
        "Comparison on digits",
        "Runs on digits",
        "&lt;b&gt;digits, ernn",
        "Confusion matrix of LSTM (2 seeds together)",
        "Settings of RNN",
        "Seconds of training until the validation part shows",
        "Training loss",
        "Validation accuracy, %",
        "seconds of training",
        "size in KB",
    ];
    for part in parts {
        assert!(html.contains(part), "no `{part}`");
    }
    let markdown = place.text("report.md");
    for part in [
        "# A&amp;B\n",
        "| ERNN(K=1) ",
        "\n- ernn-k3, seed 1: cut short after 0 of 2 epochs",
        "## Comparison on digits",
    ] {
        assert!(markdown.contains(part), "no `{part}` in {markdown}");
    }
    assert!(!markdown.contains("<b>"));
}

/// A pipe or a device is not looked into: it may have no end.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_replaced() {
    let place = Place::new();
    place.ok("reproduce japanese-vowels --quick --threads 1 --rows rnn");
    place.ok("report results --out page.html");
    let (page, pipe) = (place.text("page.html"), place.path("pipe.html"));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    // Whoever reads the pipe finds an older report in it.
    std::thread::spawn(move || std::fs::write(pipe, page));
    place.fails(
        "report results --out pipe.html",
        2,
        &["--out: found pipe.html, which is no report"],
    );
}

#[test]
fn an_older_report_is_replaced_and_nothing_else() {
    let place = Place::new();
    place.ok("reproduce japanese-vowels --quick --threads 1 --rows rnn");
    place.ok("report results --out out/page.html");
    let first = place.text("out/page.html");
    place.ok("report results --out out/page.html");
    assert_eq!(first, place.text("out/page.html"), "the same results, the same page");
    place.write("notes.html", "mine");
    place.fails(
        "report results --out notes.html",
        2,
        &["--out: found notes.html, which is no report"],
    );
    place.write("page.md", "mine");
    place.fails(
        "report results --out page.html",
        2,
        &["--out: found page.md, which is no report"],
    );
    assert!(!place.path("page.html").exists());
    place.fails(
        "report results --out report.md",
        2,
        &["expected a name that does not end in .md"],
    );
}

#[test]
fn refuses_what_is_no_result() {
    let place = Place::new();
    place.write("empty/notes.json", "{}");
    place.write("broken.json", "{\"experiment\": 3, \"history\": []}");
    place.write("tree/x.json", "{\"experiment\": \"x\", \"history\": 3}");
    place.fails("report nowhere", 1, &["nowhere: cannot read"]);
    place.fails(
        "report empty",
        1,
        &["empty: found no result, expected results of ernn reproduce"],
    );
    place.fails(
        "report broken.json",
        1,
        &["broken.json: found", "expected a result file"],
    );
    place.fails("report tree", 1, &["x.json: found", "expected a result file"]);
    place.fails("report", 2, &["<RUNS>"]);
}

#[test]
fn a_browser_shows_the_page_on_phone_and_desk_in_light_and_dark() {
    let Some(browser) = chromium() else {
        return;
    };
    let place = results();
    place.ok(REPORT);
    for size in [PHONE, DESK] {
        let light = screenshot(&browser, &place, size, false, "report.html");
        let dark = screenshot(&browser, &place, size, true, "report.html");
        for (name, picture) in [("light", &light), ("dark", &dark)] {
            assert_eq!(picture.width, size.0);
            assert!(picture.ink() > 0.01, "{name}: blank, {} of the pixels", picture.ink());
            assert!(picture.colors() > 30, "{name}: {} colors", picture.colors());
        }
        assert_eq!(light.paper(), [255, 255, 255]);
        assert_eq!(dark.paper(), [13, 17, 23]);
    }
}

#[test]
fn nothing_is_cut_on_phone_and_desk_and_no_texts_meet() {
    let Some(browser) = chromium() else {
        return;
    };
    let place = results();
    place.ok(REPORT);
    let open = "document.querySelectorAll('details').forEach(details => details.open = true)";
    for size in [PHONE, DESK] {
        for script in ["", open] {
            let found = layout(&browser, &place, size, "report.html", script);
            found.check("report.html");
            if size == DESK {
                assert_eq!(found.cut_boxes, 0.0, "on a desk nothing has to scroll: {found:?}");
            }
        }
    }
}

#[test]
fn all_tables_are_shown() {
    let Some(browser) = chromium() else {
        return;
    };
    let place = results();
    place.ok(REPORT);
    // innerText is what a person sees: hidden text is not in it. Details are opened first.
    let script = "document.querySelectorAll('details').forEach(details => details.open = true);
        document.body.innerHTML = '<pre>' + document.body.innerText.replaceAll('<', '&lt;') + '</pre>';";
    let page = with_script(&place, "report.html", script);
    let text = browse(
        &browser,
        &place,
        PHONE,
        &["--virtual-time-budget=2000", "--dump-dom"],
        page,
    );
    let parts = [
        "ERNN(K=1)",
        "ERNN(K=3)",
        "LSTM",
        "RNN",
        "cut short",
        "0/1, 1 cut short",
        "lowest to highest",
        "at least",
        "what it was called",
        "epochs = 2",
        "Comparison on digits",
        "ernn-k3",
        "A&amp;B",
    ];
    for part in parts {
        assert!(text.contains(part), "no `{part}` on the page");
    }
}
