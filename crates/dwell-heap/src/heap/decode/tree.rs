//! `BTreeMap<K, V>` and `BTreeSet<T>`. A leaf has up to 11 keys and values; an inner node also has up to 12 edges.

use crate::debuginfo::{Kind, Text, TypeId};
use crate::heap::walk::{BlockType, Blocks, CallStack, Decoded, Decoder, Entries, Family, InModel, Opaque, Schema, SiteId, Start, Use, Value, WORD, Walk, argument, find, head, named, of_type, pointee, word};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

const MAP: &str = "alloc::collections::btree::map::BTreeMap";
const LEAF: &str = "alloc::collections::btree::node::LeafNode";
const INNER: &str = "alloc::collections::btree::node::InternalNode";
/// The number of keys of a full node.
const CAPACITY: u64 = 11;
/// The greatest height of a B-tree: a higher one would not fit in memory.
const TALLEST: u64 = 24;
/// The height of a node that only its call stack describes. Its edges tell the height.
const UNKNOWN: u64 = u64::MAX;
const NODES: &str = "tree";
/// The variants of a block: a leaf, or a node with edges.
const IS_LEAF: u8 = 0;
const IS_INNER: u8 = 1;

pub(super) const FAMILY: Family = Family {
    of_frame,
    content,
    blocks: Some(Blocks { name: NODES, site: nodes }),
    ..Family::new(&[(MAP, map), ("alloc::collections::btree::set::BTreeSet", set)])
};

#[derive(Debug)]
struct Tree {
    /// `None` if only the block is known.
    header: Option<Header>,
    node: Node,
}

#[derive(Debug)]
struct Header {
    root: u64,
    height: u64,
    len: u64,
}

/// A leaf's parts.
#[derive(Clone, Copy, Debug)]
struct Node {
    len: u64,
    keys: Array,
    values: Array,
    /// The size of a leaf. In an inner node the edges follow.
    size: u64,
}

#[derive(Clone, Copy, Debug)]
struct Array {
    at: u64,
    stride: u64,
    site: SiteId,
}

fn map(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    recognise(schema, ty, site, false)
}

fn set(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let (at, map) = of_type(schema, ty, MAP)?;
    if at != 0 {
        return None;
    }
    recognise(schema, map, site, true)
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId, is_set: bool) -> Decoded {
    let (root_at, root) = find(schema, ty, |field| &*field.name == "root").map(|(at, field)| (at, field.ty))?;
    let header = Header {
        root: root_at + named(schema, root, "node")?,
        height: root_at + named(schema, root, "height")?,
        len: named(schema, ty, "length")?,
    };
    let leaf = pointee(schema, root)?;
    let node = Node::from_leaf(schema, leaf, site, is_set)?;
    Some(Rc::new(Tree { header: Some(header), node }))
}

impl Node {
    fn from_leaf(schema: &mut Schema<'_>, leaf: TypeId, site: SiteId, is_set: bool) -> Option<Self> {
        let size = schema.get(leaf).size;
        let array = |schema: &Schema<'_>, name: &str| {
            let (at, field) = find(schema, leaf, |field| &*field.name == name)?;
            match schema.get(field.ty).kind {
                Kind::Array { element, count: CAPACITY } => Some((at, schema.get(element).size)),
                _ => None,
            }
        };
        let (keys, key) = array(schema, "keys")?;
        let (values, value) = array(schema, "vals")?;
        let len = named(schema, leaf, "len")?;
        let (of_key, of_value) = (schema.param(leaf, "K")?, schema.param(leaf, "V")?);
        let of_keys = if is_set { Edge::Element } else { Edge::Key };
        Some(Self {
            len,
            keys: Array { at: keys, stride: key, site: schema.part(of_key, site, of_keys) },
            values: Array { at: values, stride: value, site: schema.part(of_value, site, Edge::Value) },
            size,
        })
    }

    /// The bytes of a key and a value.
    fn entry(&self) -> u64 {
        self.keys.stride.saturating_add(self.values.stride)
    }

    /// Returns the number of keys in a block.
    fn keys_in(&self, cx: &mut Walk<'_, '_>, block: usize) -> u64 {
        let addr = cx.block(block).addr;
        let mut bytes = Vec::new();
        if !cx.memory(addr + self.len, 2, &mut bytes) {
            return 0;
        }
        u64::from(u16::from_le_bytes([bytes[0], bytes[1]])).min(CAPACITY)
    }

    fn used(&self, cx: &mut Walk<'_, '_>, block: usize) -> Use {
        let len = self.keys_in(cx, block);
        let unused = (CAPACITY - len).saturating_mul(self.entry());
        Use { len, capacity: CAPACITY, unused, is_unknown: false }
    }

    fn claim(&self, cx: &mut Walk<'_, '_>, block: usize, site: SiteId, height: u64) {
        let bytes = if height == 0 || height == UNKNOWN { self.size } else { self.size.next_multiple_of(WORD) + WORD * (CAPACITY + 1) };
        if !cx.fits(block, bytes) {
            return;
        }
        let used = self.used(cx, block);
        if cx.claim(block, site, used) {
            cx.is_requested(block, bytes);
            cx.later(block, site, [height, 0, 0]);
        }
    }
}

fn of_frame(stack: &CallStack<'_, '_>) -> Option<BlockType> {
    if !stack.starts(&["alloc::boxed::", "alloc::rc::", "alloc::sync::"]) {
        return None;
    }
    let ty = stack.param()?;
    let definition = stack.schema.get(ty);
    let (leaf, variant) = match head(&definition.path) {
        LEAF => (ty, IS_LEAF),
        INNER => (stack.schema.by_path(&definition.path.replacen("InternalNode", "LeafNode", 1), ty)?, IS_INNER),
        _ => return None,
    };
    let path = |key: &str, value: &str| format!("{LEAF}<{key}, {value}>");
    Some(BlockType::Own(NODES, stack.of_map(&["alloc::collections::btree::"], &path, leaf), variant))
}

fn content(ty: BlockType, stack: &CallStack<'_, '_>) -> Option<String> {
    let BlockType::Own(name, leaf, _) = ty else { return None };
    if name != NODES {
        return None;
    }
    let arguments = argument(&stack.schema.get(leaf).name);
    Some(match arguments.strip_suffix(", SetValZST") {
        Some(key) => format!("BTreeSet<{key}>"),
        None => format!("BTreeMap<{arguments}>"),
    })
}

impl Decoder for Tree {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some(header) = &self.header else { return false };
        let len = value.word(header.len).unwrap_or(0);
        let (Some(root), Some(height)) = (value.word(header.root), value.word(header.height)) else { return true };
        if root != 0
            && height <= TALLEST
            && let Some(block) = cx.block_at(root)
        {
            self.node.claim(cx, block, value.site, height);
        }
        len == 0
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], _: u32) -> bool {
        let Some(header) = &self.header else { return true };
        let words = [header.root, header.height, header.len].map(|at| word(bytes, at));
        let [Some(root), Some(height), Some(len)] = words else { return false };
        if root == 0 { len == 0 } else { height <= TALLEST && cx.block_at(root).is_some() }
    }

    fn read_block(&self, cx: &mut Walk<'_, '_>, block: usize, site: SiteId, [height, ..]: [u64; 3]) {
        let Node { keys, values, .. } = self.node;
        let allocation = cx.block(block);
        let len = self.node.keys_in(cx, block);
        cx.run_now(block, keys.site, keys.at, keys.stride, len);
        cx.run_now(block, values.site, values.at, values.stride, len);
        let edges = self.node.size.next_multiple_of(WORD);
        if height == 0 || edges + (CAPACITY + 1) * WORD > allocation.size {
            return;
        }
        for edge in 0..=len {
            let Some(child) = cx.word(allocation.addr + edges + edge * WORD) else { return };
            let Some(child) = cx.block_at(child) else { continue };
            let height = match height {
                UNKNOWN if cx.type_of(child).is_some_and(is_inner) => UNKNOWN,
                UNKNOWN => 0,
                _ => height - 1,
            };
            self.node.claim(cx, child, site, height);
        }
    }

    fn start(&self, cx: &mut Walk<'_, '_>, block: usize, variant: u8, start: Start) {
        let height = if variant == IS_INNER { UNKNOWN } else { 0 };
        let used = self.node.used(cx, block);
        let (site, name) = (start.site, start.name(cx));
        if self.node.size <= cx.block(block).size && cx.claim_start(block, start, (name, self.node.entry()), used) {
            cx.later(block, site, [height, 0, 0]);
        }
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        let (key, value) = (&schema.sites[self.node.keys.site], &schema.sites[self.node.values.site]);
        Some(if value.size == 0 {
            (Text::clone(&key.name), key.size)
        } else {
            (format!("({}, {})", key.name, value.name).into(), self.node.entry())
        })
    }

    fn entries(&self, cx: &mut Walk<'_, '_>, block: usize) -> Option<Entries> {
        let Node { keys, values, .. } = self.node;
        let allocation = cx.block(block);
        if allocation.size < self.node.size || values.stride == 0 {
            return None;
        }
        let entry = |index: u64| (allocation.addr + keys.at + index * keys.stride, allocation.addr + values.at + index * values.stride);
        let at = (0..self.node.keys_in(cx, block)).map(entry).collect();
        Some(Entries { key: keys.site, value: values.site, at })
    }

    fn shape(&self, model: &InModel<'_, '_>) -> Shape {
        if self.header.is_none() && !model.is_met {
            return Shape::Leaf;
        }
        if model.name.starts_with("BTreeMap<") {
            Shape::Map(Holder::BTree, self.node.keys.site, self.node.values.site)
        } else {
            Shape::Sequence(Holder::Other, self.node.keys.site)
        }
    }

    fn shape_of_block(&self) -> Option<Shape> {
        Some(Shape::Map(Holder::BTree, self.node.keys.site, self.node.values.site))
    }
}

fn is_inner(ty: BlockType) -> bool {
    matches!(ty, BlockType::Own(name, _, IS_INNER) if name == NODES)
}

/// Creates the site of nodes without a known owner.
fn nodes(schema: &mut Schema<'_>, leaf: TypeId, content: &str) -> SiteId {
    schema.made(content, content, |schema, site| match Node::from_leaf(schema, leaf, site, content.starts_with("BTreeSet<")) {
        Some(node) => Rc::new(Tree { header: None, node }),
        None => Rc::new(Opaque),
    })
}
