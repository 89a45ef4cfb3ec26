//! The edits of the source that make the change of a finding.
//!
//! An edit replaces the type of a field or of a variant's only field. There is none if the declaration is not in the
//! workspace's source, if a macro's rules or an alias wrote the type, or if the type occurs twice in the field.

use crate::heap::walk::Walk;
use crate::source::{Edit, Item, Items};
use crate::source::{Finding, Target};
use dwell_model::{Change, Edge};

/// Adds the edits of all findings and their alternatives.
pub(super) fn add(walk: &Walk<'_, '_>, items: &Items, findings: &mut [Finding]) {
    for finding in findings {
        finding.edits = match (&finding.dependency, &*finding.kind) {
            (Some(_), _) => Vec::new(),
            (None, "shrink") => allocation(finding).into_iter().collect(),
            (None, _) => {
                let edits: Option<Vec<Edit>> =
                    finding.targets.iter().map(|target| edit(walk, items, finding, target)).collect();
                // A change of which a part is missing does not compile, or saves less.
                edits.unwrap_or_default()
            }
        };
        add(walk, items, &mut finding.alternatives);
    }
}

/// Returns the line that allocates what should shrink.
fn allocation(finding: &Finding) -> Option<Edit> {
    let (file, line) = finding.at.as_ref()?.rsplit_once(':')?;
    Some(Edit { file: file.to_owned(), line: line.parse().ok()?, item: finding.location.clone(), ..Edit::default() })
}

fn edit(walk: &Walk<'_, '_>, items: &Items, finding: &Finding, target: &Target) -> Option<Edit> {
    let schema = &walk.schema;
    let (site, change) = match target {
        Target::Variant(def, variant) => {
            let def = &schema.defs[*def];
            let data = &def.variants[*variant];
            let [_] = data.fields[..] else { return None };
            return whole(item(walk, items, def.ty)?, &def.name, Some(&data.name), &data.fields[0].name, |text| {
                Some(format!("Box<{text}>"))
            });
        }
        Target::Site(site, change) => (site.checked_sub(1)?, change),
        Target::Scalar(site, _) => (site.checked_sub(1)?, &None),
    };
    // The field that contains the site.
    let mut at = site;
    let (variant, field) = loop {
        let place = &schema.sites[at];
        match place.edge {
            Edge::Field(variant, field) => break (variant, field),
            _ => at = place.parent?,
        }
    };
    let def = &schema.defs[schema.sites[at].def?];
    let of_variant = &def.variants[variant];
    let name = &of_variant.fields[field].name;
    let item = item(walk, items, def.ty)?;
    let ty = &*schema.sites[site].name;
    let variant = def.is_enum.then_some(&*of_variant.name);
    whole(item, &def.name, variant, name, |text| {
        let range = if at == site { 0..text.len() } else { term(text, ty)? };
        let old = text.get(range.clone())?;
        let new = match target {
            Target::Scalar(_, name) if same(old, ty) => {
                if ty.starts_with("Option<") {
                    format!("Option<{name}>")
                } else {
                    name.clone()
                }
            }
            Target::Scalar(..) => return None,
            _ => replaced(old, &finding.kind, &finding.how, *change)?,
        };
        Some(format!("{}{new}{}", &text[..range.start], &text[range.end..]))
    })
}

fn item<'i>(walk: &Walk<'_, '_>, items: &'i Items, ty: crate::debuginfo::TypeId) -> Option<&'i Item> {
    let definition = walk.schema.get(ty);
    items.at(&definition.path).filter(|_| definition.own)
}

/// Returns the edit that replaces the type of a field by `new` of it.
fn whole(
    item: &Item,
    name: &str,
    variant: Option<&str>,
    field: &str,
    new: impl FnOnce(&str) -> Option<String>,
) -> Option<Edit> {
    let tuple = |field: &str| field.trim_start_matches("__").to_owned();
    let (line, from) = item.field_type(variant, &tuple(field))?;
    let to = new(&from).filter(|to| *to != from)?;
    let short = name.split('<').next().unwrap_or_default();
    let item_name = match variant {
        Some(variant) => format!("{short}::{variant}.{field}"),
        None => format!("{short}.{field}"),
    };
    Some(Edit { file: item.file.clone(), line, item: item_name, from, to })
}

/// Returns the new text of a type.
fn replaced(old: &str, kind: &str, how: &str, change: Option<Change>) -> Option<String> {
    let argument = |head: &str| arguments(old, head).and_then(|all| all.into_iter().next());
    let shared = |holder: &str| match old {
        _ if same(old, "String") => Some(format!("{holder}<str>")),
        _ => Some(format!("{holder}<[{}]>", argument("Vec")?)),
    };
    match (kind, change) {
        (_, Some(Change::Boxed)) => Some(format!("Option<Box<{}>>", argument("Option")?)),
        (_, Some(Change::BoxedAlways)) => Some(format!("Box<{old}>")),
        (_, Some(Change::Sparse)) => Some(format!("Sparse<{}>", argument("Option").unwrap_or(old))),
        (_, Some(Change::Exact)) => shared("Box"),
        (_, Some(Change::Thin)) if same(old, "String") => Some("ThinStr".into()),
        (_, Some(Change::Thin)) => Some(format!("ThinSlice<{}>", argument("Vec")?)),
        (_, Some(Change::Sorted)) => {
            let all = arguments(old, "HashMap").or_else(|| arguments(old, "BTreeMap"))?;
            let [key, value, ..] = all[..] else { return None };
            Some(format!("SortedMap<{key}, {value}>"))
        }
        ("intern", None) => shared("Arc"),
        ("duplicate", None) => Some(format!("Arc<{}>", argument("Box").unwrap_or(old))),
        ("short", None) if same(old, "String") => Some("CompactString".into()),
        ("sorted", None) => {
            let map = argument("Option").unwrap_or(old);
            let map = arguments(map, "Box")?.into_iter().next()?;
            let all = arguments(map, "BTreeMap").or_else(|| arguments(map, "HashMap"))?;
            let [key, value, ..] = all[..] else { return None };
            let new = format!("SortedMap<{key}, {value}>");
            Some(if argument("Option").is_some() { format!("Option<{new}>") } else { new })
        }
        ("unshared", None) => Some(format!("Box<{}>", argument("Rc").or_else(|| argument("Arc"))?)),
        ("inline", None) => {
            let words = how.strip_prefix("SmallBox<")?.rsplit_once(", ")?.1.strip_suffix('>')?;
            Some(format!("SmallBox<{}, {words}>", argument("Box")?))
        }
        _ => None,
    }
}

/// Returns the arguments of a type if its name, without its module, is `head`.
fn arguments<'t>(text: &'t str, head: &str) -> Option<Vec<&'t str>> {
    let (name, rest) = text.split_once('<')?;
    let inside = rest.trim_end().strip_suffix('>')?;
    (name.trim().rsplit("::").next() == Some(head)).then(|| {
        let mut all = Vec::new();
        let (mut depth, mut start) = (0_u32, 0);
        for (at, byte) in inside.bytes().enumerate() {
            match byte {
                b'<' | b'(' | b'[' => depth += 1,
                b'>' if at > 0 && inside.as_bytes()[at - 1] == b'-' => {}
                b'>' | b')' | b']' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => {
                    all.push(inside[start..at].trim());
                    start = at + 1;
                }
                _ => {}
            }
        }
        all.push(inside[start..].trim());
        all.retain(|argument| !argument.is_empty());
        all
    })
}

/// Returns the only part of a type's text that is the type `name`.
fn term(text: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let is_edge = |c: char| matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | ',' | ';');
    // A comment may end before the type.
    let is_start = |c: char| is_edge(c) || c == '\n';
    let mut starts: Vec<usize> = text.char_indices().filter(|(_, c)| is_start(*c)).map(|(at, _)| at + 1).collect();
    starts.push(0);
    let mut found = Vec::new();
    for start in starts {
        let rest = &text[start..];
        let from = start + (rest.len() - rest.trim_start().len());
        let ends = text[from..].char_indices().filter(|(_, c)| is_edge(*c)).map(|(at, c)| from + at + c.len_utf8());
        // A name with arguments ends after its bracket; one without before the next.
        let ends = ends.flat_map(|end| [end - 1, end]).chain([text.len()]);
        let end = ends.filter(|end| *end > from).find(|end| same(&text[from..*end], name));
        found.extend(end.map(|end| from..from + text[from..end].trim_end().len()));
    }
    found.sort_by_key(|range| range.start);
    found.dedup();
    match &found[..] {
        [one] => Some(one.clone()),
        _ => None,
    }
}

/// Returns `true` if a type's text in the source is its short name, apart from spaces and modules.
fn same(text: &str, name: &str) -> bool {
    let short = |text: &str| {
        let mut short = String::new();
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        for part in text.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
            short.push_str(part.rsplit("::").next().unwrap_or(part));
        }
        short.replace(",>", ">").replace(",)", ")")
    };
    short(text) == short(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_replaced_in_their_text() {
        let replace = |old: &str, change: Change| replaced(old, "", "", Some(change));
        assert_eq!(replace("Option<a::Big<u8, u8>>", Change::Boxed).unwrap(), "Option<Box<a::Big<u8, u8>>>");
        assert_eq!(replace("std::option::Option<Big>", Change::Sparse).unwrap(), "Sparse<Big>");
        assert_eq!(replace("Big", Change::Boxed), None);
        assert_eq!(replace("String", Change::Exact).unwrap(), "Box<str>");
        assert_eq!(replace("Vec<(u8, u8)>", Change::Thin).unwrap(), "ThinSlice<(u8, u8)>");
        assert_eq!(replace("Alias", Change::Thin), None);
        let map = "HashMap<String, fn(u8) -> Vec<u8>, RandomState>";
        assert_eq!(replace(map, Change::Sorted).unwrap(), "SortedMap<String, fn(u8) -> Vec<u8>>");
        assert_eq!(replaced("Arc<Node>", "unshared", "", None).unwrap(), "Box<Node>");
        assert_eq!(
            replaced("Box<dyn A + Send>", "inline", "SmallBox<dyn A, 2>", None).unwrap(),
            "SmallBox<dyn A + Send, 2>"
        );
        assert_eq!(replaced("std::string::String", "intern", "", None).unwrap(), "Arc<str>");
    }

    #[test]
    fn parts_of_a_type_are_found_once() {
        let found = |text: &'static str, name: &str| term(text, name).map(|range| &text[range]);
        assert_eq!(found("Vec<Option<a::Big>>", "Option<Big>"), Some("Option<a::Big>"));
        assert_eq!(found("HashMap<\n    String,\n    Vec<u8>,\n>", "Vec<u8>"), Some("Vec<u8>"));
        assert_eq!(found("Vec<\n    // A comment.\n    Option<u8>,\n>", "Option<u8>"), Some("Option<u8>"));
        assert_eq!(found("(String, String)", "String"), None);
        assert_eq!(found("Mutex<Vec<Alias>>", "Vec<Big>"), None);
        assert_eq!(found("Vec<u64>", "u64"), Some("u64"));
    }
}
