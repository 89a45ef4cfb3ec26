//! Compares what runs cost with the budgets of `dwell.toml`.

use super::costs::{self, Costs, TOTALS};
use super::row::{Kind, Row, Unit, place};
use super::runs::{Measured, Planned, Session};
use crate::allocs::{Taken, taken};
use crate::config::Bytes;
use crate::exists::{declaration, exists};
use crate::function_names::{ends_with, plain};
use crate::{dyn_traits, sizes, stack};
use anyhow::{Result, bail};
use dwell_debuginfo::{Kind as OfType, Program};
use dwell_heap::json::{Blocks, Document as Heap};
use dwell_output::nearest;
use dwell_source::Items;
use std::collections::BTreeMap;
use std::path::Path;

/// Returns a row for each budget.
///
/// # Errors
/// Returns an error if a budget is about a name that the program does not have.
pub(super) fn rows(session: &Session, measured: &[Measured]) -> Result<Vec<Row>> {
    let mut rows = sizes(session, measured)?;
    for planned in session.runs() {
        if let Some(run) = measured.iter().find(|run| run.name == planned.name) {
            of_run(planned, run, session.root(), &mut rows)?;
        }
    }
    Ok(rows)
}

/// The budgets of a run.
fn of_run(planned: &Planned, measured: &Measured, root: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let Planned { name, run, file, .. } = planned;
    let costs = &measured.costs;
    let mut add = |what: String, unit, most, now, cause: String, at: Option<&str>| {
        let place = at.and_then(|at| place(at, root));
        rows.push(Row { run: name.clone(), what, unit, kind: Kind::Budget { most }, now, cause, place });
    };
    for (what, unit, number) in TOTALS {
        let Some(most) = run.most(what) else { continue };
        let Some(now) = number(costs) else {
            bail!("{}: `{what}` of `check.{name}`: the run has no such number here", file.display());
        };
        let (cause, at) = if now.most > most { largest(costs, what) } else { (String::new(), None) };
        add(what.to_owned(), unit, most, now.most, cause, at.as_deref());
    }
    for (wanted, most) in &run.bytes {
        let (now, at) = held(measured, wanted, |blocks| blocks.bytes, file, name)?;
        add(format!("bytes of {wanted}"), Unit::Bytes, most.0, now, String::new(), at.as_deref());
    }
    for (wanted, &most) in &run.blocks {
        let (now, at) = held(measured, wanted, |blocks| blocks.blocks, file, name)?;
        add(format!("blocks of {wanted}"), Unit::Blocks, most, now, String::new(), at.as_deref());
    }
    let of_functions = [("allocs", &run.allocs_in), ("reallocs", &run.reallocs_in)];
    for (key, wanted, most) in
        of_functions.into_iter().flat_map(|(key, all)| all.iter().map(move |(budget, most)| (key, budget, *most)))
    {
        let all = measured.allocs.iter().map(|document| taken(document, wanted));
        let number = |taken: &Taken| if key == "allocs" { taken.blocks } else { taken.reallocations };
        let found = all.max_by_key(number).unwrap_or_default();
        if !found.is_known && !exists(&measured.program, &measured.executable.file, wanted, root) {
            let functions = measured.allocs.iter().flat_map(|document| &document.frames);
            let functions = functions.map(|frame| frame.split(" (").next().unwrap_or(frame));
            let near = nearest::suggestion(wanted, functions);
            bail!(
                "{}: `{key}-in` of `check.{name}`: the program has no function or type `{wanted}`{near}",
                file.display()
            );
        }
        let now = number(&found);
        let at = found.at.as_deref();
        let cause = at.filter(|_| now > most).map_or_else(String::new, |at| format!("most in {at}"));
        add(format!("{key} in {wanted}"), Unit::Blocks, most, now, cause, at.and_then(in_parentheses));
    }
    Ok(())
}

/// Returns the place of a frame such as `app::parse (src/main.rs:12)`.
fn in_parentheses(frame: &str) -> Option<&str> {
    frame.rsplit_once(" (")?.1.strip_suffix(')')
}

/// Names the largest part of a number that is above its budget.
fn largest(costs: &Costs, what: &str) -> (String, Option<String>) {
    if matches!(what, "allocs" | "reallocs") {
        let most = costs.places.iter().max_by_key(|place| place.blocks.most);
        return most.map_or_else(Default::default, |place| {
            (format!("most: {} in {}", place.what, place.function), place.at.clone())
        });
    }
    let all = if what == "leaked-bytes" { &costs.leaks } else { &costs.owners };
    let most = all.iter().max_by_key(|owner| match what {
        "unused-bytes" => owner.unused.most,
        "peak-blocks" | "exit-blocks" => owner.blocks.most,
        _ => owner.bytes.most,
    });
    most.map_or_else(Default::default, |owner| {
        (format!("most: {} of {}", owner.content, owner.owner), owner.at.clone())
    })
}

/// Returns what an owner or type holds at the peak, at most over all runs, and the line that allocates most of it.
fn held(
    measured: &Measured,
    wanted: &str,
    number: impl Fn(&Blocks) -> u64,
    file: &Path,
    name: &str,
) -> Result<(u64, Option<String>)> {
    let field = type_of_field(&measured.program, wanted);
    let at_peak = |heap: &Heap| -> (u64, Option<String>) {
        let blocks = costs::peak(heap).map_or(&[][..], |snapshot| &snapshot.blocks);
        let mut found = matching(blocks, wanted);
        // Those of a value that is being dropped may be the field's.
        if let Some(ty) = field.as_ref().filter(|_| found.is_empty()) {
            let is_lost = |blocks: &&Blocks| matches!(&*blocks.by, "stack" | "local") && blocks.content == *ty;
            found.extend(blocks.iter().filter(is_lost));
        }
        let at = found.iter().max_by_key(|blocks| blocks.bytes).and_then(|blocks| blocks.sites.first()?.at.clone());
        (found.into_iter().map(&number).sum(), at)
    };
    let most = measured.heaps.iter().map(at_peak).max_by_key(|(sum, _)| *sum).unwrap_or_default();
    let is_seen = || {
        let snapshots = measured.heaps.iter().flat_map(|heap| &heap.snapshots);
        snapshots.into_iter().any(|snapshot| !matching(&snapshot.blocks, wanted).is_empty())
    };
    if most.0 == 0 && !is_seen() && field.is_none() && sizes::matching(&measured.program, wanted).is_empty() {
        let snapshots = measured.heaps.iter().flat_map(|heap| &heap.snapshots).flat_map(|snapshot| &snapshot.blocks);
        let mut names: Vec<&str> =
            snapshots.flat_map(|blocks| [&*blocks.owner, &*blocks.content, &*blocks.element]).collect();
        names.extend(measured.program.types().filter(|(_, ty)| ty.own).map(|(_, ty)| &*ty.name));
        let near = nearest::suggestion(wanted, names.into_iter());
        bail!("{}: `check.{name}`: the program has no type or owner `{wanted}`{near}", file.display());
    }
    Ok(most)
}

/// Returns the blocks of an owner, or else those that a type holds, or else those with values of a type.
fn matching<'b>(blocks: &'b [Blocks], wanted: &str) -> Vec<&'b Blocks> {
    let with = |name_of: fn(&Blocks) -> &str| -> Vec<&'b Blocks> {
        blocks.iter().filter(|blocks| ends_with(name_of(blocks), wanted)).collect()
    };
    let by_owner = with(|blocks| &blocks.owner);
    if !by_owner.is_empty() {
        return by_owner;
    }
    let by_content = with(|blocks| &blocks.content);
    if by_content.is_empty() { with(|blocks| &blocks.element) } else { by_content }
}

/// Returns the type of a field: `Vec<Session>` for `State.sessions`.
fn type_of_field(program: &Program, wanted: &str) -> Option<String> {
    let (ty, field) = wanted.rsplit_once('.')?;
    sizes::matching(program, ty).into_iter().find_map(|id| match &program.get(id).kind {
        OfType::Struct(fields) | OfType::Union(fields) => {
            let found = fields.iter().find(|member| &*member.name == field)?;
            Some(program.get(found.ty).name.to_string())
        }
        _ => None,
    })
}

/// The budgets of types, futures, stack frames and traits.
fn sizes(session: &Session, measured: &[Measured]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let root = session.root();
    let items = Items::new(Some(root));
    let row = |what: String, most: u64, now: u64, cause: String, place| Row {
        run: String::new(),
        what,
        unit: Unit::Bytes,
        kind: Kind::Budget { most },
        now,
        cause,
        place,
    };
    for config in session.configs() {
        for (name, most) in &config.max_size {
            let found = measured
                .iter()
                .flat_map(|run| sizes::matching(&run.program, name).into_iter().map(|id| (&run.program, id)));
            let Some((program, id)) = found.max_by_key(|(program, id)| program.size_of(*id)) else {
                let names = measured.iter().flat_map(|run| run.program.types()).map(|(_, ty)| &*ty.name);
                bail!("dwell.toml: `max-size`: no program has the type `{name}`{}", nearest::suggestion(name, names));
            };
            let ty = program.get(id);
            let cause = if ty.size > most.0 { sizes::why(program, ty) } else { String::new() };
            rows.push(row(format!("size of {name}"), most.0, ty.size, cause, source(ty, &items, root)));
        }
        if let Some(most) = config.max_future {
            let futures = measured.iter().flat_map(|run| {
                run.program
                    .types()
                    .filter(|(_, ty)| ty.own && matches!(ty.kind, OfType::Coroutine(_)))
                    .map(|(_, ty)| (&run.program, ty))
            });
            if let Some((program, ty)) = futures.max_by_key(|(_, ty)| ty.size) {
                let cause = if ty.size > most.0 { sizes::why(program, ty) } else { String::new() };
                rows.push(row(
                    format!("largest future, {}", ty.name),
                    most.0,
                    ty.size,
                    cause,
                    source(ty, &items, root),
                ));
            }
        }
        for (name, most) in &config.max_dyn {
            let all: Vec<_> =
                measured.iter().flat_map(|run| dyn_traits::json::traits(&run.program, true, None)).collect();
            let of_trait =
                all.iter().filter(|dyn_trait| ends_with(&dyn_trait.name, name) || ends_with(&dyn_trait.path, name));
            let largest =
                of_trait.flat_map(|dyn_trait| &dyn_trait.implementors).max_by_key(|implementor| implementor.size);
            let Some(largest) = largest else {
                let near = nearest::suggestion(name, all.iter().map(|dyn_trait| &*dyn_trait.name));
                bail!("dwell.toml: `max-dyn`: no program has values of the trait `{name}`{near}");
            };
            let cause =
                if largest.size > most.0 { format!("the largest is {}", largest.type_name) } else { String::new() };
            let at = items.at(&largest.path).map(|item| (item.file.clone(), item.line));
            rows.push(row(format!("values of dyn {name}"), most.0, largest.size, cause, at));
        }
        frames(&config.max_frame, measured, &mut |name, most, now| {
            let plain = plain(name);
            let at = declaration(root, &format!("fn {}", plain.rsplit("::").next().unwrap_or(&plain)));
            rows.push(row(format!("frame of {name}"), most, now, String::new(), at));
        })?;
    }
    Ok(rows)
}

fn frames(budgets: &BTreeMap<String, Bytes>, measured: &[Measured], add: &mut dyn FnMut(&str, u64, u64)) -> Result<()> {
    if budgets.is_empty() {
        return Ok(());
    }
    let mut functions = Vec::new();
    for run in measured {
        functions.extend(stack::frame_sizes(&run.executable.file)?);
    }
    for (name, most) in budgets {
        let wanted = plain(name);
        let of_name = functions.iter().filter(|(function, _)| ends_with(&plain(function), &wanted));
        let Some(largest) = of_name.map(|(_, frame)| *frame).max() else {
            let near = nearest::suggestion(name, functions.iter().map(|(function, _)| &**function));
            bail!(
                "dwell.toml: `max-frame`: no program has a frame of `{name}`{near}; a function that is inlined has none"
            );
        };
        add(name, most.0, largest);
    }
    Ok(())
}

/// Returns the declaration of a type: rustc names those of futures, and the source has the others.
fn source(ty: &dwell_debuginfo::Type, items: &Items, root: &Path) -> Option<(String, u32)> {
    let named = ty.source.as_ref().and_then(|source| place(&format!("{}:{}", source.file, source.line), root));
    named.or_else(|| items.at(&ty.path).map(|item| (item.file.clone(), item.line)))
}
