//! Texts in a buffer: where one ends, and where it begins in its file.

use serde::de::IgnoredAny;

/// Splits concatenated texts. Returns each with its offset; a text with an error extends to the end.
pub(super) fn split(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    std::iter::from_fn(move || {
        let start = values.byte_offset();
        let end = if values.next()?.is_ok() { values.byte_offset() } else { text.len() };
        Some((start, &text[start..end]))
    })
}

/// Returns the line and column after `text`, if `text` begins at the given ones.
pub(super) fn advance((line, column): (u64, u64), text: &[u8]) -> (u64, u64) {
    match memchr::memchr_iter(b'\n', text).count() as u64 {
        0 => (line, column + text.len() as u64),
        lines => (line + lines, (text.len() - memchr::memrchr(b'\n', text).unwrap_or(0)) as u64),
    }
}

/// Strips the byte order mark that some programs write before UTF-8.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Returns whether the input is JSON Lines: the first line is a complete text and another line follows.
pub(super) fn are_lines(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let Some(end) = memchr::memchr(b'\n', text) else { return false };
    // The cheap test comes first, since a single text may be one long line.
    !text[end..].trim_ascii_start().is_empty() && serde_json::from_slice::<IgnoredAny>(&text[..end]).is_ok()
}
