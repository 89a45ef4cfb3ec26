//! Rounds of operations on a subject, which is reset after each.

use std::hint::black_box;

use super::subject::Subject;
use crate::op::{Run, whole_rounds};

/// The number of layouts, lengths or tokens, which are drawn before the loop.
pub(super) const DRAWN: usize = 1000;

/// Runs `round` on a subject and resets it after each round. A round has `per_round` operations.
pub(super) fn rounds<S: Subject>(per_round: usize, mut round: impl FnMut(&S) + 'static) -> Run {
    let mut subject = S::new();
    Box::new(move |operations| {
        for _ in whole_rounds(operations, per_round) {
            round(black_box(&subject));
            subject.reset();
        }
    })
}
