//! Applies the findings of `cargo dwell` to published crates, each alone, and prints a table: what was predicted, and what
//! was measured.
//!
//! ```text
//! cargo build --release -p cargo-dwell
//! cargo run --release -p cargo-dwell --example apply_crates -- [--top N] [--report census|allocs] [--json FILE] [--tool FILE] [NAME]..
//! ```
//! Each crate of `CRATES` is fetched from crates.io in its exact version into `target/apply_crates`, with a program of ours
//! (`NAME.rs` beside this file) as its example `dwell_keep`. The program's findings are those of `census` (built with the dev
//! profile: bytes are the same in all) and of `allocs` (release). The first N of each that can be applied are applied to a copy,
//! which `cargo dwell apply` makes, with the crate's own tests.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;
use std::{env, fs};

/// A crate: name, version, flags for cargo, and the program that uses it.
struct Crate {
    name: &'static str,
    version: &'static str,
    flags: &'static [&'static str],
    program: &'static str,
    arguments: &'static [&'static str],
}

macro_rules! crates {
    ($($name:literal $version:literal $flags:expr, $arguments:expr;)*) => {
        [$(Crate {
            name: $name,
            version: $version,
            flags: &$flags,
            program: include_str!(concat!($name, ".rs")),
            arguments: &$arguments,
        }),*]
    };
}

const CRATES: [Crate; 11] = crates! {
    "cargo_toml" "1.0.1" [], ["400"];
    "feed-rs" "3.0.0" [], ["200"];
    "full_moon" "3.0.0" [], ["200"];
    "kdl" "6.7.1" [], ["300"];
    "koto_parser" "0.16.1" [], ["200"];
    "mini-redis" "0.4.1" [], ["8000"];
    "openapiv3" "2.2.0" [], ["200"];
    "rhai" "1.27.0" [], ["300"];
    "sqlparser" "0.59.0" [], ["3000"];
    "tera" "1.20.1" [], ["600"];
    "unidiff" "0.4.1" [], ["400"];
};

fn main() -> Result<()> {
    let (mut top, mut json_file, mut names) = (5_usize, None, Vec::new());
    let mut tool = env::current_dir()?.join("target/release/cargo-dwell");
    let mut reports = vec!["census", "allocs"];
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--top" => top = arguments.next().and_then(|text| text.parse().ok()).context("--top takes a number")?,
            "--json" => json_file = Some(PathBuf::from(arguments.next().context("--json takes a file")?)),
            "--report" => {
                let name = arguments.next().context("--report takes a command")?;
                reports.retain(|report| *report == name);
            }
            "--tool" => tool = fs::canonicalize(arguments.next().context("--tool takes a file")?)?,
            flag if flag.starts_with("--") => bail!("{flag}: unknown; see the first lines of this example"),
            name => names.push(name.to_owned()),
        }
    }
    if let Some(name) = names.iter().find(|name| !CRATES.iter().any(|known| known.name == **name)) {
        bail!("{name}: is none of the crates: {}", CRATES.map(|known| known.name).join(", "));
    }
    if !tool.exists() {
        bail!("{}: is not built; run `cargo build --release -p cargo-dwell`", tool.display());
    }
    let mut rows = Vec::new();
    for krate in CRATES.iter().filter(|krate| names.is_empty() || names.iter().any(|name| name == krate.name)) {
        match try_crate(krate, &tool, top, &reports) {
            Ok(all) => rows.extend(all),
            Err(error) => println!("{} {}: {error:#}\n", krate.name, krate.version),
        }
    }
    if let Some(file) = json_file {
        let mut out = fs::OpenOptions::new().create(true).append(true).open(&file)?;
        for row in &rows {
            writeln!(out, "{row}")?;
        }
    }
    print_table(&rows);
    Ok(())
}

/// Applies the findings of a crate. Returns a row for each.
fn try_crate(krate: &Crate, tool: &Path, top: usize, reports: &[&str]) -> Result<Vec<Value>> {
    println!("## {} {}", krate.name, krate.version);
    let folder = fetch(krate)?;
    let mut rows = Vec::new();
    for &report in reports {
        let saved = folder.with_extension(format!("{report}.json"));
        let mut command = dwell(tool, &folder, report, krate, report);
        command.arg("--save").arg(&saved).arg("--").args(krate.arguments);
        let output = command.output().context("cargo dwell cannot be run")?;
        if !saved.exists() {
            bail!("{report}: {}", last_line(&output));
        }
        let listed = dwell(tool, &folder, "apply", krate, report).arg("--from").arg(&saved).arg("--list").output()?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        print!("{report}:\n{listed}");
        let able = listed.lines().filter_map(|line| line.split_whitespace().next()?.parse::<usize>().ok());
        for number in able.take(top) {
            let line = listed.lines().nth(number - 1).unwrap_or_default().trim().to_owned();
            rows.push(try_move(krate, tool, &folder, &saved, number, &line, report)?);
        }
    }
    println!();
    Ok(rows)
}

fn try_move(
    krate: &Crate,
    tool: &Path,
    folder: &Path,
    saved: &Path,
    number: usize,
    line: &str,
    report: &str,
) -> Result<Value> {
    let start = Instant::now();
    let library = env::current_dir()?.join("crates/dwell");
    let mut command = dwell(tool, folder, "apply", krate, report);
    command.arg("--from").arg(saved).arg(number.to_string());
    command.args(["--allow-no-vcs", "--breaking", "--dwell"]).arg(library);
    command.arg("--patch").arg(folder.with_extension(format!("{report}-{number}.patch")));
    command.arg("--").args(krate.arguments);
    let output = command.output().context("cargo dwell cannot be run")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{text}{}", String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default());
    let find = |start: &str| text.lines().map(str::trim).find(|line| line.starts_with(start)).unwrap_or_default();
    let verdict = match output.status.code() {
        Some(0) if text.contains("left to a person") => "applied in part",
        Some(0) => "applied",
        Some(1) if text.contains("does not compile") => "left to a person",
        Some(1) if text.contains("not as before") => "tests differ",
        Some(1) => "does not pay",
        _ => "refused",
    };
    Ok(json!({
        "crate": format!("{} {}", krate.name, krate.version), "report": report, "finding": line, "verdict": verdict,
        "compiles": find("compiles"), "tests": find("tests:"), "bytes": find("live bytes"), "time": find("CPU time"),
        "error": last_line(&output), "seconds": start.elapsed().as_secs(),
    }))
}

/// Returns a command of the tool for the program, with the profile of the report.
fn dwell(tool: &Path, folder: &Path, command: &str, krate: &Crate, report: &str) -> Command {
    let mut run = Command::new(tool);
    run.arg(command)
        .args(["--example", "dwell_keep"])
        .args(krate.flags)
        .current_dir(folder)
        .env_remove("CARGO_TARGET_DIR");
    run.args(if report == "census" { &["--profile", "dev"][..] } else { &["--release"] });
    run
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned()
}

/// Fetches a crate through cargo, and adds the program.
fn fetch(krate: &Crate) -> Result<PathBuf> {
    let base = env::current_dir()?.join("target/apply_crates");
    let folder = base.join(krate.name);
    if !folder.exists() {
        let probe = base.join("fetch").join(krate.name);
        fs::create_dir_all(probe.join("src"))?;
        fs::write(probe.join("src/lib.rs"), "")?;
        let manifest = format!(
            "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n{} = \"={}\"\n",
            krate.name, krate.version
        );
        fs::write(probe.join("Cargo.toml"), manifest)?;
        let output = Command::new("cargo").args(["metadata", "--format-version=1"]).current_dir(&probe).output()?;
        let metadata: Value = serde_json::from_slice(&output.stdout).with_context(|| last_line(&output))?;
        let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
        let package =
            packages.iter().find(|package| package["name"] == krate.name).context("cargo does not find it")?;
        let manifest = PathBuf::from(package["manifest_path"].as_str().context("it has no manifest")?);
        let source = manifest.parent().context("it has no folder")?;
        let copied = Command::new("cp").args(["-r", "--"]).arg(source).arg(&folder).status()?;
        if !copied.success() {
            bail!("{}: cannot be copied", source.display());
        }
    }
    fs::create_dir_all(folder.join("examples"))?;
    fs::write(folder.join("examples/dwell_keep.rs"), krate.program)?;
    let manifest = folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest)?;
    if !text.contains("[workspace]") {
        // A target without a table is found by its path only if `autoexamples` is on.
        let listed = text.replace("autoexamples = false", "autoexamples = true");
        fs::write(&manifest, format!("{listed}\n[workspace]\n"))?;
    }
    Ok(folder)
}

fn print_table(rows: &[Value]) {
    println!(
        "| crate | finding | result | compiles | tests | bytes | CPU time | s |\n|---|---|---|---|---|---|---|--:|"
    );
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().replace('|', "\\|");
    for row in rows {
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            text(row, "crate"),
            text(row, "finding"),
            text(row, "verdict"),
            text(row, "compiles"),
            text(row, "tests"),
            text(row, "bytes"),
            text(row, "time"),
            row["seconds"]
        );
    }
    let count = |verdict: &str| rows.iter().filter(|row| row["verdict"] == verdict).count();
    println!(
        "\n{} moves: {} applied, {} in part, {} do not pay, {} left to a person, {} with other tests, {} refused",
        rows.len(),
        count("applied"),
        count("applied in part"),
        count("does not pay"),
        count("left to a person"),
        count("tests differ"),
        count("refused")
    );
}
