//! Decoders for well-known types, in one table. The decoders for types of other crates than std are in `crate_types`.

#![expect(clippy::similar_names, clippy::unnecessary_wraps, reason = "rows of one table")]

use super::crate_types;
use super::fields::{fields, find, named, of_type, pointee, wide};
use super::once;
use super::types::{Decode, Decoder, Node, Part, Schema, SiteId, TableHeader, Target, TreeHeader, VecHeader, head};
use crate::debuginfo::{Kind, TypeId};
use dwell::model::Edge;

/// The path of a type without arguments, and its decoder.
const TABLE: [(&str, Decoder); 42] = [
    ("alloc::vec::Vec", vec),
    ("alloc::string::String", text),
    ("std::ffi::os_str::OsString", text),
    ("std::path::PathBuf", text),
    ("alloc::ffi::c_str::CString", boxed_text),
    ("std::path::Path", opaque),
    ("alloc::boxed::Box", boxed),
    ("alloc::rc::Rc", counted),
    ("alloc::sync::Arc", counted),
    ("alloc::rc::Weak", weak),
    ("alloc::sync::Weak", weak),
    ("alloc::vec::into_iter::IntoIter", into_iter),
    (once::LOCK, once_lock),
    (once::LAZY, lazy_lock),
    ("alloc::collections::vec_deque::VecDeque", deque),
    ("alloc::collections::binary_heap::BinaryHeap", heap),
    ("alloc::collections::linked_list::LinkedList", list),
    ("alloc::collections::btree::map::BTreeMap", tree),
    ("alloc::collections::btree::set::BTreeSet", tree_set),
    ("std::collections::hash::map::HashMap", table),
    ("std::collections::hash::set::HashSet", table),
    ("hashbrown::map::HashMap", table),
    ("hashbrown::set::HashSet", table),
    ("hashbrown::table::HashTable", table),
    ("hashbrown::raw::RawTable", table),
    // A `PhantomData<T>` does not store a `T`.
    ("core::marker::PhantomData", nothing),
    ("core::mem::maybe_uninit::MaybeUninit", opaque),
    ("smallvec::SmallVec", crate_types::small_vec),
    ("compact_str::CompactString", crate_types::compact),
    ("bytes::bytes::Bytes", crate_types::bytes),
    ("bytes::bytes_mut::BytesMut", crate_types::bytes_mut),
    ("dwell::small::SmallBox", crate_types::small_box),
    ("dwell::slab::slot::Slot", crate_types::slot),
    ("dwell::bump::boxed::Box", crate_types::slot),
    ("dwell::bump::vec::Vec", crate_types::bump_vec),
    ("dwell::bump::unmanaged::UnmanagedVec", crate_types::bump_vec),
    ("dwell::sparse::Sparse", crate_types::sparse),
    ("dwell::sparse::thin_str::ThinStr", crate_types::thin_str),
    ("dwell::sparse::thin_slice::ThinSlice", crate_types::thin_slice),
    ("dwell::sparse::sorted_map::SortedMap", crate_types::thin_slice),
    ("dwell::sparse::sorted_set::SortedSet", crate_types::thin_slice),
    ("dwell::sparse::sorted::Sorted", crate_types::thin_slice),
];

/// Returns the decoding of a well-known type.
pub(crate) fn decode(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let of = schema.get(ty);
    let head = head(&of.path);
    let (_, row) = TABLE.iter().find(|(path, _)| *path == head)?;
    row(schema, ty, site)
}

fn nothing(_: &mut Schema<'_>, _: TypeId, _: SiteId) -> Option<Decode> {
    Some(Decode::Plain)
}

fn opaque(_: &mut Schema<'_>, _: TypeId, _: SiteId) -> Option<Decode> {
    Some(Decode::Opaque)
}

fn vec_header(schema: &Schema<'_>, ty: TypeId) -> Option<VecHeader> {
    let (at, vec) = of_type(schema, ty, "alloc::vec::Vec")?;
    Some(VecHeader {
        ptr: at + named(schema, vec, "ptr")?,
        cap: Some(at + named(schema, vec, "cap")?),
        len: at + named(schema, vec, "len")?,
    })
}

/// Returns the header of a `Vec` of `element`, if the program has this type.
pub(crate) fn header_of(schema: &Schema<'_>, element: TypeId) -> Option<VecHeader> {
    let path = format!("alloc::vec::Vec<{}, alloc::alloc::Global>", schema.get(element).path);
    vec_header(schema, schema.by_path(&path)?)
}

fn vec(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let header = vec_header(schema, ty)?;
    let element = schema.param(ty, "T")?;
    Some(vec_of(schema, element, site, Some(header)))
}

/// Returns the decoding of a `Vec` of `element`. `header` is `None` if only the block is known.
pub(crate) fn vec_of(schema: &mut Schema<'_>, element: TypeId, site: SiteId, header: Option<VecHeader>) -> Decode {
    let stride = schema.get(element).size;
    Decode::Vec { header, element: schema.part(element, site, Edge::Element), stride }
}

fn heap(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let (_, inner) = of_type(schema, ty, "alloc::vec::Vec")?;
    let header = vec_header(schema, ty)?;
    let element = schema.param(inner, "T")?;
    Some(vec_of(schema, element, site, Some(header)))
}

fn text(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Option<Decode> {
    Some(Decode::Text { header: Some(vec_header(schema, ty)?) })
}

fn boxed_text(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Option<Decode> {
    let (at, of) = find(schema, ty, |field| matches!(schema.get(field.ty).kind, Kind::WidePointer { .. }))?;
    wide(schema, of.ty)
        .map(|header| Decode::Text { header: Some(VecHeader { ptr: at + header.ptr, len: at + header.len, ..header }) })
}

/// Decodes the elements that are left in a `vec::IntoIter`.
fn into_iter(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let at = |name: &str| named(schema, ty, name);
    let (start, cap, ptr, end) = (at("buf")?, at("cap")?, at("ptr")?, at("end")?);
    let element = schema.param(ty, "T")?;
    let stride = schema.get(element).size;
    Some(Decode::Iter { start, cap, ptr, end, element: schema.part(element, site, Edge::Element), stride })
}

fn once_lock(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    once_of(schema, ty, site, "value")
}

fn lazy_lock(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    once_of(schema, ty, site, "data")
}

/// Decodes a type with a `Once` and the value in `field`, whose offset in this field is 0.
fn once_of(schema: &mut Schema<'_>, ty: TypeId, site: SiteId, field: &str) -> Option<Decode> {
    let complete = (*schema.once_complete.get_or_init(|| once::complete(schema)))?;
    let (state, at) = (named(schema, ty, once::STATE)?, named(schema, ty, field)?);
    let value = schema.param(ty, "T")?;
    Some(Decode::Once { state, complete, value: Part { at, site: schema.part(value, site, Edge::Inner) } })
}

fn boxed(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let of = schema.get(ty);
    match &of.kind {
        Kind::Pointer { pointee: Some(value) } => Some(Decode::Box { value: schema.part(*value, site, Edge::Pointee) }),
        Kind::WidePointer { pointee, .. } => {
            if wide(schema, ty).is_none() {
                return Some(Decode::Dyn);
            }
            if is_text(of.path.strip_prefix("alloc::boxed::Box<").unwrap_or_default()) {
                return Some(Decode::Text { header: wide(schema, ty) });
            }
            let element = (*pointee)?;
            let stride = schema.get(element).size;
            Some(Decode::Slice { element: schema.part(element, site, Edge::Element), stride })
        }
        // A box with another allocator.
        _ => None,
    }
}

fn counted(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    shared(schema, ty, site, false)
}

fn weak(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    shared(schema, ty, site, true)
}

fn shared(schema: &mut Schema<'_>, ty: TypeId, site: SiteId, is_weak: bool) -> Option<Decode> {
    let ptr = named(schema, ty, "ptr")?;
    let is_wide =
        find(schema, ty, |field| matches!(schema.get(field.ty).kind, Kind::WidePointer { .. })).map(|found| found.1.ty);
    let counts = 16;
    let target = match is_wide {
        None => {
            let inner = pointee(schema, ty)?;
            let (at, value) = counted_value(schema, inner)?;
            let block = schema.get(inner).size;
            Target::Sized { value: schema.part(value, site, Edge::Pointee), at, block }
        }
        Some(wide_pointer) => {
            let path = &schema.get(ty).path;
            let argument = path.split_once('<').map_or("", |(_, rest)| rest);
            if wide(schema, wide_pointer).is_none() {
                Target::Dyn
            } else if is_text(argument) {
                Target::Text { at: counts }
            } else {
                let element = argument.strip_prefix('[').and_then(|rest| {
                    // The argument may contain balanced brackets.
                    let mut depth = 0_u32;
                    let end = rest.bytes().position(|byte| match byte {
                        b'[' => {
                            depth += 1;
                            false
                        }
                        b']' if depth == 0 => true,
                        b']' => {
                            depth -= 1;
                            false
                        }
                        _ => false,
                    })?;
                    schema.by_path(&rest[..end])
                })?;
                let of = schema.get(element);
                let (stride, at) = (of.size, counts.max(of.align));
                Target::Slice { element: schema.part(element, site, Edge::Element), stride, at }
            }
        }
    };
    Some(Decode::Counted { ptr, is_weak, counts, target })
}

/// Returns `true` if the first argument of a type is an unsized text.
fn is_text(arguments: &str) -> bool {
    let first = arguments.split([',', '>']).next().unwrap_or_default();
    ["str", "std::path::Path", "std::ffi::os_str::OsStr", "core::ffi::c_str::CStr"].contains(&first)
}

/// Returns the offset and type of the value in the block of an `Rc` or `Arc`.
pub(crate) fn counted_value(schema: &Schema<'_>, inner: TypeId) -> Option<(u64, TypeId)> {
    let fields = fields(schema, inner);
    let value = fields.iter().find(|field| matches!(&*field.name, "value" | "data"))?;
    Some((value.offset, value.ty))
}

fn deque(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let header = VecHeader {
        ptr: named(schema, ty, "ptr")?,
        cap: Some(named(schema, ty, "cap")?),
        len: named(schema, ty, "len")?,
    };
    let head = named(schema, ty, "head")?;
    let element = schema.param(ty, "T")?;
    let stride = schema.get(element).size;
    Some(Decode::Deque { header: Some(header), head, element: schema.part(element, site, Edge::Element), stride })
}

fn table(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let (at, table) = of_type(schema, ty, "hashbrown::raw::RawTable")?;
    let header = TableHeader {
        ctrl: at + named(schema, table, "ctrl")?,
        mask: at + named(schema, table, "bucket_mask")?,
        items: at + named(schema, table, "items")?,
    };
    let entry = schema.param(table, "T")?;
    let kind = match last(head(&schema.get(ty).path)) {
        "HashMap" => TableKind::Map,
        "HashSet" => TableKind::Set,
        _ => TableKind::Table,
    };
    Some(table_of(schema, entry, site, kind, Some(header)))
}

/// The collection that a hash table implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TableKind {
    Map,
    Set,
    Table,
}

/// Returns the decoding of a table of `entry`. `header` is `None` if only the block is known.
pub(crate) fn table_of(
    schema: &mut Schema<'_>,
    entry: TypeId,
    site: SiteId,
    kind: TableKind,
    header: Option<TableHeader>,
) -> Decode {
    let of = schema.get(entry);
    let (stride, align) = (of.size, of.align);
    let parts: Vec<(u64, TypeId, Edge)> = match (&of.kind, kind) {
        (Kind::Struct(fields), TableKind::Map) if fields.len() == 2 => {
            fields.iter().zip([Edge::Key, Edge::Value]).map(|(field, edge)| (field.offset, field.ty, edge)).collect()
        }
        (Kind::Struct(fields), TableKind::Set) if fields.len() == 2 => {
            vec![(fields[0].offset, fields[0].ty, Edge::Element)]
        }
        _ => vec![(0, entry, Edge::Element)],
    };
    let parts = parts.into_iter().map(|(at, ty, edge)| Part { at, site: schema.part(ty, site, edge) }).collect();
    Decode::Table { header, parts, stride, align }
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

fn tree_set(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let (at, map) = of_type(schema, ty, "alloc::collections::btree::map::BTreeMap")?;
    match tree_of(schema, map, site, true)? {
        Decode::Tree { header, node } if at == 0 => Some(Decode::Tree { header, node }),
        _ => None,
    }
}

fn tree(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    tree_of(schema, ty, site, false)
}

fn tree_of(schema: &mut Schema<'_>, ty: TypeId, site: SiteId, is_set: bool) -> Option<Decode> {
    let (root_at, root) = find(schema, ty, |field| &*field.name == "root").map(|(at, field)| (at, field.ty))?;
    let header = TreeHeader {
        root: root_at + named(schema, root, "node")?,
        height: root_at + named(schema, root, "height")?,
        len: named(schema, ty, "length")?,
    };
    let leaf = pointee(schema, root)?;
    let node = node_of(schema, leaf, site, is_set)?;
    Some(Decode::Tree { header: Some(header), node })
}

/// Returns the parts of a B-tree's leaf.
pub(crate) fn node_of(schema: &mut Schema<'_>, leaf: TypeId, site: SiteId, is_set: bool) -> Option<Node> {
    let of = schema.get(leaf);
    let (size, align) = (of.size, of.align);
    let array = |schema: &Schema<'_>, name: &str| {
        let (at, field) = find(schema, leaf, |field| &*field.name == name)?;
        match schema.get(field.ty).kind {
            Kind::Array { element, count: 11 } => Some((at, schema.get(element).size)),
            _ => None,
        }
    };
    let (keys, key) = array(schema, "keys")?;
    let (values, value) = array(schema, "vals")?;
    let len = named(schema, leaf, "len")?;
    let (of_key, of_value) = (schema.param(leaf, "K")?, schema.param(leaf, "V")?);
    let of_keys = if is_set { Edge::Element } else { Edge::Key };
    Some(Node {
        len,
        keys: (keys, key, schema.part(of_key, site, of_keys)),
        values: (values, value, schema.part(of_value, site, Edge::Value)),
        size,
        align,
    })
}

fn list(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Option<Decode> {
    let (head, first) = find(schema, ty, |field| &*field.name == "head")?;
    let len = named(schema, ty, "len")?;
    let node = pointee(schema, first.ty)?;
    let next = named(schema, node, "next")?;
    let (element_at, element) = find(schema, node, |field| &*field.name == "element")?;
    let element = schema.part(element.ty, site, Edge::Element);
    Some(Decode::List { head, len, next, element_at, element, node_size: schema.get(node).size })
}
