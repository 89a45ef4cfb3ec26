//! `--pprof`: live bytes and blocks for `go tool pprof`.

use super::diff::Diff;
use super::format::FileFormat;
use super::text::owners;
use crate::pprof::Profile;
use dwell_heap::json::{Blocks, Document, Snapshot};
use dwell_heap::names::type_of;
use std::io::{self, Write};

pub(super) struct Pprof;

impl FileFormat for Pprof {
    fn option(&self) -> &'static str {
        "pprof"
    }

    fn help(&self) -> &'static str {
        "Write the live bytes and blocks to FILE for `go tool pprof` and the viewers that read its format: a frame for each \
         owner, from a root to the type"
    }

    fn write(&self, document: &Document, _diff: Option<&Diff>, out: &mut dyn Write) -> io::Result<()> {
        let empty = Snapshot::default();
        profile(document.largest().unwrap_or(&empty)).write(out)
    }
}

fn profile(snapshot: &Snapshot) -> Profile {
    let mut profile = Profile::new(&[("inuse_objects", "count"), ("inuse_space", "bytes")], "inuse_space");
    for blocks in &snapshot.blocks {
        let texts = [("type", blocks.element.as_str()), ("owner", blocks.owner.as_str())];
        let unused = [("unused", blocks.unused_bytes, "bytes")];
        let frames = frames(snapshot, blocks);
        profile.add(frames.iter().map(String::as_str), &[blocks.blocks, blocks.bytes], &texts, &unused);
    }
    profile
}

/// Returns what the blocks are, and their owners up to a root.
fn frames(snapshot: &Snapshot, blocks: &Blocks) -> Vec<String> {
    let what = match blocks.sites.first().and_then(|site| site.at.as_ref()) {
        Some(at) => format!("{} ({at})", blocks.content),
        None => blocks.content.clone(),
    };
    let mut frames = vec![what, blocks.owner.clone()];
    if ["field", "weak"].contains(&&*blocks.by) {
        frames.extend(owners(snapshot, type_of(&blocks.owner)).into_iter().map(|step| step.owner));
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_lead_to_a_root() {
        let blocks = |owner: &str, by: &str, content: &str, element: &str, bytes| Blocks {
            owner: owner.into(),
            by: by.into(),
            content: content.into(),
            element: element.into(),
            bytes,
            ..Blocks::default()
        };
        let snapshot = Snapshot {
            blocks: vec![
                blocks("(static STATE)", "static", "Box<State>", "State", 8),
                blocks("State.sessions", "field", "HashMap<u64, Session>", "Session", 100),
                blocks("Session.tags", "field", "Vec<String>", "String", 50),
            ],
            ..Snapshot::default()
        };
        assert_eq!(
            frames(&snapshot, &snapshot.blocks[2]),
            ["Vec<String>", "Session.tags", "State.sessions", "(static STATE)"]
        );
        assert_eq!(frames(&snapshot, &snapshot.blocks[0]), ["Box<State>", "(static STATE)"]);
    }
}
