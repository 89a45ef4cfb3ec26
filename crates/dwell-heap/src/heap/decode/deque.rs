//! `VecDeque<T>`: a ring buffer, whose elements begin at `head` and may wrap around the end of the block.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{BlockType, CallStack, Decoded, Decoder, Family, Holds, InModel, Schema, SiteId, Value, VecHeader, Walk, named};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family =
    Family { content, ..Family::new(&[("alloc::collections::vec_deque::VecDeque", recognise)]) };

#[derive(Debug)]
struct Deque {
    header: VecHeader,
    head: u64,
    element: SiteId,
    stride: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let header = VecHeader {
        ptr: named(schema, ty, "ptr")?,
        cap: Some(named(schema, ty, "cap")?),
        len: named(schema, ty, "len")?,
    };
    let head = named(schema, ty, "head")?;
    let element = schema.param(ty, "T")?;
    let stride = schema.get(element).size;
    Some(Rc::new(Deque { header, head, element: schema.part(element, site, Edge::Element), stride }))
}

fn content(ty: BlockType, stack: &CallStack<'_, '_>) -> Option<String> {
    match ty {
        BlockType::Slots(element) if stack.has("alloc::collections::vec_deque") => {
            Some(format!("VecDeque<{}>", stack.schema.get(element).name))
        }
        _ => None,
    }
}

impl Decoder for Deque {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some((ptr, cap, len)) = self.header.read(value.bytes) else { return true };
        let Some(head) = value.word(self.head).filter(|head| *head <= cap) else { return len == 0 };
        if let Some(block) = cx.elements(value.site, ptr, cap, len, self.stride) {
            cx.later(block, value.site, [head, len, cap]);
        }
        len == 0
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], _: u32) -> bool {
        cx.is_header(&self.header, bytes, self.stride)
    }

    fn read_block(&self, cx: &mut Walk<'_, '_>, block: usize, _: SiteId, [head, len, cap]: [u64; 3]) {
        let first = len.min(cap.saturating_sub(head));
        cx.run_now(block, self.element, head.saturating_mul(self.stride), self.stride, first);
        cx.run_now(block, self.element, 0, self.stride, len - first);
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
