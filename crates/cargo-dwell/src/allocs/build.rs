//! From a profile to the document: rows with types, costs and suggestions.

#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are positive and far below 2^52")]

use super::calls;
use super::document::{self, Again, Document, Point, Row, Spot, Stack, Thread, Type, VERSION};
use super::model::{Costs, Model};
use super::places::{self, Own, Place};
use super::sites::{self, Site};
use super::suggest::{self, Both, Context, Sources};
use dwell_calibrate::Calibration;
use dwell_debuginfo::{Frames, Program};
use dwell_heap::profile::{Allocator, Counts, Profile};
use dwell_heap::stacks;
use std::collections::HashMap;
use std::path::Path;

/// The maximum number of places and types of a row.
const PLACES: usize = 20;

/// What of the program is reported.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scope<'a> {
    /// The folder of the workspace's sources, if it is known, and its crates.
    pub(crate) root: Option<&'a Path>,
    pub(crate) own_crates: &'a [String],
    /// The function whose blocks are asked for, with all that it calls.
    pub(crate) during: Option<&'a str>,
}

/// Makes the document. Without a calibration and plain runs there are neither times nor suggestions.
pub(crate) fn document(
    profile: &Profile,
    program: &Program,
    frames: &Frames,
    times: Option<(Calibration, Again)>,
    scope: Scope<'_>,
) -> Document {
    let Scope { root, own_crates, during } = scope;
    let suggests = times.is_some();
    let (calibration, again) = times.unwrap_or_default();
    let own = Own::new(own_crates, frames);
    // The time is that of all blocks, also of those that are not asked for.
    let (model, time) = Model::new(profile, &calibration, &again);
    let asked = during.map(|name| places::during(profile, frames, name));
    let during = during.map(|name| calls::during(profile, frames, name));
    let profile = asked.as_ref().unwrap_or(profile);
    let cx = Context { program, is_sampled: profile.sample != 0, sources: Sources::new(root) };
    let costs_of =
        |pairs: &[usize]| pairs.iter().fold(Costs::default(), |sum, pair| sum.plus(model.costs(&profile.pairs[*pair])));
    let blocks: u64 = profile.threads.iter().map(|thread| thread.allocations + thread.reallocations).sum();
    let nanos_a_block = time.program / blocks.max(1);
    let mut found = sites::sites(profile, program, frames, &own);
    found.retain(|site| !site.counts.is_empty());
    let mut found: Vec<(Site, Costs)> = found
        .into_iter()
        .map(|site| {
            let costs = costs_of(&site.pairs);
            (site, costs)
        })
        .collect();
    found.sort_by(|a, b| {
        let by_time = b.1.total().nanos.total_cmp(&a.1.total().nanos);
        by_time.then_with(|| a.0.what.cmp(&b.0.what))
    });
    let mut rows = Vec::new();
    let mut suggestions = Vec::new();
    for (site, costs) in &found {
        let nanos = model.range(costs.total().nanos, 0.0)[1];
        rows.push(Row {
            what: site.what.clone(),
            types: types(site, program),
            places: site.places.iter().take(PLACES).map(|place| spot(place, &model, &costs_of)).collect(),
            counts: counts(&site.counts),
            sizes: [
                site.sizes.keys().next().copied().unwrap_or(0),
                site.sizes.keys().next_back().copied().unwrap_or(0),
            ],
            lives: median(&site.counts).map(|blocks| blocks * nanos_a_block),
            lifetime: lifetime(&site.counts),
            allocator: allocator(site.allocator).into(),
            nanos,
            percent: percent(nanos, time.program),
            instructions: costs.total().instructions as u64,
            root: site.root.clone(),
            suggestions: Vec::new(),
        });
        if !suggests {
            continue;
        }
        let row = rows.len() - 1;
        let of_other = |sum: Costs, pair: &usize| sum.plus(model.of_other(&profile.pairs[*pair]));
        let both = Both { own: *costs, other: site.pairs.iter().fold(Costs::default(), of_other) };
        suggestions.extend(
            suggest::of_site(site, both, &model, time.program, &cx)
                .into_iter()
                .map(|suggestion| document::Suggestion { row, ..suggestion }),
        );
    }
    let nanos: Vec<u64> =
        profile.pairs.iter().map(|pair| model.range(model.costs(pair).total().nanos, 0.0)[1]).collect();
    let sum = [time.program, nanos.iter().sum()];
    for (pair, suggestion) in suggest::repeated(profile, frames, &own, &nanos, sum) {
        let row = found.iter().position(|(site, _)| site.pairs.contains(&pair)).unwrap_or(0);
        suggestions.push(document::Suggestion { row, ..suggestion });
    }
    suggestions.sort_by_key(|suggestion| (std::cmp::Reverse(suggestion.pays), std::cmp::Reverse(suggestion.saves[1])));
    for (number, suggestion) in suggestions.iter().enumerate() {
        rows[suggestion.row].suggestions.push(number);
    }
    for row in &mut rows {
        suggest::prefer(&mut row.suggestions, &suggestions);
    }
    suggest::mark(&rows, &mut suggestions);
    let functions = own.functions(profile, frames, &nanos);
    let (frames, stacks) = stacks_of(profile, frames, &nanos);
    Document {
        version: VERSION,
        kind: "allocs".into(),
        program: document::Program {
            file: String::new(),
            arguments: Vec::new(),
            build_id: program.build_id.as_deref().map(str::to_owned),
            rustc: program.rustc.as_deref().map(str::to_owned),
            millis: profile.millis,
            sample: (profile.sample != 0).then_some(profile.sample),
            pid: None,
            is_unseen: is_unseen(profile),
        },
        time,
        again,
        during,
        total: counts(&profile.total()),
        functions,
        rows,
        suggestions,
        threads: profile
            .threads
            .iter()
            .map(|thread| Thread {
                threads: thread.threads,
                allocations: thread.allocations,
                frees: thread.frees,
                reallocations: thread.reallocations,
            })
            .collect(),
        curve: profile.curve.iter().map(|point| Point { millis: point.millis, blocks: point.blocks }).collect(),
        calibration,
        frames,
        stacks,
    }
}

/// Returns `true` if the executable's own code has allocated nothing.
fn is_unseen(profile: &Profile) -> bool {
    let Some(executable) = profile.modules.first() else { return false };
    let is_own = |stack: &Vec<u64>| stack.first().is_some_and(|at| (executable.start..executable.end).contains(at));
    !profile.stacks.is_empty() && !profile.stacks.iter().any(is_own)
}

#[expect(clippy::cast_precision_loss, reason = "times are far below 2^52")]
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn allocator(allocator: Allocator) -> &'static str {
    match allocator {
        Allocator::Glibc => "glibc",
        Allocator::Mimalloc => "mimalloc",
        Allocator::Jemalloc => "jemalloc",
        Allocator::Executable => "the executable's malloc",
    }
}

fn counts(counts: &Counts) -> document::Counts {
    let used = counts.lifetimes.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    document::Counts {
        allocations: counts.allocations,
        frees: counts.frees,
        reallocations: counts.reallocations,
        bytes: counts.bytes,
        copied: counts.copied,
        live: counts.live,
        most_live: counts.most_live,
        foreign: counts.foreign,
        temporary: counts.temporary,
        in_order: counts.in_order,
        together: counts.together,
        allocated: counts.allocated,
        freed: counts.freed,
        lifetimes: counts.lifetimes[..used].to_vec(),
    }
}

fn types(site: &Site, program: &Program) -> Vec<Type> {
    if site.of_trait.is_none() {
        return Vec::new();
    }
    let mut all: Vec<Type> = site
        .types
        .iter()
        .map(|(ty, allocations)| {
            let found = program.get(*ty);
            Type { name: found.name.to_string(), size: found.size, allocations: *allocations }
        })
        .collect();
    all.sort_by_key(|row| std::cmp::Reverse(row.allocations));
    all.truncate(PLACES);
    all
}

fn spot(place: &Place, model: &Model<'_>, costs_of: &dyn Fn(&[usize]) -> Costs) -> Spot {
    Spot {
        function: place.function.clone(),
        at: place.at.clone(),
        dependency: place.dependency.clone(),
        called_from: place.called_from.clone(),
        allocations: place.counts.allocations,
        reallocations: place.counts.reallocations,
        nanos: model.range(costs_of(&place.pairs).total().nanos, 0.0)[1],
    }
}

/// Returns the number of blocks that the thread allocated during the life of the median block. Half of the blocks must
/// have been freed on their thread.
fn median(counts: &Counts) -> Option<u64> {
    let half = (counts.allocations + counts.reallocations).div_ceil(2);
    let mut sum = 0;
    for (bits, count) in counts.lifetimes.iter().enumerate() {
        sum += count;
        if sum >= half {
            // The middle of the bin.
            return Some(if bits == 0 { 0 } else { 3 << bits >> 2 }.max(1));
        }
    }
    None
}

/// Describes the lifetimes: `freed 2 to 3 allocations later`.
fn lifetime(counts: &Counts) -> String {
    let blocks = counts.allocations;
    if counts.temporary * 2 > blocks {
        return "freed at once".into();
    }
    if counts.foreign * 2 > blocks {
        return "freed on another thread".into();
    }
    if counts.live * 2 > blocks {
        return "live to the end".into();
    }
    match median(counts) {
        Some(1) => "freed before or after the next allocation".into(),
        Some(later) => format!("freed some {} allocations later", dwell_output::units::count(later)),
        None => "grown, then freed".into(),
    }
}

/// Returns the functions of all stacks, and the stacks as indexes of these, the one with most time first.
pub(super) fn stacks_of(profile: &Profile, frames: &Frames, nanos: &[u64]) -> (Vec<String>, Vec<Stack>) {
    let snapshot = profile.as_snapshot();
    let mut sums: Vec<Stack> = vec![Stack::default(); snapshot.stacks.len()];
    for (pair, nanos) in profile.pairs.iter().zip(nanos) {
        let Some(sum) = sums.get_mut(pair.stack as usize) else { continue };
        sum.blocks += pair.counts.allocations + pair.counts.reallocations;
        sum.reallocations += pair.counts.reallocations;
        sum.bytes = sum.bytes.saturating_add(pair.counts.bytes);
        sum.live_blocks += pair.counts.live;
        sum.live_bytes = sum.live_bytes.saturating_add(pair.counts.live.saturating_mul(pair.size));
        sum.nanos += nanos;
    }
    let mut names: Vec<String> = Vec::new();
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut all = Vec::new();
    for (stack, mut sum) in snapshot.stacks.iter().zip(sums) {
        if sum.blocks == 0 {
            continue;
        }
        let of_stack = stacks::functions(&snapshot, frames, stack).into_iter().map(|frame| {
            let name = match frame {
                Ok(frame) => match &frame.source {
                    Some(source) => {
                        format!(
                            "{} ({}:{})",
                            stacks::shown_function(frame),
                            stacks::short_file(&source.file),
                            source.line
                        )
                    }
                    None => stacks::shown_function(frame),
                },
                Err(name) => name,
            };
            let next = u32::try_from(names.len()).unwrap_or(u32::MAX);
            *known.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                next
            })
        });
        sum.frames = of_stack.collect();
        all.push(sum);
    }
    all.sort_by_key(|stack| std::cmp::Reverse((stack.nanos, stack.blocks)));
    (names, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_heap::profile::LIFETIMES;

    #[test]
    fn lifetimes_are_described() {
        let with = |bits: usize, change: &dyn Fn(&mut Counts)| {
            let mut lifetimes = [0; LIFETIMES];
            lifetimes[bits] = 10;
            let mut counts = Counts { allocations: 10, frees: 10, lifetimes, ..Counts::default() };
            change(&mut counts);
            lifetime(&counts)
        };
        assert_eq!(with(0, &|counts| counts.temporary = 10), "freed at once");
        assert_eq!(with(0, &|_| ()), "freed before or after the next allocation");
        assert_eq!(with(4, &|_| ()), "freed some 12 allocations later");
        assert_eq!(with(0, &|counts| (counts.lifetimes[0], counts.foreign) = (0, 10)), "freed on another thread");
        assert_eq!(with(0, &|counts| (counts.lifetimes[0], counts.live) = (0, 10)), "live to the end");
    }

    #[test]
    fn zeros_at_the_end_of_lifetimes_are_left_out() {
        let mut total = Counts::default();
        total.lifetimes[2] = 5;
        assert_eq!(counts(&total).lifetimes, [0, 0, 5]);
    }
}
