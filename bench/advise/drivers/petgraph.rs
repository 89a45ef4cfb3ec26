//! Builds a road network, looks for the shortest paths, components and a spanning tree.
use petgraph::algo::{dijkstra, kosaraju_scc, min_spanning_tree, toposort};
use petgraph::data::FromElements;
use petgraph::graph::{DiGraph, UnGraph};
use petgraph::graphmap::DiGraphMap;

fn main() {
    let side = 250_usize;
    let mut roads: UnGraph<(u32, u32), u32> = UnGraph::new_undirected();
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let nodes: Vec<_> = (0..side * side).map(|at| roads.add_node(((at / side) as u32, (at % side) as u32))).collect();
    for row in 0..side {
        for column in 0..side {
            let at = row * side + column;
            if column + 1 < side {
                roads.add_edge(nodes[at], nodes[at + 1], 1 + next() % 100);
            }
            if row + 1 < side {
                roads.add_edge(nodes[at], nodes[at + side], 1 + next() % 100);
            }
        }
    }
    let far = dijkstra(&roads, nodes[0], None, |edge| *edge.weight());
    let tree: UnGraph<(u32, u32), u32> = UnGraph::from_elements(min_spanning_tree(&roads));
    let mut calls: DiGraph<String, ()> = DiGraph::new();
    let functions: Vec<_> = (0..60_000).map(|number| calls.add_node(format!("function_{number}"))).collect();
    for number in 1..functions.len() {
        for _ in 0..3 {
            calls.add_edge(functions[next() as usize % number], functions[number], ());
        }
    }
    let order = toposort(&calls, None).unwrap();
    let mut links: DiGraphMap<u32, f32> = DiGraphMap::new();
    for _ in 0..150_000 {
        links.add_edge(next() % 40_000, next() % 40_000, 0.5);
    }
    let components = kosaraju_scc(&links);
    println!("{} {} {} {}", far.values().max().unwrap(), tree.edge_count(), order.len(), components.len());
}
