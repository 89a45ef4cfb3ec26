//! The crates that are tested. A difference from the original must have its reason here.

use super::{Dependent, Differs, Original};
use crate::program::Package;

pub(crate) const BUMPALO: Original = Original { name: "bumpalo", drop_in: "dwell-bumpalo" };
pub(crate) const SLAB: Original = Original { name: "slab", drop_in: "dwell-slab" };

const ARENA: &[&Original] = &[&BUMPALO];
const KEYS: &[&Original] = &[&SLAB];
const BOTH: &[&Original] = &[&BUMPALO, &SLAB];

/// The tests in `src/` and in `tests/`. The examples in the documentation are left out: rustdoc links each by itself.
const TESTS: &[&str] = &["--lib", "--tests"];
const ALL_FEATURES: &[&str] = &["--lib", "--tests", "--all-features"];
/// What the package ships of them.
const UNIT: &str = "unit";
const FILES: &str = "unit, integration";

const NEWEST_FIRST: &str = "It reads the chunks of an arena by `iter_allocated_chunks_raw` and relies on the order that bumpalo \
    documents: the newest value of a chunk first. `dwell-bumpalo` allocates upwards and leaves the function out, because \
    the crate would read other values with it: with the function, 12 of the 806 tests of 0.13.0 and 14 of the 932 tests \
    of 0.14.3 failed.";
const SUM: &str = "Its feature `bumpalo` adds up the lengths that `iter_allocated_chunks_raw` returns. It relies on no order, \
    but `dwell-bumpalo` leaves the function out for the crates that do.";

const USED: &str = "Its `used_bytes` calls `iter_allocated_chunks_raw`, which `dwell-bumpalo` leaves out for the crates that \
    rely on its order. With the function, all 23 tests passed.";

/// Returns a crate without known differences.
const fn dependent(
    name: &'static str,
    version: &'static str,
    originals: &'static [&'static Original],
    part: &'static str,
    tests: &'static [&'static str],
) -> Dependent {
    Dependent { package: Package { name, version, edits: "", tests: Some(tests) }, originals, part, differs: None }
}

impl Dependent {
    /// Adds an edit script for the published package.
    const fn edited(mut self, edits: &'static str) -> Self {
        self.package.edits = edits;
        self
    }

    /// Says why the crate does not build with the drop-ins.
    const fn refused(mut self, reason: &'static str) -> Self {
        self.differs = Some(Differs { tests: &[], reason });
        self
    }
}

pub(crate) static ALL: &[Dependent] = &[
    dependent("bumpalo-herd", "0.1.3", ARENA, "unit, documentation", &[]),
    dependent("regalloc2", "0.15.2", ARENA, UNIT, &["--lib", "--features", "fuzzing"]),
    dependent("mago-syntax", "1.29.0", ARENA, FILES, TESTS).edited("mago-syntax/1.29.edits"),
    // Its other tests need crates that its manifest lacks.
    dependent("wast", "263.0.0", ARENA, "unit, `comments`", &["--lib", "--test", "comments"]),
    dependent("oxc_allocator", "0.100.0", ARENA, UNIT, TESTS).refused(USED),
    dependent("wasm-bindgen-macro-support", "0.2.130", ARENA, UNIT, TESTS),
    dependent("hashbrown", "0.17.2", ARENA, FILES, TESTS),
    dependent("blink-alloc", "0.4.0", ARENA, UNIT, TESTS),
    // The skipped test compares messages of the compiler.
    dependent("dioxus-core", "0.4.3", BOTH, FILES, &["--lib", "--tests", "--", "--skip", "unsafe_props_fail"])
        .edited("dioxus-core/0.4.edits"),
    dependent("dioxus-core", "0.7.10", KEYS, FILES, TESTS).edited("dioxus-core/0.7.edits"),
    dependent("starlark", "0.13.0", ARENA, UNIT, TESTS).edited("starlark/0.13.edits").refused(NEWEST_FIRST),
    dependent("starlark", "0.14.3", ARENA, UNIT, TESTS).refused(NEWEST_FIRST),
    dependent("allocative", "0.3.7", BOTH, UNIT, &["--lib", "--features", "bumpalo,slab"]).refused(SUM),
    dependent("quinn-proto", "0.11.19", KEYS, UNIT, TESTS),
    dependent("tower", "0.5.3", KEYS, FILES, ALL_FEATURES),
    dependent("tokio-util", "0.7.20", KEYS, FILES, ALL_FEATURES),
    // The tests of the parts that use slab.
    dependent(
        "futures",
        "0.3.34",
        KEYS,
        "`future_shared`, `lock_mutex`",
        &["--test", "future_shared", "--test", "lock_mutex", "--features", "thread-pool"],
    )
    .edited("futures/0.3.edits"),
    dependent("async-executor", "1.14.1", KEYS, FILES, TESTS),
    dependent("async-io", "2.6.0", KEYS, FILES, TESTS),
    dependent("calloop", "0.14.5", KEYS, UNIT, &["--lib", "--features", "executor,block_on"]),
];
