//! The edits that replace `Box<dyn Trait>` by `SmallBox<dyn Trait, N>` in the fields of the workspace's types.

use dwell_debuginfo::{Kind, Program, Type};
use dwell_source::{Edit, Items};
use std::collections::BTreeMap;

/// The edits for a program, by the short name of the trait.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// The file, line and item of a field, with the text of its type.
    found: BTreeMap<(String, u32, String), String>,
}

impl Fields {
    /// Finds the fields whose type names a `Box<dyn _>`.
    pub(super) fn new(program: &Program, items: &Items) -> Self {
        let mut fields = Self::default();
        for (_, ty) in program.types().filter(|(_, ty)| ty.own) {
            match &ty.kind {
                Kind::Struct(all) => {
                    for field in all {
                        fields.add(program.get(field.ty), items, ty, None, &field.name);
                    }
                }
                Kind::Enum(def) => {
                    for variant in &def.variants {
                        for field in &variant.fields {
                            fields.add(program.get(field.ty), items, ty, Some(&variant.name), &field.name);
                        }
                    }
                }
                _ => {}
            }
        }
        fields
    }

    fn add(&mut self, ty: &Type, items: &Items, owner: &Type, variant: Option<&str>, field: &str) {
        if !ty.path.contains("alloc::boxed::Box<") || !ty.path.contains("dyn ") {
            return;
        }
        let name = field.trim_start_matches("__");
        let Some(item) = items.at(&owner.path) else { return };
        let Some((line, text)) = item.field_type(variant, name) else { return };
        let short = owner.name.split('<').next().unwrap_or_default();
        let place = match variant {
            Some(variant) => format!("{short}::{variant}.{name}"),
            None => format!("{short}.{name}"),
        };
        self.found.insert((item.file.clone(), line, place), text);
    }

    /// Returns the edits for a trait.
    pub(super) fn edits(&self, name: &str, n: u64) -> Vec<Edit> {
        let edit = |((file, line, item), from): (&(String, u32, String), &String)| {
            let to = replaced(from, name, n)?;
            Some(Edit { file: file.clone(), line: *line, item: item.clone(), from: from.clone(), to })
        };
        self.found.iter().filter_map(edit).collect()
    }
}

/// Returns a type with each `Box<dyn name>` in it as a `SmallBox`. `None`: it has none.
fn replaced(text: &str, name: &str, n: u64) -> Option<String> {
    let mut new = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("Box<") {
        let inside = &rest[at + 4..];
        let end = end_of(inside)?;
        let object = inside[..end].trim().trim_end_matches(',');
        let is_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
        let start = rest[..at].trim_end_matches(is_path).len();
        let (head, is_box) = (&rest[start..at], matches!(&rest[start..at], "" | "std::boxed::" | "alloc::boxed::"));
        let first = object.strip_prefix("dyn ").map(|bounds| bounds[..end_of_bound(bounds)].trim());
        if is_box && first.is_some_and(|first| short(first) == short(name)) {
            new.push_str(&rest[..start]);
            new.extend(["SmallBox<", object, ", ", &n.to_string(), ">"]);
            rest = &inside[end + 1..];
        } else {
            new.push_str(&rest[..start]);
            new.push_str(head);
            new.push_str("Box<");
            rest = inside;
        }
    }
    new.push_str(rest);
    (new != text).then_some(new)
}

/// Returns where the arguments end: at the `>` that closes them.
fn end_of(text: &str) -> Option<usize> {
    at_depth(text, '>')
}

/// Returns where the first bound of a trait object ends.
fn end_of_bound(text: &str) -> usize {
    at_depth(text, '+').unwrap_or(text.len())
}

/// Returns the first of a character outside of all brackets.
fn at_depth(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0_u32;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        if depth == 0 && letter == wanted && !(letter == '>' && before == '-') {
            return Some(at);
        }
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = letter;
    }
    None
}

/// Returns a name without modules and spaces.
fn short(text: &str) -> String {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let parts = text.split_inclusive(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
    parts.map(|part| part.rsplit("::").next().unwrap_or(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_of_a_trait_are_replaced() {
        let small = |text: &str, name: &str| replaced(text, name, 3);
        assert_eq!(small("Box<dyn Job>", "Job").unwrap(), "SmallBox<dyn Job, 3>");
        assert_eq!(
            small("Vec<std::boxed::Box<dyn jobs::Job + Send + 'static>>", "Job").unwrap(),
            "Vec<SmallBox<dyn jobs::Job + Send + 'static, 3>>"
        );
        assert_eq!(
            small("HashMap<String, Box<dyn Fn(&str) -> Vec<u8> + Send>>", "Fn(&str) -> Vec<u8>").unwrap(),
            "HashMap<String, SmallBox<dyn Fn(&str) -> Vec<u8> + Send, 3>>"
        );
        assert_eq!(small("Box<Vec<Box<dyn Job>>>", "Job").unwrap(), "Box<Vec<SmallBox<dyn Job, 3>>>");
        for text in ["Box<dyn Other>", "MyBox<dyn Job>", "Arc<dyn Job>", "Box<Job>", "Box<dyn Job", "my::Box<dyn Job>"]
        {
            assert_eq!(small(text, "Job"), None, "{text}");
        }
    }
}
