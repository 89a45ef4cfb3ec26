//! What a run costs, over several equal runs.

use super::row::Unit;
use crate::allocs::document::Document as Allocs;
use crate::sizes::Known;
use dwell_heap::json::{Blocks, Document as Heap, Snapshot};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The range of a number over equal runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Span {
    fn exactly(number: u64) -> Self {
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
    /// All that is live at the exit. A stale pointer on the stack reaches what leaks, and all that it points to.
    pub(super) left: Vec<Held>,
    pub(super) places: Vec<Place>,
    /// What each test of a test program allocates.
    pub(super) tests: Vec<Place>,
    /// Sizes of the workspace's types and futures.
    pub(super) sizes: Known,
}

/// A number of a run as a whole: its name, what it counts, and where it is.
pub(super) type Total = (&'static str, Unit, fn(&Costs) -> Option<Span>);

/// The numbers of a run as a whole.
pub(super) const TOTALS: [Total; 9] = [
    ("peak-bytes", Unit::Bytes, |costs| costs.peak_bytes),
    ("peak-blocks", Unit::Blocks, |costs| costs.peak_blocks),
    ("exit-bytes", Unit::Bytes, |costs| costs.exit_bytes),
    ("exit-blocks", Unit::Blocks, |costs| costs.exit_blocks),
    ("leaked-bytes", Unit::Bytes, |costs| costs.leaked_bytes),
    ("unused-bytes", Unit::Bytes, |costs| costs.unused_bytes),
    ("rss", Unit::Bytes, |costs| costs.rss),
    ("allocs", Unit::Blocks, |costs| costs.allocs),
    ("reallocs", Unit::Blocks, |costs| costs.reallocs),
];

/// A number of each run: `None` if one does not have it.
fn span<T>(all: &[T], number_of: impl Fn(&T) -> Option<u64>) -> Option<Span> {
    let numbers: Option<Vec<u64>> = all.iter().map(number_of).collect();
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
    /// Returns whether `left` is known: files of earlier releases do not have it.
    pub(super) fn has_left(&self) -> bool {
        !self.left.is_empty() || self.exit_bytes.is_some_and(|bytes| bytes.most == 0)
    }

    /// Combines equal runs.
    pub(super) fn new(heaps: &[Heap], peaks: &[u64], allocs: &[Allocs], sizes: Known) -> Self {
        let of_peak = |number_of: &dyn Fn(&Snapshot) -> Option<u64>| span(heaps, |heap| number_of(peak(heap)?));
        let of_exit = |number_of: &dyn Fn(&Snapshot) -> u64| span(heaps, |heap| Some(number_of(exit(heap)?)));
        let snapshots = |snapshot_of: fn(&Heap) -> Option<&Snapshot>| -> Vec<&Snapshot> {
            heaps.iter().filter_map(snapshot_of).collect()
        };
        Self {
            // The snapshot of the peak has at least 98 % of it.
            peak_bytes: span(peaks, |peak| Some(*peak)),
            peak_blocks: of_peak(&|snapshot| Some(snapshot.live_blocks)),
            unused_bytes: of_peak(&|snapshot| Some(snapshot.blocks.iter().map(|blocks| blocks.unused_bytes).sum())),
            rss: of_peak(&|snapshot| Some(snapshot.rss.as_ref()?.bytes)),
            exit_bytes: of_exit(&|snapshot| snapshot.live_bytes),
            exit_blocks: of_exit(&|snapshot| snapshot.live_blocks),
            leaked_bytes: of_exit(&|snapshot| snapshot.blocks.iter().map(|blocks| blocks.leaked_bytes).sum()),
            allocs: span(allocs, |document| Some(document.total.allocations)),
            reallocs: span(allocs, |document| Some(document.total.reallocations)),
            owners: owners(&snapshots(peak), |blocks| blocks.bytes),
            missing: snapshots(peak)
                .iter()
                .map(|snapshot| snapshot.peak_bytes.saturating_sub(snapshot.live_bytes))
                .max()
                .unwrap_or(0),
            leaks: owners(&snapshots(exit), |blocks| blocks.leaked_bytes),
            left: owners(&snapshots(exit), |blocks| blocks.bytes),
            places: places(allocs),
            tests: tests(allocs),
            sizes,
        }
    }
}

/// Adds a number of one of `runs` runs to a span. A run without it has 0.
fn widen(span: &mut Span, run: usize, number: u64) {
    *span = if run == 0 {
        Span::exactly(number)
    } else {
        Span { least: span.least.min(number), most: span.most.max(number) }
    };
}

/// Returns the blocks by owner and content, as far as `bytes` counts any.
fn owners(snapshots: &[&Snapshot], bytes: impl Fn(&Blocks) -> u64) -> Vec<Held> {
    type Numbers = [u64; 4];
    let mut all: BTreeMap<(String, String), (Held, Vec<Numbers>)> = BTreeMap::new();
    for (run, snapshot) in snapshots.iter().enumerate() {
        for blocks in snapshot.blocks.iter().filter(|blocks| bytes(blocks) > 0) {
            let (owner, numbers) = all.entry((blocks.owner.clone(), blocks.content.clone())).or_default();
            if owner.owner.is_empty() {
                owner.owner.clone_from(&blocks.owner);
                owner.content.clone_from(&blocks.content);
                owner.element.clone_from(&blocks.element);
                owner.element_size = blocks.element_size;
                owner.at = blocks.sites.iter().find_map(|site| site.at.clone());
                owner.function = blocks.sites.first().map_or_else(String::new, |site| site.function.clone());
            }
            numbers.resize(run + 1, [0; 4]);
            let more = [bytes(blocks), blocks.blocks, blocks.len.unwrap_or(blocks.blocks), blocks.unused_bytes];
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
        for (what, function, at, blocks) in clones(document) {
            let (place, numbers) = all.entry((what.clone(), function.to_owned())).or_default();
            if place.function.is_empty() {
                *place = Place { what, function: function.to_owned(), at: at.map(str::to_owned), ..Place::default() };
            }
            numbers.resize(run + 1, 0);
            numbers[run] += blocks;
        }
        for row in &document.rows {
            for spot in row.places.iter().filter(|spot| !spot.function.ends_with(CLONE)) {
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
    all.into_values().map(|(place, numbers)| over_runs(place, numbers, allocs.len())).collect()
}

/// How the names of functions that copy a value end.
const CLONE: &str = "::clone";

/// Returns the copies of values: what they are, the function of the workspace that clones with its line, and the blocks. The
/// functions that clone are derived mostly, and have no line that anybody wrote.
fn clones(document: &Allocs) -> Vec<(String, &str, Option<&str>, u64)> {
    fn parts(frame: &str) -> (&str, Option<&str>) {
        let (name, at) = frame.split_once(" (").map_or((frame, None), |(name, at)| (name, Some(at)));
        (name, at.and_then(|at| at.strip_suffix(')')))
    }
    let krate = |function: &str| function.split("::").next().unwrap_or_default().trim_start_matches('<').to_owned();
    let spots = || document.rows.iter().flat_map(|row| &row.places);
    let mut own: BTreeSet<String> =
        spots().filter(|spot| spot.dependency.is_none()).map(|spot| krate(&spot.function)).collect();
    own.extend(spots().filter_map(|spot| spot.called_from.as_deref()).map(krate));
    let is_std = |name: &str| matches!(&*krate(name), "alloc" | "core" | "std");
    let mut all = Vec::new();
    for stack in &document.stacks {
        let frames = stack.frames.iter().filter_map(|number| Some(parts(document.frames.get(*number as usize)?)));
        let mut outer = frames.skip_while(|(name, _)| is_std(name)).peekable();
        let mut cloned = None;
        while let Some((name, _)) = outer.next_if(|(name, _)| is_std(name) || name.ends_with(CLONE)) {
            if !is_std(name) {
                cloned = name.strip_suffix(CLONE);
            }
        }
        let Some(cloned) = cloned else { continue };
        if let Some((function, at)) = outer.find(|(name, _)| own.contains(&krate(name))) {
            all.push((format!("clones of {cloned}"), function, at, stack.blocks));
        }
    }
    all
}

/// Returns a place with the range of its numbers over equal runs.
fn over_runs(mut place: Place, mut numbers: Vec<u64>, runs: usize) -> Place {
    numbers.resize(runs, 0);
    for (run, blocks) in numbers.into_iter().enumerate() {
        widen(&mut place.blocks, run, blocks);
    }
    place
}

/// Returns the tests that a harness of the crate `test` called, by what they allocate.
fn tests(allocs: &[Allocs]) -> Vec<Place> {
    const HARNESS: &str = "test::__rust_begin_short_backtrace";
    let mut all: BTreeMap<String, (Place, Vec<u64>)> = BTreeMap::new();
    for (run, document) in allocs.iter().enumerate() {
        let frame = |number: &u32| document.frames.get(*number as usize).map_or("", String::as_str);
        for stack in &document.stacks {
            let functions = stack.frames.iter().map(frame);
            // From the harness inwards, past what calls a closure.
            let mut inner = functions.rev().skip_while(|frame| !frame.starts_with(HARNESS)).skip(1);
            let Some(test) = inner.find(|frame| !frame.starts_with("core::ops::function::")) else { continue };
            let (name, at) = test.split_once(" (").map_or((test, None), |(name, at)| (name, at.strip_suffix(')')));
            let name = name.split("::{closure").next().unwrap_or(name);
            let (place, numbers) = all.entry(name.to_owned()).or_default();
            name.clone_into(&mut place.function);
            place.at = place.at.take().or_else(|| at.map(str::to_owned));
            numbers.resize(run + 1, 0);
            numbers[run] += stack.blocks;
        }
    }
    let mut all: Vec<Place> =
        all.into_values().map(|(place, numbers)| over_runs(place, numbers, allocs.len())).collect();
    all.sort_by_key(|place| std::cmp::Reverse(place.blocks.most));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocs::document::Stack;

    #[test]
    fn clone_is_of_the_function_that_clones() {
        use crate::allocs::document::{Row, Spot};
        let frames = [
            "alloc::alloc::alloc (alloc.rs:1)",
            "app::Name::clone (src/lib.rs:3)",
            "core::clone::Clone::clone (clone.rs:9)",
            "app::Report::clone (src/lib.rs:7)",
            "app::add (src/lib.rs:20)",
            "app::main (src/main.rs:2)",
        ];
        let stack = |frames: &[u32], blocks| Stack { frames: frames.to_vec(), blocks, ..Stack::default() };
        let spot = |function: &str, allocations| Spot { function: function.into(), allocations, ..Spot::default() };
        let document = Allocs {
            frames: frames.map(str::to_owned).to_vec(),
            stacks: vec![stack(&[0, 1, 2, 3, 4, 5], 30), stack(&[0, 3, 4, 5], 4), stack(&[0, 4, 5], 7)],
            rows: vec![Row {
                what: "String".into(),
                places: vec![spot("app::Name::clone", 30), spot("app::Report::clone", 4), spot("app::add", 7)],
                ..Row::default()
            }],
            ..Allocs::default()
        };
        let found = places(&[document]);
        let found: Vec<_> = found.iter().map(|place| (&*place.what, &*place.function, place.blocks.most)).collect();
        assert_eq!(found, [("String", "app::add", 7), ("clones of app::Report", "app::add", 34)]);
    }

    #[test]
    fn tests_are_the_functions_that_the_harness_calls() {
        let frames = [
            "alloc::alloc::alloc (alloc.rs:1)",
            "app::parse (src/lib.rs:7)",
            "hot::parses::{closure#0} (tests/hot.rs:4)",
            "core::ops::function::FnOnce::call_once (function.rs:250)",
            "test::__rust_begin_short_backtrace (lib.rs:663)",
            "hot::writes (tests/hot.rs:9)",
            "test::run_tests (lib.rs:1)",
        ];
        let stack = |frames: &[u32], blocks| Stack { frames: frames.to_vec(), blocks, ..Stack::default() };
        let document = |blocks| Allocs {
            frames: frames.map(str::to_owned).to_vec(),
            stacks: vec![stack(&[0, 1, 2, 3, 4, 6], blocks), stack(&[0, 5, 3, 4, 6], 2), stack(&[0, 6], 100)],
            ..Allocs::default()
        };
        let found = super::tests(&[document(30), document(31)]);
        let found: Vec<_> = found.iter().map(|place| (&*place.function, place.blocks, place.at.as_deref())).collect();
        assert_eq!(
            found,
            [
                ("hot::parses", Span { least: 30, most: 31 }, Some("tests/hot.rs:4")),
                ("hot::writes", Span { least: 2, most: 2 }, Some("tests/hot.rs:9"))
            ]
        );
    }
}
