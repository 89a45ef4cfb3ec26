//! The changes of types that the search of `dwell::weigh` finds: `box`, `sparse`, `exact`, `thin`, `sorted`, `variant`
//! and `reorder`.

use super::kind::{allocated, of_type};
use super::model::{arguments, without_option};
use crate::heap::rows::Blocks;
use crate::source::{Finding, Target};
use crate::units::{bytes, count, percent};
use dwell_model::search::{Edit, Step};
use dwell_model::{Change, Counts, Plan, Program, Shape, Site};

/// Describes a step of the search.
pub(super) fn describe(program: &Program, step: &Step, old: &Plan<'_>, new: &Plan<'_>, blocks: &[Blocks]) -> Finding {
    let Some(&first) = step.edits.first() else { return Finding::default() };
    let sites = step.edits.iter().filter_map(|edit| match edit {
        Edit::Site(site, _) => Some(*site),
        _ => None,
    });
    let sites: Vec<usize> = sites.collect();
    let mut fields: Vec<String> = step
        .edits
        .iter()
        .map(|edit| match edit {
            Edit::Site(site, _) => program.sites[*site].path.clone(),
            Edit::Variant(def, variant) => {
                let def = &program.defs[*def];
                format!("{}::{}", def.name, def.variants[*variant].name)
            }
            Edit::Reorder(def) => program.defs[*def].name.clone(),
        })
        .collect();
    fields.dedup();
    let targets = step.edits.iter().filter_map(|edit| match *edit {
        Edit::Site(site, change) => Some(Target::Site(site, Some(change))),
        Edit::Variant(def, variant) => Some(Target::Variant(def, variant)),
        Edit::Reorder(_) => None,
    });
    let targets = targets.collect();
    let sum = |count: fn(&Counts) -> u64| sites.iter().map(|site| count(&program.sites[*site].counts)).sum::<u64>();
    let (mut kind, mut how) = ("reorder", "let the compiler order the fields: no repr(C)".to_owned());
    let (number, taken, mut why);
    let def;
    match first {
        Edit::Site(site, change) => {
            let field = &program.sites[site];
            def = field.def;
            (kind, how) = changed(program, site, change);
            number = sum(|counts| counts.instances);
            let inline: u64 = sites
                .iter()
                .map(|site| {
                    let field = &program.sites[*site];
                    field.own.size.saturating_mul(field.counts.slots)
                })
                .sum();
            taken = inline.saturating_add(sum(|counts| counts.requested));
            let filled = sum(|counts| counts.filled);
            why = match change {
                Change::Boxed | Change::Sparse | Change::BoxedAlways => {
                    let absent = match field.shape {
                        Shape::Optional { is_option: true, .. } => "None",
                        _ => "empty",
                    };
                    match number.saturating_sub(filled) {
                        0 => format!("{} values of {} B", count(number), count(field.own.size)),
                        rare => {
                            format!(
                                "{absent} in {} of {}, {} B",
                                percent(rare, number),
                                count(number),
                                count(field.own.size)
                            )
                        }
                    }
                }
                Change::Exact | Change::Thin => {
                    let waste = sum(|counts| counts.waste);
                    let unused = format!("{} of {} unused", bytes(waste), bytes(sum(|counts| counts.requested)));
                    if waste == 0 { "all are as long as their capacity".into() } else { unused }
                }
                Change::Sorted => {
                    let (used, filled) = (sum(|counts| counts.used), filled.max(1));
                    format!(
                        "{} on average, {} of {} unused",
                        // Rounded to the nearest number.
                        match (used + filled / 2) / filled {
                            1 => "1 entry".into(),
                            entries => format!("{entries} entries"),
                        },
                        bytes(sum(|counts| counts.waste)),
                        bytes(sum(|counts| counts.requested))
                    )
                }
            };
        }
        Edit::Variant(of_def, variant) => {
            def = Some(of_def);
            kind = "variant";
            let definition = &program.defs[of_def];
            let values: u64 = definition.variants.iter().map(|variant| variant.counts.instances).sum();
            let rare: u64 = step
                .edits
                .iter()
                .filter_map(|edit| match edit {
                    Edit::Variant(def, variant) if *def == of_def => {
                        Some(program.defs[*def].variants[*variant].counts.instances)
                    }
                    _ => None,
                })
                .sum();
            number = values;
            taken = definition.own.size.saturating_mul(values);
            let name = &definition.variants[variant].name;
            how = if fields.len() == 1 {
                format!("box the fields of `{name}`")
            } else {
                format!("box the fields of {} variants", fields.len())
            };
            why = format!(
                "`{name}` is {} B and {} of {}",
                count(old.variant_size(of_def, variant)),
                percent(rare, values),
                count(values)
            );
        }
        Edit::Reorder(of_def) => {
            def = Some(of_def);
            let definition = &program.defs[of_def];
            let is_it = |site: &&Site| matches!(site.shape, Shape::Def(def) if def == of_def);
            number = program.sites.iter().filter(is_it).map(|site| site.counts.slots).sum();
            taken = definition.own.size.saturating_mul(number);
            why = "the fields are stored in the order of their declaration".into();
        }
    }
    let location = match (fields.as_slice(), def) {
        ([one], _) => one.clone(),
        (all, Some(def)) if sites.iter().all(|site| program.sites[*site].def == Some(def)) => {
            of_type(all, &program.defs[def].name)
        }
        (all, _) => all.join(", "),
    };
    if let Some(def) = def {
        why += &resized(&program.defs[def].name, old.def(def).size, new.def(def).size);
    }
    let of_def = def.map(|def| program.defs[def].name.clone());
    let at = allocated(blocks, |row| fields.contains(&row.owner))
        .or_else(|| allocated(blocks, |row| of_def.as_ref().is_some_and(|name| row.element == *name)));
    Finding {
        kind: kind.into(),
        location,
        fields,
        count: number,
        bytes: taken,
        saves: step.before.bytes.saturating_sub(step.after.bytes),
        costs: first.cost().into(),
        why,
        how,
        exact: step.is_exact,
        targets,
        at,
        ..Finding::default()
    }
}

/// Returns the kind of a change, and the suggested type.
fn changed(program: &Program, site: usize, change: Change) -> (&'static str, String) {
    let field = &program.sites[site];
    let inner = match field.shape {
        Shape::Optional { is_option: true, .. } => without_option(&field.ty),
        _ => &field.ty,
    };
    let is_struct =
        matches!(program.sites[program.without_option(site)].shape, Shape::Def(def) if !program.defs[def].is_enum);
    match change {
        Change::Boxed if is_struct => ("box", format!("Option<Box<{inner}>> (or Sparse<{inner}>)")),
        Change::Boxed => ("box", format!("Option<Box<{inner}>>")),
        Change::BoxedAlways => ("box", format!("Box<{}>", field.ty)),
        Change::Sparse => ("sparse", format!("Sparse<{inner}> (or Option<Box<{inner}>>)")),
        Change::Exact if matches!(field.shape, Shape::Text(_)) => ("exact", "Box<str>".into()),
        Change::Exact => ("exact", format!("Box<[{}]>", arguments(&field.ty))),
        Change::Thin => {
            let how = match field.shape {
                Shape::Sequence(..) => format!("ThinSlice<{}>", arguments(&field.ty)),
                _ => "ThinStr (or Box<str>)".into(),
            };
            ("thin", how)
        }
        Change::Sorted => ("sorted", sorted_map(&field.ty)),
    }
}

/// Returns the sorted form of a map type, which has no hasher or allocator.
pub(super) fn sorted_map(ty: &str) -> String {
    let mut depth = 0_i32;
    let inside = arguments(ty);
    let is_end = |c: char| {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    let commas: Vec<usize> = inside.match_indices(is_end).map(|(at, _)| at).collect();
    format!("SortedMap<{}>", &inside[..commas.get(1).copied().unwrap_or(inside.len())])
}

/// Returns the end of a reason: the old and new size of a type, if they differ.
pub(super) fn resized(name: &str, before: u64, after: u64) -> String {
    if before == after { String::new() } else { format!("; {name} is {before} B, then {after}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_maps_have_no_hasher() {
        assert_eq!(sorted_map("HashMap<u64, (A<u8, u8>, B), Fast<C>>"), "SortedMap<u64, (A<u8, u8>, B)>");
        assert_eq!(sorted_map("BTreeMap<u64, B>"), "SortedMap<u64, B>");
    }
}
