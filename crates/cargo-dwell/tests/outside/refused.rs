//! What cannot be looked at is refused in one line.

use crate::running::{Running, churn, one_line, tool, truth};
use dwell_heap::outside;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

#[test]
fn what_cannot_be_looked_at_is_refused_in_one_line() {
    let Some(exe) = truth() else { return };
    let refused = |id: &str| one_line(&tool(&["--pid", id]).output().expect("it runs"));
    let none = refused("4194000");
    assert!(none.contains("there is no process 4194000"), "{none}");
    // A zombie is a child that ended, and for which nobody waited.
    let mut child = Command::new("true").spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(300));
    let zombie = refused(&child.id().to_string());
    assert!(zombie.contains("a zombie"), "{zombie}");
    child.wait().expect("it ends");
    if fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd") {
        let kernel = refused("2");
        assert!(kernel.contains("a thread of the kernel"), "{kernel}");
    }
    let running = Running::start(&mut Command::new(exe), "hold", "refused");
    let id = running.id().to_string();
    let thread = fs::read_dir(format!("/proc/{id}/task")).expect("threads");
    let thread =
        thread.map(|entry| entry.expect("one").file_name().into_string().expect("a number")).find(|other| *other != id);
    let of_thread = refused(&thread.expect("it has several"));
    assert!(of_thread.contains(&format!("is a thread of process {id}")), "{of_thread}");
    let other = one_line(&tool(&["--pid", &id, "--exe", env!("CARGO_BIN_EXE_cargo-dwell")]).output().expect("it runs"));
    assert!(other.contains(&format!("is not the executable of process {id}")), "{other}");
    // As another user, who must not look at it.
    let mut command = tool(&["--pid", &id]);
    match command.uid(65534).gid(65534).current_dir("/").output() {
        Ok(output) => {
            let no_right = one_line(&output);
            assert!(no_right.contains("must not be looked at by ptrace"), "{no_right}");
        }
        Err(error) => crate::support::skip(format_args!("the tool cannot be run as another user: {error}")),
    }
    running.end();
    // A program without debug info.
    let mut sleep = Command::new("sleep").arg("30").spawn().expect("it starts");
    let stripped = refused(&sleep.id().to_string());
    assert!(stripped.contains("has no debug info"), "{stripped}");
    sleep.kill().expect("it runs");
    sleep.wait().expect("it ends");
}

/// The program ends before, during or after the stop.
#[test]
fn a_process_that_ends_meanwhile_is_reported_in_one_line() {
    let mut ended = 0;
    for round in 0..40 {
        let mut running = Running::start(&mut Command::new(churn()), "", "ends");
        let id = running.id();
        let look = std::thread::spawn(move || outside::attach(id, None, None).map(drop));
        std::thread::sleep(Duration::from_micros(round * 400));
        running.child.kill().expect("it runs");
        if round % 2 == 0 {
            running.child.wait().expect("it ends");
        }
        let looked = look.join().expect("no panic");
        if let Err(error) = looked {
            let text = format!("{error:#}");
            let is_known = ["has ended", "there is no process", "the program continues"]
                .iter()
                .any(|sentence| text.contains(sentence));
            assert!(is_known && text.lines().count() == 1, "{text}");
            ended += 1;
        }
    }
    eprintln!("{ended} of 40 ended in time");
    assert!(ended > 0);
}

#[test]
fn a_process_that_another_one_traces_is_refused() {
    let running = Running::start(&mut Command::new(churn()), "", "traced");
    let id = running.id();
    let of_thread = std::thread::spawn(move || {
        // The kernel ends this when the thread does.
        // SAFETY: the request reads and writes no memory.
        let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, id, 0, 0) };
        assert_eq!(seized, 0, "{}", std::io::Error::last_os_error());
        one_line(&tool(&["--pid", &id.to_string()]).output().expect("it runs"))
    });
    let refused = of_thread.join().expect("no panic");
    assert!(refused.contains(&format!("process {id} is traced by process {}", std::process::id())), "{refused}");
    running.end();
}

#[test]
fn files_that_are_no_cores_are_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("it is written");
        one_line(&tool(&["--core", path.to_str().expect("UTF-8")]).output().expect("it runs"))
    };
    let header = |class: u8, machine: u8| {
        let mut bytes = vec![0; 64];
        bytes[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, 1, 1]);
        // A core.
        bytes[16] = 4;
        bytes[18] = machine;
        bytes[20] = 1;
        bytes
    };
    let (own, other) = if cfg!(target_arch = "aarch64") { (183, 62) } else { (62, 183) };
    for (name, bytes, wanted) in [
        ("empty", vec![], "is not an ELF file"),
        ("text", b"hello\n".to_vec(), "is not an ELF file"),
        ("magic", b"\x7fELF".to_vec(), "has a truncated ELF header"),
        ("half", header(2, own)[..32].to_vec(), "has a truncated ELF header"),
        ("bits", header(1, 3), "is a program of 32 bits"),
        ("machine", header(2, other), "is for another architecture"),
        ("nothing", header(2, own), "has no anonymous memory"),
    ] {
        let line = refused(name, &bytes);
        assert!(line.contains(wanted), "{name}: {line}");
    }
    // A table of segments that is not there.
    let mut table = header(2, own);
    (table[32], table[54], table[56]) = (64, 56, 3);
    let line = refused("table", &table);
    assert!(line.contains("is a truncated core"), "{line}");
}

/// Waits in `pause`.
const SMALL: &str = ".globl _start\n_start: movl $29, %eax\nint $0x80\njmp _start\n";

#[test]
fn a_process_of_32_bits_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, exe) = (folder.path().join("small.s"), folder.path().join("small"));
    fs::write(&source, SMALL).expect("it is written");
    let built = Command::new("cc").args(["-m32", "-nostdlib", "-static", "-o"]).arg(&exe).arg(&source).output();
    let started = built.ok().filter(|output| output.status.success()).and_then(|_| Command::new(&exe).spawn().ok());
    let Some(mut small) = started else {
        crate::support::skip("no program of 32 bits can be built and run here");
        return;
    };
    std::thread::sleep(Duration::from_millis(50));
    let is_running = small.try_wait().expect("it is a child").is_none();
    let refused = tool(&["--pid", &small.id().to_string()]).output().expect("it runs");
    small.kill().expect("it runs, or has ended");
    small.wait().expect("it ends");
    if is_running {
        let line = one_line(&refused);
        assert!(line.contains("is a program of 32 bits"), "{line}");
    } else {
        crate::support::skip("the kernel runs no programs of 32 bits");
    }
}

#[test]
fn a_full_disk_is_reported_in_one_line_and_keeps_the_older_file() {
    let running = Running::start(&mut Command::new(churn()), "", "full");
    let id = running.id().to_string();
    let output = tool(&["--pid", &id, "--save", "/dev/full"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    let error: Vec<&str> = text.lines().filter(|line| !line.starts_with("note: ")).collect();
    assert!(error.len() == 1 && error[0].contains("/dev/full: cannot be written"), "{text}");

    // A file system of a few pages.
    let script = "mount -t tmpfs -o size=8k none \"$1\" && echo older > \"$1/saved\" && \
                  { \"$2\" dwell census --pid \"$3\" --save \"$1/saved\" >/dev/null; echo \"code $?\" >&2; \
                  cat \"$1/saved\" >&2; ls \"$1\" >&2; }";
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .args([env!("CARGO_BIN_EXE_cargo-dwell"), &id])
        .output();
    match output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("note: ")).collect();
            assert!(lines.len() == 4 && lines[0].contains("saved: cannot be written: No space left"), "{text}");
            assert_eq!(lines[1..], ["code 2", "older", "saved"], "{text}");
        }
        other => crate::support::skip(format_args!("no file system can be mounted here: {other:?}")),
    }
    running.end();
}
