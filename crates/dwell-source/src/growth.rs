//! Finds the fields whose collections grow or shrink after their value is made: `self.lines.push(..)`.

use std::collections::HashSet;

/// The methods of texts and lists that change their length.
const METHODS: [&str; 24] = [
    "append",
    "clear",
    "dedup",
    "drain",
    "extend",
    "extend_from_slice",
    "insert",
    "insert_str",
    "pop",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "remove",
    "reserve",
    "resize",
    "resize_with",
    "retain",
    "retain_mut",
    "shrink_to_fit",
    "split_off",
    "splice",
    "swap_remove",
    "truncate",
];

/// The fields whose collections change their length.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    /// Fields by the type with the method that does it, and fields of a value of any type.
    fields: HashSet<(Option<String>, String)>,
}

impl Growth {
    /// Returns `true` if code changes the length of a type's field.
    pub(crate) fn has(&self, ty: &str, field: &str) -> bool {
        let is_listed = |ty: Option<&str>| self.fields.contains(&(ty.map(str::to_owned), field.to_owned()));
        is_listed(None) || is_listed(Some(ty))
    }

    /// Adds the fields in the lines of a file.
    pub(super) fn add(&mut self, lines: &[&str]) {
        let mut ty: Option<String> = None;
        let mut text = String::new();
        let mut parts = Vec::new();
        for line in lines.iter().filter(|line| !line.trim_start().starts_with("//")) {
            if let Some(implemented) = implementing(line.trim_start()) {
                parts.push((std::mem::take(&mut text), ty.replace(implemented)));
            }
            text.push_str(line);
            text.push('\n');
        }
        parts.push((text, ty));
        for (text, ty) in parts {
            for (receiver, field) in changed(&text) {
                let ty = ty.clone().filter(|_| receiver == "self");
                self.fields.insert((ty, field.to_owned()));
            }
        }
    }
}

/// Returns the type of an `impl`: `Page` for `impl<'a> Draw for page::Page<'a> {`.
fn implementing(line: &str) -> Option<String> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(rest) => {
            let mut depth = 1_usize;
            let end = rest.char_indices().find(|(_, c)| {
                match c {
                    '<' => depth += 1,
                    '>' => depth -= 1,
                    _ => {}
                }
                depth == 0
            })?;
            &rest[end.0 + 1..]
        }
        None => rest.strip_prefix(' ')?,
    };
    let ty = rest.split(" for ").last()?.trim_start();
    let path = ty.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':')).next()?;
    Some(path.rsplit("::").next()?.to_owned())
}

/// Returns the values and fields whose length is changed, or that are borrowed for it: `self` and `lines`.
fn changed(text: &str) -> Vec<(&str, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let last_word = |text: &'_ str| text.trim_end_matches(is_word).len();
    let field = |before: &'_ str| -> Option<(usize, usize, usize)> {
        let before = before.trim_end();
        let start = last_word(before);
        let receiver = before[..start].trim_end().strip_suffix('.')?.trim_end();
        (start < before.len()).then(|| (last_word(receiver), receiver.len(), start))
    };
    let mut found = Vec::new();
    let mut add = |before: &'_ str| {
        if let Some((from, to, start)) = field(before) {
            let end = before.trim_end().len();
            found.push((from..to, start..end));
        }
    };
    for (at, _) in text.match_indices('(') {
        let start = last_word(&text[..at]);
        if METHODS.contains(&&text[start..at])
            && let Some(before) = text[..start].trim_end().strip_suffix('.')
        {
            add(before);
        }
    }
    // An argument `&mut page.lines`.
    for (at, _) in text.match_indices("&mut ") {
        let rest = &text[at + 5..];
        let length = rest.find(|c| !is_word(c) && c != '.').unwrap_or(rest.len());
        if rest[length..].starts_with([',', ')']) {
            add(&text[..at + 5 + length]);
        }
    }
    found.into_iter().map(|(receiver, field)| (&text[receiver], &text[field])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_grow_are_found() {
        let text = "impl<'a, T: Into<Vec<u8>>> Draw for page::Page<'a> {\n    fn f(&mut self) {\n        self.lines.push(1);\n        \
                    self\n            .names\n            .extend(x);\n        // self.comments.push(1);\n        other.words.clear();\n        \
                    read(&mut self.buffer, &mut x.text);\n        for part in &mut self.parts {}\n        self.size.max(1);\n    }\n}\n\
                    impl Other {\n    fn g(&mut self) { self.rows.insert(0, 1); local.push(2); f(&mut local) }\n}\n";
        let mut growth = Growth::default();
        growth.add(&text.lines().collect::<Vec<_>>());
        for field in ["lines", "names", "buffer"] {
            assert!(growth.has("Page", field) && !growth.has("Other", field), "{field}");
        }
        for field in ["words", "text"] {
            assert!(growth.has("Page", field) && growth.has("Any", field), "{field}");
        }
        assert!(growth.has("Other", "rows") && !growth.has("Page", "rows"));
        // Letters beyond ASCII stand before a call.
        assert!(changed("H͍̹̽(x) ✓.push(1) é.lines.push(2)").contains(&("é", "lines")));
        for field in ["comments", "parts", "size", "local"] {
            assert!(!growth.has("Page", field) && !growth.has("Other", field), "{field}");
        }
    }
}
