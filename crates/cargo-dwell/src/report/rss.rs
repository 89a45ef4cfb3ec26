//! The resident memory (RSS) by part, as text and as bars of the page.

use comfy_table::Cell;
use dwell_heap::json::{Blocks, CallSite, Rss, Snapshot, Survivor};
use dwell_output::page::{Bar, Class};
use dwell_output::units::{bytes, count, percent, plural};
use dwell_output::{Look, header, right};
use std::io;

/// The resident memory is worth a block of the report if it exceeds the live bytes by this much, and by a quarter.
const MUCH: u64 = 8 << 20;

/// So many threads are worth a line.
const MANY_THREADS: u64 = 64;

/// The parts with their names, in the order of the report.
fn parts(rss: &Rss) -> [(&'static str, u64, Class); 10] {
    [
        ("live", rss.live, Class::Struct),
        ("the allocator's headers and rounding", rss.rounding, Class::Padding),
        ("freed, but held: free bytes on pages with live bytes (fragmentation)", rss.fragmented, Class::Spare),
        ("freed, but held: in the caches of threads (tcache)", rss.cached, Class::Absent),
        ("freed, but held: in glibc's arenas of other threads", rss.arenas, Class::Absent),
        ("freed, but held: pages without live bytes", rss.free_pages, Class::Absent),
        ("mapped by hand, or by an allocator for which no block is known", rss.mapped, Class::Sequence),
        ("stacks of threads", rss.stacks, Class::Map),
        ("mapped files and shared memory", rss.files, Class::Text),
        ("the program, its libraries and statics", rss.program, Class::Other),
    ]
}

/// Says how much memory of census is not in the sum. A program that was started without the tool has none.
pub(super) fn apart_from(rss: &Rss) -> String {
    if rss.census == 0 { String::new() } else { format!(", apart from {} of census", bytes(rss.census)) }
}

/// Tells where the threads were spawned, if they are many. std has a block for the result of each.
fn threads(snapshot: &Snapshot) -> Option<String> {
    let is_result = |blocks: &&Blocks| {
        blocks.content.starts_with("Arc<Packet<") || blocks.content.starts_with("Arc<thread::Packet<")
    };
    let all = || snapshot.blocks.iter().filter(is_result);
    let number: u64 = all().map(|blocks| blocks.blocks).sum();
    let mut sites: Vec<_> = all().flat_map(|blocks| &blocks.sites).collect();
    sites.sort_by_key(|site| std::cmp::Reverse(site.blocks));
    let at = |site: &&CallSite| format!("{} at {}", count(site.blocks), site.at.as_deref().unwrap_or(&site.function));
    let shown: Vec<String> = sites.iter().take(3).map(at).collect();
    (number >= MANY_THREADS).then(|| format!("{} threads were spawned: {}.", count(number), shown.join(", ")))
}

/// Writes the parts, if the program has much more resident memory than live bytes.
pub(super) fn write(snapshot: &Snapshot, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    let Some(rss) = &snapshot.rss else { return Ok(()) };
    if let Some(line) = threads(snapshot) {
        writeln!(out, "{line}")?;
    }
    if rss.bytes < rss.live + (rss.live / 4).max(MUCH) {
        return Ok(());
    }
    look.heading(out, "RSS by part", &format!(": {} resident{}", bytes(rss.bytes), apart_from(rss)))?;
    let mut rows = vec![header(&["bytes", "of RSS", "part"])];
    for (name, part, _) in parts(rss).into_iter().filter(|(_, part, _)| *part > 0) {
        rows.push(vec![right(bytes(part)), right(percent(part, rss.bytes)), Cell::new(name)]);
    }
    look.table(out, &rows)?;
    if !rss.largest_stacks.is_empty() {
        let stacks = rss.largest_stacks.iter().map(|(name, threads, size)| match threads {
            1 => format!("{name} {}", bytes(*size)),
            _ => format!("{name} ({} threads) {}", count(*threads), bytes(*size)),
        });
        writeln!(out, "The largest stacks: {}.", stacks.collect::<Vec<_>>().join(", "))?;
    }
    for (what, rows) in [("The largest files", &rss.largest_files), ("Most was mapped by hand at", &rss.largest_mapped)]
    {
        let rows: Vec<String> = rows.iter().map(|(name, resident)| format!("{name} {}", bytes(*resident))).collect();
        if !rows.is_empty() {
            writeln!(out, "{what}: {}.", rows.join(", "))?;
        }
    }
    if rss.untouched > 0 {
        writeln!(out, "{} of the live bytes were never touched, and are no part of RSS.", bytes(rss.untouched))?;
    }
    if !rss.survivors.is_empty() {
        let pages = format!(": {} pages of 4 KiB are mostly free, but not empty", count(rss.mostly_free));
        look.heading(out, "What keeps these pages", &pages)?;
        let mut rows = vec![header(&["pages", "alone", "blocks", "live bytes", "owner", "allocated at", "would free"])];
        for survivor in &rss.survivors {
            rows.push(vec![
                right(count(survivor.pages)),
                right(count(survivor.alone)),
                right(count(survivor.blocks)),
                right(bytes(survivor.bytes)),
                Cell::new(named(survivor)),
                Cell::new(&survivor.at),
                right(bytes(survivor.returns)),
            ]);
        }
        look.table(out, &rows)?;
    }
    if !rss.remedies.is_empty() {
        look.heading(out, "What returns memory to the system", "")?;
        let mut rows = vec![header(&["returns", "how"])];
        for remedy in &rss.remedies {
            rows.push(vec![right(bytes(remedy.returns)), Cell::new(&remedy.how)]);
        }
        look.table(out, &rows)?;
    }
    Ok(())
}

fn named(survivor: &Survivor) -> String {
    if survivor.content.is_empty() {
        survivor.owner.clone()
    } else {
        format!("{}: {}", survivor.owner, survivor.content)
    }
}

/// Returns a chart of the parts. Below fragmentation are those who keep the pages, by what would be free without them.
pub(super) fn icicle(rss: &Rss) -> Bar {
    let survivor = |survivor: &Survivor| Bar {
        name: format!(" {}", named(survivor)),
        bytes: survivor.returns,
        class: Class::Pointer,
        details: vec![
            (
                "pages".into(),
                format!("{}, of which {} have no other block", count(survivor.pages), count(survivor.alone)),
            ),
            ("blocks".into(), format!("{} of {}", count(survivor.blocks), bytes(survivor.bytes))),
            ("allocated at".into(), survivor.at.clone()),
        ],
        bars: Vec::new(),
    };
    let bars = parts(rss).into_iter().enumerate().filter(|(_, (_, part, _))| *part > 0);
    let bars = bars.map(|(number, (name, part, class))| {
        let mut bar = Bar { name: format!(" {name}"), bytes: part, class, ..Bar::default() };
        if number == 2 {
            bar.bars = rss.survivors.iter().filter(|survivor| survivor.returns > 0).map(survivor).collect();
            bar.details = vec![("mostly free".into(), plural(rss.mostly_free, "page"))];
        }
        bar
    });
    Bar { name: "RSS ".into(), bytes: rss.bytes, class: Class::Other, bars: bars.collect(), ..Bar::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_heap::json::Remedy;

    fn snapshot() -> Snapshot {
        let survivor = Survivor {
            owner: "Table.open []".into(),
            content: "Box<Session>".into(),
            at: "src/main.rs:7".into(),
            blocks: 900,
            bytes: 180_000,
            pages: 900,
            alone: 880,
            returns: 3_400_000,
        };
        let remedy = Remedy { kind: "trim".into(), how: "call malloc_trim(0)".into(), returns: 9_000_000 };
        let rss = Rss {
            bytes: 20_000_000,
            live: 1_000_000,
            fragmented: 4_000_000,
            free_pages: 14_000_000,
            program: 1_000_000,
            census: 300_000,
            untouched: 5_000,
            mostly_free: 1000,
            largest_stacks: vec![("worker".into(), 8, 1_500_000), ("main".into(), 1, 250_000)],
            largest_files: vec![("/data/index".into(), 2_500_000)],
            largest_mapped: vec![("Arena::grow at src/arena.rs:9".into(), 1_500_000)],
            survivors: vec![survivor],
            remedies: vec![remedy],
            ..Rss::default()
        };
        Snapshot { live_bytes: 1_005_000, rss: Some(rss), ..Snapshot::default() }
    }

    fn text(snapshot: &Snapshot) -> String {
        let mut out = Vec::new();
        write(snapshot, &Look::page(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn many_threads_are_shown_where_they_were_spawned() {
        let site =
            |line: u32, blocks| CallSite { at: Some(format!("src/main.rs:{line}")), blocks, ..CallSite::default() };
        let results = |blocks| Blocks {
            content: "Arc<Packet<u64>>".into(),
            blocks,
            sites: vec![site(7, 1), site(3, blocks - 1)],
            ..Blocks::default()
        };
        let snapshot =
            |blocks| Snapshot { blocks: vec![results(blocks)], rss: Some(Rss::default()), ..Snapshot::default() };
        assert_eq!(text(&snapshot(63)), "");
        assert!(
            text(&snapshot(300)).starts_with("300 threads were spawned: 299 at src/main.rs:3, 1 at src/main.rs:7.")
        );
    }

    #[test]
    fn parts_survivors_and_remedies_are_written() {
        let text = text(&snapshot());
        for part in [
            "20.0 MB resident, apart from 300.0 kB of census",
            "14.0 MB",
            "5.0 kB of the live bytes were never touched",
            "The largest stacks: worker (8 threads) 1.5 MB, main 250.0 kB.",
            "The largest files: /data/index 2.5 MB.",
            "Table.open []: Box<Session>",
            "src/main.rs:7",
            "3.4 MB",
            "call malloc_trim(0)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("stacks of threads"), "{text}");
    }

    #[test]
    fn nothing_is_written_if_the_memory_is_mostly_live() {
        let mut snapshot = snapshot();
        // Capacity that was never touched is live, and no reason to say nothing.
        snapshot.live_bytes = 17_000_000;
        assert!(text(&snapshot).contains("RSS by part"));
        snapshot.rss.as_mut().unwrap().live = 17_000_000;
        assert_eq!(text(&snapshot), "");
        snapshot.rss = None;
        assert_eq!(text(&snapshot), "");
    }

    #[test]
    fn bars_have_the_bytes_of_the_parts() {
        let root = icicle(snapshot().rss.as_ref().unwrap());
        assert_eq!(root.bars.iter().map(|bar| bar.bytes).sum::<u64>(), root.bytes);
        assert_eq!(root.bars[1].bars[0].bytes, 3_400_000);
    }
}
