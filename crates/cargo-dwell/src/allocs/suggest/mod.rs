//! Suggestions where blocks could live instead. A rule is a file here and a line in [`RULES`].

mod arena;
mod borrow;
mod buffer;
mod capacity;
mod collected;
mod counted;
mod hoist;
mod inline;
mod pool;
mod repeated;
mod short;
mod slab;
mod table;
mod text;

pub(super) use repeated::repeated;

use super::document::{Row, Suggestion};
use super::model::{Costs, Model};
use super::places::Place as Spot;
use super::sites::Site;
use dwell_calibrate::{Calibration, Cost, Place};
use dwell_debuginfo::Program;
use dwell_source::Edit;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// All rules.
const RULES: &[&dyn Rule] = &[
    &pool::Pool,
    &inline::Inline,
    &slab::Slab,
    &counted::Counted,
    &arena::Arena,
    &capacity::Capacity,
    &table::Table,
    &collected::Collected,
    &buffer::Buffer,
    &borrow::Borrow,
    &text::Text,
    &short::Short,
    &hoist::Hoist,
];

/// Fewer blocks than this are no evidence.
const FEWEST: u64 = 100;
/// From this part of the program's time on, in per cent, a change is worth it.
pub(super) const WORTH: f64 = 5.0;
/// Below this part it is nothing, also together with others.
const SMALL: f64 = 1.0;
/// From this part of the time under the other allocator on, a change pays under it.
const PAYS: f64 = 1.0;

/// A rule that proposes another place for the blocks of a site.
trait Rule: Sync {
    /// The name of the rule.
    fn kind(&self) -> &'static str;

    /// Proposes a change. Without evidence in the counts there is none.
    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal>;
}

/// What a rule knows beside the site.
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    /// Whether only a sample of the calls was recorded, so that their order is unknown.
    pub(super) is_sampled: bool,
    pub(super) sources: Sources,
}

/// A proposed change of a site.
struct Proposal {
    instead: String,
    place: Place,
    saved: Saved,
    why: String,
    how: String,
    costs: String,
    edits: Vec<Edit>,
}

/// The calls that a change saves.
enum Saved {
    /// This part of the allocations, with their frees and reallocations.
    Blocks(f64),
    /// The reallocations.
    Growth,
    /// This part of the tables, and what it takes to move so many entries.
    Tables { part: f64, moved: u64 },
}

/// What the blocks of a site cost: in the program's allocator, and in the other one.
#[derive(Clone, Copy)]
pub(super) struct Both {
    pub(super) own: Costs,
    pub(super) other: Costs,
}

/// Returns the suggestions for a site, the one that saves most first.
pub(super) fn of_site(
    site: &Site,
    costs: Both,
    model: &Model<'_>,
    program_nanos: u64,
    cx: &Context<'_>,
) -> Vec<Suggestion> {
    let blocks = site.counts.allocations + site.counts.reallocations;
    if blocks < FEWEST {
        return Vec::new();
    }
    let mut all: Vec<Suggestion> = proposals(site, cx)
        .into_iter()
        .map(|(kind, proposal)| suggestion(kind, proposal, site, costs, model, program_nanos))
        .filter(|suggestion| suggestion.saves[1] > 0)
        .collect();
    // The order of the rules decides between equal savings.
    all.sort_by_key(|suggestion| (std::cmp::Reverse(suggestion.pays), std::cmp::Reverse(suggestion.saves[1] / 1000)));
    all
}

/// Puts one line where the collection is made before a buffer, for which its owner changes: in the numbers of a row's suggestions.
pub(super) fn prefer(of_row: &mut [usize], suggestions: &[Suggestion]) {
    let at = |kind: &str| of_row.iter().position(|number| suggestions[*number].kind == kind);
    let (Some(buffer), Some(capacity)) = (at("buffer"), at("capacity")) else { return };
    let [by_buffer, by_capacity] = [buffer, capacity].map(|at| &suggestions[of_row[at]]);
    if buffer < capacity && by_capacity.pays && by_capacity.saves[1] * 4 >= by_buffer.saves[1] {
        of_row[buffer..=capacity].rotate_right(1);
    }
}

/// Returns what the rules propose for a site. A block that only dependencies allocate stays where it is, since a person does
/// not change their code.
fn proposals(site: &Site, cx: &Context<'_>) -> Vec<(&'static str, Proposal)> {
    if site.places.iter().all(|place| place.dependency.is_some()) {
        return Vec::new();
    }
    RULES.iter().filter_map(|rule| Some((rule.kind(), rule.propose(site, cx)?))).collect()
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and times are far below 2^52"
)]
fn suggestion(
    kind: &str,
    proposal: Proposal,
    site: &Site,
    costs: Both,
    model: &Model<'_>,
    program_nanos: u64,
) -> Suggestion {
    let counts = &site.counts;
    let allocations = match proposal.saved {
        Saved::Blocks(part) | Saved::Tables { part, .. } => counts.allocations as f64 * part,
        Saved::Growth => counts.reallocations as f64,
    };
    // What is saved of the costs in an allocator.
    let less = |costs: Costs| match proposal.saved {
        Saved::Blocks(part) => {
            let of_place = model.calibration.place(proposal.place).times(allocations);
            let of_std = beside_allocator(site, proposal.place, model.calibration).within(costs.total());
            costs.total().plus(of_std).times(part).minus(of_place)
        }
        Saved::Growth => {
            let of_std = model.calibration.grown.times(counts.reallocations as f64).within(costs.growth);
            costs.growth.plus(of_std)
        }
        Saved::Tables { part, .. } => costs.total().times(part),
    };
    // Work that no allocator does takes as long as it was measured.
    let beside = match proposal.saved {
        Saved::Tables { moved, .. } => model.calibration.rehashed.times(moved as f64),
        _ => Cost::default(),
    };
    let own = less(costs.own);
    let saves = model.range(own.nanos, beside.nanos).map(|nanos| nanos.min(program_nanos));
    let percent = saves.map(|nanos| nanos as f64 * 100.0 / program_nanos.max(1) as f64);
    let other = model.range_of_other(less(costs.other).nanos, beside.nanos);
    Suggestion {
        kind: kind.to_owned(),
        row: 0,
        instead: proposal.instead,
        place: Some(proposal.place),
        saves,
        percent,
        other,
        pays: other.is_none_or(|other| other[1] >= PAYS || other[1] >= percent[1] / 2.0),
        instructions: (own.instructions + beside.instructions).max(0.0) as u64,
        allocations: allocations as u64,
        is_worth_it: percent[1] >= WORTH,
        why: proposal.why,
        how: proposal.how,
        costs: proposal.costs,
        edits: proposal.edits,
    }
}

/// Marks the suggestions that are worth it: those that save 5 % alone, and small ones that do so together.
pub(super) fn mark(rows: &[Row], suggestions: &mut [Suggestion]) {
    let bests: Vec<usize> = rows.iter().filter_map(|row| row.suggestions.first().copied()).collect();
    let together = together(rows, suggestions);
    for (number, suggestion) in suggestions.iter_mut().enumerate() {
        let is_part = together >= WORTH && suggestion.percent[1] >= SMALL && bests.contains(&number);
        suggestion.is_worth_it = suggestion.pays && (suggestion.percent[1] >= WORTH || is_part);
    }
}

/// Returns what the best changes of all rows save together, in per cent of the time.
pub(super) fn together(rows: &[Row], suggestions: &[Suggestion]) -> f64 {
    let bests = rows.iter().filter_map(|row| suggestions.get(*row.suggestions.first()?));
    bests
        .filter(|suggestion| suggestion.pays && suggestion.percent[1] >= SMALL)
        .fold(0.0, |sum, suggestion| sum + suggestion.percent[1])
}

/// The functions of std that grow a vector or a text.
const GROWS: &[&str] = &["grow_one", "grow_amortized", "do_reserve_and_handle", "finish_grow"];

/// Returns what std does for the blocks of a site beside the allocator's calls, and would not do in a place that is filled
/// already.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn beside_allocator(site: &Site, place: Place, calibration: &Calibration) -> Cost {
    let is_filled = matches!(place, Place::Buffer | Place::Borrowed | Place::Shared);
    let mut sum = Cost::default();
    for spot in site.places.iter().filter(|_| is_filled) {
        let calls = spot.counts.allocations as f64;
        if spot.goes_through(GROWS) {
            sum = sum.plus(calibration.grown.times(calls + spot.counts.reallocations as f64));
        } else if place != Place::Buffer && spot.goes_through(borrow::CLONES) {
            sum = sum.plus(calibration.cloned.times(calls));
        }
    }
    sum
}

/// The source files, read when a rule looks at one.
#[derive(Default)]
pub(super) struct Sources {
    root: Option<PathBuf>,
    files: RefCell<HashMap<String, Option<Vec<String>>>>,
}

impl Sources {
    pub(super) fn new(root: Option<&Path>) -> Self {
        Self { root: root.map(Path::to_owned), files: RefCell::default() }
    }

    /// Returns an edit that replaces a text in the line of a place, if the file belongs to the workspace and the line
    /// has that text.
    fn edit(&self, spot: &Spot, item: &str, from: &str, to: &str) -> Option<Edit> {
        if spot.dependency.is_some() {
            return None;
        }
        let root = self.root.as_ref()?;
        let (file, line) = spot.source.as_ref()?;
        let below = Path::new(file).strip_prefix(root).unwrap_or(Path::new(file)).to_str()?.to_owned();
        let mut files = self.files.borrow_mut();
        let lines = files.entry(below.clone()).or_insert_with(|| {
            let text = std::fs::read_to_string(root.join(&below)).ok()?;
            Some(text.lines().map(str::to_owned).collect())
        });
        let text = lines.as_ref()?.get(usize::try_from(*line).ok()?.checked_sub(1)?)?;
        text.contains(from).then(|| Edit {
            file: below,
            line: *line,
            item: item.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
        })
    }

    /// Returns for each place the edit that replaces a text, which may be in another line of its function.
    fn replaced(&self, spots: &[Spot], item: &str, from: &str, to: impl Fn(&Spot) -> String) -> Vec<Edit> {
        let edit = |spot: &Spot| Some(Edit { from: from.to_owned(), to: to(spot), ..self.edit(spot, item, "", "")? });
        spots.iter().filter_map(edit).collect()
    }

    /// Returns the line of a place, if the file belongs to the workspace.
    fn line(&self, spot: &Spot) -> Option<String> {
        self.edit(spot, "", "", "")?;
        let (file, line) = spot.source.as_ref()?;
        let below = Path::new(file).strip_prefix(self.root.as_ref()?).unwrap_or(Path::new(file)).to_str()?;
        let files = self.files.borrow();
        files.get(below)?.as_ref()?.get(usize::try_from(*line).ok()?.checked_sub(1)?).cloned()
    }

    /// Returns the edit that replaces a type wherever the package of the first place of the workspace names it.
    fn everywhere(&self, spots: &[Spot], ty: &str, to: String) -> Vec<Edit> {
        let edit = spots.iter().find_map(|spot| self.edit(spot, ty, "", ""));
        edit.map(|edit| Edit { from: ty.to_owned(), to, ..edit }).into_iter().collect()
    }
}

/// Returns the last name of a path without arguments: `Fn` of `core::ops::Fn<(u8,)>`.
fn last_name(path: &str) -> &str {
    // An array or a tuple has no other name.
    if path.starts_with(['[', '(']) {
        return path;
    }
    let head = path.split(['<', '(', ' ']).next().unwrap_or(path);
    head.rsplit("::").next().unwrap_or(head)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn part(number: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { number as f64 / whole as f64 }
}

/// Returns a part in words: `99.9 %`; never `100 %` if some are missing.
fn shown(number: u64, whole: u64) -> String {
    let part = part(number, whole) * 100.0;
    if number == whole { "all".into() } else { format!("{:.1} %", part.min(99.9)) }
}

impl Site {
    /// Returns the largest size of its blocks.
    fn largest(&self) -> u64 {
        self.sizes.keys().next_back().copied().unwrap_or(0)
    }

    /// Returns the part of the frees on the allocating thread that came after fewer than 2^`bits` further allocations.
    fn freed_within(&self, bits: usize) -> f64 {
        let all: u64 = self.counts.lifetimes.iter().sum();
        part(self.counts.lifetimes.iter().take(bits + 1).sum(), all)
    }

    /// Returns the largest size of the smallest `percent` of its blocks.
    fn size_of_most(&self, percent: u64) -> u64 {
        let all: u64 = self.sizes.values().sum();
        let mut sum = 0_u64;
        for (size, blocks) in &self.sizes {
            sum += blocks;
            if u128::from(sum) * 100 >= u128::from(all) * u128::from(percent) {
                return *size;
            }
        }
        0
    }

    /// Returns the part of its frees that were in runs with others.
    fn freed_together(&self) -> f64 {
        part(self.counts.together, self.counts.frees)
    }

    /// Returns `true` if the code that allocates most of its blocks is in the workspace, where a person can change it.
    fn is_own(&self) -> bool {
        self.places.first().is_some_and(|place| place.dependency.is_none())
    }

    fn is_dropped_on_its_thread(&self) -> bool {
        self.counts.foreign == 0
    }
}

#[cfg(test)]
mod tests;
