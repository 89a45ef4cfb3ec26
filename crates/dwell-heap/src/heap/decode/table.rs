//! `HashMap`, `HashSet` and `HashTable` of std and hashbrown. A block has the buckets, then a control byte for each.

use crate::arch::GROUP;
use crate::debuginfo::{Kind, Text, TypeId};
use crate::heap::walk::{AT_ONCE, BlockType, Blocks, CallStack, Decoded, Decoder, Entries, Family, Holds, InModel, Movable, Part, Schema, SiteId, Start, TOGETHER, Use, Value, Walk, head, length, named, of_type, sub, word};
use dwell_model::{Edge, Holder, Shape, table};
use std::rc::Rc;

/// The most buckets that are read.
const MOST: u64 = 1 << 40;
const TABLES: &str = "table";
/// The table inside all of them. Before hashbrown 0.15 it was in a module of its own.
const RAW: &str = "hashbrown::raw::RawTable";
const OLD_RAW: &str = "hashbrown::raw::inner::RawTable";

pub(super) const FAMILY: Family = Family {
    of_frame,
    content,
    blocks: Some(Blocks { name: TABLES, site: tables }),
    ..Family::new(&[
        ("std::collections::hash::map::HashMap", recognise),
        ("std::collections::hash::set::HashSet", recognise),
        ("hashbrown::map::HashMap", recognise),
        ("hashbrown::set::HashSet", recognise),
        ("hashbrown::table::HashTable", recognise),
        (RAW, recognise),
        (OLD_RAW, recognise),
    ])
};

#[derive(Debug)]
struct Table {
    /// `None` if only the block is known.
    header: Option<Header>,
    parts: Vec<Part>,
    stride: u64,
    align: u64,
}

#[derive(Clone, Copy, Debug)]
struct Header {
    ctrl: u64,
    mask: u64,
    items: u64,
}

/// The collection that a hash table implements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Collection {
    Map,
    Set,
    Table,
}

impl Collection {
    fn from_name(name: &str) -> Self {
        match name {
            "HashMap" => Self::Map,
            "HashSet" => Self::Set,
            _ => Self::Table,
        }
    }
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let (at, table) = of_type(schema, ty, RAW).or_else(|| of_type(schema, ty, OLD_RAW))?;
    let header = Header {
        ctrl: at + named(schema, table, "ctrl")?,
        mask: at + named(schema, table, "bucket_mask")?,
        items: at + named(schema, table, "items")?,
    };
    let entry = schema.param(table, "T")?;
    let path = head(&schema.get(ty).path);
    let kind = Collection::from_name(path.rsplit("::").next().unwrap_or(path));
    Some(Rc::new(table_of(schema, entry, site, kind, Some(header))))
}

fn table_of(schema: &mut Schema<'_>, entry: TypeId, site: SiteId, kind: Collection, header: Option<Header>) -> Table {
    let definition = schema.get(entry);
    let parts: Vec<(u64, TypeId, Edge)> = match (&definition.kind, kind) {
        (Kind::Struct(fields), Collection::Map) if fields.len() == 2 => {
            fields.iter().zip([Edge::Key, Edge::Value]).map(|(field, edge)| (field.offset, field.ty, edge)).collect()
        }
        (Kind::Struct(fields), Collection::Set) if fields.len() == 2 => {
            vec![(fields[0].offset, fields[0].ty, Edge::Element)]
        }
        _ => vec![(0, entry, Edge::Element)],
    };
    let parts = parts.into_iter().map(|(at, ty, edge)| Part { at, site: schema.part(ty, site, edge) }).collect();
    Table { header, parts, stride: definition.size, align: definition.align }
}

fn of_frame(stack: &CallStack<'_, '_>) -> Option<BlockType> {
    if !stack.starts(&["hashbrown::raw::"]) {
        return None;
    }
    let ty = stack.param()?;
    if head(&stack.schema.get(ty).path).ends_with("::Global") {
        return None;
    }
    let path = |key: &str, value: &str| format!("({key}, {value})");
    Some(BlockType::Own(TABLES, stack.of_map(&["hashbrown::", "std::collections::hash::"], &path, ty), 0))
}

fn content(ty: BlockType, stack: &CallStack<'_, '_>) -> Option<String> {
    let BlockType::Own(name, entry, _) = ty else { return None };
    if name != TABLES {
        return None;
    }
    let entry_name = &stack.schema.get(entry).name;
    let kind = if stack.has("std::collections::hash::set") || stack.has("hashbrown::set") {
        Collection::Set
    } else if stack.has("std::collections::hash::map") || stack.has("hashbrown::map") {
        Collection::Map
    } else {
        Collection::Table
    };
    Some(shown(entry_name, kind))
}

/// Returns the name of a collection with this entry.
fn shown(entry: &str, kind: Collection) -> String {
    let pair = entry.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(entry);
    match kind {
        Collection::Map => format!("HashMap<{pair}>"),
        Collection::Set => format!("HashSet<{}>", pair.strip_suffix(", ()").unwrap_or(pair)),
        Collection::Table => format!("HashTable<{entry}>"),
    }
}

/// Creates the site of blocks without a known owner.
fn tables(schema: &mut Schema<'_>, entry: TypeId, content: &str) -> SiteId {
    let kind = Collection::from_name(content.split('<').next().unwrap_or_default());
    let name = shown(&schema.get(entry).name, kind);
    schema.made(&name, &name, |schema, site| Rc::new(table_of(schema, entry, site, kind, None)))
}

/// Returns the number of buckets in a table of `size` bytes, and the offset of its control bytes.
fn buckets_of(size: u64, stride: u64, align: u64) -> Option<(u64, u64)> {
    (2..40).map(|power| 1_u64 << power).find_map(|buckets| {
        let (data, end) = table::layout_with(buckets, stride, align, GROUP)?;
        (end == size).then_some((buckets, data))
    })
}

/// Returns the indices of a table's full buckets.
fn full(cx: &mut Walk<'_, '_>, ctrl: u64, buckets: u64) -> Vec<u64> {
    let mut bytes = Vec::new();
    if buckets > MOST || !cx.memory(ctrl, length(buckets), &mut bytes) {
        return Vec::new();
    }
    (0..).zip(&bytes).filter(|(_, byte)| **byte & 0x80 == 0).map(|(bucket, _)| bucket).collect()
}

impl Table {
    /// Returns the block of a table, with the number of its buckets and the offset of its control bytes.
    fn block(&self, cx: &Walk<'_, '_>, ctrl: u64, mask: u64, items: u64) -> Option<(usize, u64, u64)> {
        let buckets = mask.checked_add(1).filter(|buckets| buckets.is_power_of_two() && *buckets > 1)?;
        let (data, end) = table::layout_with(buckets, self.stride, self.align, GROUP)?;
        let block = cx.block_at(ctrl.checked_sub(data)?)?;
        (cx.fits(block, end) && items <= buckets).then_some((block, buckets, data))
    }

    /// Returns the addresses of the entries in a block, and the number of buckets.
    fn full_in(&self, cx: &mut Walk<'_, '_>, block: usize) -> Option<(Vec<u64>, u64)> {
        let allocation = cx.block(block);
        let (buckets, ctrl) = buckets_of(allocation.size, self.stride, self.align)?;
        let start = allocation.addr + ctrl;
        let entry = |bucket: u64| start.checked_sub((bucket + 1).checked_mul(self.stride)?);
        Some((full(cx, start, buckets).into_iter().filter_map(entry).collect(), buckets))
    }

    fn used(&self, size: u64, len: u64, buckets: u64) -> Use {
        Use { len, capacity: buckets, unused: size.saturating_sub(len.saturating_mul(self.stride)), is_unknown: false }
    }
}

impl Decoder for Table {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some(header) = self.header else { return false };
        let words = [header.ctrl, header.mask, header.items].map(|at| value.word(at));
        let [Some(ctrl), Some(mask), Some(items)] = words else { return true };
        if let Some((block, buckets, data)) = self.block(cx, ctrl, mask, items) {
            let used = self.used(cx.block(block).size, items, buckets);
            if cx.claim(block, value.site, used) {
                let whole = table::layout_with(buckets, self.stride, self.align, GROUP);
                cx.is_requested(block, whole.map_or(0, |(_, end)| end));
                cx.later(block, value.site, [buckets, data, 0]);
            }
        }
        items == 0
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], _: u32) -> bool {
        let Some(header) = self.header else { return true };
        let words = [header.ctrl, header.mask, header.items].map(|at| word(bytes, at));
        let [Some(ctrl), Some(mask), Some(items)] = words else { return false };
        // An empty table has no block.
        mask == 0 && items == 0 && ctrl != 0 || self.block(cx, ctrl, mask, items).is_some()
    }

    fn read_block(&self, cx: &mut Walk<'_, '_>, block: usize, site: SiteId, [buckets, ctrl, from]: [u64; 3]) {
        let allocation = cx.block(block);
        if ctrl.saturating_add(buckets) > allocation.size {
            return;
        }
        let mut bytes = Vec::new();
        let until = buckets.min(from.saturating_add(AT_ONCE));
        if until < buckets {
            cx.later(block, site, [buckets, ctrl, until]);
        }
        let mut group = Vec::new();
        let full = full(cx, allocation.addr + ctrl + from, until.saturating_sub(from));
        for buckets in full.chunks(length((TOGETHER / self.stride.max(1)).max(1))) {
            group.clear();
            let mut entries = 0;
            for bucket in buckets {
                let back = (bucket + from + 1).checked_mul(self.stride);
                let Some(at) = back.and_then(|back| ctrl.checked_sub(back)) else { break };
                if !cx.memory(allocation.addr + at, length(self.stride), &mut bytes) {
                    break;
                }
                group.extend_from_slice(&bytes);
                entries += 1;
            }
            cx.touch(&group);
            for entry in 0..entries {
                let bytes = sub(&group, entry * self.stride, self.stride);
                let entry = Value { site: 0, bytes, weight: u64::from(allocation.weight) };
                for part in &self.parts {
                    cx.part(part, entry);
                }
            }
            if entries < buckets.len() as u64 {
                break;
            }
        }
    }

    fn start(&self, cx: &mut Walk<'_, '_>, block: usize, _: u8, start: Start) {
        let allocation = cx.block(block);
        let Some((buckets, ctrl)) = buckets_of(allocation.size, self.stride, self.align) else {
            return cx.start_unknown(block, start, self.stride);
        };
        // The control bytes tell which buckets are full.
        let len = full(cx, allocation.addr + ctrl, buckets).len() as u64;
        let (site, name) = (start.site, start.name(cx));
        if cx.claim_start(block, start, (name, self.stride), self.used(allocation.size, len, buckets)) {
            cx.later(block, site, [buckets, ctrl, 0]);
        }
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(match self.parts.as_slice() {
            [key, value] => {
                let names = [key, value].map(|part| &schema.sites[part.site].name);
                (format!("({}, {})", names[0], names[1]).into(), self.stride)
            }
            [one] => schema.element(one.site),
            _ => ("?".into(), self.stride),
        })
    }

    fn shape(&self, model: &InModel<'_, '_>) -> Shape {
        match self.parts.as_slice() {
            _ if self.header.is_none() && !model.is_met => Shape::Leaf,
            [key, value] => Shape::Map(Holder::Growable, key.site, value.site),
            [one] if self.header.is_none() => Shape::Sequence(Holder::LikeGrowable, one.site),
            [one] if model.is_met => Shape::Sequence(Holder::Other, one.site),
            _ => Shape::Leaf,
        }
    }

    fn shape_of_block(&self) -> Option<Shape> {
        match self.parts.as_slice() {
            [key, value] => Some(Shape::Map(Holder::Growable, key.site, value.site)),
            [one] => Some(Shape::Sequence(Holder::LikeGrowable, one.site)),
            _ => None,
        }
    }

    fn entries(&self, cx: &mut Walk<'_, '_>, block: usize) -> Option<Entries> {
        let [key, value] = &self.parts[..] else { return None };
        let (at, _) = self.full_in(cx, block)?;
        let at = at.into_iter().map(|at| (at + key.at, at + value.at)).collect();
        Some(Entries { key: key.site, value: value.site, at })
    }

    fn moves(&self) -> bool {
        true
    }

    fn movable(&self, cx: &mut Walk<'_, '_>, block: usize) -> Option<Movable> {
        let (at, capacity) = self.full_in(cx, block)?;
        Some(Movable { at, stride: self.stride, capacity })
    }

    fn holds(&self) -> Holds {
        Holds::Table
    }
}
