//! Part files: the counts of a part of a corpus, so that several machines can each read a part. Form files: the form that all
//! of them read by.
//!
//! A part file is a first line and the counts of one or more readings, each as gzipped JSON behind its length. They are
//! not added up before [`merge`], which adds them in the order of the hashes of their bytes. The result therefore does not depend on
//! the order of the files or on earlier joins.

use super::infer::{Accumulator, Blank, Form};
use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use foldhash::fast::FixedState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The start of the first line, before the version.
const PART: &str = "dwell shape part ";
const FORM: &str = "dwell shape form ";
/// The version of both formats; increase it with each change.
const VERSION: &str = "5";
/// The most bytes of the JSON of one reading. The limits of inference allow about half of it.
const MOST: u64 = 512 << 20;

/// Where the gzipped counts of one reading are in a file.
struct Counts {
    /// The hash of the bytes, by which readings are ordered.
    hash: u64,
    length: u64,
    start: u64,
}

/// Writes the counts to a part file.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn save(file: &Path, force: bool, accumulator: Accumulator) -> Result<()> {
    let zipped = zip(&accumulator.save())?;
    write(file, PART, force, |out| {
        out.write_all(&(zipped.len() as u64).to_le_bytes())?;
        out.write_all(&zipped)?;
        Ok(())
    })
}

/// Writes a form to a form file.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn save_form(file: &Path, force: bool, form: Form) -> Result<()> {
    let zipped = zip(&form.save())?;
    write(file, FORM, force, |out| Ok(out.write_all(&zipped)?))
}

/// Reads a form file.
///
/// # Errors
/// Returns an error if the file is not a form file.
pub fn form(file: &Path) -> Result<Blank> {
    let mut source = open(file, FORM)?;
    let mut zipped = Vec::new();
    source.read_to_end(&mut zipped).with_context(|| format!("{}: cannot be read", file.display()))?;
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(&zipped);
    let json = BufReader::new(GzDecoder::new(&zipped[..]).take(MOST));
    let form = Blank::restore(&mut serde_json::Deserializer::from_reader(json), hasher.finish());
    form.with_context(|| format!("{}: is not a form file", file.display()))
}

fn zip(counts: &impl serde::Serialize) -> Result<Vec<u8>> {
    let mut zipped = GzEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut zipped, counts).context("the counts cannot be written as JSON")?;
    Ok(zipped.finish()?)
}

/// Creates a file with the first line of its format and the contents that `write` writes.
fn write(file: &Path, first: &str, force: bool, write: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let mut options = File::options();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let all = |out: File| {
        let mut out = BufWriter::new(out);
        writeln!(out, "{first}{VERSION}")?;
        write(&mut out)?;
        Ok(out.flush()?)
    };
    let out = options.open(file).map_err(anyhow::Error::from);
    out.and_then(all).with_context(|| format!("{}: cannot be written", file.display()))
}

/// Opens a file, and reads the first line of its format.
fn open(file: &Path, first: &str) -> Result<BufReader<File>> {
    let name = file.display();
    let cannot = || format!("{name}: cannot be read");
    let mut source = BufReader::new(File::open(file).with_context(cannot)?);
    let mut line = Vec::new();
    source.by_ref().take(64).read_until(b'\n', &mut line).with_context(cannot)?;
    let (kind, option) = if first == PART { ("part", "--save") } else { ("form", "--form") };
    let Some(version) = line.strip_prefix(first.as_bytes()) else {
        bail!("{name}: is not a {kind} file; {option} writes {kind} files");
    };
    if version.strip_suffix(b"\n") != Some(VERSION.as_bytes()) {
        bail!("{name}: was written by another version of cargo dwell; create it again with {option}");
    }
    Ok(source)
}

/// Returns whether a file begins as a part file.
pub fn is_part(file: &Path) -> bool {
    let mut head = [0; PART.len()];
    let is_file = file.metadata().is_ok_and(|meta| meta.is_file());
    is_file && File::open(file).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == PART.as_bytes()
}

/// Finds the counts in a part file.
fn read(file: &Path) -> Result<Vec<Counts>> {
    let name = file.display();
    let cannot = || format!("{name}: cannot be read");
    let mut source = open(file, PART)?;
    let mut all = Vec::new();
    let mut start = source.stream_position().with_context(cannot)?;
    while !source.fill_buf().with_context(cannot)?.is_empty() {
        let mut length = [0; 8];
        let mut hasher = FixedState::default().build_hasher();
        let counts = source.read_exact(&mut length).and_then(|()| {
            let mut left = u64::from_le_bytes(length);
            let mut block = [0; 4096];
            while left > 0 {
                let now = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
                source.read_exact(&mut block[..now])?;
                hasher.write(&block[..now]);
                left -= now as u64;
            }
            Ok(Counts { hash: hasher.finish(), length: u64::from_le_bytes(length), start: start + 8 })
        });
        let counts = match counts {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                bail!("{name}: ends too early; is the file complete?")
            }
            counts => counts.with_context(cannot)?,
        };
        start = counts.start + counts.length;
        all.push(counts);
    }
    Ok(all)
}

impl Counts {
    /// Opens the bytes in their file.
    fn open(&self, file: &Path) -> io::Result<impl Read> {
        let mut source = File::open(file)?;
        source.seek(SeekFrom::Start(self.start))?;
        Ok(source.take(self.length))
    }
}

/// Adds up the counts of several part files. No more than two readings are in memory at a time.
///
/// # Errors
/// Returns an error if a file is not a part file.
pub fn merge(files: &[PathBuf]) -> Result<Accumulator> {
    let mut all = Vec::new();
    for file in files {
        all.extend(read(file)?.into_iter().map(|counts| (counts, file)));
    }
    all.sort_by_key(|(counts, _)| (counts.hash, counts.length));
    let mut sum: Option<Accumulator> = None;
    for (counts, file) in all {
        let one = counts.open(file).map_err(anyhow::Error::from).and_then(|zipped| {
            let json = BufReader::new(GzDecoder::new(BufReader::new(zipped)).take(MOST));
            Ok(Accumulator::restore(&mut serde_json::Deserializer::from_reader(json))?)
        });
        let one = one.with_context(|| format!("{}: is not a part file", file.display()))?;
        match &mut sum {
            Some(sum) => sum.add_part(one),
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
        all.extend(read(file)?.into_iter().map(|counts| (counts, file)));
    }
    write(out, PART, force, |out| {
        for (counts, file) in all {
            out.write_all(&counts.length.to_le_bytes())?;
            io::copy(&mut counts.open(file)?, out)?;
        }
        Ok(())
    })
}
