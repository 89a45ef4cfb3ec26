//! Debug info in files of its own, for a stripped program whose dump is read elsewhere.

use crate::running::{folder, one_line, tool};
use crate::support::{self, truth::Package};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program with its debug info as the compiler divides it, and a dump that it wrote as a stripped file that is gone.
struct Small {
    exe: PathBuf,
    core: PathBuf,
    build_id: String,
    stripped: PathBuf,
    scratch: tempfile::TempDir,
}

impl Small {
    /// Builds the program. `None` if something for that is missing.
    fn build(how: &str, path: &str) -> Option<Self> {
        let heapdump = support::root().join("crates/dwell-heapdump");
        let dependencies = &format!("bytes = \"1\"\ndwell-heapdump = {{ path = \"{}\" }}", heapdump.display());
        let flags = &format!("-Csplit-debuginfo={how} -Clink-arg=-Wl,--build-id");
        let folder = folder().join(path);
        let source = support::truth::source("outside/small.rs");
        let exe = Package { folder, bin: "small", source, dependencies, flags, ..Package::default() }.build()?;
        let scratch = tempfile::tempdir().expect("a folder");
        let (stripped, image, core) =
            (scratch.path().join("stripped"), scratch.path().join("image"), scratch.path().join("small.core"));
        let strip = Command::new("strip").arg("-o").arg(&stripped).arg(&exe).status();
        if !strip.as_ref().is_ok_and(std::process::ExitStatus::success) {
            support::skip(format_args!("strip cannot be run: {strip:?}"));
            return None;
        }
        fs::copy(&stripped, &image).expect("it is copied");
        assert!(Command::new(&image).arg(&core).status().expect("it runs").success());
        fs::remove_file(image).expect("it is there");
        let data = fs::read(&exe).expect("it is read");
        let object = object::File::parse(&*data).expect("an executable");
        let id = object::Object::build_id(&object).expect("it is read").expect("there is one");
        let digits = id.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let build_id = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
        Some(Self { exe, core, build_id, stripped, scratch })
    }

    /// Makes a folder with files of these names.
    fn folder(&self, name: &str, files: &[(&str, &Path)]) -> PathBuf {
        let folder = self.scratch.path().join(name);
        for (name, from) in files {
            let to = folder.join(name);
            fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            fs::copy(from, to).expect("it is copied");
        }
        folder
    }

    fn census(&self, folder: &Path) -> Command {
        tool(&["--core", self.core.to_str().expect("UTF-8"), "--debug-dir", folder.to_str().expect("UTF-8")])
    }

    #[track_caller]
    fn expect_types(&self, folder: &Path) {
        let output = self.census(folder).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            text.contains("Box<[u64; 100]>: 1,000 x 800 B")
                && text.contains("Account.extra")
                && text.contains("Bytes: 300,000 x 1 B"),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    #[track_caller]
    fn refused(&self, folder: &Path) -> String {
        one_line(&self.census(folder).output().expect("it runs"))
    }

    /// Returns the file with the debug info alone that `objcopy` makes.
    fn debug(&self) -> PathBuf {
        let debug = self.scratch.path().join("only-debug");
        let copied = Command::new("objcopy").arg("--only-keep-debug").arg(&self.exe).arg(&debug).status();
        assert!(copied.expect("it is there with strip").success());
        debug
    }
}

/// A file or folder that has another name meanwhile, as on a machine that does not have it.
struct Away(PathBuf);

impl Away {
    fn other(path: &Path) -> PathBuf {
        path.with_extension("away")
    }

    fn new(path: PathBuf) -> Self {
        fs::rename(&path, Self::other(&path)).expect("it is there");
        Self(path)
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        let _ = fs::rename(Self::other(&self.0), &self.0);
    }
}

/// Returns the files of a folder with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("it is read").path());
    all.filter(|path| path.extension().is_some_and(|end| end == extension)).collect()
}

#[test]
fn a_package_of_debug_info_is_found() {
    let Some(small) = Small::build("packed", "packed") else { return };
    let package = small.exe.with_extension("dwp");
    let copy = small.folder("copy", &[("small.dwp", &package)]).join("small.dwp");
    let mut built = files(&small.exe.with_file_name("deps"), "dwp");
    built.push(package);
    let _away: Vec<Away> = built.into_iter().map(Away::new).collect();
    small.expect_types(&small.folder("both", &[("small", &small.exe), ("small.dwp", &copy)]));
    // Without the program's file, of which another folder has what was kept.
    let debug = small.debug();
    let all = [("program", &*small.stripped), ("program.debug", &debug), ("program.dwp", &copy)];
    small.expect_types(&small.folder("divided", &all));
    let none = small.refused(&small.folder("none", &[("small", &small.exe)]));
    assert!(none.contains("debug info of") && none.contains("small.dwp is there"), "{none}");
    let other = small.refused(&small.folder("other", &[("small", &small.exe), ("small.dwp", &small.stripped)]));
    assert!(other.contains("small.dwp is of another build"), "{other}");
}

#[test]
fn files_of_debug_info_are_found() {
    let Some(small) = Small::build("unpacked", "unpacked") else { return };
    let deps = small.exe.with_file_name("deps");
    small.expect_types(&small.folder("here", &[("small", &small.exe)]));
    let built = files(&deps, "dwo");
    let names: Vec<String> =
        built.iter().map(|file| file.file_name().expect("a name").to_string_lossy().into_owned()).collect();
    let mut all: Vec<(&str, &Path)> = names.iter().map(|name| &**name).zip(built.iter().map(|file| &**file)).collect();
    all.push(("small", &small.exe));
    let elsewhere = small.folder("elsewhere", &all);
    let _away: Vec<Away> = built.iter().cloned().map(Away::new).collect();
    small.expect_types(&elsewhere);
    let none = small.refused(&small.folder("none", &[("small", &small.exe)]));
    assert!(none.contains(".dwo nor") && none.contains("is there"), "{none}");
}

#[test]
fn each_layout_of_a_folder_is_found() {
    let Some(small) = Small::build("off", "whole") else { return };
    let (debug, id) = (small.debug(), &*small.build_id);
    let by_id = format!(".build-id/{}/{}", &id[..2], &id[2..]);
    let [of_debugger, of_debuginfod] = [format!("{by_id}.debug"), format!("{id}/debuginfo")];
    // With the program as its file, as debuginfod keeps it, and as Debian's packages do.
    small.expect_types(&small.folder("gdb", &[(&of_debugger, &debug), ("small", &small.stripped)]));
    let executable = format!("{id}/executable");
    small.expect_types(&small.folder("fod", &[(&of_debuginfod, &debug), (&executable, &small.stripped)]));
    small.expect_types(&small.folder("linked", &[(&of_debugger, &debug), (&by_id, &small.stripped)]));
    // By its build id, whatever its name is.
    small.expect_types(&small.folder("named", &[("symbols/any", &debug), ("small", &small.stripped)]));
    let alone = small.refused(&small.folder("alone", &[(&of_debugger, &debug)]));
    assert!(alone.contains("is the debug info of the core"), "{alone}");
    let stripped = small.refused(&small.folder("bare", &[("small", &small.stripped)]));
    assert!(stripped.contains("which is stripped"), "{stripped}");
    let empty = small.refused(&small.folder("empty", &[("other", Path::new("/bin/true"))]));
    assert!(empty.contains("has no executable of the build id"), "{empty}");
}
