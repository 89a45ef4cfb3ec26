//! `thin_vec::ThinVec<T>`: a pointer to a block with length and capacity, then the elements.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, Holds, InModel, Schema, SiteId, Use, Value, Walk, named, pointee};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[("thin_vec::ThinVec", recognise)]);

#[derive(Debug)]
struct ThinVec {
    ptr: u64,
    /// The offsets of length and capacity in the block, and the bytes of each.
    len: u64,
    cap: u64,
    number: u64,
    /// The offset of the elements in the block.
    elements: u64,
    element: SiteId,
    stride: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let ptr = named(schema, ty, "ptr")?;
    let header = pointee(schema, ty)?;
    let (len, cap) = (named(schema, header, "_len")?, named(schema, header, "_cap")?);
    let element = schema.param(ty, "T")?;
    let (definition, header) = (schema.get(element), schema.get(header).size);
    let (stride, elements) = (definition.size, header.checked_next_multiple_of(definition.align.max(1))?);
    let element = schema.part(element, site, Edge::Element);
    Some(Rc::new(ThinVec { ptr, len, cap, number: header / 2, elements, element, stride }))
}

impl ThinVec {
    /// Returns the block, the capacity and the length. An empty one points to a static.
    fn block(&self, cx: &mut Walk<'_, '_>, ptr: u64) -> Option<(usize, u64, u64)> {
        let block = cx.block_at(ptr)?;
        let [len, cap] = [self.len, self.cap].map(|at| {
            let number = cx.word(ptr.saturating_add(at))?;
            Some(if self.number < 8 { number & u64::from(u32::MAX) } else { number })
        });
        let (len, cap) = (len?, cap?);
        let bytes = cap.checked_mul(self.stride)?.checked_add(self.elements)?;
        (len <= cap && cx.fits(block, bytes)).then_some((block, cap, len))
    }
}

impl Decoder for ThinVec {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some((block, capacity, len)) = value.word(self.ptr).and_then(|ptr| self.block(cx, ptr)) else { return true };
        let unused = (capacity - len).saturating_mul(self.stride);
        if cx.claim(block, value.site, Use { len, capacity, unused, is_unknown: false }) {
            cx.is_requested(block, self.elements.saturating_add(capacity.saturating_mul(self.stride)));
            cx.run(block, self.element, self.elements, self.stride, len);
        }
        len == 0
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.element))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Sequence(Holder::Thin, self.element)
    }

    fn holds(&self) -> Holds {
        Holds::Elements
    }
}
