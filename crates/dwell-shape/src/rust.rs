//! Writes a model as Rust source, formatted as rustfmt would.

use super::borrow::{Borrowing, STR};
use super::formats::Format;
use super::model::{Def, Model, Part, Presence, Source};
use super::names;
use super::positions::{PositionId, Positions};
use super::schema::{Field, Kind, Lengths, Open, Tagging, Text};
use super::types::{Body, DefId, Type};
use dwell_output::units::{count, percent, plural};
use std::fmt::Write;

/// rustfmt's default line width.
const WIDTH: usize = 100;

/// rustfmt's default width for the arguments of an attribute.
const ATTRIBUTE_WIDTH: usize = 70;

/// Writes one module with the types of a model.
pub fn module(positions: &Positions<'_>, model: &Model<'_, '_>, name: &str, doc: &str) -> String {
    let mut items = Items { positions, model, borrowing: Borrowing::new(model), out: String::new() };
    // Each document is loaded as its own type.
    let all = positions.schema.roots.and_then(|id| model.find(Source::Union(id)));
    for id in (0..model.defs.len()).filter(|&id| model.canonical(id) == id && Some(id) != all) {
        items.out.push('\n');
        items.def(id);
    }
    let mut out = String::new();
    line(&mut out, 0, &format!("/// {doc}"));
    line(&mut out, 0, &format!("pub mod {name} {{"));
    for import in imports(model) {
        line(&mut out, 1, &import);
    }
    let style = &positions.schema.style;
    if all.is_none() && model.rust(&model.root) != style.root {
        out.push('\n');
        line(&mut out, 1, "/// One document: `$`.");
        let lifetime = items.borrowing.lifetime(&model.root);
        line(&mut out, 1, &format!("pub type {}{lifetime} = {};", style.root, items.rust(&model.root)));
    }
    roots(&mut out, &items);
    out.push_str(&items.out);
    if any_presence(model, Presence::MissingOrNull) {
        out.push_str(PRESENT);
    }
    let (mut open, mut borrows) = (false, false);
    each_type(model, &mut |ty| {
        open |= matches!(ty, Type::Open(_));
        borrows |= *ty == Type::Cow;
    });
    if open {
        out.push_str(OR_OTHER);
    }
    if borrows {
        out.push_str(STR);
    }
    line(&mut out, 0, "}");
    if style.visibility == "pub" { out } else { with_visibility(&out, &style.visibility) }
}

/// Replaces `pub` in all items and fields.
fn with_visibility(source: &str, visibility: &str) -> String {
    let line = |line: &str| match line.trim_start().strip_prefix("pub ") {
        Some(rest) => format!("{}{visibility} {rest}\n", &line[..line.len() - rest.len() - 4]),
        None => format!("{line}\n"),
    };
    source.lines().map(line).collect()
}

/// The function that the types use to distinguish `null` from a missing key.
const PRESENT: &str = "
    /// Deserializes a present key as `Some`, including `null`; a missing key is `None`.
    fn present<'de, T, D>(value: D) -> Result<Option<T>, D::Error>
    where
        T: Deserialize<'de>,
        D: serde::Deserializer<'de>,
    {
        T::deserialize(value).map(Some)
    }
";

/// The enum of positions that accept other JSON types.
const OR_OTHER: &str = "
    /// A value of the inferred type, or any other value: the data has too few values to exclude other types.
    #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
    #[serde(untagged)]
    pub enum OrOther<T> {
        /// A value of the inferred type.
        Known(T),
        /// Any other value.
        Other(Box<serde_json::Value>),
    }

    impl<T> OrOther<T> {
        /// The value, if it has the inferred type.
        #[allow(dead_code)]
        pub fn known(&self) -> Option<&T> {
            match self {
                OrOther::Known(value) => Some(value),
                OrOther::Other(_) => None,
            }
        }
    }
";

/// Returns the dependencies on crates for formats of strings, as lines of a doc comment.
pub fn dependencies(models: &[&Model<'_, '_>]) -> String {
    let crates = [
        (&[Format::Uuid][..], "uuid = { version = \"1\", features = [\"serde\"] }"),
        (&[Format::Date, Format::Utc, Format::Offset], "chrono = { version = \"0.4\", features = [\"serde\"] }"),
        (&[Format::Url], "url = { version = \"2\", features = [\"serde\"] }"),
    ];
    let mut used = Vec::new();
    for model in models {
        each_type(model, &mut |ty| {
            if let Type::Foreign(format) = ty {
                used.push(*format);
            }
        });
    }
    let needed = crates.iter().filter(|(formats, _)| formats.iter().any(|format| used.contains(format)));
    let mut lines = String::new();
    for (_, line) in needed {
        lines.push_str("//! ");
        lines.push_str(line);
        lines.push('\n');
    }
    if lines.is_empty() { lines } else { format!("//!\n//! They need:\n//! ```toml\n{lines}//! ```\n") }
}

/// Calls `f` with each type in the generated code.
fn each_type(model: &Model<'_, '_>, f: &mut impl FnMut(&Type)) {
    model.root.walk(f);
    for body in &model.bodies {
        match body {
            Body::Struct(fields) => fields.iter().for_each(|field| field.walk(f)),
            Body::Enum(variants) => variants.iter().flatten().for_each(|field| field.walk(f)),
        }
    }
}

fn imports(model: &Model<'_, '_>) -> Vec<String> {
    let [mut hash, mut sparse, mut sorted, mut slice, mut text, mut borrows] = [false; 6];
    let mut look = |ty: &Type| {
        hash |= matches!(ty, Type::HashMap(_));
        sparse |= matches!(ty, Type::Sparse(_));
        sorted |= matches!(ty, Type::SortedMap(..));
        slice |= matches!(ty, Type::ThinSlice(_));
        text |= matches!(ty, Type::ThinStr);
        borrows |= matches!(ty, Type::Cow);
    };
    each_type(model, &mut look);
    let companions = [(sorted, "SortedMap"), (slice, "ThinSlice"), (text, "ThinStr")];
    let companions: Vec<&str> = companions.iter().filter(|(used, _)| *used).map(|(_, name)| *name).collect();
    let mut imports = Vec::new();
    if sparse {
        imports.push("use dwell::Sparse;".into());
    }
    match companions[..] {
        [] => {}
        [one] => imports.push(format!("use dwell::sparse::{one};")),
        _ => imports.push(format!("use dwell::sparse::{{{}}};", companions.join(", "))),
    }
    if !model.defs.is_empty() || borrows {
        imports.push("use serde::{Deserialize, Serialize};".into());
    }
    if borrows {
        imports.push("use std::borrow::Cow;".into());
    }
    if hash {
        imports.push("use std::collections::HashMap;".into());
    }
    imports
}

/// Writes the types of documents that have none of their own, such as lists, if the documents are of several types.
fn roots(out: &mut String, items: &Items<'_, '_, '_>) {
    let (positions, model) = (items.positions, items.model);
    let Some(union) = positions.schema.roots else { return };
    let Some(Body::Enum(types)) = model.find(Source::Union(union)).map(|id| &model.bodies[id]) else { return };
    for ((name, record), ty) in positions.schema.unions[union].variants.iter().zip(types) {
        let is_own = |field: &Field| matches!(field.slot.kind, Kind::Record { .. } | Kind::Union { .. });
        let Some(ty) = ty.as_ref().filter(|_| !positions.schema.records[*record].fields.iter().any(is_own)) else {
            continue;
        };
        let ty = if let Type::Box(inner) = ty { &**inner } else { ty };
        let text = items.rust(ty);
        // An enum of several JSON types has the name of its documents already.
        if text == *name {
            continue;
        }
        let free = if positions.schema.has_type(name) { format!("{name}Document") } else { name.clone() };
        let lifetime = items.borrowing.lifetime(ty);
        out.push('\n');
        line(out, 1, &format!("/// One document: `$.{name}`."));
        line(out, 1, &format!("pub type {free}{lifetime} = {text};"));
    }
}

fn any_presence(model: &Model<'_, '_>, wanted: Presence) -> bool {
    let is = |part: &Part| matches!(part, Part::Position(_, presence) if *presence == wanted);
    model.defs.iter().any(|def| def.parts.iter().any(is))
}

fn line(out: &mut String, depth: usize, text: &str) {
    for _ in 0..depth {
        out.push_str("    ");
    }
    out.push_str(text);
    out.push('\n');
}

/// Writes `#[name(arguments)]` on one line or on several, as rustfmt does.
fn attribute(out: &mut String, depth: usize, name: &str, arguments: &[String]) {
    if arguments.is_empty() {
        return;
    }
    let one = arguments.join(", ");
    if one.len() <= ATTRIBUTE_WIDTH && depth * 4 + name.len() + one.len() + 5 <= WIDTH {
        line(out, depth, &format!("#[{name}({one})]"));
        return;
    }
    line(out, depth, &format!("#[{name}("));
    line(out, depth + 1, &arguments.join(&format!(",\n{}", "    ".repeat(depth + 1))));
    line(out, depth, ")]");
}

/// Returns a Rust string literal for a text, with its quotes.
fn literal(text: &str) -> String {
    format!("{text:?}")
}

struct Items<'m, 'p, 's> {
    positions: &'p Positions<'s>,
    model: &'m Model<'p, 's>,
    borrowing: Borrowing,
    out: String,
}

impl Items<'_, '_, '_> {
    /// Returns a type as Rust source.
    fn rust(&self, ty: &Type) -> String {
        ty.rust(&|id| self.model.name(id) + self.borrowing.lifetime(&Type::Named(id)))
    }

    /// Returns the arguments of the serde attribute of a field or variant of this type.
    fn borrow(&self, ty: Option<&Type>) -> Vec<String> {
        ty.filter(|ty| self.borrowing.is(ty)).map(|_| "borrow".to_owned()).into_iter().collect()
    }

    fn def(&mut self, id: DefId) {
        let model = self.model;
        let def = &model.defs[id];
        self.doc(1, &self.about(def));
        match (&model.bodies[id], def.source) {
            (Body::Struct(types), Source::Record(record) | Source::Group(record, _)) => {
                self.structure(id, def, types, record);
            }
            (Body::Enum(types), Source::Keywords(keywords)) => {
                let (_, variants) = &self.positions.keywords_names[keywords];
                let values = &self.positions.schema.keywords[keywords].values;
                let open = !self.positions.schema.is_closed_enum(keywords);
                let derived = if open { "Debug, Clone, PartialEq, Eq" } else { "Debug, Clone, Copy, PartialEq, Eq" };
                let derived = self.derive(derived);
                attribute(&mut self.out, 1, "derive", &derived);
                let convention = convention(variants, &values.keys(), names::renamed_variant);
                attribute(&mut self.out, 1, "serde", &rename_all(convention));
                let of_enum = self.rust(&Type::Named(id));
                line(&mut self.out, 1, &format!("pub enum {of_enum} {{"));
                let all: u64 = values.values().sum();
                for (variant, (value, &seen)) in variants.iter().zip(values) {
                    self.counts(2, &format!("{}.", percent(seen, all)));
                    self.rename(&names::renamed_variant(variant, convention), value, Vec::new());
                    line(&mut self.out, 2, &format!("{variant},"));
                }
                if let Some(other) = types.last().and_then(Option::as_ref) {
                    self.other(variants, "untagged", "A string that is not in the data", Some(other));
                }
                line(&mut self.out, 1, "}");
            }
            (Body::Enum(types), Source::Union(union)) => {
                let (_, variants) = &self.positions.union_names[union];
                let union_of = &self.positions.schema.unions[union];
                let derived = self.derive("Debug, Clone, PartialEq");
                attribute(&mut self.out, 1, "derive", &derived);
                let named = &variants[..union_of.tagged().len()];
                let convention =
                    convention(named, &union_of.tagged().iter().map(|(value, _)| value), names::renamed_variant);
                let mut arguments = match &union_of.form {
                    Tagging::Internal => vec![format!("tag = {}", literal(&union_of.tag))],
                    Tagging::Adjacent(content) => {
                        vec![format!("tag = {}", literal(&union_of.tag)), format!("content = {}", literal(content))]
                    }
                    Tagging::External => Vec::new(),
                    Tagging::Untagged => vec!["untagged".into()],
                };
                if self.positions.schema.refuse && matches!(union_of.form, Tagging::Adjacent(_)) {
                    arguments.insert(0, "deny_unknown_fields".into());
                }
                let is_untagged = union_of.form == Tagging::Untagged;
                arguments.extend(rename_all(convention).into_iter().filter(|_| !is_untagged));
                attribute(&mut self.out, 1, "serde", &arguments);
                let of_enum = self.rust(&Type::Named(id));
                line(&mut self.out, 1, &format!("pub enum {of_enum} {{"));
                let instances = |record: usize| self.positions.schema.records[record].instances;
                let all: u64 = union_of.variants.iter().map(|&(_, record)| instances(record)).sum();
                for ((variant, (value, record)), ty) in variants.iter().zip(union_of.tagged()).zip(types) {
                    self.counts(2, &format!("{}.", percent(instances(*record), all)));
                    let more = self.borrow(ty.as_ref());
                    let renamed = names::renamed_variant(variant, convention);
                    self.rename(if is_untagged { value } else { &renamed }, value, more);
                    self.variant(variant, ty.as_ref());
                }
                if let Some(record) = union_of.without_tag() {
                    let last = union_of.variants.len() - 1;
                    let share = percent(instances(record), all);
                    let plain = self.positions.schema.style.plain;
                    self.doc(2, &if plain { "Without the tag".into() } else { format!("Without the tag: {share}.") });
                    let mut arguments: Vec<String> =
                        Some("untagged".to_owned()).into_iter().filter(|_| !is_untagged).collect();
                    arguments.extend(self.borrow(types[last].as_ref()));
                    attribute(&mut self.out, 2, "serde", &arguments);
                    self.variant(&variants[last], types[last].as_ref());
                }
                match types.get(union_of.variants.len()) {
                    Some(Some(other)) => {
                        let doc = match union_of.form {
                            Tagging::Untagged => "An object with none of these keys",
                            Tagging::External => "A value with another key, or another string, that was not seen",
                            _ => "An object with a tag that was not seen",
                        };
                        self.other(variants, if is_untagged { "" } else { "untagged" }, doc, Some(other));
                    }
                    Some(None) => {
                        let doc = "An object with a tag that was not seen; its keys are lost";
                        self.other(variants, "other", doc, None);
                    }
                    None => {}
                }
                line(&mut self.out, 1, "}");
            }
            (Body::Enum(types), Source::Mixed(position)) => {
                let derived = self.derive("Debug, Clone, PartialEq");
                attribute(&mut self.out, 1, "derive", &derived);
                attribute(&mut self.out, 1, "serde", &["untagged".into()]);
                let of_enum = self.rust(&Type::Named(id));
                line(&mut self.out, 1, &format!("pub enum {of_enum} {{"));
                if let Kind::Mixed { alternatives } = &self.positions.list[position].slot.kind {
                    let names = self.positions.alternative_names(alternatives);
                    for ((name, within), ty) in names.iter().zip(&self.positions.list[position].within).zip(types) {
                        self.counts(2, &self.values(*within, self.positions.full(position)));
                        let arguments = self.borrow(ty.as_ref());
                        attribute(&mut self.out, 2, "serde", &arguments);
                        self.variant(name, ty.as_ref());
                    }
                    if let Some(Some(other)) = types.get(names.len()) {
                        self.doc(2, "A value of another type, which was not seen");
                        let free = |name: &&str| !names.iter().any(|taken| taken == name);
                        let name = ["Other", "Unseen", "NotSeen"].into_iter().find(free);
                        self.variant(name.unwrap_or("AnythingElse"), Some(other));
                    }
                }
                line(&mut self.out, 1, "}");
            }
            _ => unreachable!("records and their groups are structs, the rest are enums"),
        }
    }

    fn structure(&mut self, id: DefId, def: &Def, types: &[Type], record: usize) {
        // `#[sparse(const)]` makes the default a constant, which needs no lazy initialisation, and derives `Default`
        // too.
        let constant = def.sparse && types.iter().all(has_constant_default);
        let derived =
            if def.sparse && !constant { "Debug, Clone, Default, PartialEq" } else { "Debug, Clone, PartialEq" };
        let mut derived = self.derive(derived);
        if def.sparse {
            derived.push("Sparse".into());
        }
        attribute(&mut self.out, 1, "derive", &derived);
        if constant {
            attribute(&mut self.out, 1, "sparse", &["const".into()]);
        }
        let name = self.model.name(id);
        if types.is_empty() {
            line(&mut self.out, 1, &format!("pub struct {name} {{}}"));
            return;
        }
        let shape = &self.positions.schema.records[record];
        let names = &self.positions.field_names[record];
        let field = |part: &Part| match part {
            Part::Position(position, _) => self.positions.list[*position].field,
            _ => None,
        };
        let fields: Vec<usize> =
            def.parts.iter().filter_map(field).filter(|&field| !shape.fields[field].rest).collect();
        let own_names: Vec<String> = fields.iter().map(|&field| names[field].clone()).collect();
        let keys = fields.iter().map(|&field| &shape.fields[field].key);
        let convention = convention(&own_names, &keys, names::renamed_field);
        let mut arguments = rename_all(convention);
        // serde does not allow `flatten` together with `deny_unknown_fields`.
        let flat = shape.fields.iter().any(|field| field.rest)
            || def.parts.iter().any(|part| matches!(part, Part::Group(_)))
            || matches!(def.source, Source::Group(..));
        if self.positions.schema.refuse && !flat {
            arguments.insert(0, "deny_unknown_fields".into());
        }
        attribute(&mut self.out, 1, "serde", &arguments);
        // A record without fields other than the map is a map with a name.
        let transparent = shape.fields.iter().all(|field| field.rest);
        if transparent {
            attribute(&mut self.out, 1, "serde", &["transparent".into()]);
        }
        let lifetime = self.borrowing.lifetime(&Type::Named(id));
        line(&mut self.out, 1, &format!("pub struct {name}{lifetime} {{"));
        for (part, field_type) in def.parts.iter().zip(types) {
            match *part {
                Part::Position(position, presence) => {
                    let index = self.positions.list[position].field.expect("a field's position");
                    self.counts(2, &self.values(position, shape.instances));
                    let more: &[&str] = match presence {
                        Presence::Always => &[],
                        Presence::Missing => &["skip_serializing_if = \"Option::is_none\""],
                        Presence::MissingOrNull => {
                            &["default", "deserialize_with = \"present\"", "skip_serializing_if = \"Option::is_none\""]
                        }
                        Presence::MissingIsEmpty => &["default", "skip_serializing_if = \"Sparse::is_empty\""],
                    };
                    let mut more: Vec<String> = more.iter().map(ToString::to_string).collect();
                    more.extend(self.borrow(Some(field_type)));
                    if shape.fields[index].rest {
                        let mut arguments = if transparent { Vec::new() } else { vec!["flatten".to_owned()] };
                        arguments.extend(self.borrow(Some(field_type)));
                        attribute(&mut self.out, 2, "serde", &arguments);
                        self.field(&names[index], field_type);
                        continue;
                    }
                    self.rename(&names::renamed_field(&names[index], convention), &shape.fields[index].key, more);
                    self.field(&names[index], field_type);
                }
                Part::Group(group) => {
                    let inner = Source::Group(record, group);
                    let inner = self.model.find(inner).expect("it has been made");
                    let (any, exact) = self.positions.any_of(record, &self.members(inner));
                    let about = if exact { "" } else { "at most " };
                    self.counts(
                        2,
                        &format!("{about}{} of the objects have any of these fields.", percent(any, shape.instances)),
                    );
                    let mut arguments = vec!["flatten".to_owned()];
                    arguments.extend(self.borrow(Some(field_type)));
                    attribute(&mut self.out, 2, "serde", &arguments);
                    let tier = self.model.name(inner)[name.len()..].to_ascii_lowercase();
                    let taken = |tier: &str| names.iter().any(|name| name == tier);
                    let tier = if taken(&tier) { format!("{tier}_fields") } else { tier };
                    self.field(&tier, field_type);
                }
                Part::Variant(_) => unreachable!("a struct has no variants"),
            }
        }
        line(&mut self.out, 1, "}");
    }

    fn members(&self, group: DefId) -> Vec<usize> {
        let field = |part: &Part| match part {
            Part::Position(position, _) => self.positions.list[*position].field,
            _ => None,
        };
        self.model.defs[group].parts.iter().filter_map(field).collect()
    }

    fn field(&mut self, name: &str, ty: &Type) {
        let text = if *ty == Type::Cow { "Cow<'a, str>".into() } else { self.rust(ty) };
        if 8 + format!("pub {name}: {text},").len() <= WIDTH {
            line(&mut self.out, 2, &format!("pub {name}: {text},"));
        } else if 12 + text.len() < WIDTH {
            line(&mut self.out, 2, &format!("pub {name}:"));
            line(&mut self.out, 3, &format!("{text},"));
        } else {
            let text = self.broken(ty, 2);
            line(&mut self.out, 2, &format!("pub {name}: {text},"));
        }
    }

    /// Breaks a type that is too long for one line: each argument gets a line of its own.
    fn broken(&self, ty: &Type, depth: usize) -> String {
        let arguments: Vec<&Type> = match ty {
            Type::Option(inner)
            | Type::Box(inner)
            | Type::Sparse(inner)
            | Type::Open(inner)
            | Type::Vec(inner)
            | Type::ThinSlice(inner) => {
                vec![&**inner]
            }
            Type::HashMap(value) => vec![&Type::String, &**value],
            Type::SortedMap(key, value) => vec![&**key, &**value],
            _ => return self.rust(ty),
        };
        let text = self.rust(ty);
        let head = text.split('<').next().unwrap_or_default();
        let indent = "    ".repeat(depth + 1);
        let argument = |ty: &&Type| match self.rust(ty) {
            text if indent.len() + text.len() < WIDTH => format!("{indent}{text},\n"),
            _ => format!("{indent}{},\n", self.broken(ty, depth + 1)),
        };
        let arguments: Vec<String> = arguments.iter().map(argument).collect();
        format!("{head}<\n{}{}>", arguments.concat(), "    ".repeat(depth))
    }

    /// Writes the variant for values that are none of `variants`.
    fn other(&mut self, variants: &[String], how: &str, doc: &str, ty: Option<&Type>) {
        self.doc(2, doc);
        let how: Vec<String> = Some(how.to_owned()).into_iter().filter(|how| !how.is_empty()).collect();
        attribute(&mut self.out, 2, "serde", &how);
        let free = |name: &&str| !variants.iter().any(|taken| taken == name);
        self.variant(["Other", "Unseen", "NotSeen"].into_iter().find(free).unwrap_or("AnythingElse"), ty);
    }

    fn variant(&mut self, name: &str, ty: Option<&Type>) {
        let content = ty.map_or_else(String::new, |ty| format!("({})", self.rust(ty)));
        line(&mut self.out, 2, &format!("{name}{content},"));
    }

    /// Writes a serde attribute with `more`, and with `rename` if serde's name differs from the key.
    fn rename(&mut self, serde_name: &str, key: &str, mut more: Vec<String>) {
        if serde_name != key {
            more.insert(0, format!("rename = {}", literal(key)));
        }
        // If each argument has its own line, rustfmt has nothing to break.
        if more.join(", ").len() <= ATTRIBUTE_WIDTH {
            attribute(&mut self.out, 2, "serde", &more);
        } else {
            for one in more {
                attribute(&mut self.out, 2, "serde", &[one]);
            }
        }
    }
}

/// Attributes and comments.
impl Items<'_, '_, '_> {
    /// Writes a doc comment with counts of the data, unless comments have none.
    fn counts(&mut self, depth: usize, text: &str) {
        if !self.positions.schema.style.plain {
            self.doc(depth, text);
        }
    }

    /// Writes the derives of a struct or enum.
    fn derive(&mut self, first: &str) -> Vec<String> {
        let more = self.positions.schema.style.derives.iter().cloned();
        let mut all = derives(first);
        let known: Vec<String> = more.filter(|path| !all.contains(path)).collect();
        all.extend(known);
        all
    }

    fn doc(&mut self, depth: usize, text: &str) {
        let text = text.strip_suffix('.').unwrap_or(text);
        line(&mut self.out, depth, &format!("/// {text}."));
    }

    /// Returns the doc comment of a struct or enum.
    fn about(&self, def: &Def) -> String {
        let schema = self.positions.schema;
        match def.source {
            Source::Record(id) => {
                let record = &schema.records[id];
                let (paths, more) = record.paths.split_at(record.paths.len().min(3));
                let paths: Vec<String> = paths.iter().map(|path| code(path)).collect();
                let more = if more.is_empty() { "" } else { ", .." };
                let objects = if schema.style.plain { "Objects".into() } else { plural(record.instances, "object") };
                match paths[..] {
                    [] => format!("{objects} at {}", code(&self.positions.record_path(id))),
                    _ => format!("{objects} at {}{more}", paths.join(", ")),
                }
            }
            Source::Group(id, _) => format!("The rare fields of {}.", code(&self.positions.record_path(id))),
            Source::Union(id) => {
                let union = &schema.unions[id];
                let variants = plural(union.variants.len() as u64, "variant");
                match &union.form {
                    Tagging::External => format!("One of {variants}, by its only key: {}.", code(&union.path)),
                    Tagging::Untagged => {
                        format!("One of {variants}, each with a key that no other has: {}.", code(&union.path))
                    }
                    Tagging::Adjacent(content) => format!(
                        "One of {variants}, by the value of {}, with its content in {}: {}.",
                        code(&union.tag),
                        code(content),
                        code(&union.path)
                    ),
                    Tagging::Internal => {
                        format!("One of {variants}, by the value of {}: {}.", code(&union.tag), code(&union.path))
                    }
                }
            }
            Source::Keywords(id) => {
                let keywords = &schema.keywords[id];
                let seen: u64 = keywords.values.values().sum();
                if schema.style.plain {
                    return format!(
                        "One of {}: {}.",
                        plural(keywords.values.len() as u64, "string"),
                        code(&keywords.path)
                    );
                }
                format!(
                    "One of {}, {} seen: {}.",
                    plural(keywords.values.len() as u64, "string"),
                    plural(seen, "value"),
                    code(&keywords.path)
                )
            }
            Source::Mixed(position) => format!("A value of {}.", code(&self.positions.list[position].path)),
        }
    }

    /// Describes how many slots of a position are full, and their values.
    fn values(&self, id: PositionId, slots: u64) -> String {
        let position = &self.positions.list[id];
        let share = percent(position.slot.count, slots);
        // The slots of a field are objects, those of an enum's variant are values.
        let mut text = match (position.field.is_some(), position.slot.count == slots) {
            (true, true) => "In all objects".into(),
            (true, false) => format!("In {share} of the objects"),
            (false, true) => "All values".into(),
            (false, false) => format!("{share} of the values"),
        };
        if position.slot.nulls > 0 {
            let _ = write!(text, ", null in {}", percent(position.slot.nulls, slots));
        }
        let about = describe(&position.slot.kind);
        if !about.is_empty() {
            let _ = write!(text, "; {about}");
        }
        let schema = self.positions.schema;
        if let (Some(owner), Some(field)) = (position.owner, position.field) {
            let record = &schema.records[owner];
            if schema.may_lack(record, &record.fields[field]) {
                text.push_str("; optional, because there are so few objects");
            }
        }
        let huge = huge(&position.slot.kind);
        if huge > 0 {
            let numbers = plural(huge, "whole number");
            let _ = write!(text, "; {numbers} beyond 64 bits, of which an `f64` keeps 15 to 17 digits");
        }
        // Naive types are not open.
        if schema.is_open(position.slot) && !self.model.is_naive() {
            text.push_str(match position.slot.open {
                Some(Open::Siblings) => "; open to other types, because some of the fields beside it have them",
                _ => "; open to other types, because there are so few values",
            });
        }
        text
    }
}

/// Returns whether a type of a field implements `dwell::sparse::ConstDefault`.
fn has_constant_default(ty: &Type) -> bool {
    matches!(ty, Type::Option(_) | Type::Sparse(_))
}

/// Returns the number of whole numbers beyond 64 bits, also in lists and maps.
fn huge(kind: &Kind) -> u64 {
    match kind {
        Kind::Float { huge, .. } => *huge,
        Kind::Seq(seq) => huge(&seq.element.kind),
        Kind::Map(map) => huge(&map.value.kind),
        Kind::Tuple { positions } => positions.iter().map(|position| huge(&position.kind)).sum(),
        _ => 0,
    }
}

/// Returns a short description of the values of a kind.
pub fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Bool { trues } => format!("true {}", plural(*trues, "time")),
        Kind::Integer { min, max } if min == max => format!("always {min}"),
        Kind::Integer { min, max } => format!("{min} to {max}"),
        Kind::Text(Text { min, max, distinct, .. }) => {
            let distinct =
                if *distinct == 1 { "always the same string".into() } else { format!("{} distinct", count(*distinct)) };
            let range =
                if min == max { plural(*min, "byte") } else { format!("{} to {} bytes", count(*min), count(*max)) };
            format!("{range}, {distinct}")
        }
        Kind::Seq(seq) => lengths(&seq.lengths, "elements"),
        Kind::Map(map) => lengths(&map.lengths, "entries"),
        Kind::Record { empty, .. } if *empty > 0 => format!("{} `{{}}`", plural(*empty, "time")),
        _ => String::new(),
    }
}

/// Describes the lengths of sequences or maps; `unit` is the plural of what they contain.
fn lengths(lengths: &Lengths, unit: &str) -> String {
    let filled = lengths.count - lengths.empty;
    if filled == 0 {
        return "always empty".into();
    }
    let mean = lengths.total as f64 / filled as f64;
    let not_empty = if lengths.empty > 0 { " if not empty" } else { "" };
    let mut text = format!("{mean:.1} {unit} on average{not_empty}, at most {}", count(lengths.max));
    if lengths.empty > 0 {
        let _ = write!(text, ", {} empty", percent(lengths.empty, lengths.count));
    }
    text
}

/// Returns a text between backticks, on one line.
fn code(text: &str) -> String {
    format!("`{}`", text.replace(|char: char| char.is_control() || char == '`', "?"))
}

fn derives(first: &str) -> Vec<String> {
    first.split(", ").chain(["Deserialize", "Serialize"]).map(ToString::to_string).collect()
}

fn rename_all(convention: &str) -> Vec<String> {
    if convention.is_empty() { Vec::new() } else { vec![format!("rename_all = {}", literal(convention))] }
}

/// Returns the `rename_all` convention with the fewest single renames; empty if no convention saves any.
fn convention<'k>(
    names: &[String],
    keys: &(impl Iterator<Item = &'k String> + Clone),
    renamed: fn(&str, &str) -> String,
) -> &'static str {
    let hits = |convention| {
        let is_hit = |(name, key): &(&String, &'k String)| renamed(name, convention) == **key;
        names.iter().zip(keys.clone()).filter(is_hit).count()
    };
    // serde's derive panics for `camelCase` if the first character is not ASCII: it cuts after the first byte.
    let is_ascii = names.iter().all(|name| name.starts_with(|first: char| first.is_ascii()));
    let mut best = ("", hits(""));
    for &convention in names::CONVENTIONS.iter().filter(|&&convention| is_ascii || convention != "camelCase") {
        let hits = hits(convention);
        if hits > best.1 {
            best = (convention, hits);
        }
    }
    best.0
}
