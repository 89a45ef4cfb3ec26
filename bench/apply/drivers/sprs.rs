//! Builds sparse matrices, and keeps their products.
use sprs::TriMat;

fn main() {
    let size = 2_000;
    let matrix = |of: usize| {
        let mut entries = TriMat::new((size, size));
        for row in 0..size {
            for column in 0..8 {
                entries.add_triplet(row, (row * 7 + column * 31 + of) % size, 1.0 + column as f64);
            }
        }
        entries.to_csr::<usize>()
    };
    let matrices: Vec<_> = (0..8).map(matrix).collect();
    let products: Vec<_> = matrices.windows(2).map(|pair| &pair[0] * &pair[1]).collect();
    println!("{}", products.iter().map(|product| product.nnz()).sum::<usize>());
}
