//! The types of which threads cannot share a value: those that contain an `Rc` or a cell.

use crate::debuginfo::{Kind, Program, TypeId};
use std::collections::HashSet;

/// The types of std that are not `Sync`. A mutex and an atomic contain none of these.
const ALONE: [&str; 6] = [
    "alloc::rc::Rc<",
    "alloc::rc::Weak<",
    "core::cell::Cell<",
    "core::cell::RefCell<",
    "core::cell::once::OnceCell<",
    "core::cell::lazy::LazyCell<",
];

/// The types of std that make what they contain `Sync`.
const LOCKS: [&str; 2] = ["std::sync::", "core::sync::"];

/// Returns the types that are not `Sync`, as far as debug info tells: what a trait object contains is unknown.
pub(super) fn unshareable(program: &Program) -> HashSet<TypeId> {
    let mut users: Vec<Vec<TypeId>> = vec![Vec::new(); program.types().count()];
    let mut open: Vec<TypeId> = Vec::new();
    for (id, ty) in program.types() {
        if ALONE.iter().any(|start| ty.path.starts_with(start)) {
            open.push(id);
        }
        if LOCKS.iter().any(|start| ty.path.starts_with(start)) {
            continue;
        }
        let mut is_in = |part: TypeId| users[part.0 as usize].push(id);
        // The elements of a collection are its parameters.
        ty.params.iter().for_each(|param| is_in(param.ty));
        match &ty.kind {
            Kind::Struct(fields) | Kind::Union(fields) => fields.iter().for_each(|field| is_in(field.ty)),
            Kind::Enum(definition) => {
                definition.variants.iter().flat_map(|variant| &variant.fields).for_each(|field| is_in(field.ty));
            }
            Kind::Array { element, .. } => is_in(*element),
            Kind::Pointer { pointee: Some(pointee) } | Kind::WidePointer { pointee: Some(pointee), .. } => {
                is_in(*pointee);
            }
            _ => {}
        }
    }
    let mut found: HashSet<TypeId> = open.iter().copied().collect();
    while let Some(ty) = open.pop() {
        for &user in &users[ty.0 as usize] {
            if found.insert(user) {
                open.push(user);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debuginfo::{Field, Type};

    #[test]
    fn what_contains_an_rc_is_not_shared_and_a_mutex_is() {
        let mut types: Vec<Type> = Vec::new();
        let mut add = |path: &str, kind: Kind| {
            let (params, source, krate) = (Vec::new(), None, "app".into());
            let (own, public, unit, size, align) = (true, false, 0, 8, 8);
            let (name, path) = (path.into(), path.into());
            types.push(Type { name, path, size, align, kind, params, source, krate, own, public, unit });
            TypeId(u32::try_from(types.len()).unwrap() - 1)
        };
        let newtype = |ty: TypeId| Kind::Struct(vec![Field { name: "0".into(), ty, offset: 0, line: None }]);
        let counted = add("alloc::rc::Rc<u8>", Kind::Primitive);
        let node = add("app::Node", newtype(counted));
        let boxed = add("alloc::boxed::Box<app::Node>", Kind::Pointer { pointee: Some(node) });
        let list = add("app::List", newtype(boxed));
        let cell = add("core::cell::RefCell<u8>", Kind::Primitive);
        let lock = add("std::sync::poison::mutex::Mutex<core::cell::RefCell<u8>>", newtype(cell));
        let shared = add("app::Shared", newtype(lock));
        let program = Program { types, ..Program::default() };
        let expected = HashSet::from([counted, node, boxed, list, cell]);
        assert_eq!(unshareable(&program), expected, "{shared:?} has a lock");
    }
}
