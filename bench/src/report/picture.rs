//! The picture `docs/memory.svg`: the bytes of one program's data in several layouts, as a bar chart.

use anyhow::{Result, bail};
use std::fmt::Write as _;

use crate::measured::Measured;

/// The layouts of `dwell-bench sparse` and their labels, in the order of the picture.
const LAYOUTS: [(&str, &str); 8] = [
    ("unboxed", "the article's types, nothing boxed"),
    ("boxed", "two structs boxed by hand"),
    ("dwell/sparse", "Sparse where weigh suggests it"),
    ("dwell/box-str", "+ Box<str>"),
    ("dwell/sorted", "+ SortedMap, Box<[T]>"),
    ("dwell/thin", "+ ThinStr, ThinSlice"),
    ("dwell/interned", "+ each string stored once"),
    ("dwell/bump", "all in bump arenas instead"),
];

// Pixels.
const WIDTH: usize = 760;
const LABELS: usize = 250;
const NUMBERS: usize = 90;
const TOP: usize = 44;
const ROW: usize = 30;
const BAR: usize = 20;

/// Draws the rows with the metric `bytes` of the module `sparse`.
pub(super) fn svg(rows: &[Measured]) -> Result<String> {
    let bars: Vec<(&str, &str, f64)> = LAYOUTS
        .iter()
        .filter_map(|&(subject, label)| {
            let is_it = |row: &&Measured| row.module == "sparse" && row.subject == subject && row.metric == "bytes";
            Some((subject, label, rows.iter().find(is_it)?.value?))
        })
        .collect();
    let most = bars.iter().map(|bar| bar.2).fold(0.0, f64::max);
    if most <= 0.0 {
        bail!("no row has the bytes of a layout; `dwell-bench sparse --models DIR --json` prints such rows");
    }
    let height = TOP + bars.len() * ROW + 8;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>Live bytes of the same data in {} layouts</title>\n\
         <style>text{{font:14px system-ui,sans-serif;fill:#24292f}}.head{{font-weight:600}}.plain{{fill:#8c959f}}.dwell{{fill:#1f883d}}\
         @media(prefers-color-scheme:dark){{text{{fill:#e6edf3}}.plain{{fill:#6e7681}}.dwell{{fill:#3fb950}}}}</style>\n\
         <text class=\"head\" x=\"8\" y=\"24\">Heap bytes of the same data, by the types that hold it</text>\n",
        bars.len()
    );
    for (index, (subject, label, megabytes)) in bars.iter().enumerate() {
        let y = TOP + index * ROW;
        let length = megabytes / most * (WIDTH - LABELS - NUMBERS) as f64;
        let class = if subject.starts_with("dwell") { "dwell" } else { "plain" };
        let label = label.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>\
             <rect class=\"{class}\" x=\"{LABELS}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR}\" rx=\"2\"/>\
             <text x=\"{:.1}\" y=\"{}\">{megabytes:.1} MB</text>",
            LABELS - 8,
            y + 15,
            LABELS as f64 + length + 6.0,
            y + 15,
        )?;
    }
    svg += "</svg>\n";
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::{LAYOUTS, svg};
    use crate::measured::parse;

    fn row(subject: &str, value: f64) -> String {
        format!(
            r#"{{"module":"sparse","workload":"smithy","subject":"{subject}","metric":"bytes","value":{value},"unit":"MB","baseline":"unboxed","ratio":1.0}}"#
        )
    }

    #[test]
    fn bar_length_is_proportional_to_the_value() {
        let picture = svg(&parse(&[row("unboxed", 500.0), row("dwell/sorted", 50.0)]).unwrap()).unwrap();
        assert!(picture.contains("width=\"420.0\"") && picture.contains(">500.0 MB<"), "{picture}");
        assert!(picture.contains("width=\"42.0\"") && picture.contains(">50.0 MB<"), "{picture}");
        assert!(picture.contains("Box&lt;[T]&gt;"));
        assert_eq!(picture.matches("<rect").count(), 2);
    }

    #[test]
    fn rows_without_layouts_are_an_error() {
        assert!(svg(&parse(&[row("peer", 1.0)]).unwrap()).is_err());
        assert!(svg(&[]).is_err());
    }

    #[test]
    fn suite_has_every_layout_of_the_picture() {
        for (subject, _) in LAYOUTS {
            assert!(crate::sparse::has_layout(subject), "{subject}");
        }
    }
}
