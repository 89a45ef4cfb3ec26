//! Tests how the commands choose the program, their messages for wrong input, and their exit codes.

#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock, PoisonError};
use tempfile::TempDir;

const LAYOUT: &str = "layout";

/// Runs `cargo dwell` in a folder. The runs take turns, since builds of a package with different features overwrite the
/// same executable.
fn dwell(folder: &Path, args: &[&str]) -> Output {
    static SERIAL: Mutex<()> = Mutex::new(());
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(args).current_dir(folder);
    for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(variable);
    }
    command.output().expect("it runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn has_type(output: &Output, name: &str) -> bool {
    json(output)["types"].as_array().expect("a list").iter().any(|ty| ty["name"] == name)
}

/// Checks that the run failed: nothing on standard output, one line on standard error that contains all `parts`, and
/// exit code 2.
#[track_caller]
fn check_error(output: &Output, parts: &[&str]) {
    let errors = stderr(output);
    // Cargo's progress lines begin with spaces.
    let lines: Vec<&str> = errors.lines().filter(|line| !line.starts_with(' ')).collect();
    let [line] = lines[..] else { panic!("{errors}") };
    assert!(line.starts_with("error: "), "{line}");
    for part in parts {
        assert!(line.contains(part), "`{part}` is not in: {line}");
    }
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(output.stdout.is_empty());
}

fn write(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    if fs::read_to_string(&file).is_ok_and(|known| known == text) {
        return;
    }
    fs::write(file, text).expect("a file");
}

/// Returns a workspace in the target directory with libraries, a package with one binary, a package with several, and
/// one that does not compile.
fn workspace() -> &'static Path {
    static WORKSPACE: OnceLock<PathBuf> = OnceLock::new();
    WORKSPACE.get_or_init(|| {
        let root = support::target_dir().join("program");
        let package = |name: &str, rest: &str| {
            format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n{rest}")
        };
        let main = |name: &str| {
            format!("pub struct {name} {{ pub a: u8, pub b: u64 }}\nfn main() {{ std::hint::black_box({name} {{ a: 1, b: 2 }}); }}\n")
        };
        write(
            &root,
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"single\", \"library\", \"bare\", \"several\", \"broken\"]\n\
             [profile.dev.package.\"*\"]\ndebug = false\n[profile.dev.package.single]\ndebug = false\n\
             [profile.slim]\ninherits = \"release\"\nstrip = true\ndebug = false\n",
        );
        write(&root, "single/Cargo.toml", &package("single", "[features]\nextra = []\n[dependencies]\nlibrary = { path = \"../library\" }\n"));
        write(
            &root,
            "single/src/main.rs",
            "use std::hint::black_box;\n\
             pub struct Config { pub name: String, pub buffer: [u8; 128], pub small: u8 }\n\
             pub enum Message { Ping, Data { payload: [u64; 20] }, Text(String) }\n\
             #[cfg(feature = \"extra\")]\npub struct Extra(pub u16);\n\
             async fn wait() { std::future::ready(()).await }\n\
             async fn holds() { let kept = black_box([1u8; 500]); wait().await; black_box(kept); }\n\
             fn main() {\n\
             black_box(Config { name: String::new(), buffer: [0; 128], small: 1 });\n\
             black_box([Message::Ping, Message::Data { payload: [1; 20] }, Message::Text(String::new())]);\n\
             black_box(library::Foreign { a: 1, b: 2 });\n\
             #[cfg(feature = \"extra\")]\nblack_box(Extra(1));\n\
             let mut context = std::task::Context::from_waker(std::task::Waker::noop());\n\
             let _ = std::future::Future::poll(std::pin::pin!(holds()), &mut context);\n\
             }\n",
        );
        write(&root, "library/Cargo.toml", &package("library", ""));
        write(&root, "library/src/lib.rs", "pub struct Foreign { pub a: u8, pub b: u64 }\n");
        write(&root, "library/examples/shown.rs", &main("Shown"));
        write(&root, "library/tests/tested.rs", "pub struct Tested(pub u8, pub u32);\n#[test]\nfn test() { std::hint::black_box(Tested(1, 2)); }\n");
        write(&root, "bare/Cargo.toml", &package("bare", ""));
        write(&root, "bare/src/lib.rs", "");
        write(&root, "several/Cargo.toml", &package("several", ""));
        write(&root, "several/src/bin/first.rs", &main("First"));
        write(&root, "several/src/bin/second.rs", &main("Second"));
        write(&root, "broken/Cargo.toml", &package("broken", ""));
        write(&root, "broken/src/main.rs", "fn main() { let x: u8 = \"no number\"; }\n");
        root
    })
}

fn member(name: &str) -> PathBuf {
    workspace().join(name)
}

#[test]
fn only_binary_is_built_with_debug_info() {
    // The manifest has `debug = false` for the package, which environment variables cannot override.
    let output = dwell(&member("single"), &["dwell", LAYOUT, "--offline", "--format", "json"]);
    let report = json(&output);
    let config = report["types"].as_array().unwrap().iter().find(|ty| ty["name"] == "Config").expect("a type");
    assert_eq!((config["size"].as_u64(), config["align"].as_u64()), (Some(160), Some(8)));
    assert_eq!(config["path"], "single::Config");
    assert_eq!(config["padding"].as_u64(), Some(7));
    assert!(has_type(&output, "Foreign"), "a crate of the workspace is its own");
    let file = report["program"]["file"].as_str().expect("a file");
    assert!(Path::new(file).ends_with("target/dwell/debug/single"), "{file}");
    assert_eq!(report["program"]["profile"], "dev");
}

#[test]
fn cargo_flags_are_passed_on() {
    let run = |args: &[&str]| {
        let mut all = vec![LAYOUT, "--offline", "--format", "json", "--all"];
        all.extend(args);
        dwell(workspace(), &all)
    };
    let extra = run(&["-p", "single", "--features", "extra"]);
    assert!(has_type(&extra, "Extra"));
    assert!(has_type(&run(&["-p", "single", "--all-features"]), "Extra"));
    assert!(!has_type(&run(&["-p", "single", "--no-default-features"]), "Extra"));
    let manifest = member("several").join("Cargo.toml");
    assert!(has_type(&run(&["--manifest-path", manifest.to_str().unwrap(), "--bin", "second"]), "Second"));
    assert!(has_type(&run(&["--bin", "first"]), "First"));
    assert!(has_type(&run(&["--example", "shown"]), "Shown"));
    assert!(has_type(&run(&["-p", "library", "--test", "tested"]), "Tested"));
    let release = json(&run(&["--bin", "first", "--release"]));
    assert_eq!(release["program"]["profile"], "release");
    let target = TempDir::new().unwrap();
    let folder = target.path().to_str().unwrap();
    // A profile with `strip = true`.
    let slim = run(&["--bin", "first", "--profile", "slim", "--target-dir", folder]);
    assert!(has_type(&slim, "First"));
    assert!(target.path().join("slim/first").exists());
}

#[test]
fn exe_option_reads_an_existing_program() {
    let built = json(&dwell(&member("several"), &[LAYOUT, "--offline", "--bin", "first", "--format", "json"]));
    let elsewhere = TempDir::new().unwrap();
    let exe = built["program"]["file"].as_str().unwrap();
    let output = dwell(elsewhere.path(), &[LAYOUT, "--exe", exe, "--all", "--format", "json"]);
    assert!(has_type(&output, "First"));
    assert_eq!(json(&output)["program"]["profile"], Value::Null);
    check_error(&dwell(elsewhere.path(), &[LAYOUT, "--exe", "missing"]), &["missing"]);
}

#[test]
fn missing_or_ambiguous_executable_lists_the_choices() {
    check_error(
        &dwell(&member("several"), &[LAYOUT]),
        &["there are 2 executables; choose one with --bin first or --bin second"],
    );
    let library =
        ["`library` is a library and has no executable", "--example shown, --test tested or --lib for its unit tests"];
    check_error(&dwell(&member("library"), &[LAYOUT]), &library);
    check_error(&dwell(workspace(), &["futures", "-p", "library"]), &library);
    check_error(
        &dwell(&member("bare"), &["dyn"]),
        &["`bare` is a library and has no executable; choose a target: --lib"],
    );
    check_error(&dwell(workspace(), &[LAYOUT]), &["executables; choose one with --bin single"]);
}

#[test]
fn missing_manifest_is_reported() {
    let empty = TempDir::new().unwrap();
    check_error(&dwell(empty.path(), &[LAYOUT]), &["there is no Cargo.toml", "--manifest-path", "--exe"]);
    check_error(
        &dwell(empty.path(), &[LAYOUT, "--manifest-path", "x/Cargo.toml"]),
        &["x/Cargo.toml: there is no such manifest"],
    );
}

#[test]
fn failed_build_shows_the_errors_of_cargo() {
    let output = dwell(&member("broken"), &[LAYOUT, "--offline"]);
    assert_eq!(output.status.code(), Some(101));
    assert!(stderr(&output).contains("error[E0308]: mismatched types"), "{}", stderr(&output));
    assert!(stderr(&output).contains("could not compile `broken`"));
    assert!(output.stdout.is_empty());
    let output = dwell(&member("several"), &[LAYOUT, "--offline", "--bin", "third"]);
    assert_eq!(output.status.code(), Some(101));
    assert!(stderr(&output).contains("no bin target named `third`"), "{}", stderr(&output));
    let output = dwell(workspace(), &[LAYOUT, "--offline", "-p", "missing"]);
    assert_eq!(output.status.code(), Some(101));
    assert!(stderr(&output).contains("missing"), "{}", stderr(&output));
}

#[test]
fn invalid_executables_are_identified() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let check = |path: &Path, parts: &[&str]| {
        for command in [LAYOUT, "futures", "dyn"] {
            check_error(&dwell(folder.path(), &[command, "--exe", path.to_str().unwrap()]), parts);
        }
    };
    check(&file("text", b"#!/bin/sh\n"), &["text"]);
    check(&file("empty", b""), &["empty"]);
    check(folder.path(), &[folder.path().to_str().unwrap()]);
    let source = file("main.rs", b"fn main() {}\n");
    let stripped = folder.path().join("stripped");
    let rustc = Command::new("rustc").args(["-C", "strip=symbols", "-o"]).args([&stripped, &source]).status();
    assert!(rustc.expect("rustc runs").success());
    check(&stripped, &["stripped", "debug"]);
    // Files with debug info that no linker completed, and other formats: one line that names them.
    let object = folder.path().join("part.o");
    let rlib = folder.path().join("libpart.rlib");
    for (kind, out) in [("obj", &object), ("link", &rlib)] {
        let mut rustc = Command::new("rustc");
        rustc.args(["-g", "--crate-type", "lib", "--emit", kind, "-o"]).args([out, &source]);
        assert!(rustc.status().expect("rustc runs").success());
    }
    check(&object, &["part.o", "not linked"]);
    check(&rlib, &["libpart.rlib", "archive"]);
    check(&file("app.pdb", b"Microsoft C/C++ MSF 7.00\r\n"), &["app.pdb", "PDB"]);
    check(&file("app.exe", b"MZ\x90\0"), &["app.exe", "PE", "damaged"]);
    let whole = folder.path().join("whole");
    assert!(Command::new("rustc").args(["-g", "-o"]).args([&whole, &source]).status().unwrap().success());
    let bytes = fs::read(&whole).unwrap();
    for part in [10, 64, bytes.len() / 3, bytes.len() - 1000] {
        check(&file("cut", &bytes[..part]), &["cut"]);
    }
}

/// Returns a WASM module with the debug sections of an executable, as `wasm-ld` writes them.
fn wasm(executable: &[u8]) -> Vec<u8> {
    use object::{Object, ObjectSection};
    fn leb(mut number: usize, out: &mut Vec<u8>) {
        while number > 127 {
            out.push(u8::try_from(number & 127).unwrap() | 128);
            number >>= 7;
        }
        out.push(u8::try_from(number).unwrap());
    }
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    for section in object::File::parse(executable).unwrap().sections() {
        let name = section.name().unwrap();
        if !name.starts_with(".debug_") {
            continue;
        }
        let mut content = Vec::new();
        leb(name.len(), &mut content);
        content.extend(name.as_bytes());
        content.extend(section.data().unwrap());
        module.push(0);
        leb(content.len(), &mut module);
        module.extend(content);
    }
    module
}

#[test]
fn wasm_module_is_read() {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("main.rs");
    fs::write(&source, "struct Pair(u32, u8);\nfn main() { std::hint::black_box(Pair(1, 2)); }\n").unwrap();
    let whole = folder.path().join("whole");
    assert!(Command::new("rustc").args(["-g", "-o"]).args([&whole, &source]).status().unwrap().success());
    let module = folder.path().join("module.wasm");
    fs::write(&module, wasm(&fs::read(&whole).unwrap())).unwrap();
    let output = dwell(folder.path(), &[LAYOUT, "--all", "--format", "json", "--exe", module.to_str().unwrap()]);
    assert!(has_type(&output, "Pair"));
}

#[test]
fn unknown_name_suggests_the_nearest() {
    let single = member("single");
    check_error(&dwell(&single, &[LAYOUT, "--offline", "Confgi"]), &["Confgi", "`Config`"]);
    check_error(&dwell(&single, &[LAYOUT, "--offline", "--explain", "Confgi"]), &["Confgi", "`Config`"]);
    check_error(&dwell(&single, &["futures", "--offline", "hold5"]), &["no future matches `hold5`"]);
    check_error(
        &dwell(&single, &[LAYOUT, "--offline", "--max-size", "Confgi=3"]),
        &["the budget for `Confgi` matches no type", "`Config`"],
    );
}

#[test]
fn exceeded_budgets_are_reported_by_field() {
    let single = member("single");
    let broken = |args: &[&str], expected: &[&str]| {
        let output = dwell(&single, args);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(!output.stdout.is_empty(), "the report is there all the same");
        let errors = stderr(&output);
        let lines: Vec<&str> = errors.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(lines.len(), expected.len(), "{errors}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.contains(expected), "`{expected}` is not in: {line}");
        }
    };
    broken(
        &[LAYOUT, "--offline", "--max-size", "Config=64", "--max-size", "Message=64"],
        &[
            "`Config` takes 160 bytes, 96 more than its budget of 64: its largest field `buffer: [u8; 128]` (128 bytes)",
            "largest variant `Data` takes 160 bytes because of `payload: [u64; 20]` (160 bytes); the next, `Text`",
        ],
    );
    broken(&["futures", "--offline", "--max-future", "256"], &["`kept: [u8; 500]` (500 bytes)"]);
    broken(
        &[LAYOUT, "--offline", "--max-future", "256", "--max-size", "single::Config=159"],
        &["`Config` takes 160", "src/main.rs"],
    );
    let kept = dwell(&single, &[LAYOUT, "--offline", "--max-size", "Config=160", "--max-future", "4096"]);
    assert_eq!(kept.status.code(), Some(0), "{}", stderr(&kept));
    for wrong in ["Config", "Config=-1", "Config=x", "=3", "Config=99999999999999999999999"] {
        let output = dwell(&single, &[LAYOUT, "--offline", "--max-size", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
    }
    assert_eq!(dwell(&single, &["futures", "--offline", "--max-future", "-1"]).status.code(), Some(2));
}

/// Returns a separate workspace with `config` as its `dwell.toml`, since the file applies to a whole workspace.
fn configured(config: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    write(
        folder.path(),
        "Cargo.toml",
        "[workspace]\nmembers = [\"inner\"]\n[package]\nname = \"outer\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
    );
    write(
        folder.path(),
        "src/main.rs",
        "#![allow(dead_code)]\nstruct Wide([u64; 4]);\nfn main() { std::hint::black_box(Wide([1; 4])); }\n",
    );
    write(folder.path(), "inner/Cargo.toml", "[package]\nname = \"inner\"\nversion = \"0.0.0\"\nedition = \"2024\"\n");
    write(
        folder.path(),
        "inner/src/main.rs",
        "#![allow(dead_code)]\nstruct Wide([u64; 8]);\nfn main() { std::hint::black_box(Wide([1; 8])); }\n",
    );
    write(folder.path(), "dwell.toml", config);
    folder
}

#[test]
fn dwell_toml_sets_budgets() {
    let folder = configured("max-future = 4096\n\n[max-size]\nWide = 48\nMissing = 1\n");
    let outer = dwell(folder.path(), &[LAYOUT, "--offline"]);
    assert_eq!(outer.status.code(), Some(0), "{}", stderr(&outer));
    assert!(stderr(&outer).contains("note: the budget for `Missing` matches no type"), "{}", stderr(&outer));
    // A package without a `dwell.toml` uses that of the workspace.
    let inner = dwell(&folder.path().join("inner"), &[LAYOUT, "--offline"]);
    assert_eq!(inner.status.code(), Some(1), "{}", stderr(&inner));
    assert!(stderr(&inner).contains("`Wide` takes 64 bytes, 16 more than its budget of 48"), "{}", stderr(&inner));
    let asked = dwell(&folder.path().join("inner"), &[LAYOUT, "--offline", "--max-size", "Wide=64"]);
    assert_eq!(asked.status.code(), Some(0), "the command line wins: {}", stderr(&asked));
    write(folder.path(), "inner/dwell.toml", "[max-size]\nWide = 64\n");
    let inner = dwell(&folder.path().join("inner"), &[LAYOUT, "--offline"]);
    assert_eq!(inner.status.code(), Some(0), "{}", stderr(&inner));
}

#[test]
fn invalid_dwell_toml_is_reported_before_the_build() {
    for (config, part) in [
        ("max-futures = 1\n", "dwell.toml:1: unknown field `max-futures`"),
        ("\n[budget]\nx = 1\n", "dwell.toml:2: unknown field `budget`"),
        ("max-future = -1\n", "dwell.toml:1: invalid value: integer `-1`"),
        ("max-future = 99999999999999999999\n", "dwell.toml:1: "),
        ("max-future = \n", "dwell.toml:1: "),
    ] {
        let folder = configured(config);
        check_error(&dwell(folder.path(), &[LAYOUT, "--offline"]), &[part, "correct"]);
        assert!(!folder.path().join("target").exists());
    }
}

#[test]
fn differences_are_reported_by_field() {
    let folder = configured("");
    let path = folder.path();
    let saved = dwell(path, &[LAYOUT, "--offline", "--save", "old.json"]);
    assert!(saved.status.success(), "{}", stderr(&saved));
    let text = fs::read_to_string(path.join("old.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["version"], 1);
    for list in ["types", "futures", "traits"] {
        assert!(document[list].is_array(), "{list}");
    }
    let old_exe = path.join("old");
    fs::copy(document["program"]["file"].as_str().unwrap(), &old_exe).unwrap();
    let same = dwell(path, &[LAYOUT, "--offline", "--diff", "old.json"]);
    assert!(String::from_utf8_lossy(&same.stdout).contains("No size differs"), "{}", stderr(&same));

    write(
        path,
        "src/main.rs",
        "#![allow(dead_code)]\nstruct Wide([u64; 4], u32, u8);\nfn main() { std::hint::black_box(Wide([1; 4], 1, 2)); }\n",
    );
    for old in ["old.json", "old"] {
        let diff = json(&dwell(path, &[LAYOUT, "--offline", "--diff", old, "--format", "json"]));
        let grew = &diff["grew"][0];
        assert_eq!(
            (grew["name"].as_str(), grew["before"].as_u64(), grew["after"].as_u64()),
            (Some("Wide"), Some(32), Some(40))
        );
        assert_eq!(grew["by"][0]["field"], "1");
        assert_eq!(grew["by"][0]["after"], 4);
        assert_eq!(diff["shrank"].as_array().map(Vec::len), Some(0));
    }
    let human = dwell(path, &[LAYOUT, "--offline", "--diff", "old.json"]);
    let human = String::from_utf8_lossy(&human.stdout).into_owned();
    assert!(human.contains("Grew") && human.contains("+8") && human.contains("added `1: u32` (4 bytes)"), "{human}");

    check_error(&dwell(path, &[LAYOUT, "--offline", "--diff", "missing.json"]), &["missing.json: is not a file"]);
    check_error(&dwell(path, &[LAYOUT, "--offline", "--diff", "src/main.rs"]), &["src/main.rs"]);
    check_error(&dwell(path, &[LAYOUT, "--offline", "--save", "src/main.rs"]), &["src/main.rs: already exists"]);
    check_error(&dwell(path, &[LAYOUT, "--offline", "--save", "none/new.json"]), &["the folder none does not exist"]);
    write(path, "later.json", "{\"version\": 2, \"types\": []}");
    check_error(&dwell(path, &[LAYOUT, "--offline", "--diff", "later.json"]), &["version 2 of the schema"]);
    write(path, "other.json", "{\"name\": \"package\"}");
    check_error(&dwell(path, &[LAYOUT, "--offline", "--diff", "other.json"]), &["other.json: is neither"]);
    assert_eq!(fs::read_to_string(path.join("old.json")).unwrap(), text, "nothing was lost");
}

#[test]
fn second_run_uses_the_cache() {
    let single = member("single");
    let first = json(&dwell(&single, &["futures", "--offline", "--format", "json"]));
    let cache = workspace().join("target/dwell/cache");
    assert!(fs::read_dir(&cache).is_ok_and(|mut files| files.next().is_some()), "{}", cache.display());
    assert_eq!(json(&dwell(&single, &["futures", "--offline", "--format", "json"])), first);
}
