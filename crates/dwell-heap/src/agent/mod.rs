//! The agent: a library that the tool contains, and its source.

#[expect(clippy::cast_possible_truncation, reason = "halves of a word")]
#[allow(dead_code, unreachable_pub, reason = "a file of the agent, which uses the rest")]
#[path = "library/layout.rs"]
pub(crate) mod layout;

mod flags;
pub(crate) mod hooks;
pub(crate) mod loadable;

use anyhow::{Context, Result, bail};
use flags::FLAGS;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of the agent's crate.
const SOURCES: [(&str, &str); 15] = [
    ("agent.rs", include_str!("library/agent.rs")),
    ("arch.rs", include_str!("library/arch.rs")),
    ("arch/aarch64.rs", include_str!("library/arch/aarch64.rs")),
    ("arch/x86_64.rs", include_str!("library/arch/x86_64.rs")),
    ("blocks.rs", include_str!("library/blocks.rs")),
    ("follow.rs", include_str!("library/follow.rs")),
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

/// The library that the build script compiled; empty if it could not.
const BUILT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agent.so"));

/// Returns the path of the agent's library, which it writes to `cache` unless it is there.
///
/// If `cache` is not writable, the library goes to the folder for temporary files.
///
/// # Errors
/// Returns an error if no folder is writable, or if the tool was built without the library and rustc cannot compile it.
pub(crate) fn library(cache: Option<&Path>) -> Result<PathBuf> {
    let source = if BUILT.is_empty() { Source::Compiled(rustc()?) } else { Source::Built };
    let name = source.name();
    let folders = [cache.map(Path::to_owned), temporary()];
    let mut failure = None;
    for folder in folders.into_iter().flatten() {
        // In `LD_PRELOAD` colons and spaces separate paths.
        let Some(folder) = std::path::absolute(&folder).ok().filter(|folder| is_plain(folder)) else { continue };
        let library = folder.join(format!("lib{name}.so"));
        if library.is_file() {
            return Ok(library);
        }
        match make(&source, &folder, &name, &library) {
            Ok(()) => return Ok(library),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or_else(|| {
        anyhow::anyhow!("no folder can hold the agent; set TMPDIR to a folder of your own, with a path without spaces")
    }))
}

/// Where the library comes from.
enum Source {
    /// The tool contains it.
    Built,
    /// This rustc, with its version, compiles it.
    Compiled((OsString, Vec<u8>)),
}

impl Source {
    /// Returns a name that changes with the library.
    fn name(&self) -> String {
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        match self {
            Self::Built => hasher.write(BUILT),
            Self::Compiled((_, version)) => {
                hasher.write(version);
                for part in SOURCES.iter().flat_map(|(name, text)| [*name, *text]).chain(FLAGS) {
                    hasher.write(part.as_bytes());
                }
            }
        }
        format!("census-agent-{:016x}", hasher.finish())
    }
}

/// Returns rustc and its version.
fn rustc() -> Result<(OsString, Vec<u8>)> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(&rustc).arg("-vV").output().with_context(|| {
        format!("{} cannot be run; this build of the tool compiles census' agent with rustc", rustc.display())
    })?;
    if !version.status.success() {
        bail!("{} -vV failed; this build of the tool compiles census' agent with rustc", rustc.display());
    }
    Ok((rustc, version.stdout))
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

/// Makes the library in a private folder, so that concurrent runs do not conflict.
fn make(source: &Source, folder: &Path, name: &str, library: &Path) -> Result<()> {
    let work = folder.join(format!("{name}.{}.{:?}", std::process::id(), std::thread::current().id()));
    fs::create_dir_all(&work).with_context(|| format!("{}: cannot be created", work.display()))?;
    let built = work.join("agent.so");
    let made = match source {
        Source::Built => fs::write(&built, BUILT).with_context(|| format!("{}: cannot be written", built.display())),
        Source::Compiled((rustc, _)) => compile(rustc, &work, &built),
    };
    let result = made.and_then(|()| {
        fs::rename(&built, library).with_context(|| format!("{}: cannot be written", library.display()))
    });
    let _ = fs::remove_dir_all(&work);
    result
}

fn compile(rustc: &OsStr, work: &Path, built: &Path) -> Result<()> {
    for (file, text) in SOURCES {
        let file = work.join(file);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))?;
        }
        fs::write(&file, text).with_context(|| format!("{}: cannot be written", file.display()))?;
    }
    let output = Command::new(rustc)
        .args(FLAGS)
        .arg("-o")
        .arg(built)
        .arg(work.join("agent.rs"))
        .env_remove("RUSTFLAGS")
        .output()
        .with_context(|| format!("{} cannot be run", rustc.display()))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors.lines().find(|line| line.starts_with("error")).unwrap_or("rustc printed no error");
        bail!("{} cannot compile the agent that records allocations: {first}", rustc.display());
    }
    Ok(())
}
