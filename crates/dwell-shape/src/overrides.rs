//! Decisions of the user about one position, which override those of the inference.

use super::schema::{Field, Keywords, Kind, Schema, Slot};
use anyhow::{Context, Result, bail};
use std::str::FromStr;

/// A decision about the values at one JSON path: `$.resources=struct`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The path as it was given.
    pub path: String,
    /// Its steps below the document.
    pub steps: Vec<Step>,
    /// The decision.
    pub what: What,
}

/// A step of a JSON path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `.key` or `["key"]`
    Key(String),
    /// `.*`: the values of a map
    Any,
    /// `[]` or `[0]`: the elements of an array
    Element,
}

/// A decision about the values at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The keys are data.
    Map,
    /// The keys are fields.
    Struct,
    /// The strings are no enum.
    String,
    /// The strings are an enum, if few are distinct.
    Enum,
    /// The objects are a union with this tag.
    Tag(String),
    /// The type has this name.
    Name(String),
    /// The types leave the key out.
    Skip,
}

impl FromStr for Override {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (path, steps, rest) = path(text)?;
        let what = rest.strip_prefix('=').with_context(|| format!("{text}: expected PATH=WHAT, as in $.users=map"))?;
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphanumeric())
        };
        let what = match what.split_once('=') {
            Some(("tag", key)) if !key.is_empty() => What::Tag(key.to_owned()),
            _ => match what {
                "map" => What::Map,
                "struct" => What::Struct,
                "string" => What::String,
                "enum" => What::Enum,
                "skip" => What::Skip,
                name if is_name(name) => What::Name(name.to_owned()),
                other => bail!("{other:?} is none of map, struct, string, enum, skip, tag=KEY and a type's name"),
            },
        };
        if what == What::Skip && !matches!(steps.last(), Some(Step::Key(_))) {
            bail!("{path}: only a key can be skipped");
        }
        Ok(Self { path, steps, what })
    }
}

/// Parses the path at the start of a text. Returns it with its steps, and the rest of the text.
fn path(text: &str) -> Result<(String, Vec<Step>, &str)> {
    let mut rest = text.strip_prefix('$').with_context(|| format!("{text}: a path begins with `$`, the document"))?;
    let mut steps = Vec::new();
    loop {
        if let Some(key) = rest.strip_prefix("[\"") {
            let mut strings = serde_json::Deserializer::from_str(&rest[1..]).into_iter::<String>();
            let Some(Ok(key)) = strings.next() else { bail!("{text}: the key {key:?} does not end") };
            let after = &rest[1 + strings.byte_offset()..];
            rest = after.strip_prefix(']').with_context(|| format!("{text}: expected `]` after the key {key:?}"))?;
            steps.push(Step::Key(key));
        } else if let Some(index) = rest.strip_prefix('[') {
            let (_, after) = index.split_once(']').with_context(|| format!("{text}: expected `]`"))?;
            steps.push(Step::Element);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[', '=']).unwrap_or(after.len());
            if end == 0 {
                bail!("{text}: a key is missing after `.`");
            }
            steps.push(if &after[..end] == "*" { Step::Any } else { Step::Key(after[..end].to_owned()) });
            rest = &after[end..];
        } else {
            return Ok((text[..text.len() - rest.len()].to_owned(), steps, rest));
        }
    }
}

/// The part of `dwell.toml` about types for JSON.
#[derive(Debug, Default, serde::Deserialize)]
struct Config {
    #[serde(default)]
    shape: Shape,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    #[serde(default)]
    set: Vec<String>,
}

/// Returns the decisions in the `dwell.toml` of the working folder or the nearest folder above it.
///
/// # Errors
/// Returns an error if the file cannot be read or a decision is not valid.
pub fn configured() -> Result<Vec<Override>> {
    let folder = std::env::current_dir().unwrap_or_default();
    let Some(file) = folder.ancestors().map(|folder| folder.join("dwell.toml")).find(|file| file.is_file()) else {
        return Ok(Vec::new());
    };
    let text = std::fs::read_to_string(&file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let config: Config = toml::from_str(&text).map_err(|error| {
        let what = error.message().lines().collect::<Vec<_>>().join(", ");
        anyhow::anyhow!("{}: {what}", file.display())
    })?;
    config.shape.set.iter().map(|one| one.parse().with_context(|| format!("{}", file.display()))).collect()
}

/// Applies the decisions that change a schema, and not how it is inferred. Returns the paths that it does not have.
pub fn apply(all: &[Override], schema: &mut Schema) -> Vec<String> {
    let mut unknown = Vec::new();
    for one in all {
        let found = match &one.what {
            What::Map | What::Struct | What::Tag(_) => continue,
            What::Name(name) => rename(schema, &one.path, name),
            What::Skip => skip(schema, one),
            What::String | What::Enum => {
                let mut words = Vec::new();
                let found = at(schema, &one.steps, &mut |slot| match (&mut slot.kind, &one.what) {
                    (Kind::Keyword { text, .. }, What::String) => slot.kind = Kind::Text(std::mem::take(text)),
                    (Kind::Text(text), What::Enum) if text.words.len() as u64 == text.distinct => {
                        words.push(text.words.clone());
                    }
                    _ => {}
                });
                for values in words {
                    let name = one.steps.iter().rev().find_map(|step| match step {
                        Step::Key(key) => Some(key.clone()),
                        _ => None,
                    });
                    let mut name = super::names::type_name(&name.unwrap_or_else(|| "Word".to_owned()));
                    while schema.has_type(&name) {
                        name.push_str("Value");
                    }
                    let id = schema.keywords.len();
                    schema.keywords.push(Keywords { name, path: one.path.clone(), values: values.clone() });
                    at(schema, &one.steps, &mut |slot| {
                        if let Kind::Text(text) = &mut slot.kind
                            && text.words == values
                        {
                            slot.kind = Kind::Keyword { id, text: std::mem::take(text) };
                        }
                    });
                }
                found
            }
        };
        if !found {
            unknown.push(one.path.clone());
        }
    }
    unknown
}

fn rename(schema: &mut Schema, path: &str, name: &str) -> bool {
    let free = !schema.has_type(name);
    let record = schema.records.iter_mut().find(|record| record.paths.iter().any(|of| of == path));
    let union = schema.unions.iter_mut().find(|union| union.path == path);
    let keywords = schema.keywords.iter_mut().find(|keywords| keywords.path == path);
    let own = union.map(|of| &mut of.name).or(record.map(|of| &mut of.name)).or(keywords.map(|of| &mut of.name));
    match own {
        Some(own) if free => name.clone_into(own),
        Some(_) => {}
        None => return false,
    }
    true
}

/// Removes a key from its record.
fn skip(schema: &mut Schema, of: &Override) -> bool {
    let Some((Step::Key(key), above)) = of.steps.split_last() else { return false };
    let mut records = Vec::new();
    at(schema, above, &mut |slot| {
        if let Kind::Record { id, .. } = slot.kind {
            records.push(id);
        }
    });
    let mut found = false;
    for record in records {
        let record = &mut schema.records[record];
        let Some(index) = record.fields.iter().position(|field| field.key == *key && !field.rest) else { continue };
        record.fields.remove(index);
        let mut sets = std::collections::BTreeMap::<Vec<usize>, u64>::new();
        for (set, count) in std::mem::take(&mut record.key_sets) {
            let kept = set.into_iter().filter(|&field| field != index);
            let set = kept.map(|field| if field > index { field - 1 } else { field }).collect();
            *sets.entry(set).or_default() += count;
        }
        record.key_sets = sets.into_iter().collect();
        found = true;
    }
    found
}

/// Calls `f` with the slots at a path. Returns whether there are any.
fn at(schema: &mut Schema, steps: &[Step], f: &mut impl FnMut(&mut Slot)) -> bool {
    let Schema { root, records, unions, .. } = schema;
    let mut found = false;
    /// A record's field to go on from.
    type Next = (usize, usize, usize);
    let mut next: Vec<Next> = Vec::new();
    let mut visited = std::collections::HashSet::new();
    let mut walk =
        |slot: &mut Slot, steps: &[Step], next: &mut Vec<Next>, fields: &dyn Fn(usize) -> Vec<Option<String>>| {
            let mut open = vec![(slot, steps)];
            while let Some((slot, rest)) = open.pop() {
                let Some((step, after)) = rest.split_first() else {
                    found = true;
                    f(slot);
                    continue;
                };
                let mut of_record = |record: usize| {
                    for (index, key) in fields(record).into_iter().enumerate() {
                        let fits = match (step, &key) {
                            (Step::Key(wanted), Some(key)) => wanted == key,
                            (Step::Any, None) => true,
                            _ => false,
                        };
                        if fits {
                            next.push((record, index, after.len()));
                        }
                    }
                };
                match (&mut slot.kind, step) {
                    (Kind::Record { id, .. }, _) => of_record(*id),
                    (Kind::Union { id }, _) => unions[*id].variants.iter().for_each(|&(_, record)| of_record(record)),
                    (Kind::Map(map), Step::Any) => open.push((&mut map.value, after)),
                    (Kind::Seq(seq), Step::Element) => open.push((&mut seq.element, after)),
                    (Kind::Tuple { positions }, Step::Element) => {
                        open.extend(positions.iter_mut().map(|slot| (slot, after)));
                    }
                    (Kind::Mixed { alternatives }, _) => open.extend(alternatives.iter_mut().map(|slot| (slot, rest))),
                    _ => {}
                }
            }
        };
    let keys: Vec<Vec<Option<String>>> = records
        .iter()
        .map(|record| record.fields.iter().map(|Field { key, rest, .. }| (!rest).then(|| key.clone())).collect())
        .collect();
    let fields = |record: usize| keys[record].clone();
    walk(root, steps, &mut next, &fields);
    while let Some(of) = next.pop() {
        let (record, field, left) = of;
        if visited.insert(of) {
            let steps = &steps[steps.len() - left..];
            let slot = &mut records[record].fields[field];
            // The map of the keys that are no fields has the step `.*` already.
            match &mut slot.slot.kind {
                Kind::Map(map) if slot.rest => walk(&mut map.value, steps, &mut next, &fields),
                _ => walk(&mut slot.slot, steps, &mut next, &fields),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_decisions_are_parsed() {
        let one: Override = "$.a.*[][\"b=.c\"]=tag=kind".parse().unwrap();
        let key = |key: &str| Step::Key(key.into());
        assert_eq!(one.steps, [key("a"), Step::Any, Step::Element, key("b=.c")]);
        assert_eq!((&*one.path, one.what), ("$.a.*[][\"b=.c\"]", What::Tag("kind".into())));
        assert_eq!("$=Order".parse::<Override>().unwrap().what, What::Name("Order".into()));
        for (text, error) in [
            ("a=map", "a=map: a path begins with `$`, the document"),
            ("$.a", "$.a: expected PATH=WHAT, as in $.users=map"),
            ("$..a=map", "$..a=map: a key is missing after `.`"),
            ("$[\"a=map", "$[\"a=map: the key \"a=map\" does not end"),
            ("$[=map", "$[=map: expected `]`"),
            ("$.a=mapp", "\"mapp\" is none of map, struct, string, enum, skip, tag=KEY and a type's name"),
            ("$=skip", "$: only a key can be skipped"),
        ] {
            assert_eq!(text.parse::<Override>().unwrap_err().to_string(), error);
        }
    }
}
