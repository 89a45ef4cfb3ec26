//! The report: totals, suggestions and all records, as text or JSON.

use super::advice::{Repeats, Suggestion};
use super::model::{At, Choices, Heap, Model, Part, Source};
use super::plan::Plan;
use super::positions::{Position, PositionId, Positions};
use super::rust::describe;
use super::schema::{Kind, Tagging};
use super::types::{Body, Layouts};
use super::value;
use anstyle::Style;
use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Table, presets};
use dwell_output::units::{bytes, count, percent, plural};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;

pub use dwell_output::Format;

/// The limits of a report.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The largest number of suggestions and of records.
    pub top: Option<usize>,
    /// The width in columns; `None` takes it from `COLUMNS` or the terminal, or else 80.
    pub width: Option<u16>,
    /// Whether only part of the documents was read.
    pub sampled: bool,
}

impl Plan<'_> {
    /// Returns the reasons why the predictions may be inexact; none if they are exact.
    pub fn doubts(&self) -> Vec<String> {
        doubts(self)
    }

    /// Writes the report.
    ///
    /// # Errors
    ///
    /// Returns an error if `out` cannot be written.
    pub fn write(&self, format: Format, options: &Options, out: &mut impl io::Write) -> io::Result<()> {
        Report::new(self, options).write(format, options, out)
    }
}

/// A report on a schema.
#[derive(Debug, Serialize)]
pub struct Report {
    pub(super) version: u32,
    pub(super) documents: u64,
    pub(super) json_bytes: u64,
    /// Whether only part of the documents was read; all numbers are for that part.
    pub(super) sampled: bool,
    /// The total for all documents as `serde_json::Value`s.
    pub(super) value: Total,
    /// Whether the totals of `value` are exact.
    pub(super) value_is_exact: bool,
    pub(super) naive: Total,
    /// The total in the lean types with serde and std only.
    pub(super) std: Total,
    pub(super) lean: Total,
    /// The reasons why the totals may be inexact; empty if they are exact.
    pub(super) doubts: Vec<String>,
    pub(super) suggestions: Vec<Suggestion>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) suggestions_left_out: usize,
    pub(super) repeats: Vec<Repeats>,
    pub(super) records: Vec<Type>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) records_left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Total {
    pub(super) bytes: u64,
    pub(super) allocations: u64,
}

/// A record or union.
#[derive(Debug, Serialize)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) paths: Vec<String>,
    pub(super) instances: u64,
    pub(super) naive: Option<Size>,
    pub(super) lean: Option<Size>,
    pub(super) fields: Vec<Field>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Size {
    /// The size of one value in bytes.
    pub(super) size: u64,
    /// The number of its slots, with spare capacity.
    pub(super) slots: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) key: String,
    pub(super) count: u64,
    pub(super) nulls: u64,
    pub(super) about: String,
    pub(super) naive: Option<Takes>,
    pub(super) lean: Option<Takes>,
}

/// A field with its memory over all instances.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Takes {
    #[serde(rename = "type")]
    pub(super) of: String,
    /// The bytes inside the record.
    pub(super) inline: u64,
    /// The heap bytes that the field owns, without those that other records own.
    pub(super) heap: u64,
    /// The number of its heap blocks.
    pub(super) allocations: u64,
}

/// The number of rows that a terminal shows by default.
pub(super) const FIRST: usize = 20;

impl Report {
    /// Collects the rows that `options` selects.
    pub fn new(plan: &Plan<'_>, options: &Options) -> Self {
        let total = |heap: Heap| Total { bytes: heap.bytes, allocations: heap.allocations };
        let schema = plan.positions.schema;
        let mut suggestions = plan.suggestions();
        let all = suggestions.len();
        suggestions.retain(|one| one.saves > 0);
        suggestions.truncate(options.top.unwrap_or(usize::MAX));
        let mut records = types(plan);
        let every = records.len();
        records.truncate(options.top.unwrap_or(usize::MAX));
        let mut repeats = plan.repeats();
        repeats.retain(|one| one.saves > 0);
        repeats.truncate(options.top.unwrap_or(usize::MAX));
        let (value, value_is_exact) = value::heap(schema);
        Self {
            version: 4,
            documents: schema.documents,
            json_bytes: schema.bytes,
            sampled: options.sampled,
            value: total(value),
            value_is_exact,
            naive: total(plan.naive_heap()),
            std: total(plan.model(&plan.standard()).total()),
            lean: total(plan.lean_heap()),
            doubts: doubts(plan),
            suggestions_left_out: all - suggestions.len(),
            suggestions,
            repeats,
            records_left_out: every - records.len(),
            records,
        }
    }

    /// Writes the report.
    ///
    /// # Errors
    ///
    /// Returns an error if `out` cannot be written.
    pub fn write(&self, format: Format, options: &Options, out: &mut impl io::Write) -> io::Result<()> {
        match format {
            Format::Human => self.human(options, out),
            Format::Json => {
                serde_json::to_writer_pretty(&mut *out, self)?;
                writeln!(out)
            }
            Format::Markdown => self.markdown(out),
        }
    }

    fn human(&self, options: &Options, out: &mut impl io::Write) -> io::Result<()> {
        let width = options.width.unwrap_or_else(columns);
        if width < TABLES { self.lists(options, width.max(40).into(), out) } else { self.tables(options, width, out) }
    }

    fn tables(&self, options: &Options, width: u16, out: &mut impl io::Write) -> io::Result<()> {
        let bold = Style::new().bold();
        let print = |out: &mut _, rows: &[Vec<Cell>]| print(out, rows, width, presets::NOTHING);
        writeln!(out, "{}", self.summary())?;
        writeln!(out)?;
        print(out, &self.totals())?;
        for doubt in &self.doubts {
            writeln!(out, "Not exact: {doubt}.")?;
        }
        writeln!(
            out,
            "\n{bold}What to change{bold:#}, largest saving first; each total includes the suggestions above it"
        )?;
        let shown = self.suggestions.len().min(options.top.unwrap_or(FIRST));
        print(out, &self.suggestion_table(shown))?;
        self.end_of_suggestions(shown, out)?;
        if !self.repeats.is_empty() {
            let heading = "Repeated strings";
            writeln!(
                out,
                "\n{bold}{heading}{bold:#}: worth interning; the savings are not included in the lean types"
            )?;
            print(out, &self.repeat_table(options.top.unwrap_or(FIRST / 2)))?;
        }
        let shown = self.records.len().min(options.top.unwrap_or(FIRST));
        for record in &self.records[..shown] {
            writeln!(out, "\n{bold}{}{bold:#}  {}", record.name, record.head())?;
            print(out, &record.table())?;
        }
        self.end(shown, out)
    }

    /// Writes the lines below the suggestions; `shown` suggestions are listed.
    pub(super) fn end_of_suggestions(&self, shown: usize, out: &mut impl io::Write) -> io::Result<()> {
        let left = self.suggestions_left_out + self.suggestions.len() - shown;
        if left > 0 {
            let verb = if left == 1 { "is" } else { "are" };
            let suggestions = plural(left as u64, "smaller suggestion");
            writeln!(out, "{suggestions} {verb} not shown (--top).")?;
        }
        Ok(())
    }

    /// Writes the lines below the types; `shown` types are listed.
    pub(super) fn end(&self, shown: usize, out: &mut impl io::Write) -> io::Result<()> {
        let left = self.records_left_out + self.records.len() - shown;
        if left > 0 {
            let (which, verb) = if left == 1 { ("takes", "is") } else { ("take", "are") };
            let types = plural(left as u64, "more type");
            writeln!(out, "\n{types}, which {which} less, {verb} not shown (--top {}).", shown + left)?;
        }
        writeln!(out, "\n--rust FILE writes the types, naive and lean.")
    }

    fn markdown(&self, out: &mut impl io::Write) -> io::Result<()> {
        let print = |out: &mut _, table: &[Vec<Cell>]| print(out, table, u16::MAX, presets::ASCII_MARKDOWN);
        writeln!(out, "# Rust types for this JSON\n\n{}\n", self.summary())?;
        print(out, &self.totals())?;
        for doubt in &self.doubts {
            writeln!(out, "\nNot exact: {doubt}.")?;
        }
        writeln!(out, "\n## What to change\n\nLargest saving first. Each total includes the suggestions above it.\n")?;
        print(out, &self.suggestion_table(usize::MAX))?;
        if !self.repeats.is_empty() {
            writeln!(
                out,
                "\n## Repeated strings\n\nWorth interning; the savings are not included in the lean types.\n"
            )?;
            print(out, &self.repeat_table(usize::MAX))?;
        }
        writeln!(out, "\n## Types")?;
        for record in &self.records {
            writeln!(out, "\n### {}\n\n{}\n", record.name, record.head())?;
            print(out, &record.table())?;
        }
        Ok(())
    }

    pub(super) fn summary(&self) -> String {
        let mut text = format!(
            "{}, {}; {}",
            plural(self.documents, "JSON document"),
            bytes(self.json_bytes),
            plural((self.records.len() + self.records_left_out) as u64, "type"),
        );
        if self.sampled {
            text.push_str(", sampled: all numbers are for a part of the input");
        }
        text.push('.');
        text
    }

    fn totals(&self) -> Vec<Vec<Cell>> {
        let row = |name: &str, total: Total| {
            vec![
                Cell::new(name),
                right(bytes(total.bytes)),
                right(count(total.allocations)),
                right(format!("{:.2}", total.bytes as f64 / self.json_bytes.max(1) as f64)),
                right(percent(total.bytes, self.value.bytes)),
            ]
        };
        let head = ["types", "live bytes, predicted", "allocations", "bytes per byte of JSON", "% of Value"];
        let value = if self.value_is_exact { "serde_json::Value" } else { "serde_json::Value, about" };
        vec![
            header(&head),
            row(value, self.value),
            row("naive types", self.naive),
            row("lean types, std only", self.std),
            row("lean types", self.lean),
        ]
    }

    fn suggestion_table(&self, most: usize) -> Vec<Vec<Cell>> {
        let mut rows = vec![header(&["saves", "total after", "where", "from", "to", "filled", "allocations", "costs"])];
        for one in self.suggestions.iter().take(most) {
            let filled = match (one.filled, one.slots) {
                (Some(filled), Some(slots)) => percent(filled, slots),
                _ => String::new(),
            };
            rows.push(vec![
                right(bytes(one.saves.unsigned_abs())),
                right(bytes(one.total)),
                Cell::new(&one.path),
                Cell::new(&one.from),
                Cell::new(&one.to),
                right(filled),
                right(signed(one.allocations)),
                Cell::new(&one.cost),
            ]);
        }
        rows
    }

    fn repeat_table(&self, most: usize) -> Vec<Vec<Cell>> {
        let mut rows = vec![header(&["saves about", "where", "strings", "distinct"])];
        for one in self.repeats.iter().take(most) {
            rows.push(vec![
                right(bytes(one.saves)),
                Cell::new(&one.path),
                right(count(one.count)),
                right(count(one.distinct)),
            ]);
        }
        rows
    }
}

impl Type {
    fn head(&self) -> String {
        let slots = |size: Option<Size>| match size {
            Some(Size { size, slots }) => format!("{} of {} B", plural(slots, "slot"), count(size)),
            None => "not in the types".into(),
        };
        let at = self.paths.first().map_or_else(String::new, |path| format!(", as {path}"));
        format!("{}{at}; naive: {}; lean: {}", self.objects(), slots(self.naive), slots(self.lean))
    }

    /// Returns the number of instances: `1 object`, `1,000 objects`.
    pub(super) fn objects(&self) -> String {
        plural(self.instances, self.kind.trim_end_matches('s'))
    }

    fn table(&self) -> Vec<Vec<Cell>> {
        let mut rows =
            vec![header(&["field", "filled", "naive", "inline", "heap", "lean", "inline", "heap", "values"])];
        for field in &self.fields {
            let (naive, lean) = (field.naive.clone().unwrap_or_default(), field.lean.clone().unwrap_or_default());
            rows.push(vec![
                Cell::new(&field.name),
                right(percent(field.count, self.instances)),
                Cell::new(&naive.of),
                right(bytes(naive.inline)),
                right(bytes(naive.heap)),
                Cell::new(&lean.of),
                right(bytes(lean.inline)),
                right(bytes(lean.heap)),
                Cell::new(&field.about),
            ]);
        }
        rows
    }
}

fn header(names: &[&str]) -> Vec<Cell> {
    names.iter().map(|name| Cell::new(name).add_attribute(Attribute::Underlined)).collect()
}

fn right(text: impl Into<String>) -> Cell {
    Cell::new(text.into()).set_alignment(CellAlignment::Right)
}

fn signed(number: i64) -> String {
    match number {
        0 => "0".into(),
        1.. => format!("+{}", count(number.unsigned_abs())),
        _ => format!("-{}", count(number.unsigned_abs())),
    }
}

/// The terminal width, in columns, from which a report has tables.
const TABLES: u16 = 120;

/// Returns the width from `COLUMNS` or the terminal; 80 for a pipe or a file.
fn columns() -> u16 {
    let variable = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    variable.or_else(|| Table::new().width()).unwrap_or(80)
}

fn print(out: &mut impl io::Write, rows: &[Vec<Cell>], width: u16, preset: &str) -> io::Result<()> {
    let mut table = Table::new();
    table.load_preset(preset).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    let mut rows = rows.iter().cloned();
    if let Some(head) = rows.next() {
        table.set_header(head);
    }
    table.add_rows(rows);
    for line in table.trim_fmt().lines() {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns the reasons why a prediction may be inexact.
pub fn doubts(plan: &Plan<'_>) -> Vec<String> {
    let mut doubts = Vec::new();
    let positions = &plan.positions;
    if positions.schema.roots.is_some() {
        doubts.push("each document is counted as a value of one enum of all their types".to_owned());
    }
    let estimated = |position: &Position<'_>| match &position.slot.kind {
        Kind::Any(free) if !free.is_exact() => free.count,
        _ => 0,
    };
    let estimated: u64 = positions.list.iter().map(estimated).sum();
    if estimated > 0 {
        doubts.push(format!("the larger maps in {} free-form values are estimated", count(estimated)));
    }
    let (naive, lean) = (plan.model(&plan.naive), plan.model(&plan.lean));
    for id in naive.partly_buffered().into_iter().chain(lean.partly_buffered()) {
        doubts.push(format!(
            "some lists at {} are part of an enum, where serde knows their length before it reads them; the capacity of \
             these is estimated",
            positions.list[id].path
        ));
    }
    let mut grown = naive.grown();
    grown.extend(lean.grown());
    grown.sort_unstable();
    grown.dedup();
    for id in grown {
        let path = &positions.list[id].path;
        doubts.push(format!("{path} has lists of more than 1 MiB; serde may reserve 1 MiB for each and grow it"));
    }
    if positions.schema.style.borrow {
        let what = "strings borrow from the JSON texts, which must stay in memory and are not counted";
        doubts.push(format!("{what}; nor is the copy of a string that has escapes"));
    }
    for position in &positions.list {
        match &position.slot.kind {
            Kind::Float { huge, .. } if *huge > 0 => doubts.push(format!(
                "{} at {} not fit in 64 bits; an `f64` keeps 15 to 17 digits",
                if *huge == 1 { "1 number".to_owned() } else { format!("{} numbers", count(*huge)) },
                format_args!("{} {}", position.path, if *huge == 1 { "does" } else { "do" })
            )),
            _ => {}
        }
        let rest = position.owner.zip(position.field).is_some_and(|(owner, field)| {
            let fields = &positions.schema.records[owner].fields;
            fields[field].rest && fields.len() > 1
        });
        if rest {
            doubts.push(format!("the numbers of keys of the objects at {} are estimated", position.path));
        }
    }
    if positions.schema.strict {
        let unions = positions.schema.unions.iter();
        for union in unions.filter(|union| matches!(union.form, Tagging::Adjacent(_))) {
            doubts.push(format!(
                "the contents of the variants at {} are read from a buffer or not, depending on the order of the keys",
                union.path
            ));
        }
    }
    for (&record, split) in &plan.lean.splits {
        if positions.schema.records[record].key_sets.is_empty() && split.groups.iter().any(|group| group.len() > 1) {
            let name = &positions.record_names[record].0;
            doubts.push(format!(
                "the rare fields of {name} occur in too many combinations to count; the largest possible number of \
                 instances is assumed"
            ));
        }
    }
    doubts
}

fn types(plan: &Plan<'_>) -> Vec<Type> {
    let (naive, lean) = (Side::new(plan, &plan.naive), Side::new(plan, &plan.lean));
    let positions = &plan.positions;
    let mut types: Vec<(u64, Type)> = Vec::new();
    // A record that stands for a variant is shown as a field of its union.
    for (id, record) in positions.schema.records.iter().enumerate().filter(|(_, record)| !record.is_variant) {
        let field = |(index, field): (usize, &super::schema::Field)| {
            let position = positions.fields[id][index];
            Field {
                name: positions.field_names[id][index].clone(),
                key: field.key.clone(),
                count: field.slot.count,
                nulls: field.slot.nulls,
                about: describe(&field.slot.kind),
                naive: naive.field(position),
                lean: lean.field(position),
            }
        };
        let fields: Vec<Field> = record.fields.iter().enumerate().map(field).collect();
        let weight = |field: &Field| field.naive.as_ref().map_or(0, |takes| takes.inline + takes.heap);
        let row = Type {
            name: positions.record_names[id].0.clone(),
            kind: "objects",
            paths: record.paths.clone(),
            instances: record.instances,
            naive: naive.size(Source::Record(id)),
            lean: lean.size(Source::Record(id)),
            fields,
        };
        types.push((row.fields.iter().map(weight).sum(), row));
    }
    for (id, union) in positions.schema.unions.iter().enumerate() {
        let instances = |record: usize| positions.schema.records[record].instances;
        let variants = &positions.union_names[id].1;
        let field = |(index, (tag, record)): (usize, &(String, usize))| Field {
            name: variants[index].clone(),
            key: tag.clone(),
            count: instances(*record),
            nulls: 0,
            about: match &positions.schema.records[*record] {
                ty if ty.is_variant => ty.fields.first().map_or_else(String::new, |field| describe(&field.slot.kind)),
                _ => String::new(),
            },
            naive: naive.variant(id, index),
            lean: lean.variant(id, index),
        };
        let row = Type {
            name: positions.union_names[id].0.clone(),
            kind: "objects",
            paths: vec![union.path.clone()],
            instances: union.variants.iter().map(|&(_, record)| instances(record)).sum(),
            naive: naive.size(Source::Union(id)),
            lean: lean.size(Source::Union(id)),
            fields: union.variants.iter().enumerate().map(field).collect(),
        };
        let weight = row.naive.map_or(0, |size| size.size * size.slots);
        types.push((weight, row));
    }
    types.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    types.into_iter().map(|(_, row)| row).collect()
}

/// One set of types with its memory.
struct Side<'p, 's> {
    positions: &'p Positions<'s>,
    model: Model<'p, 's>,
    slots: Vec<u64>,
    heap: BTreeMap<At, Heap>,
    sizes: Vec<u64>,
    inline: BTreeMap<PositionId, (String, u64)>,
}

impl<'p, 's> Side<'p, 's> {
    fn new(plan: &'p Plan<'s>, choices: &'p Choices) -> Self {
        let model = plan.model(choices);
        let slots = model.slots();
        let mut layouts = Layouts::new(&model.bodies);
        let sizes = (0..model.defs.len()).map(|id| layouts.named(id).size).collect();
        let mut inline = BTreeMap::new();
        for ((def, body), slots) in model.defs.iter().zip(&model.bodies).zip(&slots) {
            let Body::Struct(types) = body else { continue };
            for (part, ty) in def.parts.iter().zip(types) {
                if let Part::Position(position, _) = part {
                    inline.insert(*position, (model.rust(ty), layouts.size(ty) * slots));
                }
            }
        }
        Self { positions: &plan.positions, heap: model.heap(), slots, sizes, inline, model }
    }

    fn size(&self, source: Source) -> Option<Size> {
        self.model.find(source).map(|id| Size { size: self.sizes[id], slots: self.slots[id] })
    }

    fn field(&self, position: PositionId) -> Option<Takes> {
        let (ty, inline) = self.inline.get(&position)?.clone();
        let mut heap = Heap::default();
        self.below(position, &mut heap);
        Some(Takes { of: ty, inline, heap: heap.bytes, allocations: heap.allocations })
    }

    /// Adds the heap blocks of a position and of its inner positions.
    fn below(&self, position: PositionId, heap: &mut Heap) {
        *heap += self.heap.get(&At::Position(position)).copied().unwrap_or_default();
        self.positions.list[position].within.iter().for_each(|&within| self.below(within, heap));
    }

    fn variant(&self, union: usize, index: usize) -> Option<Takes> {
        let id = self.model.find(Source::Union(union))?;
        let Body::Enum(types) = &self.model.bodies[id] else { return None };
        let mut heap = self.heap.get(&At::Variant(union, index)).copied().unwrap_or_default();
        let record = self.positions.schema.unions[union].variants[index].1;
        if let (true, [content]) =
            (self.positions.schema.records[record].is_variant, &self.positions.fields[record][..])
        {
            self.below(*content, &mut heap);
        }
        let ty = types[index].as_ref().map_or_else(String::new, |ty| self.model.rust(ty));
        let instances = self.positions.schema.records[record].instances;
        Some(Takes { of: ty, inline: self.sizes[id] * instances, heap: heap.bytes, allocations: heap.allocations })
    }
}
