//! Finds the nearest of many points.
use kdtree::KdTree;
use kdtree::distance::squared_euclidean;

fn main() {
    let mut tree = KdTree::new(3);
    for at in 0..200_000_u64 {
        let of = |prime: u64| (at * prime % 10_007) as f64 / 10.0;
        tree.add([of(7_919), of(104_729), of(1_299_709)], at).unwrap();
    }
    let near = tree.nearest(&[500.0, 500.0, 500.0], 1_000, &squared_euclidean).unwrap();
    println!("{}", near.iter().map(|(_, at)| **at).sum::<u64>());
}
