//! End-to-end tests of the command line: input forms, options, exit codes, and messages.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn dwell(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
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

/// Returns the number of documents in a JSON report.
fn documents(output: &Output) -> u64 {
    let report = json(output);
    let documents = report.get("documents").or_else(|| report.pointer("/schema/documents"));
    documents.and_then(serde_json::Value::as_u64).expect("a number of documents")
}

#[test]
fn all_input_forms_give_the_same_report() {
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
    let broken = texts.map(|text| text.replace("{\"", "{\n\"").replace(',', ",\n"));
    let folders = [
        folder("json", &[("1.json", texts[0].into()), ("2.json", texts[1].into()), ("3.JSON", texts[2].into())]),
        folder("jsonl", &[("a.jsonl", lines.clone()), ("b.txt", b"no JSON".to_vec())]),
        folder("windows", &[("a.ndjson", texts.join("\r\n\r\n").into_bytes())]),
        folder("marked", &[("a.jsonl", marked.clone())]),
        folder("zipped", &[("a.ndjson.gz", zip(&lines))]),
        // As `jq --seq` and `jq` write them.
        folder(
            "sequence",
            &[("a.jsonl", broken.each_ref().map(|text| format!("\u{1e}{text}\n")).concat().into_bytes())],
        ),
        folder("broken", &[("a.ndjson", broken.join("\n").into_bytes())]),
        folder("both", &[("1.json.gz", zip(texts[0].as_bytes())), ("2.jsonl", texts[1..].join("\n").into_bytes())]),
    ];
    // Removes the number of bytes, which differs between the forms.
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
fn explicitly_named_file_is_read_despite_its_extension() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("data.md");
    fs::write(&file, "{\"a\":1}").unwrap();
    assert_eq!(documents(&dwell(&["shape", "--format", "json", file.to_str().unwrap()]).output().unwrap()), 1);
    // A file given twice is read once.
    let (file, dir) = (file.to_str().unwrap(), dir.path().to_str().unwrap());
    fs::write(dir.to_owned() + "/b.json", "{\"a\":1}").unwrap();
    let args = ["shape", "--format", "json", file, dir, file];
    assert_eq!(documents(&dwell(&args).output().unwrap()), 2);
    // Also if its path is spelled in two ways.
    let args = ["shape", "--format", "json", "b.json", "./b.json", dir, "."];
    assert_eq!(documents(&dwell(&args).current_dir(dir).output().unwrap()), 1);
    // In a folder, a file with another name is read if it begins as JSON.
    for (name, text) in
        [("a.sarif", "{\"version\": 1}"), ("b.webmanifest", "\u{FEFF}[{}]"), ("c.ini", "[part]\na=1"), ("d.cfg", "{a}")]
    {
        fs::write(format!("{dir}/{name}"), text).unwrap();
    }
    assert_eq!(documents(&dwell(&["shape", "--format", "json", dir]).output().unwrap()), 3);
}

#[test]
fn piped_data_is_read_without_a_path() {
    assert_eq!(documents(&stdin(&["shape", "--format", "json"], b"{\"a\":1}\n{\"a\":2}\n")), 2);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, b"{\"a\":1}").unwrap();
    assert_eq!(documents(&stdin(&["shape", "--format", "json"], &packed.finish().unwrap())), 1);
    // Nothing is piped in: the sample.
    let sample = dwell(&["shape", "--format", "json"]).stdin(std::process::Stdio::null()).output().unwrap();
    assert!(String::from_utf8_lossy(&sample.stderr).contains("using a built-in sample"), "{sample:?}");
}

#[cfg(unix)]
#[test]
fn non_utf8_file_name_is_accepted() {
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
fn first_word_may_be_that_of_cargo_dwell() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.json"), "[1]").unwrap();
    let path = dir.path().to_str().unwrap();
    let plain = dwell(&[path]).output().unwrap();
    let worded = dwell(&["shape", path]).output().unwrap();
    assert_eq!(plain.stdout, worded.stdout);
    assert_eq!(plain.status.code(), Some(0));
    assert_eq!(dwell(&["shape", "shape"]).output().unwrap().status.code(), Some(2), "there is no such path");
}

#[test]
fn other_commands_are_said_to_be_elsewhere() {
    let output = dwell(&["census", "--pid", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("-p cargo-dwell -- census"));
}

#[test]
fn wrong_usage_exits_with_code_2() {
    for args in [
        &["shape", "--shapes"][..],
        &["shape", "--top", "many"],
        &["shape", "--format", "xml"],
        &["shape", "--sample", "0"],
        &["shape", "--set", "@"],
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
fn built_in_sample_is_analysed_without_a_path() {
    let output = dwell(&["shape"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let note = "note: no path given; using a built-in sample of 40 service models\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), note);
    assert!(String::from_utf8_lossy(&output.stdout).contains("Traits"));
}

#[test]
fn sample_option_limits_documents_and_prints_a_note() {
    let dir = TempDir::new().unwrap();
    for index in 0..100 {
        fs::write(dir.path().join(format!("{index:03}.json")), format!("{{\"a\":{index}}}")).unwrap();
    }
    let path = dir.path().to_str().unwrap();
    let output = dwell(&["shape", path, "--sample", "10", "--format", "json"]).output().unwrap();
    let note = "note: sample: reading 10 of 100 files, at most 1 document of each\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), note);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report.to_string().contains("\"documents\":10"));

    let lines = dir.path().join("lines.jsonl");
    fs::write(&lines, "{\"a\":1}\n".repeat(50)).unwrap();
    let args = ["shape", lines.to_str().unwrap(), "--sample", "7", "--format", "json"];
    let report: serde_json::Value = serde_json::from_slice(&dwell(&args).output().unwrap().stdout).unwrap();
    assert!(report.to_string().contains("\"documents\":7"));
}

#[test]
fn json_extensions_are_found_and_json_lines_detected() {
    let dir = TempDir::new().unwrap();
    for ending in ["geojson", "topojson", "ipynb", "har", "jsonld", "json"] {
        fs::write(dir.path().join(format!("a.{ending}")), "{\"a\":1}").unwrap();
    }
    fs::write(dir.path().join("lines.json"), "{\"a\":1}\n{\"a\":2}\n").unwrap();
    let zstd = ruzstd::encoding::compress_to_vec(&b"{\"a\":3}"[..], ruzstd::encoding::CompressionLevel::Fastest);
    fs::write(dir.path().join("zipped.json.zst"), &zstd).unwrap();
    // A zstd file may have several frames, as a gzip file has members.
    let more = ruzstd::encoding::compress_to_vec(&b"\n{\"a\":4}"[..], ruzstd::encoding::CompressionLevel::Fastest);
    fs::write(dir.path().join("frames.jsonl.zst"), [zstd, more].concat()).unwrap();
    let output = dwell(&["shape", "--format", "json", dir.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(documents(&output), 11);
}

#[test]
fn merging_parts_is_independent_of_order_and_grouping() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let mut rng = fastrand::Rng::with_seed(5);
    for part in 0..5 {
        fs::create_dir(path(&part.to_string())).unwrap();
        for file in 0..rng.usize(1..6) {
            let n = rng.u32(0..1000);
            let tag = ["x", "y"][rng.usize(0..2)];
            let text = format!(
                r#"{{"id":{n},"kind":"{tag}","tags":["t{}"],"by":{{"{n}":{{"v":{n}}},"k{part}":{{"v":1}}}},"{tag}":[{n}.5]}}"#,
                n % 7
            );
            fs::write(path(&format!("{part}/{file}.json")), text).unwrap();
        }
    }
    let run = |args: &[&str]| {
        let output = dwell(args).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
        output.stdout
    };
    let parts: Vec<String> = (0..5).map(|part| path(&format!("{part}.part"))).collect();
    for (part, file) in parts.iter().enumerate() {
        run(&["shape", &path(&part.to_string()), "--save", file]);
    }
    let merged = |files: &[String]| {
        let mut args = vec!["shape", "--format", "json"];
        args.extend(files.iter().map(String::as_str));
        run(&args)
    };
    let all = merged(&parts);
    let report: serde_json::Value = serde_json::from_slice(&all).unwrap();
    let whole: Vec<String> = (0..5).map(|part| path(&part.to_string())).collect();
    let mut args = vec!["shape", "--format", "json"];
    args.extend(whole.iter().map(String::as_str));
    let at_once: serde_json::Value = serde_json::from_slice(&run(&args)).unwrap();
    assert_eq!(report["documents"], at_once["documents"]);
    assert_eq!(report["json_bytes"], at_once["json_bytes"]);
    for round in 0..4 {
        let mut left = parts.clone();
        rng.shuffle(&mut left);
        let right = left.split_off(rng.usize(1..5));
        let mut joined = Vec::new();
        for (side, files) in [left, right].into_iter().enumerate() {
            let file = path(&format!("{round}.{side}.part"));
            let mut args = vec!["shape", "--save", &file];
            args.extend(files.iter().map(String::as_str));
            run(&args);
            joined.push(file);
        }
        rng.shuffle(&mut joined);
        assert!(merged(&joined) == all, "round {round}");
    }
    // A file that is not a part is an error.
    let part = fs::read(path("0.part")).unwrap();
    for (bytes, what) in [
        (&b"{}"[..], "is not a part file; --save writes part files"),
        (b"dwell shape part 2\n", "was written by another version of cargo dwell; create it again with --save"),
        (&part[..part.len() - 1], "ends too early; is the file complete?"),
    ] {
        fs::write(path("no.part"), bytes).unwrap();
        let output = dwell(&["shape", &path("0.part"), &path("no.part")]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: {}: {what}\n", path("no.part")));
    }
}

/// A document with a recursive union, maps, optional keys, and arrays of one length, in an order of keys that varies.
fn document(rng: &mut fastrand::Rng) -> String {
    fn expression(rng: &mut fastrand::Rng, depth: u32) -> String {
        match rng.u32(0..if depth == 0 { 2 } else { 5 }) {
            0 => format!(r#"{{"kind":"number","value":{}}}"#, rng.i32(-9..99)),
            1 => format!(r#"{{"name":"n{}","kind":"name"}}"#, rng.u32(0..40)),
            2 => format!(r#"{{"kind":"not","of":{}}}"#, expression(rng, depth - 1)),
            3 => {
                let (left, right) = (expression(rng, depth - 1), expression(rng, depth - 1));
                format!(r#"{{"right":{right},"kind":"add","left":{left},"at":[{}.5,1]}}"#, rng.u32(0..9))
            }
            _ => {
                let arguments: Vec<String> = (0..rng.usize(0..4)).map(|_| expression(rng, depth - 1)).collect();
                format!(r#"{{"kind":"call","arguments":[{}]}}"#, arguments.join(","))
            }
        }
    }
    let mut fields = vec![format!(r#""id":{}"#, rng.u32(0..1000)), format!(r#""body":{}"#, expression(rng, 4))];
    if rng.bool() {
        let entry = |rng: &mut fastrand::Rng| format!(r#""k{}":{{"x":{},"unit":"m"}}"#, rng.u32(..), rng.u32(0..9));
        let entries: Vec<String> = (0..rng.usize(0..9)).map(|_| entry(rng)).collect();
        fields.push(format!(r#""by":{{{}}}"#, entries.join(",")));
    }
    for key in ["note", "Rare", "also"].into_iter().take(rng.usize(0..20)) {
        fields.push(format!(r#""{key}":{}"#, ["null", "true", "\"text\"", "[]", "3"][rng.usize(0..5)]));
    }
    rng.shuffle(&mut fields);
    format!("{{{}}}", fields.join(","))
}

#[test]
fn parts_read_by_one_form_give_the_output_of_one_run() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let run = |args: &[&str]| {
        let output = dwell(args).output().unwrap();
        assert_eq!((String::from_utf8_lossy(&output.stderr), output.status.code()), ("".into(), Some(0)));
        output.stdout
    };
    let mut rng = fastrand::Rng::with_seed(11);
    let files: Vec<String> = (0..120).map(|file| path(&format!("{file}.json"))).collect();
    for file in &files {
        fs::write(file, document(&mut rng)).unwrap();
    }
    let (form, types) = (path("corpus.form"), path("types.rs"));
    let report = |args: &[&str]| {
        let output = run(&[&["shape", "--format", "json", "--rust", &types, "--force"][..], args].concat());
        (String::from_utf8(output).unwrap(), fs::read_to_string(&types).unwrap())
    };
    // The form of a sixth of the files, or of all.
    for studied in [20, 120] {
        let studied: Vec<&str> = files[..studied].iter().map(String::as_str).collect();
        let _ = fs::remove_file(&form);
        assert_eq!(run(&[&["shape", "--form", &form][..], &studied].concat()), b"");
        let all: Vec<&str> = files.iter().map(String::as_str).collect();
        let whole = report(&[&["--form", &form][..], &all].concat());
        for round in 0..4 {
            let mut parts = vec![Vec::new(); rng.usize(2..6)];
            for file in &files {
                let part = rng.usize(0..parts.len());
                parts[part].push(file.as_str());
            }
            let mut saved = Vec::new();
            for (part, files) in parts.iter().enumerate().filter(|(_, files)| !files.is_empty()) {
                saved.push(path(&format!("{part}.part")));
                run(&[&["shape", "--form", &form, "--force", "--save", &saved[saved.len() - 1]][..], files].concat());
            }
            rng.shuffle(&mut saved);
            let saved: Vec<&str> = saved.iter().map(String::as_str).collect();
            assert!(report(&saved) == whole, "{} studied, round {round}", studied.len());
        }
    }
    for (bytes, what) in [
        (&b"{}"[..], "is not a form file; --form writes form files"),
        (b"dwell shape form 1\n", "was written by another version of cargo dwell; create it again with --form"),
        (&fs::read(&form).unwrap()[..99], "is not a form file"),
    ] {
        fs::write(path("no.form"), bytes).unwrap();
        let output = dwell(&["shape", "--form", &path("no.form"), &files[0]]).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.starts_with(&format!("error: {}: {what}", path("no.form"))), "{error}");
        assert_eq!((error.lines().count(), output.status.code()), (1, Some(2)));
    }
    // A part is not read without the form of the others.
    let output =
        dwell(&["shape", "--form", &path("new.form"), "--save", &path("new.part"), &files[0]]).output().unwrap();
    let error = format!("error: {}: cannot be read: No such file or directory (os error 2)\n", path("new.form"));
    assert_eq!((String::from_utf8_lossy(&output.stderr), output.status.code()), (error.into(), Some(2)));
    let output = dwell(&["shape", "--form", &path("new.form"), &path("none.json")]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!std::path::Path::new(&path("new.form")).exists());
}

#[test]
fn types_option_selects_the_written_sets() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("a.jsonl"), "{\"a\":\"x\",\"b\":{\"1\":1,\"2\":2,\"3\":3}}\n".repeat(3)).unwrap();
    for (set, has, has_not) in [
        ("both", "pub mod lean", "pub mod std_only"),
        ("lean", "pub mod lean", "pub mod naive"),
        ("std", "pub mod std_only", "dwell::"),
        ("naive", "pub mod naive", "pub mod lean"),
    ] {
        let file = path(set);
        let output = dwell(&["shape", &path("a.jsonl"), "--types", set, "--rust", &file]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let source = fs::read_to_string(file).unwrap();
        assert!(source.contains(has) && !source.contains(has_not), "{set}: {source}");
    }
}

#[test]
fn strict_and_unknown_keys_options_control_refusal() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let lines = "{\"color\":\"red\"}\n{\"color\":\"green\"}\n".repeat(200);
    // One string occurs only once.
    fs::write(path("a.jsonl"), lines + "{\"color\":\"blue\"}\n").unwrap();
    let written = |more: &[&str]| {
        let file = path("types.rs");
        let lines = path("a.jsonl");
        let args = [&["shape", &lines, "--rust", &file, "--force"], more].concat();
        let output = dwell(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        (fs::read_to_string(file).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (_, held) = written(&["--held-out", "5"]);
    assert!(held.contains(" 0 (0 %) failed to load"), "{held}");
    assert!(written(&["--strict"]).0.contains("deny_unknown_fields"));
    assert!(!written(&["--strict", "--unknown-keys", "ignore"]).0.contains("deny_unknown_fields"));
    assert!(written(&["--unknown-keys", "keep"]).0.contains("#[serde(flatten)]"));
}

#[test]
fn held_out_with_too_few_documents_prints_a_note_and_the_report() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.json"), "{\"a\":1}").unwrap();
    let output = dwell(&["shape", dir.path().to_str().unwrap(), "--held-out", "2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let note = String::from_utf8(output.stderr).unwrap();
    assert_eq!(note, "held out: not run; it needs at least five documents (found 1)\n");
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("1 JSON document"));
}

#[test]
fn existing_file_is_not_overwritten_without_force() {
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
fn unwritable_rust_path_is_refused_before_reading_input() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("a.json"), "[1]").unwrap();
    for (target, what) in [
        (path("no/such/types.rs"), format!("the folder {} does not exist; create it first", path("no/such"))),
        (path("a.json/types.rs"), format!("the folder {} does not exist; create it first", path("a.json"))),
        (path("."), "is a folder; name a file in it".to_owned()),
        ("--rust -".to_owned(), "standard output is used for the report; pass a file name".to_owned()),
    ] {
        let named = target.strip_prefix("--rust ").unwrap_or(&target);
        for force in [&[][..], &["--force"]] {
            // The input does not exist, which the command would report if it read the input first.
            let args = ["shape", "missing", "--rust", named];
            let output = dwell(&args).args(force).current_dir(dir.path()).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: {target}: {what}\n"));
            assert_eq!(output.status.code(), Some(2));
        }
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was written");
}

#[test]
fn report_is_printed_although_types_cannot_be_written() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.json"), "[1]").unwrap();
    // A file name longer than any file system allows.
    let types = dir.path().join("x".repeat(5000));
    let output = dwell(&["shape", dir.path().to_str().unwrap(), "--rust"]).arg(&types).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let expected = format!("error: {}: cannot be written: ", types.display());
    assert!(errors.starts_with(&expected) && errors.lines().count() == 1, "{errors}");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 JSON document"));
}

#[test]
fn closed_pipe_is_not_an_error() {
    let mut child = dwell(&["shape"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!errors.contains("panicked") && !errors.contains("error"), "{errors}");
}

#[test]
fn unrelated_files_print_a_note() {
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
    let note = "note: the files seem to contain unrelated data; run the command for one kind of file at a time\n";
    assert_eq!(write(4), note);
    assert_eq!(write(1), "");
}

#[test]
fn other_formats_are_read_by_their_endings() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.yaml"), "id: 1\ntags: [x, y]\n---\nid: 2\ntags: []\n").unwrap();
    fs::write(path("b.toml"), "id = 3\ntags = [\"z\"]\n").unwrap();
    let run = |args: &[&str]| dwell(args).output().unwrap();
    let path_of = |name: &str| path(name).to_str().unwrap().to_owned();
    let all = folder.path().to_str().unwrap();
    assert_eq!(documents(&run(&[all, "--format", "json"])), 3);
    // Beside JSON they are no data, unless they are named.
    fs::write(path("c.json"), "{\"id\":4,\"tags\":[]}").unwrap();
    assert_eq!(documents(&run(&[all, "--format", "json"])), 1);
    assert_eq!(documents(&run(&[all, &path_of("a.yaml"), "--format", "json"])), 3);
    fs::write(path("d.csv"), "a,b\n1\n").unwrap();
    let bad = run(&[&path_of("d.csv")]);
    let errors = String::from_utf8_lossy(&bad.stderr);
    assert!(bad.status.code() == Some(2) && errors.contains("d.csv: cannot be read: CSV error: "), "{errors}");
}
