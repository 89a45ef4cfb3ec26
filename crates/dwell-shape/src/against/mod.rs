//! `cargo dwell shape DATA --against FILE`: holds the user's own types against the data.

mod advice;
mod found;
mod items;
mod json;
mod read;
mod source;
mod types;

use super::input::{self, Found, Problem};
use anyhow::{Result, bail};
use dwell_output::Format;
use dwell_output::units::{bytes, count, plural};
use dwell_source::Edit;
use dwell_source::Finding;
use found::{FieldId, Findings, Refusal};
use items::{Item, Shape, Tagging};
use serde::Serialize;
use source::Source;
use std::io::{self, Write};
use std::path::Path;
use types::{Ty, Types};

/// What the user's types do with the data.
#[derive(Debug, Serialize)]
pub struct Report {
    version: u32,
    /// The type of a document.
    #[serde(rename = "type")]
    root: String,
    pub(crate) documents: u64,
    /// The documents that do not load; the bytes are those of the others.
    failed: u64,
    bytes: u64,
    allocations: u64,
    /// Whether the bytes are exact: nothing was left unchecked, and all layouts are known.
    exact: bool,
    refused: Vec<Refused>,
    lost: Vec<Lost>,
    /// Fields and variants that no value has.
    unseen: Vec<String>,
    unchecked: Vec<Unchecked>,
    types: Vec<Type>,
    findings: Vec<Finding>,
}

/// Values that the types refuse.
#[derive(Debug, Serialize)]
struct Refused {
    item: String,
    path: String,
    what: String,
    count: u64,
    /// The change that accepts them, if an `Option` does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edits: Vec<Edit>,
}

/// A key that is dropped when a document is read.
#[derive(Debug, Serialize)]
struct Lost {
    #[serde(rename = "type")]
    of: String,
    path: String,
    count: u64,
}

#[derive(Debug, Serialize)]
struct Unchecked {
    path: String,
    why: String,
}

/// A struct or enum.
#[derive(Debug, Serialize)]
struct Type {
    name: String,
    size: u64,
    instances: u64,
    fields: Vec<Field>,
}

/// A field, or the content of a variant.
#[derive(Debug, Serialize)]
struct Field {
    name: String,
    /// The number of values.
    count: u64,
    /// The bytes in all values of the type.
    inline: u64,
    /// The bytes and the number of the blocks that it owns.
    heap: u64,
    allocations: u64,
}

/// Reads the data by the types in a file, as serde would, and returns the report with the inputs that could not be read.
/// `name` is the type of a document.
///
/// # Errors
/// Returns an error if the file cannot be read or parsed, if it is not clear which type is that of a document, or if no
/// document could be read.
pub fn compare(data: &Found, keep_going: bool, file: &Path, name: Option<&str>) -> Result<(Report, Vec<Problem>)> {
    let source = Source::read(file)?;
    let name = name.map_or_else(|| guess(&source, file), |name| Ok(name.to_owned()))?;
    let mut types = Types::new(&source);
    let Some(root) = types.named(&name) else { bail!("{}: has no type {name}", file.display()) };
    let mut reader = read::Reader::new(&types, &root);
    let mut problems = input::each(data, keep_going, &mut reader);
    if !keep_going && !problems.is_empty() {
        return Err(problems.swap_remove(0).into());
    }
    let found = reader.found;
    if found.documents == 0 {
        let all: Vec<&Problem> = data.problems.iter().chain(&problems).collect();
        let Some((last, others)) = all.split_last() else { bail!("no input could be read") };
        for problem in others {
            eprintln!("error: {problem}");
        }
        bail!("{last}");
    }
    let mut report = report(&types, &root, name, &found);
    report.findings = advice::changes(&mut types, &root, &found);
    Ok((report, problems))
}

/// Returns the only type that no other type contains.
fn guess(source: &Source, file: &Path) -> Result<String> {
    let readable = |name: &&String| {
        let item = &source.items[*name];
        !item.is_opaque && item.parameters.is_empty() && !matches!(item.shape, Shape::Alias(_))
    };
    let names: Vec<&String> = source.items.keys().filter(readable).collect();
    let mut free = names.clone();
    for name in &names {
        let mut types = Types::new(source);
        types.named(name);
        let used: Vec<&Item> = types.defs.iter().skip(1).map(|def| def.item).collect();
        free.retain(|other| {
            other == name || !used.iter().any(|item| std::ptr::eq(*item, &raw const source.items[*other]))
        });
    }
    match free[..] {
        [name] => Ok(name.clone()),
        [] => bail!(
            "{}: has no type that derives `Deserialize` and that no other type contains; name one with --root",
            file.display()
        ),
        _ => {
            let all: Vec<&str> = free.iter().take(8).map(|name| name.as_str()).collect();
            bail!("{}: name the type of a document with --root: {}", file.display(), all.join(", "))
        }
    }
}

fn report(types: &Types<'_>, root: &Ty, name: String, found: &Findings) -> Report {
    let (total, heap) = (found.total(types, root), found.heap(types, root));
    let refused: Vec<Refused> = found.refused().iter().map(|refused| refusal(types, refused)).collect();
    let mut lost: Vec<Lost> =
        found.lost.iter().map(|((item, path), &count)| Lost { of: item.clone(), path: path.clone(), count }).collect();
    lost.sort_by_key(|place| (std::cmp::Reverse(place.count), place.path.clone()));
    let unchecked =
        found.unchecked.iter().map(|(path, why)| Unchecked { path: path.clone(), why: why.clone() }).collect();
    let mut all = Vec::new();
    let mut unseen = Vec::new();
    let mut layouts = types.layouts();
    let unsure = types.within(&found.unsure);
    for (id, def) in types.defs.iter().enumerate().filter(|(id, _)| found.instances.contains_key(id)) {
        let is_sure = !unsure.contains(&id) && !def.item.is_opaque;
        let instances = found.instances[&id];
        let mut fields = Vec::new();
        for (variant, parts) in def.parts.iter().enumerate() {
            let is_enum = matches!(def.item.shape, Shape::Enum(_));
            let of_variant = if is_enum { found.variants.get(&(id, variant)).copied().unwrap_or(0) } else { instances };
            if let Shape::Enum(body) = &def.item.shape
                && of_variant == 0
                && !body.variants[variant].is_other
            {
                if is_sure {
                    unseen.push(body.variants[variant].item.clone());
                }
                continue;
            }
            for (index, part) in parts.iter().enumerate() {
                let field = (id, variant, index);
                let heap = heap.get(&Some(field)).copied().unwrap_or_default();
                let count = found.seen.get(&field).copied().unwrap_or(0);
                let name = advice::item(types, field).0.to_owned();
                if count == 0 && is_sure && is_read(def.item, variant, index) {
                    unseen.push(name.clone());
                }
                let inline = layouts.size(part) * of_variant;
                fields.push(Field { name, count, inline, heap: heap.bytes, allocations: heap.allocations });
            }
        }
        let size = layouts.size(&Ty::Named(id));
        all.push(Type { name: def.name.clone(), size, instances, fields });
    }
    all.sort_by_key(|row| std::cmp::Reverse(row.fields.iter().map(|field| field.inline + field.heap).sum::<u64>()));
    Report {
        version: 1,
        root: name,
        documents: found.documents,
        failed: found.failed,
        bytes: total.bytes,
        allocations: total.allocations,
        exact: found.is_exact(types),
        refused,
        lost,
        unseen,
        unchecked,
        types: all,
        findings: Vec::new(),
    }
}

/// Returns whether a field is read from a key of its own.
fn is_read(item: &Item, variant: usize, index: usize) -> bool {
    let field = match &item.shape {
        Shape::Struct(body) => &body.fields[index],
        Shape::Enum(body)
            if matches!(body.tagging, Tagging::Untagged) && body.variants[variant].content.fields.len() == 1 =>
        {
            return false;
        }
        Shape::Enum(body) => &body.variants[variant].content.fields[index],
        Shape::Alias(_) => return false,
    };
    !field.is_flat && !field.is_skipped
}

fn refusal(types: &Types<'_>, refusal: &Refusal) -> Refused {
    let edit = |field: FieldId| {
        let (item, place) = advice::item(types, field);
        let to = advice::optional(&place.from)?;
        let (file, from) = (place.file.clone(), place.from.clone());
        Some(Edit { file, line: place.line, item: item.to_owned(), from, to })
    };
    Refused {
        item: refusal.item.clone(),
        path: refusal.path.clone(),
        what: refusal.what.clone(),
        count: refusal.count,
        edits: refusal.optional.and_then(edit).into_iter().collect(),
    }
}

/// The most lines of each section.
const SHOWN: usize = 20;

impl Report {
    /// Writes the report.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    pub fn write(&self, format: Format, top: Option<usize>, out: &mut impl Write) -> io::Result<()> {
        if format == Format::Json {
            serde_json::to_writer_pretty(&mut *out, self)?;
            return writeln!(out);
        }
        let top = top.unwrap_or(SHOWN);
        let about = if self.exact { "" } else { "about " };
        writeln!(
            out,
            "{} as {}{}: {about}{} in {} allocations.",
            plural(self.documents, "document"),
            self.root,
            if self.failed > 0 { format!(", {} refused; the others", count(self.failed)) } else { String::new() },
            bytes(self.bytes),
            count(self.allocations)
        )?;
        let refused = self.refused.iter().map(|refusal| {
            let mend = refusal.edits.first().map(|edit| format!("; {}:{}: {}", edit.file, edit.line, edit.to));
            format!(
                "{}  {} at {}: {}{}",
                count(refusal.count),
                refusal.item,
                refusal.path,
                refusal.what,
                mend.unwrap_or_default()
            )
        });
        section(out, "Refused: these values do not load", refused, top)?;
        let lost =
            self.lost.iter().map(|lost| format!("{}  {} has no field for {}", count(lost.count), lost.of, lost.path));
        section(out, "Lost: these keys are dropped", lost, top)?;
        section(out, "Never seen: no value has these", self.unseen.iter().cloned(), top)?;
        let unchecked = self.unchecked.iter().map(|place| format!("{}: {}", place.path, place.why));
        section(out, "Not checked", unchecked, top)?;
        let types = self.types.iter().map(|row| {
            let fields: Vec<String> = row
                .fields
                .iter()
                .filter(|field| field.inline + field.heap > 0)
                .map(|field| {
                    let heap = if field.heap > 0 { format!(" + {}", bytes(field.heap)) } else { String::new() };
                    format!("\n      {}: {}{heap}", field.name, bytes(field.inline))
                })
                .collect();
            format!("{}: {} of {} bytes{}", row.name, plural(row.instances, "value"), row.size, fields.concat())
        });
        section(out, "Bytes by field: in the values, and in blocks", types, top)?;
        let findings = self.findings.iter().map(|finding| {
            let at = finding.edits.first().map(|edit| format!("{}:{}: ", edit.file, edit.line)).unwrap_or_default();
            format!(
                "save {}: {at}{} -> {} ({})\n      Cost: {}.",
                bytes(finding.saves),
                finding.location,
                finding.how,
                finding.why,
                finding.costs
            )
        });
        section(out, "What to change: each saving assumes the changes above it", findings, top)
    }
}

fn section(out: &mut impl Write, title: &str, lines: impl Iterator<Item = String>, top: usize) -> io::Result<()> {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    for line in lines.iter().take(top) {
        writeln!(out, "  - {line}")?;
    }
    if lines.len() > top {
        writeln!(out, "  .. and {} more (--top)", count((lines.len() - top) as u64))?;
    }
    Ok(())
}
