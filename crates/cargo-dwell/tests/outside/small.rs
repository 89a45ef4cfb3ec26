//! `small FILE`: a program that writes a heap dump of itself to FILE.
#![allow(dead_code)]

struct Account {
    name: String,
    extra: Box<[u64; 100]>,
}

struct Bank {
    accounts: Vec<Account>,
    shared: Vec<bytes::Bytes>,
}

fn main() {
    let account = |number| Account { name: format!("account {number:020}"), extra: Box::new([number; 100]) };
    // A clone moves the buffer behind a counted block.
    let shared = |number| bytes::Bytes::from(vec![number; 3000]).clone();
    let bank = Bank { accounts: (0..1000).map(account).collect(), shared: (0..100).map(shared).collect() };
    let file = std::env::args().nth(1).expect("an argument");
    dwell_heapdump::write(file).expect("it can be written");
    std::hint::black_box(&bank);
}
