//! Bounded channels of std and crossbeam: a ring of slots, with the messages from `head` up to `tail`.

use crate::debuginfo::{Kind, Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, Part, Schema, SiteId, Value, VecHeader, Walk, fields, find, named, wide};
use dwell_model::Edge;
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[
    ("std::sync::mpmc::array::Channel", recognise),
    ("crossbeam_channel::flavors::array::Channel", recognise),
]);

#[derive(Debug)]
struct Channel {
    head: u64,
    tail: u64,
    /// The bit above the index in `head` and `tail`. In `tail` it tells whether the channel is disconnected.
    mark: u64,
    buffer: VecHeader,
    slot_size: u64,
    /// The message in a slot.
    message: Part,
    /// The other fields: the waiting threads.
    others: Vec<Part>,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let at = |name: &str| named(schema, ty, name);
    let (head, tail, mark) = (at("head")?, at("tail")?, at("mark_bit")?);
    let (buffer_at, buffer) = find(schema, ty, |field| &*field.name == "buffer")?;
    let Kind::WidePointer { pointee: Some(slot), .. } = schema.get(buffer.ty).kind else { return None };
    let header = wide(schema, buffer.ty)?;
    let buffer = VecHeader { ptr: buffer_at + header.ptr, cap: None, len: buffer_at + header.len };
    let message_at = named(schema, slot, "msg")?;
    let message = schema.param(ty, "T")?;
    let message = Part { at: message_at, site: schema.part(message, site, Edge::Element) };
    let others = fields(schema, ty).into_iter().filter(|field| matches!(&*field.name, "senders" | "receivers"));
    let others = others.map(|field| Part { at: field.offset, site: schema.part(field.ty, site, Edge::Inner) }).collect();
    Some(Rc::new(Channel { head, tail, mark, buffer, slot_size: schema.get(slot).size, message, others }))
}

impl Channel {
    /// Returns the index of the first message and the number of messages.
    fn messages(&self, value: Value<'_>, cap: u64) -> Option<(u64, u64)> {
        let (head, tail, mark) = (value.word(self.head)?, value.word(self.tail)?, value.word(self.mark)?);
        let index = mark.checked_sub(1)?;
        let (from, to) = (head & index, tail & index);
        let len = match to.checked_sub(from) {
            Some(0) if tail & !mark == head => 0,
            Some(0) => cap,
            Some(len) => len,
            None => cap.checked_add(to)?.checked_sub(from)?,
        };
        (from < cap && len <= cap).then_some((from, len))
    }
}

impl Decoder for Channel {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        for part in &self.others {
            cx.part(part, value);
        }
        let Some((ptr, cap, _)) = self.buffer.read(value.bytes) else { return true };
        let Some((from, len)) = self.messages(value, cap) else { return true };
        if let Some(block) = cx.elements(value.site, ptr, cap, len, self.slot_size) {
            cx.later(block, value.site, [from, len, cap]);
        }
        len == 0
    }

    fn read_block(&self, cx: &mut Walk<'_, '_>, block: usize, _: SiteId, [from, len, cap]: [u64; 3]) {
        let size = cx.schema.sites[self.message.site].size;
        for index in 0..len {
            let slot = (from + index) % cap.max(1);
            cx.run_now(block, self.message.site, slot * self.slot_size + self.message.at, size, 1);
        }
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some((Text::clone(&schema.sites[self.message.site].name), self.slot_size))
    }
}
