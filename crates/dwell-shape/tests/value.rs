//! Compares the memory that `shape` predicts for `serde_json::Value` with a counting allocator.

use dwell_shape::infer::Accumulator;
use dwell_shape::schema::Schema;
use dwell_shape::{input, value};
use fastrand::Rng;
use serde_json::{Deserializer, Value};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;

thread_local! {
    static BYTES: Cell<isize> = const { Cell::new(0) };
    static BLOCKS: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize, blocks: isize) {
    BYTES.set(BYTES.get() + bytes);
    BLOCKS.set(BLOCKS.get() + blocks);
}

/// The system's allocator, which counts the live blocks and requested bytes of each thread.
struct Counting;

// SAFETY: each method passes its arguments on to `System`, which upholds the contract of `GlobalAlloc`. Counting does
// not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed(), 1);
        // SAFETY: the caller of `alloc` guarantees that `layout` has a non-zero size, which is what `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed(), -1);
        // SAFETY: the caller guarantees that `block` came from `alloc` above with this layout, and thus from `System`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn schema(texts: &[String]) -> Schema {
    let mut accumulator = Accumulator::new();
    for text in texts {
        accumulator.read(&mut Deserializer::from_str(text)).unwrap();
    }
    accumulator.finish()
}

/// Loads the documents into a vector of values and returns their live bytes and blocks.
fn measured(texts: &[String]) -> (u64, u64) {
    let before = (BYTES.get(), BLOCKS.get());
    let mut values: Vec<Value> = Vec::with_capacity(texts.len());
    for text in texts {
        values.push(serde_json::from_str(text).unwrap());
    }
    let after = (BYTES.get() - before.0, BLOCKS.get() - before.1);
    drop(values);
    (after.0.unsigned_abs() as u64, after.1.unsigned_abs() as u64)
}

fn any(random: &mut Rng, depth: u32, out: &mut String) {
    match random.u32(0..if depth == 0 { 5 } else { 9 }) {
        0 => out.push_str("null"),
        1 => out.push_str("true"),
        2 => write!(out, "{}", random.i32(..)).unwrap(),
        3 => write!(out, "{}.5", random.i16(..)).unwrap(),
        4 => write!(out, "\"{}\"", "text".repeat(random.usize(0..4))).unwrap(),
        5 | 6 => {
            out.push('[');
            for index in 0..random.u32(0..7) {
                out.push_str(if index == 0 { "" } else { "," });
                any(random, depth - 1, out);
            }
            out.push(']');
        }
        _ => {
            out.push('{');
            let mut comma = "";
            for key in ["a", "bb", "ccc", "d", "e", "type"] {
                if random.bool() {
                    write!(out, "{comma}\"{key}\":").unwrap();
                    comma = ",";
                    any(random, depth - 1, out);
                }
            }
            out.push('}');
        }
    }
}

#[test]
fn random_documents_are_exact_or_marked_inexact() {
    let mut exact = 0;
    for seed in 0..60 {
        let mut random = Rng::with_seed(seed);
        let texts: Vec<String> = (0..random.u32(1..40))
            .map(|_| {
                let mut text = String::new();
                any(&mut random, 4, &mut text);
                text
            })
            .collect();
        let (heap, is_exact) = value::heap(&schema(&texts));
        let measured = measured(&texts);
        if is_exact {
            assert_eq!((heap.bytes, heap.allocations), measured, "seed {seed}");
            exact += 1;
        }
    }
    assert!(exact > 10, "{exact} of 60 are exact");
}

#[test]
fn tagged_unions_include_the_tag() {
    let texts: Vec<String> = (0..300)
        .map(|n| match n % 3 {
            0 => format!(r#"{{"type":"circle","radius":{n},"name":"n{n}"}}"#),
            1 => format!(r#"{{"type":"square","side":{n},"tags":["x","y"]}}"#),
            _ => format!(r#"{{"type":"line","from":[{n},1],"to":[2,{n}]}}"#),
        })
        .collect();
    let schema = schema(&texts);
    let (heap, is_exact) = value::heap(&schema);
    assert!(is_exact);
    assert_eq!((heap.bytes, heap.allocations), measured(&texts));
}

#[test]
fn sample_prediction_is_within_ten_percent() {
    let found = input::sample();
    let options = input::Options { threads: 1, ..Default::default() };
    let reading = input::read(&found, &options, &|_| {});
    let (heap, _) = value::heap(&reading.accumulator.finish());
    let texts = dwell_shape::sample::documents(input::SAMPLE_SEED, input::SAMPLE_MODELS);
    let texts: Vec<String> = texts.map(|(_, text)| String::from_utf8(text).unwrap()).collect();
    let (bytes, blocks) = measured(&texts);
    let off = |said: u64, is: u64| (said as f64 / is as f64 - 1.0).abs();
    assert!(off(heap.bytes, bytes) < 0.1, "{} said, {bytes} measured", heap.bytes);
    assert!(off(heap.allocations, blocks) < 0.1, "{} said, {blocks} measured", heap.allocations);
}
