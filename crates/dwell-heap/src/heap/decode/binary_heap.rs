//! `BinaryHeap<T>`, which contains a `Vec<T>`.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{BlockType, CallStack, Decoded, Decoder, Family, Holds, InModel, Schema, SiteId, Value, VecHeader, Walk, of_type, vec_header};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family =
    Family { content, ..Family::new(&[("alloc::collections::binary_heap::BinaryHeap", recognise)]) };

#[derive(Debug)]
struct BinaryHeap {
    header: VecHeader,
    element: SiteId,
    stride: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let (_, inner) = of_type(schema, ty, "alloc::vec::Vec")?;
    let header = vec_header(schema, ty)?;
    let element = schema.param(inner, "T")?;
    let stride = schema.get(element).size;
    Some(Rc::new(BinaryHeap { header, element: schema.part(element, site, Edge::Element), stride }))
}

fn content(ty: BlockType, stack: &CallStack<'_, '_>) -> Option<String> {
    match ty {
        BlockType::Slots(element) if stack.has("alloc::collections::binary_heap") => {
            Some(format!("BinaryHeap<{}>", stack.schema.get(element).name))
        }
        _ => None,
    }
}

impl Decoder for BinaryHeap {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some((ptr, cap, len)) = self.header.read(value.bytes) else { return true };
        if let Some(block) = cx.elements(value.site, ptr, cap, len, self.stride) {
            cx.run(block, self.element, 0, self.stride, len);
        }
        len == 0
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], _: u32) -> bool {
        cx.is_header(&self.header, bytes, self.stride)
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.element))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Sequence(Holder::LikeGrowable, self.element)
    }

    fn holds(&self) -> Holds {
        Holds::Elements
    }
}
