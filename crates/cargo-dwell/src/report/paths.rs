//! The chains of owners that were asked for, from a root to a block.

use anyhow::{Result, bail};
use comfy_table::Cell;
use dwell_heap::json::{Document, Path};
use dwell_output::units::bytes;
use dwell_output::{Look, header, right};
use std::io;

/// The most steps that are printed: of a longer chain, such as that of a list, both ends.
const STEPS: usize = 24;

/// Checks that there is an answer.
///
/// # Errors
/// Returns an error if no snapshot has one.
pub(crate) fn expect(document: &Document, asked: &str) -> Result<()> {
    if document.snapshots.iter().all(|snapshot| snapshot.paths.is_empty()) {
        bail!("nothing live is `{asked}`; texts and integers of fields as in the report are searched");
    }
    Ok(())
}

/// Writes chains.
pub(crate) fn write(paths: &[Path], look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    for path in paths {
        let root = path.root.as_deref().unwrap_or("what nothing else is known to hold");
        look.heading(out, &format!("Path to {}", path.target), &format!(": from {root}"))?;
        let mut rows = vec![header(&["held by", "block", "bytes", "what"])];
        for (number, step) in path.steps.iter().enumerate() {
            let is_left_out = |number: usize| number >= STEPS / 2 && number + STEPS / 2 < path.steps.len();
            if is_left_out(number) {
                if !is_left_out(number - 1) {
                    rows.push(vec![Cell::new(format!("{} more", path.steps.len() - STEPS))]);
                }
                continue;
            }
            rows.push(vec![
                Cell::new(&step.owner),
                Cell::new(format!("{:#x}", step.address)),
                right(bytes(step.bytes)),
                Cell::new(&step.content),
            ]);
        }
        look.table(out, &rows)?;
    }
    Ok(())
}
