//! Part files: the counts of a part of a corpus, so that several machines can each read a part.
//!
//! A part file is a first line and the counts of one or more readings, each as gzipped JSON behind its length. They are
//! not added up before [`merge`], which adds them in the order of their bytes. The result therefore does not depend on
//! the order of the files or on earlier joins.

use super::infer::Accumulator;
use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

/// The start of the first line, before the version.
const FIRST: &str = "dwell shape part ";
/// The version of the format; increase it with each change.
const VERSION: &str = "3";

/// The gzipped counts of one reading.
type Counts = Vec<u8>;

/// Writes the counts to a part file.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn save(file: &Path, force: bool, accumulator: Accumulator) -> Result<()> {
    let mut zipped = GzEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut zipped, &accumulator.save()).context("the counts cannot be written as JSON")?;
    write(file, force, &[zipped.finish()?])
}

fn write(file: &Path, force: bool, all: &[Counts]) -> Result<()> {
    let mut options = File::options();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let write = |mut out: File| {
        writeln!(out, "{FIRST}{VERSION}")?;
        for counts in all {
            out.write_all(&(counts.len() as u64).to_le_bytes())?;
            out.write_all(counts)?;
        }
        io::Result::Ok(())
    };
    options.open(file).and_then(write).with_context(|| format!("{}: cannot be written", file.display()))
}

fn read(file: &Path) -> Result<Vec<Counts>> {
    let name = file.display();
    let bytes = std::fs::read(file).with_context(|| format!("{name}: cannot be read"))?;
    let Some(rest) = bytes.strip_prefix(FIRST.as_bytes()) else {
        bail!("{name}: is not a part file; --save writes part files");
    };
    let Some(mut rest) = rest.strip_prefix(VERSION.as_bytes()).and_then(|rest| rest.strip_prefix(b"\n")) else {
        bail!("{name}: was written by another version of cargo dwell; create it again with --save");
    };
    let mut all = Vec::new();
    while !rest.is_empty() {
        let counts = rest.split_first_chunk().and_then(|(length, rest)| {
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            rest.split_at_checked(length)
        });
        let Some((counts, after)) = counts else { bail!("{name}: ends too early; is the file complete?") };
        all.push(counts.to_vec());
        rest = after;
    }
    Ok(all)
}

/// Adds up the counts of several part files.
///
/// # Errors
/// Returns an error if a file is not a part file.
pub fn merge(files: &[PathBuf]) -> Result<Accumulator> {
    let mut all = Vec::new();
    for file in files {
        all.extend(read(file)?.into_iter().map(|counts| (counts, file)));
    }
    all.sort();
    let mut sum: Option<Accumulator> = None;
    for (counts, file) in all {
        let json = BufReader::new(GzDecoder::new(&*counts));
        let one = Accumulator::restore(&mut serde_json::Deserializer::from_reader(json))
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
