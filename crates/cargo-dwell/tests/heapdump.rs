//! Heap dumps that a program writes of itself: this test is the program.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use serde_json::Value;
use std::collections::HashMap;
use std::fs::{self, File};
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

/// Texts that no report may have.
const MARK: &str = "SECRET-MARK";

#[expect(dead_code, reason = "the census reads the tags")]
struct Account {
    name: String,
    tags: Vec<String>,
    extra: Option<Box<[u64; 100]>>,
}

struct Bank {
    accounts: HashMap<String, Account>,
    #[allow(clippy::vec_box, reason = "blocks of their own")]
    log: Vec<Box<[u8; 1000]>>,
}

/// Dumps of this program are made one at a time.
static TURN: Mutex<()> = Mutex::new(());

fn bank(accounts: usize) -> Bank {
    let account = |number: usize| Account {
        name: format!("{MARK} name {number:010}"),
        tags: vec![format!("{MARK} tag {}", number % 5)],
        extra: number.is_multiple_of(10).then(|| Box::new([0x5345_4352_4554; 100])),
    };
    Bank {
        accounts: (0..accounts).map(|number| (format!("{MARK} key {number:010}"), account(number))).collect(),
        log: (0..accounts / 10).map(|_| Box::new([7; 1000])).collect(),
    }
}

fn dump(path: &Path) {
    dwell_heapdump::write(path).expect("the program can be copied");
}

fn census(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-dwell")).arg("census").args(arguments).output().expect("it can be started")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

/// Returns the census of a dump as JSON.
fn json(arguments: &[&str]) -> Value {
    let output = census(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// Returns the line of an error.
fn error(arguments: &[&str]) -> String {
    let output = census(arguments);
    let text = String::from_utf8(output.stderr).expect("it is text");
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(output.stdout.is_empty());
    text
}

/// Returns the blocks and bytes of an owner.
fn owned(snapshot: &Value, owner: &str) -> (u64, u64) {
    let rows = snapshot["blocks"].as_array().expect("there are rows");
    let has_owner = |row: &&Value| row["owner"] == owner;
    let sum = |key: &str| rows.iter().filter(has_owner).map(|row| row[key].as_u64().expect("a number")).sum();
    (sum("blocks"), sum("bytes"))
}

#[test]
fn a_dump_has_owners_and_blocks_to_the_byte() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    // Enough that the blocks of the tests' own threads are less than a hundredth.
    let bank = bank(12_000);
    let core = folder.path().join("a.core");
    dump(&core);
    let found = &json(&["--core", text(&core)])["snapshots"][0];
    let extra = bank.accounts.values().filter(|account| account.extra.is_some()).count() as u64;
    assert_eq!(owned(found, "Account.extra"), (extra, extra * 800));
    assert_eq!(owned(found, "Bank.log []"), (1200, 1_200_000));
    let capacity: usize = bank.accounts.values().map(|account| account.name.capacity()).sum();
    let names = owned(found, "Account.name");
    // What was requested of the allocator is not known from outside to the byte.
    assert_eq!(names.0, 12_000);
    assert!(names.1 >= capacity as u64 && names.1 <= capacity as u64 + 12_000 * 24, "{names:?} {capacity}");
    assert_eq!(owned(found, "Account.tags").0, 12_000);
    let live = found["live_bytes"].as_u64().unwrap() as f64;
    for part in ["typed_bytes", "owned_bytes"] {
        let share = found[part].as_u64().unwrap() as f64 / live;
        assert!(share >= 0.99, "{part}: {share}");
    }
    black_box(&bank);
}

/// One chain to a type, to a block by its address, and to a value by its text.
#[test]
fn questions_about_one_block_are_answered_on_the_command_line() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let bank = bank(2_000);
    let core = folder.path().join("a.core");
    dump(&core);
    let core = text(&core);
    let ask = |more: &[&str]| {
        let output = census(&[&["--core", core], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    // Values in a map are no blocks of their own: the map is their block.
    let of_type = ask(&["--type", "Account"]);
    let path = of_type.split_once("Path to Account: from ").unwrap_or_else(|| panic!("{of_type}")).1;
    let map = path.lines().find(|line| line.contains("Bank.accounts")).unwrap_or_else(|| panic!("{of_type}"));
    assert!(map.contains("HashMap<String, Account>") && !of_type.contains("Chain of owners"), "{of_type}");
    let address = map.split_whitespace().find(|word| word.starts_with("0x")).unwrap();
    let of_address = ask(&["--type", address]);
    assert!(of_address.contains(&format!("Path to {address}")) && of_address.contains("Bank.accounts"), "{of_address}");
    let name = bank.accounts.values().find(|account| account.name.ends_with("0000000777")).unwrap();
    let found = ask(&["--find", "Account.name contains 0000000777"]);
    assert!(found.contains(&format!("Path to Account.name = {:?}", name.name)), "{found}");
    assert_eq!(found.matches("Path to").count(), 1, "{found}");
    assert!(error(&["--core", core, "--find", "Account.name is nobody"]).contains("`Account.name is nobody`"));
    assert!(error(&["--core", core, "--type", "Acount"]).contains("Account"));
    black_box(&bank);
}

#[test]
fn without_texts_no_byte_of_a_value_is_written() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let bank = bank(300);
    let core = folder.path().join("a.core");
    dump(&core);
    let core = text(&core);
    let files = ["save", "folded", "dhat", "pprof", "html"].map(|option| (option, folder.path().join(option)));
    let mut arguments: Vec<String> = vec!["--core".into(), core.into()];
    for (option, file) in &files {
        arguments.extend([format!("--{option}"), text(file).to_owned()]);
    }
    let all = |more: &[&str]| -> Vec<u8> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let output = census(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut bytes = [output.stdout, output.stderr].concat();
        for (option, file) in &files {
            let mut contents = fs::read(file).unwrap();
            if *option == "pprof" {
                let compressed = std::mem::take(&mut contents);
                io::copy(&mut flate2::read::GzDecoder::new(&*compressed), &mut contents).unwrap();
            }
            bytes.extend(contents);
        }
        bytes
    };
    let has_mark = |bytes: &[u8]| memchr::memmem::find(bytes, MARK.as_bytes()).is_some();
    // So that this test can fail.
    assert!(has_mark(&all(&[])), "the keys of maps are shown without the option");
    for format in ["human", "json", "markdown"] {
        assert!(!has_mark(&all(&["--no-texts", "--format", format])), "{format}");
        assert!(!has_mark(&census(&["--core", core, "--no-texts", "--format", format, "--type", "Account"]).stdout));
    }
    // A file that was saved with texts has none in a later report.
    let saved = folder.path().join("with");
    assert!(census(&["--core", core, "--save", text(&saved)]).status.success());
    assert!(has_mark(&census(&[text(&saved), "--format", "json"]).stdout));
    assert!(!has_mark(&census(&[text(&saved), "--format", "json", "--no-texts"]).stdout));
    black_box(&bank);
}

#[test]
fn dumps_of_a_folder_show_what_grew_when() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let mut bank = bank(200);
    for (number, more) in [0, 100, 3000].into_iter().enumerate() {
        bank.log.extend((0..more).map(|_| Box::new([8; 1000])));
        dump(&folder.path().join(format!("{number}.core")));
    }
    // One of them is compressed.
    let plain = folder.path().join("1.core");
    let mut compressed = flate2::write::GzEncoder::new(
        File::create(folder.path().join("1.core.gz")).unwrap(),
        flate2::Compression::fast(),
    );
    io::copy(&mut File::open(&plain).unwrap(), &mut compressed).unwrap();
    compressed.finish().unwrap();
    fs::remove_file(plain).unwrap();
    let found = json(&["--core", text(folder.path())]);
    let counts: Vec<u64> = (0..3).map(|at| owned(&found["snapshots"][at], "Bank.log []").0).collect();
    assert_eq!(counts, [20, 120, 3120]);
    let page = folder.path().join("page");
    let output = census(&["--core", text(folder.path()), "--html", text(&page)]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.starts_with("+0s: ") && !report.contains("after the start of"), "{report}");
    let table = report.split("What grew when").nth(1).unwrap_or_else(|| panic!("{report}"));
    let row = table.lines().find(|line| line.contains("Bank.log []")).unwrap();
    assert!(row.contains("s and "), "{row}");
    assert!(fs::read_to_string(page).unwrap().contains("Bank.log []"));
    let empty = tempfile::tempdir().unwrap();
    assert!(error(&["--core", text(empty.path())]).contains("has no heap dump"));
    black_box(&bank);
}

#[test]
fn damaged_and_foreign_dumps_are_refused_in_one_line() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("a.core");
    dump(&core);
    let whole = fs::read(&core).unwrap();
    let damaged = folder.path().join("damaged.core");
    let with = |bytes: &[u8]| {
        fs::write(&damaged, bytes).unwrap();
        error(&["--core", text(&damaged)])
    };
    for part in 1..8 {
        assert!(with(&whole[..whole.len() * part / 8]).contains("is a truncated core"));
    }
    assert!(with(&whole[..40]).contains("truncated"));
    assert!(with(b"").contains("is not an ELF file"));
    let change = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        bytes
    };
    assert!(with(&change(4, 1)).contains("of 32 bits"));
    assert!(with(&change(7, 9)).contains("of another system"));
    assert!(with(&change(18, 40)).contains("another architecture"));
    assert!(with(b"\x1f\x8bnot gzip").contains("cannot be decompressed"));
    assert!(with(b"\x28\xb5\x2f\xfdno").contains("zstd"));
    let other = env!("CARGO_BIN_EXE_cargo-dwell");
    assert!(error(&["--core", text(&core), "--exe", other]).contains("its build id begins with"));
}

/// Runs a program of binutils, or says that it is missing.
fn run(program: &str, arguments: &[&str]) -> bool {
    let is_there = Command::new(program).args(arguments).status().is_ok_and(|status| status.success());
    if !is_there {
        println!("skipped: {program} cannot be run");
    }
    is_there
}

#[test]
fn a_folder_is_searched_by_build_id() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let bank = bank(500);
    let core = folder.path().join("a.core");
    dump(&core);
    let core = text(&core);
    let me = std::env::current_exe().unwrap();
    let me = text(&me);
    let make = |name: &str| -> PathBuf {
        let path = folder.path().join(name);
        fs::create_dir_all(&path).unwrap();
        path
    };
    let is_found = |debug: &Path| {
        owned(&json(&["--core", core, "--debug-dir", text(debug)])["snapshots"][0], "Account.extra").0 == 50
    };
    assert!(
        error(&["--core", core, "--debug-dir", text(&folder.path().join("none"))]).contains("there is no such folder")
    );
    // The whole executable, under any name.
    let whole = make("whole/deep");
    fs::copy(me, whole.join("renamed")).unwrap();
    assert!(is_found(&folder.path().join("whole")));
    // The executable is not where it was mapped: this file was replaced.
    let (stripped, debug) = (make("stripped"), make("debug"));
    let (program, symbols) = (stripped.join("program"), debug.join("program.debug"));
    if !run("objcopy", &["--only-keep-debug", me, text(&symbols)]) || !run("strip", &["-o", text(&program), me]) {
        return;
    }
    let by_any_name = json(&["--core", core, "--debug-dir", text(&debug), "--exe", text(&program)]);
    assert_eq!(owned(&by_any_name["snapshots"][0], "Account.extra").0, 50);
    let line = error(&["--core", core, "--debug-dir", text(&make("empty")), "--exe", text(&program)]);
    assert!(line.contains("has no debug info"), "{line}");
    let id = json(&["--core", core])["program"]["build_id"].as_str().unwrap().to_owned();
    let both = make("both");
    let place = both.join(".build-id").join(&id[..2]);
    fs::create_dir_all(&place).unwrap();
    fs::copy(&symbols, place.join(format!("{}.debug", &id[2..]))).unwrap();
    fs::copy(&program, both.join("program")).unwrap();
    assert_eq!(
        owned(
            &json(&["--core", core, "--debug-dir", text(&both), "--exe", text(&program)])["snapshots"][0],
            "Account.extra"
        )
        .0,
        50
    );
    black_box(&bank);
}

#[test]
fn pprof_reads_the_owners() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let bank = bank(5000);
    let core = folder.path().join("a.core");
    dump(&core);
    let file = folder.path().join("heap.pb.gz");
    assert!(census(&["--core", text(&core), "--pprof", text(&file)]).status.success());
    let go = |arguments: &[&str]| {
        let output = Command::new("go").args(["tool", "pprof"]).args(arguments).arg(&file).output().ok()?;
        Some(String::from_utf8(output.stdout).unwrap())
    };
    let Some(top) = go(&["-top", "-unit=B", "-nodefraction=0"]) else {
        println!("skipped: go cannot be run");
        return;
    };
    assert!(top.contains("Type: inuse_space"), "{top}");
    let row = top.lines().find(|line| line.contains("Box<[u64; 100]>")).unwrap_or_else(|| panic!("{top}"));
    assert!(row.contains("400000B"), "{row}");
    let traces = go(&["-traces", "-sample_index=inuse_objects"]).unwrap();
    let at = traces.find("Box<[u64; 100]>").unwrap();
    let owners: Vec<&str> = traces[at..].lines().skip(1).take(2).map(str::trim).collect();
    assert_eq!(owners, ["Account.extra", "Bank.accounts"]);
    black_box(&bank);
}
