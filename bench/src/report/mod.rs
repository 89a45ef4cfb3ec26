//! Writes rows as an HTML page, as tables of Markdown, and as a picture.
//!
//! The page is one file that loads nothing: it contains the style, the script and the rows. The script draws the
//! charts; this module assembles the file.

pub(crate) mod goals;
mod markdown;
mod measured;
mod picture;
pub(crate) mod seeds;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{about, fairness, row};

/// The arguments of `dwell-bench report`, which reads rows from standard input.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Writes all rows as tables of Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Replaces the table of results in a README: the lines between the two comments `results`.
    #[arg(long, value_name = "FILE")]
    readme: Option<PathBuf>,
    /// Writes a bar chart (SVG) of the bytes that each layout of `sparse` takes: `docs/memory.svg`.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, lines: impl BufRead, html: Option<PathBuf>) -> Result<()> {
    if html.is_none() && args.markdown.is_none() && args.readme.is_none() && args.svg.is_none() {
        bail!("nothing to write: give --html, --markdown, --readme or --svg a file");
    }
    let lines = row::read(lines)?;
    seeds::complain(&lines)?;
    if let Some(file) = html {
        write(&file, &page(&lines)?)?;
    }
    if let Some(file) = &args.markdown {
        write(file, &markdown::results(&lines)?)?;
    }
    if let Some(file) = &args.readme {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        write(file, &markdown::into_readme(&text, &lines)?)?;
    }
    if let Some(file) = &args.svg {
        write(file, &picture::svg(&measured::parse(&lines)?)?)?;
    }
    Ok(())
}

/// Checks that `write` can write the file, without changing it.
pub(crate) fn can_write(file: &Path) -> Result<()> {
    let new = !file.exists();
    fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)
        .with_context(|| format!("cannot write {}", file.display()))?;
    if new {
        fs::remove_file(file)?;
    }
    Ok(())
}

pub(crate) fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// The data for the script besides the rows.
#[derive(Serialize)]
struct About {
    machine: Vec<(&'static str, String)>,
    versions: Vec<(String, String)>,
    command: String,
    /// Seconds since 1970.
    made: u64,
    notes: Vec<fairness::Note>,
    claims: Vec<seeds::Table>,
}

/// Returns the page for rows as JSON.
pub(crate) fn page(rows: &[String]) -> Result<String> {
    let about = About {
        machine: about::machine(),
        versions: about::versions()?,
        command: std::env::args().skip(1).fold("dwell-bench".to_owned(), |all, word| all + " " + &word),
        made: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        notes: fairness::notes()?,
        claims: seeds::tables(&measured::parse(rows)?)?,
    };
    let about = serde_json::to_string(&about)?;
    let data = format!("{{\"about\":{about},\"rows\":[{}]}}", rows.join(",\n"));
    // The data must not contain `</script>`, which would end the element.
    let data = data.replace('<', "\\u003c");
    Ok(include_str!("page.html")
        .replace("/* STYLE */", include_str!("page.css"))
        .replace("/* SCRIPT */", include_str!("page.js"))
        .replace("/* DATA */", &data))
}

#[cfg(test)]
mod tests {
    #[test]
    fn data_cannot_close_the_script_element() {
        let row = r#"{"module":"m","workload":"</script><b>","subject":"s","metric":"ns","value":1.0,"unit":"ns","baseline":"b","ratio":1.0}"#.to_owned();
        let page = super::page(&[row]).unwrap();
        assert_eq!(page.matches("</script>").count(), include_str!("page.html").matches("</script>").count());
        assert!(page.contains(r"\u003c/script>"));
        assert!(super::page(&["{}".to_owned()]).is_err());
    }

    #[test]
    fn page_loads_no_external_resources() {
        let page = super::page(&[]).unwrap();
        for outside in ["src=", "href=\"http", "@import", "url(", "fetch("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
