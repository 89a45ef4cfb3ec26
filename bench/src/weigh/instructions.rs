//! Instruction counts of a walk, which do not depend on the machine's load.

use serde::de::DeserializeOwned;
use std::hint::black_box;

use super::layouts;
use super::subjects::{self, Subject};
use crate::op::{Op, Suite, whole_rounds};

const SEED: u64 = 1;
/// The number of operations in a walk.
const PART: usize = 20_000;

pub(super) fn suite() -> Suite {
    let mut ops = Vec::new();
    add::<layouts::unboxed::Model>(&mut ops, "walk/unboxed", subjects::all());
    add::<layouts::boxed::Model>(&mut ops, "walk/boxed", subjects::all());
    add::<layouts::btree::Model>(&mut ops, "walk/btree", subjects::all());
    Suite { module: "weigh", baseline: subjects::BASELINE, ops }
}

/// The number of models in a walk: enough that the fixed cost of a tree is negligible.
const MODELS: usize = 8;

/// Adds the subjects for a layout. An operation is 1/20,000 of a walk over the generated models.
fn add<M: DeserializeOwned + 'static>(ops: &mut Vec<Op>, workload: &str, subjects: Vec<Subject<Vec<M>>>) {
    for subject in subjects {
        ops.push(Op::new(workload, subject.name, move || {
            let documents = dwell_shape::sample::documents(SEED, MODELS);
            let models: Vec<M> =
                documents.map(|(_, json)| serde_json::from_slice(&json).expect("a model is Smithy")).collect();
            Box::new(move |operations| {
                for _ in whole_rounds(operations, PART) {
                    black_box((subject.weigh)(black_box(&models)));
                }
            })
        }));
    }
}
