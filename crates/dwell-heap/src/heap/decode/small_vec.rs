//! `smallvec::SmallVec<[T; N]>`. If the capacity is at most `N`, it is the length, and the elements are inline.

use crate::debuginfo::{Kind, Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, Schema, SiteId, Value, Walk, find, named, of_type};
use dwell_model::Edge;
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[("smallvec::SmallVec", recognise)]);

#[derive(Debug)]
struct SmallVec {
    cap: u64,
    limit: u64,
    inline: u64,
    ptr: u64,
    len: u64,
    element: SiteId,
    stride: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let array = schema.param(ty, "A")?;
    let Kind::Array { element, count: limit } = schema.get(array).kind else { return None };
    let cap = named(schema, ty, "capacity")?;
    let (data, of_data) = find(schema, ty, |field| &*field.name == "data").map(|(at, field)| (at, field.ty))?;
    let (inline, ptr, len) = match &schema.get(of_data).kind {
        Kind::Union(fields) => {
            let inline = fields.iter().find(|field| &*field.name == "inline")?;
            let heap = fields.iter().find(|field| &*field.name == "heap")?;
            let Kind::Struct(parts) = &schema.get(heap.ty).kind else { return None };
            let [ptr, len] = parts.as_slice() else { return None };
            (inline.offset, heap.offset + ptr.offset, heap.offset + len.offset)
        }
        Kind::Enum(_) => {
            let (inline, _) = of_type(schema, of_data, "core::mem::maybe_uninit::MaybeUninit")?;
            (inline, named(schema, of_data, "ptr")?, named(schema, of_data, "len")?)
        }
        _ => return None,
    };
    let stride = schema.get(element).size;
    let element = schema.part(element, site, Edge::Element);
    Some(Rc::new(SmallVec { cap, limit, inline: data + inline, ptr: data + ptr, len: data + len, element, stride }))
}

/// The model has no counts of values stored inline, so the shape is a leaf.
impl Decoder for SmallVec {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some(cap) = value.word(self.cap) else { return true };
        if cap <= self.limit {
            cx.inline(self.element, value, self.inline, self.stride, cap);
            return cap == 0;
        }
        let (Some(ptr), Some(len)) = (value.word(self.ptr), value.word(self.len)) else { return true };
        if let Some(block) = cx.elements(value.site, ptr, cap, len, self.stride) {
            cx.run(block, self.element, 0, self.stride, len);
        }
        len == 0
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.element))
    }
}
