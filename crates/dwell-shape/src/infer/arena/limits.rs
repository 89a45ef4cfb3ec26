//! Keeps an arena within its memory.

use super::known::{FormId, Known};
use super::node::{NodeId, ObjectId};
use super::object::{Fields, Object, Shape};
use super::{Arena, BUDGET, MOST, ROOM};
use crate::infer::text::Room;
use foldhash::HashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Arena {
    /// Sets the limits of one of several arenas of a form that are filled before they are merged. It gets this part of
    /// the data. All together have [`MOST`] nodes, of which each needs those of the form.
    pub(in crate::infer) fn limit(&mut self, arenas: usize, part: u64, whole: u64) {
        let share = |number: usize| {
            usize::try_from(number as u128 * u128::from(part) / u128::from(whole.max(1))).unwrap_or(number)
        };
        self.limits.budget = (BUDGET * 2 / arenas).clamp(BUDGET / 16, BUDGET);
        self.limits.most = self.len() + share(MOST.saturating_sub(arenas * self.len())).max(BUDGET / 16);
        self.limits.sets = share(ROOM).max(ROOM / 64);
        self.limits.room = Room::new(self.limits.sets);
    }

    /// Drops detail until there are at most `most` nodes, and the sets take about `sets` bytes.
    pub(in crate::infer) fn shrink(&mut self, most: usize, sets: usize) {
        self.settle();
        self.reclaim();
        self.compact();
        if self.nodes.len() > most || self.nodes.len() + self.objects.len() > 2 * most {
            // The objects of the form do not fit either.
            (self.origin.fresh, self.origin.id) = (0, FormId::None);
            for node in self.beyond(most) {
                self.set_free(node);
            }
            self.compact();
        }
        // The largest sets become estimates first.
        let mut largest = 1 << 16;
        while self.memory() > sets && largest >= 64 {
            self.nodes.iter_mut().filter_map(|node| node.texts.as_mut()).for_each(|texts| texts.coarsen(largest));
            for object in &mut self.objects {
                object.sets.coarsen(largest);
                match &mut object.shape {
                    Shape::Map { keys, .. } => keys.coarsen(largest),
                    Shape::Record(Fields { rest: Some(rest), .. }) => rest.keys.coarsen(largest),
                    _ => {}
                }
            }
            largest /= 2;
        }
        self.limits.room = Room::new(self.limits.sets.saturating_sub(self.memory()));
    }

    /// Returns the bytes that the sets of strings and keys have on the heap.
    pub(super) fn memory(&self) -> usize {
        let texts = self.nodes.iter().filter_map(|node| node.texts.as_ref()).map(|texts| texts.memory());
        texts.chain(self.objects.iter().map(Object::memory)).sum()
    }

    /// Finds positions to make untyped, so that at most `most` nodes remain. Those with the most values stay.
    fn beyond(&mut self, most: usize) -> Vec<NodeId> {
        let (mut nodes, mut objects) = (1, 0);
        // Objects that several positions share are all typed or all untyped.
        let mut typed = HashMap::<ObjectId, bool>::default();
        let mut free = Vec::new();
        let mut found = BinaryHeap::from([(self.node(self.root).count(), Reverse(self.root))]);
        while let Some((_, Reverse(id))) = found.pop() {
            let (mut below, mut new) = (Vec::new(), Vec::new());
            let object = self.object_of(id);
            self.nodes[id.0 as usize].ids(&mut |id| below.push(*id), &mut |_| {});
            let known = object.and_then(|object| typed.get(&object).copied());
            if let Some(object) = object.filter(|_| known.is_none()) {
                new.push(object);
                let mut at = 0;
                while let Some(&object) = new.get(at) {
                    // The records of a union.
                    let mut inner = Vec::new();
                    self.objects[object.0 as usize].ids(&mut |id| below.push(*id), &mut |id| inner.push(*id));
                    for object in inner {
                        let object = self.find(object);
                        if !new.contains(&object) {
                            new.push(object);
                        }
                    }
                    at += 1;
                }
            }
            let fits = nodes + below.len() <= most && nodes + below.len() + objects + new.len() <= 2 * most;
            let fits = fits && known != Some(false);
            if let Some(object) = object.filter(|_| known.is_none()) {
                typed.insert(object, fits);
            }
            if fits {
                (nodes, objects) = (nodes + below.len(), objects + new.len());
                found.extend(below.into_iter().map(|id| (self.node(id).count(), Reverse(id))));
            } else {
                free.push(id);
            }
        }
        free
    }

    /// Removes the nodes and objects that no position reaches. The others get new numbers, but the objects of a form file
    /// all stay and keep theirs.
    fn compact(&mut self) {
        let fixed = if self.origin.id.is_file() { self.origin.fresh } else { 0 };
        let mut nodes = vec![false; self.nodes.len()];
        let mut objects = vec![false; self.objects.len()];
        let (mut open_nodes, mut open_objects) = (vec![self.root], (0..fixed).map(ObjectId).collect::<Vec<_>>());
        loop {
            if let Some(id) = open_nodes.pop() {
                if !std::mem::replace(&mut nodes[id.0 as usize], true) {
                    self.nodes[id.0 as usize].ids(&mut |id| open_nodes.push(*id), &mut |id| open_objects.push(*id));
                }
            } else if let Some(id) = open_objects.pop() {
                let id = self.find(id);
                if !std::mem::replace(&mut objects[id.0 as usize], true) {
                    if let Shape::Union(tagged) = &mut self.object_mut(id).shape {
                        tagged.scratch.clear();
                    }
                    let object = &mut self.objects[id.0 as usize];
                    object.ids(&mut |id| open_nodes.push(*id), &mut |id| open_objects.push(*id));
                }
            } else {
                break;
            }
        }
        objects[..fixed as usize].fill(true);
        let number = |reached: &[bool]| -> Vec<u32> {
            let mut next = 0;
            let number = |&reached: &bool| {
                next += u32::from(reached);
                next.wrapping_sub(1)
            };
            reached.iter().map(number).collect()
        };
        let (new_nodes, new_objects) = (number(&nodes), number(&objects));
        let found: Vec<ObjectId> = (0..).take(self.objects.len()).map(|id| self.find(ObjectId(id))).collect();
        let node = &mut |id: &mut NodeId| id.0 = new_nodes[id.0 as usize];
        let object = &mut |id: &mut ObjectId| id.0 = new_objects[found[id.0 as usize].0 as usize];
        node(&mut self.root);
        let (mut reached, mut reached_objects) = (nodes.into_iter(), objects.into_iter());
        self.nodes.retain(|_| reached.next() == Some(true));
        self.objects.retain(|_| reached_objects.next() == Some(true));
        self.nodes.iter_mut().for_each(|each| each.ids(node, object));
        self.objects.iter_mut().for_each(|each| each.ids(node, object));
        self.spare.clear();
        self.spare_objects.clear();
        self.taken.clear();
        self.origin.known = Known::default();
        if !self.origin.id.is_file() {
            (self.origin.fresh, self.origin.id) = (0, FormId::None);
        }
    }
}
