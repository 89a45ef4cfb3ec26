//! `LinkedList<T>`: a block for each element.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{BlockType, CallStack, Decoded, Decoder, Family, InModel, Schema, SiteId, Use, Value, Walk, argument, find, head, named, pointee};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family =
    Family { content, ..Family::new(&[("alloc::collections::linked_list::LinkedList", recognise)]) };

#[derive(Debug)]
struct List {
    head: u64,
    len: u64,
    next: u64,
    element_at: u64,
    element: SiteId,
    node_size: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let (head, first) = find(schema, ty, |field| &*field.name == "head")?;
    let len = named(schema, ty, "len")?;
    let node = pointee(schema, first.ty)?;
    let next = named(schema, node, "next")?;
    let (element_at, element) = find(schema, node, |field| &*field.name == "element")?;
    let element = schema.part(element.ty, site, Edge::Element);
    Some(Rc::new(List { head, len, next, element_at, element, node_size: schema.get(node).size }))
}

fn content(ty: BlockType, stack: &CallStack<'_, '_>) -> Option<String> {
    let BlockType::Value(value) = ty else { return None };
    let node = stack.schema.get(value);
    (head(&node.path) == "alloc::collections::linked_list::Node").then(|| format!("LinkedList<{}>", argument(&node.name)))
}

impl Decoder for List {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let (Some(mut at), Some(len)) = (value.word(self.head), value.word(self.len)) else { return true };
        let mut left = len;
        while left > 0
            && let Some(block) = cx.block_at(at)
            && cx.fits(block, self.node_size)
        {
            left -= 1;
            if !cx.claim(block, value.site, Use { len: 1, capacity: 1, ..Use::default() }) {
                break;
            }
            cx.is_requested(block, self.node_size);
            let stride = cx.schema.sites[self.element].size;
            cx.run(block, self.element, self.element_at, stride, 1);
            match cx.word(at.saturating_add(self.next)) {
                Some(after) => at = after,
                None => break,
            }
        }
        len == 0
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.element))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Sequence(Holder::Linked, self.element)
    }
}
