//! The assembly of a small program that uses this crate.

use std::path::Path;
use std::process::Command;

/// Builds `program` as the library `name`, in release mode and offline, and returns its assembly.
///
/// # Panics
///
/// Panics if the program does not compile.
///
/// # Errors
///
/// Returns the reason why the assembly cannot be checked on this machine.
pub(crate) fn of(name: &str, program: &str) -> Result<String, String> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err("the instructions are those of x86-64 Linux".to_owned());
    }
    if std::env::var("RUSTFLAGS").is_ok_and(|flags| !flags.trim().is_empty()) {
        return Err("RUSTFLAGS change the instructions".to_owned());
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(directory.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n[dependencies]\ndwell = {{ path = {:?} }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(directory.join("src/lib.rs"), program).unwrap();
    // Uses the workspace's lock file, so that nothing is downloaded.
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    if lock.exists() {
        std::fs::copy(lock, directory.join("Cargo.lock")).unwrap();
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["rustc", "--offline", "--release", "--lib", "--", "--emit", "asm", "-C", "codegen-units=1"])
        .current_dir(&directory)
        .env("CARGO_TARGET_DIR", directory.join("target"))
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    assert!(output.status.success(), "it was not built:\n{}", String::from_utf8_lossy(&output.stderr));
    let files = std::fs::read_dir(directory.join("target/release/deps")).unwrap();
    let newest = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "s"))
        .max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).unwrap());
    Ok(std::fs::read_to_string(newest.expect("there is assembly")).unwrap())
}

/// Returns the lines of a function, without directives, comments and labels.
pub(crate) fn instructions<'a>(assembly: &'a str, function: &str) -> impl Iterator<Item = &'a str> {
    let (_, body) = assembly.split_once(&format!("\n{function}:\n")).expect("the function is there");
    body.lines().map(str::trim).take_while(|line| *line != ".cfi_endproc").filter(|line| {
        let name = line.split_whitespace().next();
        name.is_some_and(|name| !name.starts_with(['.', '#']) && !name.ends_with(':'))
    })
}
