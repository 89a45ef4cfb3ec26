//! `crossbeam_skiplist::SkipMap<K, V>` and `SkipSet<T>`: a block for each entry, with a tower of pointers. The lowest pointers link
//! all entries.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, InModel, Part, Schema, SiteId, Use, Value, Walk, find, named, of_type};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[(LIST, recognise), ("crossbeam_skiplist::map::SkipMap", recognise), ("crossbeam_skiplist::set::SkipSet", recognise)]);

const LIST: &str = "crossbeam_skiplist::base::SkipList";

/// The bits of a pointer that say something about the node.
const TAGS: u64 = 7;

#[derive(Debug)]
struct SkipList {
    first: u64,
    node: u64,
    tower: u64,
    key: Part,
    value: Part,
    /// Where removed nodes wait.
    collector: Part,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let (at, ty) = of_type(schema, ty, LIST)?;
    let first = at + named(schema, ty, "head")?;
    let (collector, of_collector) = find(schema, ty, |field| &*field.name == "collector")?;
    let collector = Part { at: at + collector, site: schema.part(of_collector.ty, site, Edge::Inner) };
    let node = schema.by_path(&schema.get(ty).path.replacen("SkipList<", "Node<", 1), ty)?;
    let at = |name: &str| named(schema, node, name);
    let (tower, key, value) = (at("tower")?, at("key")?, at("value")?);
    let (of_key, of_value) = (schema.param(ty, "K")?, schema.param(ty, "V")?);
    let size = schema.get(node).size;
    let key = Part { at: key, site: schema.part(of_key, site, Edge::Key) };
    let value = Part { at: value, site: schema.part(of_value, site, Edge::Value) };
    Some(Rc::new(SkipList { first, node: size, tower, key, value, collector }))
}

impl Decoder for SkipList {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        cx.part(&self.collector, value);
        let mut next = value.word(self.first);
        let mut is_empty = true;
        while let Some(block) = next.and_then(|at| cx.block_at(at & !TAGS)) {
            let allocation = cx.block(block);
            if allocation.size < self.node || !cx.claim(block, value.site, Use { len: 1, capacity: 1, ..Use::default() }) {
                break;
            }
            is_empty = false;
            // A node that nothing counts any more waits to be freed. Its key and value were not dropped yet.
            cx.later(block, value.site, [0; 3]);
            next = allocation.addr.checked_add(self.tower).and_then(|at| cx.word(at));
        }
        is_empty
    }

    fn read_block(&self, cx: &mut Walk<'_, '_>, block: usize, _: SiteId, _: [u64; 3]) {
        for part in [&self.key, &self.value] {
            let size = cx.schema.sites[part.site].size;
            cx.run_now(block, part.site, part.at, size, 1);
        }
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        let (key, value) = (&schema.sites[self.key.site], &schema.sites[self.value.site]);
        let name = if value.size == 0 { Text::clone(&key.name) } else { format!("({}, {})", key.name, value.name).into() };
        Some((name, self.node))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Sequence(Holder::Other, self.value.site)
    }
}
