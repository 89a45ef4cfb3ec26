//! From accumulators to a [`Schema`].

use super::arena::{Arena, Field, Fixed, NodeId, ObjectId, Shape};
use super::names::{Names, singular, type_name};
use super::text::Texts;
use crate::shape::schema::{Field as SchemaField, Keywords, Kind, Map, Record, Schema, Seq, Slot, Union};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// Paths listed of a record.
const MAX_PATHS: usize = 4;
/// A closed set has at most this many strings,
const MAX_KEYWORDS: usize = 64;
/// each of at most this many bytes,
const MAX_KEYWORD: usize = 48;
/// and each was seen this often on average.
const TIMES: u64 = 8;

pub(super) fn build(arena: &Arena) -> Schema {
    let mut builder = Builder::new(arena);
    let root = builder.slot(arena.root, &Path::default(), "");
    while let Some(work) = builder.queue.pop_front() {
        builder.define(work);
    }
    builder.finish(root)
}

/// Where a place is.
#[derive(Clone, Default)]
struct Path {
    text: String,
    /// The nearest key, in the singular if elements or values lie between.
    name: String,
    /// The name of the record or union above.
    parent: Option<Owner>,
}

#[derive(Clone, Copy)]
enum Owner {
    Record(usize),
    Union(usize),
}

impl Path {
    fn key(&self, key: &str, owner: Owner) -> Self {
        let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let text = if plain { format!("{}.{key}", self.text) } else { format!("{}[{key:?}]", self.text) };
        Self { text, name: key.to_owned(), parent: Some(owner) }
    }

    fn below(&self, step: &str) -> Self {
        let name = if self.name.is_empty() { "item".to_owned() } else { singular(&self.name) };
        Self { text: format!("{}{step}", self.text), name, parent: self.parent }
    }
}

/// A record or union that was met and is not described yet.
enum Work {
    Record(ObjectId, Path),
    Union(ObjectId, Path),
}

/// What a type is to be called.
struct Wish {
    name: String,
    parent: Option<Owner>,
    /// The tag's value and the union of a variant's record.
    variant: Option<(String, usize)>,
}

struct Builder<'a> {
    arena: &'a Arena,
    schema: Schema,
    records: HashMap<ObjectId, usize>,
    unions: HashMap<ObjectId, usize>,
    keywords: HashMap<(String, Vec<String>), usize>,
    record_wishes: Vec<Wish>,
    union_wishes: Vec<Wish>,
    keyword_wishes: Vec<Wish>,
    /// Where each record is: the path, what the record would be called there, and how often it occurs there.
    paths: Vec<BTreeMap<String, (u64, Path)>>,
    queue: VecDeque<Work>,
}

impl<'a> Builder<'a> {
    fn new(arena: &'a Arena) -> Self {
        Self {
            arena,
            schema: Schema { documents: arena.documents, bytes: arena.bytes, ..Schema::default() },
            records: HashMap::new(),
            unions: HashMap::new(),
            keywords: HashMap::new(),
            record_wishes: Vec::new(),
            union_wishes: Vec::new(),
            keyword_wishes: Vec::new(),
            paths: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    fn slot(&mut self, id: NodeId, path: &Path, key: &str) -> Slot {
        let node = self.arena.node(id);
        let mut slots = Vec::new();
        if node.bools > 0 {
            slots.push(Slot { count: node.bools, nulls: 0, kind: Kind::Bool { trues: node.trues } });
        }
        if node.floats > 0 {
            slots.push(Slot { count: node.integers + node.floats, nulls: 0, kind: Kind::Float });
        } else if node.integers > 0 {
            let kind = Kind::Integer { min: node.min, max: node.max };
            slots.push(Slot { count: node.integers, nulls: 0, kind });
        }
        if let Some(texts) = node.texts.as_ref().filter(|texts| texts.count > 0) {
            let kind = self.text(texts, path, key);
            slots.push(Slot { count: texts.count, nulls: 0, kind });
        }
        if let Some(array) = node.array.as_ref().filter(|array| array.lengths.count > 0) {
            let below = path.below("[]");
            let kind = if let Fixed::At(length) = array.fixed {
                let places = array.places[..length].iter().enumerate();
                let places =
                    places.map(|(index, &place)| self.slot(place, &path.below(&format!("[{index}]")), key)).collect();
                Kind::Tuple { places }
            } else {
                let element = self.slot(array.element, &below, key);
                Kind::Seq(Box::new(Seq { lengths: array.lengths.clone(), element }))
            };
            slots.push(Slot { count: array.lengths.count, nulls: 0, kind });
        }
        if node.objects > 0
            && let Some(object) = self.arena.object_of(id)
        {
            let kind = self.objects(object, node.objects, node.empties, path, key);
            slots.push(Slot { count: node.objects, nulls: 0, kind });
        }
        if let Some(free) = &node.free {
            slots.push(Slot { count: free.count, nulls: 0, kind: Kind::Any(free.clone()) });
        }
        let kind = match slots.len() {
            0 => Kind::Never,
            1 => slots.remove(0).kind,
            _ => Kind::Mixed { alternatives: slots },
        };
        Slot { count: node.count(), nulls: node.nulls, kind }
    }

    fn objects(&mut self, object: ObjectId, count: u64, empty: u64, path: &Path, key: &str) -> Kind {
        match &self.arena.object(object).shape {
            Shape::Map { keys, value } => Kind::Map(Box::new(Map {
                lengths: self.arena.object(object).lengths.clone(),
                key: keys.to_schema(),
                value: self.slot(*value, &path.below(".*"), key),
            })),
            Shape::Record(_) => {
                let id = self.record(object, path, None);
                self.seen_at(id, path, count);
                Kind::Record { id, empty }
            }
            Shape::Union(tagged) => {
                let id = if let Some(&id) = self.unions.get(&object) {
                    id
                } else {
                    let id = self.schema.unions.len();
                    self.unions.insert(object, id);
                    self.schema.unions.push(Union { tag: tagged.key.to_string(), ..Union::default() });
                    self.union_wishes.push(Wish { name: path.name.clone(), parent: path.parent, variant: None });
                    self.queue.push_back(Work::Union(object, path.clone()));
                    id
                };
                Kind::Union { id }
            }
        }
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
        let instances = self.arena.object(object).instances;
        self.schema.records.push(Record { instances, ..Record::default() });
        self.record_wishes.push(Wish { name: path.name.clone(), parent: path.parent, variant });
        self.paths.push(BTreeMap::new());
        self.queue.push_back(Work::Record(object, path.clone()));
        id
    }

    fn define(&mut self, work: Work) {
        match work {
            Work::Record(object, path) => {
                let id = self.records[&object];
                let tag =
                    self.record_wishes[id].variant.as_ref().map(|&(_, union)| self.schema.unions[union].tag.clone());
                let Some(fields) = self.arena.fields(object) else { return };
                let mut fields: Vec<&Field> = fields.list.iter().collect();
                fields.sort_by(|a, b| (a.first, &a.key).cmp(&(b.first, &b.key)));
                let fields = fields.into_iter().filter(|field| tag.as_deref() != Some(&*field.key));
                let fields = fields.map(|field| {
                    let slot = self.slot(field.node, &path.key(&field.key, Owner::Record(id)), &field.key);
                    SchemaField { key: field.key.to_string(), slot }
                });
                self.schema.records[id].fields = fields.collect();
            }
            Work::Union(object, path) => {
                let union = self.unions[&object];
                let Some(tagged) = self.arena.tagged(object) else { return };
                let mut variants: Vec<(String, ObjectId, u64)> = tagged
                    .variants
                    .iter()
                    .map(|variant| (variant.value.to_string(), self.arena.find(variant.object)))
                    .map(|(value, object)| (value, object, self.arena.object(object).instances))
                    .collect();
                variants.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
                let path = Path { parent: Some(Owner::Union(union)), ..path };
                let variants = variants.into_iter().map(|(value, object, count)| {
                    let id = self.record(object, &path, Some((value.clone(), union)));
                    self.seen_at(id, &path, count);
                    (value, id)
                });
                self.schema.unions[union].variants = variants.collect();
            }
        }
    }

    fn text(&mut self, texts: &Texts, path: &Path, key: &str) -> Kind {
        let text = texts.to_schema();
        let Some(words) = texts.words().filter(|words| {
            (2..=MAX_KEYWORDS).contains(&words.len())
                && texts.count >= TIMES * words.len() as u64
                && words.iter().all(|(word, count)| count >= 2 && is_keyword(word))
        }) else {
            return Kind::Text(text);
        };
        let mut values: Vec<String> = words.iter().map(|(word, _)| word.to_owned()).collect();
        values.sort();
        let id = *self.keywords.entry((key.to_owned(), values)).or_insert_with(|| {
            self.schema.keywords.push(Keywords::default());
            self.keyword_wishes.push(Wish { name: path.name.clone(), parent: path.parent, variant: None });
            self.schema.keywords.len() - 1
        });
        for (word, count) in words.iter() {
            *self.schema.keywords[id].values.entry(word.to_owned()).or_default() += count;
        }
        Kind::Keyword { id, text }
    }

    fn finish(mut self, root: Slot) -> Schema {
        self.schema.root = root;
        for ((record, paths), wish) in self.schema.records.iter_mut().zip(&self.paths).zip(&mut self.record_wishes) {
            let mut paths: Vec<_> = paths.iter().collect();
            paths.sort_by_key(|&(path, (count, _))| (std::cmp::Reverse(*count), path.len(), path));
            record.paths = paths.iter().take(MAX_PATHS).map(|&(path, _)| path.clone()).collect();
            let Some((_, (_, first))) = paths.first() else { continue };
            wish.name.clone_from(&first.name);
            wish.parent = first.parent;
            if paths.iter().any(|(path, _)| *path == "$") {
                wish.name.clear();
            }
            let places: HashSet<&str> = paths.iter().map(|(_, (_, path))| path.name.as_str()).collect();
            match &record.fields[..] {
                [] => "empty".clone_into(&mut wish.name),
                // What stands in many places says less by these than by what it holds.
                [field] if places.len() > 2 => wish.name.clone_from(&field.key),
                _ => {}
            }
        }
        let mut names = Names::default();
        for id in 0..self.schema.unions.len() {
            self.schema.unions[id].name = names.choose(&self.wanted(&self.union_wishes[id]));
        }
        // Variants first, for they are named after their union; then what is there most often gets the short names.
        let mut order: Vec<usize> = (0..self.schema.records.len()).collect();
        order.sort_by_key(|&id| {
            (self.record_wishes[id].variant.is_none(), std::cmp::Reverse(self.schema.records[id].instances), id)
        });
        for id in order {
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
        self.schema
    }

    /// Names for a type, the best first.
    fn wanted(&self, wish: &Wish) -> Vec<String> {
        if let Some((value, union)) = &wish.variant {
            return vec![type_name(value) + &self.schema.unions[*union].name];
        }
        if wish.name.is_empty() {
            return vec!["Document".to_owned()];
        }
        let name = type_name(&wish.name);
        let parent = match wish.parent {
            Some(Owner::Record(id)) => &self.schema.records[id].name,
            Some(Owner::Union(id)) => &self.schema.unions[id].name,
            None => "",
        };
        // The parent's name may not be chosen yet; then its key tells as much.
        let parent = match wish.parent {
            Some(Owner::Record(id)) if parent.is_empty() => type_name(&self.record_wishes[id].name),
            _ => parent.to_owned(),
        };
        vec![name.clone(), format!("{parent}{name}")]
    }
}

/// A string that can be the name of something.
fn is_keyword(word: &str) -> bool {
    word.len() <= MAX_KEYWORD
        && word.contains(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(|c| c.is_alphanumeric() || "-_.:/#+@$ ".contains(c))
        && word.split(' ').count() <= 4
}
