//! One input: a file, a pipe or standard input, possibly compressed.

use super::other::Other;
use super::problem::Problem;
use super::text::without_comments;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The least number of bytes that the last round of the study reads to find the form of the documents, if there are as many.
pub(super) const STUDIED: u64 = 8 << 20;

/// The most bytes of a file that is held in memory: with comments, or in another format than JSON.
const HELD: u64 = 256 << 20;

/// The bytes that show whether a file with another name has JSON.
const HEAD: u64 = 4096;

/// The endings of files that are not looked into: programs, and text.
const SOURCES: [&str; 12] = ["rs", "js", "ts", "py", "md", "txt", "toml", "yaml", "yml", "lock", "html", "css"];

/// How much larger JSON is than compressed JSON, about.
const UNZIPPED: u64 = 8;

/// A file with one JSON text, or with several as JSON Lines; or standard input.
#[derive(Debug, Clone)]
pub struct Input {
    pub(super) path: PathBuf,
    pub(super) form: Format,
    pub(super) zipped: Zipped,
    pub(super) size: u64,
    /// Contents in memory: a whole text, or the beginning of a pipe or of standard input.
    pub(super) held: Option<Arc<[u8]>>,
    /// The rest of a pipe, which can be read once only.
    pub(super) rest: Option<Arc<File>>,
    /// Whether comments and trailing commas are allowed.
    pub(super) jsonc: bool,
    /// The format, if it is not JSON.
    pub(super) other: Option<Other>,
    /// The name of the type of its documents, if they are of several types.
    pub(super) root: Option<Arc<str>>,
    /// The largest number of texts to read.
    pub(super) limit: u64,
}

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zipped {
    No,
    Gzip,
    Zstd,
}

impl Zipped {
    /// Splits the ending of a compression from a file name. Returns the rest of the name, and the compression.
    pub(super) fn split(name: &str) -> (&str, Self) {
        let name_of = |ending| name.strip_suffix(ending);
        match (name_of(".gz"), name_of(".zst")) {
            (Some(name), _) => (name, Self::Gzip),
            (_, Some(name)) => (name, Self::Zstd),
            _ => (name, Self::No),
        }
    }
}

impl Zipped {
    /// Returns the compression of data that begins with these bytes.
    pub(super) fn of_bytes(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::No,
        }
    }
}

/// A decoder for concatenated zstd frames.
struct Frames<R: BufRead>(Option<StreamingDecoder<R, FrameDecoder>>);

impl<R: BufRead> Frames<R> {
    fn new(source: R) -> io::Result<Self> {
        Ok(Self(Some(StreamingDecoder::new(source).map_err(io::Error::other)?)))
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.0 {
            let length = decoder.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            let Some(decoder) = self.0.take() else { break };
            let mut source = decoder.into_inner();
            if !source.fill_buf()?.is_empty() {
                *self = Self::new(source)?;
            }
        }
        Ok(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Lines,
    /// One text, several, or lines: the reader decides by the first line.
    Unknown,
}

impl Input {
    pub(super) fn new(path: &Path, form: Format) -> Self {
        Self {
            path: path.to_owned(),
            form,
            zipped: Zipped::No,
            size: 0,
            held: None,
            rest: None,
            jsonc: false,
            other: None,
            root: None,
            limit: u64::MAX,
        }
    }

    /// Returns an input for a file, if its name has a JSON ending.
    pub(super) fn file(path: &Path, size: u64) -> Option<Self> {
        // A lossy conversion keeps the ending of a name that is not UTF-8.
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let (name, zipped) = Zipped::split(&name);
        let form = match name.rsplit_once('.')?.1 {
            "json" | "jsonc" | "geojson" | "topojson" | "ipynb" | "har" | "jsonld" => Format::Text,
            "jsonl" | "ndjson" => Format::Lines,
            _ => return None,
        };
        Some(Self { zipped, size, ..Self::new(path, form) })
    }

    /// Returns an input for a file in another format that serde reads, by its ending.
    pub(super) fn other(path: &Path, size: u64) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let (name, zipped) = Zipped::split(&name);
        let other = Other::from_ending(name.rsplit_once('.')?.1)?;
        Some(Self { zipped, size, other: Some(other), ..Self::new(path, Format::Unknown) })
    }

    /// Returns an input for a file with another name that begins as an object or array of JSON: `.sarif`, `.webmanifest`.
    pub(super) fn by_content(path: &Path, size: u64) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let (_, ending) = name.rsplit_once('.').filter(|(name, _)| !name.is_empty())?;
        // Locks, sources, and text that may begin with a bracket.
        if SOURCES.contains(&ending) {
            return None;
        }
        let mut head = Vec::new();
        File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).ok()?;
        let is_whole = (head.len() as u64) < HEAD;
        let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head).trim_ascii_start();
        let begins = matches!(text, [b'{', rest @ ..] if matches!(rest.trim_ascii_start(), [b'"' | b'}', ..]))
            || matches!(text, [b'[', rest @ ..] if matches!(rest.trim_ascii_start(), [b'{' | b'[' | b'"' | b']', ..]));
        let read = serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>().next();
        // The beginning of a larger text ends too early, and has no other error.
        let is_json = match read {
            Some(Ok(_)) => true,
            Some(Err(error)) => !is_whole && error.is_eof(),
            None => false,
        };
        (begins && is_json).then(|| Self { size, ..Self::new(path, Format::Unknown) })
    }

    /// Returns whether the name says that comments and trailing commas are allowed.
    pub(super) fn is_jsonc(&self) -> bool {
        let name = self.path.to_string_lossy().to_ascii_lowercase();
        Path::new(Zipped::split(&name).0).extension().is_some_and(|ending| ending == "jsonc")
    }

    pub(super) fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Returns whether the input can be read once only.
    pub(super) fn is_pipe(&self) -> bool {
        self.is_stdin() || self.rest.is_some()
    }

    /// Returns the path; `-` for standard input.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the name of the type of its documents, if all documents are of several types.
    pub(super) fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// Returns the size in bytes, on disk or of the contents in memory.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns about the number of bytes to read, at least 1.
    pub(super) fn weight(&self) -> u64 {
        self.size.saturating_mul(if self.zipped == Zipped::No { 1 } else { UNZIPPED }).max(1)
    }

    pub(super) fn problem(&self, location: Option<(u64, u64)>, what: impl Into<String>) -> Problem {
        Problem { file: self.path.display().to_string(), location, what: what.into() }
    }

    pub(super) fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        let source: Box<dyn Read + Send + '_> = match (&self.held, &self.rest) {
            (Some(held), Some(rest)) => Box::new(held.chain(&**rest)),
            (Some(held), None) if self.is_stdin() => Box::new(held.chain(io::stdin())),
            (Some(held), None) => Box::new(&held[..]),
            (None, _) => Box::new(File::open(&self.path)?),
        };
        let source: Box<dyn Read + Send + '_> = match self.zipped {
            Zipped::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(source))),
            Zipped::Zstd => Box::new(Frames::new(BufReader::new(source))?),
            Zipped::No => source,
        };
        if !self.jsonc && self.other.is_none() {
            return Ok(source);
        }
        let mut whole = Vec::new();
        source.take(HELD + 1).read_to_end(&mut whole)?;
        if whole.len() as u64 > HELD {
            return Err(io::Error::other(format!(
                "larger than {} MiB, which is not supported for this format",
                HELD >> 20
            )));
        }
        match self.other {
            Some(other) => whole = other.to_json(&whole)?,
            None => without_comments(&mut whole),
        }
        Ok(Box::new(Cursor::new(whole)))
    }
}
