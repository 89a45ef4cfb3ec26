//! `String`, `PathBuf`, `OsString`: a `Vec` of bytes.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{BlockType, CallStack, Decoded, Decoder, Family, Holds, InModel, Schema, SiteId, Value, VecHeader, Walk, vec_header};
use dwell_model::{Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family = Family {
    of_frame,
    content,
    ..Family::new(&[
        ("alloc::string::String", recognise),
        ("std::ffi::os_str::OsString", recognise),
        ("std::path::PathBuf", recognise),
    ])
};

/// The start of the paths of functions that work on a text, and the name of its type.
const FUNCTIONS: [(&str, &str); 6] = [
    ("std::path::", "PathBuf"),
    ("std::ffi::os_str", "OsString"),
    ("alloc::ffi::c_str", "CString"),
    ("alloc::string::", "String"),
    ("alloc::fmt::format", "String"),
    ("alloc::str::", "String"),
];

#[derive(Debug)]
struct GrowableText(VecHeader);

fn recognise(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Decoded {
    Some(Rc::new(GrowableText(vec_header(schema, ty)?)))
}

fn of_frame(stack: &CallStack<'_, '_>) -> Option<BlockType> {
    let is_text = stack.starts(&["alloc::string::", "alloc::fmt::format"]);
    if is_text { stack.by_path("u8").map(|byte| BlockType::Slots(stack.of_caller(byte))) } else { None }
}

fn content(ty: BlockType, stack: &CallStack<'_, '_>) -> Option<String> {
    match ty {
        BlockType::Slots(element) if &*stack.schema.get(element).name == "u8" => {
            FUNCTIONS.iter().find(|(start, _)| stack.has(start)).map(|(_, name)| (*name).into())
        }
        _ => None,
    }
}

impl Decoder for GrowableText {
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

    fn shape(&self, model: &InModel<'_, '_>) -> Shape {
        Shape::Text(if model.name == "String" { Holder::Growable } else { Holder::LikeGrowable })
    }

    fn holds(&self) -> Holds {
        Holds::Text
    }
}
