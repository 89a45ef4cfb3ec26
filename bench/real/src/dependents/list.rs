//! The crates that are tested. A difference from the original must have its reason here.

use super::{Dependent, Original};
use crate::program::Package;

pub(crate) const BUMPALO: Original = Original { name: "bumpalo", drop_in: "dwell-bumpalo" };
pub(crate) const SLAB: Original = Original { name: "slab", drop_in: "dwell-slab" };

const ONE: &[&Original] = &[&BUMPALO];
const OTHER: &[&Original] = &[&SLAB];

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

pub(crate) static ALL: &[Dependent] = &[
    dependent("bumpalo-herd", "0.1.3", ONE, "all", &[]),
    dependent("regalloc2", "0.15.2", ONE, "all", &["--features", "fuzzing"]),
    dependent("tower", "0.5.3", OTHER, "all", &["--all-features"]),
    dependent("quinn-proto", "0.11.19", OTHER, "all", &[]),
    dependent("async-executor", "1.14.1", OTHER, "all", &[]),
    dependent("async-io", "2.6.0", OTHER, "all", &[]),
    dependent("hashbrown", "0.17.2", ONE, "all", &[]),
    dependent("blink-alloc", "0.4.0", ONE, "all", &[]),
    dependent("starlark", "0.13.0", ONE, "all", &[]),
    dependent("starlark", "0.14.3", ONE, "all", &[]),
    dependent("dioxus-core", "0.4.3", ONE, "all", &[]),
    dependent("dioxus-core", "0.7.10", OTHER, "all", &[]),
    dependent("futures-util", "0.3.34", OTHER, "all", &["--all-features"]),
    dependent("tokio-util", "0.7.20", OTHER, "all", &["--all-features"]),
    dependent("wast", "263.0.0", ONE, "all", &[]),
    dependent("oxc_allocator", "0.100.0", ONE, "all", &[]),
    dependent("swc_allocator", "5.0.1", ONE, "all", &[]),
    dependent("wasm-bindgen-macro-support", "0.2.130", ONE, "all", &[]),
    dependent("allocative", "0.3.7", &[&BUMPALO, &SLAB], "all", &["--features", "bumpalo,slab"]),
    dependent("sharded-slab", "0.1.7", OTHER, "all", &[]),
    dependent("ntex-util", "4.0.0", OTHER, "all", &[]),
];
