//! The command line as a user meets it.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn dwell(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(args).stdin(Stdio::null());
    command
}

fn stdin(args: &[&str], text: &[u8]) -> Output {
    let mut command = dwell(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    child.wait_with_output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The documents that a report says were read.
fn documents(output: &Output) -> u64 {
    let report = json(output);
    let documents = report.get("documents").or_else(|| report.pointer("/schema/documents"));
    documents.and_then(serde_json::Value::as_u64).expect("a number of documents")
}

#[test]
fn every_form_of_input_is_read_the_same() {
    let dir = TempDir::new().unwrap();
    let texts = ["{\"a\":1,\"b\":\"x\"}", "{\"a\":null}", "{\"b\":\"y\",\"c\":[{}]}"];
    let folder = |name: &str, files: &[(&str, Vec<u8>)]| {
        let folder = dir.path().join(name).join("below/below");
        fs::create_dir_all(&folder).unwrap();
        for (file, bytes) in files {
            fs::write(folder.join(file), bytes).unwrap();
        }
        dir.path().join(name).to_str().unwrap().to_owned()
    };
    let zip = |bytes: &[u8]| {
        let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        zipped.write_all(bytes).unwrap();
        zipped.finish().unwrap()
    };
    let lines = texts.join("\n").into_bytes();
    let marked = [b"\xEF\xBB\xBF", &lines[..]].concat();
    let folders = [
        folder("json", &[("1.json", texts[0].into()), ("2.json", texts[1].into()), ("3.JSON", texts[2].into())]),
        folder("jsonl", &[("a.jsonl", lines.clone()), ("b.txt", b"no JSON".to_vec())]),
        folder("windows", &[("a.ndjson", texts.join("\r\n\r\n").into_bytes())]),
        folder("marked", &[("a.jsonl", marked.clone())]),
        folder("zipped", &[("a.ndjson.gz", zip(&lines))]),
        folder("both", &[("1.json.gz", zip(texts[0].as_bytes())), ("2.jsonl", texts[1..].join("\n").into_bytes())]),
    ];
    // All but the number of bytes.
    let strip = |mut report: serde_json::Value| {
        report.as_object_mut().unwrap().remove("json_bytes");
        if let Some(schema) = report.get_mut("schema") {
            schema.as_object_mut().unwrap().remove("json_bytes");
        }
        report
    };
    let expected = strip(json(&dwell(&["shape", &folders[0], "--format", "json"]).output().unwrap()));
    for folder in &folders[1..] {
        let report = json(&dwell(&["shape", folder, "--format", "json"]).output().unwrap());
        assert_eq!(strip(report), expected, "{folder}");
    }
    for text in [&lines, &marked, &texts.concat().into_bytes()] {
        let output = stdin(&["shape", "--format", "json", "-"], text);
        assert_eq!(strip(json(&output)), expected);
    }
    let pretty = "{\n \"a\": [1,\n 2]\n}\n";
    assert_eq!(documents(&stdin(&["shape", "--format", "json", "-"], pretty.as_bytes())), 1);
}

#[test]
fn a_file_that_is_named_is_read_whatever_its_name() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("data.geojson");
    fs::write(&file, "{\"a\":1}").unwrap();
    assert_eq!(documents(&dwell(&["shape", "--format", "json", file.to_str().unwrap()]).output().unwrap()), 1);
    // Twice is once.
    let (file, dir) = (file.to_str().unwrap(), dir.path().to_str().unwrap());
    fs::write(dir.to_owned() + "/b.json", "{\"a\":1}").unwrap();
    let args = ["shape", "--format", "json", file, dir, file];
    assert_eq!(documents(&dwell(&args).output().unwrap()), 2);
    // In two spellings too.
    let args = ["shape", "--format", "json", "b.json", "./b.json", dir, "."];
    assert_eq!(documents(&dwell(&args).current_dir(dir).output().unwrap()), 1);
}

#[cfg(unix)]
#[test]
fn a_name_that_is_no_utf8_is_read_as_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.json"), "{\"a\":1}").unwrap();
    let odd = dir.path().join(std::ffi::OsStr::from_bytes(b"odd \xFF.json"));
    if fs::write(&odd, "{\"a\":2}").is_err() {
        eprintln!("not tested: this file system takes UTF-8 only");
        return;
    }
    assert_eq!(documents(&dwell(&["shape", "--format", "json"]).arg(dir.path()).output().unwrap()), 2);
    assert_eq!(documents(&dwell(&["shape", "--format", "json"]).arg(&odd).output().unwrap()), 1);
}

#[test]
fn the_word_that_cargo_adds_is_tolerated() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.json"), "[1]").unwrap();
    let path = dir.path().to_str().unwrap();
    let plain = dwell(&["shape", path]).output().unwrap();
    let cargo = dwell(&["dwell", "shape", path]).output().unwrap();
    assert_eq!(plain.stdout, cargo.stdout);
    assert_eq!(plain.status.code(), Some(0));
}

#[test]
fn wrong_usage_is_told_with_exit_code_2() {
    for args in [
        &[][..],
        &["shapes"],
        &["shape", "--top", "many"],
        &["shape", "--format", "xml"],
        &["shape", "--min-saving", "1 elephant"],
        &["shape", "--sample", "0"],
        &["shape", "--threads", "0"],
    ] {
        let output = dwell(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty());
    }
    for args in [&["--help"][..], &["--version"], &["shape", "--help"]] {
        assert_eq!(dwell(args).output().unwrap().status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn sizes_are_read_as_people_write_them() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.json"), "[1]").unwrap();
    for size in ["0", "64K", "64k", "1MiB", "1.5GB"] {
        let output = dwell(&["shape", dir.path().to_str().unwrap(), "--min-saving", size]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{size}");
    }
}

#[test]
fn without_a_path_the_sample_is_analysed_and_that_is_said() {
    let output = dwell(&["shape"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let note = "note: no path given, so this is a built-in sample of 40 service models\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), note);
    assert!(String::from_utf8_lossy(&output.stdout).contains("Traits"));
}

#[test]
fn a_sample_is_taken_evenly_and_that_is_said() {
    let dir = TempDir::new().unwrap();
    for index in 0..100 {
        fs::write(dir.path().join(format!("{index:03}.json")), format!("{{\"a\":{index}}}")).unwrap();
    }
    let path = dir.path().to_str().unwrap();
    let output = dwell(&["shape", path, "--sample", "10", "--format", "json"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "note: sampled, 10 of 100 files are read, at most 10 texts\n");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report.to_string().contains("\"documents\":10"));

    let lines = dir.path().join("lines.jsonl");
    fs::write(&lines, "{\"a\":1}\n".repeat(50)).unwrap();
    let args = ["shape", lines.to_str().unwrap(), "--sample", "7", "--format", "json"];
    let report: serde_json::Value = serde_json::from_slice(&dwell(&args).output().unwrap().stdout).unwrap();
    assert!(report.to_string().contains("\"documents\":7"));
}

#[test]
fn nothing_is_overwritten_without_force() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.json"), "[1]").unwrap();
    let types = dir.path().join("types.rs");
    fs::write(&types, "precious").unwrap();
    let args = ["shape", dir.path().to_str().unwrap(), "--rust", types.to_str().unwrap()];
    let output = dwell(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = format!("error: {}: exists already; --force overwrites it\n", types.display());
    assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
    assert_eq!(fs::read_to_string(&types).unwrap(), "precious");
}

#[test]
fn types_that_cannot_be_written_are_refused_before_anything_is_read() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("a.json"), "[1]").unwrap();
    for (target, what) in [
        (path("no/such/types.rs"), format!("there is no folder {}; make it first", path("no/such"))),
        (path("a.json/types.rs"), format!("there is no folder {}; make it first", path("a.json"))),
        (path("."), "is a folder; name a file in it".to_owned()),
        ("--rust -".to_owned(), "standard output has the report; name a file".to_owned()),
    ] {
        let named = target.strip_prefix("--rust ").unwrap_or(&target);
        for force in [&[][..], &["--force"]] {
            // Would be complained of if it were looked for.
            let args = ["shape", "missing", "--rust", named];
            let output = dwell(&args).args(force).current_dir(dir.path()).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: {target}: {what}\n"));
            assert_eq!(output.status.code(), Some(2));
        }
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was written");
}

#[test]
fn the_report_is_not_lost_with_types_that_cannot_be_written() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.json"), "[1]").unwrap();
    // Too long for a name.
    let types = dir.path().join("x".repeat(5000));
    let output = dwell(&["shape", dir.path().to_str().unwrap(), "--rust"]).arg(&types).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let expected = format!("error: {}: cannot be written: ", types.display());
    assert!(errors.starts_with(&expected) && errors.lines().count() == 1, "{errors}");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 JSON document"));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = dwell(&["shape"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!errors.contains("panicked") && !errors.contains("error"), "{errors}");
}

#[test]
fn unrelated_files_are_noticed() {
    let dir = TempDir::new().unwrap();
    let write = |kinds: usize| {
        for file in 0..12 {
            let kind = file % kinds;
            let fields: Vec<String> = (0..6).map(|field| format!("\"k{kind}f{field}\":{{\"v{kind}\":1}}")).collect();
            fs::write(dir.path().join(format!("{file}.json")), format!("{{{}}}", fields.join(","))).unwrap();
        }
        let output = dwell(&["shape", dir.path().to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).unwrap()
    };
    let note = "note: the files seem to hold unrelated data; types are better for one kind of file at a time\n";
    assert_eq!(write(4), note);
    assert_eq!(write(1), "");
}
