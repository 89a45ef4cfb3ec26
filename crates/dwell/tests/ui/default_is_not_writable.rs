use dwell::Sparse;

fn main() {
    let mut list = Sparse::<Vec<u8>>::empty();
    list.push(1); // would write to the default that all share
}
