//! Checks a picture by rules, for tests: no text leaves it, no two texts touch, ticks have names of their own.

use super::svg::width;

/// A text, the box around it, and its class.
#[derive(Debug)]
struct Text {
    words: String,
    class: String,
    /// Which group it stands in: ticks are those of a chart.
    group: usize,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Every picture of a page, legend samples among them.
pub fn check_page(html: &str) {
    for piece in html.split("<svg").skip(1) {
        let end = piece.find("</svg>").expect("a picture that ends");
        check(&format!("<svg{}</svg>", &piece[..end]));
    }
}

/// Panics if a text leaves the picture or meets another, or two ticks of an axis have one name.
pub fn check(svg: &str) {
    let (wide, high) = size(svg);
    let texts = texts(svg);
    for (index, text) in texts.iter().enumerate() {
        let inside = text.left >= 0.0 && text.top >= 0.0 && text.right <= wide && text.bottom <= high;
        assert!(inside, "{text:?} leaves the picture of {wide} by {high}");
        for other in &texts[..index] {
            let meets = text.left < other.right
                && other.left < text.right
                && text.top < other.bottom
                && other.top < text.bottom;
            assert!(!meets, "{text:?} meets {other:?}");
            let ticks = text.class.starts_with("tick") && text.class == other.class && text.group == other.group;
            assert!(!(ticks && text.words == other.words), "two ticks are {}", text.words);
        }
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()
}

fn size(svg: &str) -> (f64, f64) {
    let numbers: Vec<f64> = attribute(svg, "viewBox")
        .expect("a picture has a size")
        .split(' ')
        .map(|number| number.parse().expect("a number"))
        .collect();
    (numbers[2], numbers[3])
}

/// The texts of a picture. Groups are moved, and stand in no others.
fn texts(svg: &str) -> Vec<Text> {
    let (mut moved, mut group) = ((0.0, 0.0), 0);
    let mut texts = Vec::new();
    for tag in svg.split('<').skip(1) {
        if tag.starts_with("g ") {
            let numbers = attribute(tag, "transform").expect("a group is moved");
            let numbers = numbers.trim_start_matches("translate(").trim_end_matches(')');
            let (x, y) = numbers.split_once(' ').expect("two numbers");
            (moved, group) = ((x.parse().unwrap(), y.parse().unwrap()), group + 1);
        } else if tag.starts_with("/g") {
            moved = (0.0, 0.0);
        } else if tag.starts_with("text ") {
            texts.push(text(tag, moved, group));
        }
    }
    texts
}

fn text(tag: &str, (right, down): (f64, f64), group: usize) -> Text {
    let number = |name: &str| attribute(tag, name).unwrap().parse::<f64>().expect("a number");
    let class = attribute(tag, "class").unwrap_or_default().to_string();
    let words = tag.split_once('>').expect("a tag that ends").1;
    let words = ["&lt;", "&gt;", "&amp;", "&quot;", "&#39;"]
        .iter()
        .fold(words.to_string(), |words, mark| words.replace(mark, "x"));
    let size = if class == "title" { 15.0 } else { 13.0 };
    // What is checked is a little less than what is planned with.
    let wide = 0.98 * width(&words, size);
    let (x, y) = (number("x") + right, number("y") + down);
    let left = match attribute(tag, "text-anchor") {
        Some("end") => x - wide,
        Some("middle") => x - wide / 2.0,
        _ => x,
    };
    Text {
        words,
        class,
        group,
        left,
        right: left + wide,
        top: y - 0.8 * size,
        bottom: y + 0.25 * size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(inner: &str) -> String {
        format!("<svg viewBox=\"0 0 100 50\">{inner}</svg>")
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        check(&picture(
            "<text x=\"10\" y=\"20\">ab</text><g transform=\"translate(40 0)\"><text x=\"10\" y=\"20\">ab</text></g>",
        ));
    }

    #[test]
    #[should_panic = "meets"]
    fn texts_that_touch_are_found() {
        check(&picture(
            "<text x=\"10\" y=\"20\">ab</text><g transform=\"translate(10 0)\"><text x=\"10\" y=\"20\">ab</text></g>",
        ));
    }

    #[test]
    #[should_panic = "leaves the picture"]
    fn texts_over_the_edge_are_found() {
        check(&picture("<text x=\"90\" y=\"20\">a long one</text>"));
    }

    #[test]
    #[should_panic = "two ticks are 0.063"]
    fn ticks_of_one_name_are_found() {
        let tick = |y: u32| format!("<text x=\"50\" y=\"{y}\" class=\"tick up\" text-anchor=\"end\">0.063</text>");
        check(&picture(&(tick(20) + &tick(40))));
    }
}
