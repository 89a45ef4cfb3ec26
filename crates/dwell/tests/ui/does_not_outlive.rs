use dwell::Sparse;

fn main() {
    let kept: &u8;
    {
        let sparse = Sparse::new(1_u8);
        kept = sparse.get().unwrap();
    }
    println!("{kept}");
}
