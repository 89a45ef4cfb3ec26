//! Any JSON, studied and read in any order, is counted without a panic and without a lost text.
//!
//! The input is lines; the first byte is the number of lines that are studied first.

#![no_main]

use cargo_dwell::shape::infer::Accumulator;
use cargo_dwell::shape::plan::{Plan, Set};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&first, data)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(data) else { return };
    let is_json = |line: &&str| cargo_dwell::shape::infer::check(&mut serde_json::Deserializer::from_str(line)).is_ok();
    let lines: Vec<&str> = text.lines().filter(is_json).collect();
    let studied = usize::from(first) % (lines.len() + 1);
    let mut study = Accumulator::new();
    for line in &lines[..studied] {
        let _ = study.read(&mut serde_json::Deserializer::from_str(line));
    }
    let form = study.into_form();
    let (mut left, mut right) = (form.start(2), form.start(2));
    let mut read = 0;
    for (index, line) in lines.iter().enumerate() {
        let side = if index % 2 == 0 { &mut left } else { &mut right };
        read += u64::from(side.read(&mut serde_json::Deserializer::from_str(line)).is_ok());
    }
    left.merge(right);
    let schema = left.finish();
    assert_eq!(schema.documents, read);
    if read > 0 {
        let plan = Plan::new(&schema);
        let _ = (plan.naive_heap(), plan.lean_heap(), plan.rust(Set::Both));
    }
});
