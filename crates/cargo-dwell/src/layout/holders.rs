//! Where the values of a type live, from the program's types: in collections, channels and tasks, in boxes, or only in
//! variables.

use super::measure::Embedding;
use super::resize::{Sizes, variants};
use crate::rank::Rank;
use dwell_debuginfo::{Kind, Program, Type, TypeId};
use dwell_output::units::bytes;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// A type that holds values of another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Holder {
    /// The kind of the holder.
    pub rank: Rank,
    /// The short name: `Vec<Event>`.
    pub name: String,
    /// The number of slots in a node or block, for collections that allocate several at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<u64>,
    /// The bytes of such a node or block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_bytes: Option<u64>,
    /// Whether values only pass through it: a channel or a queue.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_queue: bool,
}

impl Holder {
    /// Formats the holder: `` `BTreeMap<Attribute, u8>` (11 slots a node, 15.4 kB) ``.
    pub fn text(&self) -> String {
        match (self.slots, self.node_bytes) {
            (Some(slots), Some(size)) => format!("`{}` ({slots} slots a node, {})", self.name, bytes(size)),
            _ => format!("`{}`", self.name),
        }
    }
}

/// The places of values, for other commands.
#[derive(Debug)]
pub struct Places {
    embedding: Embedding,
    holders: Holders,
}

impl Places {
    /// Finds the holders of all types.
    pub fn new(program: &Program) -> Self {
        let embedding = Embedding::new(program);
        Self { holders: Holders::new(program, &embedding), embedding }
    }

    /// Returns `true` if values of a type have heap allocations of their own, or are in those of a collection.
    pub fn is_on_heap(&self, id: TypeId) -> bool {
        self.holders.is_on_heap(id)
    }

    /// Returns the rank of the holder of a type that may have the most values.
    pub fn rank(&self, program: &Program, id: TypeId) -> Rank {
        let all = self.holders.around(program, &self.embedding, id, &Sizes::new(program));
        all.first().map_or(Rank::Once, |holder| holder.rank)
    }
}

/// The collections, by the last part of their path. All of their type arguments are elements.
const COLLECTIONS: [&str; 26] = [
    "Vec",
    "VecDeque",
    "BinaryHeap",
    "LinkedList",
    "BTreeMap",
    "BTreeSet",
    "HashMap",
    "HashSet",
    "IndexMap",
    "IndexSet",
    "SmallVec",
    "ArrayVec",
    "TinyVec",
    "ThinVec",
    "Slab",
    "SlotMap",
    "DenseSlotMap",
    "DashMap",
    "DashSet",
    "Arena",
    "PriorityQueue",
    "LruCache",
    "OrdMap",
    "FuturesUnordered",
    "SegQueue",
    "ArrayQueue",
];

/// The ends of channels, by the last part of their path.
const CHANNELS: [&str; 6] = ["Sender", "Receiver", "SyncSender", "UnboundedSender", "UnboundedReceiver", "Injector"];

/// The collections and channels through which values pass, by the last part of their path.
const QUEUES: [&str; 9] = [
    "VecDeque",
    "SegQueue",
    "ArrayQueue",
    "Sender",
    "Receiver",
    "SyncSender",
    "UnboundedSender",
    "UnboundedReceiver",
    "Injector",
];

/// Parts of names of types that refer to a container's values, or have one for a moment.
const VIEWS: [&str; 12] =
    ["Iter", "Drain", "Guard", "Ref", "Entry", "Handle", "Weak", "Cursor", "Keys", "Values", "View", "Shared"];

/// The slots in a node of a `BTreeMap`.
const BTREE_SLOTS: u64 = 11;
/// The slots in a block of tokio's channels.
const TOKIO_SLOTS: u64 = 32;
/// The number of types around a value that are looked through: `Option<(u32, Mutex<T>)>` has three.
const WRAPPED: u32 = 4;
/// The number of types that are followed outwards from one type.
const FOLLOWED: usize = 400;

/// The holders of each type.
#[derive(Debug)]
pub(super) struct Holders {
    direct: HashMap<TypeId, Vec<(TypeId, Holder)>>,
    /// The errors of `Result`s, with the largest part of such a `Result` that is not the error.
    errors: HashMap<TypeId, u64>,
    /// The types whose values are many by themselves, or in an `Option`, a tuple or a lock.
    general: HashSet<TypeId>,
}

impl Holders {
    pub(super) fn new(program: &Program, embedding: &Embedding) -> Self {
        let mut direct: HashMap<TypeId, Vec<(TypeId, Holder)>> = HashMap::new();
        let mut errors: HashMap<TypeId, u64> = HashMap::new();
        for (id, ty) in program.types() {
            for (element, holder) in held(program, ty) {
                direct.entry(element).or_default().push((id, holder));
            }
            if let Some((ok, error)) = result(ty).filter(|(ok, error)| ok != error) {
                let least = errors.entry(error).or_insert(u64::MAX);
                *least = (*least).min(program.size_of(ok));
            }
        }
        for (id, holder) in nodes(program, embedding, &direct) {
            direct.entry(id).or_default().push(holder);
        }
        let is_own = |holder: &Holder| {
            holder.rank == Rank::Many || holder.rank == Rank::Boxed && holder.name.starts_with("Box<")
        };
        let many = direct.iter().filter(|(id, all)| {
            let own = all.iter().filter(|(_, holder)| is_own(holder));
            let places: Vec<Holding> = own.map(|(holder, _)| holding(program, embedding, *holder, **id)).collect();
            places.contains(&Holding::Elsewhere) || !places.is_empty() && !places.contains(&Holding::Itself)
        });
        let mut general: HashSet<TypeId> = HashSet::new();
        let mut left: Vec<(TypeId, u32)> = many.map(|(id, _)| (*id, 0)).collect();
        while let Some((id, depth)) = left.pop() {
            let ty = program.get(id);
            if !general.insert(id) || depth > WRAPPED || !is_transparent(ty) {
                continue;
            }
            let inner = variants(ty).into_iter().flatten().map(|field| (field.ty, depth + 1));
            left.extend(inner);
        }
        Self { direct, errors, general }
    }

    /// Returns `true` if values of a type have heap allocations of their own, or are in those of a collection.
    pub(super) fn is_on_heap(&self, id: TypeId) -> bool {
        self.direct.get(&id).is_some_and(|all| all.iter().any(|(_, holder)| holder.rank >= Rank::Boxed))
    }

    /// Returns `true` if a type is an element of a collection or the target of a `Box`, by itself or in an `Option`, a tuple or a lock:
    /// so many values of it exist that an enum or struct which has it in one place is not the reason for its size. An
    /// array, a tuple or a type of std is no such type: others like it mean something else.
    pub(super) fn is_general(&self, program: &Program, id: TypeId) -> bool {
        let ty = program.get(id);
        matches!(ty.kind, Kind::Struct(_) | Kind::Enum(_) | Kind::Union(_))
            && !ty.path.starts_with('(')
            && !matches!(&*ty.krate, "core" | "alloc" | "std")
            && self.general.contains(&id)
    }

    /// Returns the least size of what a `Result` has instead of this error; `None` for a type that is no error.
    pub(super) fn beside_error(&self, id: TypeId) -> Option<u64> {
        self.errors.get(&id).copied()
    }

    /// Returns the holders of a type and of the types that contain it by value: those that may have the most values
    /// first, and of these the nearest.
    ///
    /// A part that `sizes` has in a box is no longer in the type around it.
    pub(super) fn around(
        &self,
        program: &Program,
        embedding: &Embedding,
        id: TypeId,
        sizes: &Sizes<'_>,
    ) -> Vec<Holder> {
        let mut found: Vec<(usize, Holder)> = Vec::new();
        let mut seen = HashSet::from([id]);
        let mut left = std::collections::VecDeque::from([(id, 0)]);
        while let Some((current, depth)) = left.pop_front() {
            let ty = program.get(current);
            // `main` runs once, and so does all that only it holds.
            if matches!(&ty.kind, Kind::Coroutine(coroutine) if *coroutine.function == *"main") {
                continue;
            }
            found.extend(self.direct.get(&current).into_iter().flatten().map(|(_, holder)| (depth, holder.clone())));
            if let Kind::Coroutine(_) = &ty.kind
                && current != id
            {
                let name = ty.name.to_string();
                found.push((depth, Holder { rank: Rank::Future, name, ..Holder::default() }));
            }
            if depth > 0 && (is(ty, "core::option::Option") || is(ty, "core::result::Result")) {
                let name = ty.name.to_string();
                found.push((depth, Holder { rank: Rank::Returned, name, ..Holder::default() }));
            }
            for outer in embedding.inside(current) {
                let is_part = !is_wrapper(program.get(*outer)) && sizes.is_inline(current, *outer);
                if seen.len() < FOLLOWED && is_part && seen.insert(*outer) {
                    left.push_back((*outer, depth + 1));
                }
            }
        }
        found.sort_by(|(a_depth, a), (b_depth, b)| b.rank.cmp(&a.rank).then(a_depth.cmp(b_depth)));
        let mut names = HashSet::new();
        found.retain(|(_, holder)| names.insert((holder.rank, holder.name.clone())));
        found.into_iter().map(|(_, holder)| holder).collect()
    }
}

/// Returns the types whose values are the nodes of a tree or graph, with the collection of pointers to others that each has:
/// as many of them as are boxed or counted.
fn nodes(
    program: &Program,
    embedding: &Embedding,
    direct: &HashMap<TypeId, Vec<(TypeId, Holder)>>,
) -> Vec<(TypeId, (TypeId, Holder))> {
    let mut found = Vec::new();
    for (id, ty) in program.types() {
        let head = ty.path.split('<').next().unwrap_or_default();
        if !matches!(head, "alloc::boxed::Box" | "alloc::rc::Rc" | "alloc::sync::Arc") {
            continue;
        }
        let Some(target) = ty.params.first().map(|param| param.ty) else { continue };
        let lists =
            direct.get(&id).into_iter().flatten().filter(|(_, holder)| holder.rank == Rank::Many && !holder.is_queue);
        let inside = |list: TypeId| holds(program, embedding, target, list);
        found.extend(lists.filter(|(list, _)| inside(*list)).map(|list| (target, list.clone())));
    }
    found
}

/// Returns `true` if a value of `outer` has one of `inner` in it.
fn holds(program: &Program, embedding: &Embedding, outer: TypeId, inner: TypeId) -> bool {
    let most = program.size_of(outer);
    let mut seen = HashSet::from([inner]);
    let mut left = vec![inner];
    while let Some(current) = left.pop() {
        for next in embedding.inside(current).iter().filter(|next| program.size_of(**next) <= most) {
            if *next == outer {
                return true;
            }
            if seen.len() < FOLLOWED && seen.insert(*next) {
                left.push(*next);
            }
        }
    }
    false
}

/// Where a collection or box of a type's values is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holding {
    /// In another type of the workspace.
    Elsewhere,
    /// In the type itself, which contains itself.
    Itself,
    /// In variables.
    Variables,
}

/// Returns where the collection or box `holder` of values of `id` is.
fn holding(program: &Program, embedding: &Embedding, holder: TypeId, id: TypeId) -> Holding {
    let mut seen = HashSet::from([holder]);
    let mut left = vec![holder];
    let mut found = Holding::Variables;
    while let Some(current) = left.pop() {
        for outer in embedding.inside(current) {
            if *outer == id {
                found = Holding::Itself;
            } else if program.get(*outer).own || seen.len() > FOLLOWED {
                return Holding::Elsewhere;
            } else if seen.insert(*outer) {
                left.push(*outer);
            }
        }
    }
    found
}

/// Returns `true` for a type that holds its contents for a moment only, such as an iterator's adapter or `MaybeUninit`
/// in a buffer.
fn is_wrapper(ty: &Type) -> bool {
    ty.path.starts_with("core::iter::") || ty.path.starts_with("core::ops::range::")
}

/// Returns the types of `Ok` and `Err` of a `Result`. rustc gives its parameters to the variants only.
fn result(ty: &Type) -> Option<(TypeId, TypeId)> {
    let Kind::Enum(def) = &ty.kind else { return None };
    let variant =
        |name: &str| def.variants.iter().find(|variant| *variant.name == *name)?.fields.first().map(|field| field.ty);
    if is(ty, "core::result::Result") { variant("Ok").zip(variant("Err")) } else { None }
}

/// Returns `true` for a type of std that has a value and says no more about it: `Option`, a tuple, a lock.
fn is_transparent(ty: &Type) -> bool {
    let head = ty.path.split('<').next().unwrap_or_default();
    let wrappers = [
        "core::option::Option",
        "core::cell::Cell",
        "core::cell::RefCell",
        "core::cell::UnsafeCell",
        "core::cmp::Reverse",
        "core::mem::manually_drop::ManuallyDrop",
        "core::num::wrapping::Wrapping",
    ];
    ty.path.starts_with('(')
        || wrappers.contains(&head)
        || head.starts_with("std::sync::") && ["Mutex", "RwLock", "OnceLock"].iter().any(|lock| head.ends_with(lock))
}

/// Returns the values that the memory of another crate's container has: what its raw pointers point at has them inside.
fn behind_pointers(program: &Program, ty: &Type) -> Vec<TypeId> {
    let head = ty.path.split('<').next().unwrap_or_default();
    let last = head.rsplit("::").next().unwrap_or_default();
    let is_std = matches!(&*ty.krate, "" | "core" | "alloc" | "std");
    if ty.own || is_std || ty.params.is_empty() || VIEWS.iter().any(|view| last.contains(view)) {
        return Vec::new();
    }
    // A pointer that owns what it points at is in the struct itself, or in one of the same crate or of `core::ptr` in it.
    let mut targets = Vec::new();
    let mut left: Vec<(TypeId, u32)> = variants(ty).into_iter().flatten().map(|field| (field.ty, 0)).collect();
    while let Some((id, depth)) = left.pop() {
        let inner = program.get(id);
        match &inner.kind {
            Kind::Pointer { pointee: Some(pointee) } if inner.path.starts_with('*') => targets.push(*pointee),
            Kind::Struct(fields)
                if depth < WRAPPED && (inner.krate == ty.krate || inner.path.starts_with("core::ptr::")) =>
            {
                left.extend(fields.iter().map(|field| (field.ty, depth + 1)));
            }
            _ => {}
        }
    }
    let has = |param: TypeId| {
        let mut left: Vec<(TypeId, u32)> = targets.iter().map(|id| (*id, 0)).collect();
        while let Some((id, depth)) = left.pop() {
            if id == param {
                return true;
            }
            if depth <= WRAPPED && program.size_of(id) >= program.size_of(param) {
                let inner = program.get(id);
                left.extend(variants(inner).into_iter().flatten().map(|field| (field.ty, depth + 1)));
                if let Kind::Array { element, .. } = inner.kind {
                    left.push((element, depth + 1));
                }
                if let Kind::Union(fields) = &inner.kind {
                    left.extend(fields.iter().map(|field| (field.ty, depth + 1)));
                }
            }
        }
        false
    };
    let is_inside = |param: TypeId| variants(ty).into_iter().flatten().any(|field| field.ty == param);
    let params = ty.params.iter().map(|param| param.ty).filter(|id| program.size_of(*id) > 0);
    params.filter(|id| !is_inside(*id) && has(*id)).collect()
}

/// Returns the `T` of `Pin<Box<T>>`; the type itself if it is another.
fn unboxed(program: &Program, id: TypeId) -> TypeId {
    let ty = program.get(id);
    let Kind::Struct(fields) = &ty.kind else { return id };
    let [only] = &fields[..] else { return id };
    match program.get(only.ty).kind {
        Kind::Pointer { pointee: Some(pointee) } if is(ty, "core::pin::Pin") => pointee,
        _ => id,
    }
}

/// Returns `true` if a type is an instance of the generic type `head`.
pub(super) fn is(ty: &Type, head: &str) -> bool {
    ty.path.strip_prefix(head).is_some_and(|rest| rest.starts_with('<'))
}

/// Returns the element types of a collection, channel, task or box.
fn held(program: &Program, ty: &Type) -> Vec<(TypeId, Holder)> {
    let holder = |rank| Holder { rank, name: ty.name.to_string(), ..Holder::default() };
    let head = ty.path.split('<').next().unwrap_or_default();
    let last = head.rsplit("::").next().unwrap_or_default();
    match &ty.kind {
        Kind::Array { element, count } if *count >= 4 => return vec![(*element, holder(Rank::Many))],
        Kind::Pointer { pointee: Some(pointee) } if head == "alloc::boxed::Box" => {
            return vec![(*pointee, holder(Rank::Boxed))];
        }
        Kind::WidePointer { pointee: Some(pointee), .. } if ty.path.starts_with("alloc::boxed::Box<[") => {
            return vec![(*pointee, holder(Rank::Many))];
        }
        _ => {}
    }
    if let Kind::Vtable(vtable) = &ty.kind {
        // `Box<dyn Future>`: the program makes such futures at run time, as many as it needs.
        let concrete = program.get(vtable.concrete);
        let rank = if matches!(concrete.kind, Kind::Coroutine(_)) { Rank::Task } else { Rank::Boxed };
        let name = format!("dyn {}", vtable.trait_name);
        return vec![(vtable.concrete, Holder { rank, name, ..Holder::default() })];
    }
    if ty.own || ty.params.is_empty() {
        return Vec::new();
    }
    if last == "Cell" && head.contains("::task::core::") || head.starts_with("async_task::raw::") {
        let named =
            |id: TypeId| Holder { rank: Rank::Task, name: program.get(id).name.to_string(), ..Holder::default() };
        // tokio boxes large futures first.
        return ty
            .params
            .first()
            .map(|param| unboxed(program, param.ty))
            .map(|id| (id, named(id)))
            .into_iter()
            .collect();
    }
    if matches!(head, "alloc::sync::ArcInner" | "alloc::rc::RcInner" | "alloc::rc::RcBox") {
        return ty.params.iter().map(|param| (param.ty, holder(Rank::Boxed))).collect();
    }
    let is_channel = CHANNELS.contains(&last) && !head.contains("oneshot") && !head.contains("watch");
    if !is_channel && !COLLECTIONS.contains(&last) {
        return behind_pointers(program, ty).into_iter().map(|id| (id, holder(Rank::Many))).collect();
    }
    let elements = ty.params.iter().filter(|param| !matches!(&*param.name, "A" | "S" | "N"));
    let elements: Vec<TypeId> = elements.map(|param| param.ty).collect();
    let total = elements.iter().map(|id| program.size_of(*id)).fold(0, u64::saturating_add);
    let mut one = holder(Rank::Many);
    let slots = match last {
        "BTreeMap" | "BTreeSet" => Some(BTREE_SLOTS),
        _ if is_channel && head.starts_with("tokio::sync::mpsc") => Some(TOKIO_SLOTS),
        _ => None,
    };
    one.slots = slots;
    one.is_queue = QUEUES.contains(&last);
    one.node_bytes = slots.map(|slots| total.saturating_mul(slots));
    // `SmallVec<[T; 4]>` names an array.
    let element = |id: TypeId| match program.get(id).kind {
        Kind::Array { element, .. } if last == "SmallVec" => element,
        _ => id,
    };
    elements.into_iter().map(|id| (element(id), one.clone())).collect()
}
