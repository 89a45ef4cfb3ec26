//! Applies the suggestions of `weigh` in order, and measures each step.
//!
//! ```text
//! cargo run --release -p dwell --features advice,derive,serde --example follow -- smithy DIR     # a folder of Smithy models
//! cargo run --release -p dwell --features advice,derive,serde --example follow -- openapi PATH   # `OpenAPI` descriptions in JSON
//! cargo run --release -p dwell --features advice,derive,serde --example follow -- rustdoc PATH   # rustdoc's JSON
//! ```
//!
//! The types are those of the example `smithy`, and of the packages `openapiv3` and `rustdoc-types`, whose source cargo
//! downloads. The program writes a package to `target/follow`. At first the package has only the original types and
//! prints the suggestions. Then it has one more copy of the types for each suggestion, changed exactly as the
//! [patch](dwell::weigh::Suggestion::patch) of the suggestion says. The program loads the documents into each copy, and
//! prints the prediction of each suggestion beside the measurement of a counting allocator. With `--last` at the end of
//! the command it measures only the original types and those after all suggestions, which compiles in a tenth of the
//! time.

mod apply;
mod convert;
mod package;

use apply::Source;
use package::Package;
use serde_json::Value;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The programs, and the fraction of their bytes that remains after changing the types by hand.
const PROGRAMS: [(&str, f64); 3] = [("smithy", 37.2 / 57.5), ("openapi", 14.4 / 30.9), ("rustdoc", 31.9 / 73.7)];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(data)) = (arguments.next(), arguments.next()) else {
        return Err("which program, and which documents? `smithy DIR`, `openapi PATH` or `rustdoc PATH`".into());
    };
    let Some(&(name, by_hand)) = PROGRAMS.iter().find(|(known, _)| *known == name) else {
        return Err(format!("no program `{name}`: there are `smithy`, `openapi` and `rustdoc`").into());
    };
    let data = PathBuf::from(&data).canonicalize().map_err(|error| format!("{data}: {error}"))?;
    let package = Package::create(name, &data)?;
    let mut sources = vec![package.source()?];
    let said = package.run(&sources, "advise")?;
    let advice: Value = serde_json::from_str(said.trim())?;
    let suggestions: Vec<&Value> = advice["suggestions"].as_array().into_iter().flatten().collect();
    // Leaves out the estimates, which come last. They depend on more than the counts, and name no types.
    let steps: Vec<&Value> =
        suggestions.into_iter().filter(|step| step["exact"] == true || step["total"] != 0).collect();
    for step in &steps {
        let mut next: Source = sources[sources.len() - 1].clone();
        next.apply(step["patch"].as_str().unwrap_or_default())?;
        sources.push(next);
    }
    let mut rows = vec![("as it is".to_owned(), advice["before"].as_u64().unwrap_or_default())];
    rows.extend(steps.iter().map(|step| {
        let word = |key: &str| step[key].as_str().unwrap_or_default();
        (format!("{}: {}", word("path"), word("to")), step["total"].as_u64().unwrap_or_default())
    }));
    let mut numbers: Vec<usize> = (0..rows.len()).collect();
    if arguments.next().is_some_and(|argument| argument == "--last") {
        numbers = vec![0, rows.len() - 1];
    }
    let sources: Vec<Source> = numbers.iter().map(|&number| sources[number].clone()).collect();
    let said = package.run(&sources, "measure")?;
    let measured: Vec<u64> = said.lines().map(|line| Ok(line.parse()?)).collect::<Result<_>>()?;
    println!("{:>4}  {:<52} {:>14} {:>14} {:>7}", "step", "change", "predicted", "measured", "off");
    let mut worst = 0.0_f64;
    for (&number, &measured) in numbers.iter().zip(&measured) {
        let (change, predicted) = &rows[number];
        let off = (*predicted as f64 / measured as f64 - 1.0) * 100.0;
        worst = worst.max(off.abs());
        println!("{number:>4}  {change:<52} {predicted:>14} {measured:>14} {off:>6.2}%");
    }
    let (first, last) = (measured[0] as f64, measured[measured.len() - 1] as f64);
    println!(
        "\n{:.1} MB are {:.1} MB, {:.3} of them; by hand {by_hand:.3}. No step is more than {worst:.2} % off.",
        first / 1e6,
        last / 1e6,
        last / first
    );
    Ok(())
}
