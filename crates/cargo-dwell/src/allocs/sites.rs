//! Groups the pairs of a profile by what their blocks are and where they are allocated.
//!
//! Boxes of one type, or of all types behind one trait, are one site wherever they are made, because one change of the
//! type moves all of them. Other blocks are grouped by the place that allocates them.

use super::places::{Own, Place, head};
use dwell_debuginfo::{Frame, Frames, Kind, Program, TypeId};
use dwell_heap::profile::{Allocator, Counts, Pair, Profile};
use dwell_heap::stacks::{self, BlockType, Origin, is_std};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The blocks that one change could move.
#[derive(Debug)]
pub(super) struct Site {
    /// What the blocks are: `Box<Node>`, `Box<dyn Fn(u8)>`, `String`.
    pub(super) what: String,
    pub(super) holder: Holder,
    /// The trait whose objects the boxes are.
    pub(super) of_trait: Option<String>,
    /// The types of the values, with their number, if they are known.
    pub(super) types: BTreeMap<TypeId, u64>,
    /// The indexes of its pairs.
    pub(super) pairs: Vec<usize>,
    pub(super) places: Vec<Place>,
    pub(super) counts: Counts,
    /// The number of blocks by size.
    pub(super) sizes: BTreeMap<u64, u64>,
    pub(super) allocator: Allocator,
    /// The type whose drop freed most of its blocks in runs.
    pub(super) root: Option<String>,
    /// The blocks that an iterator over a collection's own values freed.
    pub(super) consumed: u64,
    /// The blocks that the drop of a value of a type that is not std's freed: it holds them.
    pub(super) held: u64,
}

/// What holds the blocks of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    /// A box with one value.
    Box,
    /// An `Rc` or `Arc`.
    Counted,
    /// A growable text.
    Text,
    /// A growable sequence.
    Sequence,
    /// A hash map or set.
    Table,
    /// A map, a tree, a chunk, or unknown.
    #[default]
    Other,
}

/// Returns the sites.
pub(super) fn sites(profile: &Profile, program: &Program, frames: &Frames, own: &Own) -> Vec<Site> {
    let snapshot = profile.as_snapshot();
    let origins = stacks::origins(&snapshot, program, frames);
    let traits = traits(program);
    let places: Vec<Place> = snapshot
        .stacks
        .iter()
        .zip(&origins)
        .map(|(stack, origin)| own.place(&stacks::functions(&snapshot, frames, stack), origin))
        .collect();
    let roots: Vec<Option<String>> =
        snapshot.stacks.iter().map(|stack| root(&stacks::functions(&snapshot, frames, stack), program)).collect();
    let dropped: Vec<Option<TypeId>> =
        snapshot.stacks.iter().map(|stack| dropped(&stacks::functions(&snapshot, frames, stack))).collect();
    let consumed: Vec<bool> =
        snapshot.stacks.iter().map(|stack| is_of_iterator(&stacks::functions(&snapshot, frames, stack))).collect();
    let held: Vec<bool> =
        snapshot.stacks.iter().map(|stack| is_held(&stacks::functions(&snapshot, frames, stack), program)).collect();
    let of_vector: Vec<bool> =
        snapshot.stacks.iter().map(|stack| frees_vector(&stacks::functions(&snapshot, frames, stack))).collect();
    let mut index: HashMap<Key, usize> = HashMap::new();
    let mut all: Vec<Site> = Vec::new();
    let mut root_counts: Vec<HashMap<&str, u64>> = Vec::new();
    for (number, pair) in profile.pairs.iter().enumerate() {
        let (Some(origin), Some(place)) = (origins.get(pair.stack as usize), places.get(pair.stack as usize)) else {
            continue;
        };
        // Equal code of several callers may be one, with the debug info of another one or without the functions that were
        // inlined into it. The functions of the free then name the type; its size must be that of the block.
        let is_known = match origin.ty {
            Some(BlockType::Value(_)) => is_of_size(origin, pair.size, program),
            ty => ty.is_some(),
        };
        let unknown = Origin { ty: None, content: String::new(), ..origin.clone() };
        let origin = if is_known { origin } else { &unknown };
        let of_free = pair.free_stack.filter(|_| !is_known).and_then(|stack| {
            let of_drop = || dropped.get(stack as usize).copied().flatten();
            let of_buffer =
                origins.get(stack as usize).filter(|origin| is_of_size(origin, pair.size, program)).cloned();
            of_drop().and_then(|ty| owned_box(ty, pair.size, program)).or(of_buffer)
        });
        let origin = of_free.as_ref().unwrap_or(origin);
        // `vec![a, b]` makes a box of an array, which is then the buffer of a vector.
        let is_vector = pair.free_stack.is_some_and(|stack| of_vector.get(stack as usize) == Some(&true));
        let literal = literal(&origin.content).filter(|_| is_vector);
        let of_literal = literal.map(|content| Origin { ty: None, content, ..origin.clone() });
        let origin = of_literal.as_ref().unwrap_or(origin);
        let (key, site) = describe(origin, place, program, &traits);
        let at = *index.entry(key).or_insert(all.len());
        if at == all.len() {
            all.push(site);
            root_counts.push(HashMap::new());
        }
        all[at].add(number, pair, place, origin);
        if pair.free_stack.is_some_and(|stack| consumed.get(stack as usize) == Some(&true)) {
            all[at].consumed += pair.counts.frees;
        }
        if pair.free_stack.is_some_and(|stack| held.get(stack as usize) == Some(&true)) {
            all[at].held += pair.counts.frees;
        }
        if let Some(root) = pair.run_stack.and_then(|stack| roots.get(stack as usize)?.as_deref()) {
            *root_counts[at].entry(root).or_default() += pair.counts.together;
        }
    }
    for (site, roots) in all.iter_mut().zip(root_counts) {
        // Of equal counts, the first by name, so that the result does not vary.
        let root = roots.into_iter().max_by_key(|(name, count)| (*count, std::cmp::Reverse(*name)));
        site.root = root.map(|(name, _)| name.to_owned());
        site.places.iter_mut().for_each(Place::name_caller);
        site.places.sort_by_key(|place| std::cmp::Reverse(place.counts.allocations + place.counts.reallocations));
    }
    all
}

/// Returns `true` if a block of this size can have the contents that its free shows.
fn is_of_size(origin: &Origin, size: u64, program: &Program) -> bool {
    match origin.ty {
        Some(BlockType::Value(ty)) => program.size_of(ty) == size,
        Some(BlockType::Slots(ty)) => size > 0 && size.is_multiple_of(program.size_of(ty).max(1)),
        _ => false,
    }
}

/// What makes blocks belong to one site.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Trait(String),
    Type(TypeId, Holder),
    Place(String, String, Option<String>),
}

fn describe(origin: &Origin, place: &Place, program: &Program, traits: &HashMap<TypeId, String>) -> (Key, Site) {
    let content = place.collection.unwrap_or(&origin.content);
    let holder = holder(content);
    let mut site = Site {
        what: if content.is_empty() { "?".into() } else { content.to_owned() },
        holder,
        of_trait: None,
        types: BTreeMap::new(),
        pairs: Vec::new(),
        places: Vec::new(),
        counts: Counts::default(),
        sizes: BTreeMap::new(),
        allocator: Allocator::Glibc,
        root: None,
        consumed: 0,
        held: 0,
    };
    if let (Some(BlockType::Value(ty)), Holder::Box | Holder::Counted) = (origin.ty, holder) {
        if let Some(of_trait) = traits.get(&ty) {
            let owner = site.what.split('<').next().unwrap_or_default();
            site.what = format!("{owner}<dyn {of_trait}>");
            site.of_trait = Some(of_trait.clone());
            return (Key::Trait(site.what.clone()), site);
        }
        return (Key::Type(ty, holder), site);
    }
    if site.what == "?"
        && let Some(BlockType::Value(ty) | BlockType::Slots(ty)) = origin.ty
    {
        site.what = program.get(ty).name.to_string();
    }
    (Key::Place(site.what.clone(), place.function.clone(), place.at.clone()), site)
}

fn holder(content: &str) -> Holder {
    match content.split('<').next().unwrap_or_default() {
        "Box" if content.ends_with("str>") => Holder::Text,
        // A box of an array has one value; the length comes last.
        "Box" if content.starts_with("Box<[") && !is_array(content) => Holder::Sequence,
        "Box" => Holder::Box,
        "Rc" | "Arc" => Holder::Counted,
        "String" | "PathBuf" | "OsString" | "CString" => Holder::Text,
        "Vec" | "VecDeque" | "BinaryHeap" | "BytesMut" | "SmallVec" | "ThinVec" => Holder::Sequence,
        "HashMap" | "HashSet" | "IndexMap" | "IndexSet" => Holder::Table,
        _ => Holder::Other,
    }
}

/// Returns `true` for `Box<[T; 4]>`, and `false` for `Box<[T]>`.
fn is_array(content: &str) -> bool {
    let length = content.strip_suffix("]>").and_then(|rest| rest.rsplit_once("; "));
    length.is_some_and(|(_, length)| !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Site {
    fn add(&mut self, number: usize, pair: &Pair, place: &Place, origin: &Origin) {
        self.pairs.push(number);
        self.counts.add(&pair.counts);
        self.allocator = self.allocator.max(pair.allocator);
        let blocks = pair.counts.allocations + pair.counts.reallocations;
        *self.sizes.entry(pair.size).or_default() += blocks;
        if let Some(BlockType::Value(ty)) = origin.ty {
            *self.types.entry(ty).or_default() += blocks;
        }
        let is_same = |other: &Place| other.function == place.function && other.at == place.at;
        if !self.places.iter().any(is_same) {
            self.places.push(Place { callers: BTreeMap::new(), ..place.clone() });
        }
        if let Some(known) = self.places.iter_mut().find(|known| is_same(known)) {
            known.add(number, pair, place);
        }
    }
}

/// Returns the trait of each type that is used as a trait object. Traits that every value is formatted by do not count.
fn traits(program: &Program) -> HashMap<TypeId, String> {
    let mut all: HashMap<TypeId, String> = HashMap::new();
    for variable in &program.statics {
        let Kind::Vtable(vtable) = &program.get(variable.ty).kind else { continue };
        let ignored = ["core::fmt::", "core::any::", "core::panic::", "std::io::"];
        if vtable.trait_name.is_empty() || ignored.iter().any(|start| vtable.trait_path.starts_with(start)) {
            continue;
        }
        let name = vtable.trait_name.to_string();
        // A closure has vtables for `Fn` and its supertraits: the first by name is `Fn`.
        all.entry(vtable.concrete).and_modify(|known| *known = name.clone().min(known.clone())).or_insert(name);
    }
    all
}

/// Returns the type that the innermost `drop_in_place` of a stack drops.
fn dropped(stack: &[Result<&Frame, String>]) -> Option<TypeId> {
    let mut frames = stack.iter().filter_map(|frame| frame.as_ref().ok());
    let frame = frames.find(|frame| frame.path.contains("drop_in_place<"))?;
    Some(frame.params.first()?.ty)
}

/// Returns `true` if a stack frees the buffer of a collection whose values were iterated over.
fn is_of_iterator(stack: &[Result<&Frame, String>]) -> bool {
    let frames = stack.iter().filter_map(|frame| frame.as_ref().ok());
    let mut of_std = frames.take_while(|frame| is_std(head(&frame.path)));
    of_std.any(|frame| {
        frame.path.contains("vec::into_iter::")
            || frame.implementor.as_deref().is_some_and(|implementor| implementor.starts_with("IntoIter<"))
    })
}

/// Returns `true` if a stack frees the buffer of a vector.
fn frees_vector(stack: &[Result<&Frame, String>]) -> bool {
    let frames = stack.iter().filter_map(|frame| frame.as_ref().ok());
    let mut of_std = frames.take_while(|frame| is_std(head(&frame.path)));
    of_std.any(|frame| frame.path.contains("alloc::raw_vec::") || frame.path.contains("alloc::vec::"))
}

/// Returns `Vec<T>` for `Box<[T; 2]>`.
fn literal(content: &str) -> Option<String> {
    let (element, _) = content.strip_prefix("Box<[").filter(|_| is_array(content))?.rsplit_once("; ")?;
    Some(format!("Vec<{element}>"))
}

/// Returns `true` if a stack drops a value of a type that is not std's, or a collection of such values.
fn is_held(stack: &[Result<&Frame, String>], program: &Program) -> bool {
    let dropped = stack
        .iter()
        .filter_map(|frame| frame.as_ref().ok())
        .filter(|function| function.path.contains("drop_in_place<"));
    dropped.filter_map(|frame| frame.params.first()).any(|param| {
        let (mut met, mut open) = (HashSet::from([param.ty]), vec![param.ty]);
        while let Some(ty) = open.pop() {
            let inner = program.get(ty);
            if matches!(inner.kind, Kind::Struct(_) | Kind::Enum(_))
                && !inner.path.starts_with('(')
                && !is_std(head(&inner.path))
            {
                return true;
            }
            open.extend(inner.params.iter().map(|param| param.ty).filter(|ty| met.insert(*ty)));
        }
        false
    })
}

/// The types of std that hold a pointer, a value or nothing, but no buffer.
const INLINE: [&str; 5] = ["alloc::boxed::Box<", "core::ptr::", "core::option::", "core::cell::", "core::mem::"];

/// Returns the box in a value of a type that a block of this size belongs to: the only target of this size of a pointer in the
/// value. Enums whose variants free equal boxes do so in one place, so that no function shows which variant it was.
fn owned_box(ty: TypeId, size: u64, program: &Program) -> Option<Origin> {
    let (mut met, mut open) = (HashSet::from([ty]), vec![ty]);
    let mut found: Option<TypeId> = None;
    while let Some(ty) = open.pop() {
        let inner = program.get(ty);
        // A reference does not own its target.
        if inner.name.starts_with('&')
            || is_std(head(&inner.path)) && !INLINE.iter().any(|start| inner.path.starts_with(start))
        {
            continue;
        }
        let mut add = |ty: TypeId| {
            if met.insert(ty) {
                open.push(ty);
            }
        };
        match &inner.kind {
            Kind::Pointer { pointee: Some(target) } if program.size_of(*target) == size => match found {
                Some(known) if program.get(known).path != program.get(*target).path => return None,
                _ => found = Some(*target),
            },
            Kind::Struct(fields) | Kind::Closure(fields) => fields.iter().for_each(|field| add(field.ty)),
            Kind::Enum(def) => def.variants.iter().flat_map(|variant| &variant.fields).for_each(|field| add(field.ty)),
            Kind::Array { element, .. } => add(*element),
            _ => {}
        }
    }
    // The block of a counted pointer begins with the counts.
    let target = found.filter(|target| !is_std(head(&program.get(*target).path)))?;
    let content = format!("Box<{}>", program.get(target).name);
    Some(Origin { ty: Some(BlockType::Value(target)), content, ..Origin::default() })
}

/// Returns the type that the outermost `drop_in_place` of a stack drops.
fn root(stack: &[Result<&Frame, String>], program: &Program) -> Option<String> {
    let frames = stack.iter().filter_map(|frame| frame.as_ref().ok());
    let mut dropped = frames.filter_map(|frame| frame.path.split_once("drop_in_place<").map(|(_, rest)| (frame, rest)));
    let (frame, rest) = dropped.next_back()?;
    let of_param = frame.params.first().map(|param| program.get(param.ty).name.to_string());
    Some(of_param.unwrap_or_else(|| short(rest.strip_suffix('>').unwrap_or(rest))))
}

/// Returns a path without the modules of its parts: `Vec<Node>` for `alloc::vec::Vec<app::Node>`.
fn short(path: &str) -> String {
    let mut name = String::new();
    let mut part = String::new();
    for character in path.chars() {
        match character {
            ':' => part.clear(),
            _ if character.is_alphanumeric() || character == '_' => part.push(character),
            _ => {
                name.push_str(&part);
                part.clear();
                name.push(character);
            }
        }
    }
    name + &part
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_debuginfo::{Enum, Field, Type, Variant};

    #[test]
    fn holders_are_known_by_their_name() {
        let all = [
            ("Box<Node>", Holder::Box),
            ("Box<str>", Holder::Text),
            ("String", Holder::Text),
            ("Vec<u8>", Holder::Sequence),
            ("Rc<Node>", Holder::Counted),
            ("Box<[u64]>", Holder::Sequence),
            ("Box<[u64; 4]>", Holder::Box),
            ("Box<[[u8; 2]]>", Holder::Sequence),
            ("HashMap<u8, u8>", Holder::Table),
            ("BTreeMap<u8, u8>", Holder::Other),
            ("", Holder::Other),
        ];
        for (content, expected) in all {
            assert_eq!(holder(content), expected, "{content}");
        }
    }

    #[test]
    fn a_dropped_enum_names_the_only_box_of_the_size() {
        let mut types: Vec<Type> = Vec::new();
        let mut add = |path: &str, size: u64, kind: Kind| {
            let name = path.replace("app::", "");
            let (name, path, krate) = (name.into(), path.into(), "app".into());
            let (params, source) = (Vec::new(), None);
            let (own, public, unit) = (true, false, 0);
            types.push(Type { name, path, size, align: 8, kind, params, source, krate, own, public, unit });
            TypeId(u32::try_from(types.len()).unwrap() - 1)
        };
        let field = |ty| Field { name: "0".into(), ty, offset: 0, line: None };
        let variant = |ty| Variant { name: "A".into(), discriminants: Vec::new(), fields: vec![field(ty)] };
        let node = add("app::Node", 40, Kind::Primitive);
        let other = add("app::Other", 40, Kind::Primitive);
        let pointer = |to| Kind::Pointer { pointee: Some(to) };
        let to_node = add("*const app::Node", 8, pointer(node));
        let to_other = add("*const app::Other", 8, pointer(other));
        let borrowed = add("&app::Other", 8, pointer(other));
        let of_std = add("core::ptr::non_null::NonNull<app::Node>", 8, Kind::Struct(vec![field(to_node)]));
        let buffer = add("alloc::vec::Vec<app::Other>", 24, Kind::Struct(vec![field(to_other)]));
        let list =
            |types: &[TypeId]| Kind::Enum(Enum { tag: None, variants: types.iter().copied().map(variant).collect() });
        let only = add("app::Only", 32, list(&[of_std, to_node, borrowed, buffer]));
        let both = add("app::Both", 16, list(&[of_std, to_other]));
        let program = Program { types, ..Program::default() };
        let content = |ty, size| owned_box(ty, size, &program).map(|origin| origin.content);
        assert_eq!(content(only, 40).as_deref(), Some("Box<Node>"));
        assert_eq!(content(only, 48), None, "a block of another size");
        assert_eq!(content(both, 40), None, "two types have the size");
        assert_eq!(content(buffer, 40), None, "a buffer of one element is no box");
    }

    #[test]
    fn a_vector_is_no_box_of_an_array() {
        assert_eq!(literal("Box<[Vec<u8>; 2]>").as_deref(), Some("Vec<Vec<u8>>"));
        assert_eq!((literal("Box<[u8]>"), literal("Box<Node>")), (None, None));
        let frame = |path: &str| Frame {
            path: path.into(),
            implementor: None,
            params: Vec::new(),
            source: None,
            locals: Vec::new(),
        };
        let (of_vector, own) = (frame("alloc::raw_vec::{impl#3}::drop"), frame("app::main"));
        assert!(frees_vector(&[Ok(&of_vector), Ok(&own)]) && !frees_vector(&[Ok(&own), Ok(&of_vector)]));
    }

    #[test]
    fn modules_are_left_out_of_types() {
        assert_eq!(short("alloc::vec::Vec<app::Node, alloc::alloc::Global>"), "Vec<Node, Global>");
        assert_eq!(short("(app::A, u8)"), "(A, u8)");
    }
}
