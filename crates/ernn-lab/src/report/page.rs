//! The page: one HTML file with its style and its figures inside.

use serde_json::Value;

use super::group::{Group, GroupRow};
use super::{GENERATOR, confusion, figures, overfitting, scatter, tables, timeline};
use ernn::chart::{self, escaped};

/// Light first, dark over it on screens; paper is always light. The main tables fit a phone; what is wider scrolls inside `.box`.
const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --soft: #57606a; --rule: #d8dee4; --shade: #f6f8fa;
  --link: #0b57b8; --heat: 32 109 215 }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9198a1; --rule: #30363d; --shade: #161b22; --link: #79b8ff; --heat: 45 130 213 }
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0 auto; padding: 1rem; max-width: 64rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); overflow-wrap: anywhere }
h1 { font-size: 1.6rem; line-height: 1.25 } h2 { font-size: 1.25rem; margin-top: 3rem; border-top: 1px solid var(--rule); padding-top: 1rem }
a { color: var(--link) } .soft, caption { color: var(--soft) }
.box { overflow-x: auto; margin: 1rem 0; border: 1px solid var(--rule); border-radius: 6px }
.box:focus-visible, summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
table { border-collapse: collapse; font-size: .875rem; line-height: 1.35; font-variant-numeric: tabular-nums; width: 100% }
caption { text-align: left; padding: .5rem .6rem }
th, td { padding: .3rem .5rem; text-align: right; vertical-align: baseline; border-top: 1px solid var(--rule); overflow-wrap: normal }
th { font-weight: 400 } thead th { color: var(--soft); background: var(--shade); vertical-align: bottom } th:first-child { text-align: left }
tbody th:first-child { position: sticky; left: 0; background: var(--paper); overflow-wrap: anywhere; min-width: 6rem }
td.wanted { font-size: 1rem } thead th.wanted { color: var(--ink) } tr.reached .wanted, tr.reached th { font-weight: 700 }
.heat { width: auto } .heat td { background: rgb(var(--heat) / var(--share, 0)); text-align: center; min-width: 2.2rem;
  -webkit-print-color-adjust: exact; print-color-adjust: exact }
.heat thead th { text-align: center } .heat thead th:first-child { text-align: left } .heat tbody th { max-width: 12rem }
.upright span { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; max-height: 9rem; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis }
@media (max-width: 30rem) { table { font-size: .8125rem } th, td { padding: .3rem .25rem } td.wanted { font-size: .875rem }
  tbody th:first-child { min-width: 5.2rem } }
.inner { border-left: 2px solid var(--rule); padding-left: .75rem } .figure { margin: 1rem 0 } .charts { display: grid; gap: .75rem; grid-template-columns: minmax(0, 1fr) } .charts.one { max-width: 36rem }
.charts svg { display: block; width: 100%; height: auto; border: 1px solid var(--rule); border-radius: 6px }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: .5rem 0; padding: 0; font-size: .875rem }
.legend li { display: flex; align-items: center; gap: .4rem; min-width: 0 } .legend svg { flex: none } figcaption { color: var(--soft) }
@media (min-width: 46rem) {
  .charts.two, .beside { grid-template-columns: repeat(2, minmax(0, 1fr)) } .charts.three { grid-template-columns: repeat(3, minmax(0, 1fr)) }
  .beside { display: grid; gap: .75rem; align-items: start }
}
details { margin: .5rem 0 } summary { cursor: pointer; padding: .25rem 0 }
pre { overflow-x: auto; padding: .75rem; background: var(--shade); border: 1px solid var(--rule); border-radius: 6px; font-size: .8125rem }
@media print { body { max-width: none; font-size: 10pt } .box { overflow: visible; border: 0 } h2, figure, tr { break-inside: avoid }
  table { font-size: 7.5pt } td.wanted { font-size: inherit } th, td { padding: .15rem .3rem } h2 { break-after: avoid } }
";

/// A page that needs nothing else, with the style of all our pages. `title` and `generator` (a comment that tells who made it) stand in
/// it as they are.
pub(crate) fn document(title: &str, generator: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n{generator}\n\
         <style>{STYLE}{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}\
         </main>\n<footer class=\"soft\"><p>Made by ernn {}.</p></footer>\n</body>\n</html>\n",
        chart::style(),
        env!("CARGO_PKG_VERSION")
    )
}

/// The report as a page that needs nothing else.
pub fn html(groups: &[Group], title: &str) -> String {
    let runs: usize = groups
        .iter()
        .flat_map(|group| &group.rows)
        .map(|row| row.runs.len())
        .sum();
    let mut body = format!(
        "<p class=\"soft\">{runs} runs. Ours: mean ± sample standard deviation over the seeds that came to their end, on the test part, which \
         a run reads once. Bold: the paper's figure is reached. KB: 4 bytes a parameter that is not 0, without the embedding. Times are those of the machine at \
         hand.</p>\n"
    );
    if groups.len() > 1 {
        body += "<nav aria-label=\"Tables\"><ul>\n";
        for (index, group) in groups.iter().enumerate() {
            body += &format!("<li><a href=\"#table-{}\">{}</a></li>\n", index + 1, headline(group));
        }
        body += "</ul></nav>\n";
    }
    for (index, group) in groups.iter().enumerate() {
        body += &section(index + 1, group);
    }
    document(&escaped(title), GENERATOR, &body)
}

fn headline(group: &Group) -> String {
    format!(
        "{} <span class=\"soft\">({})</span>",
        escaped(&group.title),
        escaped(&group.key)
    )
}

fn section(number: usize, group: &Group) -> String {
    let mut html = format!("<section id=\"table-{number}\">\n<h2>{}</h2>\n", headline(group));
    html += &format!("<p>{}</p>\n", escaped(&group.notes.join(" ")));
    html += &tables::main_tables(group);
    if let Some(words) = overfitting::paragraph(group) {
        html += &format!("<p>{}</p>\n", escaped(&words));
    }
    let unfinished = group.unfinished();
    if !unfinished.is_empty() {
        html += "<p>Not finished:</p>\n<ul>\n";
        unfinished
            .iter()
            .for_each(|sentence| html += &format!("<li>{}</li>\n", escaped(sentence)));
        html += "</ul>\n";
    }
    html += &figures::figure(group).map_or_else(String::new, |figure| figure.html());
    html += &timeline::figure(group).map_or_else(String::new, |figure| figure.html());
    html += &scatter::figure(group).map_or_else(String::new, |figure| figure.html());
    html += &tables::speed_table(group).unwrap_or_default();
    html += &behind("Confusion matrices", &confusion::matrices(group));
    let settings: String = group.rows.iter().map(settings).collect();
    html += &behind("Settings, seeds and machines", &settings);
    html + "</section>\n"
}

/// Something long behind a line that opens it.
fn behind(summary: &str, inner: &str) -> String {
    match inner {
        "" => String::new(),
        inner => format!("<details>\n<summary>{summary}</summary>\n<div class=\"inner\">\n{inner}</div>\n</details>\n"),
    }
}

/// What it takes to repeat a row: settings, seeds, revision, machine.
fn settings(row: &GroupRow) -> String {
    let first = &row.runs[0];
    let seeds: Vec<String> = row.runs.iter().map(|run| run.seed.to_string()).collect();
    let revision = first
        .revision
        .as_ref()
        .map_or_else(String::new, |revision| format!(", revision {revision}"));
    let about = format!(
        "seeds {}; version {}{revision}; data {} ({}); machine {}",
        seeds.join(", "),
        first.version,
        first.dataset,
        first.fingerprint,
        words(&first.machine)
    );
    format!(
        "<details>\n<summary>Settings of {}</summary>\n<p class=\"soft\">{}</p>\n<pre tabindex=\"0\">{}</pre>\n</details>\n",
        escaped(&first.row_title),
        escaped(&about),
        escaped(&first.settings.to_toml())
    )
}

/// A machine in words: `x86_64, linux, 2 processors`. Whatever a file says stands here, but not as JSON.
fn words(machine: &Value) -> String {
    match machine {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| match value {
                Value::String(text) => text.clone(),
                Value::Number(count) if count.as_u64() == Some(1) => format!("1 {}", name.trim_end_matches('s')),
                Value::Number(count) => format!("{count} {name}"),
                other => format!("{name} {}", words(other)),
            };
            fields.iter().map(field).collect::<Vec<_>>().join(", ")
        }
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::String(text) => text.clone(),
        Value::Null => "unknown".to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::{group, run};
    use super::super::markdown;
    use super::*;

    #[test]
    fn text_of_files_is_never_markup() {
        let evil = "<script>alert('x')</script>\"&|";
        let mut record = run("rnn", 1, &[0.5, 0.6]);
        record.row_title = evil.to_string();
        record.classes = vec![evil.to_string(); 2];
        record.error = Some(evil.to_string());
        record.cut_short = true;
        record.dataset = evil.to_string();
        record.settings.data.source = evil.to_string();
        let mut found = group(vec![vec![record]]);
        found.title = evil.to_string();
        found.key = evil.to_string();
        found.notes = vec![evil.to_string()];
        found.rows[0].name = evil.to_string();
        for text in [html(&[found.clone(), found.clone()], evil), markdown(&[found], evil)] {
            assert!(!text.contains("<script") && !text.contains("</script"), "{text}");
        }
    }

    #[test]
    fn a_row_that_reaches_the_paper_is_bold() {
        let mut record = run("rnn", 1, &[0.5]);
        record.paper.accuracy = Some(89.0);
        let found = group(vec![vec![record.clone()]]);
        assert!(html(std::slice::from_ref(&found), "x").contains("<tr class=\"reached\">"));
        assert!(markdown(&[found], "x").contains("**90.00**"));
        record.paper.accuracy = Some(91.0);
        assert!(!html(&[group(vec![vec![record]])], "x").contains("<tr class=\"reached\">"));
    }

    #[test]
    fn no_page_shows_json() {
        let mut record = run("rnn", 1, &[0.5]);
        record.machine = serde_json::json!({"system": "linux", "threads": 1, "more": {"cores": [2, 4]}});
        let page = html(&[group(vec![vec![record.clone()]])], "x");
        assert!(page.contains("machine more cores 2, 4, linux, 1 thread</p>"), "{page}");
        assert!(!page.contains("{&quot;") && !page.contains("&quot;:"), "{page}");
        record.machine = Value::Null;
        assert!(html(&[group(vec![vec![record]])], "x").contains("machine unknown"));
    }
}
