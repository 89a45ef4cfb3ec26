//! A file for each family of types. A new family is one file and one line here.
//!
//! No file uses another one. What several of them need is in `walk`: finding fields in debug info, reading memory,
//! claiming blocks, types that are decoded by their kind.

use super::walk::Family;

/// Declares the files, and lists their families in this order. For call stacks, the first family that knows a function
/// decides.
macro_rules! families {
    ($($file:ident),* $(,)?) => {
        $(mod $file;)*
        pub(crate) const FAMILIES: &[&Family] = &[$(&$file::FAMILY),*];
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
    task,
    boxed,
    table,
    once,
    wrapper,
    uninit,
    list_channel,
    array_channel,
    tokio_channel,
    heapless,
    skip_list,
    small_vec,
    compact,
    bytes,
    small_box,
    arena,
    sparse,
    thin_str,
    thin_slice,
    thin_vec,
];
