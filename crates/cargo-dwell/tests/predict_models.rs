//! Prediction against measurement on real data: the folder `DWELL_MODELS`, or the AWS models beside the repository.
//!
//! `cargo test -p cargo-dwell --test predict_models -- --nocapture` prints both.

mod support;

use cargo_dwell::shape::model::Heap;
use cargo_dwell::shape::plan::Plan;
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("DWELL_MODELS") {
        return Some(folder.into());
    }
    // Beside the repository, or beside the one that this is a worktree of.
    let beside = support::root().join("../shared/data/aws-models");
    beside.is_dir().then_some(beside)
}

#[test]
fn a_folder_takes_what_was_predicted() {
    let Some(folder) = folder() else {
        eprintln!("skipped: DWELL_MODELS names no folder and ../shared/data/aws-models is not there");
        return;
    };
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|is| is == "json")).collect();
    paths.sort();
    let texts: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("readable")).collect();
    let schema = support::schema(texts.iter().map(Vec::as_slice));
    drop(texts);
    let plan = Plan::new(&schema);
    let source = plan.rust();
    assert_eq!(support::unformatted(&source), "", "rustfmt would change it");

    let sources = [("main.rs", include_str!("support/load.rs")), ("types.rs", &source)];
    for (set, predicted) in [("naive", plan.naive_heap()), ("lean", plan.lean_heap())] {
        let mut arguments = vec![set];
        arguments.extend(paths.iter().map(|path| path.to_str().expect("UTF-8")));
        let printed = support::run("load", &sources, &arguments);
        let numbers: Vec<u64> = printed.split_whitespace().map(|text| text.parse().expect("a number")).collect();
        let [bytes, allocations, cpu, unequal] = numbers[..] else { panic!("four numbers, not {printed:?}") };
        let measured = Heap { bytes, allocations };
        println!("{set}: predicted {predicted:?}, measured {measured:?}, {cpu} ms of CPU");
        assert_eq!(unequal, 0, "documents are written back otherwise");
        for (predicted, measured) in [(predicted.bytes, bytes), (predicted.allocations, allocations)] {
            let off = (predicted as f64 / measured as f64 - 1.0).abs();
            assert!(off < 0.01, "{set}: predicted {predicted}, measured {measured}");
        }
    }
}
