//! `Box<T>`: one value, a slice, a text or a trait object.

use crate::debuginfo::{Kind, Text, TypeId};
use crate::heap::walk::{BlockType, CallStack, Decoded, Decoder, Family, Holds, InModel, Schema, SiteId, Use, Value, VecHeader, WORD, Walk, find, head, is_text, wide, word};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family = Family {
    of_frame,
    content,
    ..Family::new(&[("alloc::boxed::Box", recognise), ("alloc::ffi::c_str::CString", boxed_text)])
};

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let definition = schema.get(ty);
    match &definition.kind {
        Kind::Pointer { pointee: Some(value) } => Some(Rc::new(One(schema.part(*value, site, Edge::Pointee)))),
        Kind::WidePointer { pointee, .. } => {
            let Some(header) = wide(schema, ty) else { return Some(Rc::new(Dyn)) };
            if is_text(definition.path.strip_prefix("alloc::boxed::Box<").unwrap_or_default()) {
                return Some(Rc::new(BoxedText(header)));
            }
            let element = (*pointee)?;
            let stride = schema.get(element).size;
            Some(Rc::new(Slice { element: schema.part(element, site, Edge::Element), stride }))
        }
        // A box with another allocator.
        _ => None,
    }
}

fn boxed_text(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Decoded {
    let (at, pointer) = find(schema, ty, |field| matches!(schema.get(field.ty).kind, Kind::WidePointer { .. }))?;
    let header = wide(schema, pointer.ty)?;
    Some(Rc::new(BoxedText(VecHeader { ptr: at + header.ptr, len: at + header.len, ..header })))
}

fn of_frame(stack: &CallStack<'_, '_>) -> Option<BlockType> {
    if !stack.starts(&["alloc::boxed::"]) {
        return None;
    }
    let ty = stack.param()?;
    if head(&stack.schema.get(ty).path) == "alloc::alloc::Global" {
        return None;
    }
    let is_slice = stack.frame()?.path.contains("slice");
    Some(if is_slice { BlockType::Slots(stack.of_caller(ty)) } else { BlockType::Value(ty) })
}

fn content(ty: BlockType, stack: &CallStack<'_, '_>) -> Option<String> {
    match ty {
        BlockType::Value(value) => Some(format!("Box<{}>", stack.schema.get(value).name)),
        _ => None,
    }
}

/// `Box<T>` of a sized type.
#[derive(Debug)]
struct One(SiteId);

impl Decoder for One {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        if let Some(block) = value.word(0).and_then(|ptr| cx.block_at(ptr)) {
            cx.boxed(block, value.site, self.0, None);
        }
        false
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], _: u32) -> bool {
        cx.schema.sites[self.0].size == 0
            || word(bytes, 0).is_some_and(|ptr| cx.block_at(ptr).is_some())
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.0))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Pointer(Holder::Box, self.0)
    }

    fn holds(&self) -> Holds {
        Holds::Box
    }
}

/// `Box<[T]>`
#[derive(Debug)]
struct Slice {
    element: SiteId,
    stride: u64,
}

impl Decoder for Slice {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let (Some(ptr), Some(len)) = (value.word(0), value.word(WORD)) else { return true };
        if let Some(block) = cx.elements(value.site, ptr, len, len, self.stride) {
            cx.run(block, self.element, 0, self.stride, len);
        }
        len == 0
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], _: u32) -> bool {
        cx.is_header(&VecHeader { ptr: 0, cap: None, len: WORD }, bytes, self.stride)
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.element))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Sequence(Holder::LikeGrowable, self.element)
    }
}

/// `Box<str>`, `Box<Path>`, `CString`
#[derive(Debug)]
struct BoxedText(VecHeader);

impl Decoder for BoxedText {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some((ptr, cap, len)) = self.0.read(value.bytes) else { return true };
        if let Some(block) = cx.elements(value.site, ptr, cap, len, 1) {
            cx.text(block, value.site, 0, len);
        }
        len == 0
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], _: u32) -> bool {
        cx.is_header(&self.0, bytes, 1)
    }

    fn element(&self, _: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(("u8".into(), 1))
    }

    fn text(&self, bytes: &[u8]) -> Option<(u64, u64)> {
        let (ptr, _, len) = self.0.read(bytes)?;
        Some((ptr, len))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Text(Holder::LikeGrowable)
    }

    fn holds(&self) -> Holds {
        Holds::Text
    }
}

/// `Box<dyn Trait>`
#[derive(Debug)]
struct Dyn;

impl Decoder for Dyn {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let (Some(ptr), Some(vtable)) = (value.word(0), value.word(WORD)) else { return false };
        if let Some(block) = cx.block_at(ptr) {
            match cx.concrete(value.site, vtable) {
                Some((concrete, inner)) => cx.boxed(block, value.site, inner, Some(concrete)),
                None => {
                    cx.claim(block, value.site, Use { len: 1, capacity: 1, ..Use::default() });
                }
            }
        } else {
            cx.inline_dyn(vtable, value);
        }
        false
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], _: u32) -> bool {
        let (Some(ptr), Some(vtable)) = (word(bytes, 0), word(bytes, WORD)) else { return false };
        cx.of_vtable(vtable).is_some_and(|concrete| cx.schema.get(concrete).size == 0 || cx.block_at(ptr).is_some())
    }

    fn element(&self, schema: &Schema<'_>, concrete: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.concrete(concrete))
    }

    fn holds(&self) -> Holds {
        Holds::Dyn
    }
}
