//! Counts the lines of a folder, in several threads.

use tokei::{Config, Languages};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let folder = arguments.next().expect("a folder");
    let mut all = Vec::new();
    for _ in 0..rounds {
        let mut languages = Languages::new();
        languages.get_statistics(&[&folder], &[], &Config::default());
        all = vec![languages];
    }
    println!("{}", all[0].total().code);
}
