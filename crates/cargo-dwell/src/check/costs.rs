//! What a run costs, over several equal runs.

use super::row::Unit;
use crate::allocs::document::Document as Allocs;
use crate::sizes::Known;
use dwell_heap::json::{Blocks, Document as Heap, Snapshot};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The range of a number over equal runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Span {
    fn of(number: u64) -> Self {
        Self { least: number, most: number }
    }

    /// Returns what differs between equal runs.
    pub(super) fn noise(self) -> u64 {
        self.most - self.least
    }
}

/// Blocks of one owner and content at the peak.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) owner: String,
    pub(super) content: String,
    pub(super) element: String,
    pub(super) element_size: u64,
    pub(super) bytes: Span,
    pub(super) blocks: Span,
    pub(super) elements: Span,
    pub(super) unused: Span,
    /// The line that allocates most of it, and its function.
    pub(super) at: Option<String>,
    pub(super) function: String,
}

/// The blocks of one type that a function allocates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) what: String,
    pub(super) function: String,
    pub(super) blocks: Span,
    pub(super) at: Option<String>,
}

/// What a function allocates by calling dependencies.
const IN_DEPENDENCIES: &str = "blocks of dependencies";

/// What a run costs. A number that was not measured is missing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Costs {
    pub(super) peak_bytes: Option<Span>,
    pub(super) peak_blocks: Option<Span>,
    pub(super) exit_bytes: Option<Span>,
    pub(super) exit_blocks: Option<Span>,
    pub(super) leaked_bytes: Option<Span>,
    pub(super) unused_bytes: Option<Span>,
    pub(super) rss: Option<Span>,
    pub(super) allocs: Option<Span>,
    pub(super) reallocs: Option<Span>,
    pub(super) owners: Vec<Held>,
    /// How many of the bytes at the peak `owners` may lack: the copy is made when the first have been freed.
    pub(super) missing: u64,
    /// What leaks at the exit.
    pub(super) leaks: Vec<Held>,
    pub(super) places: Vec<Place>,
    /// Sizes of the workspace's types and futures.
    pub(super) sizes: Known,
}

/// A number of a run as a whole: its name, what it counts, and where it is.
pub(super) type Total = (&'static str, Unit, fn(&Costs) -> Option<Span>);

/// The numbers of a run as a whole.
pub(super) const TOTALS: [Total; 9] = [
    ("peak-bytes", Unit::Bytes, |of| of.peak_bytes),
    ("peak-blocks", Unit::Blocks, |of| of.peak_blocks),
    ("exit-bytes", Unit::Bytes, |of| of.exit_bytes),
    ("exit-blocks", Unit::Blocks, |of| of.exit_blocks),
    ("leaked-bytes", Unit::Bytes, |of| of.leaked_bytes),
    ("unused-bytes", Unit::Bytes, |of| of.unused_bytes),
    ("rss", Unit::Bytes, |of| of.rss),
    ("allocs", Unit::Blocks, |of| of.allocs),
    ("reallocs", Unit::Blocks, |of| of.reallocs),
];

/// A number of each run: `None` if one does not have it.
fn span<T>(all: &[T], of: impl Fn(&T) -> Option<u64>) -> Option<Span> {
    let numbers: Option<Vec<u64>> = all.iter().map(of).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty())?;
    Some(Span { least: *numbers.iter().min()?, most: *numbers.iter().max()? })
}

/// Returns the snapshot with the most live bytes.
pub(super) fn peak(heap: &Heap) -> Option<&Snapshot> {
    heap.largest()
}

/// Returns the snapshot at the exit.
pub(super) fn exit(heap: &Heap) -> Option<&Snapshot> {
    heap.snapshots.iter().find(|snapshot| snapshot.at == "exit")
}

impl Costs {
    /// Combines equal runs.
    pub(super) fn new(heaps: &[Heap], allocs: &[Allocs], sizes: Known) -> Self {
        let of_peak = |of: &dyn Fn(&Snapshot) -> Option<u64>| span(heaps, |heap| of(peak(heap)?));
        let of_exit = |of: &dyn Fn(&Snapshot) -> u64| span(heaps, |heap| Some(of(exit(heap)?)));
        let snapshots =
            |of: fn(&Heap) -> Option<&Snapshot>| -> Vec<&Snapshot> { heaps.iter().filter_map(of).collect() };
        Self {
            // The most until the exit is exact; the snapshot of the peak has at least 98 % of it.
            peak_bytes: span(heaps, |heap| heap.snapshots.iter().map(|of| of.peak_bytes.max(of.live_bytes)).max()),
            peak_blocks: of_peak(&|of| Some(of.live_blocks)),
            unused_bytes: of_peak(&|of| Some(of.blocks.iter().map(|blocks| blocks.unused_bytes).sum())),
            rss: of_peak(&|of| Some(of.rss.as_ref()?.bytes)),
            exit_bytes: of_exit(&|of| of.live_bytes),
            exit_blocks: of_exit(&|of| of.live_blocks),
            leaked_bytes: of_exit(&|of| of.blocks.iter().map(|blocks| blocks.leaked_bytes).sum()),
            allocs: span(allocs, |of| Some(of.total.allocations)),
            reallocs: span(allocs, |of| Some(of.total.reallocations)),
            owners: owners(&snapshots(peak), |of| of.bytes),
            missing: snapshots(peak).iter().map(|of| of.peak_bytes.saturating_sub(of.live_bytes)).max().unwrap_or(0),
            leaks: owners(&snapshots(exit), |of| of.leaked_bytes),
            places: places(allocs),
            sizes,
        }
    }
}

/// Adds a number of one of `runs` runs to a span. A run without it has 0.
fn widen(span: &mut Span, run: usize, number: u64) {
    *span =
        if run == 0 { Span::of(number) } else { Span { least: span.least.min(number), most: span.most.max(number) } };
}

/// Returns the blocks by owner and content, as far as `bytes` counts any.
fn owners(snapshots: &[&Snapshot], bytes: impl Fn(&Blocks) -> u64) -> Vec<Held> {
    type Numbers = [u64; 4];
    let mut all: BTreeMap<(String, String), (Held, Vec<Numbers>)> = BTreeMap::new();
    for (run, snapshot) in snapshots.iter().enumerate() {
        for of in snapshot.blocks.iter().filter(|of| bytes(of) > 0) {
            let (owner, numbers) = all.entry((of.owner.clone(), of.content.clone())).or_default();
            if owner.owner.is_empty() {
                owner.owner.clone_from(&of.owner);
                owner.content.clone_from(&of.content);
                owner.element.clone_from(&of.element);
                owner.element_size = of.element_size;
                owner.at = of.sites.iter().find_map(|site| site.at.clone());
                owner.function = of.sites.first().map_or_else(String::new, |site| site.function.clone());
            }
            numbers.resize(run + 1, [0; 4]);
            let more = [bytes(of), of.blocks, of.len.unwrap_or(of.blocks), of.unused_bytes];
            for (sum, more) in numbers[run].iter_mut().zip(more) {
                *sum += more;
            }
        }
    }
    let runs = snapshots.len();
    let finish = |(mut owner, mut numbers): (Held, Vec<Numbers>)| {
        numbers.resize(runs, [0; 4]);
        for (run, [bytes, blocks, elements, unused]) in numbers.into_iter().enumerate() {
            widen(&mut owner.bytes, run, bytes);
            widen(&mut owner.blocks, run, blocks);
            widen(&mut owner.elements, run, elements);
            widen(&mut owner.unused, run, unused);
        }
        owner
    };
    all.into_values().map(finish).collect()
}

/// Returns the places that allocate. What dependencies allocate is that of the function that calls them.
fn places(allocs: &[Allocs]) -> Vec<Place> {
    let mut all: BTreeMap<(String, String), (Place, Vec<u64>)> = BTreeMap::new();
    for (run, document) in allocs.iter().enumerate() {
        for row in &document.rows {
            for spot in &row.places {
                let caller = spot.called_from.as_deref().and_then(|from| from.strip_suffix(')')?.rsplit_once(" ("));
                let (what, function, at) = match caller {
                    Some((function, at)) => (IN_DEPENDENCIES, function, Some(at)),
                    None => (&*row.what, &*spot.function, spot.at.as_deref()),
                };
                let (place, numbers) = all.entry((what.to_owned(), function.to_owned())).or_default();
                if place.function.is_empty() {
                    what.clone_into(&mut place.what);
                    function.clone_into(&mut place.function);
                    place.at = at.map(str::to_owned);
                }
                numbers.resize(run + 1, 0);
                numbers[run] += spot.allocations + spot.reallocations;
            }
        }
    }
    let finish = |(mut place, mut numbers): (Place, Vec<u64>)| {
        numbers.resize(allocs.len(), 0);
        for (run, blocks) in numbers.into_iter().enumerate() {
            widen(&mut place.blocks, run, blocks);
        }
        place
    };
    all.into_values().map(finish).collect()
}
