//! Finds JSON texts in files, folders and standard input, and reads them into accumulators.

use super::infer::{self, Accumulator, Blank, Form};
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use serde::de::IgnoredAny;
use serde_json::de::StrRead;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest size of a read buffer: the largest file that is read at once, and the longest line of JSON Lines. Larger
/// texts are streamed.
pub const BUFFER: usize = 64 << 20;
/// The size of all read buffers together, as far as no line is longer.
const BUFFERS: usize = 2 * BUFFER;
/// The least size of a read buffer.
const LEAST_BUFFER: usize = 1 << 20;
/// The least number of bytes of a part, which one thread reads. Each part sees only its own texts when it chooses the
/// keys that become fields, so a varied corpus gets better types from fewer parts.
const PART: u64 = 64 << 20;
/// How much larger JSON is than compressed JSON, about.
const UNZIPPED: u64 = 8;
/// The number of bytes that the last round of the study reads to find the form of the documents.
const STUDIED: u64 = 8 << 20;
/// The most bytes of the sample for a form file.
const STUDIED_FORM: u64 = 64 << 20;
/// The number of bytes up to which it reads all documents, and not a quarter of them.
const STUDIED_WHOLE: u64 = 1 << 20;
/// The number of bytes that the first round of the study reads.
const FIRST_STUDIED: u64 = 128 << 10;

/// An error in an input, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, or `-` for standard input.
    pub file: String,
    /// Line and column, from 1; `None` if the whole file is affected.
    pub location: Option<(u64, u64)>,
    /// The message.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.location {
            Some((line, column)) => write!(f, "{}:{line}:{column}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl std::error::Error for Problem {}

/// A file with one JSON text, or with several as JSON Lines; or standard input.
#[derive(Debug, Clone)]
pub struct Input {
    path: PathBuf,
    form: Format,
    zipped: Zipped,
    size: u64,
    /// Contents in memory: a whole text, or the beginning of a pipe or of standard input.
    held: Option<Arc<[u8]>>,
    /// The rest of a pipe, which can be read once only.
    rest: Option<Arc<File>>,
    /// The largest number of texts to read.
    limit: u64,
}

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Zipped {
    No,
    Gzip,
    Zstd,
}

impl Zipped {
    /// Splits the ending of a compression from a file name. Returns the rest of the name, and the compression.
    fn of(name: &str) -> (&str, Self) {
        let name_of = |ending| name.strip_suffix(ending);
        match (name_of(".gz"), name_of(".zst")) {
            (Some(name), _) => (name, Self::Gzip),
            (_, Some(name)) => (name, Self::Zstd),
            _ => (name, Self::No),
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
enum Format {
    Text,
    Lines,
    /// One text, several, or lines: the reader decides by the first line.
    Unknown,
}

impl Input {
    fn new(path: &Path, form: Format) -> Self {
        Self { path: path.to_owned(), form, zipped: Zipped::No, size: 0, held: None, rest: None, limit: u64::MAX }
    }

    /// Returns an input for a file, if its name has a JSON ending.
    fn file(path: &Path, size: u64) -> Option<Self> {
        // A lossy conversion keeps the ending of a name that is not UTF-8.
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let (name, zipped) = Zipped::of(&name);
        let form = match name.rsplit_once('.')?.1 {
            "json" | "geojson" | "topojson" | "ipynb" | "har" | "jsonld" => Format::Text,
            "jsonl" | "ndjson" => Format::Lines,
            _ => return None,
        };
        Some(Self { zipped, size, ..Self::new(path, form) })
    }

    fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Returns whether the input can be read once only.
    fn is_pipe(&self) -> bool {
        self.is_stdin() || self.rest.is_some()
    }

    /// Returns the path; `-` for standard input.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size in bytes, on disk or of the contents in memory.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns about the number of bytes to read, at least 1.
    fn weight(&self) -> u64 {
        self.size.saturating_mul(if self.zipped == Zipped::No { 1 } else { UNZIPPED }).max(1)
    }

    fn problem(&self, location: Option<(u64, u64)>, what: impl Into<String>) -> Problem {
        Problem { file: self.path.display().to_string(), location, what: what.into() }
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        let source: Box<dyn Read + '_> = match (&self.held, &self.rest) {
            (Some(held), Some(rest)) => Box::new(held.chain(&**rest)),
            (Some(held), None) if self.is_stdin() => Box::new(held.chain(io::stdin())),
            (Some(held), None) => Box::new(&held[..]),
            (None, _) => Box::new(File::open(&self.path)?),
        };
        Ok(match self.zipped {
            Zipped::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(source))),
            Zipped::Zstd => Box::new(Frames::new(BufReader::new(source))?),
            Zipped::No => source,
        })
    }
}

/// The inputs found at the given paths.
#[derive(Debug, Default)]
pub struct Found {
    /// The files to read, by path.
    pub inputs: Vec<Input>,
    /// Paths that could not be read.
    pub problems: Vec<Problem>,
}

/// Finds the files with JSON at `paths`: files by any name, all files with a JSON ending in a folder and below it, and
/// standard input for `-`.
pub fn find(paths: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for path in paths {
        if path.as_os_str() == "-" {
            found.add_stdin();
        } else {
            found.add(path);
        }
    }
    // Sorting removes duplicates such as `a` and `./a`, and makes the result independent of the order of the arguments.
    found.inputs.sort_by(|a, b| a.path.cmp(&b.path));
    let mut seen = HashSet::with_capacity(found.inputs.len());
    found.inputs.retain(|input| seen.insert(std::path::absolute(&input.path).unwrap_or_else(|_| input.path.clone())));
    found
}

/// Returns the built-in sample corpus.
pub fn sample() -> Found {
    let texts = crate::sample::documents(SAMPLE_SEED, SAMPLE_MODELS).map(|(name, text)| Input {
        size: text.len() as u64,
        held: Some(text.into()),
        ..Input::new(Path::new(&name), Format::Text)
    });
    Found { inputs: texts.collect(), problems: Vec::new() }
}

/// The seed of the built-in sample.
pub const SAMPLE_SEED: u64 = 1;
/// The number of service models in the built-in sample.
pub const SAMPLE_MODELS: usize = 40;

impl Found {
    /// Keeps about `texts` texts: evenly spaced files, and the first texts of files that have many. Returns the largest
    /// number of texts that are read from each file.
    pub fn sample(&mut self, texts: usize) -> u64 {
        let files = self.inputs.len();
        let kept = files.min(texts).max(1);
        let mut index = 0;
        self.inputs.retain(|_| {
            // Keeps the first file of each of `kept` equal groups.
            let keep = index * kept % files < kept;
            index += 1;
            keep
        });
        let limit = texts.div_ceil(kept) as u64;
        self.inputs.iter_mut().for_each(|input| input.limit = limit);
        limit
    }

    fn complain(&mut self, path: &Path, what: impl Into<String>) {
        self.problems.push(Problem { file: path.display().to_string(), location: None, what: what.into() });
    }

    fn add_stdin(&mut self) {
        let path = Path::new("-");
        if self.inputs.iter().any(Input::is_stdin) {
            return self.complain(path, "standard input is given twice");
        }
        let mut head = Vec::new();
        if let Err(error) = io::stdin().lock().take(STUDIED).read_to_end(&mut head) {
            return self.complain(path, cannot_read(&error));
        }
        let size = head.len() as u64;
        self.inputs.push(Input { size, held: Some(head.into()), ..Input::new(path, Format::Unknown) });
    }

    fn add(&mut self, path: &Path) {
        let meta = match path.metadata() {
            Ok(meta) => meta,
            Err(error) => return self.complain(path, cannot_read(&error)),
        };
        if !meta.is_dir() {
            // A file that the user names is read, whatever its ending is.
            let zipped = Zipped::of(&path.to_string_lossy()).1;
            let any = || Input { zipped, size: meta.len(), ..Input::new(path, Format::Unknown) };
            let input = Input::file(path, meta.len()).unwrap_or_else(any);
            if meta.is_file() {
                return self.inputs.push(input);
            }
            // A pipe, as from `<(command)`.
            let mut head = Vec::new();
            let rest = File::open(path).and_then(|pipe| (&pipe).take(STUDIED).read_to_end(&mut head).and(Ok(pipe)));
            return match rest {
                Ok(rest) => self.inputs.push(Input {
                    size: head.len() as u64,
                    held: Some(head.into()),
                    rest: Some(Arc::new(rest)),
                    ..input
                }),
                Err(error) => self.complain(path, cannot_read(&error)),
            };
        }
        let before = (self.inputs.len(), self.problems.len());
        for entry in walkdir::WalkDir::new(path).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    let size = entry.metadata().map_or(0, |meta| meta.len());
                    self.inputs.extend(Input::file(entry.path(), size));
                }
                Ok(_) => {}
                Err(error) => {
                    let location = error.path().unwrap_or(path).to_owned();
                    match (error.loop_ancestor(), error.io_error()) {
                        (Some(above), _) => {
                            self.complain(
                                &location,
                                format!(
                                    "a symbolic link to an enclosing folder, {}; it is not followed",
                                    above.display()
                                ),
                            );
                        }
                        // A dangling link whose name has no JSON ending is ignored.
                        (None, Some(error)) if error.kind() == io::ErrorKind::NotFound => {
                            if Input::file(&location, 0).is_some() {
                                self.complain(&location, "a symbolic link whose target does not exist");
                            }
                        }
                        (None, Some(error)) => self.complain(&location, cannot_read(error)),
                        (None, None) => self.complain(&location, "cannot be read"),
                    }
                }
            }
        }
        if before == (self.inputs.len(), self.problems.len()) {
            self.complain(path, NO_JSON);
        }
    }
}

const NO_JSON: &str =
    "no JSON files in this folder (.json .jsonl .ndjson .geojson .topojson .ipynb .har .jsonld, each also .gz or .zst)";

fn cannot_read(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "cannot be read: permission denied".to_owned(),
        io::ErrorKind::UnexpectedEof => "ends too early; is the file complete?".to_owned(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => format!("is not valid compressed data: {error}"),
        _ => format!("cannot be read: {error}"),
    }
}

/// Returns the message for bytes that are not UTF-8.
fn not_utf8(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x1F, 0x8B, ..] => "gzip data in a file whose name does not end in .gz; rename or unpack it",
        // UTF-16 begins with a byte order mark; without one, about half of its bytes are zero.
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "the file is UTF-16; save it as UTF-8",
        _ if memchr::memchr(0, bytes).is_some() => "not text; is this file JSON?",
        _ => "invalid UTF-8; save the file as UTF-8",
    }
}

/// Options for reading.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The number of threads; 0 means one for each core. The result does not depend on it.
    pub threads: usize,
    /// Whether to skip a text that cannot be read, instead of stopping.
    pub keep_going: bool,
    /// The least number of bytes of a part, which one thread reads; 0 means 64 MiB.
    pub part: u64,
}

/// The result of [`read`].
pub struct Reading {
    /// The counts of all texts that could be read.
    pub accumulator: Accumulator,
    /// All errors with `keep_going`, otherwise only the first.
    pub problems: Vec<Problem>,
}

/// Returns the texts of the inputs, up to `most` bytes, without those that cannot be parsed.
pub fn texts(found: &Found, most: usize) -> Vec<String> {
    let (mut texts, mut size) = (Vec::new(), 0);
    for input in &found.inputs {
        let mut buffer = Vec::new();
        let left = (most - size) as u64;
        let read = input.open().and_then(|source| source.take(left + 1).read_to_end(&mut buffer));
        if read.is_err() || buffer.len() as u64 > left {
            continue;
        }
        let Ok(text) = std::str::from_utf8(without_mark(&buffer)) else { continue };
        size += text.len();
        let read = split(text).filter(|(_, text)| serde_json::from_str::<IgnoredAny>(text).is_ok());
        texts.extend(read.map(|(_, text)| text.to_owned()));
    }
    texts
}

/// Reads all inputs, in the form that a sample of them has. `progress` receives the size of each file after it is read.
pub fn read(found: &Found, options: &Options, progress: &(dyn Fn(u64) + Sync)) -> Reading {
    let total: u64 = found.inputs.iter().map(|input| input.size).sum();
    let studied = (total / 4).clamp(STUDIED_WHOLE, STUDIED);
    read_by(&in_thread(|| study(found, total, studied).blank()), found, options, progress)
}

/// Infers the form of the documents from a larger sample than [`read`], for several runs.
pub fn form(found: &Found) -> Form {
    let total = found.inputs.iter().map(|input| input.size).sum();
    in_thread(|| study(found, total, STUDIED_FORM))
}

/// Calls `work` in a thread with a large stack, whose memory the next thread reuses.
fn in_thread<T: Send>(work: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, &work) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(_) => work(),
    })
}

/// Like [`read`], with a form that is known already.
pub fn read_by(form: &Blank, found: &Found, options: &Options, progress: &(dyn Fn(u64) + Sync)) -> Reading {
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    // The parts depend only on the inputs, and are added up in order, so the result does not depend on the threads.
    let least = if options.part == 0 { PART } else { options.part };
    let whole: u64 = found.inputs.iter().map(Input::weight).sum();
    let parts = usize::try_from(whole / least).unwrap_or(usize::MAX);
    let parts = parts.min(found.inputs.len()).clamp(1, form.most());
    let most = (BUFFERS / parts).clamp(LEAST_BUFFER, BUFFER);
    let shares = shares(&found.inputs, parts);
    // Without `keep_going`, no thread begins a file that comes after a file with an error.
    let bad = AtomicUsize::new(usize::MAX);
    // A syntax error shows only after part of the text is counted. Such texts are rare, so the first pass does not
    // check for them. If it meets one, the thread reads the part again and checks each text before it counts it.
    let work = |share: &[usize], check: bool| {
        let part = share.iter().map(|&index| found.inputs[index].weight()).sum();
        let mut accumulator = form.start_part(parts, part, whole);
        let mut buffer = Vec::new();
        let mut problems = Vec::new();
        for &index in share {
            if index > bad.load(Ordering::Relaxed) {
                break;
            }
            let input = &found.inputs[index];
            accumulator.at(u32::try_from(index).unwrap_or(u32::MAX));
            let before = problems.len();
            let mut reader = Reader {
                input,
                most,
                accumulator: &mut accumulator,
                keep_going: options.keep_going && check,
                problems: &mut problems,
            };
            match input.open() {
                Ok(source) => reader.read(source, &mut buffer),
                Err(error) => reader.complain(None, cannot_read(&error)),
            }
            if problems.len() > before {
                problems[before..].iter_mut().for_each(|problem| problem.0 = index);
                if !options.keep_going {
                    bad.fetch_min(index, Ordering::Relaxed);
                } else if !check {
                    break;
                }
            }
            if !check {
                progress(input.size);
            }
        }
        (accumulator, problems)
    };
    let (next, sum) = (AtomicUsize::new(0), Mutex::new(Sum::default()));
    let work = || {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = shares.get(part) else { break };
            let has_pipe = share.iter().any(|&index| found.inputs[index].is_pipe());
            let mut read = work(share, options.keep_going && has_pipe);
            if options.keep_going && !has_pipe && !read.1.is_empty() {
                read = work(share, true);
            }
            sum.lock().unwrap_or_else(PoisonError::into_inner).add(part, read.0, read.1);
        }
    };
    std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let threads: Vec<_> = (0..threads.min(parts)).map(spawn).collect();
        for thread in threads {
            match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // The system refused to start a thread, so this thread reads what the others leave.
                Err(_) => work(),
            }
        }
    });
    let Sum { accumulator, mut problems, .. } = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
    problems.sort_by_key(|&(index, _)| index);
    if !options.keep_going {
        problems.truncate(1);
    }
    let accumulator = accumulator.unwrap_or_else(|| form.start(1));
    Reading { accumulator, problems: problems.into_iter().map(|(_, problem)| problem).collect() }
}

/// The sum of the parts read so far. They are added in order: the result depends on it where memory is short.
#[derive(Default)]
struct Sum {
    /// The number of parts that were added.
    added: usize,
    accumulator: Option<Accumulator>,
    /// Parts that were read before one of a lower number.
    waiting: BTreeMap<usize, Accumulator>,
    /// Problems with the index of the input.
    problems: Vec<(usize, Problem)>,
}

impl Sum {
    fn add(&mut self, part: usize, accumulator: Accumulator, problems: Vec<(usize, Problem)>) {
        self.problems.extend(problems);
        self.waiting.insert(part, accumulator);
        while let Some(part) = self.waiting.remove(&self.added) {
            self.added += 1;
            match &mut self.accumulator {
                Some(sum) => sum.merge(part),
                sum => *sum = Some(part),
            }
        }
    }
}

/// Splits the inputs into parts of about equal size, each in order. The split is deterministic, and so is the result.
fn shares(inputs: &[Input], parts: usize) -> Vec<Vec<usize>> {
    let mut shares = vec![(0, Vec::new()); parts];
    for (index, input) in inputs.iter().enumerate() {
        if let Some((bytes, share)) = shares.iter_mut().min_by_key(|(bytes, _)| *bytes) {
            *bytes += input.weight();
            share.push(index);
        }
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

/// The stack size of a thread: it suffices for the deepest nesting that `serde_json` accepts, in a debug build.
const STACK: usize = 16 << 20;

/// Reads an evenly spread sample of the inputs, of `studied` bytes, to find the form of the documents. The full pass
/// reports errors.
///
/// The sample is read in rounds, each four times as long as the one before.
/// Each round starts with the form that the one before it found, so a recursive type is known before many positions of
/// it are stored.
fn study(found: &Found, total: u64, studied: u64) -> Form {
    let mut form = Accumulator::new().into_form();
    let mut most = FIRST_STUDIED;
    // The second round distinguishes the variants of unions that the first round found.
    for round in 1.. {
        let mut accumulator = form.study();
        study_part(found, total, most, &mut accumulator);
        form = accumulator.into_form();
        if round >= 2 && (most >= total || most >= studied) {
            break;
        }
        most = (most * 4).min(studied);
    }
    form
}

/// Reads about `most` bytes, evenly spread.
fn study_part(found: &Found, total: u64, most: u64, accumulator: &mut Accumulator) {
    let share = (most as f64 / total.max(1) as f64).min(1.0);
    let mut credit = 0.0;
    let mut buffer = Vec::new();
    for (index, input) in found.inputs.iter().enumerate() {
        credit += input.size as f64 * share;
        // At least two documents, if there are several.
        let several = share < 1.0 && found.inputs.len() > 1;
        let wanted = if several { input.size.min(most / 2) } else { most };
        if credit * 2.0 < wanted as f64 && share < 1.0 {
            continue;
        }
        credit -= wanted as f64;
        accumulator.at(u32::try_from(index).unwrap_or(u32::MAX));
        buffer.clear();
        if let Ok(source) = input.open() {
            // An error only ends the sample early.
            let _ = source.take(wanted).read_to_end(&mut buffer);
        }
        let text = match std::str::from_utf8(without_mark(&buffer)) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&buffer[..error.valid_up_to()]).unwrap_or_default(),
        };
        let mut first = serde_json::Deserializer::from_str(text);
        let is_whole = match accumulator.read(&mut first) {
            Ok(()) => first.end().is_ok(),
            Err(error) => error.is_eof(),
        };
        if !is_whole {
            for (_, text) in split(text).skip(1) {
                let _ = accumulator.read(&mut serde_json::Deserializer::from_str(text));
            }
        }
    }
}

/// Splits concatenated texts. Returns each with its offset; a text with an error extends to the end.
fn split(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    std::iter::from_fn(move || {
        let start = values.byte_offset();
        let end = if values.next()?.is_ok() { values.byte_offset() } else { text.len() };
        Some((start, &text[start..end]))
    })
}

/// Returns the line and column after `text`, if `text` begins at the given ones.
fn advance((line, column): (u64, u64), text: &[u8]) -> (u64, u64) {
    match memchr::memchr_iter(b'\n', text).count() as u64 {
        0 => (line, column + text.len() as u64),
        lines => (line + lines, (text.len() - memchr::memrchr(b'\n', text).unwrap_or(0)) as u64),
    }
}

/// Strips the byte order mark that some programs write before UTF-8.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// A reader of one input.
struct Reader<'a> {
    input: &'a Input,
    /// The size of the buffer.
    most: usize,
    accumulator: &'a mut Accumulator,
    keep_going: bool,
    problems: &'a mut Vec<(usize, Problem)>,
}

impl Reader<'_> {
    fn complain(&mut self, location: Option<(u64, u64)>, what: impl Into<String>) {
        self.problems.push((0, self.input.problem(location, what)));
    }

    fn read(&mut self, mut source: Box<dyn Read + '_>, buffer: &mut Vec<u8>) {
        buffer.clear();
        let ended = match fill(&mut source, buffer, self.most) {
            Ok(ended) => ended,
            Err(error) => return self.complain(None, cannot_read(&error)),
        };
        let lines = match self.input.form {
            Format::Lines => true,
            // A `.json` file may hold JSON Lines too.
            Format::Text | Format::Unknown => are_lines(without_mark(buffer)),
        };
        if lines {
            self.read_lines(source, buffer, ended);
        } else if ended {
            self.accumulator.add_bytes(buffer.len() as u64);
            let text = without_mark(buffer);
            self.read_texts(text);
        } else {
            self.read_stream(source, buffer);
        }
    }

    /// Reads a buffer that holds one text, or several if the input may have several.
    fn read_texts(&mut self, bytes: &[u8]) {
        let Some(text) = self.utf8(bytes, 1) else { return };
        if text.trim_ascii().is_empty() {
            return self.complain(None, "is empty");
        }
        if self.input.form == Format::Text {
            return self.read_text(text, (1, 1));
        }
        // The start of the last text: its offset, and its line and column.
        let (mut last, mut location) = (0, (1, 1));
        let before = self.problems.len();
        for (texts, (start, text)) in (0..).zip(split(text)) {
            if texts >= self.input.limit || (self.problems.len() > before && !self.keep_going) {
                return;
            }
            location = advance(location, &bytes[last..start]);
            last = start;
            self.read_text(text, location);
        }
    }

    /// Returns `bytes` as UTF-8, or reports a problem. `line` is the line of their start.
    fn utf8<'t>(&mut self, bytes: &'t [u8], line: u64) -> Option<&'t str> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Some(text),
            Err(error) => {
                let location = advance((line, 1), &bytes[..error.valid_up_to()]);
                self.complain(Some(location), not_utf8(bytes));
                None
            }
        }
    }

    /// Reads one text; `location` is the line and column of its start.
    fn read_text(&mut self, text: &str, location: (u64, u64)) {
        let one = |read: &mut dyn FnMut(&mut serde_json::Deserializer<StrRead>) -> serde_json::Result<()>| {
            let mut json = serde_json::Deserializer::from_str(text);
            read(&mut json)?;
            json.end()
        };
        let checked = if self.keep_going { one(&mut |json| infer::check(json)) } else { Ok(()) };
        if let Err(error) = checked.and_then(|()| one(&mut |json| self.accumulator.read(json))) {
            self.complain_of(&error, location);
        }
    }

    /// Calls `read` for the streamed text, or for each of several.
    fn each<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        json: &mut serde_json::Deserializer<R>,
        read: impl Fn(&mut Accumulator, &mut serde_json::Deserializer<R>) -> serde_json::Result<()>,
    ) -> serde_json::Result<()> {
        let mut texts = 0;
        loop {
            read(self.accumulator, json)?;
            texts += 1;
            match json.end() {
                _ if texts >= self.input.limit => return Ok(()),
                Err(error) if self.input.form == Format::Text || !error.is_syntax() => return Err(error),
                Err(_) => {}
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Reports an error in a text that starts at this line and column.
    fn complain_of(&mut self, error: &serde_json::Error, (line, column): (u64, u64)) {
        let location = match (error.line() as u64, error.column().max(1) as u64) {
            (0 | 1, further) => (line, column + further - 1),
            (down, column) => (line + down - 1, column),
        };
        let text = error.to_string();
        let what = text.rfind(" at line ").map_or(&*text, |end| &text[..end]);
        let lines = "several JSON values, but not one per line";
        let what = match what {
            _ if error.is_io() => match error.io_error_kind() {
                Some(kind) if kind != io::ErrorKind::Other => cannot_read(&io::Error::new(kind, what)),
                _ => what.to_owned(),
            },
            _ if error.is_eof() => "the JSON ends too early; is the file complete?".to_owned(),
            "trailing characters" => lines.to_owned(),
            "recursion limit exceeded" => "nested deeper than 127 levels, which is not supported".to_owned(),
            "number out of range" => "a number too large for f64".to_owned(),
            what => what.to_owned(),
        };
        self.complain(Some(location), what);
    }

    fn read_lines(&mut self, mut source: Box<dyn Read + '_>, buffer: &mut Vec<u8>, mut ended: bool) {
        let mut number = 0;
        let mut texts = 0;
        if without_mark(buffer).len() < buffer.len() {
            buffer.drain(..3);
        }
        loop {
            let mut start = 0;
            while start < buffer.len() {
                let end = match memchr::memchr(b'\n', &buffer[start..]) {
                    Some(length) => start + length,
                    None if ended => buffer.len(),
                    None => break,
                };
                number += 1;
                let line = buffer[start..end].trim_ascii_end();
                if !line.is_empty() {
                    texts += 1;
                    let before = self.problems.len();
                    if let Some(line) = self.utf8(line, number) {
                        self.read_text(line, (number, 1));
                    }
                    if self.problems.len() > before && !self.keep_going {
                        return;
                    }
                }
                self.accumulator.add_bytes((end + 1).min(buffer.len()) as u64 - start as u64);
                start = (end + 1).min(buffer.len());
                if texts >= self.input.limit {
                    return;
                }
            }
            if ended {
                break;
            }
            buffer.drain(..start);
            if buffer.len() >= BUFFER {
                let mib = BUFFER >> 20;
                let what = format!("a line longer than {mib} MiB; if the file is one JSON value, rename it to .json");
                return self.complain(Some((number + 1, 1)), what);
            }
            // A longer line gets a larger buffer.
            let most = self.most.max((buffer.len() * 2).min(BUFFER));
            ended = match fill(&mut source, buffer, most) {
                Ok(ended) => ended,
                Err(error) => return self.complain(None, cannot_read(&error)),
            };
        }
        if texts == 0 {
            self.complain(None, "is empty");
        }
    }

    /// Reads a text that is larger than the buffer as a stream.
    fn read_stream(&mut self, rest: Box<dyn Read + '_>, head: &[u8]) {
        if self.keep_going && !self.input.is_pipe() {
            let checked = self.input.open().map_err(serde_json::Error::io).and_then(|source| {
                let mut json = serde_json::Deserializer::from_reader(BufReader::new(Pieces::new(source)));
                self.each(&mut json, |_, json| infer::check(json))
            });
            if let Err(error) = checked {
                return self.complain_of(&error, (1, 1));
            }
        }
        let source = Cursor::new(without_mark(head)).chain(rest);
        let mut pieces = Pieces::new(source);
        let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, &mut pieces));
        let result = self.each(&mut json, Accumulator::read);
        self.accumulator.add_bytes(pieces.bytes);
        if let Err(error) = result {
            self.complain_of(&error, (1, 1));
        }
    }
}

/// Returns whether the input is JSON Lines: the first line is a complete text and another line follows.
fn are_lines(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let Some(end) = memchr::memchr(b'\n', text) else { return false };
    // The cheap test comes first, since a single text may be one long line.
    !text[end..].trim_ascii_start().is_empty() && serde_json::from_slice::<IgnoredAny>(&text[..end]).is_ok()
}

/// Fills the buffer with up to `most` bytes in all. Returns whether the source ended.
fn fill(source: &mut dyn Read, buffer: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    let left = most - buffer.len();
    let read = source.take(left as u64).read_to_end(buffer)?;
    Ok(read < left)
}

/// A reader that counts its bytes, and fails before one string can fill the memory.
struct Pieces<R> {
    source: R,
    bytes: u64,
    /// The number of bytes since the last quotation mark.
    run: usize,
}

impl<R: Read> Pieces<R> {
    fn new(source: R) -> Self {
        Self { source, bytes: 0, run: 0 }
    }
}

impl<R: Read> Read for Pieces<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        self.bytes += length as u64;
        self.run = match memchr::memrchr(b'"', &buffer[..length]) {
            Some(last) => length - last,
            None => self.run + length,
        };
        if self.run > BUFFER {
            return Err(io::Error::other(format!("a string longer than {} MiB, which is not supported", BUFFER >> 20)));
        }
        Ok(length)
    }
}
