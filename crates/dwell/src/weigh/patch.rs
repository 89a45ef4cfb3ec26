//! A suggestion as a patch: removed lines, added lines, and how uses of a field change.
//!
//! Each patch applies to the source after the patches before it, so that a reader can follow them in order.
#![forbid(unsafe_code)]

use super::suggestion::Suggestion;
use core::fmt::Write;
use dwell_model::search::{Edit, Step, without_arguments};
use dwell_model::{Change, DefId, FieldDef, Holder, Plan, Program, Shape, SiteId};
use std_alloc::borrow::Cow;
use std_alloc::format;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// Returns the text of a site's type after the changes of a plan.
pub(super) fn type_text(program: &Program, plan: &Plan<'_>, site: SiteId) -> String {
    match plan.change(site) {
        Some(change) => changed_type(program, plan, site, change),
        None => text_of_parts(program, plan, site),
    }
}

/// Returns the text of a site's type after `change` to the site and the changes of a plan to its parts.
pub(super) fn changed_type(program: &Program, plan: &Plan<'_>, site: SiteId, change: Change) -> String {
    let field = &program.sites[site];
    let text = text_of_parts(program, plan, site);
    let inner = match field.shape {
        Shape::Optional { is_option: true, .. } => without_option(&text),
        _ => &text,
    };
    let part = |part: SiteId| type_text(program, plan, part);
    match (change, &field.shape) {
        (Change::Boxed, _) => format!("Option<Box<{inner}>>"),
        (Change::BoxedAlways, _) => format!("Box<{text}>"),
        (Change::Sparse, _) => format!("Sparse<{inner}>"),
        (Change::Exact, Shape::Text(_)) => "Box<str>".into(),
        (Change::Exact, &Shape::Sequence(_, element)) => format!("Box<[{}]>", part(element)),
        (Change::Thin, &Shape::Sequence(_, element)) => format!("ThinSlice<{}>", part(element)),
        (Change::Thin, &Shape::Pointer(_, to)) => match program.sites[to].shape {
            Shape::Sequence(_, element) => format!("ThinSlice<{}>", part(element)),
            _ => "ThinStr".into(),
        },
        (Change::Sorted, &Shape::Map(_, key, value)) => format!("SortedMap<{}, {}>", part(key), part(value)),
        (Change::Exact | Change::Thin | Change::Sorted, _) => "ThinStr".into(),
    }
}

/// Returns the present and the new type of the sites of a step, with `_` for the part in which the sites differ.
pub(super) fn types(
    program: &Program,
    plan: &Plan<'_>,
    edits: &[Edit],
    first: SiteId,
    change: Change,
) -> (String, String) {
    let (from, to) = (type_text(program, plan, first), changed_type(program, plan, first, change));
    let is_other = |edit: &Edit| matches!(*edit, Edit::Site(site, _) if type_text(program, plan, site) != from);
    if !edits.iter().any(is_other) {
        return (from, to);
    }
    let to = match change {
        Change::BoxedAlways => "Box<_>",
        Change::Boxed => "Option<Box<_>>",
        Change::Sparse => "Sparse<_>",
        // The sites of a step have different types only if they are fields of one name, which a step boxes.
        Change::Exact | Change::Thin | Change::Sorted => return (from, to),
    };
    ("_".into(), to.into())
}

/// Returns the text of a site's type after the changes of a plan to its parts, but not to the site itself.
fn text_of_parts(program: &Program, plan: &Plan<'_>, site: SiteId) -> String {
    let mut rest = program.sites[site].ty.as_str();
    let mut text = String::with_capacity(rest.len());
    // The parts of `Vec<V>` begin after its name.
    let is_named = rest.starts_with(|c: char| c.is_alphabetic());
    let open = rest.find('<').filter(|_| is_named).map_or(0, |open| open + 1);
    for part in program.parts(site) {
        let was = program.sites[part].ty.as_str();
        let from = if text.is_empty() { open } else { 0 };
        let Some(at) = find_word(&rest[from..], was) else { continue };
        let (before, after) = rest.split_at(from + at);
        text.push_str(before);
        text.push_str(&type_text(program, plan, part));
        rest = &after[was.len()..];
    }
    text.push_str(rest);
    text
}

/// Returns the position of a type name in a text, which may also contain longer names that include it.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_edge = |c: Option<char>| c.is_none_or(|c| !is_part(c));
    let starts_open = word.starts_with(|c| !is_part(c));
    let ends_open = word.ends_with(|c| !is_part(c));
    text.match_indices(word).map(|(at, _)| at).find(|&at| {
        (starts_open || is_edge(text[..at].chars().next_back()))
            && (ends_open || is_edge(text[at + word.len()..].chars().next()))
    })
}

fn without_option(ty: &str) -> &str {
    ty.strip_prefix("Option<").and_then(|name| name.strip_suffix('>')).unwrap_or(ty)
}

/// Describes how uses of a changed field change.
pub(super) fn call_sites(program: &Program, plan: &Plan<'_>, edits: &[Edit], site: SiteId, change: Change) -> String {
    let field = &program.sites[site];
    let is_option = matches!(field.shape, Shape::Optional { is_option: true, .. });
    match change {
        Change::Boxed if is_option => "to create a value: `Some(Box::new(value))`; to read: `.as_deref()` for \
                                       `.as_ref()`; to write: `.as_deref_mut()`"
            .into(),
        Change::Boxed => "to create a value: `None`, or `Some(Box::new(value))` if it is not empty; to read: \
                          `.as_deref()`; to write: `.get_or_insert_default()`; with serde: \
                          `default, with = \"dwell::sparse::option_box\"`"
            .into(),
        Change::BoxedAlways => {
            "to create a value: `Box::new(value)`; to match: `*value`; reads of fields are unchanged".into()
        }
        Change::Sparse => format!(
            "derive `Sparse` and `Default` for {}; to create a value: `Sparse::new(value)`; {}; to write: \
             `.edit(|value| ..)`{}",
            defaults(program, plan, edits),
            if is_option { "to read: `.get()` for `.as_ref()`" } else { "reads of fields are unchanged" },
            if is_option { "; with serde: `default, with = \"dwell::sparse::nullable\"`" } else { "" }
        ),
        Change::Exact if matches!(field.shape, Shape::Text(_)) => {
            "to create a value: `.into_boxed_str()`; reads are unchanged; to modify, create a new value".into()
        }
        Change::Exact => "to create a value: `.into_boxed_slice()`; reads are unchanged; to grow: `.into_vec()`".into(),
        Change::Thin if is_text(program, site) => {
            "to create a value: `ThinStr::new(&text)` or `.into()`; reads are unchanged; to modify, create a new value"
                .into()
        }
        Change::Thin => {
            "to create a value: `.into()` or `.collect()`; reads are unchanged; to grow, create a new value".into()
        }
        Change::Sorted => "to create a value: `.collect()`; `get`, `iter` and `entry` are unchanged".into(),
    }
}

/// Returns the types that a step makes `Sparse`, and the types of their fields, all of which must derive `Sparse` and
/// `Default`.
fn defaults(program: &Program, plan: &Plan<'_>, edits: &[Edit]) -> String {
    let mut names: Vec<String> = Vec::new();
    for edit in edits {
        if let Edit::Site(site, Change::Sparse) = *edit {
            let inner = match program.sites[site].shape {
                Shape::Optional { some, is_option: true } => some,
                _ => site,
            };
            add_parts_of_default(program, plan, inner, &mut names);
        }
    }
    names.join(", ")
}

/// Adds the struct or enum of a site, or those in its tuple, array or box, and then those in the fields of a struct.
fn add_parts_of_default(program: &Program, plan: &Plan<'_>, site: SiteId, names: &mut Vec<String>) {
    match &program.sites[site].shape {
        Shape::Def(def) => {
            let def = &program.defs[*def];
            let name = without_arguments(&def.name);
            if !def.is_editable || names.contains(&name) {
                return;
            }
            names.push(name);
            // An enum is empty if it is its default variant; the fields of the other variants do not matter.
            let fields = def.variants.iter().filter(|_| !def.is_enum).flat_map(|variant| &variant.fields);
            // Of the types that a field can change to, only a box asks its target whether it is empty.
            let is_by_value = |field: SiteId| matches!(plan.change(field), None | Some(Change::BoxedAlways));
            for field in fields.filter(|field| is_by_value(field.site)) {
                add_parts_of_default(program, plan, field.site, names);
            }
        }
        Shape::Tuple(parts) => parts.iter().for_each(|&part| add_parts_of_default(program, plan, part, names)),
        // The target of a `Sparse` already derives `Sparse` and `Default`.
        Shape::Pointer(Holder::Sparse, _) => {}
        Shape::Array(part, _) | Shape::Pointer(_, part) => add_parts_of_default(program, plan, *part, names),
        _ => {}
    }
}

/// Returns whether a site is a string or a boxed string.
fn is_text(program: &Program, site: SiteId) -> bool {
    match program.sites[site].shape {
        Shape::Text(_) => true,
        Shape::Pointer(_, to) => matches!(program.sites[to].shape, Shape::Text(_)),
        _ => false,
    }
}

/// Returns the patch of a suggestion.
pub(super) fn text(
    program: &Program,
    step: &Step,
    old: &Plan<'_>,
    new: &Plan<'_>,
    suggestion: &Suggestion,
    uses: &str,
) -> String {
    let mut text = String::new();
    let about = if suggestion.is_exact { "" } else { "about " };
    let [before, after] = suggestion.type_size;
    let bytes = format!("saves {about}{} B, leaves {} B in total", suggestion.saves, suggestion.total);
    let mut open: Option<DefId> = None;
    let mut written: Vec<SiteId> = Vec::new();
    let mut of_instances: Vec<(String, String)> = Vec::new();
    let mut has_serde = false;
    for &edit in &step.edits {
        let (def, lines) = match edit {
            Edit::Site(site, change) => {
                let declared = &program.sites[site];
                let field = field_of(program, site);
                let whole = field.map_or(0, |(_, field)| field.site);
                // Changes of two parts of a field's type share one line.
                if written.contains(&whole) {
                    continue;
                }
                written.push(whole);
                let attributes = field.map_or("", |(_, field)| field.attributes);
                has_serde |= !attributes.is_empty();
                let name = match (field, declared.def) {
                    (Some((number, field)), Some(def)) if program.defs[def].is_enum => {
                        format!("{}.{}: ", program.defs[def].variants[number].name, field.name)
                    }
                    (Some((_, field)), _) => format!("{}: ", field.name),
                    (None, _) => String::new(),
                };
                let change = if whole == site { Some(change) } else { None };
                let (now, then) = (type_text(program, old, whole), type_text(program, new, whole));
                (declared.def, field_lines(attributes, change, &name, &now, &then))
            }
            Edit::Variant(def, variant) => (Some(def), variant_lines(program, old, new, def, variant)),
            Edit::Reorder(def) => {
                let _ =
                    writeln!(text, "-#[repr(C)]\n struct {} // {before} -> {after} B; {bytes}", program.defs[def].name);
                continue;
            }
        };
        // The instances of a generic type share one definition in the source.
        let of_instance = (def.map_or_else(String::new, |def| without_arguments(&program.defs[def].name)), lines);
        if of_instances.contains(&of_instance) {
            continue;
        }
        let lines = of_instance.1.clone();
        of_instances.push(of_instance);
        if open != def || text.is_empty() {
            if open.is_some() {
                text.push_str("}\n");
            }
            open = def;
            match def {
                Some(def) => {
                    let definition = &program.defs[def];
                    let word = if definition.is_enum { "enum" } else { "struct" };
                    // The comment names the type whose size changes if that is not the type being defined.
                    let of_other = Some(&suggestion.type_name).filter(|name| **name != definition.name);
                    let other = of_other.map_or_else(String::new, |name| format!("{name} "));
                    let _ = writeln!(text, "{word} {} {{ // {other}{before} -> {after} B; {bytes}", definition.name);
                }
                None => _ = writeln!(text, "// {before} -> {after} B; {bytes}"),
            }
        }
        text.push_str(&lines);
    }
    if open.is_some() {
        text.push_str("}\n");
    }
    if uses != "nothing" {
        let _ = writeln!(text, "// {uses}");
    }
    if has_serde {
        text.push_str("// other attributes of serde stay as they are\n");
    }
    text
}

/// Returns the lines of a field, including the attributes that it keeps.
fn field_lines(attributes: &str, change: Option<Change>, name: &str, now: &str, then: &str) -> String {
    let (mut kept, mut gone, mut come) = (String::new(), String::new(), String::new());
    for line in attributes.lines() {
        match attribute(line, change) {
            Cow::Borrowed(line) => _ = writeln!(kept, "     {line}"),
            Cow::Owned(other) => {
                let _ = writeln!(gone, "-    {line}");
                let _ = writeln!(come, "+    {other}");
            }
        }
    }
    format!("{kept}{gone}-    {name}{now},\n{come}+    {name}{then},\n")
}

/// Replaces a function of the old type in an attribute by that of the new type.
fn attribute(line: &str, change: Option<Change>) -> Cow<'_, str> {
    let functions: &[(&str, &str)] = match change {
        Some(Change::Sparse) => &[("Option::is_none", "Sparse::is_empty")],
        Some(Change::Sorted) => {
            &[("HashMap::is_empty", "SortedMap::is_empty"), ("BTreeMap::is_empty", "SortedMap::is_empty")]
        }
        Some(Change::Exact | Change::Thin) => {
            &[("Vec::is_empty", "<[_]>::is_empty"), ("String::is_empty", "str::is_empty")]
        }
        Some(Change::Boxed | Change::BoxedAlways) | None => &[],
    };
    let named = functions.iter().find(|(old, _)| line.contains(&format!("\"{old}\"")));
    named.map_or(Cow::Borrowed(line), |(old, new)| Cow::Owned(line.replace(old, new)))
}

/// Returns the lines of a variant whose fields move into a box.
fn variant_lines(program: &Program, old: &Plan<'_>, new: &Plan<'_>, def: DefId, variant: usize) -> String {
    let declared = &program.defs[def].variants[variant];
    // The types after the step: the lines above already change the fields that this step edits.
    let types: Vec<String> = declared.fields.iter().map(|field| type_text(program, new, field.site)).collect();
    let is_named = declared.fields.first().is_some_and(|field| !field.name.starts_with(|c: char| c.is_ascii_digit()));
    let now = if is_named {
        let fields = declared.fields.iter().zip(&types).map(|(field, ty)| format!("{}: {ty}", field.name));
        format!("{} {{ {} }}", declared.name, fields.collect::<Vec<_>>().join(", "))
    } else {
        format!("{}({})", declared.name, types.join(", "))
    };
    let then = match &types[..] {
        _ if is_named => format!("{0}(Box<{0}>), // a struct of these fields", declared.name),
        [one] => format!("{}(Box<{one}>),", declared.name),
        _ => format!("{}(Box<({})>),", declared.name, types.join(", ")),
    };
    format!("-    {now}, // {} B\n+    {then}\n", old.variant_size(def, variant))
}

/// Returns the field whose type contains a site, and the number of the field's variant.
fn field_of(program: &Program, site: SiteId) -> Option<(usize, &FieldDef)> {
    let variants = program.defs[program.sites[site].def?].variants.iter().enumerate();
    let mut all = variants.flat_map(|(number, variant)| variant.fields.iter().map(move |field| (number, field)));
    all.find(|(_, field)| contains(program, field.site, site))
}

fn contains(program: &Program, outer: SiteId, site: SiteId) -> bool {
    outer == site || program.parts(outer).into_iter().any(|part| contains(program, part, site))
}
