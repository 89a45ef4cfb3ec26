//! Builds a [`Schema`] from accumulators.

mod enums;

use super::arena::{Arena, Node, NodeId, ObjectId};
use super::names::{Names, common, last_word, singular, type_name};
use super::study::has_markers;
use super::text::Texts;
use super::types::{Form, Types};
use crate::formats::Format;
use crate::names::is_part;
use crate::schema::{
    Field, Free, Keywords, Kind, Lengths, MOST_IN_F64, Map, Record, Schema, Seq, Slot, Tagging, Union,
};
use enums::{MAX_KEYWORDS, is_keyword, is_name};
use foldhash::{HashMap, HashMapExt, HashSet};
use std::collections::{BTreeMap, VecDeque};

/// The most paths that are listed for a record.
const MAX_PATHS: usize = 4;
/// Builds the schema.
pub(super) fn build<'a>(arena: &'a Arena, types: &Types<'a>) -> Schema {
    let mut builder = Builder::new(arena, types);
    let root = builder.slot(&[arena.root], &Path::default(), "");
    while let Some(work) = builder.queue.pop_front() {
        builder.define(work);
    }
    builder.finish(root)
}

/// The location of a position in the schema.
#[derive(Clone, Default)]
struct Path {
    text: String,
    /// The nearest key, in the singular inside sequences and maps.
    name: String,
    /// The enclosing record or union.
    parent: Option<Owner>,
}

#[derive(Clone, Copy)]
enum Owner {
    Record(usize),
    Union(usize),
}

impl Path {
    fn key(&self, key: &str, owner: Owner) -> Self {
        let text = format!("{}{}", self.text, crate::names::step(key));
        // A key without letters and digits gives no name.
        let name = if key.contains(is_part) { key.to_owned() } else { singular(&self.name) };
        Self { text, name, parent: Some(owner) }
    }

    fn below(&self, step: &str) -> Self {
        let name = if self.name.is_empty() { "item".to_owned() } else { singular(&self.name) };
        Self { text: format!("{}{step}", self.text), name, parent: self.parent }
    }
}

/// A record or union that is still to be described.
enum Work {
    Record(ObjectId, Path),
    Union(ObjectId, Path),
    /// An externally tagged union.
    External(ObjectId, Path),
}

/// The candidates for the name of a type.
struct Wish {
    name: String,
    parent: Option<Owner>,
    /// For the record of a variant: the tag's value and the union.
    variant: Option<(String, usize)>,
    /// Alternatives if `name` is taken.
    also: Vec<String>,
    /// Alternatives if the names with a prefix of the enclosing types are taken too.
    last: Vec<String>,
}

impl Wish {
    fn new(name: impl Into<String>, parent: Option<Owner>) -> Self {
        Self { name: name.into(), parent, variant: None, also: Vec::new(), last: Vec::new() }
    }
}

struct Builder<'t, 'a> {
    arena: &'a Arena,
    types: &'t Types<'a>,
    schema: Schema,
    records: HashMap<ObjectId, usize>,
    unions: HashMap<ObjectId, usize>,
    keywords: HashMap<(String, Vec<String>), usize>,
    record_wishes: Vec<Wish>,
    union_wishes: Vec<Wish>,
    keyword_wishes: Vec<Wish>,
    /// The positions of each record by path, with the number of occurrences.
    paths: Vec<BTreeMap<String, (u64, Path)>>,
    queue: VecDeque<Work>,
    /// The strings of each externally tagged union, and their counts.
    units: BTreeMap<usize, BTreeMap<String, u64>>,
    /// The keys of each union under which its variants have objects of different types.
    contents: HashMap<usize, HashSet<u64>>,
    /// The variants of adjacently tagged unions whose content is a record, by that record.
    named_contents: BTreeMap<usize, String>,
}

impl<'t, 'a> Builder<'t, 'a> {
    fn new(arena: &'a Arena, types: &'t Types<'a>) -> Self {
        Self {
            arena,
            types,
            schema: Schema { documents: arena.documents, bytes: arena.bytes, ..Schema::default() },
            records: HashMap::new(),
            unions: HashMap::new(),
            keywords: HashMap::new(),
            record_wishes: Vec::new(),
            union_wishes: Vec::new(),
            keyword_wishes: Vec::new(),
            paths: Vec::new(),
            queue: VecDeque::new(),
            units: BTreeMap::new(),
            contents: HashMap::new(),
            named_contents: BTreeMap::new(),
        }
    }

    /// Builds the slot for the position of these nodes.
    fn slot(&mut self, group: &[NodeId], path: &Path, key: &str) -> Slot {
        let nodes: Vec<&Node> = group.iter().map(|&id| self.arena.node(id)).collect();
        let sum = |count: fn(&Node) -> u64| nodes.iter().map(|node| count(node)).sum::<u64>();
        let slot = |count: u64, kind: Kind| Slot { count, kind, ..Slot::default() };
        let nulls = sum(|node| node.nulls);
        if nodes.iter().any(|node| node.free.is_some()) {
            let mut free = Free::default();
            for &id in group {
                free.merge(&self.arena.free_at(id));
            }
            return Slot { nulls, ..slot(free.count + nulls, Kind::Any(Box::new(free))) };
        }
        let mut slots = Vec::new();
        let bools = sum(|node| node.bools);
        if bools > 0 {
            slots.push(slot(bools, Kind::Bool { trues: sum(|node| node.trues) }));
        }
        let (integers, floats) = (sum(|node| node.integers), sum(|node| node.floats));
        let ranges = || nodes.iter().filter(|node| node.integers > 0);
        if floats > 0 {
            let most = i128::from(MOST_IN_F64);
            let wide = ranges().any(|node| node.min < -most || node.max > most);
            slots.push(slot(integers + floats, Kind::Float { whole: integers, huge: sum(|node| node.huge), wide }));
        } else if let (Some(min), Some(max)) =
            (ranges().map(|node| node.min).min(), ranges().map(|node| node.max).max())
        {
            slots.push(slot(integers, Kind::Integer { min, max }));
        }
        let mut texts = Texts::default();
        nodes.iter().filter_map(|node| node.texts.as_ref()).for_each(|more| texts.merge(more));
        let objects = sum(|node| node.objects);
        let class = self.types.class_at(group).filter(|_| objects > 0);
        let units = class.filter(|&class| self.types.is_external(class)).and_then(|class| self.units(class, &texts));
        if texts.count > 0 && units.is_none() {
            slots.push(slot(texts.count, self.text(&texts, path, key)));
        }
        let mut lengths = Lengths::default();
        nodes.iter().filter_map(|node| node.array.as_ref()).for_each(|array| lengths.merge(&array.lengths));
        if lengths.count > 0 {
            slots.push(slot(lengths.count, self.arrays(group, lengths, path, key)));
        }
        if let Some(class) = class {
            let kind = self.objects(class, group, path, key);
            if let (Kind::Union { id }, Some(units)) = (&kind, &units) {
                let known = self.units.entry(*id).or_default();
                for (word, count) in units {
                    *known.entry(word.clone()).or_default() += count;
                }
            }
            let strings = units.map_or(0, |units| units.values().sum());
            slots.push(slot(objects + strings, kind));
        }
        let kind = match slots.len() {
            0 => Kind::Never,
            1 => slots.remove(0).kind,
            _ => Kind::Mixed { alternatives: slots },
        };
        Slot { nulls, ..slot(sum(Node::count), kind) }
    }

    fn arrays(&mut self, group: &[NodeId], lengths: Lengths, path: &Path, key: &str) -> Kind {
        let elements = self.types.elements(group);
        if let [element] = &elements[..] {
            let element = self.slot(element, &path.below("[]"), key);
            return Kind::Seq(Box::new(Seq { lengths, element }));
        }
        let positions = elements.iter().enumerate();
        let positions = positions.map(|(index, position)| self.slot(position, &path.below(&format!("[{index}]")), key));
        Kind::Tuple { positions: positions.collect() }
    }

    fn objects(&mut self, class: ObjectId, group: &[NodeId], path: &Path, key: &str) -> Kind {
        let sum = |count: fn(&Node) -> u64| group.iter().map(|&id| count(self.arena.node(id))).sum::<u64>();
        match self.types.form(class) {
            Form::Map => self.map(group, path, key),
            Form::Record if self.types.is_external(class) => {
                let id = self.union(class, path, String::new(), Tagging::External);
                Kind::Union { id }
            }
            Form::Record => {
                let (count, empty) = (sum(|node| node.objects), sum(|node| node.empties));
                let id = self.record(class, path, None);
                self.seen_at(id, path, count);
                Kind::Record { id, empty }
            }
            Form::Union => {
                let tag = self.types.tag(class);
                let (tag, form) = if has_markers(tag) { ("", Tagging::Untagged) } else { (tag, Tagging::Internal) };
                Kind::Union { id: self.union(class, path, tag.to_owned(), form) }
            }
        }
    }

    /// Returns the union of a class, which is described later if it is new.
    fn union(&mut self, class: ObjectId, path: &Path, tag: String, form: Tagging) -> usize {
        if let Some(&id) = self.unions.get(&class) {
            return id;
        }
        let id = self.schema.unions.len();
        self.unions.insert(class, id);
        let work = match form {
            Tagging::External => Work::External,
            _ => Work::Union,
        };
        self.schema.unions.push(Union { path: format!("${}", path.text), tag, form, ..Union::default() });
        self.union_wishes.push(Wish::new(&*path.name, path.parent));
        self.queue.push_back(work(class, path.clone()));
        id
    }

    /// Returns the strings beside the objects of an externally tagged union, if they are its variants without content.
    fn units(&self, class: ObjectId, texts: &Texts) -> Option<BTreeMap<String, u64>> {
        let words = texts.exact()?;
        let slots = self.types.slots(class);
        let is_unit = |word: &str| is_keyword(word) && is_name(word) && !slots.iter().any(|slot| slot.key == word);
        let all = words.len() <= MAX_KEYWORDS
            && texts.count >= 2 * words.len() as u64
            && words.iter().all(|(word, _)| is_unit(word));
        all.then(|| words.iter().map(|(word, count)| (word.to_owned(), count)).collect())
    }

    /// Describes the maps of one position only; other positions have maps of their own.
    fn map(&mut self, group: &[NodeId], path: &Path, key: &str) -> Kind {
        let mut lengths = Lengths::default();
        let mut keys = Texts::default();
        for object in self.types.objects_at(group) {
            lengths.merge(&self.arena.object(object).lengths);
            self.arena.add_keys(object, &mut keys);
        }
        let values = self.types.values(self.types.objects_at(group));
        let value = self.slot(&values, &path.below(".*"), key);
        Kind::Map(Box::new(Map { lengths, key: keys.to_schema(), value }))
    }

    fn seen_at(&mut self, record: usize, path: &Path, count: u64) {
        self.paths[record].entry(format!("${}", path.text)).or_insert_with(|| (0, path.clone())).0 += count;
    }

    fn record(&mut self, object: ObjectId, path: &Path, variant: Option<(String, usize)>) -> usize {
        if let Some(&id) = self.records.get(&object) {
            return id;
        }
        let id = self.schema.records.len();
        self.records.insert(object, id);
        let instances = self.types.instances(object);
        self.schema.records.push(Record { instances, ..Record::default() });
        self.record_wishes.push(Wish { variant, ..Wish::new(&*path.name, path.parent) });
        self.paths.push(BTreeMap::new());
        self.queue.push_back(Work::Record(object, path.clone()));
        id
    }

    /// Adds a variant to an externally tagged union. Returns the record that stands for it.
    fn variant(&mut self, union: usize, value: &str, instances: u64, path: &Path) -> usize {
        let id = self.schema.records.len();
        self.schema.records.push(Record { instances, is_variant: true, ..Record::default() });
        self.record_wishes.push(Wish::new(String::new(), Some(Owner::Union(union))));
        self.paths.push(BTreeMap::from([(format!("${}", path.text), (instances, path.clone()))]));
        self.schema.unions[union].variants.push((value.to_owned(), id));
        id
    }

    /// Adds the variants of externally tagged unions that are strings, and sorts the variants by their counts.
    fn add_units(&mut self) {
        for (union, words) in std::mem::take(&mut self.units) {
            let path = Path { text: self.schema.unions[union].path[1..].to_owned(), ..Path::default() };
            for (word, count) in words {
                let id = self.variant(union, &word, count, &path);
                self.schema.records[id].key_sets = vec![(Vec::new(), count)];
            }
        }
        let Schema { unions, records, .. } = &mut self.schema;
        for union in unions.iter_mut().filter(|union| union.form == Tagging::External) {
            union
                .variants
                .sort_by_key(|(value, record)| (std::cmp::Reverse(records[*record].instances), value.clone()));
        }
    }

    /// Makes the unions adjacently tagged whose variants have one other key in common, and no further keys.
    fn find_adjacent(&mut self) {
        let recursive = self.schema.unions_with_unit_other();
        let Schema { unions, records, .. } = &mut self.schema;
        for (id, union) in unions.iter_mut().enumerate() {
            if union.form != Tagging::Internal || union.untagged || recursive.contains(&id) {
                continue;
            }
            let fields = |record: usize| records[record].fields.iter();
            let mut keys = union.variants.iter().flat_map(|&(_, record)| fields(record)).map(|field| &field.key);
            let Some(content) = keys.next().cloned() else { continue };
            let is_content = |record: &Record| match &record.fields[..] {
                [] => true,
                [field] => field.key == content && !field.rest && field.slot.count == record.instances,
                _ => false,
            };
            let contents = union.variants.iter().filter(|&&(_, record)| !records[record].fields.is_empty()).count();
            if contents >= 2 && union.variants.iter().all(|&(_, record)| is_content(&records[record])) {
                let mut names = BTreeMap::<usize, Option<&str>>::new();
                for (value, record) in &union.variants {
                    records[*record].is_variant = true;
                    if let [Field { slot: Slot { kind: Kind::Record { id, .. }, .. }, .. }] =
                        records[*record].fields[..]
                    {
                        names.entry(id).and_modify(|name| *name = None).or_insert(Some(value));
                    }
                }
                let names = names.into_iter().filter_map(|(record, name)| Some((record, name?.to_owned())));
                self.named_contents.extend(names);
                union.form = Tagging::Adjacent(content);
            }
        }
    }

    fn define(&mut self, work: Work) {
        match work {
            Work::Record(object, path) => {
                let id = self.records[&object];
                let union = self.record_wishes[id].variant.as_ref().map(|&(_, union)| &self.schema.unions[union]);
                // Objects without a tag may have other values than strings under its key.
                let tag = union.filter(|union| union.form != Tagging::Untagged && union.without_tag() != Some(id));
                let tag = tag.map(|union| union.tag.clone());
                let slots = self.types.slots(object);
                let mut slots: Vec<&super::types::Slot<'_>> =
                    slots.iter().filter(|slot| tag.as_deref() != Some(slot.key)).collect();
                slots.sort_by_key(|slot| (slot.first, slot.key));
                let index: HashMap<u64, usize> = slots.iter().map(|slot| slot.hash).zip(0..).collect();
                let key_sets = self.types.key_sets(object).to_schema(|key| index.get(&key).copied());
                self.schema.records[id].key_sets = key_sets;
                let variant = self.record_wishes[id].variant.clone();
                let fields = slots.into_iter().map(|slot| {
                    let mut path = path.key(slot.key, Owner::Record(id));
                    // The content of the variant `login` is a `LoginData`.
                    if let Some((value, union)) = &variant
                        && self.contents.get(union).is_some_and(|contents| contents.contains(&slot.hash))
                    {
                        path.name = format!("{value} {}", path.name);
                    }
                    let position = self.slot(&slot.group, &path, slot.key);
                    Field { key: slot.key.to_owned(), slot: position, rest: false }
                });
                let mut fields: Vec<Field> = fields.collect();
                fields.extend(self.rest(object, &path));
                self.schema.records[id].fields = fields;
            }
            Work::External(object, path) => {
                let union = self.unions[&object];
                let path = Path { parent: Some(Owner::Union(union)), ..path };
                let slots = self.types.slots(object);
                let mut slots: Vec<&super::types::Slot<'_>> = slots.iter().collect();
                slots.sort_by_key(|slot| (slot.first, slot.key));
                for slot in slots {
                    let instances = slot.group.iter().map(|&node| self.arena.node(node).count()).sum();
                    let id = self.variant(union, slot.key, instances, &path);
                    let position = self.slot(&slot.group, &path.key(slot.key, Owner::Union(union)), slot.key);
                    let record = &mut self.schema.records[id];
                    record.fields = vec![Field { key: slot.key.to_owned(), slot: position, rest: false }];
                    record.key_sets = vec![(vec![0], instances)];
                }
            }
            Work::Union(object, path) => {
                let union = self.unions[&object];
                self.contents.insert(union, self.types.contents(object));
                let mut variants = self.types.variants(object);
                variants.sort_by_key(|&(value, class)| (std::cmp::Reverse(self.types.instances(class)), value));
                let path = Path { parent: Some(Owner::Union(union)), ..path };
                let variants = variants.into_iter().map(|(value, class)| {
                    let id = self.record(class, &path, Some((value.to_owned(), union)));
                    self.seen_at(id, &path, self.types.instances(class));
                    (value.to_owned(), id)
                });
                let mut variants: Vec<(String, usize)> = variants.collect();
                if self.types.has_untagged(object) {
                    let id = self.record(object, &path, Some(("untagged".to_owned(), union)));
                    self.seen_at(id, &path, self.types.instances(object));
                    variants.push(("untagged".to_owned(), id));
                    self.schema.unions[union].untagged = true;
                }
                self.schema.unions[union].variants = variants;
            }
        }
    }

    /// Describes the entries of a record that are not fields.
    fn rest(&mut self, object: ObjectId, path: &Path) -> Option<Field> {
        let values = self.types.rest(object);
        let keys = self.types.rest_keys(object);
        if keys.count == 0 {
            return None;
        }
        let instances = self.types.instances(object);
        let lengths = if self.types.slots(object).is_empty() {
            self.types.lengths(object)
        } else {
            // The number of these entries for each object is unknown: assume that as few objects as possible have them
            // all.
            Lengths::spread(instances, keys.count, keys.distinct())
        };
        let value = self.slot(&values, &path.below(".*"), "");
        let map = Map { lengths, key: keys.to_schema(), value };
        let slot = Slot { count: instances, kind: Kind::Map(Box::new(map)), ..Slot::default() };
        Some(Field { key: String::new(), slot, rest: true })
    }

    fn text(&mut self, texts: &Texts, path: &Path, key: &str) -> Kind {
        let text = texts.to_schema();
        if matches!(text.format, Some(Format::Uuid | Format::Date | Format::Utc | Format::Offset)) {
            return Kind::Text(text);
        }
        let Some(words) = texts.exact().filter(|words| enums::are_closed(texts.count, words)) else {
            return Kind::Text(text);
        };
        let mut values: Vec<String> = words.iter().map(|(word, _)| word.to_owned()).collect();
        values.sort();
        // Equal strings under `team1` and `team2` are one set.
        let stem = |key: &str| match key.trim_end_matches(|c: char| c.is_ascii_digit()) {
            stem if stem.len() > 3 => stem.to_owned(),
            _ => key.to_owned(),
        };
        let id = *self.keywords.entry((stem(key), values)).or_insert_with(|| {
            self.schema.keywords.push(Keywords { path: format!("${}", path.text), ..Keywords::default() });
            self.keyword_wishes.push(Wish::new(stem(&path.name), path.parent));
            self.schema.keywords.len() - 1
        });
        for (word, count) in words.iter() {
            *self.schema.keywords[id].values.entry(word.to_owned()).or_default() += count;
        }
        Kind::Keyword { id, text }
    }
}

// The end: units, names, and the schema.
impl Builder<'_, '_> {
    fn finish(mut self, root: Slot) -> Schema {
        self.schema.root = root;
        self.add_units();
        self.find_adjacent();
        self.join_enums();
        self.drop_single_enums();
        self.join_equal_enums();
        for (id, paths) in self.paths.iter().enumerate() {
            let mut paths: Vec<(&String, &(u64, Path))> = paths.iter().collect();
            paths.sort_by_key(|&(path, (count, _))| (std::cmp::Reverse(*count), path.len(), path));
            let record = &mut self.schema.records[id];
            record.paths = paths.iter().take(MAX_PATHS).map(|&(path, _)| path.clone()).collect();
            let Some((_, (_, first))) = paths.first() else { continue };
            let is_document = paths.iter().any(|(path, _)| *path == "$");
            if record.is_variant {
                continue;
            }
            let (name, also) = match &record.fields[..] {
                _ if paths.len() == 1 && self.named_contents.contains_key(&id) => {
                    let name = type_name(&self.named_contents[&id]);
                    let long = joined(&name, &type_name(&first.name));
                    (name, vec![long])
                }
                _ if is_document => (String::new(), Vec::new()),
                [] => ("empty".to_owned(), Vec::new()),
                // The only key of a record at many positions describes it better than their names.
                [field] if distinct(&paths) > 2 && !field.rest => (field.key.clone(), Vec::new()),
                _ => self.name_of_positions(&paths),
            };
            let wish = &mut self.record_wishes[id];
            (wish.name, wish.also, wish.parent) = (name, also, first.parent);
        }
        for id in 0..self.schema.records.len() {
            self.record_wishes[id].last = self.distinguished(id);
        }
        for (keywords, wish) in self.schema.keywords.iter().zip(&mut self.keyword_wishes) {
            // The most frequent string.
            let first = keywords.values.iter().max_by_key(|&(word, count)| (count, std::cmp::Reverse(word)));
            wish.last.extend(first.map(|(word, _)| joined(&type_name(word), &type_name(&wish.name))));
        }
        let mut names = Names::default();
        // The document's type is named first.
        match self.schema.root.kind {
            Kind::Record { id, .. } if self.record_wishes[id].variant.is_none() => {
                self.schema.records[id].name = names.choose(&self.wanted(&self.record_wishes[id]));
            }
            Kind::Union { id } => self.schema.unions[id].name = names.choose(&["Document".to_owned()]),
            _ => {}
        }
        for id in 0..self.schema.unions.len() {
            if let Some(name) = name_of_variants(&self.schema.unions[id]) {
                self.union_wishes[id].name = name;
            }
            if self.schema.unions[id].name.is_empty() {
                self.schema.unions[id].name = names.choose(&self.wanted(&self.union_wishes[id]));
            }
        }
        // Variants first, since their names derive from the union's; then the most frequent, which get the short names.
        let mut order: Vec<usize> = (0..self.schema.records.len()).collect();
        order.sort_by_key(|&id| {
            (self.record_wishes[id].variant.is_none(), std::cmp::Reverse(self.schema.records[id].instances), id)
        });
        let is_open = |record: &Record| record.name.is_empty() && !record.is_variant;
        for id in order.into_iter().filter(|&id| is_open(&self.schema.records[id])).collect::<Vec<_>>() {
            self.schema.records[id].name = names.choose(&self.wanted(&self.record_wishes[id]));
        }
        for id in 0..self.schema.keywords.len() {
            let wish = &self.keyword_wishes[id];
            let mut wanted = self.wanted(wish);
            if matches!(wish.name.as_str(), "type" | "kind" | "name" | "value" | "status" | "state" | "id" | "code") {
                wanted.rotate_left(1);
            }
            self.schema.keywords[id].name = names.choose(&wanted);
        }
        for union in &self.schema.unions {
            for (value, record) in &union.variants {
                let record = &mut self.schema.records[*record];
                if record.is_variant {
                    record.name = format!("{}::{value}", union.name);
                }
            }
        }
        self.schema.open();
        self.schema
    }

    /// Returns the name of a record at these positions, the most frequent first, and alternatives.
    fn name_of_positions(&self, paths: &[(&String, &(u64, Path))]) -> (String, Vec<String>) {
        let (_, (most, first)) = paths[0];
        let all: u64 = paths.iter().map(|(_, (count, _))| count).sum();
        let mut names: Vec<String> = Vec::new();
        for (_, (_, path)) in paths {
            let name = type_name(&path.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() == 1 || most * 5 >= all * 3 {
            return (first.name.clone(), Vec::new());
        }
        if let Some(name) = common(&names) {
            return (name, Vec::new());
        }
        let Some(Owner::Record(parent)) = first.parent else { return (first.name.clone(), Vec::new()) };
        let siblings =
            paths.iter().all(|(_, (_, path))| matches!(path.parent, Some(Owner::Record(id)) if id == parent));
        let parent = type_name(&self.record_wishes[parent].name);
        let one = singular(&parent);
        // The values of an object `parameters` are each a `Parameter`.
        if siblings && one != parent {
            let long = joined(&names[0], &one);
            return (one, vec![long]);
        }
        match names.len() {
            2 if siblings => (names.join("Or"), Vec::new()),
            3.. if siblings && !parent.is_empty() => (parent + "Entry", Vec::new()),
            _ => (first.name.clone(), Vec::new()),
        }
    }

    /// Returns names for a record after its keys: `TypeWithItems`.
    fn distinguished(&self, id: usize) -> Vec<String> {
        let (record, wish) = (&self.schema.records[id], &self.record_wishes[id]);
        if wish.name.is_empty() {
            return Vec::new();
        }
        let mut fields: Vec<&Field> = record.fields.iter().filter(|field| field.key.contains(is_part)).collect();
        fields.sort_by_key(|field| std::cmp::Reverse(field.slot.count));
        let name = type_name(&wish.name);
        fields.iter().take(4).map(|field| format!("{name}With{}", type_name(&field.key))).collect()
    }

    /// Returns the name of a record or union, and the type that encloses it.
    fn name_of(&self, owner: Owner) -> (String, Option<Owner>) {
        let (name, wish) = match owner {
            Owner::Record(id) => (&self.schema.records[id].name, &self.record_wishes[id]),
            Owner::Union(id) => (&self.schema.unions[id].name, &self.union_wishes[id]),
        };
        // Until the name is chosen, the key stands for it.
        let name = if name.is_empty() && !wish.name.is_empty() { type_name(&wish.name) } else { name.clone() };
        (name, wish.parent)
    }

    /// Returns candidate names for a type, best first.
    fn wanted(&self, wish: &Wish) -> Vec<String> {
        if let Some((value, union)) = &wish.variant {
            let (value, union) = (type_name(value), &self.schema.unions[*union].name);
            let long = joined(&value, union);
            // `BinaryExpression` is a name for a type; `opened` is not.
            let is_name = wish.variant.as_ref().is_some_and(|(value, _)| value.starts_with(char::is_uppercase));
            return if is_name { vec![value, long] } else { vec![long] };
        }
        if wish.name.is_empty() {
            return vec!["Document".to_owned()];
        }
        let name = type_name(&wish.name);
        let mut wanted = vec![name.clone()];
        wanted.extend(wish.also.iter().cloned());
        let (mut long, mut parent) = (name.clone(), wish.parent);
        // Recursive types enclose themselves, so the walk is bounded.
        for _ in 0..16 {
            let Some(owner) = parent.filter(|_| wanted.len() < 5) else { break };
            let (above, next) = self.name_of(owner);
            if above == long {
                // A `Status` inside `Status` is not `StatusStatus`.
                wanted.push(format!("Inner{name}"));
            } else if !above.is_empty() {
                long = joined(&above, &long);
                wanted.push(long.clone());
            }
            parent = next;
        }
        wanted.extend(wish.last.iter().cloned());
        wanted.dedup();
        wanted
    }
}

/// Joins two names, without repeating a word at the seam.
pub(crate) fn joined(front: &str, back: &str) -> String {
    let word = last_word(front);
    match back.strip_prefix(word) {
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_uppercase) => format!("{front}{rest}"),
        _ => format!("{front}{back}"),
    }
}

/// Returns the number of distinct names of a type's positions.
fn distinct(paths: &[(&String, &(u64, Path))]) -> usize {
    paths.iter().map(|(_, (_, path))| path.name.as_str()).collect::<HashSet<_>>().len()
}

/// Returns the last word of most variants' names: `Expression` for `BinaryExpression`, `CallExpression` and
/// `Identifier`.
fn name_of_variants(union: &Union) -> Option<String> {
    let names: Vec<String> = union.tagged().iter().map(|(value, _)| type_name(value)).collect();
    let mut words = BTreeMap::<&str, usize>::new();
    for name in &names {
        let word = last_word(name);
        if word.len() > 2 && word.len() < name.len() {
            *words.entry(word).or_default() += 1;
        }
    }
    let (word, times) = words.into_iter().max_by_key(|&(_, times)| times)?;
    (times >= 2 && times * 2 > names.len()).then(|| word.to_owned())
}
