//! A file for each family of types. A new family is one file and one line here.
//!
//! No file uses another one. What several of them need is in `fields` (finding fields in debug info), in `Walk` (reading
//! memory, claiming blocks), and in `structure` (types that are decoded by their kind).

use super::decoder::{Blocks, Decoded, Family};
use super::types::{Schema, SiteId, head};
use crate::debuginfo::TypeId;

/// Declares the files, and lists their families in this order. For call stacks, the first family that knows a function
/// decides.
macro_rules! families {
    ($($file:ident),* $(,)?) => {
        $(mod $file;)*
        const FAMILIES: &[&Family] = &[$(&$file::FAMILY),*];
    };
}

families![
    text,
    deque,
    binary_heap,
    vec,
    into_iter,
    tree,
    counted,
    list,
    boxed,
    table,
    once,
    uninit,
    small_vec,
    compact,
    bytes,
    small_box,
    arena,
    sparse,
    thin_str,
    thin_slice,
];

/// Returns the families of all files.
pub(crate) fn families() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().copied()
}

/// Returns the decoder of a well-known type.
pub(crate) fn known(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let head = head(&schema.get(ty).path);
    let (_, recognise) = families().flat_map(|family| family.types).find(|(path, _)| *path == head)?;
    recognise(schema, ty, site)
}

/// Returns the blocks of a family with a [`Blocks::name`].
pub(crate) fn blocks(name: &str) -> Option<&'static Blocks> {
    families().filter_map(|family| family.blocks.as_ref()).find(|blocks| blocks.name == name)
}
