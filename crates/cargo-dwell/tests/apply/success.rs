//! What apply says is done is done: for every set of features, every member, every user of the library, and every test.

use super::{dwell, out, run};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Returns a folder with files.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n{rest}")
}

/// Returns a finding that boxes a field: `from` is `Option<T>` or `T`.
fn boxes(folder: &Path, file: &str, item: &str, from: &str) -> Value {
    let to = match from.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        Some(inner) => format!("Option<Box<{inner}>>"),
        None => format!("Box<{from}>"),
    };
    finding(folder, file, "box", item, from, &to)
}

fn finding(folder: &Path, file: &str, kind: &str, item: &str, from: &str, to: &str) -> Value {
    let text = fs::read_to_string(folder.join(file)).expect("a file");
    let name = item.split_once('.').map_or_else(|| item.rsplit(':').next().expect("a name"), |(_, name)| name);
    let mut lines = text.lines().enumerate().filter(|(_, line)| line.contains(from));
    let own =
        lines.clone().find(|(_, line)| line.contains(&format!("{name}: {from}")) || line.contains(&format!("{name}(")));
    let line = own.or_else(|| lines.next()).map_or(1, |(line, _)| line + 1);
    json!({"kind": kind, "where": item, "saves": 1, "how": to,
        "edits": [{"file": file, "line": line, "item": item, "from": from, "to": to}]})
}

fn report(folder: &Path, findings: &[Value]) -> String {
    let file = folder.join("target/report.json");
    fs::create_dir_all(folder.join("target")).expect("a folder");
    fs::write(&file, json!({"findings": findings}).to_string()).expect("a file");
    file.to_str().expect("UTF-8").to_owned()
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).expect("a file")
}

const ENTRY: &str = r#"
#[derive(Clone, Debug, Default)]
pub struct Details { pub numbers: [u64; 16] }
#[derive(Clone, Debug, Default)]
pub struct Entry { pub id: u32, pub details: Option<Details> }
#[cfg(feature = "extra")]
pub fn with(id: u32, details: Details) -> Entry { Entry { id, details: Some(details) } }
#[cfg(all(feature = "one", not(feature = "extra")))]
pub fn one(details: Details) -> Entry { Entry { id: 1, details: Some(details) } }
#[cfg(windows)]
pub fn windows(details: Details) -> Entry { Entry { id: 0, details: Some(details) } }
#[test]
fn works() { assert!(Entry::default().details.is_none()); }
"#;

/// What compiles with other features, in another member, in an example that needs a feature, or in a package that the workspace
/// excludes, compiles after. What did not before is not asked for.
#[test]
fn all_features_members_and_excluded_packages_compile_after() {
    let user = "fn main() { let entry = a::Entry { id: 1, details: Some(a::Details::default()) }; println!(\"{entry:?}\"); }\n";
    let needs = "[dependencies]\na = { path = \"../a\" }\n";
    let a = manifest(
        "a",
        "publish = false\n[features]\nextra = []\none = []\nbroken = []\n[[example]]\nname = \"ex\"\nrequired-features = [\"extra\"]\n",
    );
    let (b, fuzz) = (manifest("b", needs), manifest("fuzz", &format!("{needs}[workspace]\n")));
    let broken = "#[cfg(feature = \"broken\")]\ncompile_error!(\"this never compiles\");\n";
    let package = tree(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\nexclude = [\"fuzz\"]\nresolver = \"2\"\n"),
        ("a/Cargo.toml", &a),
        ("a/src/lib.rs", &format!("{broken}{ENTRY}")),
        ("a/examples/ex.rs", user),
        ("b/Cargo.toml", &b),
        ("b/src/main.rs", user),
        ("fuzz/Cargo.toml", &fuzz),
        ("fuzz/src/main.rs", user),
    ]);
    let folder = package.path();
    let from = report(folder, &[boxes(folder, "a/src/lib.rs", "Entry.details", "Option<Details>")]);
    let flags = ["--from", &from, "--allow-no-vcs", "--no-test", "--no-measure", "-p", "a"];
    // The system that is not built here is named.
    let warned = out(&run(folder, &flags));
    assert!(warned.contains("a/src/lib.rs:13: cfg(windows) is not built here"), "{warned}");
    assert!(warned.contains("nothing was changed") && !read(folder, "b/src/main.rs").contains("Box"), "{warned}");
    let applied = run(folder, &[&flags[..], &["--accept"]].concat());
    let text = out(&applied);
    assert_eq!(applied.status.code(), Some(0), "{text}");
    for file in ["a/examples/ex.rs", "b/src/main.rs", "fuzz/src/main.rs"] {
        assert!(read(folder, file).contains("Some(Box::new(a::Details::default()))"), "{file}: {text}");
    }
    assert_eq!(read(folder, "a/src/lib.rs").matches("details: Some(Box::new(details))").count(), 2, "{text}");
}

/// The public items of a library that can be published stay, whichever way users reach them.
#[test]
fn public_items_are_refused() {
    let library = r"
mod inner {
    #[derive(Clone, Debug, Default)]
    pub struct Details { pub numbers: [u64; 16] }
    #[derive(Clone, Debug)]
    pub enum Kind { Wide(Details), Named { details: Details, n: u8 }, None }
    #[derive(Clone, Debug, Default)]
    pub struct Entry { details: Option<Details>, pub shown: Option<Details>, pub(crate) own: Option<Details> }
    impl Entry {
        pub fn details(&self) -> &Option<Details> { &self.details }
    }
    pub fn set(entry: &mut Entry) { entry.own = Some(Details::default()); }
    pub struct Hidden { pub hidden: Option<Details> }
    pub(super) fn hidden(of: Hidden) -> bool { of.hidden.is_none() }
}
pub type Entries = Vec<inner::Entry>;
pub use inner::Kind as Sort;
pub fn set(of: &mut Entries) { of.iter_mut().for_each(inner::set); inner::hidden(inner::Hidden { hidden: None }); }
";
    let package = tree(&[("Cargo.toml", &manifest("a", "")), ("src/lib.rs", library)]);
    let folder = package.path();
    let with = |item: &str, from: &str| boxes(folder, "src/lib.rs", item, from);
    let findings = [
        with("Kind::Wide.0", "Details"),
        with("Kind::Named.details", "Details"),
        with("Entry.details", "Option<Details>"),
        with("Entry.shown", "Option<Details>"),
        with("Entry.own", "Option<Details>"),
        with("Hidden.hidden", "Option<Details>"),
    ];
    let from = report(folder, &findings);
    let output =
        run(folder, &["--from", &from, "--allow-no-vcs", "--no-test", "--no-measure", "1", "2", "3", "4", "5", "6"]);
    let text = out(&output);
    for refused in
        ["Kind::Wide.0 is public", "Kind::Named.details is public", "Entry::details is public", "Entry.shown is public"]
    {
        assert!(text.contains(refused), "{refused}: {text}");
    }
    assert_eq!(output.status.code(), Some(0), "{text}");
    let expected = library
        .replace("pub(crate) own: Option<Details>", "pub(crate) own: Option<Box<Details>>")
        .replace("Some(Details::default())", "Some(Box::new(Details::default()))")
        .replace("pub hidden: Option<Details>", "pub hidden: Option<Box<Details>>");
    assert_eq!(read(folder, "src/lib.rs"), expected, "{text}");
}

/// A test that has no outcome any more, because its executable ends, differs. One that has another outcome in each run tells nothing.
#[test]
fn tests_without_an_outcome_differ() {
    let library = r#"
pub struct Details { pub numbers: [u64; 16] }
pub struct Entry { pub id: u32, pub details: Option<Details>, pub more: Option<Details> }
pub fn checked(entry: &Entry) -> u32 {
    let details = entry.details.as_ref().unwrap();
    if std::mem::size_of_val(details) < 64 { std::process::abort() }
    entry.id
}
#[cfg(test)]
mod tests {
    use super::*;
    fn details() -> Details { Details { numbers: [0; 16] } }
    #[test]
    fn a_fails() { panic!("always") }
    #[test]
    fn b_aborts() { assert_eq!(checked(&Entry { id: 1, details: Some(details()), more: None }), 1); }
    #[test]
    fn c_flickers() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/target-of-test");
        let is_first = std::fs::metadata(file).is_err();
        if is_first { std::fs::write(file, "").unwrap() } else { std::fs::remove_file(file).unwrap() }
        assert!(is_first);
    }
    #[test]
    #[ignore]
    fn d_is_ignored() {}
}
"#;
    let own = "fn main() { assert_eq!(std::mem::size_of::<a::Entry>() > 100, true); println!(\"test own ... ok\"); }\n";
    let rest = "publish = false\n[[test]]\nname = \"own\"\nharness = false\n";
    // The tests of a package that is no member run too.
    let tools = "#[test]\nfn is_large() { assert!(size_of::<Option<a::Details>>() <= size_of_val(&a::Entry { id: 0, details: None, more: None }.details)) }\n";
    let package = tree(&[
        ("Cargo.toml", &manifest("a", rest)),
        ("src/lib.rs", library),
        ("tests/own.rs", own),
        ("tools/Cargo.toml", &manifest("tools", "[dependencies]\na = { path = \"..\" }\n[workspace]\n")),
        ("tools/src/lib.rs", tools),
    ]);
    let folder = package.path();
    let with = |item: &str| boxes(folder, "src/lib.rs", item, "Option<Details>");
    let from = report(folder, &[with("Entry.details"), with("Entry.more")]);
    let flags = ["--from", &from, "--allow-no-vcs", "--no-measure", "--accept"];
    let output = run(folder, &[&flags[..], &["1"]].concat());
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("tests: not as before") && text.contains("tests::b_aborts is missing"), "{text}");
    assert!(text.contains("differs between two runs before the change") && text.contains("c_flickers"), "{text}");
    assert!(text.contains("is_large with tools is FAILED"), "{text}");
    let kept = run(folder, &[&flags[..], &["2"]].concat());
    let text = out(&kept);
    assert_eq!(kept.status.code(), Some(0), "{text}");
    assert!(text.contains("1 failed, as before, 1 ignored and not run"), "{text}");
    // An executable without the harness fails: its only outcome is its status.
    let from = report(folder, &[boxes(folder, "src/lib.rs", "Entry.details", "Option<Details>")]);
    let smaller = library
        .replace("std::process::abort()", "()")
        .replace("pub more: Option<Details>", "pub more: Option<Box<Details>>");
    fs::write(folder.join("src/lib.rs"), smaller).expect("a file");
    let output = run(folder, &["--from", &from, "--allow-no-vcs", "--no-measure", "--accept"]);
    assert!(
        out(&output).contains("own is missing") || out(&output).contains("`--test own` is failed"),
        "{}",
        out(&output)
    );
    assert_eq!(output.status.code(), Some(1));
}

/// What is known by its type, its bytes or its name is named, and changes only if that is accepted.
#[test]
fn effects_that_no_test_sees_need_to_be_accepted() {
    let main = r#"
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;

#[derive(Debug)]
pub struct Cause([u64; 20]);
impl fmt::Display for Cause { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "{}", self.0[0]) } }
impl Error for Cause {}
#[derive(Debug)]
pub enum Failure { Caused(Cause), None }
impl fmt::Display for Failure { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "failure") } }
impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> { match self { Failure::Caused(cause) => Some(cause), Failure::None => None } }
}
fn number(error: &dyn Error) -> Option<u64> { error.source()?.downcast_ref::<Cause>().map(|cause| cause.0[0]) }

pub struct Session { user: [u64; 20] }
pub struct Request { session: Option<Session> }
#[derive(Default)]
struct Kept(HashMap<TypeId, Box<dyn Any>>);
impl Kept {
    fn keep<T: 'static>(&mut self, value: T) { self.0.insert(TypeId::of::<T>(), Box::new(value)); }
    fn get<T: 'static>(&self) -> Option<&T> { self.0.get(&TypeId::of::<T>())?.downcast_ref() }
}
fn handle(request: Request) -> Option<u64> {
    let mut kept = Kept::default();
    if let Some(session) = request.session { kept.keep(session); }
    kept.get::<Session>().map(|session| session.user[0])
}

#[repr(C)]
pub struct Frame { kind: u32, payload: [u8; 200] }

fn total(words: &[&str]) -> String {
    let line = String::from("total");
    let mut all = 0;
    for word in words {
        let mut line = String::new();
        line.push_str(word);
        all += line.len();
    }
    format!("{line} {all}")
}

fn main() {
    println!("{:?} {:?}", number(&Failure::Caused(Cause([7; 20]))), number(&Failure::None));
    println!("{:?}", handle(Request { session: Some(Session { user: [1; 20] }) }));
    let frame = Frame { kind: 1, payload: [0; 200] };
    println!("{} {} {}", frame.kind, frame.payload[0], total(&["a"]));
}
"#;
    let package = tree(&[("Cargo.toml", &manifest("a", "")), ("src/main.rs", main)]);
    let folder = package.path();
    let line = main.lines().position(|line| line.contains("push_str")).expect("a line") + 1;
    let mut hoisted = finding(folder, "src/main.rs", "buffer", "total", "String::new()", "clear()");
    hoisted["edits"][0]["line"] = line.into();
    let findings = [
        boxes(folder, "src/main.rs", "Failure::Caused", "Cause"),
        boxes(folder, "src/main.rs", "Request.session", "Option<Session>"),
        boxes(folder, "src/main.rs", "Frame.payload", "[u8; 200]"),
        hoisted,
    ];
    let from = report(folder, &findings);
    let flags = ["--from", &from, "--allow-no-vcs", "--no-measure", "--no-test"];
    let output = run(folder, &[&flags[..], &["1", "2", "3", "4"]].concat());
    let text = out(&output);
    let at = |part: &str| main.lines().position(|line| line.contains(part)).expect("a line") + 1;
    for (part, why) in [
        ("fn source(&self)", "`source` may give the box"),
        ("downcast_ref::<Cause>", "`downcast_ref::<Cause>` may find a box instead"),
        ("kept.keep(session)", "`keep` asks for the type of its argument"),
        ("#[repr(C)]", "the bytes of Frame change"),
    ] {
        assert!(text.contains(&format!("src/main.rs:{}: {why}", at(part))) || text.contains(why), "{part}: {text}");
    }
    assert!(text.contains("`line` is also the name of a value outside of the loop"), "{text}");
    assert_eq!((output.status.code(), read(folder, "src/main.rs").as_str()), (Some(1), main), "{text}");
    let accepted = run(folder, &[&flags[..], &["--accept", "Frame.payload"]].concat());
    assert_eq!(accepted.status.code(), Some(0), "{}", out(&accepted));
}

fn git(folder: &Path, arguments: &[&str]) -> bool {
    let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    Command::new("git")
        .args(own)
        .args(arguments)
        .current_dir(folder)
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Files that git cannot give back, or that a program writes, stay. Files beside the workspace that its sources include are there. A
/// `Box` of the crate's own is not the standard one.
#[test]
fn only_tracked_sources_change() {
    let main = r#"
mod arena { pub struct Box<T>(pub T); impl<T> Box<T> { pub fn new(of: T) -> Self { Self(of) } } }
mod generated;
mod ignored;
mod model;
use arena::Box;
const QUERY: &str = include_str!("../../shared/query.sql");
pub struct Details { numbers: [u64; 16] }
struct Entry { details: Option<Details>, first: Box<u8> }
fn main() {
    let entry = Entry { details: Some(Details { numbers: [1; 16] }), first: Box::new(1) };
    println!("{QUERY} {} {}", entry.first.0, entry.details.map_or(0, |of| of.numbers[0]));
    println!("{}", generated::A { a: None }.a.is_none() && ignored::A { a: None }.a.is_none() && model::A { a: None }.a.is_none());
}
"#;
    let model = "pub struct A { pub a: Option<crate::Details> }\n";
    let package = tree(&[
        ("app/Cargo.toml", &manifest("app", "[workspace]\n")),
        ("app/.gitignore", "target\nsrc/ignored.rs\n"),
        ("app/src/main.rs", main),
        ("app/src/generated.rs", &format!("// @generated by a tool.\n{model}")),
        ("app/src/ignored.rs", model),
        ("shared/query.sql", "SELECT 1"),
        ("user/Cargo.toml", &manifest("user", "[dependencies]\napp = { path = \"../app\" }\n")),
        ("user/src/lib.rs", "pub fn is_plain(of: app::Entry) -> bool { of.details.is_none() }\n"),
    ]);
    let (root, folder) = (package.path(), package.path().join("app"));
    let folder = folder.as_path();
    if !(git(root, &["init", "-q"]) && git(root, &["add", "-A"]) && git(root, &["commit", "-qm", "x"])) {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: git cannot be run\n");
        return;
    }
    fs::write(folder.join("src/model.rs"), model).expect("a file");
    let with = |file: &str| boxes(folder, file, "A.a", "Option<crate::Details>");
    let findings = [
        with("src/model.rs"),
        with("src/ignored.rs"),
        with("src/generated.rs"),
        boxes(folder, "src/main.rs", "Entry.details", "Option<Details>"),
    ];
    let from = report(folder, &findings);
    // The lock file is new, and is no change of the sources.
    let output = run(folder, &["--from", &from, "--no-measure", "--no-test", "--accept", "1", "2", "3", "4"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for why in [
        "src/model.rs: git does not track it",
        "src/ignored.rs: git ignores it",
        "src/generated.rs: its first lines say",
        "user/src/lib.rs:1: is outside of the workspace, is not built here, and uses it",
    ] {
        assert!(text.contains(why), "{why}: {text}");
    }
    for file in ["src/model.rs", "src/ignored.rs"] {
        assert_eq!(read(folder, file), model);
    }
    let changed = read(folder, "src/main.rs");
    assert!(
        changed.contains("Option<std::boxed::Box<Details>>") && changed.contains("first: Box::new(1)"),
        "{changed}"
    );
    assert!(changed.contains("std::boxed::Box::new(Details"), "{changed}");
}

/// A crate without `std` has the box of `alloc`, or none.
#[test]
fn crates_without_std_get_the_box_of_alloc() {
    let library = |rest: &str| {
        format!(
            "#![no_std]\n{rest}\n#[derive(Default)]\npub struct Details {{ pub numbers: [u64; 16] }}\npub struct Entry {{ pub details: Option<Details> }}\n\
            pub fn make() -> Entry {{ Entry {{ details: Some(Details::default()) }} }}\n"
        )
    };
    let package = tree(&[("Cargo.toml", &manifest("a", "publish = false\n")), ("src/lib.rs", &library(""))]);
    let folder = package.path();
    let from = report(folder, &[boxes(folder, "src/lib.rs", "Entry.details", "Option<Details>")]);
    let flags = ["--from", &from, "--allow-no-vcs", "--no-measure", "--no-test"];
    let refused = run(folder, &flags);
    assert!(out(&refused).contains("is `no_std` and does not use `alloc`"), "{}", out(&refused));
    assert_eq!(refused.status.code(), Some(2));
    // The import inside of a function is that function's.
    let rest = "extern crate alloc;\npub fn own() -> u8 { use alloc::boxed::Box; let of: Box<u8> = Box::new(1); *of }";
    fs::write(folder.join("src/lib.rs"), library(rest)).expect("a file");
    let applied = run(folder, &flags);
    assert_eq!(applied.status.code(), Some(0), "{}", out(&applied));
    let changed = read(folder, "src/lib.rs");
    assert!(
        changed.contains("Option<alloc::boxed::Box<Details>>") && changed.contains("alloc::boxed::Box::new("),
        "{changed}"
    );
}

/// Returns the processes whose executable is below a folder.
fn processes_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").expect("a folder").flatten();
    entries
        .filter_map(|entry| fs::read_link(entry.path().join("exe")).ok())
        .filter(|exe| exe.starts_with(folder))
        .collect()
}

/// The signal reaches only this process: the test that cargo started ends too.
#[test]
fn no_test_outlives_an_interrupt() {
    let library = "pub struct Details { pub numbers: [u64; 16] }\npub struct Entry { pub details: Option<Details> }\n\
        #[test]\nfn waits() {\n    std::fs::write(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/started\"), \"\").unwrap();\n    \
        std::thread::sleep(std::time::Duration::from_secs(600));\n}\n";
    let package = tree(&[("Cargo.toml", &manifest("a", "publish = false\n")), ("src/lib.rs", library)]);
    let folder = package.path().canonicalize().expect("a folder");
    let from = report(&folder, &[boxes(&folder, "src/lib.rs", "Entry.details", "Option<Details>")]);
    let mut command = dwell(&folder, &["--from", &from, "--allow-no-vcs", "--no-measure"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let copy = folder.join("target/dwell/apply/copy");
    let started = || walk(&copy).iter().any(|path| path.ends_with("started"));
    let end = Instant::now() + Duration::from_secs(300);
    while !started() && Instant::now() < end {
        thread::sleep(Duration::from_millis(50));
    }
    assert!(!processes_below(&folder).is_empty(), "the test runs");
    assert!(
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status().is_ok_and(|output| output.success())
    );
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(143));
    assert!(processes_below(&folder).is_empty());
    assert_eq!(read(&folder, "src/lib.rs"), library);
}

/// Returns the files and links below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    // A link may lead anywhere.
    paths.flat_map(|path| if path.is_dir() && !path.is_symlink() { walk(&path) } else { vec![path] }).collect()
}
