//! A program that waits in a function of another crate, which has a list in a variable.

fn main() {
    let sum = lister::list(10_000, |list: &[[u64; 4]]| {
        // The most live bytes.
        std::hint::black_box(vec![list.len() as u8; 100_000]);
    });
    println!("{sum}");
}
