//! Dominators of a graph, by the simple algorithm of Lengauer and Tarjan (1979).
//!
//! A node dominates another one if each path from the root to the other leads through it. For a heap: without the node,
//! nothing holds the other.

/// The number of a node that was not visited.
const NONE: u32 = u32::MAX;

/// The nodes that the root reaches, by the order of a depth-first search: the root is number 0.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// The node of each number.
    pub(super) order: Vec<u32>,
    /// The number of each node.
    numbers: Vec<u32>,
    /// The number of the node from which each one was found.
    parents: Vec<u32>,
}

impl Search {
    pub(super) fn new(nodes: usize) -> Self {
        Self { numbers: vec![NONE; nodes], ..Self::default() }
    }

    /// Returns the number of a node that was visited.
    pub(super) fn number(&self, node: u32) -> Option<u32> {
        Some(self.numbers[node as usize]).filter(|number| *number != NONE)
    }

    /// Visits a node and all that it reaches. `parent` is the number of the node that has an edge to it.
    pub(super) fn visit<'n>(&mut self, node: u32, parent: u32, next: impl Fn(u32) -> &'n [u32]) {
        let mut open = vec![(node, parent)];
        while let Some((node, parent)) = open.pop() {
            if self.numbers[node as usize] != NONE {
                continue;
            }
            let number = u32::try_from(self.order.len()).unwrap_or(NONE);
            self.numbers[node as usize] = number;
            self.order.push(node);
            self.parents.push(parent);
            open.extend(
                next(node).iter().filter(|node| self.numbers[**node as usize] == NONE).map(|node| (*node, number)),
            );
        }
    }

    /// Frees all but the numbers of the nodes.
    pub(super) fn complete(&mut self) {
        (self.order, self.parents) = (Vec::new(), Vec::new());
    }

    /// Returns the number of the immediate dominator of each number. `before` calls its argument with each node that has
    /// an edge to a node.
    pub(super) fn dominators(&self, before: impl Fn(u32, &mut dyn FnMut(u32))) -> Vec<u32> {
        let count = self.order.len();
        let all = || 0..u32::try_from(count).unwrap_or(NONE);
        let mut forest = Forest { semi: all().collect(), label: all().collect(), ancestor: vec![NONE; count] };
        // The nodes of each semidominator as a list: the first one, and the one after each. A node leaves its list when its
        // dominator is known, which takes the same place.
        let (mut first, mut dominator) = (vec![NONE; count], vec![NONE; count]);
        for at in all().skip(1).rev() {
            let mut least = forest.semi[at as usize];
            before(self.order[at as usize], &mut |node| {
                if let Some(from) = self.number(node) {
                    let from = forest.eval(from);
                    least = least.min(forest.semi[from as usize]);
                }
            });
            forest.semi[at as usize] = least;
            dominator[at as usize] = std::mem::replace(&mut first[least as usize], at);
            let parent = self.parents[at as usize];
            forest.ancestor[at as usize] = parent;
            let mut member = std::mem::replace(&mut first[parent as usize], NONE);
            while member != NONE {
                let best = forest.eval(member);
                let is_lower = forest.semi[best as usize] < forest.semi[member as usize];
                let dominator = &mut dominator[member as usize];
                member = std::mem::replace(dominator, if is_lower { best } else { parent });
            }
        }
        // The root has none, and counts as its own.
        if let Some(root) = dominator.first_mut() {
            *root = 0;
        }
        for at in 1..count {
            if dominator[at] != forest.semi[at] {
                dominator[at] = dominator[dominator[at] as usize];
            }
        }
        dominator
    }
}

/// The nodes that were linked to their parents.
struct Forest {
    semi: Vec<u32>,
    /// The node with the least semidominator on the compressed path.
    label: Vec<u32>,
    ancestor: Vec<u32>,
}

impl Forest {
    fn eval(&mut self, node: u32) -> u32 {
        if self.ancestor[node as usize] == NONE {
            return node;
        }
        let mut path = Vec::new();
        let mut at = node;
        while self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            path.push(at);
            at = self.ancestor[at as usize];
        }
        while let Some(at) = path.pop() {
            let ancestor = self.ancestor[at as usize] as usize;
            let (label, mine) = (self.label[ancestor], self.label[at as usize]);
            if self.semi[label as usize] < self.semi[mine as usize] {
                self.label[at as usize] = label;
            }
            self.ancestor[at as usize] = self.ancestor[ancestor];
        }
        self.label[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the nodes that node 0 reaches without one of them.
    fn reached(next: &[Vec<u32>], without: usize) -> Vec<bool> {
        let mut met = vec![false; next.len()];
        let mut open = vec![0_usize];
        while let Some(node) = open.pop() {
            if node != without && !std::mem::replace(&mut met[node], true) {
                open.extend(next[node].iter().map(|node| *node as usize));
            }
        }
        met
    }

    #[test]
    fn dominators_are_those_of_the_definition() {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed >> 33).unwrap() % below
        };
        for _ in 0..300 {
            let nodes = 1 + random(14);
            let mut next = vec![Vec::new(); nodes];
            for _ in 0..random(3 * nodes + 1) {
                let (from, to) = (random(nodes), random(nodes));
                next[from].push(u32::try_from(to).unwrap());
            }
            let mut search = Search::new(nodes);
            search.visit(0, 0, |node| &next[node as usize]);
            let found = search.dominators(|node, each| {
                for (from, to) in next.iter().enumerate() {
                    if to.contains(&node) {
                        each(u32::try_from(from).unwrap());
                    }
                }
            });
            let all = reached(&next, usize::MAX);
            assert_eq!(all.iter().filter(|reached| **reached).count(), search.order.len());
            for dominating in 0..nodes {
                let without = reached(&next, dominating);
                for node in (0..nodes).filter(|node| all[*node] && *node != dominating) {
                    // Follows the immediate dominators.
                    let number = |node: usize| search.number(u32::try_from(node).unwrap());
                    let mut at = number(node).unwrap();
                    while at != 0 && Some(at) != number(dominating) {
                        at = found[at as usize];
                    }
                    assert_eq!(Some(at) == number(dominating), !without[node], "{dominating} {node} of {next:?}");
                }
            }
        }
    }
}
