//! `heapless::Vec<T, N>`: a length, and the elements inline in a `MaybeUninit` buffer.

use crate::debuginfo::TypeId;
use crate::heap::walk::{Decoded, Decoder, Family, Schema, SiteId, Value, Walk, find, named};
use dwell_model::Edge;
use std::rc::Rc;

// Since 0.9 a `Vec` is an alias of `VecInner`.
pub(super) const FAMILY: Family =
    Family::new(&[("heapless::vec::Vec", recognise), ("heapless::vec::VecInner", recognise)]);

#[derive(Debug)]
struct InlineVec {
    /// The offset and size of the length.
    len: (u64, u64),
    buffer: u64,
    element: SiteId,
    stride: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let len = find(schema, ty, |field| &*field.name == "len").map(|(at, field)| (at, schema.get(field.ty).size))?;
    let buffer = named(schema, ty, "buffer")?;
    let element = schema.param(ty, "T")?;
    let stride = schema.get(element).size;
    Some(Rc::new(InlineVec { len, buffer, element: schema.part(element, site, Edge::Element), stride }))
}

impl Decoder for InlineVec {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let (at, size) = self.len;
        let Some(len) = value.number(at, size) else { return true };
        cx.inline(self.element, value, self.buffer, self.stride, len);
        len == 0
    }
}
