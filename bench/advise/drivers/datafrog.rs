//! What is reachable in a graph, as the example `graspan1` computes it.
use datafrog::Iteration;

fn main() {
    let edges: Vec<(u32, u32)> = (0..4_000_u32).flat_map(|node| [(node, (node * 7 + 1) % 4_000), (node, (node * 13 + 5) % 4_000)]).collect();
    let nodes: Vec<(u32, u32)> = (0..100).map(|node| (node * 31, node)).collect();
    let mut iteration = Iteration::new();
    let reached = iteration.variable::<(u32, u32)>("nodes");
    let steps = iteration.variable::<(u32, u32)>("edges");
    reached.insert(nodes.into());
    steps.insert(edges.into());
    while iteration.changed() {
        reached.from_join(&reached, &steps, |_, &start, &next| (next, start));
    }
    println!("{}", reached.complete().len());
}
