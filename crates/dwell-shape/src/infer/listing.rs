//! A schema as plain text, for tests to compare.

use crate::schema::{Kind, Schema, Slot};
use std::io::{self, Write};

/// Writes the schema as an indented listing.
pub(super) fn list(schema: &Schema, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} documents, {} bytes", schema.documents, schema.bytes)?;
    writeln!(out, "document: {}", describe(schema, &schema.root))?;
    for union in &schema.unions {
        writeln!(out, "\nunion {} by {:?}", union.name, union.tag)?;
        for (value, id) in union.tagged() {
            writeln!(out, "    {value:?}: {}", schema.records[*id].name)?;
        }
        if let Some(id) = union.without_tag() {
            writeln!(out, "    without: {}", schema.records[id].name)?;
        }
    }
    for record in &schema.records {
        writeln!(out, "\nrecord {}: {} at {}", record.name, record.instances, record.paths.join(" "))?;
        for field in &record.fields {
            let fill = field.slot.count as f64 / record.instances as f64 * 100.0;
            writeln!(out, "    {:?} {fill:.2} %: {}", field.key, describe(schema, &field.slot))?;
        }
    }
    for keywords in &schema.keywords {
        writeln!(out, "\nkeywords {}: {:?}", keywords.name, keywords.values)?;
    }
    Ok(())
}

fn describe(schema: &Schema, slot: &Slot) -> String {
    let kind = match &slot.kind {
        Kind::Never => "never".to_owned(),
        Kind::Bool { trues } => format!("bool({trues} true)"),
        Kind::Integer { min, max } => format!("integer({min}..={max})"),
        Kind::Float { .. } => "float".to_owned(),
        Kind::Text(text) => {
            format!("text({}..={} bytes, {} distinct, {} empty)", text.min, text.max, text.distinct, text.empty)
        }
        Kind::Keyword { id, .. } => schema.keywords[*id].name.clone(),
        Kind::Record { id, empty } => format!("{}({empty} empty)", schema.records[*id].name),
        Kind::Union { id } => schema.unions[*id].name.clone(),
        Kind::Map(map) => format!(
            "map of {} ({} distinct keys) to {}",
            map.lengths.total,
            map.key.distinct,
            describe(schema, &map.value)
        ),
        Kind::Seq(seq) => format!("seq of {} {}", seq.lengths.total, describe(schema, &seq.element)),
        Kind::Tuple { positions } => {
            format!(
                "tuple({})",
                positions.iter().map(|position| describe(schema, position)).collect::<Vec<_>>().join(", ")
            )
        }
        Kind::Mixed { alternatives } => {
            alternatives.iter().map(|slot| describe(schema, slot)).collect::<Vec<_>>().join(" | ")
        }
        Kind::Any(free) => format!("any({} texts, {} objects)", free.texts, free.objects.count),
    };
    let nulls = if slot.nulls > 0 { format!(" {} null", slot.nulls) } else { String::new() };
    format!("{}{nulls} {kind}", slot.count)
}
