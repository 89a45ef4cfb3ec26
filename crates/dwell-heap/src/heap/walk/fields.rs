//! Finds fields by name at any depth, because the structs around them differ between releases.

use super::{Schema, head, word};
use crate::debuginfo::{Field, Kind, TypeId};

/// The offsets of a collection's pointer, capacity and length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VecHeader {
    pub(crate) ptr: u64,
    /// The capacity; `None` if it equals the length.
    pub(crate) cap: Option<u64>,
    pub(crate) len: u64,
}

impl VecHeader {
    /// Reads pointer, capacity and length.
    pub(crate) fn read(&self, bytes: &[u8]) -> Option<(u64, u64, u64)> {
        let len = word(bytes, self.len)?;
        let cap = match self.cap {
            Some(cap) => word(bytes, cap)?,
            None => len,
        };
        Some((word(bytes, self.ptr)?, cap, len))
    }
}

/// Returns the fields of a type; for an enum, those of all variants.
pub(crate) fn fields<'p>(schema: &Schema<'p>, ty: TypeId) -> Vec<&'p Field> {
    match &schema.get(ty).kind {
        Kind::Struct(fields) | Kind::WidePointer { fields, .. } => fields.iter().collect(),
        Kind::Enum(definition) => definition.variants.iter().flat_map(|variant| &variant.fields).collect(),
        _ => Vec::new(),
    }
}

/// Returns the least deeply nested field for which `is_it` returns `true`, with its offset.
pub(crate) fn find<'p>(schema: &Schema<'p>, ty: TypeId, is_it: impl Fn(&Field) -> bool) -> Option<(u64, &'p Field)> {
    let mut level = vec![(0_u64, ty)];
    for _ in 0..8 {
        let mut next = Vec::new();
        for (at, ty) in level {
            for field in fields(schema, ty) {
                let at = at.checked_add(field.offset)?;
                if is_it(field) {
                    return Some((at, field));
                }
                next.push((at, field.ty));
            }
        }
        level = next;
        if level.len() > 256 {
            return None;
        }
    }
    None
}

/// Returns the offset of the least deeply nested field with a name.
pub(crate) fn named(schema: &Schema<'_>, ty: TypeId, name: &str) -> Option<u64> {
    find(schema, ty, |field| &*field.name == name).map(|found| found.0)
}

/// Returns the offset and type of a part with this path, without arguments.
pub(crate) fn of_type(schema: &Schema<'_>, ty: TypeId, path: &str) -> Option<(u64, TypeId)> {
    if head(&schema.get(ty).path) == path {
        return Some((0, ty));
    }
    find(schema, ty, |field| head(&schema.get(field.ty).path) == path).map(|(at, field)| (at, field.ty))
}

/// Returns the target of the first pointer in a type.
pub(crate) fn pointee(schema: &Schema<'_>, ty: TypeId) -> Option<TypeId> {
    let target = |ty: TypeId| match schema.get(ty).kind {
        Kind::Pointer { pointee } => pointee,
        _ => None,
    };
    target(ty).or_else(|| find(schema, ty, |field| target(field.ty).is_some()).and_then(|(_, field)| target(field.ty)))
}

/// Returns the pointer and length of a wide pointer.
pub(crate) fn wide(schema: &Schema<'_>, ty: TypeId) -> Option<VecHeader> {
    let Kind::WidePointer { fields, .. } = &schema.get(ty).kind else { return None };
    let [data, length] = fields.as_slice() else { return None };
    (&*length.name == "length").then_some(VecHeader { ptr: data.offset, cap: None, len: length.offset })
}

/// Returns the header of a type that is or contains a `Vec`.
pub(crate) fn vec_header(schema: &Schema<'_>, ty: TypeId) -> Option<VecHeader> {
    let (at, vec) = of_type(schema, ty, "alloc::vec::Vec")?;
    Some(VecHeader {
        ptr: at + named(schema, vec, "ptr")?,
        cap: Some(at + named(schema, vec, "cap")?),
        len: at + named(schema, vec, "len")?,
    })
}

/// Returns the header of a `Vec` of `element`, if the program has this type.
pub(crate) fn header_of(schema: &Schema<'_>, element: TypeId) -> Option<VecHeader> {
    let path = format!("alloc::vec::Vec<{}, alloc::alloc::Global>", schema.get(element).path);
    vec_header(schema, schema.by_path(&path, element)?)
}

/// Returns `true` if the first of a type's arguments, `str>`, is an unsized text.
pub(crate) fn is_text(arguments: &str) -> bool {
    let first = arguments.split([',', '>']).next().unwrap_or_default();
    ["str", "std::path::Path", "std::ffi::os_str::OsStr", "core::ffi::c_str::CStr"].contains(&first)
}

/// Returns the element if the first of a type's arguments, `[u8]>`, is a slice.
pub(crate) fn first_element(arguments: &str) -> Option<&str> {
    let rest = arguments.strip_prefix('[')?;
    // The element may contain balanced brackets.
    let mut depth = 0_u32;
    let end = rest.bytes().position(|byte| match byte {
        b'[' => {
            depth += 1;
            false
        }
        b']' if depth == 0 => true,
        b']' => {
            depth -= 1;
            false
        }
        _ => false,
    })?;
    rest.get(..end)
}
