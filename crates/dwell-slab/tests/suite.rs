//! Runs slab's own tests, and the examples of its documentation, against this crate.

mod original;

use std::error::Error;
use std::fs;

#[test]
fn slab_tests_pass() -> Result<(), Box<dyn Error>> {
    let folder = match original::folder("slab") {
        Ok(folder) => folder,
        Err(reason) => {
            println!("skipped: {reason}");
            return Ok(());
        }
    };
    let package = original::package("slab", "2018", &[])?;
    // `tests/serde.rs` needs serde_test, which is not in this workspace; `dwell::slab::map` tests the same.
    fs::copy(folder.join("tests/slab.rs"), package.path().join("tests/slab.rs"))?;
    let (printed, passed) = original::cargo_test(&package, &["--test", "slab"])?;
    assert!(passed, "{printed}");
    let result = printed.lines().find(|line| line.starts_with("test result: ok.")).expect("cargo prints a result");
    println!("{result}");
    assert!(!result.contains(" 0 passed"), "{result}");
    Ok(())
}

#[test]
fn slab_examples_pass() -> Result<(), Box<dyn Error>> {
    original::examples("slab", &[], &[])
}
