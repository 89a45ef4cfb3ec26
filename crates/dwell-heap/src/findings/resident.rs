//! What findings save of the resident memory (RSS), as far as that can be said.
//!
//! Live bytes that were never touched are no part of RSS. If most of RSS is live, a run with the change has less of both. If
//! most of it is freed but held, an earlier peak decides: then only a change that acts on the blocks as they are can be
//! predicted, and it returns what it frees of separately mapped blocks, and if no block is left, pages without any other.

use crate::capture::Snapshot;
use crate::heap::resident::{self, Held, Remedy, Rss};
use crate::heap::walk::Walk;
use crate::source::Finding;

/// Kinds that change blocks of the running program, and not the sizes of types.
const IN_PLACE: [&str; 4] = ["shrink", "leak", "duplicate", "intern"];

/// Adds to each finding what it saves of RSS, and to the remedies the capacity that can be given back.
pub(crate) fn add(findings: &mut [Finding], walk: &Walk<'_, '_>, snapshot: &Snapshot, rss: Option<&mut Rss>) {
    let (Some(rss), Some(held)) = (rss, resident::held(walk, snapshot)) else { return };
    let of_peak = rss.cached + rss.arenas + rss.free_pages + rss.fragmented;
    let is_held = of_peak > rss.live;
    let all = held.iter().fold(Held::default(), |sum, (_, held)| sum.and(*held));
    let mut capacity = Vec::new();
    for finding in findings.iter_mut().filter(|finding| !finding.of_allocator) {
        let names = || std::iter::once(&finding.location).chain(&finding.fields);
        let own = held.iter().filter(|(owner, _)| names().any(|name| name == owner));
        let sum = own.fold(Held::default(), |sum, (_, held)| sum.and(*held));
        finding.rss = effect(finding, sum, all, is_held);
        if let Some(bytes) = finding.rss.filter(|_| finding.kind == "shrink") {
            // Without an own mapping the allocator keeps the pages.
            capacity.push((bytes.min(sum.mapped), finding.location.as_str()));
        }
    }
    capacity.sort_unstable_by(|left, right| right.cmp(left));
    let names: Vec<&str> = capacity.iter().take(3).map(|(_, name)| *name).collect();
    let how = format!("give back capacity, by shrink_to_fit: {}", names.join(", "));
    let returns = capacity.iter().map(|(bytes, _)| bytes).sum();
    rss.offer(Remedy { kind: "capacity".into(), how, returns });
}

/// Returns the bytes of RSS that a finding saves, if that can be said. `held` is about the blocks that it changes, `all` about
/// the whole heap.
fn effect(finding: &Finding, held: Held, all: Held, is_held: bool) -> Option<u64> {
    let share = |saves: u64, whole: u64, bytes: u64| {
        u64::try_from(u128::from(saves.min(bytes)) * u128::from(whole) / u128::from(bytes.max(1))).unwrap_or(saves)
    };
    let part = |whole: u64| share(finding.saves, whole, held.bytes);
    // A smaller type also takes bytes from the blocks that its values are in: as many of these are resident as of the others.
    let around = |whole: u64| {
        let saves = finding.saves.saturating_sub(held.bytes);
        share(saves, whole.saturating_sub(held.resident), all.bytes.saturating_sub(held.bytes))
    };
    match &*finding.kind {
        _ if held.bytes == 0 => None,
        _ if held.resident == 0 && finding.saves <= held.bytes => Some(0),
        // What was never touched is spare.
        "shrink" => {
            let touched = finding.saves.saturating_sub(held.bytes - held.resident);
            Some(if is_held { touched.min(held.mapped) } else { touched })
        }
        kind if is_held => IN_PLACE.contains(&kind).then(|| {
            // What is left keeps the pages.
            let is_all = finding.saves >= held.bytes;
            part(held.mapped).saturating_add(if is_all { held.alone } else { 0 })
        }),
        _ => Some(part(held.resident).saturating_add(around(all.resident))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_touched_saves_no_resident_memory() {
        let finding = |kind: &str, saves| Finding { kind: kind.into(), saves, ..Finding::default() };
        let spare = Held { bytes: 1000, resident: 300, mapped: 300, alone: 0 };
        assert_eq!(effect(&finding("shrink", 600), spare, spare, false), Some(0));
        assert_eq!(effect(&finding("shrink", 900), spare, spare, false), Some(200));
        let untouched = Held { resident: 0, mapped: 0, ..spare };
        assert_eq!(effect(&finding("box", 600), untouched, spare, true), Some(0));
        assert_eq!(effect(&finding("box", 600), Held::default(), spare, false), None);
    }

    #[test]
    fn a_smaller_type_takes_bytes_from_the_blocks_around_it() {
        // Texts of 112 B in nodes of 5,000 B, of which four fifths are resident: 840 B are 112 of the first and 728 of the others.
        let finding = Finding { kind: "thin".into(), saves: 840, ..Finding::default() };
        let texts = Held { bytes: 112, resident: 112, mapped: 0, alone: 0 };
        let all = Held { bytes: 5112, resident: 4112, mapped: 0, alone: 0 };
        assert_eq!(effect(&finding, texts, all, false), Some(112 + 728 * 4 / 5));
        assert_eq!(effect(&finding, texts, all, true), None);
    }

    #[test]
    fn if_an_earlier_peak_holds_the_memory_only_pages_count() {
        let finding = |kind: &str| Finding { kind: kind.into(), saves: 500, ..Finding::default() };
        let small = Held { bytes: 1000, resident: 1000, mapped: 0, alone: 0 };
        assert_eq!(effect(&finding("box"), small, small, false), Some(500));
        assert_eq!(effect(&finding("box"), small, small, true), None);
        assert_eq!(effect(&finding("intern"), small, small, true), Some(0));
        assert_eq!(effect(&finding("intern"), Held { alone: 400, ..small }, small, true), Some(0));
        assert_eq!(effect(&finding("leak"), Held { bytes: 500, alone: 400, ..small }, small, true), Some(400));
        assert_eq!(effect(&finding("shrink"), Held { mapped: 300, ..small }, small, true), Some(300));
    }
}
