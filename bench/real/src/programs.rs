//! The programs that are measured. Drivers and edit scripts are files in `programs/`.

use crate::program::{Package, Program};

pub(crate) const ALL: &[Program] = &[Program {
    name: "lru",
    change: "slab for Box",
    packages: &[Package {
        name: "lru",
        version: "0.18.0",
        edits: include_str!("../programs/lru/after.edits"),
        tests: Some(&["--lib"]),
    }],
    dependencies: "lru = \"=0.18.0\"",
    more_after: "",
    driver: include_str!("../programs/lru/driver.rs"),
    driver_after: "",
    workloads: &["10 entries", "churn", "a million"],
}];
