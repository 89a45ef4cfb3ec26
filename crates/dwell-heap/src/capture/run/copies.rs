//! The copies of a program, in memory and on disk.

use super::limits::Limits;
use crate::capture::Snapshot;
use crate::capture::image::{self, About, Process, Source};
use crate::capture::spill::Spilled;
use anyhow::Result;
use std::path::Path;
use std::sync::Arc;

/// A copy of the program.
pub(super) enum Kept {
    Process(Arc<Process>),
    Disk(Spilled),
}

impl Kept {
    pub(super) fn snapshot(self, about: &About) -> Result<Snapshot> {
        image::snapshot(self.source()?, about)
    }

    /// Reads as many blocks as memory is left for.
    pub(super) fn bounded(self, about: &About, most: usize) -> Result<(Snapshot, Option<u64>)> {
        image::bounded(self.source()?, about, most)
    }

    fn source(self) -> Result<Source> {
        match self {
            Self::Process(process) => Source::open(process),
            Self::Disk(spilled) => spilled.source(),
        }
    }
}

/// A copy that was read, the mean number of bytes between two of its blocks if those are not all, and when it was made.
pub(super) type Readable = (Snapshot, Option<u64>, u64);

/// Reads the first copy that can be read: the OOM killer may also have killed a copy. Also
/// returns the first error.
pub(super) fn first_readable(
    copies: impl Iterator<Item = (Kept, About)>,
    most: usize,
) -> (Option<Readable>, Option<anyhow::Error>) {
    let mut lost = None;
    for (kept, about) in copies {
        match kept.bounded(&about, most) {
            Ok((snapshot, thinned)) => return (Some((snapshot, thinned, about.nanos)), lost),
            Err(error) => lost = lost.or(Some(error)),
        }
    }
    (None, lost)
}

/// Returns for how many blocks this process has memory, with the walk over them and the debug info.
pub(super) fn most_blocks() -> usize {
    /// The walk takes 190 bytes a block; the rest is for types and reports.
    const EACH: u64 = 500;
    let left = Limits::new(Path::new("/"), std::process::id().cast_signed()).room().map_or(u64::MAX, |room| room.left);
    usize::try_from(left / EACH).unwrap_or(usize::MAX)
}

/// The copies of the program.
#[derive(Default)]
pub(super) struct Copies {
    pub(super) taken: Vec<(Arc<Process>, About)>,
    /// The latest copy at a peak.
    pub(super) peak: Option<(Kept, About)>,
    /// The latest copy because live bytes had grown.
    pub(super) grown: Option<(Kept, About)>,
    /// The latest such copy that is on disk, if it is another one.
    pub(super) fallback: Option<(Kept, About)>,
    /// Why a copy could not be written to disk.
    pub(super) problem: Option<anyhow::Error>,
    /// Whether snapshots of `--every` were dropped.
    pub(super) thinned: bool,
    /// The number of snapshots reported early.
    pub(super) reported: usize,
}
