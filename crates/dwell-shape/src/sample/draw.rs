//! Random draws: yes or no, a number by its quantiles, a word of a list.

use fastrand::Rng;

pub(super) fn chance(rng: &mut Rng, rate: f64) -> bool {
    rng.f64() < rate
}

/// Values at the quantiles [`Quantiles::AT`] of a real distribution.
pub(super) struct Quantiles([f64; 9]);

impl Quantiles {
    const AT: [f64; 9] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 1.0];

    /// Draws from the distribution, which is linear between the quantiles.
    pub(super) fn draw(&self, rng: &mut Rng) -> usize {
        let p = rng.f64();
        let upper = Self::AT.iter().position(|&at| p < at).expect("a draw is below 1");
        let (low, high) = (Self::AT[upper - 1], Self::AT[upper]);
        let value = self.0[upper - 1] + (self.0[upper] - self.0[upper - 1]) * (p - low) / (high - low);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
        let rounded = (value + 0.5) as usize;
        rounded
    }
}

// Measured on the corpus named above. The number of operations is halved, and the maxima, which are single outliers,
// are reduced to fit a small corpus.
pub(super) const OPERATIONS: Quantiles = Quantiles([4.0, 7.0, 10.0, 15.0, 28.0, 44.0, 62.0, 90.0, 110.0]);

pub(super) const INPUT_MEMBERS: Quantiles = Quantiles([0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 11.0, 16.0, 41.0]);

pub(super) const OUTPUT_MEMBERS: Quantiles = Quantiles([0.0, 0.0, 1.0, 2.0, 2.0, 6.0, 12.0, 17.0, 25.0]);

pub(super) const OTHER_MEMBERS: Quantiles = Quantiles([0.0, 1.0, 2.0, 3.0, 5.0, 9.0, 14.0, 21.0, 43.0]);

pub(super) const ERROR_MEMBERS: Quantiles = Quantiles([0.0, 1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 5.0, 9.0]);

pub(super) const ENUM_MEMBERS: Quantiles = Quantiles([1.0, 2.0, 2.0, 3.0, 4.0, 7.0, 15.0, 31.0, 120.0]);

pub(super) const UNION_MEMBERS: Quantiles = Quantiles([1.0, 1.0, 1.0, 2.0, 3.0, 5.0, 9.0, 14.0, 27.0]);

pub(super) const ERRORS: Quantiles = Quantiles([0.0, 2.0, 3.0, 5.0, 6.0, 7.0, 9.0, 14.0, 20.0]);

pub(super) const MEMBER_TEXT: Quantiles = Quantiles([10.0, 36.0, 50.0, 74.0, 148.0, 339.0, 738.0, 1320.0, 4374.0]);

pub(super) const SHAPE_TEXT: Quantiles = Quantiles([10.0, 36.0, 52.0, 73.0, 127.0, 286.0, 661.0, 1176.0, 3010.0]);

pub(super) const OPERATION_TEXT: Quantiles =
    Quantiles([15.0, 42.0, 61.0, 147.0, 437.0, 1016.0, 2180.0, 3433.0, 10_855.0]);

pub(super) const SERVICE_TEXT: Quantiles =
    Quantiles([20.0, 91.0, 337.0, 790.0, 1542.0, 3369.0, 6323.0, 9000.0, 15_819.0]);

pub(super) const PATTERN_TEXT: Quantiles = Quantiles([2.0, 5.0, 12.0, 21.0, 45.0, 78.0, 120.0, 179.0, 400.0]);

pub(super) fn pick<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    words[rng.usize(..words.len())]
}

pub(super) fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}
