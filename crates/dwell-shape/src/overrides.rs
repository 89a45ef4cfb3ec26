//! Decisions of the user about one position, which override those of the inference.

use super::schema::{Keywords, Kind, Schema, Slot, Tagging};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
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

/// A value of `--set`: a decision, or a file of them.
#[derive(Debug, Clone)]
pub enum Value {
    /// `PATH=WHAT`
    One(Override),
    /// `@FILE`
    File(PathBuf),
}

impl FromStr for Value {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.strip_prefix('@') {
            Some("") => bail!("a file is missing after `@`"),
            Some(file) => Ok(Self::File(file.into())),
            None => text.parse().map(Self::One),
        }
    }
}

/// The decisions that the values of `--set` give.
#[derive(Debug, Default)]
pub struct Given {
    /// The decisions, in order.
    pub all: Vec<Override>,
    /// Those of files.
    pub kept: Vec<Override>,
    /// The files that do not exist: they get the decisions of the run.
    pub new: Vec<PathBuf>,
}

impl Given {
    /// Reads the files among the values.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or a line is not valid.
    pub fn read(values: &[Value]) -> Result<Self> {
        let mut given = Self::default();
        // The decisions of files come first: the others are of this run.
        for file in values.iter().filter_map(|value| if let Value::File(file) = value { Some(file) } else { None }) {
            match read(file)? {
                Some(all) => given.all.extend(all),
                None => given.new.push(file.clone()),
            }
        }
        given.kept.clone_from(&given.all);
        let one = |value: &Value| if let Value::One(one) = value { Some(one.clone()) } else { None };
        given.all.extend(values.iter().filter_map(one));
        Ok(given)
    }
}

/// A step of a JSON path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `.key` or `["key"]`
    Key(String),
    /// `.*`: any key, and the values of a map
    Any,
    /// `[]` or `[0]`: the elements of an array
    Element,
    /// `..`: any number of steps; at the end of a path, all values below
    Deep,
}

/// A decision about the values at a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The keys are data.
    Map,
    /// The keys are fields, and no tag distinguishes the objects.
    Struct,
    /// The strings are no enum.
    String,
    /// The strings are an enum, if few are distinct.
    Enum,
    /// The objects are a union with this tag.
    Tag(String),
    /// The objects are an untagged union: each kind has a key that no other has.
    Untagged,
    /// The type has this name. Types with one name are one, and types with two names are two.
    Name(String),
    /// The types leave the key out.
    Skip,
    /// The values have no type: `serde_json::Value`.
    Value,
    /// The enums there have no variant for other values.
    NoOther,
    /// `null` is read as a missing key.
    NullIsMissing,
    /// Numbers of which some have a fraction are written back to the letter, as `serde_json::Number`.
    Exact,
    /// The documents are of several types; each is read as if it were under the name of its type.
    Roots,
}

impl std::fmt::Display for What {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Map => "map",
            Self::Struct => "struct",
            Self::String => "string",
            Self::Enum => "enum",
            Self::Tag(key) => return write!(f, "tag={key}"),
            Self::Untagged => "untagged",
            Self::Name(name) => name,
            Self::Skip => "skip",
            Self::Value => "value",
            Self::NoOther => "no-other",
            Self::NullIsMissing => "null=missing",
            Self::Exact => "exact",
            Self::Roots => "--root",
        })
    }
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
            Some(("null", "missing")) => What::NullIsMissing,
            _ => match what {
                "map" => What::Map,
                "struct" => What::Struct,
                "string" => What::String,
                "enum" => What::Enum,
                "skip" => What::Skip,
                "value" => What::Value,
                "untagged" => What::Untagged,
                "no-other" => What::NoOther,
                "exact" => What::Exact,
                name if is_name(name) => What::Name(name.to_owned()),
                other => bail!(
                    "{other:?} is none of map, struct, string, enum, value, skip, tag=KEY, untagged, no-other, null=missing, exact and \
                     a type's name"
                ),
            },
        };
        if matches!(what, What::Skip | What::NullIsMissing) && !matches!(steps.last(), Some(Step::Key(_) | Step::Any)) {
            bail!("{path}: only a key can be skipped or missing");
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
            if let Some(after) = after.strip_prefix('.').filter(|_| steps.last() != Some(&Step::Deep)) {
                steps.push(Step::Deep);
                if after.starts_with(['[', '=']) {
                    rest = after;
                    continue;
                }
            }
            let after = after.trim_start_matches('.');
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

/// A step from a value to one inside it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Inside<'k> {
    Key(&'k str),
    /// The values of a map, and of the keys that are no fields.
    Entry,
    Element,
}

/// The steps of a path up to which a value matches it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Matched(Vec<usize>);

impl Matched {
    /// Returns what the document matches.
    pub(crate) fn start(steps: &[Step]) -> Self {
        Self(closed(steps, vec![0]))
    }

    /// Returns what a value inside matches.
    pub(crate) fn step(&self, steps: &[Step], inside: Inside<'_>) -> Self {
        let mut next = Vec::new();
        for &at in &self.0 {
            match (steps.get(at), inside) {
                (Some(Step::Deep), _) => next.push(at),
                (Some(Step::Key(wanted)), Inside::Key(key)) if wanted == key => next.push(at + 1),
                (Some(Step::Any), Inside::Key(_) | Inside::Entry) | (Some(Step::Element), Inside::Element) => {
                    next.push(at + 1);
                }
                _ => {}
            }
        }
        Self(closed(steps, next))
    }

    /// Returns whether a value matches the whole path.
    pub(crate) fn is_whole(&self, steps: &[Step]) -> bool {
        self.0.contains(&steps.len())
    }

    /// Returns whether no value inside matches.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

/// Adds the positions after `..`, which may be no step at all.
fn closed(steps: &[Step], mut at: Vec<usize>) -> Vec<usize> {
    let more: Vec<usize> = at.iter().filter(|&&at| steps.get(at) == Some(&Step::Deep)).map(|at| at + 1).collect();
    at.extend(more);
    at.sort_unstable();
    at.dedup();
    at
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

/// Reads decisions from a file, one a line. `None` if there is no such file.
///
/// # Errors
/// Returns an error if the file cannot be read, or a line is not valid.
fn read(file: &Path) -> Result<Option<Vec<Override>>> {
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.with_context(|| format!("{}: cannot be read", file.display()))?,
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let parse = |(number, line): (usize, &str)| {
        line.trim().parse::<Override>().with_context(|| format!("{}:{number}", file.display()))
    };
    lines.map(parse).collect::<Result<_>>().map(Some)
}

/// Applies the decisions that change a schema, and not how it is inferred. Returns those that have no effect, with the
/// reason.
pub fn apply(all: &[Override], schema: &mut Schema) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut given = HashSet::new();
    let has_roots = all.iter().any(|one| one.what == What::Roots);
    let is_shape =
        |one: &Override| matches!(one.what, What::Map | What::Struct | What::Tag(_) | What::Untagged | What::Value);
    for (at, one) in all.iter().enumerate() {
        // A later decision may undo this one at some of its places.
        let is_pattern = one.steps.iter().any(|step| matches!(step, Step::Deep | Step::Any));
        let undoes = |later: &Override| is_shape(later) && (later.path == one.path || is_pattern);
        if is_shape(one) && all[at + 1..].iter().any(undoes) {
            continue;
        }
        let reason = match &one.what {
            What::Map | What::Struct | What::Tag(_) | What::Untagged | What::Value => None,
            What::Roots => {
                schema.close_roots();
                None
            }
            What::Name(name) => {
                // A name that the inference gave to another type is free.
                if given.insert(name) {
                    give_up(schema, one, name);
                }
                // A list has no type of its own, and gets the name of its documents as an alias.
                rename(schema, one, name).filter(|_| !has_roots || one.path != format!("$.{name}"))
            }
            What::Skip => skip(schema, one),
            What::NullIsMissing => null_is_missing(schema, one),
            What::NoOther => close(schema, one),
            What::Exact => exact(schema, one),
            What::String | What::Enum => strings(schema, one),
        };
        wrong.extend(reason.or_else(|| unchanged(schema, one)).map(|reason| format!("{}: {reason}", one.path)));
    }
    wrong
}

/// Returns why the inference could not follow a decision.
fn unchanged(schema: &mut Schema, one: &Override) -> Option<String> {
    let mut kinds = Vec::new();
    let unions = schema.unions.clone();
    if one.what == What::Skip {
        return None;
    }
    at(schema, &one.steps, &mut |slot| kinds.push(slot.kind.clone()));
    if kinds.is_empty() {
        return Some("the types have nothing there".to_owned());
    }
    let within = |is: &dyn Fn(&Kind) -> bool| {
        kinds.iter().any(|kind| match kind {
            Kind::Mixed { alternatives } => alternatives.iter().any(|slot| is(&slot.kind)),
            kind => is(kind),
        })
    };
    let is_object = |kind: &Kind| matches!(kind, Kind::Record { .. } | Kind::Union { .. } | Kind::Map(_));
    let objects = if within(&is_object) { "" } else { "the values there are no objects" };
    let reason = match &one.what {
        What::Map => {
            let is_map = |kind: &Kind| match kind {
                Kind::Map(_) => true,
                Kind::Record { id, .. } => schema.records[*id].fields.iter().all(|field| field.rest),
                _ => false,
            };
            (!within(&is_map)).then_some("the objects there have a type that other places share")
        }
        What::Struct => (!within(&|kind| matches!(kind, Kind::Record { .. })))
            .then_some("too many keys, or keys of too many types, for the fields of a struct"),
        What::Tag(key) => {
            let is = |kind: &Kind| matches!(kind, Kind::Union { id } if unions[*id].tag == *key);
            (!within(&is)).then_some("not every object has a string of few under this key, or all have one string")
        }
        What::Untagged => {
            let is = |kind: &Kind| matches!(kind, Kind::Union { id } if unions[*id].form == Tagging::Untagged);
            (!within(&is)).then_some("not every object has exactly one of several keys that eight objects have")
        }
        What::Value => {
            (!within(&|kind| matches!(kind, Kind::Any(_)))).then_some("other places share the objects there")
        }
        _ => None,
    };
    reason.map(|reason| if objects.is_empty() || one.what == What::Value { reason } else { objects }.to_owned())
}

/// Makes strings an enum, or an enum strings.
fn strings(schema: &mut Schema, one: &Override) -> Option<String> {
    let (mut words, mut found, mut reason) = (Vec::new(), false, None);
    at(schema, &one.steps, &mut |slot| {
        slot.walk_alternatives(&mut |kind| match (&mut *kind, &one.what) {
            (Kind::Keyword { text, .. }, What::String) => (*kind, found) = (Kind::Text(std::mem::take(text)), true),
            (Kind::Text(_), What::String) | (Kind::Keyword { .. }, What::Enum) => found = true,
            (Kind::Text(text), What::Enum) if text.words.len() as u64 == text.distinct => {
                (words, found) = ([std::mem::take(&mut words), vec![text.words.clone()]].concat(), true);
            }
            (Kind::Text(_), What::Enum) => reason = Some("the strings there are too many for an enum"),
            _ => reason = reason.or(Some("the values there are no strings")),
        });
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
        let mut is_used = false;
        at(schema, &one.steps, &mut |slot| {
            slot.walk_alternatives(&mut |kind| {
                if let Kind::Text(text) = kind
                    && text.words == values
                {
                    (*kind, is_used) = (Kind::Keyword { id, text: std::mem::take(text) }, true);
                }
            });
        });
        if is_used {
            schema.keywords.push(Keywords { name, path: one.path.clone(), values });
        }
    }
    reason.filter(|_| !found).map(ToOwned::to_owned)
}

/// Gives another type than those at a path, if it has this name, a longer one.
fn give_up(schema: &mut Schema, one: &Override, name: &str) {
    let mut own = Vec::new();
    at(schema, &one.steps, &mut |slot| slot.walk_alternatives(&mut |kind| own.push(kind.clone())));
    let free =
        (2..1000).map(|number| format!("{name}{number}")).find(|name| !schema.has_type(name)).unwrap_or_default();
    let Schema { records, unions, keywords, .. } = schema;
    let is = |holds: &dyn Fn(&Kind) -> bool| own.iter().any(holds);
    for (at, record) in records.iter_mut().enumerate().filter(|(_, record)| record.name == name) {
        if !is(&|kind| matches!(kind, Kind::Record { id, .. } if *id == at)) {
            record.name.clone_from(&free);
        }
    }
    for (at, union) in unions.iter_mut().enumerate().filter(|(_, union)| union.name == name) {
        if !is(&|kind| matches!(kind, Kind::Union { id } if *id == at)) {
            union.name.clone_from(&free);
        }
    }
    for (at, keywords) in keywords.iter_mut().enumerate().filter(|(_, set)| set.name == name) {
        if !is(&|kind| matches!(kind, Kind::Keyword { id, .. } if *id == at)) {
            keywords.name.clone_from(&free);
        }
    }
}

/// Gives the types at a path a name. Enums of strings with one name become one.
fn rename(schema: &mut Schema, one: &Override, name: &str) -> Option<String> {
    let (mut records, mut unions, mut enums, mut found) = (Vec::new(), Vec::new(), Vec::new(), false);
    at(schema, &one.steps, &mut |slot| {
        found = true;
        slot.walk_alternatives(&mut |kind| match kind {
            Kind::Record { id, .. } => records.push(*id),
            Kind::Union { id } => unions.push(*id),
            Kind::Keyword { id, .. } => enums.push(*id),
            _ => {}
        });
    });
    for ids in [&mut records, &mut unions, &mut enums] {
        ids.sort_unstable();
        ids.dedup();
    }
    if !found {
        return Some("the types have nothing there".to_owned());
    }
    match (&records[..], &unions[..], &enums[..]) {
        ([record], [], []) => {
            let old = schema.records[*record].name.clone();
            if old != name && schema.has_type(name) {
                return Some(format!("another type, which differs, is named {name}"));
            }
            name.clone_into(&mut schema.records[*record].name);
        }
        ([], [union], []) => {
            if schema.unions[*union].name != name && schema.has_type(name) {
                return Some(format!("another type, which differs, is named {name}"));
            }
            name.clone_into(&mut schema.unions[*union].name);
        }
        ([], [], [_, ..]) => {
            let known = schema.keywords.iter().position(|keywords| keywords.name == name);
            if known.is_none() && schema.has_type(name) {
                return Some(format!("another type, which is no enum of strings, is named {name}"));
            }
            let into = known.unwrap_or(enums[0]);
            name.clone_into(&mut schema.keywords[into].name);
            schema.merge_keywords(into, &enums);
        }
        ([], [], []) => return Some("the values there have no type of their own".to_owned()),
        _ => return Some("the values there have several types".to_owned()),
    }
    None
}

/// Removes a key from its record.
fn skip(schema: &mut Schema, one: &Override) -> Option<String> {
    let places = fields_at(schema, &one.steps);
    for &(record, index) in places.iter().rev() {
        let record = &mut schema.records[record];
        record.fields.remove(index);
        let mut sets = std::collections::BTreeMap::<Vec<usize>, u64>::new();
        for (set, count) in std::mem::take(&mut record.key_sets) {
            let kept = set.into_iter().filter(|&field| field != index);
            let set = kept.map(|field| if field > index { field - 1 } else { field }).collect();
            *sets.entry(set).or_default() += count;
        }
        record.key_sets = sets.into_iter().collect();
    }
    places.is_empty().then(|| "the types have nothing there".to_owned())
}

/// Counts the `null`s under keys as missing keys.
fn null_is_missing(schema: &mut Schema, one: &Override) -> Option<String> {
    let places = fields_at(schema, &one.steps);
    let mut is_null = false;
    for &(record, index) in &places {
        let record = &mut schema.records[record];
        let slot = &mut record.fields[index].slot;
        if slot.nulls > 0 && slot.nulls < slot.count && !record.is_variant {
            is_null = true;
            slot.count -= slot.nulls;
            slot.nulls = 0;
            // Which objects have which keys is not known any more.
            record.key_sets.clear();
        }
    }
    match (places.is_empty(), is_null) {
        (true, _) => Some("the types have nothing there".to_owned()),
        (_, false) => Some("no value there is null, or all are".to_owned()),
        _ => None,
    }
}

/// Takes the variant for other values from the enums at a path.
fn close(schema: &mut Schema, one: &Override) -> Option<String> {
    let (mut unions, mut enums, mut found) = (Vec::new(), Vec::new(), false);
    at(schema, &one.steps, &mut |slot| {
        found |= slot.open.take().is_some();
        slot.walk_alternatives(&mut |kind| match kind {
            Kind::Union { id } => unions.push(*id),
            Kind::Keyword { id, .. } => enums.push(*id),
            _ => {}
        });
    });
    let is_none = !found && unions.is_empty() && enums.is_empty();
    schema.closed_unions.extend(unions);
    schema.closed_keywords.extend(enums);
    is_none.then(|| "no enum there has a variant for other values".to_owned())
}

/// Makes numbers of which some have a fraction `serde_json::Number`s.
fn exact(schema: &mut Schema, one: &Override) -> Option<String> {
    let mut found = false;
    at(schema, &one.steps, &mut |slot| {
        slot.walk_alternatives(&mut |kind| {
            if let Kind::Float { whole: 1.., wide, .. } = kind {
                (*wide, found) = (true, true);
            }
        });
    });
    (!found).then(|| "no number there is whole while others have a fraction".to_owned())
}

/// Returns the fields at a path, in order: the record and the index.
fn fields_at(schema: &mut Schema, steps: &[Step]) -> Vec<(usize, usize)> {
    let mut found = BTreeSet::new();
    visit(schema, steps, &mut |_| {}, &mut |record, index| {
        found.insert((record, index));
    });
    found.into_iter().collect()
}

/// Calls `f` with the slots at a path.
pub(super) fn at(schema: &mut Schema, steps: &[Step], f: &mut impl FnMut(&mut Slot)) {
    visit(schema, steps, f, &mut |_, _| {});
}

/// Calls `f` with the slots at a path, and `of_field` with the fields whose slots these are.
fn visit(schema: &mut Schema, steps: &[Step], f: &mut impl FnMut(&mut Slot), of_field: &mut impl FnMut(usize, usize)) {
    let Schema { root, records, unions, .. } = schema;
    let mut next: Vec<(usize, Matched)> = Vec::new();
    let mut seen = HashSet::new();
    let mut walk = |slot: &mut Slot, matched: Matched, next: &mut Vec<(usize, Matched)>| {
        let mut open = vec![(slot, matched, true)];
        while let Some((slot, matched, is_outer)) = open.pop() {
            // The alternatives of a position are at its path, but the position stands for them.
            if is_outer && matched.is_whole(steps) {
                f(slot);
            }
            match &mut slot.kind {
                Kind::Record { id, .. } => next.push((*id, matched)),
                Kind::Union { id } => {
                    next.extend(unions[*id].variants.iter().map(|&(_, record)| (record, matched.clone())));
                }
                Kind::Map(map) => open.push((&mut map.value, matched.step(steps, Inside::Entry), true)),
                Kind::Seq(seq) => open.push((&mut seq.element, matched.step(steps, Inside::Element), true)),
                Kind::Tuple { positions } => {
                    let matched = matched.step(steps, Inside::Element);
                    open.extend(positions.iter_mut().map(|slot| (slot, matched.clone(), true)));
                }
                Kind::Mixed { alternatives } => {
                    open.extend(alternatives.iter_mut().map(|slot| (slot, matched.clone(), false)));
                }
                _ => {}
            }
        }
    };
    walk(root, Matched::start(steps), &mut next);
    while let Some((record, matched)) = next.pop() {
        if matched.is_over() || !seen.insert((record, matched.clone())) {
            continue;
        }
        for (index, field) in records[record].fields.iter_mut().enumerate() {
            // The map of the keys that are no fields is no value of the data.
            match &mut field.slot.kind {
                Kind::Map(map) if field.rest => {
                    walk(&mut map.value, matched.step(steps, Inside::Entry), &mut next);
                }
                _ => {
                    let matched = matched.step(steps, Inside::Key(&field.key));
                    if matched.is_whole(steps) {
                        of_field(record, index);
                    }
                    walk(&mut field.slot, matched, &mut next);
                }
            }
        }
    }
}

impl Schema {
    /// Takes the variant for other types from the enum of all documents, if these have several types.
    fn close_roots(&mut self) {
        if let Kind::Union { id } = self.root.kind {
            self.roots = Some(id);
            self.closed_unions.insert(id);
        }
    }

    /// Calls `f` with all kinds of all positions.
    pub(crate) fn each_kind(&mut self, f: &mut impl FnMut(&mut Kind)) {
        self.root.walk_mut(f);
        self.records.iter_mut().flat_map(|record| &mut record.fields).for_each(|field| field.slot.walk_mut(f));
    }

    /// Makes several enums of strings the first of them.
    pub(crate) fn merge_keywords(&mut self, into: usize, from: &[usize]) {
        for &id in from.iter().filter(|id| **id != into) {
            for (word, count) in self.keywords[id].values.clone() {
                *self.keywords[into].values.entry(word).or_default() += count;
            }
        }
        let is_gone = |id: usize| id != into && from.contains(&id);
        let new = |id: usize| (0..if is_gone(id) { into } else { id }).filter(|id| !is_gone(*id)).count();
        self.each_kind(&mut |kind| {
            if let Kind::Keyword { id, .. } = kind {
                *id = new(*id);
            }
        });
        self.closed_keywords = self.closed_keywords.iter().map(|&id| new(id)).collect();
        let mut index = 0..;
        self.keywords.retain(|_| index.next().is_some_and(|id| !is_gone(id)));
    }
}

impl Slot {
    /// Calls `f` with the kind of this position, or with those of its alternatives.
    pub(crate) fn walk_alternatives(&mut self, f: &mut impl FnMut(&mut Kind)) {
        match &mut self.kind {
            Kind::Mixed { alternatives } => alternatives.iter_mut().for_each(|slot| f(&mut slot.kind)),
            kind => f(kind),
        }
    }
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
            ("$...=map", "$...=map: a key is missing after `.`"),
            ("$[\"a=map", "$[\"a=map: the key \"a=map\" does not end"),
            ("$[=map", "$[=map: expected `]`"),
            (
                "$.a=mapp",
                "\"mapp\" is none of map, struct, string, enum, value, skip, tag=KEY, untagged, no-other, null=missing, exact and a type's name",
            ),
            ("$=skip", "$: only a key can be skipped or missing"),
        ] {
            assert_eq!(text.parse::<Override>().unwrap_err().to_string(), error);
        }
    }
}
