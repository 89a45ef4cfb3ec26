//! Texts and slices that are cloned, not changed, and dropped.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, part};
use dwell_calibrate::Place;
use dwell_output::units::plural;

pub(super) struct Borrow;

/// The functions that copy a text or slice.
pub(super) const CLONES: &[&str] = &["clone", "to_owned", "to_vec", "to_string", "to_vec_in", "into_owned"];
/// A life that ends while its source probably lives: fewer than 2^`BITS` allocations of the thread.
const BITS: usize = 8;
const SHORT: f64 = 0.9;
/// The part of the copies that a value may hold.
const HELD: f64 = 0.5;

impl Rule for Borrow {
    fn kind(&self) -> &'static str {
        "borrow"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let counts = &site.counts;
        let is_short = site.freed_within(BITS) >= SHORT && part(counts.frees, counts.allocations) >= SHORT;
        let can_borrow = matches!(site.holder, Holder::Text | Holder::Sequence);
        let is_clone = site.places.first().is_some_and(|place| place.goes_through(CLONES) && place.formats().is_none());
        // A lifetime on a type that holds the copies is more than a person changes for them.
        let is_held = part(site.held, counts.frees) > HELD;
        let is_left_out = cx.is_sampled || !site.is_own() || is_held || counts.reallocations > 0;
        if is_left_out || !can_borrow || !is_clone || !is_short {
            return None;
        }
        let borrowed = if site.holder == Holder::Text { "`&str` or `Cow<str>`" } else { "`&[T]` or `Cow<[T]>`" };
        let is_key = site.places.first().and_then(|place| cx.sources.line(place)).is_some_and(|line| looks_up(&line));
        Some(Proposal {
            instead: if is_key { "the borrowed key in the look-up" } else { borrowed }.into(),
            place: Place::Borrowed,
            saved: Saved::Blocks(1.0),
            why: format!(
                "{} that never grew and were soon dropped",
                plural(counts.allocations, "copy").replace("copys", "copies")
            ),
            how: if is_key {
                "a map takes `&str` for a `String` key; for `entry` look it up first, and make the key for a new entry only"
            } else {
                "borrow the original, or clone it only where it is changed"
            }
            .into(),
            costs: if is_key { "a second look-up for new entries" } else { "a lifetime on the types that hold it" }.into(),
            edits: Vec::new(),
        })
    }
}

/// Returns `true` if a line of source looks a key up that it makes.
fn looks_up(line: &str) -> bool {
    let calls = [".get(", ".get_mut(", ".contains_key(", ".contains(", ".entry(", ".remove("];
    let makes = [".to_string()", ".to_owned()", ".clone()", ".to_vec()", "String::from("];
    calls.iter().any(|call| line.find(call).is_some_and(|at| makes.iter().any(|make| line[at..].contains(make))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_made_to_look_up_are_seen_in_the_source() {
        assert!(looks_up("if let Some(of) = map.get(&name.to_string()) {"));
        assert!(looks_up("*counts.entry(word.to_owned()).or_insert(0) += 1;"));
        assert!(!looks_up("let name = map.to_owned(); map.get(name)"));
        assert!(!looks_up("keep(map.get(name)); names.push(name)"));
    }
}
