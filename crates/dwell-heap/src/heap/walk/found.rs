//! Looks for values by their contents, while the values are counted.

use super::{SiteId, Walk, length};
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

/// The most values that are listed.
const LISTED: usize = 20;
/// The longest text that is searched, in bytes.
const LONGEST: u64 = 1 << 20;
/// The most characters of a text that are shown.
const SHOWN: usize = 80;

/// What to look for: `Session.user contains TEXT`, or `Session.id is 42`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    /// The field as in the report.
    field: String,
    text: String,
    /// Whether the value has to be equal.
    is_equal: bool,
}

impl FromStr for Find {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let split = |word: &str, is_equal: bool| {
            let (field, text) = text.split_once(word)?;
            let wanted = Self { field: field.trim().into(), text: text.into(), is_equal };
            (wanted.field.contains('.') && !wanted.text.is_empty()).then_some(wanted)
        };
        let wrong = || "write `Type.field contains TEXT` or `Type.field is VALUE`".to_owned();
        split(" contains ", false).or_else(|| split(" is ", true)).ok_or_else(wrong)
    }
}

impl fmt::Display for Find {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.field, if self.is_equal { "is" } else { "contains" }, self.text)
    }
}

/// The values that were found.
#[derive(Debug)]
pub(crate) struct Found {
    find: Find,
    /// The index plus one of the block with each value, or the number of a root, and the value as text.
    pub(crate) values: Vec<(u32, String)>,
}

impl Found {
    pub(crate) fn new(find: Find) -> Self {
        Self { find, values: Vec::new() }
    }
}

impl Walk<'_, '_> {
    /// Records a value if it is looked for.
    pub(super) fn look(&mut self, site: SiteId, bytes: &[u8]) {
        let is_it = |found: &Found| found.values.len() < LISTED && self.schema.sites[site].path == found.find.field;
        if !self.found.as_ref().is_some_and(is_it) {
            return;
        }
        let Some(text) = self.text_of(site, bytes) else { return };
        let from = self.current.from;
        if let Some(found) = &mut self.found
            && (if found.find.is_equal { text == found.find.text } else { text.contains(&found.find.text) })
        {
            let shown: String = text.chars().take(SHOWN).collect();
            found.values.push((from, format!("{} = {shown:?}", found.find.field)));
        }
    }

    /// Returns a text or a number as text.
    fn text_of(&mut self, site: SiteId, bytes: &[u8]) -> Option<String> {
        let field = &self.schema.sites[site];
        if let Some(integer) = field.integer {
            return integer.read(bytes).map(|number| number.to_string());
        }
        let (address, len) = Rc::clone(&field.decoder).text(bytes)?;
        let len = len.min(LONGEST);
        let mut text = Vec::new();
        (self.is_known(address, len) && self.image.read(address, length(len), &mut text))
            .then(|| String::from_utf8_lossy(&text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_look_for_names_a_field_and_a_value() {
        let find = |text: &str| text.parse::<Find>().map(|wanted| (wanted.field, wanted.text, wanted.is_equal));
        assert_eq!(find("Session.user contains a is b"), Ok(("Session.user".into(), "a is b".into(), false)));
        assert_eq!(find("Session.id is 42"), Ok(("Session.id".into(), "42".into(), true)));
        for wrong in ["", "Session.user", "Session contains x", "Session.user contains "] {
            assert!(find(wrong).is_err(), "{wrong}");
        }
    }
}
