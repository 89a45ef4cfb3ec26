//! A list of all positions of a schema with their Rust names; all later steps refer to it.

use super::infer::{common, joined, singular};
use super::names::{self, Scope};
use super::schema::{Kind, RecordId, Schema, Slot, UnionId};
use super::style::DOCUMENT;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// An index into [`Positions::list`].
pub type PositionId = usize;

/// A [`Slot`] and its location.
#[derive(Debug)]
pub struct Position<'s> {
    /// The counts of its values.
    pub slot: &'s Slot,
    /// The record that contains it, directly or through sequences and maps; `None` for positions outside of all
    /// records.
    pub owner: Option<RecordId>,
    /// The index of the owner's field, if this is the field itself and not an element in it.
    pub field: Option<usize>,
    /// Its JSON path: `$.shapes.*.traits`, `$.rules[]`.
    pub path: String,
    /// Inner positions: an element, a map's value, a tuple's positions, the alternatives of a mix of types.
    pub within: Vec<PositionId>,
    /// Whether serde reads it from a buffer, as part of an untagged enum.
    pub buffered: bool,
    /// The name of the enum, for a mix of types; equal mixes share it.
    pub name: String,
    /// A unique name, for a mix whose alternatives are represented differently from those of the positions that share
    /// `name`.
    pub own_name: String,
    /// Whether the type would contain itself here. Such a position has a box in every set of types.
    pub recursive: bool,
}

/// All positions of a schema, and all names.
#[derive(Debug)]
pub struct Positions<'s> {
    /// The schema.
    pub schema: &'s Schema,
    /// The positions; the first is that of a document.
    pub list: Vec<Position<'s>>,
    /// The positions whose values are records or unions.
    pub objects: Vec<PositionId>,
    /// The positions of each record's fields, in order.
    pub fields: Vec<Vec<PositionId>>,
    /// The fields' names in Rust.
    pub field_names: Vec<Vec<String>>,
    /// The names of the records, and of up to [`MAX_GROUPS`] groups of rare fields for each.
    pub record_names: Vec<(String, [String; MAX_GROUPS])>,
    /// The names of the unions and of their variants.
    pub union_names: Vec<(String, Vec<String>)>,
    /// The names of the keyword enums and of their variants.
    pub keywords_names: Vec<(String, Vec<String>)>,
    /// See [`Schema::unions_with_unit_other`].
    unions_with_unit_other: BTreeSet<UnionId>,
    /// The variants through which a union contains itself.
    pub recursive_variants: BTreeSet<(UnionId, usize)>,
}

/// The largest number of groups for the rare fields of one record.
pub const MAX_GROUPS: usize = 3;

/// The document's position.
pub const ROOT: PositionId = 0;

impl<'s> Positions<'s> {
    /// Lists and names the positions of `schema`.
    pub fn new(schema: &'s Schema) -> Self {
        let mut scope = Scope::types();
        // The document's type is always called `Document`: a struct, an enum, or an alias.
        let root = match schema.root.kind {
            Kind::Record { id, .. } if schema.root.nulls == 0 => Some(&schema.records[id].name),
            Kind::Union { id } if schema.root.nulls == 0 => Some(&schema.unions[id].name),
            _ => None,
        };
        let is_free = root.is_some_and(|name| name == DOCUMENT);
        let document = &*schema.style.root;
        let type_name = |name: &str| match name {
            name if name == document || name == DOCUMENT => "Entry".to_owned(),
            name => names::type_name(name),
        };
        scope.unique(document);
        if schema.style.borrow {
            for name in ["Cow", "Str"] {
                scope.unique(name);
            }
        }
        // The document's type has its name already.
        let mut unique = |name: &str| match name {
            DOCUMENT if is_free => document.to_owned(),
            name => scope.unique(&type_name(name)),
        };
        let record_names: Vec<String> = schema
            .records
            .iter()
            // No type is written for a variant.
            .map(|record| if record.is_variant { record.name.clone() } else { unique(&record.name) })
            .collect();
        let union_names = schema
            .unions
            .iter()
            .map(|union| (unique(&union.name), names::variants(union.variants.iter().map(|(tag, _)| tag.as_str()))));
        let union_names: Vec<_> = union_names.collect();
        let keywords_names = schema.keywords.iter().map(|keywords| {
            (
                scope.unique(&names::type_name(&keywords.name)),
                names::variants(keywords.values.keys().map(String::as_str)),
            )
        });
        let keywords_names = keywords_names.collect();
        let group_names = record_names.iter().zip(&schema.records).map(|(name, record)| {
            ["Uncommon", "Rare", "Rarest"]
                .map(|tier| if record.is_variant { String::new() } else { scope.unique(&format!("{name}{tier}")) })
        });
        let groups: Vec<_> = group_names.collect();
        let mut positions = Self {
            schema,
            list: Vec::new(),
            objects: Vec::new(),
            fields: Vec::new(),
            field_names: schema
                .records
                .iter()
                .map(|record| {
                    let key = |field: &'s super::schema::Field| if field.rest { "other" } else { &field.key };
                    names::fields(record.fields.iter().map(key))
                })
                .collect(),
            record_names: record_names.into_iter().zip(groups).collect(),
            union_names,
            keywords_names,
            unions_with_unit_other: schema.unions_with_unit_other(),
            recursive_variants: BTreeSet::new(),
        };
        let mut wanted = BTreeMap::new();
        let root =
            Where { owner: None, path: "$".into(), name: String::new(), parent: document.into(), buffered: false };
        positions.add(&schema.root, &root, None, &mut wanted);
        for (id, record) in schema.records.iter().enumerate() {
            let fields = record.fields.iter().enumerate().map(|(index, field)| {
                let field_name = &positions.field_names[id][index];
                let field_name = field_name.strip_prefix("r#").unwrap_or(field_name);
                let at = Where {
                    owner: Some(id),
                    path: if field.rest {
                        format!("{}.*", positions.record_path(id))
                    } else {
                        step(&positions.record_path(id), &field.key)
                    },
                    name: field_name.to_owned(),
                    parent: positions.record_names[id].0.clone(),
                    buffered: field.rest && record.fields.len() > 1,
                };
                positions.add(&field.slot, &at, Some(index), &mut wanted)
            });
            let fields = fields.collect();
            positions.fields.push(fields);
        }
        let is_object =
            |id: &PositionId| matches!(positions.list[*id].slot.kind, Kind::Record { .. } | Kind::Union { .. });
        positions.objects = (0..positions.list.len()).filter(is_object).collect();
        positions.name_mixes(&wanted, &mut scope);
        positions.find_recursion();
        positions
    }

    /// Gives each mix of types a name; equal mixes get the same.
    fn name_mixes(&mut self, wanted: &BTreeMap<PositionId, Vec<String>>, scope: &mut Scope) {
        let mut groups = BTreeMap::<String, Vec<PositionId>>::new();
        for &position in wanted.keys() {
            let mut outline = String::new();
            outline_of(&self.list[position].slot.kind, &mut outline);
            groups.entry(outline).or_default().push(position);
        }
        let mut groups: Vec<Vec<PositionId>> = groups.into_values().collect();
        groups.sort();
        for group in &groups {
            let first = &wanted[&group[0]];
            let bases: Vec<String> = group.iter().map(|position| wanted[position][0].clone()).collect();
            let is_one = bases.iter().all(|base| *base == bases[0]);
            // `Team` for `HomeTeam` and `AwayTeam`. Without a common word, the alternatives describe the type better
            // than one of the keys.
            let base = if is_one { None } else { common(&bases) };
            let of_types = first.iter().find(|_| !is_one).and(self.name_of_types(group[0]));
            let names: Vec<String> = base.into_iter().chain(of_types).chain(first.iter().cloned()).collect();
            let root = &self.schema.root;
            let is_document = group[0] == ROOT && root.nulls == 0 && !self.schema.is_open(root);
            let name = if is_document { self.schema.style.root.clone() } else { scope.choose(&names) };
            for &position in group {
                self.list[position].name.clone_from(&name);
            }
        }
        for &position in groups.iter().filter(|group| group.len() > 1).flatten() {
            self.list[position].own_name = scope.choose(&wanted[&position]);
        }
    }

    /// Returns a name of the alternatives: `TeamOrList`, for a team or a list of teams.
    fn name_of_types(&self, position: PositionId) -> Option<String> {
        let Kind::Mixed { alternatives } = &self.list[position].slot.kind else { return None };
        let is_record = |slot: &Slot| matches!(slot.kind, Kind::Record { .. } | Kind::Union { .. });
        let mut names = self.alternative_names(alternatives);
        // Objects first, since they describe the type best.
        let object = alternatives.iter().position(is_record)?;
        names.swap(0, object);
        (names.len() == 2).then(|| names.join("Or"))
    }

    fn add(
        &mut self,
        slot: &'s Slot,
        at: &Where,
        field: Option<usize>,
        wanted: &mut BTreeMap<PositionId, Vec<String>>,
    ) -> PositionId {
        let id = self.list.len();
        if let Kind::Mixed { alternatives } = &slot.kind {
            wanted.insert(id, self.mixed_names(at, alternatives));
        }
        self.list.push(Position {
            slot,
            owner: at.owner,
            field,
            path: at.path.clone(),
            within: Vec::new(),
            buffered: at.buffered,
            name: String::new(),
            own_name: String::new(),
            recursive: false,
        });
        let within = match &slot.kind {
            Kind::Seq(seq) => vec![self.add(&seq.element, &at.within("[]"), None, wanted)],
            Kind::Map(map) => vec![self.add(&map.value, &at.within(".*"), None, wanted)],
            Kind::Tuple { positions } => (0..)
                .zip(positions)
                .map(|(index, slot)| self.add(slot, &at.within(&format!("[{index}]")), None, wanted))
                .collect(),
            Kind::Mixed { alternatives } => {
                let at = Where { buffered: true, ..at.clone() };
                alternatives.iter().map(|slot| self.add(slot, &at, None, wanted)).collect()
            }
            _ => Vec::new(),
        };
        self.list[id].within = within;
        id
    }

    /// Returns candidate names for a mix of types, best first.
    fn mixed_names(&self, at: &Where, alternatives: &[Slot]) -> Vec<String> {
        let name = match names::camel(&at.name) {
            name if name.is_empty() => at.parent.clone(),
            _ => names::type_name(&at.name),
        };
        let mut wanted = vec![name.clone()];
        if alternatives.len() == 2 {
            // The alternative with the name of the key comes first.
            let mut both = self.alternative_names(alternatives);
            both.sort_by_key(|alternative| *alternative != name);
            if both[0] == name {
                wanted.push(both.join("Or"));
            }
        }
        let inner = joined(&at.parent, &name);
        wanted.push(if name.ends_with("Value") { inner.clone() } else { format!("{name}Value") });
        wanted.push(inner);
        let inner = joined(&at.parent, &name);
        wanted.push(if inner.ends_with("Value") { format!("Any{inner}") } else { format!("{inner}Value") });
        // If these names are taken, the name includes the alternatives, such as `TextOrList`.
        let types = self.alternative_names(alternatives).join("Or");
        wanted.push(format!("{name}{types}"));
        wanted.push(format!("{}{types}", at.parent));
        wanted.push(format!("Inner{name}{types}"));
        wanted
    }

    /// Returns variant names for the alternatives of a mix of types.
    pub fn alternative_names(&self, alternatives: &[Slot]) -> Vec<String> {
        let mut scope = Scope::default();
        let name = |slot: &Slot| match &slot.kind {
            Kind::Never => "Null",
            Kind::Bool { .. } => "Bool",
            Kind::Integer { .. } => "Integer",
            Kind::Float { .. } => "Number",
            Kind::Text(_) => "Text",
            Kind::Keyword { id, .. } => &self.keywords_names[*id].0,
            Kind::Record { id, .. } => &self.record_names[*id].0,
            Kind::Union { id } => &self.union_names[*id].0,
            Kind::Map(_) => "Map",
            Kind::Seq(_) => "List",
            Kind::Tuple { .. } => "Tuple",
            Kind::Mixed { .. } => "Mixed",
            Kind::Any(_) => "Any",
        };
        alternatives.iter().map(|slot| scope.unique(name(slot))).collect()
    }

    /// Returns the JSON path of the most frequent position of a record.
    pub fn record_path(&self, record: RecordId) -> String {
        self.schema.records[record].paths.first().cloned().unwrap_or_else(|| "$".into())
    }

    /// Returns the number of slots of a position if nothing is boxed and no container has spare capacity.
    pub fn slots(&self, id: PositionId) -> u64 {
        let position = &self.list[id];
        match (position.owner, position.field) {
            (Some(owner), Some(_)) => self.schema.records[owner].instances,
            _ => position.slot.count,
        }
    }

    /// Returns the number of instances of the record that lack a field; 0 for an element.
    pub fn missing(&self, id: PositionId) -> u64 {
        self.slots(id) - self.list[id].slot.count
    }

    /// Returns whether a field's key may be missing.
    pub fn is_optional(&self, id: PositionId) -> bool {
        match (self.list[id].owner, self.list[id].field) {
            (Some(owner), Some(field)) => {
                let record = &self.schema.records[owner];
                self.schema.is_optional(record, &record.fields[field])
            }
            _ => false,
        }
    }

    /// Returns the number of values other than `null`.
    pub fn full(&self, id: PositionId) -> u64 {
        let slot = self.list[id].slot;
        slot.count - slot.nulls
    }

    /// Returns whether every field of a record may be missing, so that its default is the empty value.
    pub fn all_optional(&self, record: RecordId) -> bool {
        self.fields[record].iter().all(|&field| self.missing(field) > 0)
    }

    /// Returns whether a union's variant for unknown tags holds no value.
    pub fn has_unit_other(&self, union: UnionId) -> bool {
        self.unions_with_unit_other.contains(&union)
    }

    /// Returns the number of instances of a record that have at least one of `fields`, and whether it is exact.
    pub fn any_of(&self, record: RecordId, fields: &[usize]) -> (u64, bool) {
        let record = &self.schema.records[record];
        if record.key_sets.is_empty() {
            let sum: u64 = fields.iter().map(|&field| record.fields[field].slot.count).sum();
            return (sum.min(record.instances), fields.len() < 2);
        }
        let has_any = |set: &[usize]| fields.iter().any(|field| set.binary_search(field).is_ok());
        (record.key_sets.iter().filter(|(set, _)| has_any(set)).map(|(_, count)| count).sum(), true)
    }

    /// Finds the positions and variants at which a type would contain itself.
    fn find_recursion(&mut self) {
        let mut search = Search { positions: self, state: BTreeMap::new(), at: Vec::new(), variants: Vec::new() };
        search.position(ROOT);
        for id in 0..self.schema.records.len() {
            search.named(Named::Record(id));
        }
        for id in 0..self.schema.unions.len() {
            search.named(Named::Union(id));
        }
        let Search { at, variants, .. } = search;
        for id in at {
            self.list[id].recursive = true;
        }
        self.recursive_variants.extend(variants);
    }
}

/// Appends a short description of a kind, which is equal for equal types.
fn outline_of(kind: &Kind, out: &mut String) {
    let mut list = |open: &str, slots: &[Slot]| {
        out.push_str(open);
        for slot in slots {
            outline_of(&slot.kind, out);
            out.push_str(if slot.nulls > 0 { "?," } else { "," });
        }
        out.push(']');
    };
    match kind {
        Kind::Never => out.push('n'),
        Kind::Bool { .. } => out.push('b'),
        Kind::Integer { .. } => out.push('i'),
        Kind::Float { .. } => out.push('f'),
        Kind::Text(_) => out.push('t'),
        Kind::Any(_) => out.push('a'),
        // Writing to a string does not fail.
        Kind::Keyword { id, .. } => drop(write!(out, "k{id}")),
        Kind::Record { id, .. } => drop(write!(out, "r{id}")),
        Kind::Union { id } => drop(write!(out, "u{id}")),
        Kind::Seq(seq) => list("[", std::slice::from_ref(&seq.element)),
        Kind::Map(map) => list("{", std::slice::from_ref(&map.value)),
        Kind::Tuple { positions } => list("(", positions),
        Kind::Mixed { alternatives } => list("m", alternatives),
    }
}

/// Returns the JSON path of a key below `path`.
fn step(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { format!("{path}.{key}") } else { format!("{path}[{key:?}]") }
}

/// The context that inner positions inherit.
#[derive(Clone)]
struct Where {
    owner: Option<RecordId>,
    path: String,
    /// The nearest key, in the singular inside sequences and maps.
    name: String,
    /// The name of the enclosing record.
    parent: String,
    buffered: bool,
}

impl Where {
    fn within(&self, path: &str) -> Self {
        Self { path: format!("{}{path}", self.path), name: singular(&self.name), ..self.clone() }
    }
}

/// A depth-first search for back edges in the graph of types that contain each other without a pointer.
struct Search<'p, 's> {
    positions: &'p Positions<'s>,
    /// Visited records and unions; `true` while they are on the search path.
    state: BTreeMap<Named, bool>,
    at: Vec<PositionId>,
    variants: Vec<(UnionId, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Record(RecordId),
    Union(UnionId),
}

impl Search<'_, '_> {
    fn position(&mut self, id: PositionId) {
        let position = &self.positions.list[id];
        let named = match position.slot.kind {
            Kind::Record { id, .. } => Named::Record(id),
            Kind::Union { id } => Named::Union(id),
            // The elements are behind a pointer.
            Kind::Seq(_) | Kind::Map(_) => return,
            _ => {
                position.within.iter().for_each(|&within| self.position(within));
                return;
            }
        };
        if !self.named(named) {
            self.at.push(id);
        }
    }

    /// Visits a record or union. Returns whether the types on the search path can store it inline.
    fn named(&mut self, named: Named) -> bool {
        if let Some(&active) = self.state.get(&named) {
            return !active;
        }
        self.state.insert(named, true);
        match named {
            Named::Record(id) => {
                let positions = self.positions;
                positions.fields[id].iter().for_each(|&field| self.position(field));
            }
            Named::Union(id) => {
                for (index, &(_, record)) in self.positions.schema.unions[id].variants.iter().enumerate() {
                    if !self.named(Named::Record(record)) {
                        self.variants.push((id, index));
                    }
                }
            }
        }
        self.state.insert(named, false);
        true
    }
}
