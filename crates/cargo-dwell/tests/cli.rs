//! End-to-end tests of the command line that are of no single command.

use std::process::{Command, Output};

fn dwell(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-dwell")).args(args).output().unwrap()
}

#[test]
fn dwell_argument_added_by_cargo_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.json"), "[1]").unwrap();
    let path = dir.path().to_str().unwrap();
    let plain = dwell(&["shape", path]);
    let cargo = dwell(&["dwell", "shape", path]);
    assert_eq!(plain.stdout, cargo.stdout);
    assert_eq!(plain.status.code(), Some(0));
}

#[test]
fn wrong_usage_exits_with_code_2() {
    for args in [&[][..], &["shapes"], &["shape", "--top", "many"], &["census", "--at"], &["layout", "--format", "xml"]]
    {
        let output = dwell(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty());
    }
    for args in [&["--help"][..], &["--version"], &["shape", "--help"]] {
        assert_eq!(dwell(args).status.code(), Some(0), "{args:?}");
    }
}
