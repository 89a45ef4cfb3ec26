//! `--html`: the report as a page, with icicle charts of live bytes by JSON path.

use super::model::{At, Choices, Model, Part, Source};
use super::plan::Plan;
use super::positions::{PositionId, Positions};
use super::rust::describe;
use super::schema::{Kind, RecordId};
use super::types::{Body, Layouts, Type};
use dwell_output::page::{Bar, Class, Icicle, Page, Suggestion, Table};
use dwell_output::units::{bytes, count, percent, plural};
use std::collections::BTreeMap;

/// Renders `plan` as a page.
pub fn page(plan: &Plan<'_>, sampled: bool) -> String {
    let schema = plan.positions.schema;
    let (naive, lean) = (plan.naive_heap(), plan.lean_heap());
    let mut notes: Vec<String> = plan.doubts().into_iter().map(|doubt| format!("Not exact: {doubt}.")).collect();
    if sampled {
        notes.push("Only part of the documents was read; all numbers are for that part.".into());
    }
    let page = Page {
        title: format!("Rust types for {}", plural(schema.documents, "JSON document")),
        numbers: vec![
            ("JSON".into(), bytes(schema.bytes)),
            ("live bytes as serde_json::Value".into(), bytes(super::value::heap(schema).0.bytes)),
            ("live bytes, naive types".into(), bytes(naive.bytes)),
            (format!("live bytes, lean types ({} of naive)", percent(lean.bytes, naive.bytes)), bytes(lean.bytes)),
        ],
        notes,
        suggestions: plan
            .suggestions()
            .into_iter()
            .filter(|one| one.saves > 0)
            .map(|one| Suggestion {
                // The outermost bar is `$`.
                paths: vec![one.path.trim_start_matches('$').to_owned()],
                location: one.path,
                before: one.from,
                after: one.to,
                saves: one.saves.unsigned_abs(),
                why: match (one.filled, one.slots) {
                    (Some(filled), Some(slots)) => format!("{} filled; {}", percent(filled, slots), one.cost),
                    _ => one.cost,
                },
                ..Suggestion::default()
            })
            .collect(),
        icicles: vec![
            Icicle { title: "naive types".into(), root: icicle(plan, &plan.naive), is_alone: false },
            Icicle { title: "lean types".into(), root: icicle(plan, &plan.lean), is_alone: false },
        ],
        table: table(plan),
        ..Page::default()
    };
    page.html()
}

/// A JSON path with its own bytes, by use.
#[derive(Debug, Default)]
struct Node {
    own: u64,
    spare: u64,
    absent: u64,
    class: Class,
    details: Vec<(String, String)>,
    below: BTreeMap<String, Node>,
}

impl Node {
    fn at(&mut self, steps: &[&str]) -> &mut Self {
        match steps {
            [] => self,
            [first, rest @ ..] => self.below.entry((*first).to_owned()).or_default().at(rest),
        }
    }

    fn bar(self, name: String) -> Bar {
        let Self { own, spare, absent, class, details, below } = self;
        let mut bars: Vec<Bar> = below.into_iter().map(|(name, node)| node.bar(name)).collect();
        let part = |name: &str, bytes, class| Bar { name: name.into(), bytes, class, ..Bar::default() };
        bars.push(part(" absent fields", absent, Class::Absent));
        bars.push(part(" unused capacity", spare, Class::Spare));
        bars.retain(|bar| bar.bytes > 0);
        bars.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        let below: u64 = bars.iter().map(|bar| bar.bytes).sum();
        Bar { name, bytes: own.saturating_sub(spare + absent) + below, class, details, bars }
    }
}

/// Splits a JSON path into steps: `$`, `.shapes`, `.*`, `["a.b"]`, `[]` for `$.shapes.*["a.b"][]`.
fn steps(path: &str) -> Vec<&str> {
    let (mut steps, mut from) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'.' | b'[' if !quoted && at > from => {
                steps.push(&path[from..at]);
                from = at;
            }
            _ => {}
        }
    }
    steps.push(&path[from..]);
    steps
}

fn icicle(plan: &Plan<'_>, choices: &Choices) -> Bar {
    let positions = &plan.positions;
    let model = plan.model(choices);
    let spare = model.spare();
    let absent = Absent::new(positions, &model);
    let mut root = Node::default();
    for (at, heap) in model.heap() {
        let (path, class, position) = match at {
            At::Documents => ("$".to_owned(), Class::Sequence, None),
            At::Position(id) => (positions.list[id].path.clone(), class(&positions.list[id].slot.kind), Some(id)),
            At::Group(record, group) => {
                let name = model.group_name(record, group);
                (format!("{}.({name})", positions.record_path(record)), Class::Pointer, None)
            }
            At::Variant(union, index) => {
                let tag = &positions.schema.unions[union].variants[index].0;
                (format!("{}[{tag:?}]", positions.schema.unions[union].path), Class::Pointer, None)
            }
        };
        let steps = steps(&path);
        let node = root.at(&steps[1..]);
        let spare = spare.get(&at).copied().unwrap_or(0);
        node.own += heap.bytes;
        node.spare += spare;
        node.class = class;
        node.details.push(("allocations".into(), count(heap.allocations)));
        let Some(id) = position else { continue };
        let position = &positions.list[id];
        node.absent += absent.bytes_of_absent(id, heap.bytes - spare);
        node.details.push(("type".into(), model.type_at(id)));
        if positions.missing(id) > 0 {
            node.details.push(("filled".into(), percent(position.slot.count, positions.slots(id))));
        }
        let about = describe(&position.slot.kind);
        if !about.is_empty() {
            node.details.push(("values".into(), about));
        }
    }
    root.bar("$".into())
}

fn class(kind: &Kind) -> Class {
    match kind {
        Kind::Text(_) | Kind::Keyword { .. } => Class::Text,
        Kind::Seq(_) | Kind::Tuple { .. } => Class::Sequence,
        Kind::Map(_) => Class::Map,
        Kind::Record { .. } | Kind::Union { .. } | Kind::Mixed { .. } => Class::Struct,
        _ => Class::Other,
    }
}

/// Returns whether a type stores a struct inline, not behind a pointer.
fn is_inline(ty: &Type) -> bool {
    match ty {
        Type::Named(_) => true,
        Type::Option(inner) => is_inline(inner),
        _ => false,
    }
}

/// The nesting depth of records up to which absent fields are counted.
const NESTED: usize = 5;

/// The share of each record's bytes that absent fields take.
struct Absent<'p, 's> {
    positions: &'p Positions<'s>,
    share: BTreeMap<RecordId, f64>,
}

impl<'p, 's> Absent<'p, 's> {
    fn new(positions: &'p Positions<'s>, model: &Model<'_, '_>) -> Self {
        let mut layouts = Layouts::new(&model.bodies);
        let mut share = BTreeMap::new();
        // Each pass includes one more level of nesting, from the innermost records outwards.
        for _ in 0..NESTED {
            for (id, (def, body)) in model.defs.iter().zip(&model.bodies).enumerate() {
                let (Source::Record(record), Body::Struct(types)) = (def.source, body) else { continue };
                let all = positions.schema.records[record].instances * layouts.named(id).size;
                let mut absent = 0.0;
                for (part, ty) in def.parts.iter().zip(types) {
                    let Part::Position(position, _) = *part else { continue };
                    let size = layouts.size(ty) as f64;
                    let within = match positions.list[position].slot.kind {
                        Kind::Record { id, .. } if is_inline(ty) => share.get(&id).copied().unwrap_or(0.0),
                        _ => 0.0,
                    };
                    absent += size * (positions.missing(position) as f64 + positions.full(position) as f64 * within);
                }
                if all > 0 {
                    share.insert(record, absent / all as f64);
                }
            }
        }
        Self { positions, share }
    }

    /// Returns the part of `bytes` at a position that absent fields take. `bytes` excludes unused capacity.
    fn bytes_of_absent(&self, id: PositionId, bytes: u64) -> u64 {
        let position = &self.positions.list[id];
        let holds = match (&position.slot.kind, position.within.last()) {
            (Kind::Seq(_) | Kind::Map(_), Some(&element)) => &self.positions.list[element].slot.kind,
            (kind, _) => kind,
        };
        let Kind::Record { id, .. } = holds else { return 0 };
        let share = self.share.get(id).copied().unwrap_or(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of `bytes`")]
        let absent = (bytes as f64 * share) as u64;
        absent.min(bytes)
    }
}

/// Returns a table with a row for each position.
fn table(plan: &Plan<'_>) -> Table {
    let positions = &plan.positions;
    let (naive, lean) = (plan.model(&plan.naive), plan.model(&plan.lean));
    let (naive_heap, lean_heap) = (naive.heap(), lean.heap());
    let mut rows = Vec::new();
    for (id, position) in positions.list.iter().enumerate() {
        let heap = |heap: &BTreeMap<At, super::model::Heap>| heap.get(&At::Position(id)).map_or(0, |heap| heap.bytes);
        rows.push((
            heap(&naive_heap),
            vec![
                position.path.clone(),
                percent(position.slot.count, positions.slots(id)),
                naive.type_at(id),
                bytes(heap(&naive_heap)),
                lean.type_at(id),
                bytes(heap(&lean_heap)),
                describe(&position.slot.kind),
            ],
        ));
    }
    rows.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    Table {
        head: ["where", "filled", "naive", "heap bytes", "lean", "heap bytes", "values"].map(Into::into).to_vec(),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::Accumulator;

    #[test]
    fn path_is_split_into_steps() {
        assert_eq!(steps("$"), ["$"]);
        assert_eq!(steps(r#"$.a.*["b.c[\"]"][].d"#), ["$", ".a", ".*", r#"["b.c[\"]"]"#, "[]", ".d"]);
    }

    #[test]
    fn icicles_include_all_bytes() {
        let mut accumulator = Accumulator::default();
        for n in 0..50 {
            let text = format!(
                r#"{{"list":[{{"a":{n},"text":"some text that is long"}},{{"a":1}}],"map":{{"k{n}":[1,2,3],"l":[]}},"x":"y"}}"#
            );
            accumulator.read(&mut serde_json::Deserializer::from_str(&text)).unwrap();
        }
        let schema = accumulator.finish();
        let plan = Plan::new(&schema);
        assert_eq!(icicle(&plan, &plan.naive).bytes, plan.naive_heap().bytes);
        assert_eq!(icicle(&plan, &plan.lean).bytes, plan.lean_heap().bytes);
        let page = page(&plan, false);
        assert!(page.contains(&bytes(plan.naive_heap().bytes)) && page.contains("$.list[].text"));
    }
}
