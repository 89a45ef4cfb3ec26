//! Texts in a buffer: where one ends, and where it begins in its file.

use serde::de::IgnoredAny;

/// Splits concatenated texts, such as jq writes, and texts after record separators (RFC 7464). Returns each with its
/// offset; a text with an error extends to the end.
pub(super) fn split(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = text.len() - without_separators(&text[at..]).len();
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<IgnoredAny>();
        at = if values.next()?.is_ok() { start + values.byte_offset() } else { text.len() };
        Some((start, &text[start..at]))
    })
}

/// Strips what may precede a text: whitespace, record separators, and the byte order marks of files that were
/// concatenated.
pub(super) fn without_separators(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == SEPARATOR as char || c == '\u{FEFF}')
}

/// The character before each text of a JSON text sequence.
pub(super) const SEPARATOR: u8 = 0x1E;

/// Returns the offset of a line and column of `text`, both from 1. The column counts bytes.
pub(super) fn offset_of(text: &str, (line, column): (usize, usize)) -> usize {
    let newlines = memchr::memchr_iter(b'\n', text.as_bytes());
    let start = line.checked_sub(2).and_then(|before| newlines.clone().nth(before)).map_or(0, |newline| newline + 1);
    (start + column.saturating_sub(1)).min(text.len())
}

/// Replaces comments and trailing commas by spaces, so that the JSON that remains has the same lines and columns.
pub(super) fn without_comments(bytes: &mut [u8]) {
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        let end = match bytes[at..] {
            [b'"', ..] => {
                let mut end = at + 1;
                while end < bytes.len() && bytes[end] != b'"' {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                comma = None;
                (end + 1).min(bytes.len())
            }
            [b'/', b'/', ..] => memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length),
            // A comment that does not end stays, and is an error.
            [b'/', b'*', ..] => match memchr::memmem::find(&bytes[at + 2..], b"*/") {
                Some(length) => at + length + 4,
                None => return,
            },
            [b',', ..] => {
                comma = Some(at);
                at + 1
            }
            [b']' | b'}', ..] => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
                at + 1
            }
            [byte, ..] => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at + 1
            }
            [] => return,
        };
        if bytes[at] == b'/' && end > at + 1 {
            let kept = |byte: &&mut u8| **byte != b'\n' && **byte != b'\r';
            bytes[at..end].iter_mut().filter(kept).for_each(|byte| *byte = b' ');
        }
        at = end;
    }
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
    let Some(text) = first_of_lines(text) else { return false };
    let Some(end) = memchr::memchr(b'\n', text) else { return false };
    let rest = text[end..].trim_ascii_start();
    // The cheap test comes first, since a single text may be one long line. A second text that goes on after its line
    // means concatenated texts.
    let goes_on = |end: usize| {
        !rest[end..].trim_ascii_start().is_empty()
            && serde_json::from_slice::<IgnoredAny>(&rest[..end]).is_err_and(|error| error.is_eof())
    };
    !rest.is_empty()
        && serde_json::from_slice::<IgnoredAny>(&text[..end]).is_ok()
        && !memchr::memchr(b'\n', rest).is_some_and(goes_on)
}

/// Returns whether an input that should be JSON Lines has texts of several lines.
pub(super) fn have_longer_texts(text: &[u8]) -> bool {
    let Some(text) = first_of_lines(text) else { return true };
    let first = memchr::memchr(b'\n', text).map_or(text, |end| &text[..end]);
    let is_cut = |error: serde_json::Error| error.is_eof();
    serde_json::from_slice::<IgnoredAny>(first).is_err_and(is_cut)
        && matches!(serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>().next(), Some(Ok(_)))
}

/// Returns the input from its first text on. `None`: record separators begin texts of which one has several lines.
fn first_of_lines(text: &[u8]) -> Option<&[u8]> {
    let is_before = |byte: &u8| byte.is_ascii_whitespace() || *byte == SEPARATOR;
    let (before, text) = text.split_at(text.iter().take_while(|byte| is_before(byte)).count());
    let is_next = |end: usize| text[end..].trim_ascii_start().first().is_none_or(|&byte| byte == SEPARATOR);
    let has_lines = !before.contains(&SEPARATOR) || memchr::memchr_iter(b'\n', text).all(is_next);
    has_lines.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concatenated_texts_are_split() {
        let text = "\u{1e}{\"a\":\n1}\n\u{1e}[2]\n\u{feff}3 \"x\"";
        let texts: Vec<&str> = split(text).map(|(_, text)| text).collect();
        assert_eq!(texts, ["{\"a\":\n1}", "[2]", "3", "\"x\""]);
        assert_eq!(split("1 x 2").collect::<Vec<_>>(), [(0, "1"), (2, "x 2")]);
    }

    #[test]
    fn texts_of_several_lines_are_no_lines() {
        for (text, are, have) in [
            ("1\n2\n", true, false),
            ("\u{1e}1\n\u{1e}2\n", true, false),
            // Short texts have one line each, even if a program breaks the longer ones.
            ("\u{1e}{}\n\u{1e}1\n\u{1e}{\n\"a\": 1\n}\n", false, true),
            ("{\n\"a\": 1\n}\n{\n\"a\": 2\n}\n", false, true),
            // A line that was cut off.
            ("{\"a\":\n{\"a\": 2}\n", false, false),
            ("[1,\n", false, false),
        ] {
            assert_eq!((are_lines(text.as_bytes()), have_longer_texts(text.as_bytes())), (are, have), "{text:?}");
        }
    }

    #[test]
    fn comments_and_trailing_commas_become_spaces() {
        for (with, without) in [
            ("[1, // one\n 2,\n]", "[1,       \n 2 \n]"),
            ("{\"a\": /* x\r\n,] */ 1, /* y */ }", "{\"a\":     \r\n      1          }"),
            ("[\"// no, ]\", \"\\\"/*\"]", "[\"// no, ]\", \"\\\"/*\"]"),
            ("[1,, 2]", "[1,, 2]"),
            ("[1] /* open", "[1] /* open"),
            ("\"half \\", "\"half \\"),
            ("//", "  "),
        ] {
            let mut bytes = with.as_bytes().to_vec();
            without_comments(&mut bytes);
            assert_eq!(String::from_utf8(bytes).unwrap(), without, "{with}");
        }
    }
}
