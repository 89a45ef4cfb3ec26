//! Traits with vtables as JSON. `docs/json-output.md` names the fields.

use super::blocks::{self, Block};
use super::edits::Fields;
use dwell_debuginfo::{Kind, Program, TypeId};
use dwell_source::{Edit, Items};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// The sizes of inline storage that are compared, in bytes.
pub const SIZES: [u64; 5] = [8, 16, 24, 32, 48];

/// A trait with trait objects in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trait {
    /// The short name.
    pub name: String,
    /// The full path.
    pub path: String,
    /// Whether the trait or one of its types belongs to the workspace's own crates.
    pub own: bool,
    /// The types with a vtable for it, largest first.
    pub implementors: Vec<Implementor>,
    /// The number of types that fit in 8, 16, 24, 32 and 48 bytes.
    pub fits: Vec<Fit>,
    /// Whether the program has a `Box` of this trait object.
    pub boxed: bool,
    /// Whether the program has an `Rc` or `Arc` of this trait object.
    pub shared: bool,
    /// The smallest `N`, in words of the target, for which `SmallBox<dyn Trait, N>` stores inline nine tenths of the types
    /// that fit in 48 bytes. `None` if fewer than half of all types fit in 48 bytes, or if there is no `Box` to replace.
    pub suggested_n: Option<u64>,
    /// The containers whose blocks this `N` makes larger than the allocator's cache.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
    /// The fields of the workspace's types with a `Box` of the trait object, and their type with `SmallBox`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
}

/// A type behind a trait object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Implementor {
    /// The short name.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The full path.
    pub path: String,
    /// The size of a value in bytes.
    pub size: u64,
    /// The alignment in bytes.
    pub align: u64,
}

/// The number of types that fit in a size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fit {
    /// The size in bytes; the alignment is that of a word.
    pub bytes: u64,
    /// The number of types.
    pub types: u64,
}

/// Returns the traits of a program that have vtables: the workspace's first, then those with the most types.
///
/// Without `all`, only traits of the workspace or with a type of the workspace. The sources of the workspace are read
/// below `root`.
pub fn traits(program: &Program, all: bool, root: Option<&Path>) -> Vec<Trait> {
    let mut by_path: BTreeMap<&str, (&str, Vec<TypeId>)> = BTreeMap::new();
    for (_, ty) in program.types() {
        if let Kind::Vtable(vtable) = &ty.kind
            && !vtable.trait_path.is_empty()
        {
            by_path.entry(&vtable.trait_path).or_insert((&vtable.trait_name, Vec::new())).1.push(vtable.concrete);
        }
    }
    let own_crates: Vec<&str> = {
        let mut names: Vec<&str> = program.types().filter(|(_, ty)| ty.own).map(|(_, ty)| &*ty.krate).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let usable = usable(program);
    let in_box = objects(program, &["alloc::boxed::Box<"], &|id, of_trait| {
        let krate = of_trait.split("::").next().unwrap_or_default();
        own_crates.binary_search(&krate).is_ok() || usable.contains(&id)
    });
    let fields = Fields::new(program, &Items::new(root));
    let in_rc = objects(program, &["alloc::rc::Rc<", "alloc::sync::Arc<"], &|_, _| true);
    let mut traits: Vec<Trait> = by_path
        .into_iter()
        .map(|(path, (name, mut types))| {
            types.sort_unstable();
            types.dedup();
            types.sort_by_key(|id| (std::cmp::Reverse(program.size_of(*id)), *id));
            let is_own =
                |path: &str| path.split("::").next().is_some_and(|krate| own_crates.binary_search(&krate).is_ok());
            let implementor = |id: &TypeId| {
                let ty = program.get(*id);
                Implementor {
                    type_name: ty.name.to_string(),
                    path: ty.path.to_string(),
                    size: ty.size,
                    align: ty.align,
                }
            };
            let fits = |bytes: u64| {
                let fits =
                    |id: &&TypeId| program.size_of(**id) <= bytes && program.get(**id).align <= program.pointer_size;
                Fit { bytes, types: types.iter().filter(fits).count() as u64 }
            };
            let fits: Vec<Fit> = SIZES.into_iter().map(fits).collect();
            let objects = in_box.get(path).map_or(&[][..], |objects| objects);
            let (boxed, shared) = (!objects.is_empty(), in_rc.contains_key(path));
            let suggested_n = suggest(&fits, types.len() as u64, program.pointer_size).filter(|_| boxed);
            Trait {
                blocks: suggested_n.map_or_else(Vec::new, |n| blocks::blocks(program, objects, n)),
                edits: suggested_n.map_or_else(Vec::new, |n| fields.edits(name, n)),
                boxed,
                shared,
                name: name.to_owned(),
                path: path.to_owned(),
                own: is_own(path) || types.iter().any(|id| program.get(*id).own),
                suggested_n,
                implementors: types.iter().map(implementor).collect(),
                fits,
            }
        })
        .filter(|dyn_trait| all || dyn_trait.own)
        .collect();
    traits.sort_by(|a, b| (!a.own, b.implementors.len(), &a.path).cmp(&(!b.own, a.implementors.len(), &b.path)));
    traits
}

/// Returns the traits whose objects are in one of these pointers, by their paths, with the types of the pointers:
/// `Box<dyn Trait>`, `Box<dyn Trait + Send>`.
fn objects<'p>(
    program: &'p Program,
    pointers: &[&str],
    counts: &dyn Fn(TypeId, &str) -> bool,
) -> HashMap<&'p str, Vec<TypeId>> {
    let mut found: HashMap<&str, Vec<TypeId>> = HashMap::new();
    for (id, ty) in program.types() {
        let Some(rest) = pointers.iter().find_map(|start| ty.path.strip_prefix(start)) else { continue };
        let rest = rest.strip_prefix('(').unwrap_or(rest);
        let Some(of_trait) = rest.strip_prefix("dyn ") else { continue };
        // The path ends at ` + Send`, `, A`, `)` or `>` outside of its own arguments.
        let mut depth = 0_i32;
        let mut before = ' ';
        let end = of_trait.char_indices().find(|&(_, letter)| {
            let is_end = depth == 0 && matches!(letter, ' ' | ',' | ')' | '>');
            match letter {
                '<' | '(' | '[' => depth += 1,
                '>' if before == '-' => {}
                '>' | ')' | ']' => depth -= 1,
                _ => {}
            }
            before = letter;
            is_end
        });
        let of_trait = &of_trait[..end.map_or(of_trait.len(), |(at, _)| at)];
        if counts(id, of_trait) {
            found.entry(of_trait).or_default().push(id);
        }
    }
    found
}

/// Returns the types of fields of the workspace's types, and the types inside of those of collections. A `Box` of a
/// dependency's own types cannot be replaced.
fn usable(program: &Program) -> HashSet<TypeId> {
    let mut seen: HashSet<TypeId> = HashSet::new();
    let mut left: Vec<TypeId> = program.types().filter(|(_, ty)| ty.own).map(|(id, _)| id).collect();
    while let Some(id) = left.pop() {
        let ty = program.get(id);
        let is_of_user = ty.own || matches!(&*ty.krate, "" | "alloc" | "core" | "std");
        if !is_of_user || !seen.insert(id) {
            continue;
        }
        left.extend(ty.params.iter().map(|param| param.ty));
        match &ty.kind {
            Kind::Struct(fields) | Kind::Closure(fields) | Kind::Union(fields) => {
                left.extend(fields.iter().map(|field| field.ty));
            }
            Kind::Enum(def) => {
                left.extend(def.variants.iter().flat_map(|variant| &variant.fields).map(|field| field.ty));
            }
            Kind::Array { element, .. } => left.push(*element),
            Kind::Coroutine(coroutine) => left.extend(coroutine.captures.iter().map(|field| field.ty)),
            _ => {}
        }
    }
    seen
}

fn suggest(fits: &[Fit], types: u64, word: u64) -> Option<u64> {
    let most = fits.last()?.types;
    if most == 0 || most * 2 < types {
        return None;
    }
    fits.iter().find(|fit| fit.types * 10 >= most * 9).map(|fit| fit.bytes / word.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(types: [u64; 5]) -> Vec<Fit> {
        SIZES.into_iter().zip(types).map(|(bytes, types)| Fit { bytes, types }).collect()
    }

    #[test]
    fn suggested_n_is_the_smallest_that_fits_most_types() {
        assert_eq!(suggest(&fits([10, 10, 10, 10, 10]), 10, 8), Some(1));
        assert_eq!(suggest(&fits([1, 5, 9, 9, 10]), 10, 8), Some(3));
        assert_eq!(suggest(&fits([0, 0, 0, 0, 5]), 10, 8), Some(6));
        assert_eq!(suggest(&fits([0, 0, 0, 0, 4]), 10, 8), None);
        assert_eq!(suggest(&fits([0; 5]), 3, 8), None);
        assert_eq!(suggest(&fits([1, 5, 9, 9, 10]), 10, 4), Some(6));
    }
}
