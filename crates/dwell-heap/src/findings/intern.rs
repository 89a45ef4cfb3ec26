//! Repeated texts.

use super::kind::{Heap, Kind};
use crate::source::Finding;
use crate::units::count;

/// Repeated texts.
pub(super) struct Intern;

impl Kind for Intern {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let walk = heap.walk;
        let tally = walk.counted.tallies.get(site - 1)?;
        let texts = tally.texts.as_ref()?;
        let duplicates = texts.duplicates;
        if duplicates == 0 {
            return None;
        }
        // The duplicates' unused capacity is saved too, unless another finding saves it.
        let waste = if heap.change(site).is_some() { 0 } else { tally.counts.waste };
        let of_duplicates = u128::from(waste) * u128::from(duplicates) / u128::from(texts.count.max(1));
        let saves = texts.duplicate_bytes.saturating_add(u64::try_from(of_duplicates).unwrap_or(0));
        Some(Finding {
            count: texts.count,
            bytes: tally.counts.requested,
            saves,
            costs: "a lookup for each new text; shared texts cannot be changed".into(),
            why: format!("{} distinct texts in {}", count(texts.distinct()), count(texts.count)),
            how: "intern, or share as Rc<str> or Arc<str>".into(),
            ..heap.finding("intern", site)
        })
    }
}
