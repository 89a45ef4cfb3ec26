//! Compares versions of a long file.
use imara_diff::{Algorithm, Diff, InternedInput};

fn main() {
    let line = |number: u64| format!("    let value_{} = compute({}, {});\n", number % 7_000, number * 31 % 977, number % 13);
    let version = |of: u64| (0..30_000).map(|number| line(if number % 41 == of { number + of } else { number })).collect::<String>();
    let versions: Vec<String> = (0..12).map(version).collect();
    let mut diffs = Vec::new();
    for pair in versions.windows(2) {
        let input = InternedInput::new(pair[0].as_str(), pair[1].as_str());
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        diff.postprocess_lines(&input);
        diffs.push(diff);
    }
    println!("{}", diffs.iter().map(|diff| diff.hunks().count()).sum::<usize>());
}
