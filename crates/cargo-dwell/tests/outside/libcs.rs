//! Each glibc that `.ci/libc` has unpacked has the blocks that the program knows. `DWELL_LIBCS` names another folder.

use crate::running::{Running, build_at, check, folder, one_line, tool};
use crate::support;
use dwell_heap::outside;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of a glibc's files below the one of a release.
const PLACES: [&str; 2] = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];
/// The path of the dynamic linker that the program is linked with, in whose place another one is written.
const LINKER: &str = "/the-dynamic-linker-of-this-program-is-written-here-by-the-test-that-runs-it-with-one-glibc-after-the-\
                      other-and-no-path-is-longer-than-this-one-unless-the-target-folder-has-a-very-long-path-itself";

#[test]
fn each_glibc_has_the_blocks_that_the_program_knows() {
    let all = std::env::var_os("DWELL_LIBCS").map_or_else(|| support::target_dir().join("libc"), PathBuf::from);
    let mut releases: Vec<PathBuf> = fs::read_dir(&all)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    releases.sort();
    // A program that is linked with a newer glibc does not start with an older one.
    let Some(oldest) = releases.iter().find(|folder| folder.join("usr/lib/x86_64-linux-gnu/crt1.o").exists()) else {
        crate::support::skip(format_args!("{} has no glibc to link with; `.ci/libc {0}` unpacks some", all.display()));
        return;
    };
    let (root, to_link) = (oldest.display(), oldest.join(PLACES[0]));
    let flags = format!(
        "-Clink-arg=--sysroot={root} -Clink-arg=-B{0} -Clink-arg=-L{0} -Clink-arg=-L{1} -Clink-arg=-Wl,--dynamic-linker={LINKER}",
        to_link.display(),
        oldest.join(PLACES[1]).display()
    );
    let Some(exe) = build_at(&folder().join("libcs"), "", &flags, true) else { return };
    let bytes = fs::read(exe).expect("it was built");
    for release in &releases {
        let name = release.file_name().expect("a name").to_string_lossy();
        let Some(libs) =
            PLACES.iter().map(|place| release.join(place)).find(|folder| folder.join("libc.so.6").exists())
        else {
            panic!("{} has no glibc", release.display());
        };
        let exe = folder().join(format!("truth-{name}"));
        fs::write(&exe, with_linker(&bytes, &libs.join("ld-linux-x86-64.so.2"))).expect("it is written");
        fs::set_permissions(&exe, fs::Permissions::from_mode(0o755)).expect("it is there");
        let others = PLACES.map(|place| release.join(place)).map(|folder| folder.display().to_string()).join(":");
        let contents = fs::read(libs.join("libc.so.6")).expect("it is there");
        let version = &contents[banner(&contents)..];
        let version =
            String::from_utf8_lossy(&version[..version.iter().position(|byte| *byte == b'\n').expect("a line")]);
        let running = Running::start(Command::new(&exe).env("LD_LIBRARY_PATH", &others), "hold", &name);
        let truth = running.truth();
        assert!(truth.len() > 20_000, "{}", truth.len());
        let captured = outside::attach(running.id(), None, None).expect("it can be looked at");
        running.end();
        let (typed, owned, live) = check(captured, &exe, &truth);
        eprintln!("{version}: {} blocks, {live} bytes: {typed} typed, {owned} owned", truth.len());
        assert!(typed * 1000 >= live * 995 && owned * 1000 >= live * 990, "{name}: {typed} and {owned} of {live}");
        unknown(&exe, &others, contents);
    }
}

/// A later version may have other structures.
fn unknown(exe: &Path, others: &str, mut libc: Vec<u8>) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = banner(&libc) + RELEASE.len();
    libc[at..at + 4].copy_from_slice(b"2.99");
    fs::write(folder.path().join("libc.so.6"), libc).expect("it is written");
    let path = format!("{}:{others}", folder.path().display());
    let running = Running::start(Command::new(exe).env("LD_LIBRARY_PATH", path), "hold", "unknown");
    let refused = one_line(&tool(&["--pid", &running.id().to_string()]).output().expect("it runs"));
    assert!(refused.contains("glibc 2.99: the structures of its malloc are not known"), "{refused}");
    running.end();
}

const RELEASE: &str = "release version ";

/// Returns where a glibc tells its version.
fn banner(libc: &[u8]) -> usize {
    libc.windows(RELEASE.len()).position(|bytes| bytes == RELEASE.as_bytes()).expect("it tells its version")
}

/// Returns a program with another dynamic linker.
fn with_linker(program: &[u8], path: &Path) -> Vec<u8> {
    let at = program.windows(LINKER.len()).position(|bytes| bytes == LINKER.as_bytes()).expect("it was linked so");
    let path = path.to_str().expect("UTF-8").as_bytes();
    assert!(path.len() < LINKER.len(), "the path of the target folder is too long");
    let mut program = program.to_vec();
    program[at..at + LINKER.len()].fill(0);
    program[at..at + path.len()].copy_from_slice(path);
    program
}
