//! The crates that are tested. A difference from the original must have its reason here.

use super::{Dependent, Original};
use crate::program::Package;

pub(crate) const BUMPALO: Original = Original { name: "bumpalo", drop_in: "dwell-bumpalo" };
pub(crate) const SLAB: Original = Original { name: "slab", drop_in: "dwell-slab" };

const ONE: &[&Original] = &[&BUMPALO];
const OTHER: &[&Original] = &[&SLAB];

/// Unit tests and the files in `tests/`. The examples in the documentation are left out: rustdoc links each by itself.
const TESTS: &[&str] = &["--lib", "--tests"];
const ALL_FEATURES: &[&str] = &["--lib", "--tests", "--all-features"];

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
}

pub(crate) static ALL: &[Dependent] = &[
    dependent("bumpalo-herd", "0.1.3", ONE, "all", &[]),
    dependent("regalloc2", "0.15.2", ONE, "unit", &["--lib", "--tests", "--features", "fuzzing"]),
    dependent("tower", "0.5.3", OTHER, "all", ALL_FEATURES),
    dependent("quinn-proto", "0.11.19", OTHER, "unit", TESTS),
    dependent("async-executor", "1.14.1", OTHER, "all", TESTS),
    dependent("async-io", "2.6.0", OTHER, "all", TESTS),
    dependent("hashbrown", "0.17.2", ONE, "all", TESTS),
    dependent("blink-alloc", "0.4.0", ONE, "all", TESTS),
    dependent("starlark", "0.13.0", ONE, "unit", TESTS).edited("starlark/0.13.edits"),
    dependent("starlark", "0.14.3", ONE, "unit", TESTS),
    dependent(
        "dioxus-core",
        "0.4.3",
        &[&BUMPALO, &SLAB],
        "all",
        &["--lib", "--tests", "--", "--skip", "unsafe_props_fail"],
    )
    .edited("dioxus-core/0.4.edits"),
    dependent("dioxus-core", "0.7.10", OTHER, "all", TESTS).edited("dioxus-core/0.7.edits"),
    dependent(
        "futures-util",
        "0.3.34",
        OTHER,
        "unit",
        &["--lib", "--tests", "--features", "io-compat,sink,unstable,bilock"],
    ),
    dependent("tokio-util", "0.7.20", OTHER, "all", ALL_FEATURES),
    dependent("wast", "263.0.0", ONE, "unit, `comments`", &["--lib", "--test", "comments"]),
    dependent("oxc_allocator", "0.100.0", ONE, "all", TESTS),
    dependent("swc_allocator", "5.0.1", ONE, "all", TESTS),
    dependent("wasm-bindgen-macro-support", "0.2.130", ONE, "all", TESTS),
    dependent("allocative", "0.3.7", &[&BUMPALO, &SLAB], "all", &["--lib", "--tests", "--features", "bumpalo,slab"]),
    dependent("sharded-slab", "0.1.7", OTHER, "all", TESTS),
    dependent("ntex-util", "4.0.0", OTHER, "all", TESTS),
    dependent("mago-syntax", "1.29.0", ONE, "all", TESTS).edited("mago-syntax/1.29.edits"),
    dependent("calloop", "0.14.5", OTHER, "all", &["--lib", "--tests", "--features", "executor,block_on"]),
];
