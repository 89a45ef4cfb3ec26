//! Tests the types generated for the built-in sample: they equal `generated/sample.rs`, load every document, serialize
//! it back unchanged, and take exactly the predicted memory.
//!
//! `DWELL_BLESS=1 cargo test -p cargo-dwell --test generated` updates the file.

#[allow(clippy::pedantic, clippy::large_enum_variant, unreachable_pub, reason = "the code is a user's")]
#[path = "generated/sample.rs"]
mod sample;
mod support;

use dwell_shape::model::Heap;
use dwell_shape::plan::{Plan, Set};
use dwell_shape::schema::{Field, Kind, Lengths, Map, Record, Schema, Slot, Text};
use serde::{Serialize, de::DeserializeOwned};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;

/// The system's allocator, which counts the live blocks and requested bytes of each thread.
struct Counting;

thread_local! {
    static BYTES: Cell<i64> = const { Cell::new(0) };
    static BLOCKS: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64, blocks: i64) {
    BYTES.set(BYTES.get() + bytes);
    BLOCKS.set(BLOCKS.get() + blocks);
}

fn signed(size: usize) -> i64 {
    i64::try_from(size).expect("a block is at most isize::MAX bytes")
}

// SAFETY: each method passes its arguments on to `System`, which upholds the contract of `GlobalAlloc`. Counting does
// not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()), 1);
        // SAFETY: the caller upholds the contract of `alloc`, which is also that of `System.alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-signed(layout.size()), -1);
        // SAFETY: the caller passes a block of this allocator with its layout, and every such block came from `System`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(signed(size) - signed(layout.size()), 0);
        // SAFETY: the caller upholds the contract of `realloc`, and every block of this allocator came from `System`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn texts() -> Vec<Vec<u8>> {
    dwell_shape::sample::documents(1, 12).map(|(_, text)| text).collect()
}

#[test]
fn generated_file_is_up_to_date() {
    let texts = texts();
    let schema = support::schema(&texts.iter().map(Vec::as_slice));
    let source = Plan::new(&schema).rust(Set::Both);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated/sample.rs");
    if std::env::var_os("DWELL_BLESS").is_some() {
        std::fs::write(&path, &source).expect("a file of ours");
    }
    let known = std::fs::read_to_string(&path).expect("a file of ours");
    let changed = source.lines().zip(known.lines()).position(|(new, old)| new != old);
    assert!(
        source == known,
        "line {} is now: {:?}; if that is right: DWELL_BLESS=1 cargo test -p cargo-dwell --test generated",
        changed.unwrap_or(0) + 1,
        changed.and_then(|line| source.lines().nth(line)),
    );
    assert_eq!(support::unformatted(&source), "", "rustfmt would change it");
}

#[test]
fn loaded_sample_takes_the_predicted_memory() {
    let texts = texts();
    let schema = support::schema(&texts.iter().map(Vec::as_slice));
    let plan = Plan::new(&schema);
    assert_eq!(plan.doubts(), [""; 0], "the sample can be predicted exactly");
    assert_eq!(load::<sample::naive::Document>(&texts), plan.naive_heap());
    assert_eq!(load::<sample::lean::Document>(&texts), plan.lean_heap());
    // The totals of the suggestions are consistent with their savings, and the last one is the total of the lean types.
    let suggestions = plan.suggestions();
    assert_eq!(suggestions.last().map(|last| last.total), Some(plan.lean_heap().bytes));
    let mut total = plan.naive_heap().bytes.cast_signed();
    for one in &suggestions {
        total -= one.saves;
        assert_eq!(total, one.total.cast_signed(), "{}", one.path);
    }
}

/// Loads all documents, checks that they serialize back to equal JSON, and returns the memory that they take.
fn load<T: DeserializeOwned + Serialize>(texts: &[Vec<u8>]) -> Heap {
    let before = (BYTES.get(), BLOCKS.get());
    let mut documents: Vec<T> = Vec::with_capacity(texts.len());
    for text in texts {
        documents.push(serde_json::from_slice(text).expect("the types were made for it"));
    }
    let (bytes, blocks) = (BYTES.get() - before.0, BLOCKS.get() - before.1);
    for (index, (text, document)) in texts.iter().zip(&documents).enumerate() {
        let was: serde_json::Value = serde_json::from_slice(text).expect("JSON");
        let back = serde_json::to_vec(document).expect("it came from JSON");
        let is: serde_json::Value = serde_json::from_slice(&back).expect("JSON");
        assert!(support::same::same(&was, &is), "document {index} is written back otherwise");
    }
    Heap { bytes: bytes.cast_unsigned(), allocations: blocks.cast_unsigned() }
}

#[test]
fn long_types_are_wrapped_as_rustfmt_does() {
    let mut slot = Slot { count: 1, kind: Kind::Bool { trues: 1 }, ..Slot::default() };
    let mut fields = Vec::new();
    for depth in 0..12 {
        let lengths =
            Lengths { count: 1, total: 1, max: 1, by_power: vec![1], by_buckets: vec![0, 0, 1], ..Lengths::default() };
        let key = Text { count: 1, bytes: 1, min: 1, max: 1, distinct: 1, ..Text::default() };
        slot = Slot { count: 1, kind: Kind::Map(Box::new(Map { lengths, key, value: slot })), ..Slot::default() };
        for key in [format!("m{depth}"), format!("a_name_of_{depth}_with_some_more_words_in_it")] {
            fields.push(Field { key, slot: slot.clone(), rest: false });
        }
    }
    let record = Record { name: "Document".into(), instances: 2, fields, ..Record::default() };
    let root = Slot { count: 2, kind: Kind::Record { id: 0, empty: 0 }, ..Slot::default() };
    let schema = Schema { documents: 2, bytes: 2, root, records: vec![record], ..Schema::default() };
    assert_eq!(support::unformatted(&Plan::new(&schema).rust(Set::Both)), "");
}
