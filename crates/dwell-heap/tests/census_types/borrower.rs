//! A program that waits in a function of another crate, which has a list in a variable, while it keeps lists of its own.

struct Keep {
    words: Vec<u64>,
}

fn full(n: u64) -> Keep {
    Keep { words: vec![n; 100] }
}

fn half_empty(n: u64) -> Keep {
    let mut words = Vec::with_capacity(200);
    words.push(n);
    Keep { words }
}

fn main() {
    let mut all: Vec<Keep> = (0..400).map(full).collect();
    all.extend((0..100).map(half_empty));
    let sum = lister::list(10_000, |list: &[[u64; 4]]| {
        // The most live bytes.
        std::hint::black_box(vec![list.len() as u8; 100_000]);
    });
    println!("{sum} {}", all.iter().map(|keep| keep.words[0]).sum::<u64>());
}
