//! `--folded`: call stacks for flame graphs.

use super::document::{Document, Stack};
use std::io::{self, Write};

/// A measure of a call stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum By {
    /// Nanoseconds in the allocator
    #[default]
    Time,
    /// Allocations and reallocations
    Count,
    /// Their bytes
    Bytes,
}

/// Returns the measure of a stack.
pub(super) fn measure(stack: &Stack, by: By) -> u64 {
    match by {
        By::Time => stack.nanos,
        By::Count => stack.blocks,
        By::Bytes => stack.bytes,
    }
}

/// Writes a line for each call stack, outermost function first.
pub(super) fn write(document: &Document, by: By, out: &mut dyn Write) -> io::Result<()> {
    for stack in &document.stacks {
        let names = stack.frames.iter().rev().filter_map(|frame| document.frames.get(*frame as usize));
        // `;` and line breaks separate fields of the format.
        let names: Vec<String> = names.map(|name| name.replace(';', ":").replace(['\n', '\r'], " ")).collect();
        writeln!(out, "{} {}", names.join(";"), measure(stack, by))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_stacks_begin_with_the_outermost_function() {
        let document = Document {
            frames: ["main", "a;b"].map(str::to_owned).to_vec(),
            stacks: vec![Stack { frames: vec![1, 0], nanos: 5, blocks: 2, bytes: 64, ..Stack::default() }],
            ..Document::default()
        };
        let lines = [(By::Time, "main;a:b 5\n"), (By::Count, "main;a:b 2\n"), (By::Bytes, "main;a:b 64\n")];
        for (by, line) in lines {
            let mut out = Vec::new();
            write(&document, by, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), line);
        }
    }
}
