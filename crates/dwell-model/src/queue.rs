//! The order in which a greedy search takes candidates.

use core::cmp::Reverse;
use std_alloc::collections::BinaryHeap;
use std_alloc::vec::Vec;

/// A priority queue of candidates by their last known savings, for lazy greedy search (Minoux, "Accelerated greedy algorithms",
/// 1978).
///
/// A change usually reduces the savings of others, so [`pop`](Self::pop) evaluates only the first candidates again.
#[derive(Debug)]
pub struct Queue<T> {
    /// The candidates by rank; `None` for removed ones. Of candidates with the same saving, the first wins.
    candidates: Vec<Option<T>>,
    /// The last known saving and the rank of each candidate.
    heap: BinaryHeap<(i128, Reverse<usize>)>,
}

impl<T> Queue<T> {
    /// Creates a queue of candidates with their savings.
    pub fn new(candidates: impl IntoIterator<Item = (T, i128)>) -> Self {
        let mut queue = Self { candidates: Vec::new(), heap: BinaryHeap::new() };
        candidates.into_iter().for_each(|(candidate, saves)| queue.push(candidate, saves));
        queue
    }

    /// Adds a candidate with its saving.
    pub fn push(&mut self, candidate: T, saves: i128) {
        self.heap.push((saves, Reverse(self.candidates.len())));
        self.candidates.push(Some(candidate));
    }

    /// Removes the candidate with the largest saving by `saves`, if that is more than `least`.
    ///
    /// It may overlook a candidate whose saving has increased since the last evaluation; see [`update`](Self::update).
    pub fn pop(&mut self, least: i128, mut saves: impl FnMut(&mut T) -> i128) -> Option<T> {
        loop {
            let &(stale, Reverse(rank)) = self.heap.peek()?;
            if stale <= least {
                return None;
            }
            self.heap.pop();
            let now = saves(self.candidates[rank].as_mut()?);
            let is_most = self.heap.peek().is_none_or(|&(next, _)| now >= next);
            if now > least && is_most {
                return self.candidates[rank].take();
            }
            self.heap.push((now, Reverse(rank)));
        }
    }

    /// Removes the candidate with the largest last known saving.
    pub fn pop_stale(&mut self) -> Option<T> {
        let (_, Reverse(rank)) = self.heap.pop()?;
        self.candidates[rank].take()
    }

    /// Updates the savings. `saves` receives a candidate with its last known saving, and returns `None` to keep that.
    pub fn update(&mut self, mut saves: impl FnMut(&mut T, i128) -> Option<i128>) {
        let mut all = core::mem::take(&mut self.heap).into_vec();
        for (stale, Reverse(rank)) in &mut all {
            if let Some(now) = self.candidates[*rank].as_mut().and_then(|candidate| saves(candidate, *stale)) {
                *stale = now;
            }
        }
        self.heap = all.into();
    }

    /// Returns whether no last known saving is more than `least`.
    pub fn is_below(&self, least: i128) -> bool {
        self.heap.peek().is_none_or(|&(stale, _)| stale <= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std_alloc::vec;

    #[test]
    fn pop_returns_the_largest_current_saving() {
        let mut queue = Queue::new([("a", 9), ("b", 7), ("c", 7), ("d", 1)]);
        // The saving of `a` has fallen below that of `b`.
        let mut evaluated = vec![];
        let saves = |&mut name: &mut &'static str| {
            evaluated.push(name);
            if name == "a" { 2 } else { 7 }
        };
        assert_eq!(queue.pop(0, saves), Some("b"));
        assert_eq!(evaluated, ["a", "b"]);
        assert_eq!(queue.pop(0, |_| 7), Some("c"));
        assert_eq!(queue.pop(2, |_| 7), None);
        assert!(queue.is_below(2) && !queue.is_below(1));
        // The saving of `d` has increased, which only `update` finds.
        assert_eq!(queue.pop(1, |&mut name| if name == "d" { 9 } else { 2 }), Some("a"));
        queue.update(|_, stale| (stale == 1).then_some(9));
        assert_eq!(queue.pop(2, |_| 9), Some("d"));
        assert_eq!(queue.pop(i128::MIN, |_| 9), None);
        assert_eq!(queue.pop_stale(), None);
    }

    #[test]
    fn pop_stale_orders_by_saving_then_insertion() {
        let mut queue = Queue::new([("a", 0), ("b", 3), ("c", 0)]);
        assert_eq!(queue.pop(5, |_| unreachable!("none may save so much")), None);
        let all: Vec<&str> = core::iter::from_fn(|| queue.pop_stale()).collect();
        assert_eq!(all, ["b", "a", "c"]);
    }
}
