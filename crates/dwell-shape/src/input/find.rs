//! Finds the inputs at paths.

use super::file::{Format, Input, STUDIED, Zipped};
use super::problem::{Problem, cannot_read};
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    find_jsonc(paths, false)
}

/// Like [`find`]; with `jsonc`, comments and trailing commas are allowed, and files that end in .jsonc are found too.
pub fn find_jsonc(paths: &[PathBuf], jsonc: bool) -> Found {
    let mut found = Found::default();
    for path in paths {
        if path.as_os_str() == "-" {
            found.add_stdin();
        } else {
            found.add(path, jsonc);
        }
    }
    // Sorting removes duplicates such as `a` and `./a`, and makes the result independent of the order of the arguments.
    found.inputs.sort_by(|a, b| a.path.cmp(&b.path));
    found.inputs.iter_mut().for_each(|input| input.jsonc = jsonc);
    let mut seen = HashSet::with_capacity(found.inputs.len());
    found.inputs.retain(|input| seen.insert(std::path::absolute(&input.path).unwrap_or_else(|_| input.path.clone())));
    found
}

/// Returns whether data comes from standard input: it is a pipe with data, or a file. A terminal has none, nor has a pipe that
/// nobody writes to, such as that of a service.
pub fn is_piped() -> bool {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return false;
    }
    // The kernel tells a file or a pipe from `/dev/null` and sockets.
    let is_data = |meta: std::fs::Metadata| {
        let kind = meta.file_type();
        #[cfg(unix)]
        return std::os::unix::fs::FileTypeExt::is_fifo(&kind) || kind.is_file();
        #[cfg(not(unix))]
        return kind.is_file();
    };
    std::fs::metadata("/dev/stdin").is_ok_and(is_data) && stdin.lock().fill_buf().is_ok_and(|head| !head.is_empty())
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
        let zipped = Zipped::of_bytes(&head);
        self.inputs.push(Input { size, zipped, held: Some(head.into()), ..Input::new(path, Format::Unknown) });
    }

    fn add(&mut self, path: &Path, jsonc: bool) {
        let meta = match path.metadata() {
            Ok(meta) => meta,
            Err(error) => return self.complain(path, cannot_read(&error)),
        };
        if !meta.is_dir() {
            // A file that the user names is read, whatever its ending is.
            let zipped = Zipped::split(&path.to_string_lossy()).1;
            let any = || Input { zipped, size: meta.len(), ..Input::new(path, Format::Unknown) };
            let known = Input::file(path, meta.len()).or_else(|| Input::other(path, meta.len()));
            let input = known.unwrap_or_else(any);
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
        // Files in other formats are often no data beside JSON.
        let mut others = Vec::new();
        for entry in walkdir::WalkDir::new(path).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    let size = entry.metadata().map_or(0, |meta| meta.len());
                    let input = Input::file(entry.path(), size).or_else(|| Input::by_content(entry.path(), size));
                    self.inputs.extend(input.filter(|input| jsonc || !input.is_jsonc()));
                    others.extend(Input::other(entry.path(), size));
                }
                Ok(entry) => {
                    let is_file = entry.file_type().is_dir() || entry.file_type().is_symlink();
                    if !is_file && Input::file(entry.path(), 0).is_some() {
                        self.complain(entry.path(), "a pipe, socket or device in a folder; name it to read it");
                    }
                }
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
            self.inputs.append(&mut others);
        }
        if before == (self.inputs.len(), self.problems.len()) {
            self.complain(path, NO_JSON);
        }
    }
}

const NO_JSON: &str = "no JSON files in this folder (.json .jsonl .ndjson .geojson .topojson .ipynb .har .jsonld, each also .gz or .zst, and \
     others that begin as JSON)";
