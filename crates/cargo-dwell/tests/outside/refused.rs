//! What cannot be looked at is refused in one line.

use crate::running::{Running, one_line, tool, truth};
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
    let thread = thread.map(|of| of.expect("one").file_name().into_string().expect("a number")).find(|of| *of != id);
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
        Err(error) => eprintln!("skipped: the tool cannot be run as another user: {error}"),
    }
    running.end();
    // A program without debug info.
    let mut sleep = Command::new("sleep").arg("30").spawn().expect("it starts");
    let stripped = refused(&sleep.id().to_string());
    assert!(stripped.contains("has no debug info"), "{stripped}");
    sleep.kill().expect("it runs");
    sleep.wait().expect("it ends");
}
