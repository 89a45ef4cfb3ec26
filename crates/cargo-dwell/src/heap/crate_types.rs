//! Decoders for well-known types of other crates and of Dwell.
//!
//! A decoder relies on the names of fields only. If a version of the crate has other names, the type is decoded like
//! any other struct.

use super::fields::{find, named, of_type, wide};
use super::types::{Decode, Schema, SiteId};
use crate::debuginfo::{Kind, TypeId};
use dwell::model::Edge;

/// Decodes `smallvec::SmallVec<[T; N]>`. If the capacity is at most `N`, it is the length, and the elements are inline.
pub(crate) fn small_vec(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let array = schema.param(ty, "A")?;
    let Kind::Array { element, count: limit } = schema.get(array).kind else { return None };
    let cap = named(schema, ty, "capacity")?;
    let (data, of_data) = find(schema, ty, |field| &*field.name == "data").map(|(at, field)| (at, field.ty))?;
    let (inline, ptr, len) = match &schema.get(of_data).kind {
        Kind::Union(fields) => {
            let inline = fields.iter().find(|field| &*field.name == "inline")?;
            let heap = fields.iter().find(|field| &*field.name == "heap")?;
            let Kind::Struct(parts) = &schema.get(heap.ty).kind else { return None };
            let [ptr, len] = parts.as_slice() else { return None };
            (inline.offset, heap.offset + ptr.offset, heap.offset + len.offset)
        }
        Kind::Enum(_) => {
            let (inline, _) = of_type(schema, of_data, "core::mem::maybe_uninit::MaybeUninit")?;
            (inline, named(schema, of_data, "ptr")?, named(schema, of_data, "len")?)
        }
        _ => return None,
    };
    let stride = schema.get(element).size;
    let element = schema.part(element, site, Edge::Element);
    Some(Decode::Small { cap, limit, inline: data + inline, ptr: data + ptr, len: data + len, element, stride })
}

/// Decodes `compact_str::CompactString`. The last of its 24 bytes tells whether the text is inline.
pub(crate) fn compact(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Option<Decode> {
    (schema.get(ty).size == 24).then_some(Decode::Compact)
}

pub(crate) fn bytes(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Option<Decode> {
    named(schema, ty, "vtable")?;
    shared_bytes(schema, ty, false)
}

pub(crate) fn bytes_mut(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Option<Decode> {
    named(schema, ty, "cap")?;
    shared_bytes(schema, ty, true)
}

fn shared_bytes(schema: &Schema<'_>, ty: TypeId, is_mut: bool) -> Option<Decode> {
    let at = |name: &str| named(schema, ty, name);
    Some(Decode::Bytes { ptr: at("ptr")?, len: at("len")?, data: at("data")?, is_mut })
}

pub(crate) fn thin_str(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Option<Decode> {
    Some(Decode::ThinText { ptr: named(schema, ty, "data")? })
}

/// Decodes `ThinSlice<T>`, and the maps and sets based on it.
pub(crate) fn thin_slice(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let (at, slice) = of_type(schema, ty, "dwell::sparse::thin_slice::ThinSlice")?;
    let ptr = at + named(schema, slice, "data")?;
    let element = schema.param(slice, "T")?;
    let of = schema.get(element);
    let (stride, back) = (of.size, of.align.max(8));
    Some(Decode::Thin { ptr, back, element: schema.part(element, site, Edge::Element), stride })
}

pub(crate) fn sparse(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let ptr = named(schema, ty, "ptr")?;
    let value = schema.param(ty, "T")?;
    Some(Decode::Sparse { ptr, value: schema.part(value, site, Edge::Pointee) })
}

/// Decodes `SmallBox<dyn Trait, N>`. Other contents are opaque.
pub(crate) fn small_box(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Option<Decode> {
    let (meta, _) = find(schema, ty, |field| &*field.name == "meta")?;
    let is_dyn = schema
        .get(ty)
        .path
        .split_once('<')
        .is_some_and(|(_, arguments)| arguments.starts_with("dyn ") || arguments.starts_with("(dyn "));
    Some(if is_dyn { Decode::SmallDyn { meta } } else { Decode::Opaque })
}

/// Decodes a handle that owns a value inside a block: `dwell::slab::Slot<T>`, `dwell::bump::Box<T>`.
pub(crate) fn slot(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let (ptr, field) = find(schema, ty, |field| &*field.name == "value")?;
    // Handles with a length or vtable are not decoded.
    if wide(schema, field.ty).is_some() || schema.get(ty).size != 8 {
        return None;
    }
    let value = schema.param(ty, "T")?;
    let stride = schema.get(value).size;
    Some(Decode::Within { ptr, len: None, element: schema.part(value, site, Edge::Pointee), stride })
}

/// Decodes `dwell::bump::Vec<T>`, whose elements are inside a block.
pub(crate) fn bump_vec(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let ptr = named(schema, ty, "start")?;
    let len = find(schema, ty, |field| &*field.name == "len").map(|(at, field)| (at, schema.get(field.ty).size))?;
    let value = schema.param(ty, "T")?;
    let stride = schema.get(value).size;
    Some(Decode::Within { ptr, len: Some(len), element: schema.part(value, site, Edge::Element), stride })
}
