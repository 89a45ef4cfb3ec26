//! `vec::IntoIter<T>`: the elements from `ptr` up to `end` are left.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, InModel, Schema, SiteId, Value, Walk, named};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[("alloc::vec::into_iter::IntoIter", recognise)]);

#[derive(Debug)]
struct IntoIter {
    start: u64,
    cap: u64,
    ptr: u64,
    end: u64,
    element: SiteId,
    stride: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let at = |name: &str| named(schema, ty, name);
    let (start, cap, ptr, end) = (at("buf")?, at("cap")?, at("ptr")?, at("end")?);
    let element = schema.param(ty, "T")?;
    let stride = schema.get(element).size;
    Some(Rc::new(IntoIter { start, cap, ptr, end, element: schema.part(element, site, Edge::Element), stride }))
}

impl Decoder for IntoIter {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let words = [self.start, self.cap, self.ptr, self.end].map(|at| value.word(at));
        let [Some(start), Some(cap), Some(ptr), Some(end)] = words else { return true };
        let len = end.checked_sub(ptr).and_then(|bytes| bytes.checked_div(self.stride));
        let (Some(from), Some(len)) = (ptr.checked_sub(start), len) else { return true };
        let end = from.checked_add(len.saturating_mul(self.stride));
        if end.is_some_and(|end| end <= cap.saturating_mul(self.stride))
            && let Some(block) = cx.elements(value.site, start, cap, len, self.stride)
        {
            cx.run(block, self.element, from, self.stride, len);
        }
        len == 0
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.element))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Sequence(Holder::LikeGrowable, self.element)
    }
}
