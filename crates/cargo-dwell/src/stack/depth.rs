//! The deepest stack below each function, along known calls.

use super::frames::Function;

/// The deepest call path from a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Depth {
    /// The bytes of its frame and of the frames below it on the deepest path. Of functions that call each other in a
    /// circle, each frame counts once.
    pub(super) bytes: u64,
    /// The callee on this path.
    pub(super) next: Option<usize>,
    /// Whether the function is in a circle of calls.
    pub(super) is_recursive: bool,
    /// Whether a circle of calls, or a call of an unknown function, is in the function or below it: the bytes are then
    /// the least that the path takes.
    pub(super) is_least: bool,
}

/// Returns the depth of each function.
pub(super) fn depths(functions: &[Function]) -> Vec<Depth> {
    let groups = groups(functions);
    let mut group_of = vec![0; functions.len()];
    for (number, group) in groups.iter().enumerate() {
        for &index in group {
            group_of[index] = number;
        }
    }
    let mut depths = vec![Depth::default(); functions.len()];
    // A group comes after the groups that it calls.
    for (number, group) in groups.iter().enumerate() {
        let calls_itself = |index: &usize| functions[*index].calls.contains(index);
        let is_recursive = group.len() > 1 || group.iter().any(calls_itself);
        let frames = group.iter().map(|&index| functions[index].frame).fold(0, u64::saturating_add);
        let below = |index: usize| {
            let outside = functions[index].calls.iter().filter(|&&callee| group_of[callee] != number);
            outside.copied().max_by_key(|&callee| depths[callee].bytes)
        };
        let deepest = group.iter().filter_map(|&index| below(index)).max_by_key(|&callee| depths[callee].bytes);
        let under = deepest.map_or(0, |callee| depths[callee].bytes);
        let is_least = is_recursive
            || group.iter().any(|&index| {
                let function = &functions[index];
                function.is_open || function.calls.iter().any(|&callee| depths[callee].is_least)
            });
        for &index in group {
            depths[index] = Depth { bytes: frames.saturating_add(under), next: deepest, is_recursive, is_least };
        }
    }
    depths
}

/// Returns the strongly connected groups of the call graph, callees first (Tarjan's algorithm, without recursion).
fn groups(functions: &[Function]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; functions.len()];
    let mut low = vec![0; functions.len()];
    let mut is_open = vec![false; functions.len()];
    let (mut stack, mut groups, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..functions.len() {
        if number[root] != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((index, edge)) = work.pop() {
            if edge == 0 {
                (number[index], low[index], is_open[index]) = (next, next, true);
                stack.push(index);
                next += 1;
            }
            if let Some(&callee) = functions[index].calls.get(edge) {
                work.push((index, edge + 1));
                if number[callee] == UNSEEN {
                    work.push((callee, 0));
                } else if is_open[callee] {
                    low[index] = low[index].min(number[callee]);
                }
                continue;
            }
            if low[index] == number[index] {
                let mut group = Vec::new();
                while let Some(member) = stack.pop() {
                    is_open[member] = false;
                    group.push(member);
                    if member == index {
                        break;
                    }
                }
                groups.push(group);
            }
            if let Some((caller, _)) = work.last() {
                low[*caller] = low[*caller].min(low[index]);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(frame: u64, calls: &[usize]) -> Function {
        Function { address: 0, name: String::new(), frame, calls: calls.to_vec(), is_open: false }
    }

    #[test]
    fn deepest_path_is_found() {
        let all = depths(&[function(8, &[1, 2]), function(100, &[3]), function(50, &[]), function(1, &[])]);
        assert_eq!((all[0].bytes, all[0].next, all[0].is_least), (109, Some(1), false));
        assert_eq!((all[1].bytes, all[2].bytes), (101, 50));
    }

    #[test]
    fn recursion_is_marked_and_counts_once() {
        // 0 calls 1, 1 and 2 call each other, 2 calls 3; 4 calls itself.
        let all = depths(&[
            function(1, &[1]),
            function(10, &[2]),
            function(20, &[1, 3]),
            function(5, &[]),
            function(7, &[4]),
        ]);
        assert_eq!((all[0].bytes, all[0].is_recursive, all[0].is_least), (36, false, true));
        assert!(all[1].is_recursive && all[2].is_recursive && !all[3].is_recursive && !all[3].is_least);
        assert_eq!((all[4].bytes, all[4].is_recursive), (7, true));
    }

    #[test]
    fn long_call_path_does_not_overflow() {
        let last = 200_000_usize;
        let calls = |index: usize| if index < last { vec![index + 1] } else { Vec::new() };
        let all: Vec<Function> = (0..=last).map(|index| function(1, &calls(index))).collect();
        assert_eq!(depths(&all)[0].bytes, 200_001);
    }
}
