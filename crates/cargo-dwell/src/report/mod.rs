//! The reports of a heap: text, JSON, a page, differences, and files for other viewers.

mod dhat;
pub(crate) mod diff;
pub(crate) mod files;
mod folded;
mod format;
mod history;
mod html;
pub(crate) mod paths;
mod pprof;
mod rss;
pub(crate) mod saved;
pub(crate) mod text;

#[cfg(test)]
mod tests {
    use dwell_heap::json::{Document, Snapshot, Stack};

    /// Returns a census with call stacks.
    pub(super) fn document() -> Document {
        let snapshot = Snapshot {
            at: "exit".into(),
            live_bytes: 30,
            frames: vec!["alloc".into(), "a;b".into(), "main".into()],
            stacks: vec![
                Stack { frames: vec![0, 1, 2], blocks: 2, bytes: 20 },
                Stack { frames: vec![0, 2, 9], blocks: 1, bytes: 10 },
            ],
            ..Snapshot::default()
        };
        Document { snapshots: vec![Snapshot::default(), snapshot], ..Document::default() }
    }
}
