//! What the tests share: folders, and truth programs.

#![allow(dead_code, reason = "each test binary uses its part")]

pub(crate) mod truth;

use std::path::{Path, PathBuf};

/// Returns the workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace").to_owned()
}

/// Returns the target directory in which this test was built.
pub(crate) fn target_dir() -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let target = own.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    target.map_or_else(|| root().join("target"), Path::to_owned)
}
