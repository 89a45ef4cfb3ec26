//! End-to-end tests of the command line that are of no single command.

use std::process::{Command, Output, Stdio};

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

#[test]
fn apply_takes_the_findings_of_shape() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path();
    let model = "#[derive(serde::Deserialize)]\npub struct User {\n    pub name: String,\n    pub tags: Vec<String>,\n    \
                 pub home: Option<Home>,\n    pub kind: Kind,\n}\n\n\
                 #[derive(serde::Deserialize)]\npub struct Home {\n    pub at: [u64; 8],\n}\n\n\
                 #[derive(serde::Deserialize)]\npub enum Kind {\n    Plain(String),\n}\n";
    for new in ["src", "data"] {
        std::fs::create_dir(path.join(new)).unwrap();
    }
    std::fs::write(path.join("src/lib.rs"), model).unwrap();
    std::fs::write(path.join("Cargo.toml"), "[package]\nname = \"model\"\nversion = \"0.1.0\"\n[workspace]\n").unwrap();
    for n in 0..300 {
        let home = if n % 20 == 0 { format!("{{\"at\": [{n}, 2, 3, 4, 5, 6, 7, 8]}}") } else { "null".to_owned() };
        let text = format!(
            "{{\"name\": \"n{n}\", \"tags\": [\"a\", \"a\", \"a\", \"a\", \"a\"], \"home\": {home}, \"kind\": {{\"Plain\": \"x\"}}}}"
        );
        std::fs::write(path.join(format!("data/{n:04}.json")), text).unwrap();
    }
    let dwell = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
        let output = command.current_dir(path).arg("dwell").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let found = dwell(&["shape", "data", "--against", "src/lib.rs", "--format", "json", "--root", "User"]);
    std::fs::write(path.join("report.json"), found).unwrap();
    let listed = dwell(&["apply", "--from", "report.json", "--list", "--breaking", "--allow-no-vcs"]);
    let text = String::from_utf8_lossy(&listed);
    for item in ["User.home", "User.tags", "User.name", "Kind::Plain"] {
        assert!(text.contains(item) && !text.contains("is no move"), "{item}: {text}");
    }
}

/// `cargo dwell .. 2>&1 | head` panicked.
#[test]
fn output_that_nobody_reads_changes_no_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    for args in [&["layout"][..], &["apply", "--from", "none.json"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
        command.args(args).current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(2), "{args:?}");
    }
}
