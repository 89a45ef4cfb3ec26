//! `--folded`: call stacks for flame graphs.

use super::diff::Diff;
use super::format::FileFormat;
use dwell_heap::json::Document;
use std::io::{self, Write};

pub(super) struct Folded;

impl FileFormat for Folded {
    fn option(&self) -> &'static str {
        "folded"
    }

    fn help(&self) -> &'static str {
        "Write the call stacks with their live bytes to FILE, folded, for flame graphs"
    }

    fn write(&self, document: &Document, _diff: Option<&Diff>, out: &mut dyn Write) -> io::Result<()> {
        folded(document, out)
    }
}

/// Writes a line for each call stack, outermost function first, with its live bytes.
fn folded(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let Some(snapshot) = document.largest() else { return Ok(()) };
    for stack in &snapshot.stacks {
        let mut is_first = true;
        for frame in stack.frames.iter().rev() {
            let Some(name) = snapshot.frames.get(*frame as usize) else { continue };
            if !is_first {
                write!(out, ";")?;
            }
            is_first = false;
            // `;` and line breaks separate fields of the format.
            write!(out, "{}", name.replace(';', ":").replace(['\n', '\r'], " "))?;
        }
        writeln!(out, " {}", stack.bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::document;
    use super::*;

    #[test]
    fn folded_stacks_begin_with_the_outermost_function() {
        let mut out = Vec::new();
        folded(&document(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "main;a:b;alloc 20\nmain;alloc 10\n");
    }
}
