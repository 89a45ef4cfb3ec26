//! Which type holds texts, by what was counted of them: the table of `docs/how-to/sparse.md`.

/// The longest text that `CompactString` stores inline, in bytes.
pub const SHORT: u64 = 24;

/// A type for texts. Its instructions are those of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// `String`.
    Growable,
    /// `CompactString` of the crate `compact_str`: as large as a `String`, with short texts inline.
    Compact,
    /// `Box<str>`.
    Exact,
    /// `ThinStr`.
    Thin,
    /// `Rc<str>` or `Arc<str>`.
    Shared,
    /// An index, a `&'static str` or a shared text, of which each distinct one exists once.
    Interned,
}

/// What was counted of the texts of one field, or of one place that makes them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts {
    /// The number of texts that were made, clones included.
    pub made: u64,
    /// The number of those that are clones of texts.
    pub cloned: u64,
    /// The number of those that lived on, at the peak or at the end.
    pub kept: u64,
    /// The number of those with at most [`SHORT`] bytes.
    pub short: u64,
    /// The number of distinct ones, if they were compared.
    pub distinct: Option<u64>,
    /// Whether they grow or change after they were made.
    pub is_changed: bool,
}

impl Texts {
    /// Returns which of the types that the caller can propose suits the texts best, or `String` if none does.
    pub fn best(&self, may: &[Text]) -> Text {
        let half = |part: u64| self.made > 0 && part.saturating_mul(2) >= self.made;
        let is_few = self.distinct.is_some_and(|distinct| half(self.made.saturating_sub(distinct)));
        let is_cloned = half(self.cloned);
        // Clones of short texts: an inline one costs 36 instructions and a counted one 23, but 50 and 228 to make.
        let cost = |make: u64, clone: u64| {
            let made = self.made.saturating_sub(self.cloned);
            made.saturating_mul(make).saturating_add(self.cloned.saturating_mul(clone))
        };
        let is_inline_cheaper = half(self.short) && cost(50, 36) < cost(228, 23);
        let order = [
            (!self.is_changed && is_few, Text::Interned),
            (is_cloned && is_inline_cheaper, Text::Compact),
            (!self.is_changed && is_cloned, Text::Shared),
            (half(self.short) && !half(self.kept), Text::Compact),
            (!self.is_changed && half(self.kept), Text::Thin),
            (!self.is_changed && half(self.kept), Text::Exact),
            (half(self.short), Text::Compact),
        ];
        let found = order.into_iter().find(|(suits, text)| *suits && may.contains(text));
        found.map_or(Text::Growable, |(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::Text::*;
    use super::*;

    const ALL: [Text; 6] = [Growable, Compact, Exact, Thin, Shared, Interned];

    #[test]
    fn the_rows_of_the_table() {
        let all = Texts { made: 1000, ..Texts::default() };
        let rows = [
            (Texts { kept: 1000, short: 1000, ..all }, Thin),
            (Texts { kept: 1000, ..all }, Thin),
            (Texts { is_changed: true, ..all }, Growable),
            (Texts { is_changed: true, short: 1000, ..all }, Compact),
            (Texts { short: 900, ..all }, Compact),
            (Texts { short: 900, cloned: 500, ..all }, Compact),
            (Texts { cloned: 1000, ..all }, Shared),
            (Texts { short: 1000, cloned: 1000, ..all }, Shared),
            (Texts { kept: 1000, distinct: Some(10), ..all }, Interned),
            (Texts { kept: 1000, distinct: Some(900), ..all }, Thin),
            (Texts { kept: 1000, distinct: Some(10), is_changed: true, ..all }, Growable),
            (all, Growable),
            (Texts::default(), Growable),
        ];
        for (texts, best) in rows {
            assert_eq!(texts.best(&ALL), best, "{texts:?}");
        }
    }

    #[test]
    fn what_the_caller_cannot_propose_is_left_out() {
        let kept = Texts { made: 1000, kept: 1000, short: 1000, distinct: Some(10), ..Texts::default() };
        assert_eq!(kept.best(&[Exact, Compact]), Exact);
        assert_eq!(kept.best(&[Compact]), Compact);
        assert_eq!(kept.best(&[Interned, Compact]), Interned);
        assert_eq!(kept.best(&[]), Growable);
    }
}
