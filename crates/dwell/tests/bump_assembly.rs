//! The fast path of an allocation, instruction by instruction.

use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r"
use dwell::Bump;

#[unsafe(no_mangle)]
pub fn alloc_u8(bump: &Bump<1>, value: u8) -> &mut u8 {
    bump.alloc(value)
}

#[unsafe(no_mangle)]
pub fn alloc_u64(bump: &Bump, value: u64) -> &mut u64 {
    bump.alloc(value)
}
";

/// The instructions of a function up to its first return: the fast path.
fn fast_path<'a>(assembly: &'a str, function: &str) -> Vec<&'a str> {
    let (_, body) = assembly.split_once(&format!("\n{function}:\n")).expect("the function is there");
    let mut names = Vec::new();
    for line in body.lines().map(str::trim) {
        // Neither a label, nor a directive, nor a comment.
        if let Some(name) =
            line.split_whitespace().next().filter(|name| !name.starts_with(['.', '#']) && !name.ends_with(':'))
        {
            names.push(name);
            if name.starts_with("ret") {
                break;
            }
        }
    }
    names
}

/// Load, add, compare, branch, store the position, store the value, return.
#[test]
fn seven_instructions() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        println!("skipped: the instructions are those of x86-64 Linux");
        return;
    }
    if std::env::var("RUSTFLAGS").is_ok_and(|flags| !flags.trim().is_empty()) {
        println!("skipped: RUSTFLAGS change the instructions");
        return;
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bump_assembly");
    std::fs::create_dir_all(directory.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"bump-assembly\"\nedition = \"2024\"\n[workspace]\n[dependencies]\ndwell = {{ path = {:?} }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(directory.join("src/lib.rs"), PROGRAM).unwrap();
    // The versions that the workspace has: nothing is fetched.
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    if lock.exists() {
        std::fs::copy(lock, directory.join("Cargo.lock")).unwrap();
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["rustc", "--offline", "--release", "--lib", "--", "--emit", "asm", "-C", "codegen-units=1"])
        .current_dir(&directory)
        .env("CARGO_TARGET_DIR", directory.join("target"))
        .output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!("it was not built:\n{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            println!("skipped: cargo cannot be run: {error}");
            return;
        }
    }
    let files = std::fs::read_dir(directory.join("target/release/deps")).unwrap();
    let assembly = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "s"))
        .max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).unwrap())
        .map(|path| std::fs::read_to_string(path).unwrap())
        .expect("there is assembly");
    assert_eq!(fast_path(&assembly, "alloc_u64"), ["movq", "leaq", "cmpq", "ja", "movq", "movq", "retq"]);
    assert_eq!(fast_path(&assembly, "alloc_u8"), ["movq", "leaq", "cmpq", "ja", "movq", "movb", "retq"]);
}
