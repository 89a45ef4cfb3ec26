//! Every public function and every feature of bumpalo is in this crate, or is listed here with the reason.

#[path = "../../dwell-slab/tests/original/mod.rs"]
mod original;

use std::error::Error;
use std::fs;

/// The functions that are left out. `README.md` gives the reasons.
const LEFT_OUT: &[&str] = &["iter_allocated_chunks", "iter_allocated_chunks_raw", "pin_in"];

/// Returns the names of the public functions in a source file.
fn functions(source: &str) -> Vec<&str> {
    let declared = source.lines().filter_map(|line| {
        let line = line.trim_start();
        ["pub fn ", "pub unsafe fn ", "pub const fn "].iter().find_map(|start| line.strip_prefix(start))
    });
    declared.filter_map(|line| line.split(['(', '<']).next()).collect()
}

#[test]
fn functions_of_bumpalo_are_there() -> Result<(), Box<dyn Error>> {
    let folder = match original::folder("bumpalo") {
        Ok(folder) => folder,
        Err(reason) => {
            println!("skipped: {reason}");
            return Ok(());
        }
    };
    let (mut count, mut left_out) = (0, Vec::new());
    for (file, ours) in [
        ("lib.rs", include_str!("../src/lib.rs")),
        // `Box::from_iter_in` is beside the vector that it uses.
        ("boxed.rs", concat!(include_str!("../src/boxed.rs"), include_str!("../src/collections/vec.rs"))),
        ("collections/vec.rs", include_str!("../src/collections/vec.rs")),
        ("collections/string.rs", include_str!("../src/collections/string.rs")),
    ] {
        let theirs = fs::read_to_string(folder.join("src").join(file))?;
        let ours = functions(ours);
        for name in functions(&theirs) {
            count += 1;
            // `as_slice` and `as_mut_slice` of the iterator of a vector are dwell's.
            if !ours.contains(&name) {
                left_out.push(name.to_owned());
            }
        }
    }
    left_out.sort_unstable();
    assert_eq!(left_out, LEFT_OUT);
    println!("{count} functions");
    assert!(count > 100);
    Ok(())
}

/// A feature that another crate names must exist, or cargo does not resolve the dependencies.
#[test]
fn features_of_bumpalo_are_there() -> Result<(), Box<dyn Error>> {
    fn features(manifest: &str) -> Vec<String> {
        let lines = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
        let lines = lines.take_while(|line| !line.starts_with('['));
        lines.filter_map(|line| Some(line.split_once(" = ")?.0.to_owned())).collect()
    }
    let folder = match original::folder("bumpalo") {
        Ok(folder) => folder,
        Err(reason) => {
            println!("skipped: {reason}");
            return Ok(());
        }
    };
    let theirs = features(&fs::read_to_string(folder.join("Cargo.toml"))?);
    let ours = features(&fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))?);
    // An optional dependency without `dep:` is a feature too.
    for name in theirs.iter().map(String::as_str).chain(["allocator-api2"]) {
        assert!(ours.iter().any(|our| our == name), "there is no feature `{name}`");
    }
    assert!(theirs.len() > 5);
    Ok(())
}
