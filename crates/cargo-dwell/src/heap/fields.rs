//! Finds fields by name at any depth, because the structs around them differ between releases.

use super::types::{Schema, VecHeader, head};
use crate::debuginfo::{Field, Kind, TypeId};

/// Returns the fields of a type; for an enum, those of all variants.
pub(crate) fn fields<'p>(schema: &Schema<'p>, ty: TypeId) -> Vec<&'p Field> {
    match &schema.get(ty).kind {
        Kind::Struct(fields) | Kind::WidePointer { fields, .. } => fields.iter().collect(),
        Kind::Enum(of) => of.variants.iter().flat_map(|variant| &variant.fields).collect(),
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
    let of = |ty: TypeId| match schema.get(ty).kind {
        Kind::Pointer { pointee } => pointee,
        _ => None,
    };
    of(ty).or_else(|| find(schema, ty, |field| of(field.ty).is_some()).and_then(|(_, field)| of(field.ty)))
}

/// Returns the pointer and length of a wide pointer.
pub(crate) fn wide(schema: &Schema<'_>, ty: TypeId) -> Option<VecHeader> {
    let Kind::WidePointer { fields, .. } = &schema.get(ty).kind else { return None };
    let [data, length] = fields.as_slice() else { return None };
    (&*length.name == "length").then_some(VecHeader { ptr: data.offset, cap: None, len: length.offset })
}
