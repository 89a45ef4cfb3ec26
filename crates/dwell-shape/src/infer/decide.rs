//! Decides the type of each position: record or map, tuple or sequence, typed or untyped.
//!
//! Record or map follows Spoth, Xie, Kennedy, Yang, Hammerschmidt, Lu, Gawlick and Liu, "Reducing Ambiguity in JSON
//! Schema Discovery" (SIGMOD 2021): an object whose keys are data has many keys compared with the number of objects,
//! and values of similar types. They measure the first by the entropy of the key space. This module uses the rate of
//! new keys: the share of keys that were seen once estimates the probability that the next key is new (Good and
//! Turing). A record with a hundred optional keys has a high entropy too, but few keys that were seen once.

use super::arena::{Arena, Field, Fixed, MAX_FIELDS, NodeId, ObjectId, Shape};
use super::compare;
use super::cost;
use super::markers;
use super::study::{Found, Study, are_odd, is_usual, may_lack};
pub(super) use super::values::{
    FREE, are_alike, children, elements, is_hopeless, is_name, is_plain, kinds, objects_below,
};
use super::values::{Likeness, has_map, hold_objects, is_data, likeness};
use crate::overrides::{Inside, Matched, Step, What};
use crate::schema::Lengths;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

/// While a text is read, a record with one of these numbers of keys is tested for being a map.
const LOOK_AT: [usize; 2] = [64, 256];

/// The study turns a record into a map only if it has at least this many keys; the full pass decides on the others.
const SURE: usize = 32;

/// The least share of entries with a key that no other object has, for keys to be data: a record would lose such keys of
/// texts that it has not seen.
const NEW: f64 = 0.02;

/// The least share of entries with a key that no other object has, for an object whose values differ in type to be a
/// map although some of them are objects.
const MOSTLY_NEW: f64 = 0.5;

/// The most variants of an externally tagged union.
const MAX_EXTERNAL: usize = 256;
/// The fewest objects that show that each has exactly one key.
const MIN_EXTERNAL: u64 = 6;

/// Returns whether each of these objects has exactly one of `keys` keys, and the keys repeat. `all` is the number of
/// their entries.
pub(super) fn is_external(keys: usize, instances: u64, all: u64, lengths: &Lengths) -> bool {
    (2..=MAX_EXTERNAL).contains(&keys)
        && instances >= MIN_EXTERNAL.max(2 * keys as u64)
        && all == instances
        && lengths.max == 1
        && lengths.empty == 0
}

/// Returns whether the keys of these records, taken as one type, are data.
pub(super) fn is_map(arena: &Arena, objects_of: &[ObjectId], also: &dyn Fn(ObjectId) -> bool) -> bool {
    // The number of objects with each key, and whether it is unlikely to be a field's name.
    let mut counts = HashMap::<u64, (u64, bool)>::new();
    let mut nodes = Vec::new();
    let mut instances = 0;
    for &object in objects_of {
        instances += arena.object(object).instances;
        for field in arena.fields(object).into_iter().flat_map(|fields| &fields.list) {
            let count = arena.node(field.node).count();
            if count > 0 {
                counts.entry(field.hash).or_insert_with(|| (0, is_data(&field.key))).0 += count;
                nodes.push(field.node);
            }
        }
    }
    if counts.is_empty() {
        return false;
    }
    let (objects, keys) = (instances.max(1) as f64, counts.len() as f64);
    let total = counts.values().map(|(count, _)| count).sum::<u64>() as f64;
    let once = counts.values().filter(|(count, _)| *count == 1).count() as f64;
    let data = counts.values().filter(|(_, is_data)| *is_data).count() as f64;
    // Few different keys, one in each object, are the variants of an enum, if their values differ in type.
    let mut lengths = Lengths::default();
    for &object in objects_of {
        lengths.merge(&arena.object(object).lengths);
    }
    let names = objects_of.iter().flat_map(|&object| arena.fields(object).into_iter().flat_map(|fields| &fields.list));
    let first = nodes.first().map_or(0, |&node| kinds(arena, node));
    if is_external(counts.len(), instances, counts.values().map(|(count, _)| count).sum(), &lengths)
        && names.clone().all(|field| is_name(&field.key))
        && nodes.iter().any(|&node| !is_plain(kinds(arena, node), first))
        && likeness(arena, &nodes, also) == Likeness::None
    {
        return false;
    }
    // The probability that the next key is new, and the share of filled cells in the matrix of objects and keys.
    let (new, fill) = (once / total, total / (objects * keys));
    let sure = share_of_new(once, total);
    let is = |likeness| {
        match likeness {
            // Objects of different kinds under keys that repeat keep their types as fields, unless a slot for each key takes more
            // memory than a map.
            Likeness::None => {
                let repeats =
                    new < MOSTLY_NEW || arena.object_of(arena.root).is_some_and(|root| objects_of.contains(&root));
                !arena.user.cautious
                    && objects >= 10.0
                    && keys >= 32.0
                    && new >= 0.1
                    && fill < 0.1
                    && !(repeats && hold_objects(arena, &nodes) && cost::is_better_as_record(arena, objects_of))
            }
            _ if data >= if keys < 3.0 { keys } else { 0.6 * keys } => true,
            Likeness::Objects if keys >= 8.0 && objects * 4.0 < keys => true,
            // All objects have much the same keys: fields take less memory than entries, and no document has a key of its own.
            Likeness::Plain if objects >= 8.0 && once == 0.0 && fill >= 0.5 => false,
            // Far more keys than objects: a record type with as many fields would have more instances.
            Likeness::Plain if keys >= 64.0 && objects * 4.0 < keys => true,
            _ if objects < 2.0 => false,
            // Each object has one key, and each key is new: `{"de": {..}}`, `{"en": {..}}`.
            Likeness::Objects if keys >= 4.0 && total <= objects && once >= keys => true,
            Likeness::Objects if keys >= 32.0 || (keys >= 16.0 && fill < 0.25) => true,
            _ => (keys >= 8.0 && sure >= NEW && fill < 0.5) || (keys >= 16.0 && fill < 0.1),
        }
    };
    // If no key is new, a record loses none of them, and bytes decide.
    let is_known = objects >= 8.0 && sure < NEW && data < 0.6 * keys;
    // To compare the values takes longest.
    [Likeness::None, Likeness::Plain, Likeness::Objects].into_iter().any(is)
        && is(likeness(arena, &nodes, also))
        && (!is_known || cost::is_better_as_map(arena, objects_of))
}

/// Returns whether a record must not get a field for another key.
pub(super) fn is_full(arena: &Arena, object: ObjectId, hash: u64) -> bool {
    let Some(fields) = arena.fields(object) else { return true };
    if let Some(rest) = &fields.rest {
        // A key is a field or one of the rest, never both.
        return rest.keys.may_have(hash) || fields.list.len() >= LOOK_AT[0] || arena.is_exhausted();
    }
    let keys = fields.list.len();
    // Above the budget, memory takes precedence over precision.
    let most = match arena.len() / arena.limits.budget {
        _ if arena.is_exhausted() => 0,
        // The kinds of a union may have many keys together.
        0 if arena.object(object).study.as_ref().is_some_and(|study| study.may_have_kinds()) => 8 * MAX_FIELDS,
        0 => MAX_FIELDS,
        1..4 => 64,
        _ => 16,
    };
    keys >= most
        || (LOOK_AT.contains(&keys) && !arena.user.kept.contains(&object) && {
            let nodes: Vec<NodeId> = fields.list.iter().map(|field| field.node).collect();
            likeness(arena, &nodes, &|object| has_map(arena, object)) == Likeness::Objects
        })
}

/// Returns the positions at a path.
fn nodes_at(arena: &Arena, steps: &[Step]) -> Vec<NodeId> {
    let mut open = vec![(arena.root, Matched::start(steps))];
    let (mut seen, mut found) = (HashSet::new(), HashSet::new());
    while let Some((node, matched)) = open.pop() {
        let node = arena.find_node(node);
        if matched.is_over() || !seen.insert((node, matched.clone())) {
            continue;
        }
        if matched.is_whole(steps) {
            found.insert(node);
        }
        open.extend(elements(arena, node).map(|element| (element, matched.step(steps, Inside::Element))));
        let mut objects: Vec<ObjectId> = arena.object_of(node).into_iter().collect();
        while let Some(object) = objects.pop() {
            match &arena.object(object).shape {
                Shape::Union(tagged) => {
                    let parts = tagged.variants.iter().map(|variant| variant.object).chain(tagged.untagged);
                    objects.extend(parts.map(|object| arena.find(object)));
                }
                Shape::Record(fields) => {
                    let inside = |field: &Field| (field.node, matched.step(steps, Inside::Key(&field.key)));
                    open.extend(fields.list.iter().map(inside));
                    open.extend(fields.rest.iter().map(|rest| (rest.value, matched.step(steps, Inside::Entry))));
                }
                Shape::Map { value, .. } => open.push((*value, matched.step(steps, Inside::Entry))),
            }
        }
    }
    let mut found: Vec<NodeId> = found.into_iter().collect();
    found.sort_unstable();
    found
}

/// Returns the objects at a path.
fn objects_at(arena: &Arena, steps: &[Step]) -> Vec<ObjectId> {
    // Several nodes may share an object.
    let mut objects: Vec<ObjectId> =
        nodes_at(arena, steps).into_iter().filter_map(|node| arena.object_of(node)).collect();
    objects.sort_unstable();
    objects.dedup();
    objects
}

/// Finds the objects that the user decided to be no maps, and those that got a name.
pub(super) fn keep(arena: &mut Arena) {
    let overrides = arena.user.overrides.clone();
    (arena.user.kept, arena.user.untagged) = Default::default();
    // The last decision about an object counts.
    for one in overrides.iter() {
        let objects = || objects_at(arena, &one.steps);
        match one.what {
            What::Struct | What::Roots => {
                let objects = objects();
                arena.user.kept.extend(objects.iter().copied());
                arena.user.untagged.extend(objects);
            }
            What::Tag(_) | What::Untagged => {
                let objects = objects();
                arena.user.untagged.retain(|object| !objects.contains(object));
            }
            _ => {}
        }
    }
    let named = overrides.iter().filter_map(|one| match &one.what {
        What::Name(name) => Some((objects_at(arena, &one.steps), name.clone())),
        _ => None,
    });
    arena.user.named =
        named.flat_map(|(all, name)| all.into_iter().map(move |object| (object, name.clone()))).collect();
}

/// Makes the decisions of the user about maps.
fn set_maps(arena: &mut Arena) {
    for one in arena.user.overrides.clone().iter().filter(|one| one.what == What::Map) {
        for object in objects_at(arena, &one.steps) {
            arena.collapse(object);
            arena.settle();
        }
    }
    keep(arena);
}

/// Makes the decisions of the user about untyped values. They come after those about maps: a key of a map is no field of its
/// name, and an untyped value of a map would make the others untyped too.
fn set_values(arena: &mut Arena) {
    for one in arena.user.overrides.clone().iter().filter(|one| one.what == What::Value) {
        for node in nodes_at(arena, &one.steps) {
            arena.set_free(arena.find_node(node));
            arena.settle();
        }
    }
    keep(arena);
}

/// Makes the decisions of the study: which objects are clearly maps, and which keys are tags.
pub(super) fn sketch(arena: &mut Arena) {
    arena.settle();
    set_maps(arena);
    let mut done = Done { objects: HashSet::new(), outvoted: HashSet::new() };
    maps(arena, arena.root, SURE, &shared(arena), &mut done);
    arena.name_maps(&shared(arena));
    set_values(arena);
    unions(arena);
    for object in arena.all_objects() {
        if arena.object(object).tag.is_none()
            && arena.fields(object).is_some_and(|fields| fields.list.len() > MAX_FIELDS)
        {
            arena.move_rare_fields(object);
        }
    }
    arena.settle();
}

/// Makes the decisions after the full pass. `outvoted` returns the objects that are of one type with records that have far
/// more entries, and would become maps with them.
pub(super) fn settle(arena: &mut Arena, outvoted: impl FnOnce(&Arena) -> HashSet<ObjectId>) {
    arena.settle();
    set_maps(arena);
    let mut done = Done { objects: HashSet::new(), outvoted: outvoted(arena) };
    maps(arena, arena.root, 0, &shared(arena), &mut done);
    set_values(arena);
}

/// The objects about which no decision is left to make.
struct Done {
    objects: HashSet<ObjectId>,
    /// Those that become no maps; see [`settle`].
    outvoted: HashSet<ObjectId>,
}

/// Turns objects below `node` with at least `least` keys into maps if their keys are data, and arrays into sequences if
/// they are not tuples.
fn maps(arena: &mut Arena, node: NodeId, least: usize, shared: &HashSet<ObjectId>, done: &mut Done) {
    let node = arena.find_node(node);
    if arena.node(node).array.is_some() {
        // Arrays that cannot be tuples are merged first, so that their elements are decided together.
        if !may_be_tuple(arena, node) {
            arena.flatten(node);
            arena.settle();
        }
        let positions: Vec<NodeId> = elements(arena, node).collect();
        for position in positions {
            maps(arena, position, least, shared, done);
        }
        let node = arena.find_node(node);
        // For a recursive type, a decision below may have changed this position.
        let Some(array) = &arena.node(node).array else { return };
        if array.fixed != Fixed::Varied {
            let positions = array.positions.clone();
            if likeness(arena, &positions, &|object| has_map(arena, object)) != Likeness::None
                || positions.iter().all(|&position| kinds(arena, position) == 0)
            {
                arena.flatten(node);
                arena.settle();
                let Some(array) = &arena.node(arena.find_node(node)).array else { return };
                let element = array.element;
                maps(arena, element, least, shared, done);
            }
        }
    }
    if let Some(object) = arena.object_of(arena.find_node(node)) {
        object_maps(arena, object, least, shared, done);
    }
}

fn object_maps(arena: &mut Arena, object: ObjectId, least: usize, shared: &HashSet<ObjectId>, done: &mut Done) {
    if !done.objects.insert(object) {
        return;
    }
    // Try this object first, so that all values of a map are decided together; try again with the decisions below it.
    if !collapse_map(arena, object, least, shared, &done.outvoted) {
        for node in children(arena, arena.find(object)) {
            maps(arena, node, least, shared, done);
        }
        if !collapse_map(arena, arena.find(object), least, shared, &done.outvoted) {
            return;
        }
    }
    for node in children(arena, arena.find(object)) {
        maps(arena, node, least, shared, done);
    }
}

/// Turns a record into a map if its keys are data.
fn collapse_map(
    arena: &mut Arena,
    object: ObjectId,
    least: usize,
    shared: &HashSet<ObjectId>,
    outvoted: &HashSet<ObjectId>,
) -> bool {
    let object = arena.find(object);
    let Some(fields) = arena.fields(object).filter(|_| !arena.user.kept.contains(&object)) else { return false };
    if let Some(outliers) = outliers(arena, object) {
        // A few objects have additional keys; keep the record and move these keys to the rest.
        arena.move_to_rest(object, |_, count| count < outliers);
        arena.settle();
        return false;
    }
    let is_root = arena.object_of(arena.root) == Some(object);
    // A record whose fields have most of the entries stays one: it has a rest because there were too many positions.
    let rest = fields.rest.as_ref().map_or(0, |rest| rest.keys.count);
    let is = rest * if is_root { 2 } else { 4 } > arena.object(object).lengths.total
        || (fields.list.len() >= least
            && if is_root {
                is_root_map(arena, object)
            } else {
                is_map(arena, &[object], &|object| has_map(arena, object))
            }
            && !has_tag(arena, object));
    if is
        && (outvoted.contains(&object) || !compare::is_acceptable(arena, object, &objects_below(arena, object), shared))
    {
        return false;
    }
    if is && arena.user.cautious && shared.contains(&object) {
        return false;
    }
    if is && shared.contains(&object) {
        // Maps are not shared, so a shared object becomes a record without fields.
        arena.move_to_rest(object, |_, _| true);
        arena.settle();
        return false;
    }
    if is {
        arena.collapse(object);
        arena.settle();
    }
    is
}

/// Returns whether the study of these objects found a tag that nearly all of them have.
fn has_tag(arena: &Arena, object: ObjectId) -> bool {
    let (Some(study), Some(fields)) = (&arena.object(object).study, arena.fields(object)) else { return false };
    let tags = study.tags(|hash| fields.find(hash).map(|index| fields.list[index].key.to_string()));
    let instances = arena.object(object).instances;
    let is_of_all = |key: &str| {
        let field = fields.list.iter().find(|field| *field.key == *key);
        // The sample may end in the middle of an object.
        field.is_some_and(|field| may_lack(is_usual(key), instances - arena.node(field.node).text_count(), instances))
    };
    study.has_usual_key() || tags.iter().any(|tag| is_of_all(&tag.key))
}

/// Returns whether the documents are maps. Documents usually have fields, so this needs stronger evidence than other
/// objects.
fn is_root_map(arena: &Arena, object: ObjectId) -> bool {
    let Some(fields) = arena.fields(object) else { return false };
    let used = fields.list.iter().filter(|field| arena.node(field.node).count() > 0);
    let (keys, data) =
        used.fold((0usize, 0usize), |(keys, data), field| (keys + 1, data + usize::from(is_data(&field.key))));
    let instances = usize::try_from(arena.object(object).instances).unwrap_or(usize::MAX);
    // Half of the keys are not names, or there are too many keys for a type with fields.
    let is_odd = keys >= 3 && data * 2 >= keys;
    let is_large = keys >= ROOT && instances.saturating_mul(4) < keys;
    (is_odd || is_large || instances >= 10) && is_map(arena, &[object], &|object| has_map(arena, object))
}

/// A single document with fewer keys is a record, however similar its values are.
const ROOT: usize = 48;

/// Returns the least count of a key that remains a field, if only a few objects have most of the keys. The record then
/// describes most objects, and the keys of the few objects do not make it a map.
fn outliers(arena: &Arena, object: ObjectId) -> Option<u64> {
    let seen = arena.object(object);
    let fields = arena.fields(object)?;
    let keys = fields.list.len() as u64 + fields.rest.as_ref().map_or(0, |rest| rest.keys.distinct());
    if seen.instances < 16 || keys < 128 || seen.lengths.total * 4 > keys * seen.instances {
        return None;
    }
    // The core: the keys of at least a tenth of the objects. Nearly all objects must have no other keys; if the sets of
    // keys are not known, nearly all entries must be of the core.
    let core: HashMap<u64, u64> = fields
        .list
        .iter()
        .map(|field| (field.hash, arena.node(field.node).count()))
        .filter(|(_, count)| count * 10 >= seen.instances)
        .collect();
    let (within, all) =
        seen.sets.within(|key| core.contains_key(&key)).unwrap_or((core.values().sum(), seen.lengths.total));
    if core.is_empty() || within * 10 < all * 9 {
        return None;
    }
    let least = seen.instances.div_ceil(100).max(2);
    // Rare keys that repeat are those of objects of another kind, and stay fields.
    let rare =
        fields.list.iter().map(|field| arena.node(field.node).count()).filter(|count| (1..least).contains(count));
    let (entries, once) = rare.fold((0, 0), |(entries, once), count| (entries + count, once + u64::from(count == 1)));
    (fields.rest.is_some() || share_of_new(once as f64, entries as f64) >= NEW).then_some(least)
}

/// Estimates the probability that the next key is new, from the number of keys that occur once and of all entries. It is less a
/// standard deviation: one key that occurs once, such as a rare field, shows nothing.
fn share_of_new(once: f64, entries: f64) -> f64 {
    (once - once.sqrt()) / entries.max(1.0)
}

/// Returns the objects that several positions share.
pub(super) fn shared(arena: &Arena) -> HashSet<ObjectId> {
    let (mut met, mut shared) = (HashSet::new(), HashSet::new());
    let mut nodes = vec![arena.root];
    while let Some(node) = nodes.pop() {
        nodes.extend(elements(arena, node));
        if let Some(object) = arena.object_of(node) {
            if met.insert(object) {
                nodes.extend(children(arena, object));
            } else {
                shared.insert(object);
            }
        }
    }
    shared
}

/// Returns whether the arrays of a position may be tuples: several arrays of one length, with one type at each index.
/// Also returns true for arrays of different lengths, whose positions are merged already.
fn may_be_tuple(arena: &Arena, node: NodeId) -> bool {
    let Some(array) = arena.node(node).array.as_ref() else { return false };
    let Fixed::At(length) = array.fixed else { return array.fixed == Fixed::Varied };
    let single = |&position: &NodeId| kinds(arena, position).count_ones() <= 1;
    length >= 2 && array.lengths.count >= 2 && array.positions[..length].iter().all(single)
}

/// Returns whether a node shares no descendant with another node, so that its sums are exact.
pub(super) fn is_unshared(arena: &Arena, node: NodeId) -> bool {
    let (mut nodes, mut seen) = (vec![node], HashSet::new());
    while let Some(node) = nodes.pop() {
        nodes.extend(elements(arena, node));
        if let Some(object) = arena.object_of(node).filter(|_| arena.node(node).objects > 0) {
            if arena.node(node).objects != arena.object(object).instances || !seen.insert(object) {
                return false;
            }
            nodes.extend(children(arena, object));
        }
    }
    true
}

/// Marks the records whose study found a tag. Also marks records at positions with the same name, or with the same
/// values of the tag: these are other levels of a recursive type, of which the sample may have a single variant.
fn unions(arena: &mut Arena) {
    let mut names = HashMap::<ObjectId, Vec<u64>>::new();
    let mut nodes = vec![arena.root];
    while let Some(node) = nodes.pop() {
        nodes.extend(elements(arena, node));
        let Some(object) = arena.object_of(node) else { continue };
        let known = names.entry(object).or_default();
        if known.is_empty() {
            nodes.extend(children(arena, object));
        }
        known.push(arena.node(node).name);
    }
    let may = |object: &ObjectId| arena.fields(*object).is_some() && !arena.user.untagged.contains(object);
    let mut objects: Vec<ObjectId> = names.keys().copied().filter(may).collect();
    objects.sort_unstable();
    let words = |arena: &Arena, object: ObjectId, tag: &str| -> Option<Vec<u64>> {
        let field = arena.fields(object)?.list.iter().find(|field| *field.key == *tag)?;
        let texts = arena.node(field.node).texts.as_ref()?;
        let instances = arena.object(object).instances;
        // Without a study, objects without a tag cannot be distinguished from the others.
        let odd = arena.node(field.node).count() - texts.count;
        let enough = may_lack(false, instances - texts.count, instances)
            || (is_usual(tag) && texts.count * 2 >= instances && are_odd(odd, instances));
        (enough && texts.exact().is_some()).then(|| texts.word_hashes().collect())
    };
    // The first tag of each object that its strings allow. Tags by the name of the position; `None` if positions with one
    // name have different tags.
    let mut found = HashMap::<ObjectId, Found>::new();
    let mut tags = HashMap::<u64, Option<Found>>::new();
    for &object in &objects {
        let (Some(study), Some(fields)) = (&arena.object(object).study, arena.fields(object)) else { continue };
        let key_of = |hash| fields.find(hash).map(|index| fields.list[index].key.to_string());
        let first = study.tags(key_of).into_iter().find(|tag| words(arena, object, &tag.key).is_some());
        let Some(tag) = first else { continue };
        for name in &names[&object] {
            match tags.entry(*name).or_insert_with(|| Some(tag.clone())) {
                Some(known) if known.key == tag.key => {
                    known.contents.extend(&tag.contents);
                    known.contents.sort_unstable();
                    known.contents.dedup();
                }
                // Positions with one name are often levels of one recursive type, so they get one tag.
                Some(known) if is_usual(&known.key) && !is_usual(&tag.key) => {}
                known @ Some(_) if is_usual(&tag.key) && known.as_ref().is_some_and(|known| !is_usual(&known.key)) => {
                    *known = Some(tag.clone());
                }
                known => *known = None,
            }
        }
        found.insert(object, tag);
    }
    let rejected = not_of_all(arena, &names, &tags);
    tags.retain(|name, _| !rejected.contains(name));
    found.retain(|object, tag| is_usual(&tag.key) || !names[object].iter().any(|name| rejected.contains(name)));
    // The values of each tag, and the keys of its objects.
    let mut values = HashMap::<String, (HashSet<u64>, HashSet<u64>)>::new();
    let mut mark = |arena: &mut Arena, object: ObjectId, tag: &Found, found: Vec<u64>| {
        let known = values.entry(tag.key.clone()).or_default();
        known.0.extend(found);
        known.1.extend(arena.fields(object).into_iter().flat_map(|fields| &fields.list).map(|field| field.hash));
        arena.object_mut(object).tag = Some(tag.key.as_str().into());
        arena.object_mut(object).contents = tag.contents.as_slice().into();
    };
    let mut given = HashSet::new();
    for one in arena.user.overrides.clone().iter() {
        if one.what == What::Untagged {
            for object in objects_at(arena, &one.steps) {
                if let Some(tag) = markers::find(arena, object, true) {
                    arena.object_mut(object).tag = Some(tag.into());
                }
            }
        }
        let What::Tag(key) = &one.what else { continue };
        for object in objects_at(arena, &one.steps) {
            given.insert(object);
            let Some(words) = words(arena, object, key) else { continue };
            let found = found.get(&object).filter(|found| found.key == *key).cloned();
            mark(arena, object, &found.unwrap_or(Found { key: key.clone(), contents: Vec::new() }), words);
        }
    }
    for &object in &objects {
        if arena.object(object).tag.is_some() {
            continue;
        }
        let of_name = names[&object].iter().find_map(|name| tags.get(name).cloned().flatten());
        let own = found.get(&object).cloned();
        let tags = of_name.into_iter().chain(own);
        let first = tags.into_iter().find_map(|tag| Some((words(arena, object, &tag.key)?, tag)));
        if let Some((found, tag)) = first {
            mark(arena, object, &tag, found);
        }
    }
    for &object in &objects {
        if arena.object(object).tag.is_some() {
            continue;
        }
        let mut tags: Vec<&String> = values.keys().collect();
        tags.sort();
        let like = |tag: &&String| {
            let (known, keys) = &values[*tag];
            let fields = arena.fields(object).map_or(&[][..], |fields| &fields.list);
            let common = fields.iter().filter(|field| keys.contains(&field.hash)).count();
            words(arena, object, tag).is_some_and(|found| found.iter().all(|word| known.contains(word)))
                && (common.max(1) - 1) * 2 >= fields.len() - 1
        };
        let tag = tags.into_iter().find(like).cloned();
        if let Some(tag) = tag {
            arena.object_mut(object).tag = Some((*tag).into());
        }
    }
    // The objects in those that get a tag now are studied again, for each variant.
    let tagged = objects.iter().filter(|&&object| arena.object(object).tag.is_some());
    let mut open: Vec<ObjectId> = tagged.flat_map(|&object| objects_below(arena, object)).collect();
    let mut inner = HashSet::new();
    while let Some(object) = open.pop() {
        if inner.insert(object) {
            open.extend(objects_below(arena, object));
        }
    }
    for &object in objects.iter().filter(|object| !given.contains(object) && !inner.contains(object)) {
        if arena.object(object).tag.is_none()
            && let Some(tag) = markers::find(arena, object, false)
        {
            arena.object_mut(object).tag = Some(tag.into());
        }
    }
}

/// Returns the names of positions whose objects, taken together, do not show the tag that some of the positions do: few
/// objects may seem to be of several types by chance.
fn not_of_all(arena: &Arena, names: &HashMap<ObjectId, Vec<u64>>, tags: &HashMap<u64, Option<Found>>) -> HashSet<u64> {
    let is_rejected = |name: &u64, key: &str| {
        let mut objects: Vec<ObjectId> =
            names.iter().filter(|(_, all)| all.contains(name)).map(|(&object, _)| object).collect();
        objects.sort_unstable();
        let fields = || objects.iter().filter_map(|&object| arena.fields(object)).flat_map(|fields| &fields.list);
        let mut all = Study::default();
        for study in objects.iter().filter_map(|&object| arena.object(object).study.as_deref()) {
            if !study.has_ended() {
                all.merge(study);
            }
        }
        let key_of = |hash| fields().find(|field| field.hash == hash).map(|field| field.key.to_string());
        !all.has_ended() && !all.tags(key_of).iter().any(|tag| tag.key == key)
    };
    let own = |(&name, tag): (&u64, &Option<Found>)| {
        let key = &tag.as_ref()?.key;
        (!is_usual(key) && is_rejected(&name, key)).then_some(name)
    };
    tags.iter().filter_map(own).collect()
}
