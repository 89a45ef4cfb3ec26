//! Persistent collections with a history: each step keeps the version before.

use rpds::{HashTrieMap, RedBlackTreeMap, Vector};

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        // An editor: the last hundred versions are kept, each of which changes one line.
        "history" => Box::new(|| {
            let mut lines: Vector<u64> = (0..1_000).collect();
            let mut names: RedBlackTreeMap<u64, u64> = (0..1_000).map(|key| (key, key)).collect();
            let mut history = std::collections::VecDeque::new();
            for step in 0..10_000_u64 {
                let at = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54;
                lines = lines.set(at as usize % 1_000, step).expect("a line");
                names = names.insert(at % 1_000, step);
                history.push_back((lines.clone(), names.clone()));
                if history.len() > 100 {
                    history.pop_front();
                }
            }
            history.iter().map(|(lines, names)| lines[7] + names[&7]).sum()
        }),
        "build a map" => Box::new(|| {
            let mut map = HashTrieMap::new();
            for key in 0..5_000_u64 {
                map.insert_mut(key.wrapping_mul(0x9E37_79B9_7F4A_7C15), key);
            }
            map.values().sum()
        }),
        _ => panic!("no workload {name}"),
    }
}
