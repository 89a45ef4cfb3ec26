//! The memory of a program with some bytes changed: the walk of `cargo dwell census` terminates without a panic, reads
//! nothing far from live blocks and the executable, and counts each block once.
//! `crates/dwell-heap/tests/census_types.rs` does the same with random changes. Linux on x86-64 only.
#![no_main]

#[path = "../../crates/dwell-heap/tests/ops/census.rs"]
mod ops;

use dwell_heap::Moment;
use ops::Copied;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Returns the `truth` program of the tests, built and run once.
fn copied() -> &'static Copied {
    static COPIED: OnceLock<Copied> = OnceLock::new();
    COPIED.get_or_init(|| {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = fuzz.join("target/census");
        std::fs::create_dir_all(&folder).expect("a folder");
        let exe = folder.join("truth");
        let source = fuzz.join("../crates/dwell-heap/tests/census_types/truth.rs");
        let flags = ["--edition=2024", "-g", "-Copt-level=2", "-Cforce-frame-pointers=yes", "-o"];
        let built = Command::new("rustc").args(flags).arg(&exe).arg(source).status().expect("rustc runs");
        assert!(built.success(), "the program does not build");
        Copied::new(exe, "data", folder)
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let copied = copied();
    let at = if first % 2 == 0 { Moment::Exit } else { Moment::Signal };
    copied.check(&ops::changes(copied, rest), at);
});
