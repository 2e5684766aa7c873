//! `ernn data show` through the real binary, and its page in a real browser: Debian's chromium, without a window.

mod support;

use support::Place;
use support::browser::{DESK, PHONE, chromium, layout, screenshot};

/// Persons with missing values, sequences of several lengths, and a name that is markup.
fn persons() -> Place {
    let place = Place::new();
    let mut text = String::from("series,person,x,<b>y,label\n");
    for series in 0..24 {
        let (person, label) = (
            ["anna", "ben", "cleo"][series % 3],
            ["rise & <i>fall", "rest"][series / 2 % 2],
        );
        for step in 0..5 + series % 7 {
            let x = if step == 3 {
                String::new()
            } else {
                format!("{}.5", step * (1 + series / 2 % 2))
            };
            text += &format!("s{series},{person},{x},{},{label}\n", (series * 5 + step * 3) % 7);
        }
    }
    place.write("persons.csv", text);
    place
}

const SHOW: &str = "data show persons.csv --group-column person --label-column label --out page.html";

#[test]
fn the_page_says_what_there_is_and_needs_nothing_else() {
    let place = persons();
    assert_eq!(place.ok(SHOW).stdout, "page.html\n");
    let html = place.text("page.html");
    for outside in [
        "http://", "https://", "<script", "<link", "@import", "url(", "<img", "<b>", "<i>",
    ] {
        assert!(
            !html.replace("http://www.w3.org/2000/svg", "").contains(outside),
            "{outside}"
        );
    }
    for part in [
        "<h1>persons.csv</h1>",
        "24 sequences of 3 groups in the train part; 2 channels.",
        "<h2>Classes</h2>",
        "rise &amp; &lt;i&gt;fall",
        "<h2>Lengths</h2>",
        "<h2>Examples</h2>",
        "&lt;b&gt;y</li>",
        "12.9 %</td>",
        "<h2>Channels by class</h2>",
        "<h2>Channels by group</h2>",
        "<th scope=\"row\">cleo</th>",
    ] {
        assert!(html.contains(part), "no `{part}` in {html}");
    }
    place.ok(SHOW);
    assert_eq!(html, place.text("page.html"), "the same data, the same page");
    place.write("notes.html", "mine");
    place.fails("data show digits --out notes.html", 2, &["--out: found notes.html"]);
    place.fails("data show digits --window 5", 2, &["--window"]);
    // Data of other kinds: many channels, pictures, text; the test part is not shown.
    place.ok("data show japanese-vowels --out jv.html");
    let html = place.text("jv.html");
    assert!(
        html.contains("fill-opacity") && html.contains("370 sequences in the test part"),
        "a map of shades"
    );
    assert!(
        !html.contains(">test</th>"),
        "the classes of the test part are not looked at"
    );
    place.write("story.txt", "once upon a time there was a king and a queen ".repeat(20));
    place.ok("data show story.txt --out story.html");
    assert!(place.text("story.html").contains("once upon a time"));
}

#[test]
fn a_browser_shows_the_page_and_nothing_is_cut() {
    let Some(browser) = chromium() else {
        return;
    };
    let place = persons();
    place.ok(SHOW);
    place.ok("data show japanese-vowels --out jv.html");
    for page in ["page.html", "jv.html"] {
        for size in [PHONE, DESK] {
            for dark in [false, true] {
                let picture = screenshot(&browser, &place, size, dark, page);
                assert!(picture.ink() > 0.01 && picture.colors() > 30, "{page}: blank");
                assert_eq!(picture.paper(), if dark { [13, 17, 23] } else { [255, 255, 255] });
            }
            layout(&browser, &place, size, page, "").check(page);
        }
    }
}
