//! Each bad input gives a one-line error and exit code 2.

use dwell_shape::input;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn shape(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
    command.arg("shape").args(args).stdin(Stdio::null());
    command
}

fn errors(output: &Output) -> Vec<String> {
    String::from_utf8(output.stderr.clone()).unwrap().lines().map(str::to_owned).collect()
}

/// A folder with one valid file and one bad file.
struct Folder {
    dir: TempDir,
    bad: PathBuf,
}

impl Folder {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("good.json"), r#"{"good":[1,2,3]}"#).unwrap();
        let bad = dir.path().join(name);
        fs::write(&bad, bytes).unwrap();
        Self { dir, bad }
    }

    fn path(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }
}

/// Checks the error for the bad file, and the report on the valid file.
#[track_caller]
fn check(folder: &Folder, location: &str, what: &str) {
    let expected = format!("error: {}{location}: {what}", folder.bad.display());
    let output = shape(&[folder.path(), "--format", "json"]).output().unwrap();
    assert_eq!(errors(&output), [expected, "error: 1 input was skipped; 1 document was read".to_owned()]);
    assert_eq!(output.status.code(), Some(2));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report.to_string().contains("good"));
    assert!(!report.to_string().contains("half"), "nothing of a bad text is counted");
}

#[test]
fn broken_and_truncated_files() {
    let broken = Folder::new("bad.json", b"{\n  \"half\": 1,\n  \"x\": ]\n}");
    check(&broken, ":3:8", "expected value");
    let truncated = Folder::new("bad.json", b"{\"half\": [1, 2");
    check(&truncated, ":1:14", "the JSON ends too early; is the file complete?");
    let cut = Folder::new("bad.json", b"{\"half\": \"tex");
    check(&cut, ":1:13", "the JSON ends too early; is the file complete?");
    let empty = Folder::new("bad.json", b" \n");
    check(&empty, "", "is empty");
}

#[test]
fn invalid_utf8() {
    let folder = Folder::new("bad.json", b"{\"half\": 1,\n \"a\xFF\": 2}");
    check(&folder, ":2:4", "invalid UTF-8; save the file as UTF-8");
}

#[test]
fn binary_gzip_and_utf16_files_are_identified() {
    for (bytes, what) in [
        (&b"\x7FELF\x02\x01\x01\0\0\xFF"[..], ":1:10: not text; is this file JSON?"),
        (b"\x1F\x8B\x08\0\0", ":1:2: gzip data in a file whose name does not end in .gz; rename or unpack it"),
        (b"\xFF\xFE{\0}\0", ":1:1: the file is UTF-16; save it as UTF-8"),
    ] {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("program");
        fs::write(&file, bytes).unwrap();
        let output = shape(&[file.to_str().unwrap()]).output().unwrap();
        assert_eq!(errors(&output), [&*format!("error: {}{what}", file.display())]);
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn deep_nesting() {
    let nested = "[".repeat(100_000) + &"]".repeat(100_000);
    let folder = Folder::new("bad.json", nested.as_bytes());
    check(&folder, ":1:128", "nested deeper than 127 levels, which is not supported");
    let objects = "{\"half\":".repeat(100_000);
    let folder = Folder::new("bad.json", objects.as_bytes());
    check(&folder, ":1:1017", "nested deeper than 127 levels, which is not supported");
}

#[test]
fn duplicate_keys() {
    let folder = Folder::new("bad.json", b"{\"half\": 1,\n\"b\": {\"x\": 1, \"x\": 2}}");
    check(&folder, ":2:17", "duplicate key \"x\"");
}

#[test]
fn huge_numbers() {
    let folder = Folder::new("bad.json", b"{\"half\": 1e400}");
    check(&folder, ":1:14", "a number too large for f64");
    let digits = format!("[{}]", "9".repeat(400));
    let folder = Folder::new("bad.json", digits.as_bytes());
    check(&folder, ":1:401", "a number too large for f64");
}

#[test]
fn bad_line_in_json_lines() {
    let folder = Folder::new("bad.jsonl", b"{\"a\":1}\n\n  {\"half\":}\n{\"a\":2}");
    let expected = format!("error: {}:3:11: expected value", folder.bad.display());
    let output = shape(&[folder.path(), "--format", "json"]).output().unwrap();
    assert_eq!(errors(&output), [expected, "error: 1 input was skipped; 3 documents were read".to_owned()]);
}

#[test]
fn concatenated_documents() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("many");
    fs::write(&path, "{\"a\":1}{\"a\":2,\n\"a\":3} {\"a\":\n 4}\n\n  {\"a\":5,}").unwrap();
    let duplicate = format!("error: {}:2:3: duplicate key \"a\"", path.display());
    let output = shape(&[path.to_str().unwrap()]).output().unwrap();
    let comma = format!("error: {}:5:10: trailing comma", path.display());
    let rest = "error: 2 inputs were skipped; 2 documents were read".to_owned();
    assert_eq!(errors(&output), [duplicate, comma, rest]);
}

#[test]
fn two_gigabyte_line() {
    let dir = TempDir::new().unwrap();
    for (name, location, what) in [
        ("lines.jsonl", ":1:1", "a line longer than 64 MiB; if the file is one JSON value, rename it to .json"),
        ("text.json", ":1:1", "expected value"),
    ] {
        let path = dir.path().join(name);
        // A sparse file takes no blocks on disk; its bytes are zeros.
        File::create(&path).unwrap().set_len(2 << 30).unwrap();
        let output = shape(&[path.to_str().unwrap()]).output().unwrap();
        assert_eq!(errors(&output), [&*format!("error: {}{location}: {what}", path.display())]);
        assert_eq!(output.status.code(), Some(2));
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn two_gigabyte_string_through_a_pipe() {
    let mut child = shape(&["-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let block = vec![b'a'; 1 << 20];
    let mut written = 0;
    // The command stops reading long before the end.
    let mut sent = stdin.write_all(b"[1,\"");
    while sent.is_ok() && written < 2048 {
        sent = stdin.write_all(&block);
        written += 1;
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(written < 200, "{written} MiB were read");
    let errors = errors(&output);
    assert!(
        matches!(&errors[..], [line] if line.starts_with("error: -:1:")
            && line.ends_with(": a string longer than 64 MiB, which is not supported")),
        "{errors:?}"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[track_caller]
fn check_path(path: &Path, expected: &str) {
    let output = shape(&[path.to_str().unwrap()]).output().unwrap();
    assert_eq!(errors(&output), [&*format!("error: {expected}")]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn missing_path_and_folder_without_json() {
    let dir = TempDir::new().unwrap();
    let missing = dir.path().join("missing");
    check_path(&missing, &format!("{}: there is no such file or folder", missing.display()));
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    fs::write(empty.join("notes.txt"), "no JSON").unwrap();
    let none = "no JSON files in this folder (.json .jsonl .ndjson .geojson .topojson .ipynb .har .jsonld, each also .gz or .zst, and others that begin as JSON)";
    check_path(&empty, &format!("{}: {none}", empty.display()));
}

#[cfg(unix)]
#[test]
fn symlinks_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = TempDir::new().unwrap();
    let inner = dir.path().join("a/b");
    fs::create_dir_all(&inner).unwrap();
    fs::write(dir.path().join("a/good.json"), "{\"good\":1}").unwrap();
    symlink(dir.path().join("a"), inner.join("again")).unwrap();
    symlink(dir.path().join("nowhere"), inner.join("notes")).unwrap();
    let up = dir.path().join("a");
    let looped = format!(
        "error: {}: a symbolic link to an enclosing folder, {}; it is not followed",
        up.join("b/again").display(),
        up.display()
    );
    let skipped = "error: 1 input was skipped; 1 document was read";
    let output = shape(&[up.to_str().unwrap()]).output().unwrap();
    assert_eq!(errors(&output), [&*looped, skipped]);
    assert_eq!(output.status.code(), Some(2));

    fs::remove_file(inner.join("again")).unwrap();
    symlink(dir.path().join("nowhere"), inner.join("lost.json")).unwrap();
    let output = shape(&[up.to_str().unwrap()]).output().unwrap();
    let lost = format!("error: {}: a symbolic link whose target does not exist", inner.join("lost.json").display());
    assert_eq!(errors(&output), [&*lost, skipped]);

    fs::remove_file(inner.join("lost.json")).unwrap();
    let secret = inner.join("secret.json");
    fs::write(&secret, "1").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read(&secret).is_ok() {
        eprintln!("not tested: this user may read everything");
        return;
    }
    let output = shape(&[up.to_str().unwrap()]).output().unwrap();
    let denied = format!("error: {}: cannot be read: permission denied", secret.display());
    assert_eq!(errors(&output), [&*denied, skipped]);
}

#[test]
fn unreadable_file() {
    // The file opens, but its first read fails.
    let path = Path::new("/proc/self/mem");
    if path.exists() {
        let output = shape(&[path.to_str().unwrap()]).output().unwrap();
        let errors = errors(&output);
        assert!(
            matches!(&errors[..], [line] if line.starts_with("error: /proc/self/mem: cannot be read: ")),
            "{errors:?}"
        );
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
#[cfg(unix)]
fn pipe_is_read_once() {
    let dir = TempDir::new().unwrap();
    let pipe = dir.path().join("pipe");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        eprintln!("not tested: there is no mkfifo");
        return;
    }
    // Longer than the part that is held in memory, with an error in the rest.
    let line = format!("{{\"text\":\"{}\"}}\n", "x".repeat(2000));
    let text = line.repeat(5000) + "{\"text\":]}\n" + &line;
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, text)
    });
    let output = shape(&[pipe.to_str().unwrap(), "--held-out", "5", "--format", "json"]).output().unwrap();
    writer.join().unwrap().unwrap();
    let errors = errors(&output);
    assert_eq!(errors[0], format!("error: {}:5001:9: expected value", pipe.display()));
    assert_eq!(errors.last().unwrap(), "error: 1 input was skipped; 5,001 documents were read");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["documents"], 5001);
}

#[test]
fn truncated_and_invalid_gzip() {
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    zipped.write_all(b"{\"half\": [1, 2, 3]}").unwrap();
    let zipped = zipped.finish().unwrap();
    let cut = Folder::new("bad.json.gz", &zipped[..zipped.len() - 6]);
    check(&cut, "", "ends too early; is the file complete?");
    let none = Folder::new("bad.json.gz", b"{\"half\": 1}");
    check(&none, "", "is not valid compressed data: invalid gzip header");
}

#[test]
fn errors_are_in_name_order_for_any_number_of_threads() {
    let dir = TempDir::new().unwrap();
    for index in 0..40 {
        let text = if index % 7 == 5 { "{\"a\":}".to_owned() } else { format!("{{\"a\":{index}}}") };
        fs::write(dir.path().join(format!("{index:02}.json")), text).unwrap();
    }
    let found = input::find(&[dir.path().to_owned()]);
    for threads in [1, 2, 5, 40] {
        let read = |keep_going| {
            let options = input::Options { threads, keep_going, part: 1, ..Default::default() };
            let reading = input::read(&found, &options, &|_| {});
            let errors: Vec<String> = reading.problems.iter().map(ToString::to_string).collect();
            (errors, reading.accumulator.documents())
        };
        let (errors, _) = read(false);
        assert!(matches!(&errors[..], [line] if line.contains("05.json:1:6: ")), "{errors:?}");
        let (errors, documents) = read(true);
        assert_eq!((errors.len(), documents), (5, 35));
        assert!(errors.is_sorted(), "{errors:?}");
    }
}

#[test]
fn memory_is_bounded_for_any_number_of_threads() {
    // Each file has 300 tagged unions of 250 variants at 300 paths, and is large enough for a part of its own.
    let dir = TempDir::new().unwrap();
    for file in 0..2 {
        let values = ["null", "1", "\"a\"", "[]"];
        let heads: Vec<String> = (0..300).map(|path| format!("\"path{path}\":{}", values[path % 4])).collect();
        let mut text = format!("{{{}}}\n", heads.join(",")).repeat(3);
        for n in 0..75_000 {
            // 7919 has no factor in common with 75,000, so each pair of a path and a variant occurs once.
            let pair = (n * 7919 + file) % 75_000;
            let path = pair / 250;
            let keys: Vec<String> = (0..8).map(|key| format!(",\"k{pair}_{key}\":{}", [1, 2][key % 2])).collect();
            let line = format!("{{\"path{path}\":{{\"type\":\"t{pair}\"{}}}}}\n", keys.concat());
            text.push_str(&line);
        }
        let blank = " ".repeat((1 << 20) - 1) + "\n";
        text.extend(std::iter::repeat_n(&*blank, 64));
        fs::write(dir.path().join(format!("{file}.jsonl")), text).unwrap();
    }
    // The plan for thousands of types takes longer than the reading.
    let out = TempDir::new().unwrap();
    let part = out.path().join("part").to_str().unwrap().to_owned();
    let mut child = shape(&[dir.path().to_str().unwrap(), "--save", &part]).stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        peak = peak.max(line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(child.wait().unwrap().success());
    if cfg!(target_os = "linux") {
        assert!(peak > 20_000 && peak < 512_000, "{peak} kB");
    }
}
