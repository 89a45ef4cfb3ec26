//! From a captured heap to the rows and findings of a report.

use super::Asked;
use crate::capture::{self, Moment, variables};
use crate::debuginfo::{Frames, Locals, Program};
use crate::findings::{self, Known};
use crate::heap::walk::found::Found;
use crate::heap::walk::{History, Schema, Walk, owners};
use crate::heap::{decode, paths, resident, retained, summary};
use crate::json::Snapshot;

/// Walks through a snapshot and summarises it. Without `asked` only the blocks.
pub(crate) fn summarise(
    snapshot: &capture::Snapshot,
    program: &Program,
    frames: &Frames,
    locals: &Locals,
    known: &Known,
    asked: Option<&Asked>,
    (ages, moments): (&[u32], &[String]),
) -> Snapshot {
    let mut schema = Schema::new(program, decode::FAMILIES);
    schema.add_own(&known.own);
    let origins = owners::origins(snapshot, frames, &schema);
    let mut walk = Walk::new(snapshot, &origins, schema);
    walk.find_tasks(frames);
    walk.history = History { ages, moments };
    walk.found = asked.and_then(|asked| asked.find.clone()).map(Found::new);
    walk.walk(&variables::all(snapshot, program, frames, locals));
    walk.schema.prepare_inline();
    let blocks = summary::blocks(&walk, snapshot, &origins);
    let of_kind = |by: &[&str]| blocks.iter().filter(|row| by.contains(&&*row.by)).map(|row| row.bytes).sum();
    let mut rss = resident::divide(&walk, snapshot, &origins);
    let totals = Snapshot {
        at: at(&snapshot.at),
        millis: snapshot.millis,
        live_bytes: snapshot.live_bytes,
        live_blocks: snapshot.live_blocks,
        peak_bytes: snapshot.peak_bytes,
        typed_bytes: of_kind(&["field", "static", "thread-local", "local", "task", "weak", "stack", "cycle", "leak"]),
        owned_bytes: of_kind(&["field", "static", "thread-local", "local", "task", "weak"]),
        root_bytes: of_kind(&["stack", "cycle", "leak"]),
        standard_error: None,
        ..Snapshot::default()
    };
    let Some(asked) = asked else { return Snapshot { rss, blocks, ..totals } };
    let (frames, stacks) = summary::stacks(snapshot, frames);
    let mut findings = findings::find(&walk, &blocks, known);
    findings::resident::add(&mut findings, &walk, snapshot, rss.as_mut());
    Snapshot {
        rss,
        paths: paths::answers(&walk, snapshot, asked.path.as_deref()),
        retained: retained::find(&mut walk, snapshot, &origins),
        sizes: summary::sizes(snapshot),
        fields: summary::fields(&walk),
        enums: summary::enums(&walk),
        strings: summary::strings(&walk),
        findings,
        blocks,
        frames,
        stacks,
        ..totals
    }
}

/// Replaces the usable sizes of blocks by the requested ones, as far as their owners show them.
pub(crate) fn settle(snapshot: &mut capture::Snapshot, program: &Program, frames: &Frames, locals: &Locals) {
    if snapshot.usable.is_none() {
        return;
    }
    let mut walk = Walk::new(snapshot, &[], Schema::new(program, decode::FAMILIES));
    walk.find_tasks(frames);
    let requested = walk.requested(&variables::all(snapshot, program, frames, locals));
    for (block, size) in snapshot.blocks.iter_mut().zip(requested) {
        block.size = if size > 0 { size.min(block.size) } else { block.size };
    }
    snapshot.live_bytes = snapshot.blocks.iter().map(|block| block.size).sum();
    snapshot.peak_bytes = snapshot.live_bytes;
}

fn time(millis: u64) -> String {
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}

pub(super) fn at(moment: &Moment) -> String {
    match moment {
        Moment::Peak => "peak".into(),
        Moment::Growth => "growth".into(),
        Moment::Exit => "exit".into(),
        Moment::Signal => "signal".into(),
        Moment::Attached => "attached".into(),
        Moment::Core => "core".into(),
        Moment::After(millis) => time(*millis),
        Moment::Dump(millis) => format!("+{}", time(*millis)),
    }
}
