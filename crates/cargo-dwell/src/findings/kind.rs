//! What a kind of finding is, and what it sees.

use super::finding::Finding;
use crate::heap::rows::Blocks;
use crate::heap::walk::Walk;
use dwell::model::{Change, Plan, Program};

pub(super) const WORD: u64 = 8;
/// The least number of values for which a type's fields are judged.
pub(super) const SOME: u64 = 100;

/// A heap with its model and the changes that were found already.
pub(super) struct Heap<'h, 's, 'p, 'm> {
    pub(super) walk: &'h Walk<'s, 'p>,
    pub(super) program: &'m Program,
    /// The changes of types that the search found.
    pub(super) plan: &'h Plan<'m>,
    /// The rows of the report, most bytes first.
    pub(super) blocks: &'h [Blocks],
    /// The bytes of all values in the model, before any change.
    pub(super) total: u64,
}

impl Heap<'_, '_, '_, '_> {
    /// Returns the change of a site's type that the search found.
    pub(super) fn change(&self, site: usize) -> Option<Change> {
        self.plan.changes.get(&site).copied()
    }
}

/// A kind of finding: what it looks for, its evidence, what it saves.
pub(super) trait Kind {
    /// Looks at one site of the model.
    fn of_site(&self, _: &Heap<'_, '_, '_, '_>, _site: usize) -> Option<Finding> {
        None
    }

    /// Looks at the whole heap.
    fn of_heap(&self, _: &Heap<'_, '_, '_, '_>) -> Vec<Finding> {
        Vec::new()
    }
}

/// Returns the call site that allocated the most bytes of an owner.
pub(super) fn allocated(blocks: &[Blocks], is_it: impl Fn(&Blocks) -> bool) -> Option<String> {
    blocks.iter().filter(|of| is_it(of)).find_map(|of| of.sites.first()?.at.clone())
}

/// Returns the owner, as in [`Blocks::owner`].
pub(super) fn owned(program: &Program, site: usize) -> &str {
    &program.sites[site].path
}
