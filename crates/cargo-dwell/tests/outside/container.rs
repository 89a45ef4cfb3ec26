//! A program in namespaces of its own: its files and its process numbers are others than those of the tool.

use crate::running::{Running, check, folder, truth};
use dwell_heap::outside;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The path of the program in the container. There is no such file outside.
const INSIDE: &str = "/in-the-container";

#[test]
fn a_program_in_a_container_has_the_blocks_that_it_knows() {
    let Some(exe) = truth() else { return };
    let may = Command::new("unshare").args(["-mpf", "--kill-child", "--mount-proc", "true"]).output();
    if !may.as_ref().is_ok_and(|output| output.status.success()) {
        crate::support::skip(format_args!("namespaces cannot be made here: {may:?}"));
        return;
    }
    let root = tempfile::tempdir().expect("a folder");
    let below = |path: &Path| root.path().join(path.strip_prefix("/").expect("an absolute path"));
    let copy = |from: &Path, to: &Path| {
        let to = below(to);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(from, to).expect("it is copied");
    };
    copy(exe, Path::new(INSIDE));
    for library in libraries(exe) {
        copy(&library, &library);
    }
    fs::create_dir_all(below(&folder())).expect("a folder");
    fs::create_dir_all(root.path().join("proc")).expect("a folder");

    // The file system of the container exists in its namespace only.
    let script = "cp -a \"$1\" /dev/shm/all && mount -t tmpfs none \"$1\" && cp -a /dev/shm/all/. \"$1\" && \
                  exec unshare -pf --kill-child --mount-proc=\"$1/proc\" chroot \"$@\"";
    let script = format!("mount -t tmpfs none /dev/shm && {script}");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script, "sh"]).arg(root.path()).arg(INSIDE);
    let running = Running::start(&mut command, "hold", "container");
    let outer = running.id();
    let children = fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).expect("it has one");
    let id: i32 = children.trim().parse().expect("one child");
    let blocks = folder().join("container.blocks");
    fs::copy(format!("/proc/{id}/root{}", blocks.display()), &blocks).expect("it is copied");
    let truth = running.truth();
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
    assert!(status.lines().any(|line| line.starts_with("NSpid:") && line.ends_with("\t1")), "{status}");

    let captured = outside::attach(id, None, None).expect("it can be looked at");
    let read = captured.executable().to_owned();
    assert_eq!(read, PathBuf::from(format!("/proc/{id}/root{INSIDE}")));
    check(captured, exe, &truth);
    running.end();
}

/// Returns the libraries of a program, with the dynamic linker.
fn libraries(exe: &Path) -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(exe).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.split_ascii_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}
