//! `--pprof`: the call stacks for `go tool pprof`.

use super::document::Document;
use crate::pprof::Profile;
use std::io::{self, Write};

/// Writes a sample for each call stack: its allocations and their bytes, those that were live at the end, and the time.
pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let kinds = [
        ("alloc_objects", "count"),
        ("alloc_space", "bytes"),
        ("inuse_objects", "count"),
        ("inuse_space", "bytes"),
        ("alloc_time", "nanoseconds"),
    ];
    let mut profile = Profile::new(&kinds, "alloc_space");
    for stack in &document.stacks {
        let frames = stack.frames.iter().filter_map(|frame| document.frames.get(*frame as usize));
        let values = [stack.blocks, stack.bytes, stack.live_blocks, stack.live_bytes, stack.nanos];
        profile.add(frames.map(String::as_str), &values, &[], &[]);
    }
    profile.write(out)
}
