//! Tests of merges.

use super::*;
use crate::infer::text::hash;

/// Creates a record that one object with these keys was counted in.
fn record(arena: &mut Arena, keys: &[&str]) -> ObjectId {
    let object = arena.new_object();
    for key in keys {
        let index = arena.new_field(object, None, key, hash(key));
        let node = arena.fields(object).unwrap().list[index].node;
        arena.node_mut(node).nulls = 1;
    }
    arena.object_mut(object).instances = 1;
    object
}

#[test]
fn copy_of_a_map_within_itself_ends() {
    let mut arena = Arena::new(false);
    let (map, value, node) = (arena.new_object(), arena.new_node(0), arena.new_node(0));
    arena.object_mut(map).shape = Shape::Map { keys: Box::default(), value };
    arena.node_mut(value).object = Some(map);
    arena.node_mut(node).object = Some(map);
    let copy = arena.copy_node(node, &mut Vec::new());
    let copied = arena.object_of(copy).unwrap();
    let Shape::Map { value, .. } = arena.object(copied).shape else { panic!("not a map") };
    assert_eq!((arena.object_of(value), copied == map), (Some(map), false));
}

/// Creates a union that one object with the tag `type` was counted in.
fn union(arena: &mut Arena) -> ObjectId {
    let (union, template) = (arena.new_object(), arena.new_object());
    let variant = record(arena, &["type", "x"]);
    let mut tagged = Tagged::new("type".into(), template);
    tagged.push("a".into(), hash("a"), variant);
    arena.object_mut(union).shape = Shape::Union(Box::new(tagged));
    arena.object_mut(union).instances = 1;
    union
}

#[test]
fn record_with_the_tag_is_a_variant_and_not_untagged() {
    // Under the tag, the record has nothing, null, or a string; the last two also among the keys that are no fields.
    for (fields, rest, text, is_union) in [
        (&["y"][..], &[][..], false, true),
        (&["y", "type"], &[], false, true),
        (&["y", "type"], &[], true, true),
        (&["y"], &["z"], false, true),
        (&["y"], &["type"], false, false),
        (&["y"], &["type"], true, false),
    ] {
        for union_first in [true, false] {
            let mut arena = Arena::new(false);
            let (union, other) = if union_first {
                let union = union(&mut arena);
                (union, record(&mut arena, fields))
            } else {
                let other = record(&mut arena, fields);
                (union(&mut arena), other)
            };
            for key in rest {
                let rest = arena.rest(other).unwrap();
                rest.keys.add_key(key, hash(key), 1);
                let value = rest.value;
                arena.node_mut(value).nulls = 1;
            }
            if text {
                let list = &arena.fields(other).unwrap().list;
                let field = list.iter().find(|field| *field.key == *"type").map(|field| field.node);
                let node = field.unwrap_or_else(|| arena.rest(other).unwrap().value);
                *arena.node_mut(node) = Node::default();
                let (node, room) = arena.node_and_room(node);
                node.texts.get_or_insert_default().add("b", hash("b"), room);
            }
            let objects = if union_first { [union, other] } else { [other, union] };
            arena.join(&objects);
            arena.settle();
            let joined = arena.find(union);
            assert_eq!((arena.find(other), arena.object(joined).instances), (joined, 2));
            assert_eq!(arena.tagged(joined).is_some(), is_union, "{fields:?} {rest:?} {text}");
            if let Some(tagged) = arena.tagged(joined) {
                let part = if text { tagged.find(hash("b")) } else { tagged.untagged };
                assert_eq!(arena.object(arena.find(part.unwrap())).instances, 1);
            }
        }
    }
}

#[test]
fn merge_ends_if_the_untagged_objects_of_a_union_are_a_link_to_it() {
    let mut arena = Arena::new(false);
    let union = union(&mut arena);
    let link = arena.new_object();
    arena.tagged_mut(union).unwrap().untagged = Some(link);
    arena.object_mut(link).link = Some(union);
    let other = record(&mut arena, &["y"]);
    arena.join(&[union, other]);
    assert!((0..100).any(|_| !arena.settle_one()), "the merge does not end");
    assert_eq!(arena.object(union).instances, 2);
    let untagged = arena.find(arena.object(union).shape.untagged().unwrap());
    assert_ne!(untagged, union);
    assert_eq!((arena.object(untagged).instances, arena.find(other)), (1, union));
}

#[test]
fn contents_before_their_tags_take_no_memory_for_each_text() {
    use crate::infer::Accumulator;
    let text = |n: usize| {
        let kind = ["login", "order", "error"][n % 3];
        format!("{{\"data\":{{\"{kind}_a\":{{\"x\":{n}}},\"{kind}_b\":1,\"{kind}_c\":2}},\"event\":\"{kind}\"}}")
    };
    let read = |accumulator: &mut Accumulator, texts: usize| {
        for n in 0..texts {
            accumulator.read(&mut serde_json::Deserializer::from_str(&text(n))).unwrap();
        }
    };
    let mut study = Accumulator::new();
    read(&mut study, 300);
    let mut study = study.into_form().study();
    read(&mut study, 300);
    let mut all = study.into_form().blank().start(1);
    read(&mut all, 20_000);
    assert!(all.0.objects.len() < 10_000 && all.0.nodes.len() < 1000, "{} objects", all.0.objects.len());
    let schema = all.finish();
    let optional =
        |record: &&crate::schema::Record| record.fields.iter().any(|field| field.slot.count < record.instances);
    assert_eq!(schema.records.iter().filter(optional).count(), 0);
    assert_eq!(schema.unions[0].variants.len(), 3);
}
