//! What is a method of std's `Vec`, `String` and `Box` is one of the arena's types, and not only of the slice, text or value that
//! they dereference to. A pointer from `Deref` would cover only the elements and end with the next write.
//!
//! std's documentation of Rust 1.88 is the source of the lists. Their names are checked against std as far as a path without
//! type arguments can name them.

use dwell::bump;

/// Compiles only if each name is a function of the type itself: paths do not go through `Deref`.
macro_rules! inherent {
    ($($Type:ty)+: $($name:ident)+) => {
        inherent!(@ [$($Type)+] [$($name)+])
    };
    (@ [$($Type:ty)+] $names:tt) => {$(
        inherent!(# $Type, $names);
    )+};
    (# $Type:ty, [$($name:ident)+]) => {$(
        let _ = <$Type>::$name;
    )+};
}

#[test]
fn methods_that_slices_and_texts_also_have_are_inherent() {
    // Of a slice too, which `Deref` would find.
    inherent!([u8] Vec<u8> bump::Vec<'static, u8> bump::UnmanagedVec<'static, u8>: as_ptr as_mut_ptr len is_empty);
    inherent!(str String bump::String<'static>: len is_empty as_bytes);
    inherent!(Vec<u8> bump::Vec<'static, u8>:
        as_slice as_mut_slice capacity reserve reserve_exact try_reserve try_reserve_exact shrink_to_fit into_boxed_slice
        truncate set_len swap_remove insert remove dedup push pop clear split_off resize extend_from_slice
        spare_capacity_mut
    );
    inherent!(String bump::String<'static>:
        into_bytes as_str as_mut_str push_str capacity reserve try_reserve shrink_to_fit push truncate pop remove insert
        insert_str as_mut_vec split_off clear into_boxed_str from_utf8 from_utf8_unchecked
    );
    inherent!(Box<u8> bump::Box<'static, u8>: from_raw into_raw leak);
}

/// A type of std, its methods, and those that the arena's type lacks, with what to use.
type Methods = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const STD: &[Methods] = &[
    (
        "Vec",
        "capacity reserve reserve_exact try_reserve try_reserve_exact shrink_to_fit shrink_to into_boxed_slice truncate \
         as_slice as_mut_slice as_ptr as_mut_ptr set_len swap_remove insert remove retain retain_mut dedup_by_key dedup_by \
         dedup push pop pop_if append drain clear len is_empty split_off resize_with leak spare_capacity_mut resize \
         extend_from_slice extend_from_within into_flattened splice extract_if",
        &[
            ("shrink_to", "`shrink_to_fit`, or `into_slice`"),
            ("leak", "`into_slice`"),
            ("into_flattened", "`into_slice`, then `as_flattened_mut`"),
        ],
    ),
    (
        "String",
        "into_bytes as_str as_mut_str push_str extend_from_within capacity reserve reserve_exact try_reserve \
         try_reserve_exact shrink_to_fit shrink_to push as_bytes truncate pop remove retain insert insert_str as_mut_vec len \
         is_empty split_off clear drain replace_range into_boxed_str leak",
        &[
            ("extend_from_within", "`as_mut_vec`"),
            ("reserve_exact", "`as_mut_vec`, or `with_capacity_in`"),
            ("try_reserve_exact", "`as_mut_vec`, or `try_with_capacity_in`"),
            ("shrink_to", "`shrink_to_fit`, or `into_str`"),
            ("leak", "`into_str`"),
        ],
    ),
    (
        "Box",
        "from_raw into_raw leak downcast into_pin",
        &[("into_pin", "a forgotten box does not keep its value, so it cannot be pinned by safe code")],
    ),
];

/// The files that define the methods.
const SOURCES: &[(&str, &[&str])] = &[
    (
        "Vec",
        &[
            include_str!("../src/bump/vec.rs"),
            include_str!("../src/bump/extend.rs"),
            include_str!("../src/bump/drain.rs"),
        ],
    ),
    ("String", &[include_str!("../src/bump/string.rs")]),
    ("Box", &[include_str!("../src/bump/boxed.rs")]),
];

#[test]
fn every_method_of_std_is_there_or_has_another_name() {
    for ((name, methods, missing), (of, sources)) in STD.iter().zip(SOURCES) {
        assert_eq!(name, of);
        for method in methods.split_whitespace() {
            let declares = |line: &str| {
                let name =
                    line.trim_start().strip_prefix("pub fn ").or(line.trim_start().strip_prefix("pub unsafe fn "));
                name.and_then(|rest| rest.strip_prefix(method)).is_some_and(|rest| rest.starts_with(['(', '<']))
            };
            let is_there = sources.iter().any(|source| source.lines().any(declares));
            let is_listed = missing.iter().any(|(listed, _)| *listed == method);
            assert!(is_there != is_listed, "`{name}::{method}` is missing, or need not be listed as missing");
        }
    }
}
