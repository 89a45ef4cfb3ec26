//! Roots outside of the heap: thread-local variables, and the variables of frames.
//!
//! A variable of a frame may be a copy that was moved away, or a value that was dropped: the debug info has no moves. So
//! it owns a block only if no field does, and if the block's call stack shows the same type. An `Rc` in a ring, which
//! fields own too, is the exception: its variables are read again after all other owners.

use super::owners::{path_head, shown};
use super::{OWNED, Walk};
use crate::capture::variables::Variable;
use crate::heap::walk::{BlockType, SiteId, argument, is_std};

/// The owner of what a function of std is about to drop: the variable or field that it was in is not known any more.
pub(crate) const DROPPED: &str = "(local value that is being dropped)";

/// A variable with the site of its values.
pub(super) struct Root<'v> {
    variable: &'v Variable,
    site: SiteId,
}

/// How the variable that is being read owns blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reading {
    /// Anything but a variable of a frame.
    #[default]
    Other,
    /// A variable of a frame, by its number plus one.
    Variable(u32),
    /// The same, but fields may own the blocks too.
    Last(u32),
}

impl Walk<'_, '_> {
    /// Creates the sites of variables.
    pub(super) fn roots<'v>(&mut self, variables: &'v [Variable]) -> Vec<Root<'v>> {
        let root = |variable: &'v Variable| {
            let path = match &variable.function {
                Some(function) if is_drop(function) => DROPPED.to_owned(),
                Some(function) => format!("(local {} of {})", variable.name, shown(function)),
                None => format!("(thread-local {})", variable.name),
            };
            let site = self.schema.root(variable.ty, &path);
            // What a function of std has belongs to its caller, which is not known here.
            let head = variable.function.as_deref().map(path_head).filter(|head| !is_std(head));
            if let Some(krate) = head.and_then(|head| head.split("::").next()) {
                self.schema.in_crate(site, krate);
            }
            Root { variable, site }
        };
        let mut roots: Vec<Root<'_>> = variables.iter().map(root).collect();
        // A value has a better name where it is no reference, and in the caller of a function of std.
        let is_of_std =
            |root: &Root<'_>| root.variable.function.as_ref().is_some_and(|function| is_std(path_head(function)));
        roots.sort_by_key(|root| (root.variable.name.starts_with('*'), is_of_std(root)));
        roots
    }

    /// Reads the variables that surely have a value.
    pub(super) fn start_at_alive(&mut self, roots: &[Root<'_>]) {
        for root in roots.iter().filter(|root| root.variable.is_alive) {
            self.at_root(root.site);
            self.value(root.site, &root.variable.bytes, 1);
            self.drain();
        }
    }

    /// Reads the variables of frames. In the second pass, it reads those that have got a block in the first one.
    pub(super) fn start_at_frames(&mut self, roots: &[Root<'_>], is_last: bool) {
        let is_open =
            |block: &usize| self.marks.claims[*block] == 0 && (is_last || self.marks.flags[*block] & OWNED == 0);
        let mut owners: Vec<u32> = (0..self.marks.claims.len())
            .filter(is_open)
            .map(|block| self.marks.local_of[block])
            .filter(|variable| *variable != 0)
            .collect();
        owners.sort_unstable();
        owners.dedup();
        for (number, root) in (1_u32..).zip(roots) {
            let bytes = &*root.variable.bytes;
            if root.variable.is_alive
                || self.is_counting() && owners.binary_search(&number).is_err()
                || !self.is_valid(root.site, bytes, 0)
            {
                continue;
            }
            self.current.reading = if is_last { Reading::Last(number) } else { Reading::Variable(number) };
            self.at_root(root.site);
            self.value(root.site, bytes, 1);
            self.current.reading = Reading::Other;
            self.drain();
        }
    }

    /// Returns `true` if what is being read may own a block. Records the owner of a block that no field owns.
    pub(super) fn may_own(&mut self, block: usize, element: &str) -> bool {
        let (number, is_last) = match self.current.reading {
            Reading::Other => return true,
            Reading::Variable(number) => (number, false),
            Reading::Last(number) => (number, true),
        };
        if !self.agrees(block, element) {
            return false;
        }
        let is_free = self.marks.flags[block] & OWNED == 0;
        if !self.is_counting() {
            if self.marks.local_of[block] == 0 {
                self.marks.local_of[block] = number;
            }
            return true;
        }
        // The first pass does not follow chains of blocks that it has met.
        let variable = self.marks.local_of[block];
        is_free && (variable == number || variable == 0) || is_last && variable == number
    }

    /// Returns `true` if a variable may point to a block.
    pub(super) fn may_point_to(&self, block: usize) -> bool {
        self.current.reading == Reading::Other || self.type_of(block).is_some()
    }

    /// Returns `true` if the call stack of a block shows elements with this name, or nothing.
    fn agrees(&self, block: usize, element: &str) -> bool {
        match self.type_of(block) {
            Some(BlockType::Value(ty) | BlockType::Slots(ty) | BlockType::Own(_, ty, _)) => {
                is_same(&self.schema.get(ty).name, element)
            }
            Some(BlockType::Chunk(_)) => false,
            None => !self.is_foreign(block),
        }
    }
}

/// Returns `true` for a function of std that drops its argument, whose name tells nothing.
fn is_drop(function: &str) -> bool {
    is_std(path_head(function)) && {
        let shown = shown(function);
        shown.starts_with("core::ptr::drop_in_place") || shown.ends_with("::drop")
    }
}

/// Compares the type in a block with the elements of its owner: `ArcInner<Node>` and `Node`, `LeafNode<u8, Node>` and
/// `(u8, Node)`.
fn is_same(block: &str, element: &str) -> bool {
    let inner = argument(block);
    let in_tuple = element.strip_prefix('(').and_then(|element| element.strip_suffix(')'));
    block == element
        || inner == element
        || in_tuple == Some(inner)
        || inner.strip_suffix(", SetValZST") == Some(element)
        || block.strip_prefix('(').and_then(|block| block.strip_suffix(", ())")) == Some(element)
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn blocks_are_compared_with_elements() {
        for (block, element) in [
            ("Node", "Node"),
            ("ArcInner<Node>", "Node"),
            ("LeafNode<u8, Node>", "(u8, Node)"),
            ("LeafNode<u8, SetValZST>", "u8"),
            ("(u8, Node)", "(u8, Node)"),
            ("(Node, ())", "Node"),
        ] {
            assert!(is_same(block, element), "{block} {element}");
            assert!(!is_same(block, "Other"), "{block}");
        }
    }
}
