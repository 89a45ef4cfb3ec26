//! Maps and vectors of which older versions are kept.
use imbl::{HashMap, OrdMap, Vector};

fn main() {
    let mut map: HashMap<u64, String> = HashMap::new();
    let mut order: OrdMap<u64, u64> = OrdMap::new();
    let mut list: Vector<u64> = Vector::new();
    let mut versions = Vec::new();
    let mut state = 1_u64;
    for step in 0..150_000_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = (state >> 33) % 60_000;
        map.insert(key, format!("value {step}"));
        order.insert(key, step);
        list.push_back(key);
        if step % 300 == 0 {
            versions.push((map.clone(), order.clone(), list.clone()));
        }
    }
    let all: usize = versions.iter().map(|(map, order, list)| map.len() + order.len() + list.len()).sum();
    println!("{all} {}", versions.iter().filter_map(|(_, order, _)| order.get(&7)).sum::<u64>());
}
