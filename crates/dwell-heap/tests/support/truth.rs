//! Builds truth programs: programs with known data, on which a test runs the tool.

use super::root;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of a file beside the tests.
pub(crate) fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}

/// Compiles a program of one file with rustc, with debug info and frame pointers.
pub(crate) fn compile(source: &Path, exe: &Path, flags: &[&str]) {
    fs::create_dir_all(exe.parent().expect("a folder")).expect("a folder");
    let output = Command::new("rustc")
        .args(["--edition=2024", "-g", "-Cforce-frame-pointers=yes", "-o"])
        .arg(exe)
        .args(flags)
        .arg(source)
        .output()
        .expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A program of one file that depends on crates of the registry.
#[derive(Debug, Default)]
pub(crate) struct Package<'a> {
    /// Where the package and its target folder are.
    pub(crate) folder: PathBuf,
    /// The name of the executable, with which the paths of its types begin.
    pub(crate) bin: &'a str,
    pub(crate) source: PathBuf,
    /// Lines of the manifest.
    pub(crate) dependencies: &'a str,
    /// Further flags for rustc.
    pub(crate) flags: &'a str,
    pub(crate) release: bool,
    pub(crate) lto: bool,
}

impl Package<'_> {
    /// Builds the program. Returns `None` if cargo has not downloaded the crates.
    pub(crate) fn build(&self) -> Option<PathBuf> {
        let Self { folder, bin, source, dependencies, flags, release, lto } = self;
        fs::create_dir_all(folder).expect("a folder");
        let manifest = format!(
            "[workspace]\n[package]\nname = \"{bin}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
             [[bin]]\nname = \"{bin}\"\npath = \"{}\"\n[dependencies]\n{dependencies}\n",
            source.display()
        );
        let path = folder.join("Cargo.toml");
        if fs::read_to_string(&path).ok().as_ref() != Some(&manifest) {
            fs::write(&path, manifest).expect("a file");
            fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
        }
        let profile = if *release { "release" } else { "dev" };
        // With a target, flags do not reach build scripts: a program that is linked with another libc does not start here.
        let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let target = flags.contains("-Clink-arg").then_some(target);
        let output = Command::new(env!("CARGO"))
            .args(["build", "--offline", "--quiet", "--profile", profile])
            .args(target.iter().flat_map(|target| ["--target", target]))
            .arg("--manifest-path")
            .arg(&path)
            .arg("--target-dir")
            .arg(folder.join("target"))
            .env("RUSTFLAGS", format!("-Cforce-frame-pointers=yes {flags}"))
            // Variables, because the environment of the tests may have others.
            .env("CARGO_PROFILE_DEV_DEBUG", "2")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "2")
            // And no profile of its own for LTO, for which the C code of an allocator would be compiled again.
            .env("CARGO_PROFILE_RELEASE_LTO", if *lto { "fat" } else { "off" })
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .expect("cargo runs");
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(errors.contains("offline") || errors.contains("no matching package"), "{errors}");
            super::skip(format_args!("the crates of {bin} cannot be had without network"));
            return None;
        }
        let built = folder.join("target").join(target.unwrap_or_default());
        Some(built.join(if *release { "release" } else { "debug" }).join(bin))
    }
}

/// A program in `tests/NAME/truth.rs`, of which `--cfg ALLOCATOR` selects the allocator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Truth(pub(crate) &'static str);

impl Truth {
    /// Returns the folder of the executables.
    pub(crate) fn folder(self) -> PathBuf {
        super::target_dir().join(self.0)
    }

    fn source(self) -> PathBuf {
        source(&format!("{}/truth.rs", self.0))
    }

    /// Builds it with the system's allocator.
    pub(crate) fn build(self) -> PathBuf {
        self.build_with("truth", &["-Copt-level=2"])
    }

    /// Builds it with the system's allocator and these flags, under a name of its own.
    pub(crate) fn build_with(self, name: &str, flags: &[&str]) -> PathBuf {
        let exe = self.folder().join(name);
        compile(&self.source(), &exe, flags);
        exe
    }

    /// Builds it with the allocator of a crate. Returns `None` if cargo has not downloaded the crate.
    pub(crate) fn over(self, allocator: &str, release: bool, lto: bool) -> Option<PathBuf> {
        let dependencies = match allocator {
            "mimalloc" => "mimalloc = { version = \"0.1.52\", default-features = false }",
            _ => "tikv-jemallocator = \"0.7\"",
        };
        let (folder, flags) = (self.folder().join(allocator), format!("--cfg {allocator}"));
        let source = self.source();
        Package { folder, bin: "truth", source, dependencies, flags: &flags, release, lto }.build()
    }
}

/// Returns the notes without the one that RSS is not divided, which there is on a kernel whose pages are larger than 4 KiB.
pub(crate) fn without_pages(notes: &[String]) -> Vec<&str> {
    notes.iter().map(String::as_str).filter(|note| !note.starts_with("RSS is not divided")).collect()
}

/// The environment variable that enables tests that build allocators written in C for a minute or more.
pub(crate) const ALL_ALLOCATORS: &str = "DWELL_TEST_ALLOCATORS";

/// Returns `true` if jemalloc is to be tested, and prints why not.
pub(crate) fn tests_jemalloc() -> bool {
    let is_tested = std::env::var_os(ALL_ALLOCATORS).is_some();
    if !is_tested {
        super::skip(format_args!("jemalloc takes a minute to build; set {ALL_ALLOCATORS}=1"));
    }
    is_tested
}
