//! Formats of strings for which other crates have types: UUIDs, dates and URLs. A string has a format only if the type
//! writes it back unchanged.

use serde::{Deserialize, Serialize};

/// A format that all strings of a position have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A UUID in lower case with hyphens: `uuid::Uuid`.
    Uuid,
    /// `2026-11-22`: `chrono::NaiveDate`.
    Date,
    /// RFC 3339 with `Z`: `chrono::DateTime<chrono::Utc>`.
    Utc,
    /// RFC 3339 with an offset or `Z`: `chrono::DateTime<chrono::FixedOffset>`.
    Offset,
    /// An absolute `http`, `https`, `ws` or `wss` URL: `url::Url`.
    Url,
}

/// The formats whose strings get types of other crates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Typed {
    /// `uuid::Uuid`
    pub uuid: bool,
    /// `chrono::NaiveDate` and `chrono::DateTime`
    pub chrono: bool,
    /// `url::Url`
    pub url: bool,
}

impl Typed {
    /// Returns whether strings of a format get a type of another crate.
    pub fn has(self, format: Format) -> bool {
        match format {
            Format::Uuid => self.uuid,
            Format::Date | Format::Utc | Format::Offset => self.chrono,
            Format::Url => self.url,
        }
    }
}

/// A test of a string for a format.
type Test = fn(&[u8]) -> bool;

const ALL: [(Format, Test); 5] = [
    (Format::Uuid, is_uuid),
    (Format::Date, is_date),
    (Format::Utc, is_utc),
    (Format::Offset, is_date_time),
    (Format::Url, is_url),
];

/// The formats that at least one string of a position does not have, one bit for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Excluded(u8);

impl Excluded {
    /// The value that excludes every format.
    pub const EVERY: Self = Self((1 << ALL.len()) - 1);

    /// Excludes the formats that `text` does not have.
    #[inline]
    pub fn look_at(&mut self, text: &str) {
        if *self != Self::EVERY {
            self.look_closer(text.as_bytes());
        }
    }

    fn look_closer(&mut self, text: &[u8]) {
        for (bit, (_, is)) in ALL.iter().enumerate() {
            if self.0 & (1 << bit) == 0 && !is(text) {
                self.0 |= 1 << bit;
            }
        }
    }

    /// Excludes the formats that another position excludes.
    pub fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Returns the narrowest format that is not excluded. At least one string must have been tested.
    pub fn format(self) -> Option<Format> {
        ALL.iter().enumerate().find(|(bit, _)| self.0 & (1 << bit) == 0).map(|(_, (format, _))| *format)
    }
}

/// Returns whether a string has a format.
pub fn is(text: &str, format: Format) -> bool {
    ALL.iter().any(|(name, is)| *name == format && is(text.as_bytes()))
}

fn is_uuid(text: &[u8]) -> bool {
    let is_part = |(at, &byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    text.len() == 36 && text.iter().enumerate().all(is_part)
}

/// Returns the value of decimal digits, or `None` if a character is not a digit.
fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |sum: u32, &digit| digit.is_ascii_digit().then(|| sum * 10 + u32::from(digit - b'0')))
}

fn is_date(text: &[u8]) -> bool {
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *text else { return false };
    let (Some(year), Some(month), Some(day)) = (number(&[y0, y1, y2, y3]), number(&[m0, m1]), number(&[d0, d1])) else {
        return false;
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// Returns whether a text is a time such as `15:04:05`, optionally with 3, 6 or 9 digits of fraction, the fewest that
/// the value needs.
fn is_time(text: &[u8]) -> bool {
    let [h0, h1, b':', m0, m1, b':', s0, s1, fraction @ ..] = text else { return false };
    let below = |digits: [u8; 2], end: u32| number(&digits).is_some_and(|number| number < end);
    let fits = match fraction {
        [] => true,
        [b'.', digits @ ..] if matches!(digits.len(), 3 | 6 | 9) => {
            number(digits).is_some() && !digits.ends_with(b"000")
        }
        _ => false,
    };
    fits && below([*h0, *h1], 24) && below([*m0, *m1], 60) && below([*s0, *s1], 60)
}

fn is_utc(text: &[u8]) -> bool {
    text.len() > 20
        && text.is_ascii()
        && is_date(&text[..10])
        && text[10] == b'T'
        && text.ends_with(b"Z")
        && is_time(&text[11..text.len() - 1])
        || text.len() == 20 && text[10] == b'T' && text[19] == b'Z' && is_date(&text[..10]) && is_time(&text[11..19])
}

fn is_date_time(text: &[u8]) -> bool {
    if is_utc(text) {
        return true;
    }
    let Some((front, &[sign, h0, h1, b':', m0, m1])) = text.split_last_chunk::<6>() else { return false };
    let (hours, minutes) = (number(&[h0, h1]), number(&[m0, m1]));
    // chrono writes an offset of zero as `Z`.
    let fits = hours.zip(minutes).is_some_and(|offset| offset != (0, 0) && offset.0 < 24 && offset.1 < 60);
    fits && matches!(sign, b'+' | b'-')
        && front.len() >= 19
        && is_date(&front[..10])
        && front[10] == b'T'
        && is_time(&front[11..])
}

/// The bytes that a URL has unchanged behind its host name.
const KEPT: [bool; 256] = {
    let (mut kept, mut byte) = ([false; 256], 0u8);
    while byte < 128 {
        kept[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let (marks, mut index) = (b"-._~!$&()*+,;=:@%/?#", 0);
    while index < marks.len() {
        kept[marks[index] as usize] = true;
        index += 1;
    }
    kept
};

/// Returns whether a text is a URL that the crate `url` surely writes back unchanged: a lower-case host name, and an
/// ASCII path without dot segments.
fn is_url(text: &[u8]) -> bool {
    let schemes: [(&[u8], &[u8]); 4] =
        [(b"https://", b"443"), (b"http://", b"80"), (b"wss://", b"443"), (b"ws://", b"80")];
    let Some((rest, default)) = schemes.iter().find_map(|(scheme, port)| Some((text.strip_prefix(*scheme)?, *port)))
    else {
        return false;
    };
    let Some(slash) = memchr::memchr(b'/', rest) else { return false };
    let (authority, path) = rest.split_at(slash);
    let (host, port) = match memchr::memchr(b':', authority) {
        Some(colon) => (&authority[..colon], Some(&authority[colon + 1..])),
        None => (authority, None),
    };
    let is_label = |label: &[u8]| {
        !label.is_empty()
            && label.len() < 64
            && !label.starts_with(b"xn--")
            && label.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    };
    let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    // The crate `url` parses a host whose last label is a number as an IPv4 address.
    let is_host = host.len() < 254 && host.split(|&byte| byte == b'.').all(is_label) && last[0].is_ascii_lowercase();
    let is_port = port.is_none_or(|port| {
        port != default && !port.starts_with(b"0") && port.len() < 6 && number(port).is_some_and(|port| port < 65_536)
    });
    // Data is full of URLs, so one pass looks at each byte. Few have a segment that might be of dots.
    let (mut is_kept, mut may_have_dots, mut before) = (true, false, 0);
    for &byte in path {
        is_kept &= KEPT[usize::from(byte)];
        may_have_dots |= before == b'/' && matches!(byte, b'.' | b'%');
        before = byte;
    }
    let before_query = || path.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default();
    let is_dots = |segment: &[u8]| {
        let dots: [&[u8]; 6] = [b".", b"%2e", b"..", b".%2e", b"%2e.", b"%2e%2e"];
        matches!(segment, [b'.' | b'%', ..]) && dots.iter().any(|dots| segment.eq_ignore_ascii_case(dots))
    };
    is_host && is_port && is_kept && !(may_have_dots && before_query().split(|&byte| byte == b'/').any(is_dots))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(texts: &[&str]) -> Option<Format> {
        let mut excluded = Excluded::default();
        for text in texts {
            excluded.look_at(text);
        }
        excluded.format()
    }

    #[test]
    fn format_must_match_every_string() {
        assert_eq!(format(&["67e55044-10b1-426f-9247-bb680e5fe0c8"]), Some(Format::Uuid));
        assert_eq!(format(&["67E55044-10b1-426f-9247-bb680e5fe0c8"]), None, "it is written back in lower case");
        assert_eq!(format(&["67e55044-10b1-426f-9247-bb680e5fe0c8", ""]), None);
        assert_eq!(format(&["2024-02-29", "0001-12-31"]), Some(Format::Date));
        assert_eq!(format(&["2023-02-29"]), None);
        assert_eq!(format(&["2023-04-31"]), None);
        assert_eq!(format(&["2023-13-01"]), None);
        assert_eq!(format(&["2024-02-29T23:59:59Z", "2024-02-29T00:00:00.120Z"]), Some(Format::Utc));
        assert_eq!(format(&["2024-02-29T23:59:59Z", "2024-02-29T00:00:00+02:00"]), Some(Format::Offset));
        for other in [
            "2024-02-29T23:59:60Z",
            "2024-02-29T23:59:59.1Z",
            "2024-02-29T23:59:59.000Z",
            "2024-02-29T23:59:59.120000Z",
            "2024-02-29t23:59:59Z",
            "2024-02-29T23:59:59+00:00",
            "2024-02-29T24:00:00Z",
            "2024-02-29 23:59:59Z",
            "2024-02-29T23:59Z",
            "2024-02-29T23:59:5\u{e9}Z",
            "",
            "Z",
            "T",
        ] {
            assert_eq!(format(&[other]), None, "{other}");
        }
        assert_eq!(format(&["https://a.b-c.org/x/%20?q=1#top", "http://localhost:8080/"]), Some(Format::Url));
        for other in [
            "https://a.org",
            "https://A.org/",
            "https://a.org:443/",
            "https://a.org:080/",
            "https://1.2.3.4/",
            "https://a.org/../b",
            "https://a.org/%2E/b",
            "https://a.org/a b",
            "https://a.org/\u{e9}",
            "https://u@a.org/",
            "https:///a",
            "https://a..b/",
            "https://xn--a/",
            "https://a.org/'",
            "ftp://a.org/",
        ] {
            assert_eq!(format(&[other]), None, "{other}");
        }
    }
}
