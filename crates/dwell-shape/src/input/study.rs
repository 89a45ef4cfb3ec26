//! Reads a sample of the inputs, to find the form of the documents.

use super::find::Found;
use super::text::{split, without_mark};
use crate::infer::{Accumulator, Form};
use crate::overrides::Override;
use std::io::Read;

/// The most bytes of a sample.
pub(super) const STUDIED_FORM: u64 = 64 << 20;

/// The number of bytes that the first round of the study reads.
const FIRST_STUDIED: u64 = 128 << 10;

/// Reads an evenly spread sample of the inputs to find the form of the documents: at least `studied` bytes, and more until
/// the form changes by a tenth at most. The full pass reports errors.
///
/// The sample is read in rounds, each four times as long as the one before.
/// Each round starts with the form that the one before it found, so a recursive type is known before many positions of
/// it are stored.
pub(super) fn study(found: &Found, total: u64, studied: u64, overrides: &[Override], is_cautious: bool) -> Form {
    let mut first = Accumulator::new();
    first.set_overrides(overrides);
    if is_cautious {
        first.set_cautious();
    }
    let mut form = first.into_form();
    let mut most = FIRST_STUDIED;
    // The second round distinguishes the variants of unions that the first round found.
    for round in 1.. {
        let mut accumulator = form.study();
        let known = accumulator.positions();
        study_part(found, total, most, &mut accumulator);
        form = accumulator.into_form();
        let is_whole = most >= total || most >= STUDIED_FORM;
        if round >= 2 && (is_whole || (most >= studied && form.positions().abs_diff(known) * 10 <= known)) {
            break;
        }
        most = (most * 4).min(if most < studied { studied } else { STUDIED_FORM });
    }
    form
}

/// Reads about `most` bytes, evenly spread.
fn study_part(found: &Found, total: u64, most: u64, accumulator: &mut Accumulator) {
    let share = (most as f64 / total.max(1) as f64).min(1.0);
    let mut credit = 0.0;
    let mut buffer = Vec::new();
    for (index, input) in found.inputs.iter().enumerate() {
        credit += input.size as f64 * share;
        // At least two documents, if there are several.
        let several = share < 1.0 && found.inputs.len() > 1;
        let wanted = if several { input.size.min(most / 2) } else { most };
        if credit * 2.0 < wanted as f64 && share < 1.0 {
            continue;
        }
        credit -= wanted as f64;
        accumulator.at(u32::try_from(index).unwrap_or(u32::MAX));
        buffer.clear();
        if let Ok(source) = input.open() {
            // An error only ends the sample early.
            let _ = source.take(wanted).read_to_end(&mut buffer);
        }
        let text = match std::str::from_utf8(without_mark(&buffer)) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&buffer[..error.valid_up_to()]).unwrap_or_default(),
        };
        let mut first = serde_json::Deserializer::from_str(text);
        let is_whole = match accumulator.read_as(input.root(), &mut first) {
            Ok(()) => first.end().is_ok(),
            Err(error) => error.is_eof(),
        };
        if !is_whole {
            for (_, text) in split(text).skip(1) {
                let _ = accumulator.read_as(input.root(), &mut serde_json::Deserializer::from_str(text));
            }
        }
    }
}
