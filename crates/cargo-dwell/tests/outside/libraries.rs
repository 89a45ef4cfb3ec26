//! Several libraries with Rust code in one process, with types of equal paths.

use crate::running::{folder, tool};
use crate::support::{self, truth::tests_jemalloc};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// Both libraries have a `data::Row` of their own.
const FIRST: &str = r#"
pub mod data { pub struct Row { pub name: String, pub more: Option<[u64; 12]> } }
use std::{cell::RefCell, collections::BTreeMap, sync::{Mutex, OnceLock}};
static TABLE: Mutex<BTreeMap<u64, data::Row>> = Mutex::new(BTreeMap::new());
thread_local!(static LAST: RefCell<Vec<data::Row>> = const { RefCell::new(Vec::new()) });
pub struct Once { pub text: Box<str> }
static ONCE: OnceLock<Vec<Once>> = OnceLock::new();
#[unsafe(no_mangle)]
pub extern "C" fn fill_first(count: u64) {
    let row = |row| data::Row { name: format!("row {row}"), more: None };
    TABLE.lock().unwrap().extend((0..count).map(|number| (number, row(number))));
    LAST.with_borrow_mut(|last| last.extend((0..count / 10).map(row)));
    ONCE.get_or_init(|| (0..count / 20).map(|_| Once { text: "once".into() }).collect());
}
"#;

const SECOND: &str = r#"
pub mod data { pub struct Row { pub id: u64, pub tags: Vec<u32>, pub next: Option<Box<Row>> } }
pub struct Only { pub text: Box<str> }
use std::{cell::RefCell, collections::BTreeMap, sync::{Mutex, atomic::{AtomicPtr, Ordering}}};
static TABLE: Mutex<BTreeMap<u64, data::Row>> = Mutex::new(BTreeMap::new());
pub struct Held { pub text: String }
static HOLDS: AtomicPtr<[usize; 4]> = AtomicPtr::new(std::ptr::null_mut());
unsafe extern "C" { fn malloc(size: usize) -> *mut [usize; 4]; }
unsafe extern "C" fn finalize<T>(data: *mut T) { drop(unsafe { Box::from_raw(data) }) }
thread_local!(static ONLY: RefCell<Vec<Only>> = const { RefCell::new(Vec::new()) });
#[unsafe(no_mangle)]
pub extern "C" fn fill_second(count: u64) {
    let row = |id| data::Row { id, tags: vec![7; 5], next: None };
    let rows = (0..count).map(|id| (id, data::Row { next: Some(Box::new(row(id))), ..row(id) }));
    TABLE.lock().unwrap().extend(rows);
    // As C code does: a block with a value and the function that frees it.
    for number in 0..10 {
        let value = Box::into_raw(Box::new(Held { text: format!("the text {number} of a value") }));
        let finalize: unsafe extern "C" fn(*mut Held) = finalize;
        unsafe {
            let block = malloc(32);
            block.write([0, finalize as usize, value as usize, HOLDS.load(Ordering::Relaxed) as usize]);
            HOLDS.store(block, Ordering::Relaxed);
        }
    }
    ONLY.with_borrow_mut(|all| all.extend((0..count / 10).map(|_| Only { text: "a text".into() })));
}
"#;

const HOST: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static void fill(const char *file, const char *name, unsigned long count) {
    void *library = dlopen(file, RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); exit(1); }
    ((void (*)(unsigned long))dlsym(library, name))(count);
}
int main(int argc, char **argv) {
    fill(argv[1], "fill_first", 1000);
    fill(argv[2], "fill_second", 2000);
    puts("ready");
    fflush(stdout);
    getchar();
    return 0;
}
"#;

/// Returns the two libraries and a program in C that loads them, unless there is no C compiler.
fn built() -> Option<&'static [PathBuf; 3]> {
    static BUILT: OnceLock<Option<[PathBuf; 3]>> = OnceLock::new();
    let compiled = || {
        let folder = folder().join("libraries");
        fs::create_dir_all(&folder).expect("a folder");
        let library = |name: &str, text: &str| {
            let (source, file) = (folder.join(name).with_extension("rs"), folder.join(format!("lib{name}.so")));
            fs::write(&source, text).expect("a file");
            support::truth::compile(&source, &file, &["-O", "--crate-type=cdylib", &format!("--crate-name={name}")]);
            file
        };
        let (first, second) = (library("first", FIRST), library("second", SECOND));
        let (source, host) = (folder.join("host.c"), folder.join("host"));
        fs::write(&source, HOST).expect("a file");
        let status = Command::new("cc").arg(&source).arg("-o").arg(&host).arg("-ldl").status();
        status.is_ok_and(|status| status.success()).then_some([first, second, host])
    };
    let built = BUILT.get_or_init(compiled).as_ref();
    if built.is_none() {
        support::skip("there is no C compiler");
    }
    built
}

/// At the exit the thread's variables are gone.
fn check(output: &Output, is_running: bool) {
    let error = String::from_utf8_lossy(&output.stderr);
    let start = output.stdout.iter().position(|byte| *byte == b'{').unwrap_or_else(|| panic!("{error}"));
    let document = serde_json::Deserializer::from_slice(&output.stdout[start..]).into_iter::<Value>().next();
    let document = document.and_then(Result::ok).unwrap_or_else(|| panic!("{error}"));
    let rows = document["snapshots"][0]["blocks"].as_array().expect("rows").clone();
    let blocks = |end: &str| {
        let all = rows.iter().filter(|row| row["owner"].as_str().is_some_and(|owner| owner.ends_with(end)));
        all.map(|row| row["blocks"].as_u64().expect("a number")).sum::<u64>()
    };
    assert_eq!(blocks("Row.name"), if is_running { 1100 } else { 1000 }, "{rows:#?}");
    assert_eq!((blocks("Row.tags"), blocks("Row.next")), (4000, 2000), "{rows:#?}");
    // Std has no debug info, so that this is the only static of its kind, and not in the first object.
    assert_eq!(blocks("Once.text"), 50, "{rows:#?}");
    // The two types of one path have two names.
    let is_named = |name: &str| rows.iter().any(|row| row["owner"].as_str().is_some_and(|owner| owner.contains(name)));
    assert!(is_named("libfirst.so!Row") != is_named("libsecond.so!Row"), "{rows:#?}");
    if is_running && cfg!(target_arch = "x86_64") {
        assert_eq!((blocks("Only.text"), blocks("Held.text")), (200, 10), "{rows:#?}");
        assert_eq!(blocks("(thread-local first::LAST)"), 1, "{rows:#?}");
        assert_eq!(blocks("(thread-local second::ONLY)"), 1, "{rows:#?}");
    }
    assert!(blocks("(static first::TABLE)") > 0 && blocks("(static second::TABLE)") > 0, "{rows:#?}");
}

/// Runs the program, and reads it while it waits.
fn attached(host: &Path, libraries: [&PathBuf; 2]) -> Output {
    let mut child = Command::new(host);
    let mut child = child.args(libraries).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says something");
    let output = tool(&["--pid", &child.id().to_string(), "--format", "json"]).output().expect("it runs");
    drop(child.stdin.take());
    child.wait().expect("it ends");
    output
}

#[test]
fn types_of_all_libraries_are_read() {
    let Some([first, second, host]) = built() else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command
        .args(["dwell", "census", "--at", "exit", "--format", "json", "--exe"])
        .arg(host)
        .arg("--")
        .args([first, second]);
    check(&command.stdin(Stdio::null()).output().expect("it runs"), false);

    check(&attached(host, [first, second]), true);
}

/// The first library with an allocator of its own.
fn with_allocator(dependency: &str, set: &str) -> Option<PathBuf> {
    let folder = folder().join("libraries").join(dependency.split(' ').next().unwrap_or_default());
    fs::create_dir_all(&folder).expect("a folder");
    let manifest = format!(
        "[workspace]\n[package]\nname = \"first\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [lib]\npath = \"first.rs\"\ncrate-type = [\"cdylib\"]\n[dependencies]\n{dependency}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
    fs::write(folder.join("first.rs"), format!("{FIRST}\n#[global_allocator]\nstatic ALLOCATOR: {set};\n"))
        .expect("a file");
    fs::copy(support::root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--quiet", "--release", "--target-dir"]).arg(folder.join("target"));
    cargo.env("RUSTFLAGS", "-Cforce-frame-pointers=yes").env("CARGO_PROFILE_RELEASE_DEBUG", "2");
    let output = cargo.env_remove("CARGO_TARGET_DIR").current_dir(&folder).output().expect("cargo runs");
    if output.status.success() {
        return Some(folder.join("target/release/libfirst.so"));
    }
    support::skip(format_args!("a package cannot be built: {}", String::from_utf8_lossy(&output.stderr).trim()));
    None
}

#[test]
fn allocators_inside_of_libraries_are_read() {
    let Some([_, second, host]) = built() else { return };
    let mimalloc = with_allocator(crate::MIMALLOC, "mimalloc::MiMalloc = mimalloc::MiMalloc");
    let jemalloc = tests_jemalloc().then(|| {
        let dependency = "tikv-jemallocator = { version = \"0.7\", features = [\"disable_initial_exec_tls\"] }";
        with_allocator(dependency, "tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc")
    });
    for first in [mimalloc, jemalloc.flatten()].iter().flatten() {
        check(&attached(host, [first, second]), true);
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
        command.args(["dwell", "census", "--format", "json", "--exe"]).arg(host).arg("--").args([first, second]);
        let output = command.stdin(Stdio::null()).output().expect("it runs");
        let notes = String::from_utf8_lossy(&output.stderr);
        assert!(notes.contains("libfirst.so: has an allocator inside, whose blocks a run does not record"), "{notes}");
    }
}

#[test]
fn allocations_of_all_libraries_have_functions() {
    let Some([first, second, host]) = built() else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["dwell", "allocs", "--once", "--format", "json", "--exe"]).arg(host).arg("--").args([first, second]);
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    for name in ["fill_first", "fill_second"] {
        assert!(text.contains(name), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A library in C++ without frame pointers, which `operator new` does not keep either.
const CPP: &str = r#"
struct Node { Node *next; long data[5]; };
static Node *all;
extern "C" void fill_second(unsigned long count) {
    while (count--) all = new Node { all, {} };
}
"#;

#[test]
fn what_new_allocates_is_of_the_library_that_called_it() {
    let Some([first, _, host]) = built() else { return };
    let (source, library) = (folder().join("libraries/cpp.cc"), folder().join("libraries/libcpp.so"));
    fs::write(&source, CPP).expect("a file");
    let mut compiler = Command::new("c++");
    compiler.args(["-O2", "-fomit-frame-pointer", "-fPIC", "-shared"]).arg(&source).arg("-o").arg(&library);
    if !compiler.status().is_ok_and(|status| status.success()) {
        return support::skip("there is no C++ compiler");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command
        .args(["dwell", "census", "--at", "exit", "--format", "json", "--exe"])
        .arg(host)
        .arg("--")
        .arg(first)
        .arg(library);
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    let start = output.stdout.iter().position(|byte| *byte == b'{').unwrap_or_else(|| panic!("{error}"));
    let document = serde_json::Deserializer::from_slice(&output.stdout[start..]).into_iter::<Value>().next();
    let document = document.and_then(Result::ok).unwrap_or_else(|| panic!("{error}"));
    let rows = document["snapshots"][0]["blocks"].as_array().expect("rows");
    let has = |row: &Value| row["owner"] == "(allocated by libcpp.so)" && row["bytes"] == 2000 * 48;
    assert!(rows.iter().any(has), "{rows:#?}");
}
