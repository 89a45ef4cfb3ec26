//! Runs the examples of bumpalo's documentation against this crate.

#[path = "../../dwell-slab/tests/original/mod.rs"]
mod original;

/// The examples that differ by design, with the reasons. `README.md` has this list too.
const DIFFER: &[(&str, &str)] = &[
    (
        "lib::iter_allocated_chunks",
        "dwell allocates upwards and cannot give bumpalo's order, so the method is left out",
    ),
    ("lib::with_min_align_and_capacity", "the example calls `iter_allocated_chunks`"),
    ("lib::try_with_min_align_and_capacity", "the example calls `iter_allocated_chunks`"),
];

#[test]
fn bumpalo_examples_pass() -> Result<(), Box<dyn std::error::Error>> {
    original::examples("bumpalo", &["allocator-api2", "boxed", "collections", "serde", "std"], DIFFER)
}
