//! Finds fields of types by their names at any depth, because the structs around them change from one release to the next.

use super::types::{Schema, VecHeader, head};
use crate::debuginfo::{Field, Kind, TypeId};

/// The fields of a type, of all variants if it is an enum.
pub(super) fn fields<'p>(schema: &Schema<'p>, ty: TypeId) -> Vec<&'p Field> {
    match &schema.get(ty).kind {
        Kind::Struct(fields) | Kind::WidePointer { fields, .. } => fields.iter().collect(),
        Kind::Enum(of) => of.variants.iter().flat_map(|variant| &variant.fields).collect(),
        _ => Vec::new(),
    }
}

/// The nearest field that `is_it`, however deep it is, with its offset.
pub(super) fn find<'p>(schema: &Schema<'p>, ty: TypeId, is_it: impl Fn(&Field) -> bool) -> Option<(u64, &'p Field)> {
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

/// The offset of the nearest field of a name.
pub(super) fn named(schema: &Schema<'_>, ty: TypeId, name: &str) -> Option<u64> {
    find(schema, ty, |field| &*field.name == name).map(|found| found.0)
}

/// Where a part of a type with this head is.
pub(super) fn of_type(schema: &Schema<'_>, ty: TypeId, path: &str) -> Option<(u64, TypeId)> {
    if head(&schema.get(ty).path) == path {
        return Some((0, ty));
    }
    find(schema, ty, |field| head(&schema.get(field.ty).path) == path).map(|(at, field)| (at, field.ty))
}

/// What the first pointer in a type points to.
pub(super) fn pointee(schema: &Schema<'_>, ty: TypeId) -> Option<TypeId> {
    let of = |ty: TypeId| match schema.get(ty).kind {
        Kind::Pointer { pointee } => pointee,
        _ => None,
    };
    of(ty).or_else(|| find(schema, ty, |field| of(field.ty).is_some()).and_then(|(_, field)| of(field.ty)))
}

/// A pointer with a length.
pub(super) fn wide(schema: &Schema<'_>, ty: TypeId) -> Option<VecHeader> {
    let Kind::WidePointer { fields, .. } = &schema.get(ty).kind else { return None };
    let [data, length] = fields.as_slice() else { return None };
    (&*length.name == "length").then_some(VecHeader { ptr: data.offset, cap: None, len: length.offset })
}
