//! Writes crates below `target/`, builds them offline with the workspace's lock file, and runs them.

#![allow(dead_code, reason = "each test binary uses its part")]

use dwell_shape::infer::Accumulator;
use dwell_shape::schema::Schema;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) mod same;

/// Returns the workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace").to_owned()
}

/// Dependencies on the crates whose types `--text` uses.
const OF_TEXTS: &str = "uuid = { version = \"1\", default-features = false, features = [\"serde\"] }\n\
                        chrono = { version = \"0.4\", default-features = false, features = [\"serde\"] }\n\
                        url = { version = \"2\", features = [\"serde\"] }\n";

/// Returns whether cargo has downloaded the crates whose types `--text` uses. The rest of the workspace does not depend
/// on them, so `cargo test` does not download them; `cargo fetch` does.
pub(crate) fn has_crates_of_texts() -> bool {
    let folder = target(&root()).join("generated/of_texts");
    fs::create_dir_all(folder.join("src")).expect("a folder");
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"of_texts\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{OF_TEXTS}"
    );
    write(&folder.join("Cargo.toml"), &manifest);
    write(&folder.join("src/lib.rs"), "");
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--offline", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    tree.output().expect("cargo runs").status.success()
}

/// Builds a program from `sources` (paths below `src/`), runs it and returns what it prints.
pub(crate) fn run(name: &str, sources: &[(&str, &str)], arguments: &[&str]) -> String {
    let root = root();
    let target = target(&root);
    let folder = target.join("generated").join(name);
    fs::create_dir_all(folder.join("src")).expect("a folder");
    let dwell = root.join("crates/dwell");
    let of_texts = if sources.iter().any(|(_, text)| text.contains("chrono::")) { OF_TEXTS } else { "" };
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         dwell = {{ path = \"{}\", features = [\"derive\", \"serde\"] }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n{of_texts}\n\
         [profile.release]\ndebug = false\n\n\
         # Optimising hundreds of `Deserialize`s takes minutes, and nothing here depends on their speed.\n\
         [profile.release.package.{name}]\nopt-level = 0\n",
        dwell.display()
    );
    write(&folder.join("Cargo.toml"), &manifest);
    let lock = folder.join("Cargo.lock");
    if !lock.exists() {
        fs::copy(root.join("Cargo.lock"), lock).expect("a lock file");
    }
    let same = [("same.rs", include_str!("same.rs"))];
    let same = same.iter().filter(|_| sources.iter().any(|(_, text)| text.contains("mod same;")));
    for (path, text) in sources.iter().chain(same) {
        write(&folder.join("src").join(path), text);
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

/// Writes a file unless it already has that content: cargo would rebuild a file with a new time.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|known| known == text) {
        return;
    }
    fs::write(path, text).expect("a folder of ours");
}

/// Returns the target directory in which this test was built.
pub(crate) fn target_dir() -> PathBuf {
    target(&root())
}

fn target(root: &Path) -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let target = own.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    target.map_or_else(|| root.join("target"), Path::to_owned)
}

/// Infers the schema of JSON texts.
pub(crate) fn schema<'t>(texts: &(impl Iterator<Item = &'t [u8]> + Clone)) -> Schema {
    let read = |accumulator: &mut Accumulator| {
        for (index, text) in (0..).zip(texts.clone()) {
            accumulator.at(index);
            accumulator.read(&mut serde_json::Deserializer::from_slice(text)).expect("JSON");
            accumulator.add_bytes(text.len() as u64);
        }
    };
    let mut study = Accumulator::new();
    read(&mut study);
    let mut accumulator = study.into_form().blank().start(1);
    read(&mut accumulator);
    accumulator.finish()
}

/// Returns what rustfmt would change in `source` with its default settings. Without rustfmt, prints that the check is
/// skipped and returns an empty string.
pub(crate) fn unformatted(source: &str) -> String {
    use std::io::Write;
    use std::process::Stdio;
    let mut rustfmt = Command::new("rustfmt");
    // Run outside of the repository, whose `rustfmt.toml` must not apply.
    rustfmt.args(["--edition", "2024", "--check", "--color", "never"]).current_dir(std::env::temp_dir());
    let child = rustfmt.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: no rustfmt to check the generated code with");
        return String::new();
    };
    child.stdin.take().expect("piped").write_all(source.as_bytes()).expect("rustfmt reads");
    let output = child.wait_with_output().expect("rustfmt ends");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    text.into_owned()
}
