//! Finds the positions that are too varied for a type.

use super::{Form, Types};
use crate::infer::arena::NodeId;
use crate::infer::decide;
use crate::infer::decide::FREE;

impl Types<'_> {
    /// Returns the typed nodes of the positions of which another node is untyped.
    pub(in crate::infer) fn lost(&self) -> Vec<NodeId> {
        let mut lost = Vec::new();
        self.lost_at(&[self.arena.root], &mut lost);
        for class in self.classes() {
            match self.form(class) {
                Form::Union | Form::Record => {
                    self.slots(class).iter().for_each(|slot| self.lost_at(&slot.group, &mut lost));
                }
                // Each position has its own map, but their values have one type.
                Form::Map => self.lost_at(&self.values(self.members(class).iter().copied()), &mut lost),
            }
        }
        lost
    }

    /// Returns the nodes of positions too varied for a type, unless they share objects with other positions.
    pub(in crate::infer) fn hopeless(&self) -> Vec<NodeId> {
        let mut hopeless = Vec::new();
        self.hopeless_at(&[self.arena.root], &mut hopeless);
        for class in self.classes() {
            if self.form(class) != Form::Map {
                self.slots(class).iter().for_each(|slot| self.hopeless_at(&slot.group, &mut hopeless));
                self.hopeless_at(&self.rest(class), &mut hopeless);
            }
        }
        hopeless
    }

    fn hopeless_at(&self, group: &[NodeId], hopeless: &mut Vec<NodeId>) {
        let mut within = self.elements(group);
        if self.class_at(group).is_some_and(|class| self.form(class) == Form::Map) {
            within.push(self.values(self.objects_at(group)));
        }
        let before = hopeless.len();
        for within in &within {
            self.hopeless_at(within, hopeless);
        }
        let inner = hopeless.len() > before
            || within.iter().any(|within| {
                let kinds = self.kinds(within);
                kinds & FREE != 0 || kinds.count_ones() > 1
            });
        let kinds = self.kinds(group);
        if kinds & FREE == 0
            && decide::is_hopeless(kinds, inner)
            && group.iter().all(|&node| decide::is_unshared(self.arena, node))
        {
            hopeless.truncate(before);
            hopeless.extend(group);
        }
    }

    fn lost_at(&self, group: &[NodeId], lost: &mut Vec<NodeId>) {
        let kinds = |node: NodeId| decide::kinds(self.arena, node);
        if group.iter().any(|&node| kinds(node) & FREE != 0) {
            lost.extend(group.iter().filter(|&&node| kinds(node) & !FREE != 0));
        } else {
            self.elements(group).iter().for_each(|elements| self.lost_at(elements, lost));
        }
    }
}
