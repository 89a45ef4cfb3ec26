//! The macros in crates of earlier editions. Each program in `tests/editions` is built and run with its edition.
#![cfg(all(feature = "std", feature = "derive", not(miri)))]

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Builds and runs a program, or prints why not.
fn run(edition: &str) {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("edition_{edition}"));
    fs::create_dir_all(&folder).unwrap();
    let name = format!("edition_{edition}");
    let source = package.join("tests/editions").join(format!("{name}.rs"));
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n\n\
         [[bin]]\nname = \"{name}\"\npath = '{}'\n\n\
         [dependencies]\ndwell = {{ path = '{}', features = [\"derive\"] }}\n\n[workspace]\n",
        source.display(),
        package.display(),
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The versions of the workspace, which are known to be here without a network.
    if let Ok(lock) = fs::read(package.join("../../Cargo.lock")) {
        fs::write(folder.join("Cargo.lock"), lock).unwrap();
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--offline", "--quiet", "--target-dir"]).arg(folder.parent().unwrap().join("editions"));
    command.current_dir(&folder).env("RUSTFLAGS", "-Dwarnings").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return println!("skipped: cargo does not run: {error}"),
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("no matching package") || errors.contains("you may be in offline mode") {
        println!("skipped: a dependency is not available without a network: {errors}");
        return;
    }
    assert!(output.status.success(), "{errors}");
}

#[test]
fn derives_work_in_edition_2015() {
    run("2015");
}

#[test]
fn macros_work_in_edition_2018() {
    run("2018");
}
