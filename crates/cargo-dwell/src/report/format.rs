//! What a format of a file is.

use super::diff::Diff;
use dwell_heap::json::Document;
use std::io::{self, Write};

/// A format of a file.
pub(super) trait FileFormat: Sync {
    /// The name of the option that writes it, without `--`.
    fn option(&self) -> &'static str;

    /// The help of the option.
    fn help(&self) -> &'static str;

    /// Writes a census, and the differences from an older one if there is one.
    ///
    /// # Errors
    /// Returns the error of `out`.
    fn write(&self, document: &Document, diff: Option<&Diff>, out: &mut dyn Write) -> io::Result<()>;
}
