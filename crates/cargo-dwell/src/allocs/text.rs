//! The report as text: the time, then the rows with what to write instead.

use super::document::{Counts, Document, During, Row, Suggestion};
use super::suggest::{WORTH, together};
use comfy_table::Cell;
use dwell_output::units::{bytes, count, plural};
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
    if document.program.pid.is_some() {
        writeln!(out, "{}.\n", of_process(document))?;
        return functions(document, look, out);
    }
    // Of a process that the program started, there are counts only.
    let has_times = document.time.program > 0;
    if has_times {
        writeln!(out, "{}", of_allocator(document))?;
    }
    writeln!(out, "{}", first_line(document))?;
    if let Some(during) = &document.during {
        writeln!(out, "{}.", of_calls(during, &document.total))?;
    }
    if has_times {
        writeln!(out, "{}", second_line(document))?;
    }
    if document.rows.is_empty() {
        return writeln!(out, "There were no allocations.");
    }
    writeln!(out)?;
    functions(document, look, out)?;
    let most = top.unwrap_or(if look.markdown { usize::MAX } else { ROWS });
    let other = &document.again.other;
    let mut titles = vec!["time", "allocs", "lives", "type, where", "instead", "saves"];
    let of_other = format!("on {other}");
    if !other.is_empty() {
        titles.push(&of_other);
    }
    let mut rows = vec![header(&titles)];
    for row in document.rows.iter().take(most) {
        let best = best(document, row);
        let mut cells = vec![
            right(format!("{:.1} %", row.percent)),
            right(millions(row.counts.allocations)),
            Cell::new(lives(row)),
            Cell::new(what(row)),
            Cell::new(best.map_or_else(String::new, |best| cut(&best.instead))),
            Cell::new(best.map_or_else(String::new, saves)),
        ];
        if !other.is_empty() {
            cells.push(Cell::new(best.and_then(|best| best.other).map_or_else(String::new, range)));
        }
        rows.push(cells);
    }
    look.table(out, &rows)?;
    if document.rows.len() > most && !look.markdown {
        writeln!(out, "{} more are not shown (--top).", document.rows.len() - most)?;
    }
    let left = document.suggestions.iter().filter(|suggestion| !suggestion.pays).count();
    if left > 0 {
        let changes = plural(left as u64, "change");
        writeln!(out, "{changes} that would not pay on {other}: left out, and in the JSON.")?;
    }
    details(document, look, out)
}

/// The most functions of the workspace that are shown, and the least part of all blocks, in per cent.
const FUNCTIONS: usize = 6;
const LEAST: u64 = 1;

/// Writes whose code allocates: the functions of the workspace with all that they call.
fn functions(document: &Document, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    let (what, all) = match document.program.pid {
        Some(_) => ("samples", document.time.samples[1]),
        None => ("blocks", document.total.allocations + document.total.reallocations),
    };
    let shown = document.functions.iter().filter(|function| function.blocks * 100 >= all * LEAST).take(FUNCTIONS);
    let mut rows = vec![header(&[what, "", "time", "function of the workspace, with all that it calls"])];
    for function in shown {
        let at = function.at.as_ref().map_or_else(String::new, |at| format!(", most at {at}"));
        let inside = function.inside.as_ref().map_or_else(String::new, |inside| format!(", in {}", cut(inside)));
        rows.push(vec![
            right(share(function.blocks, all)),
            right(millions(function.blocks)),
            right(share(function.nanos, document.time.program)),
            Cell::new(format!("{}{at}{inside}", cut(&function.name))),
        ]);
    }
    if rows.len() > 1 {
        look.table(out, &rows)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Returns the best change of a row that pays.
fn best<'d>(document: &'d Document, row: &Row) -> Option<&'d Suggestion> {
    document.suggestions.get(*row.suggestions.first()?).filter(|suggestion| suggestion.pays)
}

/// Describes the best change of each row that is worth it.
fn details(document: &Document, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    let bests = document.rows.iter().filter_map(|row| best(document, row));
    let mut worth: Vec<&Suggestion> = bests.filter(|suggestion| suggestion.is_worth_it).collect();
    worth.sort_by_key(|suggestion| std::cmp::Reverse(suggestion.saves[1]));
    if worth.is_empty() {
        return Ok(());
    }
    look.heading(out, "What to change", ", largest saving first")?;
    for suggestion in worth {
        let row = &document.rows[suggestion.row];
        let mark = if look.markdown { "- " } else { "" };
        let on_other = suggestion
            .other
            .map_or_else(String::new, |other| format!(", on {} {}", document.again.other, range(other)));
        writeln!(out, "{mark}{}: {} saves {}{on_other}", cut(&row.what), cut(&suggestion.instead), saves(suggestion))?;
        writeln!(out, "  {}", suggestion.why)?;
        writeln!(out, "  how: {}; cost: {}", suggestion.how, suggestion.costs)?;
        for place in row.places.iter().take(3) {
            let at = place.at.as_deref().unwrap_or("?");
            let of_crate =
                place.dependency.as_ref().map_or_else(String::new, |krate| format!(", in the crate {krate}"));
            writeln!(out, "  at {at} in {}{of_crate}: {}", place.function, millions(place.allocations))?;
        }
        let others = row.suggestions.iter().skip(1).filter_map(|number| document.suggestions.get(*number));
        let others = others.filter(|suggestion| suggestion.pays);
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
    let calls = format!(
        "{}, {}, {}",
        times(total.allocations, "allocation"),
        times(total.frees, "free"),
        times(total.reallocations, "reallocation"),
    );
    if time.program == 0 {
        return calls;
    }
    format!(
        "{} of CPU time, {about}{} ({}) of it in the allocator: {calls}",
        seconds(time.program),
        seconds(time.allocator),
        share(time.allocator, time.program),
    )
}

fn times(number: u64, what: &str) -> String {
    format!("{} {what}{}", millions(number), if number == 1 { "" } else { "s" })
}

/// Says what each call allocates.
fn of_calls(during: &During, total: &Counts) -> String {
    let During { name, calls, why } = during;
    match calls {
        Some(calls @ 1..) => {
            let blocks = total.allocations + total.reallocations;
            // Below some hundred a digit more matters.
            let tenths = u128::from(blocks) * 10 / u128::from(*calls);
            let each =
                if tenths < 1000 { format!("{}.{}", tenths / 10, tenths % 10) } else { millions(blocks / calls) };
            format!("{} of `{name}`: each {each} blocks, {}", plural(*calls, "call"), bytes(total.bytes / calls))
        }
        Some(0) => format!("`{name}` was not called"),
        None => format!("The calls of `{name}` are not counted: {why}"),
    }
}

/// Says which part of a running process's time is in its allocator.
fn of_process(document: &Document) -> String {
    let (time, [of_program, of_allocator, _]) = (&document.time, document.time.samples);
    format!(
        "{} of CPU time, {} ({}) of it in the allocator: {} of {} samples. What it allocates and what a change saves is known of a \
         program that this command starts",
        seconds(time.program),
        seconds(time.allocator),
        share(time.allocator, time.program),
        count(of_allocator),
        count(of_program + of_allocator)
    )
}

/// Says what another allocator alone gives, or why that is not known.
fn of_allocator(document: &Document) -> String {
    let again = &document.again;
    let other = &again.other;
    if other.is_empty() {
        let why = if again.why.is_empty() { "the report has no runs without recording" } else { &again.why };
        return format!("Another allocator was not compared: {why}.");
    }
    let [least, median, most] = again.ratio;
    let range = if again.pairs > 1 { format!(" ({least:.2} to {most:.2})") } else { String::new() };
    let mut line = format!("{other} alone takes {median:.2} of the time{range}");
    if let Some([plain, under]) = again.instructions {
        let _ = write!(line, ", {:.2} of the instructions", ratio(under, plain));
    }
    let _ = write!(line, " and {} of memory at the peak instead of {}", bytes(again.peak[1]), bytes(again.peak[0]));
    let _ = write!(
        line,
        ": measured in {}",
        match again.pairs {
            1 => "a pair of runs".to_owned(),
            pairs => format!("{pairs} pairs of runs"),
        }
    );
    if median < PAYS {
        line.push_str("; two lines: `#[global_allocator] static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;`");
    }
    line + "."
}

/// From this part of the time on another allocator is no change.
const PAYS: f64 = 0.97;

#[expect(clippy::cast_precision_loss, reason = "only two digits are printed")]
fn ratio(number: u64, by: u64) -> f64 {
    number as f64 / by.max(1) as f64
}

/// Says which change saves most, or that none is worth it, and how the time is known.
fn second_line(document: &Document) -> String {
    let together = together(&document.rows, &document.suggestions);
    let bests = document.rows.iter().filter_map(|row| best(document, row)).filter(|suggestion| suggestion.is_worth_it);
    let best = bests.max_by_key(|suggestion| suggestion.saves[1]);
    let mut line = match best {
        Some(best) if best.percent[1] >= WORTH => {
            let row = &document.rows[best.row];
            format!("{} instead of {} gives {} of it back", cut(&best.instead), cut(&row.what), saves(best))
        }
        Some(_) => format!("No change saves {WORTH} % alone; those below save ~{together:.1} % together"),
        None if document.program.is_unseen => {
            "Only allocations of libraries were seen, so nothing is said about the program's own".to_owned()
        }
        None if ratio(document.time.allocator, document.time.program) * 100.0 < WORTH => {
            format!("The allocator takes less than {WORTH} %: no change is worth it")
        }
        None => format!("The changes of the workspace's code that were found save {together:.1} % together"),
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

pub(super) fn saves(suggestion: &Suggestion) -> String {
    range(suggestion.percent)
}

fn range([low, likely, high]: [f64; 3]) -> String {
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
        parts.push(times(row.counts.reallocations, "reallocation"));
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
    use super::super::document::{Again, Time};
    use super::*;

    #[test]
    fn each_call_has_its_part_of_the_blocks() {
        let total = Counts { allocations: 1_200_000, reallocations: 4000, bytes: 6_000_000, ..Counts::default() };
        let sentence = |calls, why: &str| of_calls(&During { name: "search".into(), calls, why: why.into() }, &total);
        assert_eq!(sentence(Some(1000), ""), "1,000 calls of `search`: each 1,204 blocks, 6.0 kB");
        assert_eq!(sentence(Some(500_000), ""), "500,000 calls of `search`: each 2.4 blocks, 12 B");
        assert_eq!(sentence(Some(1), ""), "1 call of `search`: each 1.2 M blocks, 6.0 MB");
        assert_eq!(sentence(Some(0), ""), "`search` was not called");
        assert_eq!(
            sentence(None, "its code is too short"),
            "The calls of `search` are not counted: its code is too short"
        );
    }

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

    fn with(percents: &[f64], pays: bool) -> Document {
        let suggestion = |(row, percent): (usize, &f64)| Suggestion {
            row,
            instead: "a buffer".into(),
            percent: [percent / 2.0, *percent, percent * 2.0],
            pays,
            ..Suggestion::default()
        };
        let mut suggestions: Vec<Suggestion> = percents.iter().enumerate().map(suggestion).collect();
        let row = |number| Row { what: "String".into(), suggestions: vec![number], ..Row::default() };
        let rows: Vec<Row> = (0..percents.len()).map(row).collect();
        crate::allocs::suggest::mark(&rows, &mut suggestions);
        let time = Time { program: 100, allocator: 30, ..Time::default() };
        Document { time, rows, suggestions, ..Document::default() }
    }

    #[test]
    fn no_verdict_on_an_allocator_that_is_not_known() {
        let mut document = with(&[], true);
        document.time.allocator = 0;
        assert!(second_line(&document).contains("no change is worth it"));
        document.program.is_unseen = true;
        assert!(second_line(&document).starts_with("Only allocations of libraries were seen"));
    }

    #[test]
    fn small_changes_are_added_up_before_they_are_not_worth_it() {
        let line = |percents: &[f64], pays| second_line(&with(percents, pays));
        assert!(line(&[8.0, 0.5], true).starts_with("a buffer instead of String gives ~8.0 % (4.0-16.0) of it back"));
        assert!(
            line(&[4.8, 1.3, 0.9], true).starts_with("No change saves 5 % alone; those below save ~6.1 % together")
        );
        assert!(
            line(&[3.0, 0.5], true)
                .starts_with("The changes of the workspace's code that were found save 3.0 % together")
        );
        assert!(line(&[], true).starts_with("The changes of the workspace's code that were found save 0.0 % together"));
        let little = Document { time: Time { program: 100, allocator: 4, ..Time::default() }, ..with(&[], true) };
        assert!(second_line(&little).starts_with("The allocator takes less than 5 %: no change is worth it"));
        assert!(
            line(&[30.0], false).starts_with("The changes of the workspace's code that were found save 0.0 %"),
            "it does not pay on mimalloc"
        );
        let worth = |percents: &[f64]| {
            with(percents, true).suggestions.iter().filter(|suggestion| suggestion.is_worth_it).count()
        };
        assert_eq!([worth(&[4.8, 1.3, 0.9]), worth(&[3.0, 0.5]), worth(&[8.0, 2.0])], [2, 0, 2]);
    }

    #[test]
    fn another_allocator_is_said_first() {
        let again = Again {
            other: "mimalloc".into(),
            pairs: 5,
            ratio: [0.68, 0.7, 0.74],
            peak: [9_200_000, 12_100_000],
            ..Again::default()
        };
        let mut document = Document { again, ..Document::default() };
        let line = of_allocator(&document);
        assert!(
            line.starts_with("mimalloc alone takes 0.70 of the time (0.68 to 0.74) and 12.1 MB of memory"),
            "{line}"
        );
        assert!(line.contains("measured in 5 pairs of runs; two lines: `#[global_allocator]"), "{line}");
        document.again = Again { why: "the program has mimalloc".into(), ..Again::default() };
        assert_eq!(of_allocator(&document), "Another allocator was not compared: the program has mimalloc.");
    }
}
