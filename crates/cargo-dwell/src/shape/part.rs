//! Part files: the counts of a part of a corpus, so that several machines can each read a part.
//!
//! A part is gzipped JSON. `merge` adds parts in the order of their contents, so the result does not depend on the
//! order of the arguments or on earlier joins.

use super::infer::Accumulator;
use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The version of the format; increase it with each change.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Header<'a> {
    dwell_shape_part: u32,
    /// The accumulators of each reading, not yet added up: [`merge`] adds them in a fixed order.
    accumulators: &'a [serde_json::Value],
}

#[derive(Deserialize)]
struct Part {
    dwell_shape_part: u32,
    accumulators: Vec<serde_json::Value>,
}

/// Writes the counts to a part file.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn save(file: &Path, force: bool, accumulator: Accumulator) -> Result<()> {
    let value = serde_json::to_value(accumulator.save()).context("the counts cannot be written as JSON")?;
    write(file, force, &[value])
}

fn write(file: &Path, force: bool, accumulators: &[serde_json::Value]) -> Result<()> {
    let mut options = File::options();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let written = options.open(file).map_err(anyhow::Error::from).and_then(|out| {
        let mut zipped = GzEncoder::new(out, Compression::fast());
        serde_json::to_writer(&mut zipped, &Header { dwell_shape_part: VERSION, accumulators })?;
        Ok(zipped.finish()?.flush()?)
    });
    written.with_context(|| format!("{}: cannot be written", file.display()))
}

fn read(file: &Path) -> Result<Vec<serde_json::Value>> {
    let name = || file.display().to_string();
    let source = File::open(file).with_context(|| format!("{}: cannot be read", name()))?;
    let mut text = Vec::new();
    let is_part = MultiGzDecoder::new(BufReader::new(source)).read_to_end(&mut text);
    let part: Part = is_part
        .map_err(anyhow::Error::from)
        .and_then(|_| Ok(serde_json::from_slice(&text)?))
        .with_context(|| format!("{}: is not a part file; --save writes part files", name()))?;
    if part.dwell_shape_part != VERSION {
        bail!("{}: was written by another version of cargo dwell; create it again with --save", name());
    }
    Ok(part.accumulators)
}

/// Adds up the counts of several part files.
///
/// # Errors
/// Returns an error if a file is not a part file.
pub fn merge(files: &[PathBuf]) -> Result<Accumulator> {
    let mut all = Vec::new();
    for file in files {
        for value in read(file)? {
            all.push((serde_json::to_string(&value)?, file));
        }
    }
    all.sort();
    let mut sum: Option<Accumulator> = None;
    for (text, file) in all {
        let one = Accumulator::restore(&mut serde_json::Deserializer::from_str(&text))
            .with_context(|| format!("{}: is not a part file", file.display()))?;
        match &mut sum {
            Some(sum) => sum.merge(one),
            sum => *sum = Some(one),
        }
    }
    sum.context("no part file was given")
}

/// Copies the contents of several parts into one file, without adding them up.
///
/// # Errors
/// Returns an error if a file is not a part file, or if the new one cannot be written.
pub fn join(files: &[PathBuf], out: &Path, force: bool) -> Result<()> {
    let mut all = Vec::new();
    for file in files {
        all.extend(read(file)?);
    }
    write(out, force, &all)
}
