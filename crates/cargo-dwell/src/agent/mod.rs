//! The agent's source, and its compilation by the user's rustc at the first use.

#[expect(missing_docs, reason = "the agent's file, where comments say what groups of fields are")]
#[expect(clippy::cast_possible_truncation, reason = "halves of a word")]
#[path = "library/layout.rs"]
pub mod layout;

pub(crate) mod hooks;

use anyhow::{Context, Result, bail};
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of the agent's crate.
const SOURCES: [(&str, &str); 11] = [
    ("agent.rs", include_str!("library/agent.rs")),
    ("blocks.rs", include_str!("library/blocks.rs")),
    ("helper.rs", include_str!("library/helper.rs")),
    ("hooks.rs", include_str!("library/hooks.rs")),
    ("layout.rs", include_str!("library/layout.rs")),
    ("patch.rs", include_str!("library/patch.rs")),
    ("profile.rs", include_str!("library/profile.rs")),
    ("sample.rs", include_str!("library/sample.rs")),
    ("stacks.rs", include_str!("library/stacks.rs")),
    ("sys.rs", include_str!("library/sys.rs")),
    ("thread.rs", include_str!("library/thread.rs")),
];

const FLAGS: [&str; 10] = [
    "--crate-type=cdylib",
    "--crate-name=cargo_dwell_agent",
    "--edition=2021",
    "--cap-lints=allow",
    "-Copt-level=3",
    "-Cpanic=abort",
    "-Cforce-frame-pointers=yes",
    "-Ccodegen-units=1",
    "-Cstrip=symbols",
    "-Coverflow-checks=no",
];

/// Returns the path of the agent's library, which it compiles unless `cache` holds it.
///
/// If `cache` is not writable, the library goes to the folder for temporary files.
///
/// # Errors
/// Returns an error if rustc cannot be run, or if it fails.
pub fn library(cache: Option<&Path>) -> Result<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(&rustc).arg("-vV").output().with_context(|| {
        format!("{} cannot be run; census compiles its recording agent with rustc at first use", rustc.display())
    })?;
    if !version.status.success() {
        bail!("{} -vV failed; census compiles its recording agent with rustc at first use", rustc.display());
    }
    let mut hasher = foldhash::fast::FixedState::default().build_hasher();
    hasher.write(&version.stdout);
    for part in SOURCES.iter().flat_map(|(name, text)| [*name, *text]).chain(FLAGS) {
        hasher.write(part.as_bytes());
    }
    let name = format!("census-agent-{:016x}", hasher.finish());
    let folders = [cache.map(Path::to_owned), temporary()];
    let mut failure = None;
    for folder in folders.into_iter().flatten() {
        // In `LD_PRELOAD` colons and spaces separate paths.
        let Some(folder) = std::path::absolute(&folder).ok().filter(|folder| is_plain(folder)) else { continue };
        let library = folder.join(format!("lib{name}.so"));
        if library.is_file() {
            return Ok(library);
        }
        match compile(&rustc, &folder, &name, &library) {
            Ok(()) => return Ok(library),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or_else(|| {
        anyhow::anyhow!("no folder can hold the agent; set TMPDIR to a folder of your own, with a path without spaces")
    }))
}

/// Returns a temporary folder that no other user can write to, because programs load a library from it.
fn temporary() -> Option<PathBuf> {
    // SAFETY: `geteuid` has no arguments, accesses no memory of this process and cannot fail.
    let user = unsafe { libc::geteuid() };
    let folder = std::env::temp_dir().join(format!("cargo-dwell-{user}"));
    let _ = fs::DirBuilder::new().mode(0o700).create(&folder);
    let metadata = fs::symlink_metadata(&folder).ok()?;
    (metadata.is_dir() && metadata.uid() == user && metadata.mode() & 0o022 == 0).then_some(folder)
}

fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|path| !path.contains([':', ' ', '\t', '\n', ';', '$']))
}

/// Compiles in a private folder, so that concurrent compilations do not conflict.
fn compile(rustc: &std::ffi::OsStr, folder: &Path, name: &str, library: &Path) -> Result<()> {
    let work = folder.join(format!("{name}.{}.{:?}", std::process::id(), std::thread::current().id()));
    fs::create_dir_all(&work).with_context(|| format!("{}: cannot be created", work.display()))?;
    let result = compile_in(rustc, &work, library);
    let _ = fs::remove_dir_all(&work);
    result
}

fn compile_in(rustc: &std::ffi::OsStr, work: &Path, library: &Path) -> Result<()> {
    for (file, text) in SOURCES {
        let file = work.join(file);
        fs::write(&file, text).with_context(|| format!("{}: cannot be written", file.display()))?;
    }
    let built = work.join("agent.so");
    let output = Command::new(rustc)
        .args(FLAGS)
        .arg("-o")
        .arg(&built)
        .arg(work.join("agent.rs"))
        .env_remove("RUSTFLAGS")
        .output()
        .with_context(|| format!("{} cannot be run", rustc.display()))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors.lines().find(|line| line.starts_with("error")).unwrap_or("rustc printed no error");
        bail!("{} cannot compile the agent that records allocations: {first}", rustc.display());
    }
    fs::rename(&built, library).with_context(|| format!("{}: cannot be written", library.display()))
}
