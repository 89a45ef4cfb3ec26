//! A crate made for the occasion: written below `target/`, built offline with the workspace's lock file, run.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace").to_owned()
}

/// Builds a program from `sources` (paths below `src/`), runs it and returns what it prints.
pub fn run(name: &str, sources: &[(&str, &str)], arguments: &[&str]) -> String {
    let root = root();
    let target = target(&root);
    let folder = target.join("generated").join(name);
    fs::create_dir_all(folder.join("src")).expect("a folder");
    let dwell = root.join("crates/dwell");
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         dwell = {{ path = {dwell:?}, features = [\"derive\", \"serde\"] }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n\n\
         [profile.release]\ndebug = false\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    for (path, text) in sources {
        fs::write(folder.join("src").join(path), text).expect("a source file");
    }
    let build = Command::new(env!("CARGO"))
        .args(["build", "--release", "--offline", "--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target.join("generated/target"))
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&build.stderr);
    assert!(build.status.success(), "{name} does not build:\n{errors}");
    assert!(errors.is_empty(), "{name} builds with warnings:\n{errors}");
    let ran = Command::new(target.join("generated/target/release").join(name)).args(arguments).output();
    let ran = ran.expect("it runs");
    assert!(ran.status.success(), "{name} failed:\n{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("UTF-8")
}

/// Where this test was built.
fn target(root: &Path) -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let target = own.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    target.map_or_else(|| root.join("target"), Path::to_owned)
}
