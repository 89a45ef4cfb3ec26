//! Formats numbers for people, and parses sizes that people write.

use bytesize::ByteSize;

/// Formats a count: `1,234,567`.
pub fn count(number: u64) -> String {
    group(&number.to_string())
}

/// Groups decimal digits by thousands: `1,234,567` for `1234567`.
pub fn group(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun: `1 document`, `1,234 documents`.
pub fn plural(number: u64, noun: &str) -> String {
    let end = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{end}", count(number))
}

/// Formats a number of bytes: `812 B`, `36.1 kB`, `205.8 MB`.
pub fn bytes(number: u64) -> String {
    let mut value = number as f64;
    if number < 1000 {
        return format!("{number} B");
    }
    for unit in ["kB", "MB", "GB", "TB", "PB"] {
        value /= 1000.0;
        if value < 999.95 {
            return format!("{value:.1} {unit}");
        }
    }
    format!("{value:.1} PB")
}

/// Parses a number of bytes: `512`, `64K`, `1.5MiB`.
///
/// # Errors
///
/// Returns a message for people if the text is not such a number.
pub fn parse_bytes(text: &str) -> Result<ByteSize, String> {
    text.trim().parse().map_err(|_| "must be a number of bytes such as 512, 64K or 1.5MiB".to_owned())
}

/// Formats a share: `12.3 %`. Only an empty share is 0 %, and only the whole is 100 %.
pub fn percent(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return "0 %".into();
    }
    if part == whole {
        return "100 %".into();
    }
    let percent = 100.0 * part as f64 / whole as f64;
    match percent {
        ..0.01 => "< 0.01 %".into(),
        ..0.1 => format!("{percent:.2} %"),
        99.95.. if part < whole => "> 99.9 %".into(),
        _ => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_or_explained() {
        for (text, bytes) in [("0", 0), ("512", 512), ("64K", 64_000), ("1.5MiB", 1_572_864), (" 7 ", 7)] {
            assert_eq!(parse_bytes(text).map(|size| size.as_u64()), Ok(bytes), "{text}");
        }
        for text in ["", "abc", "-1", "1e3", "10XB", "99999999999999999999"] {
            assert!(parse_bytes(text).is_err_and(|message| message.starts_with("must be a number of bytes")), "{text}");
        }
    }
}
