//! Patterns, templates and formats that are compiled again by each call.

use super::super::document::Suggestion;
use super::super::places::Own;
use super::{PAYS, WORTH};
use dwell_debuginfo::{Frame, Frames};
use dwell_heap::profile::Profile;
use dwell_heap::stacks;
use dwell_output::units::{count, plural};
use std::collections::HashMap;

/// The crates whose values are made of a text once, and the functions that make them.
const CRATES: &[&str] =
    &["regex", "regex_lite", "fancy_regex", "glob", "globset", "aho_corasick", "wildmatch", "ignore"];
const MAKES: &[&str] = &["new", "build", "from_str", "try_from", "compile_matcher"];
/// The functions of any crate that do.
const COMPILES: &[&str] =
    &["compile", "parse_owned", "format_description", "register_template_string", "template_from_str"];
/// Fewer calls are those of a start.
const CALLS: u64 = 20;

/// What one line of the workspace compiles.
#[derive(Debug, Default)]
struct Sum {
    blocks: u64,
    nanos: u64,
    /// The allocations of each pair.
    each: Vec<u64>,
    pairs: Vec<usize>,
}

/// Returns a suggestion for each line that compiles again and again, with the number of a pair of its blocks. `nanos` is the
/// time of each pair in the allocator; `time` is that of the program, and of all pairs.
pub(in super::super) fn repeated(
    profile: &Profile,
    frames: &Frames,
    own: &Own,
    nanos: &[u64],
    time: [u64; 2],
) -> Vec<(usize, Suggestion)> {
    let snapshot = profile.as_snapshot();
    let calls: Vec<Option<[String; 2]>> = snapshot
        .stacks
        .iter()
        .map(|stack| {
            let stack: Vec<Result<&Frame, String>> = stacks::functions(&snapshot, frames, stack);
            own.call(&stack, &compiles)
        })
        .collect();
    let mut sums: HashMap<&[String; 2], Sum> = HashMap::new();
    for (number, (pair, nanos)) in profile.pairs.iter().zip(nanos).enumerate() {
        let Some(Some(call)) = calls.get(pair.stack as usize) else { continue };
        let sum = sums.entry(call).or_default();
        sum.blocks += pair.counts.allocations + pair.counts.reallocations;
        sum.nanos += nanos;
        sum.each.push(pair.counts.allocations);
        sum.pairs.push(number);
    }
    let mut all: Vec<(&[String; 2], Sum)> = sums.into_iter().filter(|(_, sum)| times(&sum.each) >= CALLS).collect();
    all.sort_by(|a, b| (b.1.nanos, a.0).cmp(&(a.1.nanos, b.0)));
    all.into_iter()
        .filter_map(|([function, caller], sum)| {
            let first = *sum.pairs.iter().max_by_key(|pair| profile.pairs[**pair].counts.allocations)?;
            Some((first, suggestion(function, caller, &sum, time)))
        })
        .collect()
}

/// Returns `true` for a function that makes something of a text that could be kept.
fn compiles(function: &str) -> bool {
    let krate = function.split("::").next().unwrap_or_default();
    let name = function.rsplit("::").next().unwrap_or_default();
    COMPILES.contains(&name) || CRATES.contains(&krate) && MAKES.contains(&name)
}

/// Returns about how many calls there were, from the allocations of each size and call stack below them: the same text allocates
/// the same each time, so that all numbers are multiples of the calls; of different texts three of four pairs have more.
fn times(each: &[u64]) -> u64 {
    let divide = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let mut sorted: Vec<u64> = each.iter().copied().filter(|number| *number > 0).collect();
    sorted.sort_unstable();
    let common = sorted.iter().copied().fold(0, divide);
    common.max(sorted.get(sorted.len() / 4).copied().unwrap_or(0))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are positive and far below 2^52"
)]
fn suggestion(function: &str, caller: &str, sum: &Sum, [program, allocator]: [u64; 2]) -> Suggestion {
    // Its own work is unknown: between none, and as much for each block as the program has in all.
    let least = sum.nanos as f64;
    let most = (least * program as f64 / allocator.max(1) as f64).min(program as f64);
    let saves = [least, (least * most).sqrt(), most].map(|nanos| nanos as u64);
    let percent = saves.map(|nanos| nanos as f64 * 100.0 / program.max(1) as f64);
    let calls = times(&sum.each);
    Suggestion {
        kind: "repeated".into(),
        instead: format!("`{function}` once, in a `LazyLock` or a field"),
        saves,
        percent,
        pays: percent[1] >= PAYS,
        allocations: sum.blocks,
        is_worth_it: percent[1] >= WORTH,
        why: format!(
            "some {} from {caller} take {}, {} each",
            plural(calls, "call"),
            plural(sum.blocks, "block"),
            count(sum.blocks / calls.max(1))
        ),
        how: "keep what it returns, if the text is the same, or a map of them by text".into(),
        costs: "the memory of what is kept".into(),
        ..Suggestion::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_compile_are_known_by_crate_and_name() {
        assert!(compiles("regex::regex::string::Regex::new") && compiles("globset::GlobSetBuilder::build"));
        assert!(compiles("jmespath::compile") && !compiles("regex::Regex::find") && !compiles("bytes::Bytes::new"));
    }

    #[test]
    fn calls_are_counted_by_what_all_pairs_have_in_common() {
        assert_eq!(times(&[300, 900, 1500]), 300);
        assert_eq!(times(&[1, 3, 7, 9, 2]), 2, "one call with loops inside");
        assert_eq!(times(&[301, 900, 299, 40, 1501]), 299, "different texts");
        assert_eq!(times(&[]), 0);
    }
}
