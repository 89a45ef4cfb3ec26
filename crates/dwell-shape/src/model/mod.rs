//! Builds Rust types from a schema and a choice for each position, and predicts the heap memory of the documents in
//! them.

mod build;
mod choices;
mod defs;
mod heap;
mod trial;

pub use choices::{Choice, Choices, Split};
pub use defs::{At, Def, Part, Presence, Source};
/// Live bytes, as requested from the allocator, and live allocations.
pub use dwell_model::Sum as Heap;
pub use trial::Trial;

use crate::positions::{Position, PositionId, Positions, ROOT};
use crate::schema::{Kind, Lengths, RecordId, Text};
use crate::types::{Body, DefId, Type};
use dwell_model::blocks;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// The heap blocks that the values of one position own.
#[derive(Debug, Clone)]
enum Owned<'s> {
    /// Strings, one block for each that is not empty. If `true`, they are thin and store the length in the block.
    Text(&'s Text, bool),
    /// Blocks whose sum is known.
    Known(Heap),
    /// A number of boxes, and the type in them.
    Boxes(u64, Type),
    /// Vectors that grew by `push`. The last field is the share that serde read from a buffer, with a known length.
    Vecs(&'s Lengths, Type, f64),
    /// Boxed slices. If `true`, they are thin and have a header.
    Slices(&'s Lengths, Type, bool),
    /// Hash maps with entries of this type.
    HashMaps(&'s Lengths, Type),
}

/// Enums of mixed types that are equal, and so are written once.
#[derive(Debug, Default)]
struct Aliases {
    /// The enum that is written instead of each duplicate.
    of: BTreeMap<DefId, DefId>,
    /// The first enum with each name; others with the name represent their values differently.
    firsts: BTreeMap<String, DefId>,
}

/// Rust types for a schema, and the heap memory of all documents in them.
#[derive(Debug)]
pub struct Model<'p, 's> {
    positions: &'p Positions<'s>,
    choices: Cow<'p, Choices>,
    /// Whether these are the naive types.
    is_naive: bool,
    /// The structs and enums, in the order in which a document leads to them.
    pub defs: Vec<Def>,
    /// The types of the fields or variants of each definition.
    pub bodies: Vec<Body>,
    /// The type of a document.
    pub root: Type,
    ids: BTreeMap<(u8, usize, usize), DefId>,
    buffered: Vec<f64>,
    own: Vec<(At, Owned<'s>)>,
    aliases: OnceCell<Aliases>,
}

fn key(source: Source) -> (u8, usize, usize) {
    match source {
        Source::Record(id) => (0, id, 0),
        Source::Group(id, group) => (1, id, group),
        Source::Union(id) => (2, id, 0),
        Source::Keywords(id) => (3, id, 0),
        Source::Mixed(position) => (4, position, 0),
    }
}

impl<'p, 's> Model<'p, 's> {
    /// Builds the types of `choices`.
    pub fn new(positions: &'p Positions<'s>, choices: &'p Choices) -> Self {
        Self::with(positions, Cow::Borrowed(choices))
    }

    /// Builds the types of `choices`, which may be owned by the model.
    pub fn with(positions: &'p Positions<'s>, choices: Cow<'p, Choices>) -> Self {
        let is_naive = choices.is_naive();
        Self::build(positions, choices, is_naive)
    }

    fn build(positions: &'p Positions<'s>, choices: Cow<'p, Choices>, is_naive: bool) -> Self {
        let mut model = Self {
            positions,
            is_naive,
            choices,
            defs: Vec::new(),
            bodies: Vec::new(),
            root: Type::Unit,
            ids: BTreeMap::new(),
            buffered: Vec::new(),
            own: Vec::new(),
            aliases: OnceCell::new(),
        };
        // Only containers that grow by `push` need the shares.
        let grows = |(position, choice): (&Position<'_>, &Choice)| {
            *choice == Choice::Plain && matches!(position.slot.kind, Kind::Seq(_))
        };
        if positions.list.iter().zip(&model.choices.at).any(grows) {
            model.buffered = model.buffered_shares();
        }
        model.root = model.position(ROOT).0;
        model.own.push((At::Documents, Owned::Boxes(1, Type::Unit)));
        model
    }

    /// Finds equal enums of mixed types.
    fn aliases(&self) -> Aliases {
        let mixes: Vec<(DefId, &str)> = (0..self.defs.len())
            .filter_map(|id| match self.defs[id].source {
                Source::Mixed(position) => Some((id, &*self.positions.list[position].name)),
                _ => None,
            })
            .collect();
        let mut found = Aliases::default();
        for &(id, name) in &mixes {
            found.firsts.entry(name.to_owned()).or_insert(id);
        }
        // An enum may contain others, so this repeats until nothing changes.
        loop {
            let (mut known, mut firsts) = (BTreeMap::new(), BTreeMap::new());
            for &(id, name) in &mixes {
                let Body::Enum(types) = &self.bodies[id] else { continue };
                let number = |id: DefId| found.of.get(&id).unwrap_or(&id).to_string();
                let types: Vec<String> =
                    types.iter().map(|ty| ty.as_ref().map_or_else(String::new, |ty| ty.rust(&number))).collect();
                let first = *known.entry((name, types)).or_insert(id);
                if first != id {
                    firsts.insert(id, first);
                }
            }
            if firsts == found.of {
                return found;
            }
            found.of = firsts;
        }
    }

    /// Returns the definition that is written for this one: itself, or an equal one.
    pub fn canonical(&self, id: DefId) -> DefId {
        *self.aliases.get_or_init(|| self.aliases()).of.get(&id).unwrap_or(&id)
    }

    /// Returns the struct or enum that is generated for `source`, if a document reaches it.
    pub fn find(&self, source: Source) -> Option<DefId> {
        self.ids.get(&key(source)).copied()
    }

    /// Returns the choices that the types were built from.
    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// Returns whether these are the naive types.
    pub fn is_naive(&self) -> bool {
        self.is_naive
    }

    /// Returns the positions of the model.
    pub fn positions(&self) -> &'p Positions<'s> {
        self.positions
    }

    /// Returns the type of a field's position as Rust source; `?` if no document reaches the position.
    pub fn type_at(&self, id: PositionId) -> String {
        for (def, body) in self.defs.iter().zip(&self.bodies) {
            let Body::Struct(types) = body else { continue };
            for (part, ty) in def.parts.iter().zip(types) {
                if matches!(part, Part::Position(position, _) if *position == id) {
                    return self.rust(ty);
                }
            }
        }
        "?".into()
    }

    /// Returns the name of a group of rare fields.
    pub fn group_name(&self, record: RecordId, group: usize) -> String {
        self.find(Source::Group(record, group)).map_or_else(String::new, |id| self.name(id))
    }

    /// Returns the name of a struct or enum.
    pub fn name(&self, id: DefId) -> String {
        let id = self.canonical(id);
        match self.defs[id].source {
            Source::Record(id) => self.positions.record_names[id].0.clone(),
            Source::Group(id, group) => {
                // A single group has no number in its name.
                let first = usize::from(self.choices.splits[&id].groups.len() == 1);
                self.positions.record_names[id].1[first + group].clone()
            }
            Source::Union(id) => self.positions.union_names[id].0.clone(),
            Source::Keywords(id) => self.positions.keywords_names[id].0.clone(),
            Source::Mixed(position) => {
                let position = &self.positions.list[position];
                let firsts = &self.aliases.get_or_init(|| self.aliases()).firsts;
                if firsts.get(&position.name) == Some(&id) { position.name.clone() } else { position.own_name.clone() }
            }
        }
    }

    /// Returns a type as Rust source.
    pub fn rust(&self, ty: &Type) -> String {
        ty.rust(&|id| self.name(id))
    }
}

/// Returns the bytes of the lengths that thin strings store in their blocks.
pub fn thin_lengths(text: &Text) -> u64 {
    blocks::thin_texts(text.count - text.empty, text.long)
}
