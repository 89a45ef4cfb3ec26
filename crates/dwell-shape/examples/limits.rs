//! What `cargo dwell shape` takes for input that is made to be hard: CPU and memory of reading, and CPU of planning.
//!
//! `cargo run --release -p dwell-shape --example limits [-- CASE MEGABYTES]`; without a case it runs all, each at two sizes.

use dwell_shape::input;
use dwell_shape::plan::Plan;
use dwell_shape::report::{Format, Options};
use fastrand::Rng;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// CPU time of this process so far, user and system, in seconds.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

fn key(rng: &mut Rng) -> String {
    (0..8).map(|_| rng.alphanumeric()).collect()
}

/// Objects within objects, no key of which comes twice.
fn unlike(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        return format!("{{\"{}\":1}}", key(rng));
    }
    let entries: Vec<String> = (0..4).map(|_| format!("\"{}\":{}", key(rng), unlike(rng, depth - 1))).collect();
    format!("{{{}}}", entries.join(","))
}

/// A syntax tree: a tag, and children under different keys.
fn tree(rng: &mut Rng, depth: u32) -> String {
    let kind = rng.u32(0..40);
    if depth == 0 {
        return format!("{{\"type\":\"Leaf{kind}\",\"value{kind}\":{}}}", rng.u32(..));
    }
    let children: Vec<String> =
        (0..3).map(|child| format!("\"child{kind}_{child}\":{}", tree(rng, depth - 1))).collect();
    format!("{{\"type\":\"Node{kind}\",{}}}", children.join(","))
}

/// Records of fifty fields of which each object has some; there are 400 records.
fn wide(rng: &mut Rng) -> String {
    let mut text = String::from("{");
    for record in 0..400 {
        if rng.u32(0..4) > 0 {
            continue;
        }
        let _ = write!(
            text,
            "{}\"record{record}\":{{\"id{record}\":{}",
            if text.len() > 1 { "," } else { "" },
            rng.u32(..)
        );
        for field in 0..49 {
            if rng.u32(0..3) == 0 {
                let _ = match field % 3 {
                    0 => write!(text, ",\"f{record}_{field}\":{}", rng.u32(..)),
                    1 => write!(text, ",\"f{record}_{field}\":\"{}\"", key(rng)),
                    _ => write!(text, ",\"f{record}_{field}\":[{}]", rng.u32(..)),
                };
            }
        }
        text.push('}');
    }
    text + "}"
}

/// An object with the keys of all paths, whose values are too different for a map.
fn paths() -> String {
    let values = ["null", "1", "\"a\"", "[]"];
    let entries: Vec<String> = (0..700).map(|path| format!("\"path{path}\":{}", values[path % 4])).collect();
    format!("{{{}}}", entries.join(","))
}

/// Tagged unions at 300 paths, each with 250 variants that have eight keys of their own.
fn variants(rng: &mut Rng) -> String {
    let (path, tag) = (rng.u32(0..300), rng.u32(0..250));
    let mut text = format!("{{\"path{path}\":{{\"type\":\"t{path}_{tag}\"");
    for key in 0..8 {
        let value = ["1", "\"a\"", "[1]", "true"][key % 4];
        let _ = write!(text, ",\"k{path}_{tag}_{key}\":{value}");
    }
    text + "}}"
}

/// Objects at 300 paths with twelve keys that may be a tag, and forty of 200 other keys.
fn candidates(rng: &mut Rng) -> String {
    let path = rng.u32(0..300);
    let mut text = format!("{{\"path{path}\":{{\"z\":0");
    for tag in 0..12 {
        let _ = write!(text, ",\"tag{tag}\":\"v{}\"", rng.u32(0..200));
    }
    let first = rng.u32(0..200);
    for key in 0..40 {
        let _ = write!(text, ",\"f{path}_{}\":[1]", (first + key * 5) % 200);
    }
    text + "}}"
}

/// Strings that are nearly all different, in 90 fields each of 700 records.
fn texts(rng: &mut Rng) -> String {
    let path = rng.u32(0..700);
    let mut text = format!("{{\"path{path}\":{{\"id\":1");
    for field in 0..90 {
        let value = format!("\"{}{}\"", "x".repeat(30), key(rng));
        let _ = match field % 4 {
            0 => write!(text, ",\"f{path}_{field}\":[{value}]"),
            1 => write!(text, ",\"f{path}_{field}\":true"),
            2 => write!(text, ",\"f{path}_{field}\":{{\"q{path}_{field}\":{value}}}"),
            _ => write!(text, ",\"f{path}_{field}\":{value}"),
        };
    }
    text + "}}"
}

/// Lists in lists, with objects of their own.
fn lists(rng: &mut Rng) -> String {
    fn list(name: &str, depth: u32) -> String {
        if depth == 0 {
            return format!("{{\"x{name}\":1}}");
        }
        let inner: Vec<String> = (0..3).map(|index| list(&format!("{name}{index}"), depth - 1)).collect();
        format!("[{}]", inner.join(","))
    }
    let path = rng.u32(0..700);
    format!("{{\"path{path}\":{}}}", list(&format!("{path}_"), 5))
}

/// One record, over and over.
fn alike(rng: &mut Rng) -> String {
    format!(
        "{{\"id\":{},\"name\":\"{}\",\"tags\":[\"a\",\"b\"],\"at\":{{\"x\":{},\"y\":1.5}}}}",
        rng.u32(..),
        key(rng),
        rng.u8(..)
    )
}

/// Strings that are all different, and keys of one map that are.
fn keys(rng: &mut Rng) -> String {
    format!("{{\"map\":{{\"{}\":\"{}\",\"{}\":1}}}}", key(rng), key(rng), key(rng))
}

/// Writes a line for each text until there are so many bytes.
fn generate(case: &str, most: u64, path: &Path) -> std::io::Result<u64> {
    let mut rng = Rng::with_seed(1);
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut bytes = 0;
    if ["candidates", "lists", "texts", "variants"].contains(&case) {
        for _ in 0..3 {
            writeln!(file, "{}", paths())?;
        }
    }
    while bytes < most {
        let text = match case {
            "alike" => alike(&mut rng),
            "candidates" => candidates(&mut rng),
            "keys" => keys(&mut rng),
            "lists" => lists(&mut rng),
            "texts" => texts(&mut rng),
            "tree" => tree(&mut rng, 7),
            "unlike" => unlike(&mut rng, 6),
            "variants" => variants(&mut rng),
            "wide" => wide(&mut rng),
            other => panic!("{other}: none of {CASES:?}"),
        };
        writeln!(file, "{text}")?;
        bytes += text.len() as u64 + 1;
    }
    file.flush()?;
    Ok(bytes)
}

const CASES: [&str; 9] = ["alike", "candidates", "keys", "lists", "texts", "tree", "unlike", "variants", "wide"];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(case) = arguments.next() else {
        println!(
            "| input | JSON | CPU of reading | a megabyte | CPU of planning | CPU of the report | fields | resident at most |"
        );
        println!("|---|--:|--:|--:|--:|--:|--:|--:|");
        for case in CASES {
            for megabytes in ["32", "64"] {
                let own = std::env::current_exe().expect("a path");
                let status = std::process::Command::new(own).args([case, megabytes]).status().expect("it runs");
                assert!(status.success(), "{case} fails");
            }
        }
        return;
    };
    let megabytes: u64 = arguments.next().and_then(|text| text.parse().ok()).expect("megabytes");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lines.jsonl");
    let bytes = generate(&case, megabytes << 20, &path).expect("a file");
    let found = input::find(&[path]);
    let start = cpu();
    let options = input::Options { threads: 1, ..Default::default() };
    let schema = input::read(&found, &options, &|_| {}).accumulator.finish();
    let reading = cpu() - start;
    let fields: usize = schema.records.iter().map(|record| record.fields.len()).sum();
    let start = cpu();
    let plan = Plan::new(&schema);
    let planning = cpu() - start;
    let start = cpu();
    let mut report = Vec::new();
    plan.write(Format::Json, &Options::default(), &mut report).expect("memory takes it");
    let reporting = cpu() - start;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let peak = peak.trim().trim_end_matches(" kB").parse::<f64>().map_or(f64::NAN, |kilobytes| kilobytes / 1024.0);
    println!(
        "| {case} | {:.1} MB | {reading:.2} s | {:.3} s | {planning:.2} s | {reporting:.2} s | {fields} | {peak:.0} MB |",
        bytes as f64 / 1e6,
        reading / (bytes as f64 / 1e6),
    );
}
