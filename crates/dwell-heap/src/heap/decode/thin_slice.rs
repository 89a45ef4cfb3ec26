//! `dwell::ThinSlice<T>`, and the maps and sets based on it: the elements come after the length in the block.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, InModel, Schema, SiteId, Use, Value, WORD, Walk, named, of_type};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

const SLICE: &str = "dwell::sparse::thin_slice::ThinSlice";

pub(super) const FAMILY: Family = Family::new(&[
    (SLICE, recognise),
    ("dwell::sparse::sorted_map::SortedMap", recognise),
    ("dwell::sparse::sorted_set::SortedSet", recognise),
    ("dwell::sparse::sorted::Sorted", recognise),
]);

#[derive(Debug)]
struct ThinSlice {
    ptr: u64,
    /// The offset of the elements in the block.
    back: u64,
    element: SiteId,
    stride: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let (at, slice) = of_type(schema, ty, SLICE)?;
    let ptr = at + named(schema, slice, "data")?;
    let element = schema.param(slice, "T")?;
    let definition = schema.get(element);
    let (stride, back) = (definition.size, definition.align.max(WORD));
    Some(Rc::new(ThinSlice { ptr, back, element: schema.part(element, site, Edge::Element), stride }))
}

impl Decoder for ThinSlice {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some(ptr) = value.word(self.ptr) else { return true };
        let Some(block) = ptr.checked_sub(self.back).and_then(|start| cx.block_at(start)) else { return true };
        let Some(len) = cx.word(ptr - WORD) else { return true };
        let end = len.checked_mul(self.stride).and_then(|bytes| bytes.checked_add(self.back));
        if end.is_some_and(|end| end <= cx.block(block).size)
            && cx.claim(block, value.site, Use { len, capacity: len, ..Use::default() })
        {
            cx.run(block, self.element, self.back, self.stride, len);
        }
        false
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.element))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Sequence(Holder::Thin, self.element)
    }
}
