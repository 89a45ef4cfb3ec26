//! Estimates the number of distinct strings in bounded memory.

use crate::weigh::sorted::Map;

/// The number of distinct strings up to which the count is exact, and the size limit of the sample beyond it.
// Miri takes milliseconds for a string, so its unit tests use a smaller sample.
const SAMPLE: usize = if cfg!(all(test, miri)) { 32 } else { 1024 };

/// The number and bytes of the distinct strings of a node.
///
/// The numbers are exact up to 1024 strings. Beyond that they are estimates from a sample, with an error of about 3 %.
///
/// The sample contains the strings whose hash ends in at least `zeros` zero bits ("distinct sampling", Gibbons 2001). A
/// string is in the sample at most once, however often it occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The bytes of each string in the sample, by its hash.
    sample: Map<u64, u64>,
    /// The number of zero bits at the end of each hash in the sample.
    zeros: u32,
}

impl Texts {
    /// Returns the number of distinct strings.
    pub fn distinct(&self) -> u64 {
        (self.sample.entries().len() as u64).saturating_mul(1 << self.zeros)
    }

    /// Returns the bytes of the distinct strings, each counted once.
    pub fn bytes(&self) -> u64 {
        let mut sum = 0_u64;
        for (_, bytes) in self.sample.entries() {
            sum = sum.saturating_add(*bytes);
        }
        sum.saturating_mul(1 << self.zeros)
    }

    pub(super) fn meet(&mut self, text: &[u8]) {
        let hash = hash(text);
        if hash.trailing_zeros() >= self.zeros {
            self.sample.insert(hash, text.len() as u64);
            self.thin_out();
        }
    }

    /// Adds the strings of another node.
    pub(super) fn merge(&mut self, other: &Self) {
        self.zeros = self.zeros.max(other.zeros);
        for &(hash, bytes) in other.sample.entries() {
            self.sample.insert(hash, bytes);
        }
        self.sample.retain(|hash, _| hash.trailing_zeros() >= self.zeros);
        self.thin_out();
    }

    fn thin_out(&mut self) {
        while self.sample.entries().len() > SAMPLE && self.zeros < u64::BITS - 1 {
            self.zeros += 1;
            self.sample.retain(|hash, _| hash.trailing_zeros() >= self.zeros);
        }
    }
}

/// Hashes eight bytes at a time by folding the two halves of a 128-bit product.
fn hash(text: &[u8]) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "takes the two halves of the product")]
    let mix = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let step = |hash: u64, word: u64| mix(hash ^ word, 0x9E37_79B9_7F4A_7C15);
    let (words, rest) = text.as_chunks();
    let hash = words
        .iter()
        .fold(text.len() as u64 ^ 0x243F_6A88_85A3_08D3, |hash, word| step(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(step(hash, u64::from_le_bytes(last)), 0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std_alloc::format;

    fn of(range: core::ops::Range<u32>) -> Texts {
        let mut texts = Texts::default();
        for _ in 0..if cfg!(miri) { 2 } else { 3 } {
            range.clone().for_each(|n| texts.meet(format!("text {n}").as_bytes()));
        }
        texts
    }

    #[test]
    fn few_texts_are_counted_exactly() {
        let few = if cfg!(miri) { 30 } else { 1000 };
        let texts = of(0..few);
        let digits: u64 = (0..few).map(|n| u64::from(n.checked_ilog10().unwrap_or(0)) + 1).sum();
        assert_eq!((texts.distinct(), texts.bytes()), (u64::from(few), 5 * u64::from(few) + digits));
        let mut empty = Texts::default();
        empty.meet(b"");
        assert_eq!((empty.distinct(), empty.bytes()), (1, 0));
    }

    #[test]
    fn many_texts_are_estimated_in_bounded_memory() {
        for many in if cfg!(miri) { [40_u32, 100] } else { [5_000, 100_000] } {
            let texts = of(0..many);
            assert!(texts.sample.entries().len() <= SAMPLE);
            let error = (texts.distinct() as f64 / f64::from(many) - 1.0).abs();
            assert!(error < if cfg!(miri) { 0.5 } else { 0.1 }, "{} of {many}", texts.distinct());
        }
    }

    #[test]
    fn merge_counts_common_texts_once() {
        let third = if cfg!(miri) { 8 } else { 300 };
        let mut one = of(0..2 * third);
        one.merge(&of(third..3 * third));
        assert_eq!(one.distinct(), 3 * u64::from(third));
        let all = if cfg!(miri) { 40 } else { 20_000 };
        let mut many = of(0..all);
        many.merge(&of(0..3 * third));
        assert_eq!(many, of(0..all));
    }
}
