//! The message of the compile error for a value that does not fit inline.

use super::InlineStorage;

/// The compile error for a value that does not fit. A constant cannot call `format!`, so this formats the numbers.
pub(super) struct SizeMessage {
    text: [u8; Self::CAPACITY],
    len: usize,
}

impl SizeMessage {
    /// The size of the buffer in bytes, enough for the message with four numbers.
    const CAPACITY: usize = 192;

    /// Creates the message for a `U` in `N` words.
    pub(super) const fn of<U, const N: usize, L>() -> Self {
        Self::new([size_of::<U>(), align_of::<U>(), size_of::<[usize; N]>(), align_of::<InlineStorage<N, L>>()])
    }

    /// Creates the message for `[size, align, inline capacity, its align]` in bytes.
    const fn new(numbers: [usize; 4]) -> Self {
        let parts = ["a value of ", " bytes aligned to ", " does not fit the inline buffer of ", " bytes aligned to "];
        let mut this = Self { text: [0; Self::CAPACITY], len: 0 };
        let mut index = 0;
        while index < parts.len() {
            this.push(parts[index].as_bytes());
            this.push_number(numbers[index]);
            index += 1;
        }
        this
    }

    const fn push(&mut self, mut text: &[u8]) {
        while let [first, rest @ ..] = text {
            self.text[self.len] = *first;
            self.len += 1;
            text = rest;
        }
    }

    const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a digit")]
        self.push(&[b'0' + (number % 10) as u8]);
    }

    pub(super) const fn text(&self) -> &str {
        match core::str::from_utf8(self.text.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "the value does not fit the inline buffer",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SizeMessage;

    #[test]
    fn message_contains_the_numbers() {
        let text = "a value of 1024 bytes aligned to 16 does not fit the inline buffer of 0 bytes aligned to 8";
        assert_eq!(SizeMessage::new([1024, 16, 0, 8]).text(), text);
        let largest = usize::MAX;
        assert!(SizeMessage::new([largest; 4]).text().ends_with(&std_alloc::format!("aligned to {largest}")));
    }
}
