//! Any JSON, studied and read in any order, is counted without a panic and without losing a string. The types keep each
//! string from which they were made.
//!
//! The input is split into lines; the first byte selects how many of them are studied first. For every second input, the form
//! and the counts pass through their file formats.

#![no_main]

use dwell_shape::held_out::Outcome;
use dwell_shape::infer::{Accumulator, Blank};
use dwell_shape::plan::{Plan, Set};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&first, data)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(data) else { return };
    let is_json = |line: &&str| dwell_shape::infer::check(&mut serde_json::Deserializer::from_str(line)).is_ok();
    let lines: Vec<&str> = text.lines().filter(is_json).collect();
    let studied = usize::from(first) % (lines.len() + 1);
    let mut study = Accumulator::new();
    for line in &lines[..studied] {
        let _ = study.read(&mut serde_json::Deserializer::from_str(line));
    }
    let saves = data.len() % 2 == 1;
    let form = if saves {
        let json = serde_json::to_vec(&study.into_form().save()).unwrap();
        Blank::restore(&mut serde_json::Deserializer::from_slice(&json), 1).unwrap()
    } else {
        study.into_form().blank()
    };
    let (mut left, mut right) = (form.start(2), form.start(2));
    let mut read = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let side = if index % 2 == 0 { &mut left } else { &mut right };
        if side.read(&mut serde_json::Deserializer::from_str(line)).is_ok() {
            read.push(line);
        }
    }
    if saves {
        let parts = [left, right].map(|part| {
            let json = serde_json::to_vec(&part.save()).unwrap();
            Accumulator::restore(&mut serde_json::Deserializer::from_slice(&json)).unwrap()
        });
        [left, right] = parts;
        left.add_part(right);
    } else {
        left.merge(right);
    }
    let schema = left.finish();
    assert_eq!(schema.documents, read.len() as u64);
    let (mut outcome, unit_other) = (Outcome::default(), schema.unions_with_unit_other());
    for value in read.iter().filter_map(|line| serde_json::from_str(line).ok()) {
        outcome.add(&schema, &unit_other, &value);
    }
    assert_eq!((outcome.refused, outcome.lost), (0, 0), "{outcome:?}");
    if !read.is_empty() {
        let plan = Plan::new(&schema);
        let _ = (plan.naive_heap(), plan.lean_heap(), plan.rust(Set::Both));
    }
});
