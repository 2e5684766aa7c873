//! Pages in a real browser: Debian's chromium, without a window.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Place;

/// A phone held upright.
pub const PHONE: (usize, usize) = (390, 844);
pub const DESK: (usize, usize) = (1280, 900);

/// The browser, if it is there.
pub fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut places = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    let found = places.find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: no chromium on the PATH");
    }
    found
}

/// The browser with a profile of its own.
pub fn browse(
    browser: &Path,
    place: &Place,
    (width, height): (usize, usize),
    arguments: &[&str],
    page: &str,
) -> String {
    let (mut command, _profile) = profile_of(browser, (width, height));
    let done = command
        .args(arguments)
        .arg(format!("file://{}", place.path(page).display()))
        .current_dir(place.path("."))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// The browser without a window, with a profile of its own that goes away.
pub fn profile_of(browser: &Path, (width, height): (usize, usize)) -> (Command, tempfile::TempDir) {
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new(browser);
    command
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ])
        .args([
            "--no-first-run",
            "--disable-background-networking",
            "--force-device-scale-factor=1",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={width},{height}"));
    (command, profile)
}

/// Red, green and blue of every pixel, and the width of a line.
pub struct Picture {
    pub width: usize,
    pixels: Vec<[u8; 3]>,
}

pub fn screenshot(browser: &Path, place: &Place, size: (usize, usize), dark: bool, page: &str) -> Picture {
    let name = format!("{}{dark}.png", size.0);
    let picture = format!("--screenshot={}", place.path(&name).display());
    // Blink's own numbers: 0 prefers dark, 1 light.
    let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
    browse(browser, place, size, &[&picture, &scheme], page);
    let decoder = png::Decoder::new(BufReader::new(File::open(place.path(&name)).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let samples = info.color_type.samples();
    assert!(samples >= 3, "a colored picture");
    let pixels = bytes[..info.buffer_size()].chunks_exact(samples);
    Picture {
        width: info.width as usize,
        pixels: pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
    }
}

impl Picture {
    /// The color at the left edge, where nothing stands.
    pub fn paper(&self) -> [u8; 3] {
        self.pixels[self.width + 1]
    }

    /// Part of the pixels that differ clearly from the paper.
    pub fn ink(&self) -> f64 {
        let paper = self.paper();
        let differs = |pixel: &&[u8; 3]| pixel.iter().zip(paper).any(|(&a, b)| a.abs_diff(b) > 60);
        self.pixels.iter().filter(differs).count() as f64 / self.pixels.len() as f64
    }

    pub fn colors(&self) -> usize {
        let mut colors: Vec<[u8; 3]> = self.pixels.clone();
        colors.sort_unstable();
        colors.dedup();
        colors.len()
    }
}

/// A copy of the page, for the test alone, with a script that measures it.
pub fn with_script(place: &Place, page: &str, script: &str) -> &'static str {
    let page = place.text(page);
    let name = "measured.html";
    let script = format!("<script>{script}</script></body>");
    fs::write(place.path(name), page.replace("</body>", &script)).unwrap();
    name
}

/// What a page may not do on a screen, counted.
#[derive(Debug, PartialEq)]
pub struct Layout {
    /// Width of the screen.
    pub window: f64,
    /// What the page is wider than that.
    pub sideways: f64,
    /// Elements that reach over the edge.
    pub over: f64,
    /// Boxes that scroll: what is in them is cut. Those of main tables, and all.
    pub cut_tables: f64,
    pub cut_boxes: f64,
    /// Numbers that people look for and that are not on the screen, from left to right.
    pub hidden: f64,
    /// Drawings next to nothing high, and texts in drawings that leave them or meet.
    pub blank: f64,
    pub touching: f64,
    /// The first few of them, in words.
    pub offenders: String,
}

impl Layout {
    /// Panics if something is cut, over the edge, or on something else. Boxes may scroll.
    pub fn check(&self, page: &str) {
        let counts = [
            self.sideways,
            self.over,
            self.cut_tables,
            self.hidden,
            self.blank,
            self.touching,
        ];
        assert_eq!(counts, [0.0; 6], "{page}: {self:?}");
    }
}

/// Lays a page out on a screen as wide as asked for. A window is at least 500 wide, therefore the page stands in a frame, which is as wide
/// as it is told. `script` runs first.
pub fn layout(browser: &Path, place: &Place, (width, height): (usize, usize), page: &str, script: &str) -> Layout {
    let measured = with_script(
        place,
        page,
        &format!("setTimeout(() => {{ {script};\n{MEASURE} }}, 1000)"),
    );
    let frame = format!(
        "<!doctype html><title>-</title><body style=\"margin:0\"><script>onmessage = event => {{ document.title = event.data; }};</script>\
         <iframe src=\"{measured}\" style=\"border:0;width:{width}px;height:{height}px\"></iframe></body>"
    );
    place.write("frame.html", frame);
    let size = (width.max(1300), height);
    let dom = browse(
        browser,
        place,
        size,
        &["--virtual-time-budget=4000", "--dump-dom"],
        "frame.html",
    );
    let title = dom
        .split("<title>")
        .nth(1)
        .and_then(|rest| rest.split("</title>").next());
    let (numbers, offenders) = title
        .and_then(|title| title.split_once('|'))
        .expect("the script has measured");
    let numbers: Vec<f64> = numbers
        .split(' ')
        .map(|number| number.parse().unwrap_or_else(|_| panic!("no numbers in {numbers}")))
        .collect();
    let [window, scroll, over, cut_tables, cut_boxes, hidden, blank, touching] = numbers[..] else {
        panic!("{numbers:?}")
    };
    assert_eq!(window, width as f64, "the frame is as wide as asked for");
    Layout {
        window,
        sideways: (scroll - window).max(0.0),
        over,
        cut_tables,
        cut_boxes,
        hidden,
        blank,
        touching,
        offenders: offenders.to_string(),
    }
}

/// Counts what [`Layout`] has, and names the first few.
const MEASURE: &str = "\
const edge = document.documentElement.clientWidth;
const found = { over: [], tables: [], boxes: [], hidden: [], blank: [], touching: [] };
const name = element => (element.className.baseVal ?? element.className) + ' ' + element.tagName + ' ' + element.textContent.slice(0, 30);
const visible = element => element.getClientRects().length > 0;
for (const element of document.querySelectorAll('body *'))
  if (visible(element) && !element.closest('.box, pre, svg') && element.getBoundingClientRect().right > edge + 0.5) found.over.push(name(element));
for (const box of document.querySelectorAll('.box, pre'))
  if (box.scrollWidth > box.clientWidth) (box.matches('.main') ? found.tables : found.boxes).push(name(box));
for (const cell of document.querySelectorAll('.wanted')) {
  const { left, right } = cell.getBoundingClientRect();
  if (visible(cell) && (left < 0 || right > edge)) found.hidden.push(name(cell));
}
for (const drawing of document.querySelectorAll('svg[role=img]')) {
  if (!visible(drawing)) continue;
  const paper = drawing.getBoundingClientRect();
  if (paper.height < 100 || paper.right > edge + 0.5) found.blank.push(name(drawing));
  const boxes = [...drawing.querySelectorAll('text')].map(text => [text.getBoundingClientRect(), text.firstChild?.textContent ?? '']);
  boxes.forEach(([box, words], index) => {
    const leaves = box.left < paper.left - 0.5 || box.right > paper.right + 0.5 || box.top < paper.top - 0.5 || box.bottom > paper.bottom + 0.5;
    if (leaves) found.touching.push(words + ' leaves');
    for (const [other, theirs] of boxes.slice(0, index))
      if (box.left < other.right - 0.5 && other.left < box.right - 0.5 && box.top < other.bottom - 1 && other.top < box.bottom - 1)
        found.touching.push(words + ' on ' + theirs);
  });
}
const counts = Object.values(found).map(list => list.length);
const names = Object.entries(found).flatMap(([kind, list]) => list.slice(0, 3).map(entry => kind + ': ' + entry));
parent.postMessage([edge, document.documentElement.scrollWidth, ...counts].join(' ') + '|' + names.join('; '), '*');";
