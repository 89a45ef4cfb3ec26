//! `tokio::sync::mpsc`: the receiver's list of blocks. A block has a bit for each message that was sent; those below the
//! receiver's index were received.

use crate::debuginfo::{Kind, Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, Part, Schema, SiteId, Use, Value, Walk, find, named, pointee};
use dwell_model::Edge;
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[("tokio::sync::mpsc::list::Rx", recognise)]);

/// The most messages of a block: each has a bit in a word.
const MOST: u64 = 32;

#[derive(Debug)]
struct Receiver {
    first: u64,
    index: u64,
    /// The size of a block and the offsets in it.
    block: u64,
    start: u64,
    next: u64,
    ready: u64,
    /// The first message, the distance of messages, and their number.
    message: Part,
    stride: u64,
    count: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    // Blocks before the head were received, but are not reused yet.
    let (first, field) = find(schema, ty, |field| &*field.name == "free_head")?;
    let index = named(schema, ty, "index")?;
    let block = pointee(schema, field.ty)?;
    let at = |name: &str| named(schema, block, name);
    let (start, next, ready, values) = (at("start_index")?, at("next")?, at("ready_slots")?, at("values")?);
    let (_, array) = find(schema, block, |field| matches!(schema.get(field.ty).kind, Kind::Array { .. }))?;
    let Kind::Array { element, count } = schema.get(array.ty).kind else { return None };
    let message = schema.param(ty, "T")?;
    let (size, stride) = (schema.get(block).size, schema.get(element).size);
    if count > MOST {
        return None;
    }
    let message = Part { at: values, site: schema.part(message, site, Edge::Element) };
    Some(Rc::new(Receiver { first, index, block: size, start, next, ready, message, stride, count }))
}

impl Receiver {
    /// Returns the slots of a block with messages, of which `index` is the next.
    fn slots(&self, cx: &mut Walk<'_, '_>, block: usize, index: u64) -> Vec<u64> {
        let addr = cx.block(block).addr;
        let words = [self.start, self.ready].map(|at| addr.checked_add(at).and_then(|at| cx.word(at)));
        let [Some(start), Some(ready)] = words else { return Vec::new() };
        let is_full = |slot: &u64| ready >> slot & 1 == 1 && start.wrapping_add(*slot) >= index;
        (0..self.count).filter(is_full).collect()
    }
}

impl Decoder for Receiver {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let (Some(mut at), Some(index)) = (value.word(self.first), value.word(self.index)) else { return true };
        let mut messages = 0;
        while let Some(block) = cx.block_at(at).filter(|block| cx.block(*block).size >= self.block) {
            let len = self.slots(cx, block, index).len() as u64;
            let unused = (self.count - len).saturating_mul(self.stride);
            if !cx.claim(block, value.site, Use { len, capacity: self.count, unused, is_unknown: false }) {
                break;
            }
            messages += len;
            cx.later(block, value.site, [index, 0, 0]);
            match at.checked_add(self.next).and_then(|next| cx.word(next)) {
                Some(next) => at = next,
                None => break,
            }
        }
        messages == 0
    }

    fn read_block(&self, cx: &mut Walk<'_, '_>, block: usize, _: SiteId, [index, ..]: [u64; 3]) {
        let size = cx.schema.sites[self.message.site].size;
        for slot in self.slots(cx, block, index) {
            cx.run_now(block, self.message.site, self.message.at + slot * self.stride, size, 1);
        }
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.message.site))
    }
}
