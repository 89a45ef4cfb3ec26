//! `cargo dwell check` on a small service with seeded regressions.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A service that keeps sessions, caches answers and parses requests.
const SERVICE: &str = r#"use std::collections::HashMap;
use std::hint::black_box;
use std::rc::Rc;

pub struct Session {
    pub user: String,
    pub score: u64,
}

pub enum Event {
    Login(u64),
    Logout(u64),
}

#[derive(Default)]
pub struct State {
    pub sessions: Vec<Session>,
    pub cache: HashMap<u64, u64>,
    pub events: Vec<Event>,
    pub scratch: Vec<u8>,
    pub parents: Vec<Rc<u64>>,
}

impl State {
    #[inline(never)]
    pub fn login(&mut self, number: u64) {
        self.sessions.push(Session { user: format!("user {number:06}"), score: number });
        self.events.push(if number % 2 == 0 { Event::Login(number) } else { Event::Logout(number) });
    }

    #[inline(never)]
    pub fn answer(&mut self, question: u64) -> u64 {
        *self.cache.entry(question % 100).or_insert(question)
    }

    #[inline(never)]
    pub fn reserve(&mut self) {
        self.scratch = Vec::with_capacity(4096);
        self.scratch.push(1);
    }
}

#[inline(never)]
pub fn parse(text: &str) -> usize {
    let words: Vec<&str> = text.split(' ').collect();
    words.len()
}

fn main() {
    let mut state = State::default();
    state.reserve();
    let requests: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000);
    let mut sum = 0;
    for number in 0..requests {
        state.login(number);
        sum += state.answer(number) + parse("GET /index HTTP/1.1") as u64;
    }
    match std::env::args().nth(2).as_deref() {
        Some("fails") => std::process::exit(3),
        Some("hangs") => loop { std::thread::sleep(std::time::Duration::from_secs(60)) },
        _ => {}
    }
    for event in &state.events {
        match event { Event::Login(user) | Event::Logout(user) => sum += user }
    }
    sum += state.sessions.iter().map(|session| session.score + session.user.len() as u64).sum::<u64>();
    black_box(&state);
    println!("{sum}");
}
"#;

const RUN: &str = "[check.load]\nargs = [\"2000\"]\n";

fn git(folder: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
    command.args(arguments).output().is_ok_and(|output| output.status.success())
}

/// A repository with the service and a `dwell.toml`, both committed; `None` without git.
fn service(config: &str) -> Option<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "[package]\nname = \"service\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";
    fs::create_dir(folder.path().join("src")).unwrap();
    let files = [
        ("Cargo.toml", manifest),
        ("src/main.rs", SERVICE),
        ("dwell.toml", config),
        (".gitignore", "Cargo.lock\ntarget\n"),
    ];
    for (file, text) in files {
        fs::write(folder.path().join(file), text).unwrap();
    }
    let is_there = git(folder.path(), &["init", "-q"])
        && git(folder.path(), &["add", "."])
        && git(folder.path(), &["commit", "-q", "-m", "base"]);
    if !is_there {
        eprintln!("skipped: git cannot be run");
    }
    is_there.then_some(folder)
}

fn check(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.arg("check").args(arguments).arg("--offline").current_dir(folder);
    command.env_remove("CARGO_TARGET_DIR").env("XDG_CACHE_HOME", folder.join(".cache")).env_remove("RUSTFLAGS");
    command.output().unwrap()
}

/// Returns the JSON of a check that ended with this code.
fn json(folder: &Path, arguments: &[&str], code: i32) -> Value {
    let output = check(folder, &[arguments, &["--format", "json"]].concat());
    let text = || [&*output.stdout, &output.stderr].map(String::from_utf8_lossy).concat();
    assert_eq!(output.status.code(), Some(code), "{}", text());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the line of an error, after the notes.
fn error(folder: &Path, arguments: &[&str]) -> String {
    let output = check(folder, arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{text}");
    errors[0].to_owned()
}

/// Returns the executable of a name in a target folder.
fn path_of(folder: &Path, name: &str) -> Option<PathBuf> {
    let file = folder.join("release").join(name);
    let folders = || fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    if file.is_file() {
        Some(file)
    } else {
        folders().filter(|folder| folder.is_dir()).find_map(|folder| path_of(&folder, name))
    }
}

#[test]
fn budgets_are_kept_or_named() {
    let config = "[max-size]\nSession = 32\n[check.load]\nargs = [\"2000\"]\npeak-bytes = \"1MB\"\nexit-blocks = 100\n\
                  leaked-bytes = 0\nallocs = 20000\nreallocs = 3000\n[check.load.bytes]\n\"State.sessions\" = \"100KB\"\n\
                  \"State.scratch\" = 4096\n[check.load.blocks]\n\"Session.user\" = 2000\n[check.load.allocs-in]\n\"State::login\" = 4100\n\
                  parse = 2000\nmain = 20000\n[check.load.reallocs-in]\n\"State::login\" = 2100\n";
    let Some(folder) = service(config) else { return };
    let found = json(folder.path(), &[], 0);
    let budgets = found["budgets"].as_array().unwrap();
    assert_eq!(budgets.len(), 13, "{found:#}");
    let now = |what: &str| budgets.iter().find(|row| row["what"] == what).unwrap()["now"].as_u64().unwrap();
    assert_eq!(now("size of Session"), 32);
    // The copy of the peak is made when the first hundredth is freed.
    assert!((1900..=2000).contains(&now("blocks of Session.user")));
    assert_eq!(now("bytes of State.scratch"), 4096);
    assert_eq!(now("allocs in parse"), 2000);
    // Each text of `format!` grows once, and two lists grow.
    assert!((2000..2040).contains(&now("reallocs in State::login")));
    let place = budgets.iter().find(|row| row["what"] == "allocs in parse").unwrap();
    assert_eq!((&place["file"], &place["line"]), (&"src/main.rs".into(), &45.into()));
    assert!(now("bytes of State.sessions") >= 64_000);
    // The same of the executable that the run above built.
    let built = path_of(&folder.path().join("target"), "service").unwrap();
    let exe = config
        .replace("[check.load]\n", &format!("[check.load]\nexe = {:?}\n", built.strip_prefix(folder.path()).unwrap()));
    fs::write(folder.path().join("dwell.toml"), exe).unwrap();
    assert_eq!(json(folder.path(), &[], 0)["budgets"], found["budgets"]);
    // Each is exceeded by one.
    let tight =
        config.replace("\"State.scratch\" = 4096", "\"State.scratch\" = 4095").replace("parse = 2000", "parse = 1999");
    fs::write(folder.path().join("dwell.toml"), tight.replace("Session = 32", "Session = 31")).unwrap();
    let found = json(folder.path(), &[], 1);
    let failed: Vec<&str> = found["budgets"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["failed"] == true)
        .map(|row| row["what"].as_str().unwrap())
        .collect();
    assert_eq!(failed, ["size of Session", "bytes of State.scratch", "allocs in parse"]);
    let output = check(folder.path(), &["--format", "github"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("::warning file=src/main.rs,line=5,title=over its budget::size of Session is 32 B"),
        "{text}"
    );
}

#[test]
fn regressions_since_a_revision_have_their_line_first() {
    let Some(folder) = service(RUN) else { return };
    let path = folder.path();
    let saved = path.join("base.json");
    // Nothing changed: nothing grew, and the file says the same as the revision.
    let same = json(path, &["--base", "HEAD", "--save", saved.to_str().unwrap()], 0);
    assert_eq!(same["grown"], serde_json::json!([]));
    let line_of = |source: &str, text: &str| source.lines().position(|line| line.contains(text)).unwrap() + 1;
    let cases: [(&str, &str, &str, &str); 9] = [
        // What is replaced, by what, the start of the first cause, and a part of its line.
        ("    pub score: u64,\n", "    pub score: u64,\n    pub tags: [u64; 3],\n", "Session.tags", "pub tags"),
        ("question % 100", "question", "State.cache", "pub cache"),
        ("with_capacity(4096)", "with_capacity(409_600)", "State.scratch", "with_capacity"),
        ("    Logout(u64),\n", "    Logout(u64),\n    Moved([u64; 4]),\n", "Event::Moved", "Moved"),
        ("let words", "let text = &*text.to_string().clone();\n    let words", "String in service::parse", "to_string"),
        (
            "        self.events.push",
            "        black_box(Box::leak(Box::new([number; 9])));\n        self.events.push",
            "(stack): Box<[u64; 9]>",
            "Box::leak",
        ),
        (
            "        self.events.push",
            "        self.parents.push(Rc::new(number));\n        self.events.push",
            "State.parents",
            "pub parents",
        ),
        ("        self.events.push", "        ring(number);\n        self.events.push", "leaked", "let ring = Rc::new"),
        ("format!(\"user {number:06}\")", "format!(\"user {number:0166}\")", "Session.user", "pub user"),
    ];
    for (old, new, what, line) in cases {
        let mut source = SERVICE.replace(old, new);
        assert_ne!(source, SERVICE, "{old}");
        source = source.replace(
            "score: number }",
            if new.contains("tags") { "score: number, tags: [number; 3] }" } else { "score: number }" },
        );
        source = source.replace(
            "| Event::Logout(user) => sum += user",
            if new.contains("Moved") {
                "| Event::Logout(user) => sum += user, Event::Moved(place) => sum += place[0]"
            } else {
                "| Event::Logout(user) => sum += user"
            },
        );
        if new.contains("ring") {
            source += "\nstruct Ring {\n    next: std::cell::RefCell<Option<Rc<Ring>>>,\n    number: u64,\n}\n\n#[inline(never)]\nfn ring(number: u64) {\n    \
                       let ring = Rc::new(Ring { next: Default::default(), number });\n    \
                       *ring.next.borrow_mut() = Some(ring.clone());\n    black_box(ring.number);\n}\n";
        }
        fs::write(path.join("src/main.rs"), &source).unwrap();
        // The program is the same in every run, so one is enough.
        let output = check(path, &["--base", saved.to_str().unwrap(), "--repeat", "1", "--format", "json"]);
        let text = [&*output.stdout, &output.stderr].map(String::from_utf8_lossy).concat();
        assert_eq!(output.status.code(), Some(1), "{what}: {text}");
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let grown = found["grown"].as_array().unwrap();
        let first = grown.iter().find(|row| row["what"].as_str().unwrap().contains(['.', ':', ' ']));
        let first = first.unwrap_or_else(|| panic!("{what}: {found:#}"));
        assert!(first["what"].as_str().unwrap().contains(what), "{what}: {found:#}");
        assert_eq!(first["line"], line_of(&source, line), "{what}: {found:#}");
    }
    // The repository is as it was.
    let output = Command::new("git").arg("-C").arg(path).args(["worktree", "list"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
    let sarif = check(path, &["--base", saved.to_str().unwrap(), "--format", "sarif"]);
    let sarif: Value = serde_json::from_slice(&sarif.stdout).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "growth");
    // A limit of a name is another one than that of all.
    let limited = |limit: &str, code| {
        fs::write(path.join("dwell.toml"), format!("{RUN}\n[check.load.growth]\n{limit}\n")).unwrap();
        let output = check(path, &["--base", saved.to_str().unwrap(), "--repeat", "1", "--format", "json"]);
        let text = [&*output.stdout, &output.stderr].map(String::from_utf8_lossy).concat();
        assert_eq!(output.status.code(), Some(code), "{limit}: {text}");
        text
    };
    assert!(!limited("\"Session.user\" = \"1MB\"", 1).contains("Session.user"));
    let unknown = limited("\"Session.usr\" = 3", 2);
    assert!(unknown.contains("no owner, type or function `Session.usr`; did you mean `Session.user`"), "{unknown}");
    fs::write(path.join("dwell.toml"), RUN).unwrap();
    let markdown = check(path, &["--base", saved.to_str().unwrap(), "--format", "markdown"]);
    assert!(String::from_utf8_lossy(&markdown.stdout).contains("<details>"));
}

/// An integration test needs no `dwell.toml`: each `#[test]` is named.
#[test]
fn allocations_are_those_of_tests() {
    let Some(folder) = service("") else { return };
    let path = folder.path();
    fs::remove_file(path.join("dwell.toml")).unwrap();
    fs::create_dir(path.join("tests")).unwrap();
    let hot = "#[inline(never)]\nfn boxes(count: u64) -> u64 {\n    (0..count).map(|at| *std::hint::black_box(Box::new(at))).sum()\n}\n\n\
               #[test]\nfn few() {\n    assert_eq!(boxes(3), 3);\n}\n\n#[test]\nfn many() {\n    assert_eq!(boxes(300), 44850);\n}\n";
    fs::write(path.join("tests/hot.rs"), hot).unwrap();
    let saved = path.join("base.json");
    let found = json(path, &["--test", "hot", "--save", saved.to_str().unwrap(), "--repeat", "1"], 0);
    let tests = found["tests"].as_array().unwrap();
    let test_of = |name: &str| tests.iter().find(|test| test["test"] == name).unwrap_or_else(|| panic!("{found:#}"));
    assert_eq!((test_of("hot::few")["blocks"].as_u64(), test_of("hot::many")["blocks"].as_u64()), (Some(3), Some(300)));
    fs::write(path.join("tests/hot.rs"), hot.replace("boxes(3), 3", "boxes(50), 1225")).unwrap();
    let found = json(path, &["--test", "hot", "--base", saved.to_str().unwrap()], 1);
    let grown = found["grown"].as_array().unwrap();
    assert!(grown.iter().any(|row| row["what"] == "the test hot::few, allocated" && row["line"] == 7), "{found:#}");
    assert!(!grown.iter().any(|row| row["what"].as_str().unwrap().contains("hot::many")), "{found:#}");
}

/// What git does not have is named before anything is built.
#[test]
fn bases_without_their_files_are_named() {
    let Some(folder) = service(RUN) else { return };
    let path = folder.path();
    fs::write(path.join("notes"), "").unwrap();
    assert!(git(path, &["add", "."]) && git(path, &["commit", "-q", "-m", "later"]));
    let clone = path.join("clone");
    let from = format!("file://{}", path.display());
    assert!(git(path, &["clone", "-q", "--depth", "1", &from, clone.to_str().unwrap()]));
    let found = error(&clone, &["--base", "HEAD~1"]);
    assert!(found.contains("this clone is shallow and does not have HEAD~1; fetch it"), "{found}");
    // A submodule: the worktree of the base has an empty folder.
    let library = path.join("library");
    fs::create_dir(&library).unwrap();
    fs::write(library.join("Cargo.toml"), "[package\n").unwrap();
    assert!(
        git(&library, &["init", "-q"]) && git(&library, &["add", "."]) && git(&library, &["commit", "-q", "-m", "a"])
    );
    let from = library.to_str().unwrap();
    assert!(git(path, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "vendor"]));
    let manifest = "[package]\nname = \"service\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\nlibrary = { path = \"vendor\" }\n[workspace]\n";
    fs::write(path.join("Cargo.toml"), manifest).unwrap();
    assert!(git(path, &["add", "Cargo.toml", ".gitmodules", "vendor"]) && git(path, &["commit", "-q", "-m", "vendor"]));
    assert!(git(path, &["checkout", "-q", "HEAD~1", "--", "Cargo.toml"]));
    let found = error(path, &["--base", "HEAD"]);
    assert!(found.contains("git cannot fetch the submodule vendor of the base: "), "{found}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["check", "--offline", "--base", "HEAD"]).current_dir(path).env_remove("CARGO_TARGET_DIR");
    // git refuses local files as submodules, unless it is told.
    command.env("XDG_CACHE_HOME", path.join(".cache")).env("GIT_ALLOW_PROTOCOL", "file");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    // The submodule is there: cargo reads its manifest.
    assert!(text.contains("1 file is changed since the last commit") && text.contains("vendor/Cargo.toml"), "{text}");
    assert!(text.contains("error: the base HEAD does not build"), "{text}");
}

#[test]
fn wrong_input_is_one_line() {
    let Some(folder) = service(RUN) else { return };
    let path = folder.path();
    let with = |config: &str, arguments: &[&str]| {
        fs::write(path.join("dwell.toml"), config).unwrap();
        error(path, arguments)
    };
    assert!(with("[check.load]\npeak = 3\n", &[]).contains("unknown field `peak`"));
    assert!(with("", &[]).contains("has no budget"));
    assert!(with(RUN, &["laod"]).contains("did you mean `load`?"));
    assert!(with(RUN, &["--save", "none/file"]).contains("no file can be written there"));
    assert!(with(RUN, &["--base", "nowhere"]).contains("neither a file nor a revision `nowhere`"));
    assert!(with(RUN, &["--base", "Cargo.toml"]).contains("is not a file that `cargo dwell check --save` wrote"));
    fs::write(path.join("old.json"), "{\"version\":0,\"kind\":\"check\"}").unwrap();
    assert!(with(RUN, &["--base", "old.json"]).contains("has version 0 of the schema"));
    let budget = |text: &str| with(&format!("[check.load]\nargs = [\"9\"]\n{text}\n"), &[]);
    assert!(budget("[check.load.bytes]\n\"State.sesions\" = 3").contains("did you mean"));
    assert!(budget("[check.load.allocs-in]\npase = 0").contains("has no function or type `pase`"));
    assert!(budget("[check.load.allocs-in]\n\"<State as Serve>::logim\" = 0").contains("has no function or type"));
    assert!(with("[max-size]\nSesion = 3\n", &[]).contains("did you mean `Session`"));
    assert!(
        with("[check.load]\nargs = [\"9\", \"fails\"]\nallocs = 3\n", &[])
            .contains("the program failed with exit status: 3")
    );
    let both = "[check.load]\nexe = \"program\"\nbin = \"service\"\nallocs = 3\n";
    assert!(with(both, &[]).contains("has an `exe` and what cargo builds"));
    assert!(
        with(&both.replace("bin = \"service\"\n", ""), &[]).contains("program: there is no such file; build it first")
    );
    let hangs = "[check.load]\nargs = [\"9\", \"hangs\"]\nallocs = 3\n";
    assert!(with(hangs, &["--timeout", "1s"]).contains("took more than 1 s"));
    // An executable without types.
    fs::create_dir(path.join(".cargo")).unwrap();
    fs::write(path.join(".cargo/config.toml"), "[build]\nrustflags = [\"-Cdebuginfo=0\"]\n").unwrap();
    let found = budget("allocs = 3");
    assert!(found.contains("has debug info for line numbers only") || found.contains("no debug info"), "{found}");
}

/// A build may take the place of the tool while it runs, as `cargo install` does.
#[cfg(target_os = "linux")]
#[test]
fn a_tool_that_is_removed_meanwhile_goes_on() {
    let Some(folder) = service("[check.load]\nargs = [\"9\"]\nallocs = 1000\n") else { return };
    let tool = folder.path().join("cargo-dwell");
    fs::copy(env!("CARGO_BIN_EXE_cargo-dwell"), &tool).unwrap();
    let build = format!("fn main() {{ std::fs::remove_file({tool:?}).unwrap(); }}\n");
    fs::write(folder.path().join("build.rs"), build).unwrap();
    let mut command = Command::new(&tool);
    command.args(["check", "--offline"]).current_dir(folder.path()).env_remove("CARGO_TARGET_DIR");
    let output = command.env("XDG_CACHE_HOME", folder.path().join(".cache")).env_remove("RUSTFLAGS").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!tool.exists());
}

/// Returns the processes whose command line names a folder.
fn processes_of(folder: &Path) -> Vec<String> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let command_line = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).ok();
    let named = all.filter_map(command_line).map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    named.filter(|line| line.contains(folder.to_str().unwrap())).collect()
}

/// A build that does not end is ended with the command, and the base's worktree goes.
#[test]
fn signal_ends_a_build() {
    let Some(folder) = service(RUN) else { return };
    let path = folder.path().canonicalize().unwrap();
    let build = "fn main() { std::fs::write(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/started\"), \"\").unwrap(); \
                 std::thread::sleep(std::time::Duration::from_secs(3600)) }\n";
    fs::write(path.join("build.rs"), build).unwrap();
    assert!(git(&path, &["add", "."]) && git(&path, &["commit", "-q", "-m", "slow"]));
    let cache = path.join(".cache");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["check", "--offline", "--base", "HEAD"]).current_dir(&path).env_remove("CARGO_TARGET_DIR");
    command.env("XDG_CACHE_HOME", &cache).env_remove("RUSTFLAGS").stdout(Stdio::null()).stderr(Stdio::null());
    let mut tool = command.spawn().unwrap();
    let bases = || fs::read_dir(cache.join("cargo-dwell")).into_iter().flatten().flatten().map(|entry| entry.path());
    let until = Instant::now() + Duration::from_secs(600);
    while !bases().any(|base| base.join("started").exists()) {
        assert!(Instant::now() < until && tool.try_wait().unwrap().is_none(), "the build has not begun");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-TERM", &tool.id().to_string()]).status().unwrap().success());
    assert_eq!(tool.wait().unwrap().code(), Some(143));
    assert_eq!(bases().filter(|base| base.file_name().unwrap().to_string_lossy().starts_with("base-")).count(), 0);
    assert_eq!(processes_of(&path), Vec::<String>::new());
    let output = Command::new("git").arg("-C").arg(&path).args(["worktree", "list"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
}

/// The steps of the workflow in `docs/ci` that call the command run as shell, with the variables that GitHub sets.
#[test]
fn workflow_steps_run() {
    let Some(folder) = service(RUN) else { return };
    let path = folder.path();
    let workflow = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ci/github.yml")).unwrap();
    let step: Vec<&str> = workflow.lines().skip_while(|line| line.trim() != "run: |").skip(1).collect();
    let step: Vec<&str> = step.into_iter().take_while(|line| line.starts_with("          ")).collect();
    let script = step.join("\n");
    assert!(script.contains("cargo dwell check --base"), "{workflow}");
    let larger = SERVICE.replace("with_capacity(4096)", "with_capacity(400_000)");
    for (source, code) in [(SERVICE, 0), (&larger, 1)] {
        fs::write(path.join("src/main.rs"), source).unwrap();
        let tool = Path::new(env!("CARGO_BIN_EXE_cargo-dwell")).parent().unwrap();
        let paths = std::env::join_paths(
            std::iter::once(tool.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        )
        .unwrap();
        let summary = path.join("summary");
        let mut command = Command::new("bash");
        command.args(["-e", "-c", &script]).current_dir(path).env("BASE", "HEAD").env("GITHUB_STEP_SUMMARY", &summary);
        command.env("PATH", paths).env_remove("CARGO_TARGET_DIR").env("XDG_CACHE_HOME", path.join(".cache"));
        let output = command.env_remove("RUSTFLAGS").env("CARGO_NET_OFFLINE", "true").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert_eq!(text.contains("::warning file=src/main.rs"), code == 1, "{text}");
        assert_eq!(text.contains("note: 1 file is changed since the last commit"), code == 1, "{text}");
        assert!(fs::read_to_string(summary).unwrap().contains("**Memory**"));
        serde_json::from_slice::<Value>(&fs::read(path.join("memory.sarif")).unwrap()).unwrap();
    }
}
