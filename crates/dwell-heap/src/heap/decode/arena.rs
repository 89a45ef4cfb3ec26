//! Chunks of arenas, and handles that own values inside them: `dwell::slab::Slot<T>` and `Pooled<T>`,
//! `dwell::bump::Box<T>`, `dwell::bump::Vec<T>`.

use crate::debuginfo::TypeId;
use crate::heap::walk::{Decoded, Decoder, Family, Schema, SiteId, Value, WORD, Walk, find, named, wide};
use dwell_model::Edge;
use std::rc::Rc;

pub(super) const FAMILY: Family = Family {
    arenas: &[
        ("bumpalo::", "bumpalo::Bump"),
        ("bump_scope::", "bump_scope::Bump"),
        ("dwell::bump::", "dwell::Bump"),
        ("dwell::slab::", "dwell::Slab"),
        ("lasso::arenas::", "lasso::Rodeo"),
    ],
    ..Family::new(&[
        ("dwell::slab::slot::Slot", slot),
        ("dwell::slab::pooled::Pooled", slot),
        ("dwell::bump::boxed::Box", slot),
        ("dwell::bump::vec::Vec", vec),
        ("dwell::bump::unmanaged::UnmanagedVec", vec),
    ])
};

/// A pointer to one value inside a block, or to as many as the length says.
#[derive(Debug)]
struct Within {
    ptr: u64,
    /// The offset and size of the length.
    len: Option<(u64, u64)>,
    element: SiteId,
    stride: u64,
}

fn slot(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let (ptr, field) = find(schema, ty, |field| &*field.name == "value")?;
    // Handles with a length or vtable are not decoded.
    if wide(schema, field.ty).is_some() || schema.get(ty).size != WORD {
        return None;
    }
    let value = schema.param(ty, "T")?;
    let stride = schema.get(value).size;
    Some(Rc::new(Within { ptr, len: None, element: schema.part(value, site, Edge::Pointee), stride }))
}

fn vec(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let ptr = named(schema, ty, "start")?;
    let len = find(schema, ty, |field| &*field.name == "len").map(|(at, field)| (at, schema.get(field.ty).size))?;
    let value = schema.param(ty, "T")?;
    let stride = schema.get(value).size;
    Some(Rc::new(Within { ptr, len: Some(len), element: schema.part(value, site, Edge::Element), stride }))
}

impl Decoder for Within {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some(ptr) = value.word(self.ptr) else { return false };
        let len = self.len.map_or(1, |(at, size)| value.number(at, size).unwrap_or(0));
        cx.within(value.site, ptr, self.element, self.stride, len);
        len == 0
    }
}
