//! `cargo dwell shape --set`, `dwell.toml`, and the options that decide how types are written.

use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Runs `cargo dwell shape` on `data.json` in a folder, and returns the types and standard error.
fn types(folder: &Path, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
    command.current_dir(folder).args(["shape", "data.json", "--force", "--rust", "types.rs", "--types", "std"]);
    let output = command.args(arguments).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {errors}");
    (fs::read_to_string(folder.join("types.rs")).unwrap(), errors)
}

fn folder() -> TempDir {
    let dir = TempDir::new().unwrap();
    let line = |n: usize| {
        let level = ["low", "high", "none"][n % 3];
        format!(
            "{{\"users\":{{\"ann\":{{\"age\":{n}}},\"bob\":{{\"age\":{n}}}}},\"level\":\"{level}\",\"secret\":\"s{n}\"}}\n"
        )
    };
    fs::write(dir.path().join("data.json"), (0..90).map(line).collect::<String>()).unwrap();
    dir
}

#[test]
fn decisions_override_the_inference() {
    let dir = folder();
    let (plain, _) = types(dir.path(), &[]);
    for part in ["pub users: Users,", "pub ann: ", "pub enum Level {", "pub secret: "] {
        assert!(plain.contains(part), "{part}: {plain}");
    }
    let set = ["$.users=map", "$.level=string", "$.secret=skip", "$.users.*=Person", "$.nothing=enum"];
    let arguments: Vec<&str> = set.iter().flat_map(|one| ["--set", one]).collect();
    let (changed, errors) = types(dir.path(), &arguments);
    for part in ["pub users: HashMap<String, Person>,", "pub struct Person {", "pub level: Box<str>,"] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
    assert!(!changed.contains("secret") && !changed.contains("Level"), "{changed}");
    assert_eq!(errors, "note: --set: the types have nothing at $.nothing\n");
    // The same from `dwell.toml`, and the command line on top of it.
    let list = set[..3].iter().map(|one| format!("{one:?}")).collect::<Vec<_>>().join(", ");
    fs::write(dir.path().join("dwell.toml"), format!("[shape]\nset = [{list}]\n")).unwrap();
    let (configured, _) = types(dir.path(), &["--set", "$.users.*=Person"]);
    assert_eq!(configured, changed);
}

#[test]
fn records_can_be_kept_and_enums_be_made() {
    let dir = TempDir::new().unwrap();
    let entries: Vec<String> = (0..30).map(|n| format!("\"k{n}\":{{\"a\":{n},\"b\":\"w{}\"}}", n % 3)).collect();
    fs::write(dir.path().join("data.json"), format!("{{\"all\":{{{}}}}}", entries.join(","))).unwrap();
    assert!(types(dir.path(), &[]).0.contains("HashMap<String, All>"));
    let (kept, _) = types(dir.path(), &["--set", "$.all=struct", "--set", "$.all.k0.b=enum"]);
    assert!(kept.contains("pub all: All,") && kept.contains("pub k29: "), "{kept}");
    assert!(kept.contains("pub enum B {"), "{kept}");
}

#[test]
fn style_changes_names_and_comments_only() {
    let dir = folder();
    let style = ["--plain", "--root", "Snapshot", "--derive", "Eq", "--visibility", "pub(crate)", "--no-enums"];
    let (styled, _) = types(dir.path(), &style);
    for part in ["pub(crate) struct Snapshot {", "Deserialize, Serialize, Eq)]", "    pub(crate) level: Box<str>,"] {
        assert!(styled.contains(part), "{part}: {styled}");
    }
    assert!(!styled.contains("90") && !styled.contains('%') && !styled.contains("\n    pub "), "{styled}");
    // Half of the data has the same types, and with `--plain` the same file.
    let all = fs::read_to_string(dir.path().join("data.json")).unwrap();
    let half: String = all.split_inclusive('\n').take(75).collect();
    fs::write(dir.path().join("data.json"), half).unwrap();
    assert_eq!(types(dir.path(), &style).0, styled);
}

#[test]
fn wrong_options_are_explained() {
    let dir = folder();
    for (arguments, message) in [
        (["--root", "a b"], "--root a b: not the name of a type, such as Order"),
        (["--derive", "1x"], "--derive 1x: not the path of a trait, such as Eq or schemars::JsonSchema"),
        (["--visibility", "private"], "--visibility private: not one of pub, pub(crate) and pub(super)"),
        (["--set", "$.a=mapp"], "\"mapp\" is none of map, struct, string, enum, skip, tag=KEY and a type's name"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
        let output = command.current_dir(dir.path()).args(["shape", "data.json"]).args(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(message), "{errors}");
        assert_eq!(output.status.code(), Some(2), "{errors}");
    }
}
