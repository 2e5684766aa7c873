//! `compare.tex`: the table for a paper, with the packages that every installation has.

use super::table::{Table, TableRow};

impl Table {
    /// A `tabular` of its own, to be put into a `table`.
    pub fn to_latex(&self) -> String {
        let part = self.part.as_deref().unwrap_or("test");
        let title = self.rows.first().map_or("score", |row| row.metric.title());
        let mut text =
            String::from("% \\input this file inside a table environment.\n\\begin{tabular}{lrrrr}\n\\hline\n");
        text += &format!(
            "row & {} & parameters & KB & $p$ \\\\\n\\hline\n",
            escaped(&format!("{part} {title}"))
        );
        for row in &self.rows {
            text += &format!("{} \\\\\n", cells(row).join(" & "));
        }
        text + "\\hline\n\\end{tabular}\n"
    }
}

fn cells(row: &TableRow) -> [String; 5] {
    let shown = |value: f64| row.metric.text(row.metric.shown(value));
    let score = row.score.map_or_else(
        || "--".to_string(),
        |score| match score.deviation {
            Some(deviation) => format!("${} \\pm {}$", shown(score.mean), shown(deviation)),
            None => format!("${}$", shown(score.mean)),
        },
    );
    let p = match &row.behind {
        Some(behind) if behind.p < 0.001 => "$<0.001$".to_string(),
        Some(behind) => format!("${:.3}$", behind.p),
        None => "--".to_string(),
    };
    [
        escaped(&row.name),
        score,
        row.parameters.to_string(),
        format!("{:.1}", row.kilobytes),
        p,
    ]
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => escaped += "\\textbackslash{}",
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}
