//! The report as text: the time, then the rows with what to write instead.

use super::document::{Document, Row, Suggestion};
use super::suggest::WORTH;
use comfy_table::Cell;
use dwell_output::units::{bytes, count};
use dwell_output::{Look, header, right};
use std::fmt::Write as _;
use std::io;

/// The default number of rows.
const ROWS: usize = 12;

/// Writes the report.
pub(super) fn write(document: &Document, top: Option<usize>, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    if look.markdown {
        writeln!(out, "# The allocations of {}\n", document.program.file)?;
    }
    writeln!(out, "{}", first_line(document))?;
    writeln!(out, "{}", second_line(document))?;
    if document.rows.is_empty() {
        return writeln!(out, "There were no allocations.");
    }
    writeln!(out)?;
    let most = top.unwrap_or(if look.markdown { usize::MAX } else { ROWS });
    let mut rows = vec![header(&["time", "allocs", "lives", "type, where", "instead", "saves"])];
    for row in document.rows.iter().take(most) {
        let best = row.suggestions.first().and_then(|number| document.suggestions.get(*number));
        rows.push(vec![
            right(format!("{:.1} %", row.percent)),
            right(millions(row.counts.allocations)),
            Cell::new(lives(row)),
            Cell::new(what(row)),
            Cell::new(best.map_or_else(String::new, |best| cut(&best.instead))),
            Cell::new(best.map_or_else(String::new, saves)),
        ]);
    }
    look.table(out, &rows)?;
    if document.rows.len() > most && !look.markdown {
        writeln!(out, "{} more are not shown (--top).", document.rows.len() - most)?;
    }
    details(document, look, out)
}

/// Describes the best change of each row that is worth it.
fn details(document: &Document, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    let bests = document.rows.iter().filter_map(|row| document.suggestions.get(*row.suggestions.first()?));
    let mut worth: Vec<&Suggestion> = bests.filter(|of| of.is_worth_it).collect();
    worth.sort_by_key(|of| std::cmp::Reverse(of.saves[1]));
    if worth.is_empty() {
        return Ok(());
    }
    look.heading(out, "What to change", ", largest saving first")?;
    for of in worth {
        let row = &document.rows[of.row];
        let mark = if look.markdown { "- " } else { "" };
        writeln!(out, "{mark}{}: {} saves {}", cut(&row.what), cut(&of.instead), saves(of))?;
        writeln!(out, "  {}", of.why)?;
        writeln!(out, "  how: {}; cost: {}", of.how, of.costs)?;
        for place in row.places.iter().take(3) {
            let at = place.at.as_deref().unwrap_or("?");
            let of_crate =
                place.dependency.as_ref().map_or_else(String::new, |krate| format!(", in the crate {krate}"));
            writeln!(out, "  at {at} in {}{of_crate}: {}", place.function, millions(place.allocations))?;
        }
        let others = row.suggestions.iter().skip(1).filter_map(|number| document.suggestions.get(*number));
        let others: Vec<String> = others.map(|other| format!("{} ({})", other.instead, saves(other))).collect();
        if !others.is_empty() {
            writeln!(out, "  or: {}", others.join("; "))?;
        }
    }
    Ok(())
}

fn first_line(document: &Document) -> String {
    let (time, total) = (&document.time, &document.total);
    let about = if time.by == "model" { "about " } else { "" };
    format!(
        "{} of CPU time, {about}{} ({}) of it in the allocator: {} allocations, {} frees, {} reallocations",
        seconds(time.program),
        seconds(time.allocator),
        share(time.allocator, time.program),
        millions(total.allocations),
        millions(total.frees),
        millions(total.reallocations),
    )
}

/// Says which change saves most, or that none is worth it, and how the time is known.
fn second_line(document: &Document) -> String {
    let mut line = match document.suggestions.first().filter(|of| of.is_worth_it) {
        Some(best) => {
            let row = &document.rows[best.row];
            format!("{} instead of {} gives {} of it back", cut(&best.instead), cut(&row.what), saves(best))
        }
        None => format!("No change that saves {WORTH} % was found: it is not worth it"),
    };
    let time = &document.time;
    if time.by == "model" {
        line.push_str(". The time in the allocator is estimated from the calls");
        if !time.why.is_empty() {
            let _ = write!(line, ", because {}", time.why);
        }
    }
    if let Some(mean) = document.program.sample {
        let _ = write!(line, ". One allocation in {} was recorded", bytes(mean));
    }
    line + "."
}

/// Returns a number of nanoseconds in seconds or milliseconds.
#[expect(clippy::cast_precision_loss, reason = "only a few digits are printed")]
pub(super) fn seconds(nanos: u64) -> String {
    if nanos >= 1_000_000_000 {
        format!("{:.2} s", nanos as f64 / 1e9)
    } else if nanos >= 1_000_000 {
        format!("{:.1} ms", nanos as f64 / 1e6)
    } else if nanos >= 1000 {
        format!("{:.1} us", nanos as f64 / 1e3)
    } else {
        format!("{nanos} ns")
    }
}

/// Returns a number with three digits: `41.2 M`.
#[expect(clippy::cast_precision_loss, reason = "only a few digits are printed")]
pub(super) fn millions(number: u64) -> String {
    if number >= 1_000_000 {
        format!("{:.1} M", number as f64 / 1e6)
    } else if number >= 100_000 {
        format!("{:.0} k", number as f64 / 1e3)
    } else {
        count(number)
    }
}

#[expect(clippy::cast_precision_loss, reason = "only a few digits are printed")]
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "0 %".into() } else { format!("{:.0} %", part as f64 * 100.0 / whole as f64) }
}

pub(super) fn saves(of: &Suggestion) -> String {
    let [low, likely, high] = of.percent;
    if likely < 0.1 {
        return "less than 0.1 %".into();
    }
    format!("~{likely:.1} % ({low:.1}-{high:.1})")
}

/// The characters of a name that are shown: that of a combinator of futures can have thousands.
const WIDEST: usize = 100;

/// Cuts a name that is too long to read; the JSON has it in full.
fn cut(name: &str) -> String {
    match name.char_indices().nth(WIDEST) {
        Some((end, _)) => {
            // A name in backquotes keeps the second one.
            let quote = if name.starts_with('`') && name.ends_with('`') { "`" } else { "" };
            format!("{}..{quote}", &name[..end])
        }
        None => name.to_owned(),
    }
}

fn lives(row: &Row) -> String {
    match row.lives {
        Some(nanos) if row.counts.live * 2 <= row.counts.allocations => seconds(nanos),
        _ if row.counts.live * 2 > row.counts.allocations => "to the end".into(),
        _ => String::new(),
    }
}

/// Describes a row: its type, sizes and places.
fn what(row: &Row) -> String {
    let sizes = match row.sizes {
        [least, most] if least == most => format!("{} B", count(least)),
        [least, most] => format!("{} to {} B", count(least), count(most)),
    };
    let mut parts = vec![format!("{}, {sizes}", cut(&row.what))];
    if row.types.len() > 1 {
        parts.push(format!("{} types", row.types.len()));
    }
    if row.counts.foreign > 0 {
        let frees = row.counts.frees.max(1);
        parts.push(format!("{} freed on another thread", share(row.counts.foreign, frees)));
    }
    if row.counts.reallocations > row.counts.allocations / 10 {
        parts.push(format!("{} reallocations", millions(row.counts.reallocations)));
    }
    parts.push(row.lifetime.clone());
    let mut text = parts.join(", ");
    if let Some(place) = row.places.first() {
        let more = row.places.len() - 1;
        let at = place.at.as_deref().unwrap_or(&place.function);
        let _ = write!(text, "; {at}");
        if more > 0 {
            let _ = write!(text, " and {more} more");
        }
        if let Some(from) = &place.called_from {
            let _ = write!(text, ", called from {from}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!([millions(41_234_567), millions(123_456), millions(99_999)], ["41.2 M", "123 k", "99,999"]);
        assert_eq!([seconds(2_310_000_000), seconds(1_200), seconds(12)], ["2.31 s", "1.2 us", "12 ns"]);
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(cut("Box<Node>"), "Box<Node>");
        assert_eq!(cut(&"x".repeat(300)), format!("{}..", "x".repeat(WIDEST)));
        assert_eq!(cut(&format!("`{}`", "x".repeat(300))), format!("`{}..`", "x".repeat(WIDEST - 1)));
    }

    #[test]
    fn nothing_to_change_is_said() {
        let document = Document::default();
        assert!(second_line(&document).starts_with("No change that saves 5 % was found: it is not worth it"));
    }
}
