//! The `cargo dwell` command.

use cargo_dwell::shape::{input, list};
use std::io::Write;

fn main() {
    let paths: Vec<_> = std::env::args_os().skip(1).map(Into::into).collect();
    let found = input::find(&paths);
    let start = std::time::Instant::now();
    let reading = input::read(&found, &input::Options { threads: 0, keep_going: false }, &|_| {});
    eprintln!("{:?} places {}", start.elapsed(), reading.accumulator.places());
    for problem in &reading.problems {
        eprintln!("{problem}");
    }
    let schema = reading.accumulator.finish();
    eprintln!("{:?}", start.elapsed());
    let mut out = Vec::new();
    let _ = list(&schema, &mut out);
    let _ = std::io::stdout().write_all(&out);
}
