//! Errors in inputs, with their positions.

use std::{fmt, io};

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

pub(super) fn cannot_read(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "cannot be read: permission denied".to_owned(),
        io::ErrorKind::UnexpectedEof => "ends too early; is the file complete?".to_owned(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => format!("is not valid compressed data: {error}"),
        _ => format!("cannot be read: {error}"),
    }
}

/// Returns the message for bytes that are not UTF-8.
pub(super) fn not_utf8(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x1F, 0x8B, ..] => "gzip data in a file whose name does not end in .gz; rename or unpack it",
        // UTF-16 begins with a byte order mark; without one, about half of its bytes are zero.
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "the file is UTF-16; save it as UTF-8",
        _ if memchr::memchr(0, bytes).is_some() => "not text; is this file JSON?",
        _ => "invalid UTF-8; save the file as UTF-8",
    }
}
