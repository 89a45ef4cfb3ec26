//! `--html`: a census as a page, with icicle charts of live bytes by type, field and content.

use super::diff::Diff;
use super::format::FileFormat;
use super::text::{how, why};
use dwell_heap::json::{Bin, Blocks, Document, Snapshot};
use dwell_heap::names::{is_inline, type_of};
use dwell_output::page::{Bar, Class, Histogram, Icicle, Page, Suggestion, Table, Unit, file_name};
use dwell_output::units::{bytes, count, percent};
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) struct Html;

impl FileFormat for Html {
    fn option(&self) -> &'static str {
        "html"
    }

    fn help(&self) -> &'static str {
        "Write a page to FILE: what to change, icicle charts of live bytes, and a table to search; it loads nothing from \
         the network"
    }

    fn write(&self, document: &Document, diff: Option<&Diff>, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(page(document, diff).as_bytes())
    }
}

/// The maximum number of owners with a histogram of lengths.
const HISTOGRAMS: usize = 8;
/// The maximum number of owners with what they keep.
const KEPT: usize = 20;

/// Renders the page. Findings, histograms and table are those of the snapshot with the most live bytes; each snapshot
/// has its own icicle chart. The table of differences is `diff`, or compares the first and the last snapshot.
fn page(document: &Document, diff: Option<&Diff>) -> String {
    let empty = Snapshot::default();
    let largest = document.largest().unwrap_or(&empty);
    let mut notes = vec![format!(
        "{} of the bytes are owned by a field, variable, static or pointer; for {} only the type and the allocating \
         call stack are known.",
        percent(largest.owned_bytes, largest.live_bytes),
        percent(largest.root_bytes, largest.live_bytes)
    )];
    if let Some(error) = largest.standard_error {
        notes.push(format!("Allocations were sampled: the live bytes have a standard error of {}.", bytes(error)));
    }
    let of_run = match document.snapshots.as_slice() {
        [first, .., last] if diff.is_none() => Some(Diff::between(first, last)),
        _ => None,
    };
    let charts = super::history::charts(&document.snapshots.iter().collect::<Vec<_>>());
    let page = Page {
        histograms: charts.into_iter().chain(histograms(largest)).collect(),
        changes: diff.or(of_run.as_ref()).map(Diff::page),
        title: format!("The live heap of {}", file_name(&document.program.file)),
        about: document.program.file.clone(),
        numbers: vec![
            (format!("live bytes at {}", largest.at), bytes(largest.live_bytes)),
            ("blocks".into(), count(largest.live_blocks)),
            ("of the bytes have a type".into(), percent(largest.typed_bytes, largest.live_bytes)),
        ],
        notes,
        suggestions: largest
            .findings
            .iter()
            .map(|finding| Suggestion {
                location: finding.location.clone(),
                before: finding.edits.first().map(|edit| edit.from.clone()).unwrap_or_default(),
                after: how(finding),
                saves: finding.saves,
                why: format!("{}; cost: {}", why(finding), finding.costs),
                at: finding
                    .edits
                    .first()
                    .map(|edit| format!("{}:{}", edit.file, edit.line))
                    .or_else(|| finding.at.clone())
                    .unwrap_or_default(),
                paths: if finding.fields.is_empty() { vec![finding.location.clone()] } else { finding.fields.clone() },
            })
            .collect(),
        icicles: icicles(document),
        table: table(largest),
        ..Page::default()
    };
    page.html()
}

/// Returns a chart of the live bytes of each snapshot, and of the resident memory at the largest one.
fn icicles(document: &Document) -> Vec<Icicle> {
    let live =
        |snapshot: &Snapshot| Icicle { title: format!("at {}", snapshot.at), root: icicle(snapshot), is_alone: false };
    let largest = document.largest().and_then(|largest| Some((largest, largest.rss.as_ref()?)));
    let resident = largest.map(|(largest, rss)| Icicle {
        title: format!("RSS by part at {}{}", largest.at, super::rss::apart_from(rss)),
        root: super::rss::icicle(rss),
        is_alone: true,
    });
    document.snapshots.iter().map(live).chain(resident).collect()
}

/// Returns histograms of the sizes of all blocks, and of the lengths of the largest collections.
fn histograms(snapshot: &Snapshot) -> Vec<Histogram> {
    let bars = |bins: &[Bin], unit: &str| -> Vec<(String, u64)> {
        let label = |bin: &Bin| {
            if bin.from == bin.to {
                format!("{}{unit}", count(bin.from))
            } else {
                format!("{} to {}{unit}", count(bin.from), count(bin.to))
            }
        };
        bins.iter().map(|bin| (label(bin), bin.count)).collect()
    };
    let mut all = Vec::new();
    let kept = snapshot.retained.iter().filter(|keeper| keeper.bytes >= snapshot.live_bytes / 100).take(KEPT);
    let kept: Vec<(String, u64)> =
        kept.map(|keeper| (format!("{} {}", keeper.owner, keeper.content), keeper.bytes)).collect();
    if !kept.is_empty() {
        all.push(Histogram { title: "What each owner keeps".into(), unit: Unit::Bytes, bars: kept });
    }
    for keeper in snapshot.retained.iter().filter(|keeper| !keeper.keys.is_empty()).take(HISTOGRAMS) {
        let keys = keeper.keys.iter().map(|key| (key.key.clone(), key.bytes)).collect();
        all.push(Histogram {
            title: format!("{} {}: what its largest keys keep", keeper.owner, keeper.content),
            unit: Unit::Bytes,
            bars: keys,
        });
    }
    if !snapshot.sizes.is_empty() {
        all.push(Histogram {
            title: "Blocks by their size".into(),
            unit: Unit::Count,
            bars: bars(&snapshot.sizes, " B"),
        });
    }
    for blocks in snapshot.blocks.iter().filter(|blocks| !blocks.lengths.is_empty()).take(HISTOGRAMS) {
        let title = format!("{}: {} by their length", blocks.owner, blocks.content);
        all.push(Histogram { title, unit: Unit::Count, bars: bars(&blocks.lengths, "") });
    }
    all
}

/// Returns a chart of live bytes by owning type, field, and content.
fn icicle(snapshot: &Snapshot) -> Bar {
    let mut owners: BTreeMap<&str, Vec<Bar>> = BTreeMap::new();
    for group in &snapshot.blocks {
        let owner = type_of(&group.owner);
        let field = group.owner.strip_prefix(owner).unwrap_or_default();
        let name = if field.is_empty() { group.content.clone() } else { field.to_owned() };
        owners.entry(owner).or_default().push(blocks(snapshot, group, name));
    }
    let sorted = |mut bars: Vec<Bar>| {
        bars.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        bars
    };
    let bars = owners.into_iter().map(|(owner, bars)| Bar {
        name: owner.into(),
        bytes: bars.iter().map(|bar| bar.bytes).sum(),
        bars: sorted(bars),
        ..Bar::default()
    });
    let bars: Vec<Bar> = bars.collect();
    Bar {
        name: "live bytes ".into(),
        bytes: bars.iter().map(|bar| bar.bytes).sum(),
        class: Class::Other,
        details: Vec::new(),
        bars: sorted(bars),
    }
}

/// Returns a bar for the blocks of one owner: bytes in use, absent values among them, and unused bytes.
fn blocks(snapshot: &Snapshot, blocks: &Blocks, name: String) -> Bar {
    let class = match blocks.content.split('<').next().unwrap_or_default() {
        "String" | "PathBuf" | "OsString" | "CString" => Class::Text,
        _ if blocks.content.ends_with("str>") => Class::Text,
        "Vec" | "VecDeque" | "BinaryHeap" | "LinkedList" => Class::Sequence,
        "HashMap" | "HashSet" | "HashTable" | "BTreeMap" | "BTreeSet" => Class::Map,
        "Box" | "Rc" | "Arc" => Class::Pointer,
        _ => Class::Other,
    };
    let mut details = vec![("what".to_owned(), blocks.content.clone()), ("blocks".to_owned(), count(blocks.blocks))];
    match blocks.len {
        Some(len) => details.push(("elements".into(), format!("{} of {} B", count(len), count(blocks.element_size)))),
        None => details.push(("slots".into(), format!("{}, length unknown", count(blocks.capacity)))),
    }
    details.extend(blocks.sites.iter().take(3).map(|site| {
        let at = site.at.as_deref().unwrap_or("?");
        ("allocated at".to_owned(), format!("{at} in {}, {}", site.function, bytes(site.bytes)))
    }));
    let mut bars = Vec::new();
    let mut rest = blocks.bytes;
    let mut part = |name: String, bytes: u64, class: Class| {
        let bytes = bytes.min(rest);
        rest -= bytes;
        if bytes > 0 {
            bars.push(Bar { name, bytes, class, ..Bar::default() });
        }
    };
    part(" unused capacity".into(), blocks.unused_bytes, Class::Spare);
    for field in
        snapshot.fields.iter().filter(|field| field.owner == blocks.element || is_inline(&blocks.element, &field.owner))
    {
        // A pointer could replace absent fields. Their share in these blocks is estimated as their share of all values.
        let values = blocks.len.unwrap_or(0).min(field.instances);
        if field.size > 8 && field.instances > 0 && field.variants.iter().any(|variant| variant.name == "None") {
            let absent = u128::from(field.instances - field.filled) * u128::from(values) / u128::from(field.instances);
            let absent = u64::try_from(absent).unwrap_or(0).saturating_mul(field.size);
            part(format!(" {}: None", field.field), absent, Class::Absent);
        }
    }
    for field in snapshot.fields.iter().filter(|field| field.owner == blocks.element) {
        // What its elements have inline. The part that is absent is above.
        let whole = blocks.len.unwrap_or(0).saturating_mul(field.size);
        let absent = format!(" {}: None", field.field);
        let absent = bars.iter().find(|bar| bar.name == absent).map_or(0, |bar| bar.bytes);
        let bytes = whole.saturating_sub(absent).min(rest);
        rest -= bytes;
        if bytes > 0 {
            let details = vec![("inline".to_owned(), format!("{} of {} B", field.field_type, field.size))];
            bars.push(Bar {
                name: format!(" {}", field.field),
                bytes,
                class: Class::Struct,
                details,
                ..Bar::default()
            });
        }
    }
    Bar { name, bytes: blocks.bytes, class, details, bars }
}

fn table(snapshot: &Snapshot) -> Table {
    let head = ["owner", "what", "element", "bytes", "blocks", "in use", "capacity", "unused", "allocated at"];
    let row = |blocks: &Blocks| {
        vec![
            blocks.owner.clone(),
            blocks.content.clone(),
            blocks.element.clone(),
            bytes(blocks.bytes),
            count(blocks.blocks),
            blocks.len.map_or_else(|| "?".to_owned(), count),
            count(blocks.capacity),
            bytes(blocks.unused_bytes),
            blocks.sites.first().and_then(|site| site.at.clone()).unwrap_or_default(),
        ]
    };
    Table { head: head.map(str::to_owned).to_vec(), rows: snapshot.blocks.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_heap::json::{Field, Variant};

    fn snapshot() -> Snapshot {
        let blocks = |owner: &str, content: &str, element: &str, bytes, len, unused_bytes| Blocks {
            owner: owner.into(),
            content: content.into(),
            element: element.into(),
            bytes,
            len,
            unused_bytes,
            ..Blocks::default()
        };
        let of_field = |name: &str, count| Variant { name: name.into(), count };
        Snapshot {
            at: "peak".into(),
            live_bytes: 1500,
            blocks: vec![
                blocks("Model.shapes", "Vec<Shape>", "Shape", 1200, Some(10), 200),
                blocks("Shape.name", "String", "u8", 300, Some(250), 50),
            ],
            sizes: vec![Bin { from: 128, to: 255, count: 3 }, Bin { from: 256, to: 511, count: 1 }],
            fields: vec![Field {
                owner: "Shape".into(),
                field: "traits".into(),
                size: 40,
                instances: 10,
                filled: 4,
                variants: vec![of_field("None", 6), of_field("Some", 4)],
                ..Field::default()
            }],
            ..Snapshot::default()
        }
    }

    #[test]
    fn bars_have_the_bytes_of_the_snapshot() {
        let root = icicle(&snapshot());
        assert_eq!((root.bytes, root.bars[0].name.as_str()), (1500, "Model"));
        let shapes = &root.bars[0].bars[0];
        let parts: Vec<(&str, u64)> = shapes.bars.iter().map(|bar| (&*bar.name, bar.bytes)).collect();
        assert_eq!(parts, [(" unused capacity", 200), (" traits: None", 6 * 40), (" traits", 4 * 40)]);
    }

    #[test]
    fn page_has_the_totals_and_every_row() {
        let document = Document { snapshots: vec![snapshot()], ..Document::default() };
        let html = page(&document, None);
        for text in ["1.5 kB", "Model.shapes", "Shape.name", "id=\"search\"", "256 to 511 B"] {
            assert!(html.contains(text), "{text}");
        }
        assert!(!html.contains("What grew"));
    }

    #[test]
    fn page_of_two_snapshots_shows_growth() {
        let mut later = snapshot();
        later.at = "2s".into();
        later.blocks[0].bytes += 4000;
        let html = page(&Document { snapshots: vec![snapshot(), later], ..Document::default() }, None);
        assert!(html.contains("What grew from peak (1.5 kB) to 2s") && html.contains("+4.0 kB"), "{html}");
    }
}
