//! Triangulates points, inserts more one by one, and looks for neighbours.
use spade::{DelaunayTriangulation, Point2, Triangulation};

fn main() {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let points: Vec<Point2<f64>> = (0..100_000).map(|_| Point2::new(next(), next())).collect();
    let mut triangulation: DelaunayTriangulation<Point2<f64>> = DelaunayTriangulation::bulk_load(points).unwrap();
    for _ in 0..5_000 {
        triangulation.insert(Point2::new(next(), next())).unwrap();
    }
    let mut near = 0.0;
    for _ in 0..20_000 {
        near += triangulation.nearest_neighbor(Point2::new(next(), next())).unwrap().position().x;
    }
    println!("{} {} {near:.6}", triangulation.num_vertices(), triangulation.num_all_faces());
}
