//! Buffers of which handles use a small part: each handle keeps the whole buffer.

use super::kind::{Heap, Kind};
use crate::source::Finding;
use crate::units::{bytes, count};

/// Buffers that `Bytes` keep although they use less than half of them.
pub(super) struct Pinned;

impl Kind for Pinned {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let walk = heap.walk;
        let pinned = walk.counted.tallies.get(site - 1)?.pinned;
        if pinned.used >= pinned.bytes / 2 {
            return None;
        }
        let mut fields: Vec<String> = Vec::new();
        for handle in walk
            .counted
            .pinned
            .get(&(site - 1))
            .into_iter()
            .flatten()
            .filter_map(|handle| walk.schema.sites.get(*handle))
        {
            if !fields.contains(&handle.path) {
                fields.push(handle.path.clone());
            }
        }
        let finding = heap.finding("pinned", site);
        Some(Finding {
            location: if fields.is_empty() { finding.location.clone() } else { fields.join(", ") },
            fields: if fields.is_empty() { finding.fields.clone() } else { fields },
            count: pinned.buffers,
            bytes: pinned.bytes,
            saves: pinned.bytes.saturating_sub(pinned.used),
            costs: "a copy of each part that is kept".into(),
            why: format!(
                "{} of the {} in {} {} are in use; a handle keeps its whole buffer",
                bytes(pinned.used),
                bytes(pinned.bytes),
                count(pinned.buffers),
                if pinned.buffers == 1 { "buffer" } else { "buffers" }
            ),
            how: "copy the parts that are kept for long: Bytes::copy_from_slice(&part)".into(),
            ..finding
        })
    }
}
