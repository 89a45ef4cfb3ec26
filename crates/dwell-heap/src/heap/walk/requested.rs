//! The sizes of blocks. From outside of a program, only what can be used of a block is known; its owner shows what was
//! requested.

use super::owners::{callbacks, tasks};
use super::roots::Root;
use super::{Pass, Walk};
use crate::capture::variables::Variable;
use crate::debuginfo::Frames;

impl Walk<'_, '_> {
    /// Finds the requested size of each block by its owner; 0 for those without an owner. A walk for this does nothing else.
    pub(crate) fn requested(mut self, variables: &[Variable]) -> Vec<u64> {
        self.pass = Pass::Measure(vec![0; self.snapshot.blocks.len()]);
        let statics = self.statics();
        let roots: Vec<Root<'_>> = self.roots(variables);
        self.first_pass(&statics, &roots);
        match self.pass {
            Pass::Measure(sizes) => sizes,
            Pass::Find | Pass::Count => Vec::new(),
        }
    }

    /// Finds the tasks by their headers, and the values that C code holds, if there are no call stacks to show them.
    pub(crate) fn find_tasks(&mut self, frames: &Frames) {
        if self.is_from_outside() {
            let tasks = tasks::find(self.snapshot, frames, &self.schema);
            self.hints.types.extend(tasks);
            self.hints.types.extend(callbacks::find(self.snapshot, frames, &self.schema));
        }
    }

    /// Records the requested size of a block.
    pub(in crate::heap) fn is_requested(&mut self, block: usize, bytes: u64) {
        if let Pass::Measure(sizes) = &mut self.pass
            && sizes[block] == 0
        {
            sizes[block] = bytes;
        }
    }

    /// Returns `true` if a program was captured from outside: there are no call stacks, and sizes are not the requested ones.
    pub(super) fn is_from_outside(&self) -> bool {
        self.snapshot.usable.is_some()
    }

    /// Returns `true` if a value of some bytes fits in a block, and if the allocator gives such a block for it.
    pub(in crate::heap) fn fits(&self, block: usize, bytes: u64) -> bool {
        let size = self.snapshot.blocks[block].size;
        bytes <= size && self.snapshot.usable.is_none_or(|rounding| rounding.fits(bytes, size))
    }

    /// Returns `true` if a block may have been requested with a size.
    pub(super) fn is_size(&self, block: usize, bytes: u64) -> bool {
        let size = self.snapshot.blocks[block].size;
        bytes == size || self.snapshot.usable.is_some_and(|rounding| rounding.fits(bytes, size))
    }
}
