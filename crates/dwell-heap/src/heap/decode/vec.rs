//! `Vec<T>`: a pointer, a capacity and a length.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{BlockType, CallStack, Decoded, Decoder, Family, Holds, InModel, Schema, SiteId, Value, VecHeader, Walk, head, vec_header};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family =
    Family { of_frame, content, ..Family::new(&[("alloc::vec::Vec", recognise)]) };

#[derive(Debug)]
struct Vector {
    header: VecHeader,
    element: SiteId,
    stride: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let header = vec_header(schema, ty)?;
    let element = schema.param(ty, "T")?;
    let stride = schema.get(element).size;
    Some(Rc::new(Vector { header, element: schema.part(element, site, Edge::Element), stride }))
}

fn of_frame(stack: &CallStack<'_, '_>) -> Option<BlockType> {
    if !stack.starts(&["alloc::raw_vec::", "alloc::vec::", "alloc::slice::"]) {
        return None;
    }
    let ty = stack.param()?;
    (head(&stack.schema.get(ty).path) != "alloc::alloc::Global").then(|| BlockType::Slots(stack.of_caller(ty)))
}

fn content(ty: BlockType, stack: &CallStack<'_, '_>) -> Option<String> {
    match ty {
        BlockType::Slots(element) => Some(format!("Vec<{}>", stack.schema.get(element).name)),
        _ => None,
    }
}

impl Decoder for Vector {
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

    fn shape(&self, model: &InModel<'_, '_>) -> Shape {
        let is_vec = model.name.starts_with("Vec<");
        Shape::Sequence(if is_vec { Holder::Growable } else { Holder::LikeGrowable }, self.element)
    }

    fn holds(&self) -> Holds {
        Holds::Elements
    }
}
