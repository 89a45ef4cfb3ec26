//! Reads the texts of one input into accumulators.

use super::file::{Format, Input};
use super::problem::{Problem, cannot_read, not_utf8};
use super::text::{
    SEPARATOR, advance, are_lines, have_longer_texts, offset_of, split, without_mark, without_separators,
};
use crate::infer::{self, Accumulator};
use serde_json::de::StrRead;
use std::io::{self, BufReader, Cursor, Read};

/// The largest size of a read buffer: the largest file that is read at once, and the longest line of JSON Lines. Larger
/// texts are streamed.
pub const BUFFER: usize = 64 << 20;

/// What gets the texts of an input.
pub(crate) trait Sink {
    /// Reads the next value of a deserializer, a document of the type `root`.
    fn read<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        root: Option<&str>,
        json: &mut serde_json::Deserializer<R>,
    ) -> serde_json::Result<()>;

    /// Adds to the number of bytes read.
    fn add_bytes(&mut self, bytes: u64);
}

impl Sink for Accumulator {
    fn read<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        root: Option<&str>,
        json: &mut serde_json::Deserializer<R>,
    ) -> serde_json::Result<()> {
        self.read_as(root, json)
    }

    fn add_bytes(&mut self, bytes: u64) {
        Self::add_bytes(self, bytes);
    }
}

/// A reader of one input.
pub(super) struct Reader<'a, S> {
    pub(super) input: &'a Input,
    /// The size of the buffer.
    pub(super) most: usize,
    pub(super) accumulator: &'a mut S,
    pub(super) keep_going: bool,
    pub(super) problems: &'a mut Vec<(usize, Problem)>,
}

impl<S: Sink> Reader<'_, S> {
    pub(super) fn complain(&mut self, location: Option<(u64, u64)>, what: impl Into<String>) {
        self.problems.push((0, self.input.problem(location, what)));
    }

    pub(super) fn read(&mut self, mut source: Box<dyn Read + Send + '_>, buffer: &mut Vec<u8>) {
        buffer.clear();
        match fill(&mut source, buffer, self.most) {
            Ok(ended) => self.read_on(source, buffer, ended),
            Err(error) => self.complain(None, cannot_read(&error)),
        }
    }

    /// Reads the source after its first bytes, which are in the buffer.
    pub(super) fn read_on(&mut self, source: Box<dyn Read + Send + '_>, buffer: &mut Vec<u8>, ended: bool) {
        let lines = match self.input.form {
            // Some programs break the lines of longer texts in it.
            Format::Lines => !have_longer_texts(without_mark(buffer)),
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
            return self.read_one(text);
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

    /// Reads a text, which others may follow. To look for these first would take another pass.
    fn read_one(&mut self, text: &str) {
        let start = text.len() - without_separators(text).len();
        let location = advance((1, 1), &text.as_bytes()[..start]);
        let first = &text[start..];
        let Some(rest) = self.read_first(first, location) else { return };
        let (mut last, mut location) = (0, location);
        let before = self.problems.len();
        for (texts, (at, text)) in (1..).zip(split(&first[rest..])) {
            if texts >= self.input.limit || (self.problems.len() > before && !self.keep_going) {
                return;
            }
            location = advance(location, &first.as_bytes()[last..rest + at]);
            last = rest + at;
            self.read_text(text, location);
        }
    }

    /// Reads one text. Returns the offset of the text that follows it, if there is one.
    fn read_first(&mut self, text: &str, location: (u64, u64)) -> Option<usize> {
        let mut rest = None;
        let mut one = |read: &mut dyn FnMut(&mut serde_json::Deserializer<StrRead>) -> serde_json::Result<()>| {
            let mut json = serde_json::Deserializer::from_str(text);
            read(&mut json)?;
            rest = json.end().err().map(|error| offset_of(text, (error.line(), error.column())));
            Ok(())
        };
        let checked = if self.keep_going { one(&mut |json| infer::check(json)) } else { Ok(()) };
        if let Err(error) = checked.and_then(|()| one(&mut |json| self.accumulator.read(self.input.root(), json))) {
            self.complain_of(&error, location);
            return None;
        }
        rest
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
        if let Err(error) = checked.and_then(|()| one(&mut |json| self.accumulator.read(self.input.root(), json))) {
            self.complain_of(&error, location);
        }
    }

    /// Calls `read` for the streamed text, or for each of several.
    fn each<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        json: &mut serde_json::Deserializer<R>,
        read: impl Fn(&mut S, &mut serde_json::Deserializer<R>) -> serde_json::Result<()>,
    ) -> serde_json::Result<()> {
        let mut texts = 0;
        loop {
            read(self.accumulator, json)?;
            texts += 1;
            match json.end() {
                _ if texts >= self.input.limit => return Ok(()),
                Err(error) if !error.is_syntax() => return Err(error),
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
        let what = match what {
            _ if error.is_io() => match error.io_error_kind() {
                Some(kind) if kind != io::ErrorKind::Other => cannot_read(&io::Error::new(kind, what)),
                _ => what.to_owned(),
            },
            _ if error.is_eof() => "the JSON ends too early; is the file complete?".to_owned(),
            "trailing characters" => "characters after the JSON value".to_owned(),
            "recursion limit exceeded" => "nested deeper than 127 levels, which is not supported".to_owned(),
            "number out of range" => "a number too large for f64".to_owned(),
            what => what.to_owned(),
        };
        self.complain(Some(location), what);
    }

    fn read_lines(&mut self, mut source: Box<dyn Read + '_>, buffer: &mut Vec<u8>, mut ended: bool) {
        let mut at = Place::default();
        if without_mark(buffer).len() < buffer.len() {
            buffer.drain(..3);
        }
        loop {
            let Some(start) = self.read_whole_lines(buffer, ended, &mut at) else { return };
            if ended {
                break;
            }
            buffer.drain(..start);
            if buffer.len() >= BUFFER {
                return self.complain(Some((at.number + 1, 1)), too_long());
            }
            // A longer line gets a larger buffer.
            let most = self.most.max((buffer.len() * 2).min(BUFFER));
            ended = match fill(&mut source, buffer, most) {
                Ok(ended) => ended,
                Err(error) => return self.complain(None, cannot_read(&error)),
            };
        }
        if at.texts == 0 {
            self.complain(None, "is empty");
        }
    }

    /// Reads a block of whole lines, after this number of lines.
    pub(super) fn read_block(&mut self, block: &[u8], number: u64) {
        self.read_whole_lines(block, true, &mut Place { number, texts: 0 });
    }

    /// Reads the lines of a buffer; the last one may have no end if the source has ended. Returns where the rest of the
    /// buffer begins, or `None` if nothing more must be read.
    fn read_whole_lines(&mut self, buffer: &[u8], ended: bool, at: &mut Place) -> Option<usize> {
        let mut start = 0;
        while start < buffer.len() {
            let end = match memchr::memchr(b'\n', &buffer[start..]) {
                Some(length) => start + length,
                None if ended => buffer.len(),
                None => break,
            };
            at.number += 1;
            let line = buffer[start..end].trim_ascii_end();
            if !line.is_empty() {
                at.texts += 1;
                let before = self.problems.len();
                if let Some(line) = self.utf8(line, at.number) {
                    let text = without_separators(line);
                    self.read_text(text, (at.number, 1 + (line.len() - text.len()) as u64));
                }
                if self.problems.len() > before && !self.keep_going {
                    return None;
                }
            }
            self.accumulator.add_bytes((end + 1).min(buffer.len()) as u64 - start as u64);
            start = (end + 1).min(buffer.len());
            if at.texts >= self.input.limit {
                return None;
            }
        }
        Some(start)
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
        let root = self.input.root();
        let result = self.each(&mut json, |sink, json| sink.read(root, json));
        self.accumulator.add_bytes(pieces.bytes);
        if let Err(error) = result {
            self.complain_of(&error, (1, 1));
        }
    }
}

/// The numbers of lines and texts that were read.
#[derive(Default)]
struct Place {
    number: u64,
    texts: u64,
}

/// Returns the message for a line that no buffer holds.
pub(super) fn too_long() -> String {
    let mib = BUFFER >> 20;
    format!("a line longer than {mib} MiB; if the file is one JSON value, rename it to .json")
}

/// Fills the buffer with up to `most` bytes in all. Returns whether the source ended.
pub(super) fn fill(source: &mut dyn Read, buffer: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    let left = most - buffer.len();
    let read = source.take(left as u64).read_to_end(buffer)?;
    Ok(read < left)
}

/// A reader that counts its bytes, and fails before one string can fill the memory. Record separators and byte order
/// marks between texts become spaces.
struct Pieces<R> {
    source: R,
    bytes: u64,
    state: State,
}

/// The place of the next byte in a JSON text.
#[derive(Clone, Copy)]
enum State {
    Outside,
    /// In a string, after this number of its bytes.
    String(usize),
    /// After a backslash in a string.
    Escape(usize),
}

impl State {
    /// Returns the place after these bytes, and the number of bytes of the longest string in them.
    fn after(mut self, bytes: &mut [u8]) -> (Self, usize) {
        let (mut at, mut longest) = (0, 0);
        while at < bytes.len() {
            (self, at) = match self {
                Self::Outside => {
                    let end = memchr::memchr(b'"', &bytes[at..]).map_or(bytes.len(), |length| at + length);
                    let is_mark = |byte: &&mut u8| matches!(**byte, SEPARATOR | 0xEF | 0xBB | 0xBF);
                    bytes[at..end].iter_mut().filter(is_mark).for_each(|byte| *byte = b' ');
                    (if end < bytes.len() { Self::String(0) } else { self }, end + 1)
                }
                Self::String(before) => {
                    let end = memchr::memchr2(b'"', b'\\', &bytes[at..]).map_or(bytes.len(), |length| at + length);
                    let length = before + end - at;
                    longest = longest.max(length);
                    match bytes.get(end) {
                        Some(b'"') => (Self::Outside, end + 1),
                        Some(_) => (Self::Escape(length), end + 1),
                        None => (Self::String(length), end),
                    }
                }
                Self::Escape(before) => (Self::String(before + 2), at + 1),
            };
        }
        (self, longest)
    }
}

impl<R: Read> Pieces<R> {
    fn new(source: R) -> Self {
        Self { source, bytes: 0, state: State::Outside }
    }
}

impl<R: Read> Read for Pieces<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        self.bytes += length as u64;
        let longest;
        (self.state, longest) = self.state.after(&mut buffer[..length]);
        if longest > BUFFER {
            return Err(io::Error::other(format!("a string longer than {} MiB, which is not supported", BUFFER >> 20)));
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strings_count_towards_the_limit() {
        let source = io::repeat(b'1').take(BUFFER as u64 + (2 << 20));
        let numbers = (&b"[\"a\", "[..]).chain(source).chain(&b", \"b\\\"\"]"[..]);
        assert!(io::copy(&mut Pieces::new(numbers), &mut io::sink()).is_ok());
        let source = io::repeat(b'a').take(BUFFER as u64 + (2 << 20));
        assert!(io::copy(&mut Pieces::new((&b"[\"\\\"a"[..]).chain(source)), &mut io::sink()).is_err());
    }

    #[test]
    fn marks_between_texts_become_spaces() {
        let mut read = String::new();
        Pieces::new("\u{1e}[\"\u{feff}\"]\n\u{feff}2".as_bytes()).read_to_string(&mut read).unwrap();
        assert_eq!(read, " [\"\u{feff}\"]\n   2");
    }
}
