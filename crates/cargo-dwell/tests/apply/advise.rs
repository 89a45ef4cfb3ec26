//! `cargo dwell advise`: what it tries, what it says, and that the user's files stay as they are.

use super::out;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn advise(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("it runs")
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.arg("advise").args(args).current_dir(folder).stdin(Stdio::null());
    for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(variable);
    }
    command
}

/// Returns a copy of the program that the README shows.
fn demo() -> TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo");
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    for file in ["Cargo.toml", "Cargo.lock", "src/main.rs", "src/event.rs", "src/log.rs", "src/report.rs"] {
        fs::copy(from.join(file), folder.path().join(file)).expect("a file");
    }
    folder
}

/// A box is found, made, tested and measured. The user's files stay, and the patch makes the change.
#[test]
fn what_held_is_a_patch_and_the_source_stays() {
    let demo = demo();
    let folder = demo.path();
    let source = fs::read_to_string(folder.join("src/event.rs")).expect("a file");
    let arguments = ["--for", "memory", "--time", "10m", "--record", "target/tries.jsonl", "--", "20000"];
    fs::create_dir(folder.join("target")).expect("a folder");
    let answer = advise(folder, &arguments);
    let text = out(&answer);
    assert_eq!(answer.status.code(), Some(0), "{text}");
    assert!(text.contains("  1. Event::Order: box the fields of `Order`\n     live bytes "), "{text}");
    assert!(text.contains("tried and lost:\n  mimalloc: as the global allocator: "), "{text}");
    // Other targets are checked, and the tests run, when a change pays: its uses in the tests are repaired then.
    let at = |note: &str| text.find(note).expect(note);
    let (tried, checked, tested) =
        (at(" left: Event::Order"), at("note: checks what compiles before a change"), at("note: runs the tests"));
    assert!(at(" left: mimalloc") < tried && tried < checked && checked < tested, "{text}");
    assert_eq!(text.matches(" left: Event::Order\n").count(), 2, "{text}");
    // Half a per cent of the bytes before is more of those that are left.
    assert!(text.contains(" left: Order.gift\n"), "{text}");
    assert_eq!(fs::read_to_string(folder.join("src/event.rs")).expect("a file"), source);
    assert!(folder.join("target/dwell/advise/01-event-order.patch").exists());
    // What the answer says makes all changes, in their order.
    let printed = String::from_utf8_lossy(&answer.stdout);
    let line = printed.rsplit('`').nth(1).expect("a command");
    let applied = Command::new("sh").args(["-c", line]).current_dir(folder).output().expect("sh");
    assert!(applied.status.success() && line.starts_with("git apply "), "{line}: {}", out(&applied));
    let changed = fs::read_to_string(folder.join("src/event.rs")).expect("a file");
    assert!(changed.contains("    Order(Box<Order>),\n"), "{changed}");
    fs::write(folder.join("src/event.rs"), &source).expect("a file");

    // What was predicted and measured is a table by kind.
    let errors = advise(folder, &["--errors", "target/tries.jsonl"]);
    assert_eq!(errors.status.code(), Some(0), "{}", out(&errors));
    assert!(out(&errors).contains("%  variant\n"), "{}", out(&errors));

    // No try goes on after the time; what the last run tried is not tried again.
    let short = advise(folder, &["--for", "memory", "--time", "1s", "--no-test", "--", "20000"]);
    assert_eq!(short.status.code(), Some(1), "{}", out(&short));
    assert!(
        out(&short).contains("held: 0 of 0 tried\n") && out(&short).contains("--resume goes on"),
        "{}",
        out(&short)
    );
    let resumed = advise(folder, &["--for", "memory", "--time", "1s", "--no-test", "--resume", "--", "20000"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", out(&resumed));
    assert!(out(&resumed).contains("  1. Event::Order: box the fields"), "{}", out(&resumed));

    // An interrupt prints what is known, and leaves no process.
    let arguments = ["--for", "memory", "--time", "10m", "--no-test", "--", "20000"];
    let answer = interrupted(folder, &arguments, " left: mimalloc");
    assert_eq!(answer.status.code(), Some(130), "{}", out(&answer));
    assert!(out(&answer).contains("held: 0 of 0 tried\n\nnot tried before the interrupt: "), "{}", out(&answer));
    assert_eq!(fs::read_to_string(folder.join("src/event.rs")).expect("a file"), source);
}

/// Returns what the command prints if it is interrupted after a note that ends so.
fn interrupted(folder: &Path, args: &[&str], note: &str) -> Output {
    let mut interrupted = command(folder, args);
    // Where a shell started the test in the background, the signal is ignored.
    let heed = || {
        // SAFETY: the call reads no memory, and may be made between fork and exec.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        Ok(())
    };
    // SAFETY: the closure makes one call that may be made between fork and exec.
    unsafe { interrupted.pre_exec(heed) };
    let mut tool = interrupted.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut notes = BufReader::new(tool.stderr.take().expect("its notes")).lines().map_while(Result::ok);
    assert!(notes.any(|line| line.ends_with(note)));
    let process = libc::pid_t::try_from(tool.id()).expect("a process");
    // SAFETY: the process is a child that was not waited for.
    unsafe { libc::kill(process, libc::SIGINT) };
    // Its pipe stays open until it ends.
    let rest = std::thread::spawn(move || notes.for_each(drop));
    let answer = tool.wait_with_output().expect("it ends");
    rest.join().expect("its notes end");
    answer
}

/// A program that runs forever once as many runs as the file `runs` says have ended.
const FOREVER: &str = r#"
fn main() {
    if let Ok(text) = std::fs::read_to_string("runs") {
        match text.trim().parse::<u32>().unwrap() {
            0 => loop { std::thread::sleep(std::time::Duration::from_secs(1)) },
            more => std::fs::write("runs", (more - 1).to_string()).unwrap(),
        }
    }
    let all: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    println!("{}", all.len());
}
"#;

#[test]
fn an_interrupt_before_the_first_try_says_what_is_known() {
    let package = super::package(FOREVER);
    let folder = package.path();
    let runs = |count: &str| fs::write(folder.join("runs"), count).expect("a file");
    runs("1");
    let answer = interrupted(folder, &["--no-test"], "measures how much equal runs differ");
    let text = out(&answer);
    assert_eq!(answer.status.code(), Some(130), "{text}");
    assert!(text.starts_with("entries: ") && text.contains(" live at the peak in "), "{text}");
    let end = "nothing was tried before the interrupt (it measures how much equal runs differ); --resume goes on\n";
    assert!(text.contains(end), "{text}");
    runs("0");
    let answer = interrupted(folder, &["--no-test"], "takes a census of the program");
    assert!(out(&answer).starts_with("\nnothing was tried before the interrupt (it takes"), "{}", out(&answer));

    // Goes on from there.
    fs::remove_file(folder.join("runs")).expect("a file");
    let answer = advise(folder, &["--no-test", "--resume", "--time", "1s"]);
    let text = out(&answer);
    assert_eq!(answer.status.code(), Some(1), "{text}");
    assert!(text.contains("held: 0 of 0 tried\n") && !text.contains("no run to go on with"), "{text}");

    // One that never ends is no endless wait.
    runs("0");
    let answer = advise(folder, &["--no-test", "--time", "1s"]);
    let text = out(&answer);
    assert_eq!(answer.status.code(), Some(2), "{text}");
    assert!(
        text.ends_with(
            "error: the program did not end in 30 s: --time gives more; --driver ends a server when its script ends\n"
        ),
        "{text}"
    );
}

const READS: &str = r#"
fn main() {
    let all: Vec<String> = std::io::stdin().lines().map(Result::unwrap).collect();
    println!("{}", all.len());
}
"#;

/// Each run gets the whole file. Of a pipe only the first would get something.
#[test]
fn each_run_reads_the_standard_input() {
    let package = super::package(READS);
    let folder = package.path();
    fs::write(folder.join("lines"), "a line\n".repeat(9000)).expect("a file");
    let mut command = command(folder, &["--no-test", "--time", "1s"]);
    let file = || fs::File::open(folder.join("lines")).expect("a file");
    let answer = command.stdin(file()).output().expect("it runs");
    // The peak is where the list grows for the last time.
    assert!(out(&answer).contains(" live at the peak in 8,"), "{}", out(&answer));
    let mut cat = Command::new("cat").stdin(file()).stdout(Stdio::piped()).spawn().expect("cat");
    let answer = command.stdin(cat.stdout.take().expect("a pipe")).output().expect("it runs");
    let text = out(&answer);
    assert_eq!(answer.status.code(), Some(2), "{text}");
    let why = "the standard input is a pipe, which only one run of the program can read; write it to a file\n";
    assert!(text.ends_with(&format!("error: {why}")), "{text}");
    cat.kill().and_then(|()| cat.wait()).expect("cat ends");
}

const PARTS: &str = r#"
struct First { id: u64, rare: Option<[u64; 9]> }
struct Second { id: u64, rare: Option<[u64; 9]> }
fn main() {
    let text = std::hint::black_box(vec![1_u8; 12_000_000]);
    let first: Vec<First> = (0..1000).map(|id| First { id, rare: (id % 100 == 0).then_some([id; 9]) }).collect();
    let second: Vec<Second> = (0..1000).map(|id| Second { id, rare: (id % 100 == 0).then_some([id; 9]) }).collect();
    let sum: u64 = first.iter().filter_map(|item| Some(item.id + item.rare.as_ref()?[0])).sum();
    let more: u64 = second.iter().filter_map(|item| Some(item.id + item.rare.as_ref()?[0])).sum();
    println!("{} {sum} {more}", text.len());
}
#[cfg(test)]
mod tests {
    #[test]
    fn fails_before_and_after() {
        panic!("as before");
    }
}
"#;

/// Each saves less than a per cent. A test that failed before may fail after.
#[test]
fn what_saves_too_little_alone_is_tried_together() {
    let package = super::package(PARTS);
    let folder = package.path();
    let answer = advise(folder, &["--for", "memory", "--time", "10m"]);
    let text = out(&answer);
    assert_eq!(answer.status.code(), Some(0), "{text}");
    let held = "held: 1 of 4 tried\n  1. First, Second: what saves too little alone\n";
    assert!(text.contains(held) && text.contains("  First: "), "{text}");

    // Tests that do not compile cannot be compared with.
    fs::write(folder.join("src/main.rs"), PARTS.replace("panic!(", "nothing(").replace("12_000_000", "1_000"))
        .expect("a file");
    let answer = advise(folder, &["--for", "memory", "--time", "10m"]);
    let text = out(&answer);
    assert_eq!(answer.status.code(), Some(2), "{text}");
    let why = "the tests fail before the change, and none has an outcome; --no-test leaves them out";
    assert!(text.contains("needs a person:\n  ") && text.contains(&format!("), but {why}")), "{text}");
    assert!(text.ends_with(&format!("error: {why}\n")), "{text}");
}

const SERVER: &str = r#"
use std::io::{Read, Write};
use std::net::TcpListener;
pub struct Session { pub name: [u8; 16], pub extra: Option<Extra> }
#[derive(Default)]
pub struct Extra { pub numbers: [u64; 28] }
static SESSIONS: std::sync::Mutex<Vec<Session>> = std::sync::Mutex::new(Vec::new());
fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    std::fs::write(std::env::args().nth(1).unwrap(), listener.local_addr().unwrap().port().to_string()).unwrap();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut byte = [0];
        let mut sessions = SESSIONS.lock().unwrap();
        stream.read_exact(&mut byte).unwrap();
        for number in 0..20_000 {
            let extra = (number % 500 == 0).then(Extra::default);
            sessions.push(Session { name: [byte[0]; 16], extra });
        }
        let sum: u64 = sessions.iter().filter_map(|of| Some(of.extra.as_ref()?.numbers[0] + u64::from(of.name[0]))).sum();
        writeln!(stream, "{} {sum}", sessions.len()).unwrap();
    }
}
"#;

/// A server never ends by itself: the driver gives it its load.
#[test]
fn a_server_is_measured_while_its_driver_runs() {
    if Command::new("bash").arg("--version").output().is_err() {
        println!("skipped: there is no bash, which opens connections");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("Cargo.toml", "[package]\nname = \"server\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n");
    write("src/main.rs", SERVER);
    write(
        "load.sh",
        "#!/bin/bash\nset -e\nuntil [ -s port ]; do sleep 0.02; done\nfor i in 1 2 3; do\n  \
         exec 3<>\"/dev/tcp/127.0.0.1/$(cat port)\"; printf x >&3; read -r line <&3; exec 3>&-\ndone\nrm port\n\
         [ -d \"/proc/$DWELL_PID\" ]\n",
    );
    fs::set_permissions(folder.path().join("load.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
    let arguments = ["--for", "memory", "--time", "10m", "--no-test", "--driver", "load.sh", "--", "port"];
    let answer = advise(folder.path(), &arguments);
    let text = out(&answer);
    assert_eq!(answer.status.code(), Some(0), "{text}");
    assert!(text.contains("Session.extra: Option<Box<Extra>>"), "{text}");
}

#[test]
fn wrong_input_is_one_line() {
    let demo = demo();
    fs::write(demo.path().join("full"), "").expect("a file");
    fs::create_dir(demo.path().join("folder")).expect("a folder");
    fs::write(demo.path().join("folder/mine.patch"), "").expect("a file");
    for (arguments, why) in [
        (&["--time", "0s"][..], "takes a time such as"),
        (&["--branch", "x"], "is in no repository of git"),
        (&["--driver", "none.sh"], "there is no such script"),
        (&["--errors", "none.jsonl"], "none.jsonl: cannot be read"),
        (&["--patch", "folder"], "has files; name a new folder"),
        (&["--exe", "full"], "builds the program itself"),
        (&["--bin", "none"], "none"),
    ] {
        let answer = advise(demo.path(), arguments);
        let text = out(&answer);
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(why), "{arguments:?}: {text}");
    }
    assert!(demo.path().join("folder/mine.patch").exists());
    // A program that fails to build ends with cargo's message, and not with a report.
    fs::write(demo.path().join("src/main.rs"), "fn main() { nothing(); }").expect("a file");
    let answer = advise(demo.path(), &[]);
    assert_eq!(answer.status.code(), Some(2), "{}", out(&answer));
}
