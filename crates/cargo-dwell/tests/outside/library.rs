//! Rust beside other languages: in a library of a program in C, and below functions without unwind tables.

use crate::running::{folder, tool};
use crate::support;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

const LIBRARY: &str = r#"
use std::{collections::HashMap, sync::Mutex};
pub struct Row { pub name: String, pub more: Option<[u64; 12]> }
static TABLE: Mutex<Option<HashMap<u64, Row>>> = Mutex::new(None);
thread_local!(static LAST: std::cell::RefCell<Vec<Row>> = const { std::cell::RefCell::new(Vec::new()) });
#[unsafe(no_mangle)]
pub extern "C" fn fill(count: u64) -> u64 {
    LAST.with_borrow_mut(|last| last.extend((0..count / 10).map(|row| Row { name: format!("row {row}"), more: None })));
    let mut table = TABLE.lock().unwrap();
    let table = table.get_or_insert_with(HashMap::new);
    table.extend((0..count).map(|row| (row, Row { name: format!("row {row}"), more: None })));
    table.len() as u64
}
"#;

const HOST: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *kept[1000];
int main(int argc, char **argv) {
    void *library = dlopen(argv[1], RTLD_NOW);
    unsigned long (*fill)(unsigned long) = (unsigned long (*)(unsigned long))dlsym(library, "fill");
    for (int i = 0; i < 1000; i++) kept[i] = strdup("a text of C code");
    printf("%lu\n", fill(5000));
    fflush(stdout);
    getchar();
    return kept[7][0] == 'b';
}
"#;

/// Returns the library and a program in C that loads it, unless there is no C compiler.
fn built() -> Option<&'static (PathBuf, PathBuf)> {
    static BUILT: OnceLock<Option<(PathBuf, PathBuf)>> = OnceLock::new();
    let compiled = || {
        let folder = folder().join("library");
        fs::create_dir_all(&folder).expect("a folder");
        let (rust, c) = (folder.join("rows.rs"), folder.join("host.c"));
        fs::write(&rust, LIBRARY).expect("a file");
        fs::write(&c, HOST).expect("a file");
        let library = folder.join("librows.so");
        support::truth::compile(&rust, &library, &["-O", "--crate-type=cdylib", "--crate-name=rows"]);
        let host = folder.join("host");
        let status = Command::new("cc").arg("-g").arg(&c).arg("-o").arg(&host).arg("-ldl").status();
        status.is_ok_and(|status| status.success()).then_some((library, host))
    };
    let built = BUILT.get_or_init(compiled).as_ref();
    if built.is_none() {
        support::skip("there is no C compiler");
    }
    built
}

/// Returns the document, around which are the lines of the program.
fn read(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    let start = output.stdout.iter().position(|byte| *byte == b'{').unwrap_or_else(|| panic!("{error}"));
    let document = serde_json::Deserializer::from_slice(&output.stdout[start..]).into_iter().next();
    document.and_then(Result::ok).unwrap_or_else(|| panic!("{error}"))
}

/// At the exit the thread's variables are gone.
fn check(document: &Value, is_running: bool) {
    let snapshot = &document["snapshots"][0];
    let rows = snapshot["blocks"].as_array().expect("rows");
    let find =
        |owner: &str| rows.iter().find(|row| row["owner"] == owner).unwrap_or_else(|| panic!("{owner}: {rows:#?}"));
    assert_eq!(find("Row.name")["blocks"], if is_running { 5500 } else { 5000 });
    if is_running && cfg!(target_arch = "x86_64") {
        assert_eq!(find("(thread-local rows::LAST)")["blocks"], 1);
    }
    assert_eq!(find("(static rows::TABLE)")["blocks"], 1);
}

#[test]
fn a_run_of_another_program_has_the_types_of_the_library() {
    let Some((library, host)) = built() else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["dwell", "census", "--at", "exit", "--format", "json", "--exe"]).arg(host).arg("--").arg(library);
    let document = read(&command.stdin(Stdio::null()).output().expect("it runs"));
    check(&document, false);
    // What C code holds is a row for each file.
    let rows = document["snapshots"][0]["blocks"].as_array().expect("rows");
    let of_c: Vec<&Value> = rows.iter().filter(|row| row["content"] == "block of C code").collect();
    let of_libc = of_c.iter().find(|row| row["owner"].as_str().is_some_and(|owner| owner.contains("libc.so.6)")));
    assert!(of_libc.is_some_and(|row| row["blocks"].as_u64() >= Some(1000)), "{of_c:#?}");

    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["dwell", "allocs", "--once", "--format", "json", "--exe"]).arg(host).arg("--").arg(library);
    let document = read(&command.stdin(Stdio::null()).output().expect("it runs"));
    let rows = document["rows"].as_array().expect("rows");
    let of_texts = |row: &&Value| row["what"] == "String" && row["counts"]["allocations"].as_u64() >= Some(5000);
    assert!(rows.iter().any(|row| of_texts(&row)), "{rows:#?}");
}

#[test]
fn a_process_and_a_core_of_another_program_have_the_types_of_the_library() {
    let Some((library, host)) = built() else { return };
    let mut command = Command::new(host);
    let mut child = command.arg(library).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says something");
    let pid = child.id();
    let output = tool(&["--pid", &pid.to_string(), "--format", "json"]).output().expect("it runs");
    let core = folder().join("library").join("core");
    let made = Command::new("gcore").arg("-o").arg(&core).arg(pid.to_string()).output();
    let core = core.with_extension(pid.to_string());
    drop(child.stdin.take());
    child.wait().expect("it ends");
    check(&read(&output), true);
    if !core.exists() {
        support::skip(format_args!("gcore cannot be run here: {made:?}"));
        return;
    }
    let output = tool(&["--format", "json", "--core"]).arg(core).output().expect("it runs");
    check(&read(&output), true);
}

/// A thread waits in functions without unwind tables, as those of musl: the variables of their callers are found.
#[test]
#[cfg(target_arch = "x86_64")]
fn variables_below_functions_without_tables_are_found() {
    let exe = folder().join("no_tables");
    support::truth::compile(&support::truth::source("outside/no_tables.rs"), &exe, &["-O"]);
    let mut child = Command::new(&exe).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says something");
    let output = tool(&["--pid", &child.id().to_string(), "--format", "json"]).output().expect("it runs");
    drop(child.stdin.take());
    child.wait().expect("it ends");
    let document = read(&output);
    let rows = document["snapshots"][0]["blocks"].as_array().expect("rows");
    let has = |owner: &str, blocks: u64| rows.iter().any(|row| row["owner"] == owner && row["blocks"] == blocks);
    assert!(has("(local records of no_tables::main)", 1) && has("Record.name", 1000), "{rows:#?}");
}

/// The types of pyo3 that tell where a class and its values are.
const PYO3: &str = r"
pub mod impl_ {
    pub mod pyclass {
        pub mod lazy_type_object {
            pub struct LazyTypeObject<T>(pub std::sync::atomic::AtomicUsize, pub std::marker::PhantomData<fn() -> T>);
        }
    }
}
pub mod pycell {
    pub mod impl_ {
        use std::{cell::UnsafeCell, mem::{ManuallyDrop, MaybeUninit}};
        #[repr(C)]
        pub struct PyClassObject<T> { pub base: [usize; 2], pub contents: MaybeUninit<PyClassObjectContents<T>> }
        pub struct PyClassObjectContents<T> { pub borrows: usize, pub value: ManuallyDrop<UnsafeCell<T>> }
    }
}
";

/// Objects as those of Python, in memory that the program maps. Half of them are of a class that Python code derives from one that it
/// derives from the class of Rust.
const OBJECTS: &str = r#"
use pyo3::impl_::pyclass::lazy_type_object::LazyTypeObject;
use pyo3::pycell::impl_::{PyClassObject, PyClassObjectContents};
use std::{cell::UnsafeCell, marker::PhantomData, mem::{ManuallyDrop, MaybeUninit}, sync::atomic::{AtomicUsize, Ordering}};
pub struct Book { pub title: String, pub pages: Vec<u64> }
static BOOK: LazyTypeObject<Book> = LazyTypeObject(AtomicUsize::new(0), PhantomData);
unsafe extern "C" {
    fn mmap(addr: usize, len: usize, protection: i32, flags: i32, file: i32, offset: i64) -> usize;
}
fn main() {
    let start = unsafe { mmap(0, 1 << 20, 3, 0x22, -1, 0) };
    let put = |at: usize, words: [usize; 2]| unsafe { (at as *mut [usize; 2]).write(words) };
    let (of_types, book) = (start + 64, start + 128);
    put(of_types, [1, of_types]);
    put(book, [1, of_types]);
    let (novel, story) = (start + 200_000, start + 201_024);
    for (class, base) in [(novel, book), (story, novel)] {
        put(class, [1, of_types]);
        put(class + 256, [base, 0]);
    }
    std::hint::black_box(&BOOK).0.store(book, Ordering::Relaxed);
    for number in 0..1000 {
        let value = Book { title: format!("book {number}"), pages: vec![number; 3] };
        let contents = PyClassObjectContents { borrows: 0, value: ManuallyDrop::new(UnsafeCell::new(value)) };
        let class = if number % 2 == 0 { book } else { story };
        let object = PyClassObject { base: [1 + number as usize % 3, class], contents: MaybeUninit::new(contents) };
        unsafe { ((start + 256 + 96 * number as usize) as *mut PyClassObject<Book>).write(object) };
    }
    println!("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}
"#;

#[test]
fn values_in_objects_of_python_have_owners() {
    let folder = folder().join("python");
    fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).expect("a file");
        folder.join(name)
    };
    let library = folder.join("libpyo3.rlib");
    support::truth::compile(&write("pyo3.rs", PYO3), &library, &["-O", "--crate-type=rlib", "--crate-name=pyo3"]);
    let exe = folder.join("objects");
    let named = format!("--extern=pyo3={}", library.display());
    support::truth::compile(&write("objects.rs", OBJECTS), &exe, &["-O", &named]);
    let mut child = Command::new(&exe).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut line).expect("it says something");
    let pid = child.id().to_string();
    let attached = tool(&["--pid", &pid, "--format", "json"]).output().expect("it runs");
    drop(child.stdin.take());
    child.wait().expect("it ends");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["dwell", "census", "--at", "exit", "--format", "json", "--exe"]).arg(&exe);
    let run = command.stdin(Stdio::null()).output().expect("it runs");
    for document in [read(&attached), read(&run)] {
        let snapshot = &document["snapshots"][0];
        let rows = snapshot["blocks"].as_array().expect("rows");
        for owner in ["Book.title", "Book.pages"] {
            assert!(rows.iter().any(|row| row["owner"] == owner && row["blocks"] == 1000), "{owner}: {rows:#?}");
        }
        let kept = snapshot["retained"].as_array().expect("rows");
        assert!(kept.iter().any(|row| row["owner"] == "(static Book in Python)" && row["blocks"] == 2000), "{kept:#?}");
    }
}

/// A program with glibc inside, whose version stands nowhere; threads with arenas and caches of their own. Before malloc something else
/// takes a few bytes of `brk`, as the start of a static program does on aarch64.
const STATIC: &str = r#"
unsafe extern "C" {
    fn sbrk(bytes: isize) -> *mut u8;
}
extern "C" fn take() {
    unsafe { sbrk(20) };
}
#[used]
#[unsafe(link_section = ".preinit_array")]
static TAKE: extern "C" fn() = take;
pub struct Record { pub name: String }
fn records(count: u64) -> Vec<Record> {
    let mut all: Vec<Record> = (0..count).map(|number| Record { name: format!("record {number}") }).collect();
    all.retain(|record| !record.name.ends_with('7'));
    all
}
fn main() {
    let (ready, is_ready) = std::sync::mpsc::channel();
    for _ in 0..3 {
        let ready = ready.clone();
        std::thread::spawn(move || {
            let all = records(1000);
            ready.send(()).unwrap();
            std::thread::sleep(std::time::Duration::from_secs(1000));
            println!("{}", all.iter().map(|record| record.name.len()).sum::<usize>());
        });
    }
    let all = records(2000);
    (0..3).for_each(|_| is_ready.recv().unwrap());
    println!("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    println!("{}", all.iter().map(|record| record.name.len()).sum::<usize>());
}
"#;

#[test]
#[cfg_attr(target_arch = "aarch64", ignore = "not run since the search for its arena changed")]
fn a_static_program_with_glibc_inside_is_read() {
    let folder = folder().join("static");
    fs::create_dir_all(&folder).expect("a folder");
    let (source, exe) = (folder.join("inside.rs"), folder.join("inside"));
    fs::write(&source, STATIC).expect("a file");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "-O", "-g", "-Cforce-frame-pointers=yes", "-Ctarget-feature=+crt-static"]);
    let built = rustc.arg(&source).arg("-o").arg(&exe).output().expect("rustc runs");
    if !built.status.success() {
        support::skip(format_args!("no static program can be linked here: {}", built.status));
        return;
    }
    let mut child = Command::new(&exe).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut line).expect("it says something");
    let output = tool(&["--pid", &child.id().to_string(), "--format", "json"]).output().expect("it runs");
    drop(child.stdin.take());
    child.wait().expect("it ends");
    let document = read(&output);
    let rows = document["snapshots"][0]["blocks"].as_array().expect("rows");
    let names = rows.iter().find(|row| row["owner"] == "Record.name").unwrap_or_else(|| panic!("{rows:#?}"));
    assert_eq!(names["blocks"], 900 * 3 + 1800, "{names:#?}");

    // A run under the tool, which reads the program while it grows. On a busy machine that takes longer.
    let found = (0..8).map(|round| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
        command.args(["dwell", "census", "--format", "json", "--exe"]).arg(&exe);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut tool = piped.spawn().expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(500 << round));
        drop(tool.stdin.take());
        let output = tool.wait_with_output().expect("it ends");
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("ready\n"));
        let rows = output.status.success().then(|| read(&output)["snapshots"][0]["blocks"].clone());
        let names =
            rows.iter().flat_map(|rows| rows.as_array().expect("rows")).find(|row| row["owner"] == "Record.name");
        names.map_or(0, |names| names["blocks"].as_u64().expect("a number"))
    });
    let found: Vec<u64> = found.take_while(|blocks| *blocks < 4400).collect();
    assert!(found.len() < 8, "{found:?}");

    // Without debug info it is not run.
    let bare = folder.join("bare");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "-Cstrip=symbols", "-Ctarget-feature=+crt-static"]).arg(&source).arg("-o").arg(&bare);
    assert!(rustc.status().expect("rustc runs").success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    let output = command.args(["dwell", "census", "--exe"]).arg(&bare).stdin(Stdio::null()).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && output.stdout.is_empty() && error.contains("has no debug info"),
        "{error}"
    );
}

/// A thread that waits in a system call of the program's own code, as those of rustix are.
#[cfg(target_arch = "x86_64")]
const WAITS: &str = r#"
pub struct Entry { pub name: String }
unsafe extern "C" {
    fn epoll_create1(flags: i32) -> i32;
}
#[inline(never)]
fn wait(file: i32, all: &[Entry]) -> usize {
    let mut events = [0_u8; 48];
    let timeout = [6_i64, 0];
    // epoll_pwait2
    let mut result = 441_isize;
    unsafe {
        std::arch::asm!(
            "syscall", inlateout("rax") result, in("rdi") file as isize, in("rsi") events.as_mut_ptr(), in("rdx") 4_isize,
            in("r10") timeout.as_ptr(), in("r8") 0_isize, in("r9") 8_isize, lateout("rcx") _, lateout("r11") _,
        )
    };
    assert_eq!(result, 0);
    all.len() + usize::from(events[0])
}
fn main() {
    let all: Vec<Entry> = (0..1000).map(|number| Entry { name: format!("entry {number}") }).collect();
    println!("{}", wait(unsafe { epoll_create1(0) }, std::hint::black_box(&all)));
}
"#;

/// Such a thread is left alone by a stop, and only its stack and instruction pointers are known.
#[test]
#[cfg(target_arch = "x86_64")]
fn variables_of_a_thread_that_is_left_alone_are_found() {
    let folder = folder().join("waits");
    fs::create_dir_all(&folder).expect("a folder");
    let (source, exe) = (folder.join("waits.rs"), folder.join("waits"));
    fs::write(&source, WAITS).expect("a file");
    support::truth::compile(&source, &exe, &["-O"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["dwell", "census", "--at", "3s", "--format", "json", "--exe"]).arg(&exe);
    let document = read(&command.stdin(Stdio::null()).output().expect("it runs"));
    let rows = document["snapshots"][0]["blocks"].as_array().expect("rows");
    let has = |owner: &str, blocks: u64| rows.iter().any(|row| row["owner"] == owner && row["blocks"] == blocks);
    assert!(has("(local all of waits::main)", 1) && has("Entry.name", 1000), "{rows:#?}");
}
