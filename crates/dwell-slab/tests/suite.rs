//! Runs slab's own tests against this crate. They come from the registry's copy of slab's package.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

const VERSION: &str = "0.4.12";

/// Returns the folder of slab's tests, if cargo has downloaded the package. No test may need the network.
fn slab_test_directory() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")))?;
    let registries = fs::read_dir(home.join("registry/src")).ok()?;
    registries
        .flatten()
        .map(|registry| registry.path().join(format!("slab-{VERSION}/tests")))
        .find(|tests| tests.is_dir())
}

#[test]
fn slab_tests_pass() -> Result<(), Box<dyn Error>> {
    let Some(tests) = slab_test_directory() else {
        println!("skipped: cargo has not downloaded slab {VERSION}");
        return Ok(());
    };
    let crate_dir = env!("CARGO_MANIFEST_DIR");
    let package = tempfile::tempdir()?;
    fs::create_dir_all(package.path().join("tests"))?;
    fs::create_dir_all(package.path().join("src"))?;
    fs::write(package.path().join("src/lib.rs"), "")?;
    // `tests/serde.rs` needs serde_test, which is not in this workspace; `dwell::slab::map` tests the same.
    fs::copy(tests.join("slab.rs"), package.path().join("tests/slab.rs"))?;
    fs::write(
        package.path().join("Cargo.toml"),
        format!(
            "[package]\nname = \"suite\"\nversion = \"0.0.0\"\nedition = \"2018\"\n\n\
             [dependencies]\nslab = {{ package = \"dwell-slab\", path = {crate_dir:?} }}\n\n[workspace]\n"
        ),
    )?;
    fs::copy(format!("{crate_dir}/../../Cargo.lock"), package.path().join("Cargo.lock"))?;
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--test", "slab"])
        .current_dir(package.path())
        .env("CARGO_TARGET_DIR", format!("{}/slab-suite", env!("CARGO_TARGET_TMPDIR")))
        .env_remove("RUSTFLAGS")
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let result = printed.lines().find(|line| line.starts_with("test result: ok.")).expect("cargo prints a result");
    println!("{result}");
    assert!(!result.contains(" 0 passed"), "{result}");
    Ok(())
}
