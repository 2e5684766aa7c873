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
    let profile = tempfile::tempdir().unwrap();
    let done = Command::new(browser)
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
        .arg(format!("--window-size={width},{height}"))
        .args(arguments)
        .arg(format!("file://{}", place.path(page).display()))
        .current_dir(place.path("."))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
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

/// The title that the script has given to the page.
pub fn title(dom: &str) -> Vec<f64> {
    let title = dom
        .split("<title>")
        .nth(1)
        .and_then(|rest| rest.split("</title>").next())
        .unwrap_or_default();
    title
        .split(' ')
        .map(|number| number.parse().unwrap_or_else(|_| panic!("no numbers in {title}")))
        .collect()
}

/// Everything that the page's boxes may not do: reach over its edges.
pub const MEASURE: &str = "\
const edge = document.documentElement.clientWidth;
const inBox = element => element.closest('.box, pre, svg');
const over = [...document.querySelectorAll('body *')].filter(element =>
  !inBox(element) && element.getBoundingClientRect().right > edge + 0.5).length;
const boxes = [...document.querySelectorAll('.box, pre')].filter(box => box.scrollWidth > box.clientWidth).length;
const drawings = [...document.querySelectorAll('svg')];
const cut = drawings.filter(svg => svg.getBoundingClientRect().right > edge + 0.5).length;
const blank = drawings.filter(svg => svg.getBoundingClientRect().height < 100).length;
document.title = [document.documentElement.scrollWidth, window.innerWidth, over, boxes, cut, blank].join(' ');";
