//! The code that the examples `json_model`, `smithy`, `openapi` and `rustdoc` share. They load JSON into types as first
//! written, print the suggestions of `weigh`, load the same JSON into the changed types, and compare prediction and
//! measurement.

use dwell::Weigh;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::path::Path;
use std::{env, fs, io};

/// Runs an example. The first argument names a JSON file or a folder of JSON files; without it, the documents are
/// `generated`.
pub(crate) fn run<Before, After>(generated: impl FnOnce() -> Vec<String>) -> Result<(), Box<dyn Error>>
where
    Before: DeserializeOwned + Weigh,
    After: DeserializeOwned + Weigh,
{
    let documents = match env::args().nth(1) {
        Some(path) => read(Path::new(&path))?,
        None => generated(),
    };
    let before: Vec<Before> = parse(&documents)?;
    let advice = dwell::weigh::tree(&before).advise();
    println!("{advice}");
    if let Some(first) = advice.suggestions.first() {
        println!("The first suggestion in full:\n\n{}", first.patch());
    }
    let allocations = dwell::weigh(&before).allocations;
    drop(before);
    let after: Vec<After> = parse(&documents)?;
    // Estimates are not predicted together, so their `total` is 0.
    let more: i64 = advice.suggestions.iter().filter(|made| made.total != 0).map(|made| made.allocations).sum();
    println!(
        "predicted {} bytes in {} allocations; measured after changes by hand {}",
        advice.after,
        allocations.saturating_add_signed(more),
        dwell::weigh(&after)
    );
    Ok(())
}

fn parse<T: DeserializeOwned>(documents: &[String]) -> Result<Vec<T>, serde_json::Error> {
    let mut values = Vec::with_capacity(documents.len());
    for document in documents {
        values.push(serde_json::from_str(document)?);
    }
    Ok(values)
}

fn read(path: &Path) -> io::Result<Vec<String>> {
    if path.is_file() {
        return Ok(vec![fs::read_to_string(path)?]);
    }
    let mut files = path.read_dir()?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.iter().map(fs::read_to_string).collect()
}
