//! Where the values of a type live, from the program's types: in collections, channels and tasks, in boxes, or only in
//! variables.

use super::measure::Embedding;
use super::resize::Sizes;
use dwell_debuginfo::{Kind, Program, Type, TypeId};
use dwell_output::units::bytes;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// How many values of a type a program may have at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// Nothing in the program's types holds it: it is a variable, once or a few times.
    #[default]
    Once,
    /// Functions return it in an `Option` or a `Result`.
    Returned,
    /// It has heap allocations of its own: `Box`, `Rc`, `Arc`.
    Boxed,
    /// A future holds it.
    Future,
    /// It is in a spawned task.
    Task,
    /// It is an element of a collection or a channel.
    Many,
}

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
}

impl Holder {
    /// Formats the holder: `` `BTreeMap<Attribute, u8>` (11 slots a node, 15.4 kB) ``.
    pub fn text(&self) -> String {
        match (self.slots, self.node_bytes) {
            (Some(slots), Some(of)) => format!("`{}` ({slots} slots a node, {})", self.name, bytes(of)),
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
        Self { embedding: Embedding::new(program), holders: Holders::new(program) }
    }

    /// Returns `true` if values of a type have heap allocations of their own, or are in those of a collection.
    pub fn is_on_heap(&self, id: TypeId) -> bool {
        self.holders.is_on_heap(id)
    }

    /// Returns the rank of the holder of a type that may have the most values.
    pub fn rank(&self, program: &Program, id: TypeId) -> Rank {
        let all = self.holders.of(program, &self.embedding, id, &Sizes::new(program));
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

/// The slots in a node of a `BTreeMap`.
const BTREE_SLOTS: u64 = 11;
/// The slots in a block of tokio's channels.
const TOKIO_SLOTS: u64 = 32;
/// The number of types that are followed outwards from one type.
const FOLLOWED: usize = 400;

/// The holders of each type.
#[derive(Debug)]
pub(super) struct Holders {
    direct: HashMap<TypeId, Vec<(TypeId, Holder)>>,
}

impl Holders {
    pub(super) fn new(program: &Program) -> Self {
        let mut direct: HashMap<TypeId, Vec<(TypeId, Holder)>> = HashMap::new();
        for (id, ty) in program.types() {
            for (element, holder) in held(program, ty) {
                direct.entry(element).or_default().push((id, holder));
            }
        }
        Self { direct }
    }

    /// Returns `true` if values of a type have heap allocations of their own, or are in those of a collection.
    pub(super) fn is_on_heap(&self, id: TypeId) -> bool {
        self.direct.get(&id).is_some_and(|all| all.iter().any(|(_, of)| of.rank >= Rank::Boxed))
    }

    /// Returns `true` if a type is an element of a collection or the target of a `Box` by itself: so many values of it exist
    /// that an enum or struct which has it in one place is not the reason for its size.
    pub(super) fn is_general(&self, id: TypeId) -> bool {
        let is_own = |of: &Holder| of.rank == Rank::Many || of.rank == Rank::Boxed && of.name.starts_with("Box<");
        self.direct.get(&id).is_some_and(|all| all.iter().any(|(_, of)| is_own(of)))
    }

    /// Returns the holders of a type and of the types that contain it by value: those that may have the most values
    /// first, and of these the nearest.
    ///
    /// A part that `sizes` has in a box is no longer in the type around it.
    pub(super) fn of(&self, program: &Program, embedding: &Embedding, id: TypeId, sizes: &Sizes<'_>) -> Vec<Holder> {
        let mut found: Vec<(usize, Holder)> = Vec::new();
        let mut seen = HashSet::from([id]);
        let mut left = std::collections::VecDeque::from([(id, 0)]);
        while let Some((current, depth)) = left.pop_front() {
            let ty = program.get(current);
            // `main` runs once, and so does all that only it holds.
            if matches!(&ty.kind, Kind::Coroutine(of) if *of.function == *"main") {
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

/// Returns `true` for a type that holds its contents for a moment only, such as an iterator's adapter or `MaybeUninit`
/// in a buffer.
fn is_wrapper(ty: &Type) -> bool {
    ty.path.starts_with("core::iter::") || ty.path.starts_with("core::ops::range::")
}

/// Returns the `T` of `Pin<Box<T>>`; the type itself if it is another.
fn unboxed(program: &Program, id: TypeId) -> TypeId {
    let ty = program.get(id);
    let Kind::Struct(fields) = &ty.kind else { return id };
    let [only] = &fields[..] else { return id };
    match program.get(only.ty).kind {
        Kind::Pointer { pointee: Some(of) } if is(ty, "core::pin::Pin") => of,
        _ => id,
    }
}

/// Returns `true` if a type is an instance of the generic type `head`.
pub(super) fn is(ty: &Type, head: &str) -> bool {
    ty.path.strip_prefix(head).is_some_and(|rest| rest.starts_with('<'))
}

/// Returns the element types of a collection, channel, task or box.
fn held(program: &Program, ty: &Type) -> Vec<(TypeId, Holder)> {
    let holder = |rank| Holder { rank, name: ty.name.to_string(), slots: None, node_bytes: None };
    let head = ty.path.split('<').next().unwrap_or_default();
    let last = head.rsplit("::").next().unwrap_or_default();
    match &ty.kind {
        Kind::Array { element, count } if *count >= 4 => return vec![(*element, holder(Rank::Many))],
        Kind::Pointer { pointee: Some(of) } if head == "alloc::boxed::Box" => return vec![(*of, holder(Rank::Boxed))],
        Kind::WidePointer { pointee: Some(of), .. } if ty.path.starts_with("alloc::boxed::Box<[") => {
            return vec![(*of, holder(Rank::Many))];
        }
        _ => {}
    }
    if let Kind::Vtable(vtable) = &ty.kind {
        // `Box<dyn Future>`: the program makes such futures at run time, as many as it needs.
        let of = program.get(vtable.concrete);
        let rank = if matches!(of.kind, Kind::Coroutine(_)) { Rank::Task } else { Rank::Boxed };
        let name = format!("dyn {}", vtable.trait_name);
        return vec![(vtable.concrete, Holder { rank, name, slots: None, node_bytes: None })];
    }
    if ty.own || ty.params.is_empty() {
        return Vec::new();
    }
    if last == "Cell" && head.contains("::task::core::") || head.starts_with("async_task::raw::") {
        let named = |id: TypeId| Holder {
            rank: Rank::Task,
            name: program.get(id).name.to_string(),
            slots: None,
            node_bytes: None,
        };
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
        return Vec::new();
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
    one.node_bytes = slots.map(|slots| total.saturating_mul(slots));
    // `SmallVec<[T; 4]>` names an array.
    let element = |id: TypeId| match program.get(id).kind {
        Kind::Array { element, .. } if last == "SmallVec" => element,
        _ => id,
    };
    elements.into_iter().map(|id| (element(id), one.clone())).collect()
}
