//! Suggestions with their savings: the model of `dwell::weigh`, filled with the counts of a walk.

mod alternatives;
mod finding;
mod model;

use crate::heap::decoder::Holds;
use crate::heap::rows::Blocks;
use crate::heap::types::SiteId;
use crate::heap::walk::{Owner, SHORT, Tally, Walk};
use crate::units::{bytes, count, percent};
use alternatives::{Alternative, alternatives};
use dwell::model::search::{Edit, LEAST, Step, Types, search};
use dwell::model::{Change, Counts, Edge, Layout, Plan, Program, Shape, Site};
pub use finding::Finding;
use model::{arguments, in_model, without_option};
use std::collections::HashMap;

const WORD: u64 = 8;
/// The inline sizes, in words, that are considered for a `SmallBox`.
const INLINE: [u64; 5] = [1, 2, 3, 4, 6];
/// The least number of values for which a type's fields are judged.
const SOME: u64 = 100;
/// The least number of boxes for which a slab is suggested.
const MANY: u64 = 1000;

/// Returns all findings, largest saving first; estimates come last.
pub(crate) fn find(walk: &Walk<'_, '_>, blocks: &[Blocks]) -> Vec<Finding> {
    let program = model::of(walk);
    let mut plan = Plan::new(&program);
    let total = plan.sum().bytes;
    let mut found = Vec::new();
    let steps = search(&program, Types::Dwell);
    let mut of_steps = Vec::new();
    for step in &steps {
        let old = plan.clone();
        plan.apply_all(&step.edits);
        of_steps.push(describe(&program, step, &old, &plan, blocks));
    }
    for Alternative { step, old, new, instead_of } in alternatives(&program, &steps) {
        let mut finding = describe(&program, &step, &old, &new, blocks);
        finding.instead_of = instead_of.iter().flat_map(|&step| of_steps[step].fields.clone()).collect();
        finding.why.extend(["; instead of ", &finding.instead_of.join(", ")]);
        found.push(finding);
    }
    found.extend(of_steps.into_iter().filter(|finding| finding.saves > 0));
    found.extend(scalars(walk, &program, &mut plan));
    let mut estimates = Vec::new();
    for site in 1..program.sites.len() {
        let change = plan.changes.get(&site).copied();
        if change.is_none() {
            estimates.extend(empty(walk, &program, site, blocks));
            estimates.extend(shrink(walk, &program, site, blocks));
            estimates.extend(short(walk, &program, site, blocks));
        }
        estimates.extend(intern(walk, &program, site, change, blocks));
        estimates.extend(duplicate(walk, &program, site, blocks));
        estimates.extend(unshared(walk, &program, site, blocks));
        estimates.extend(one_by_one(walk, &program, site, blocks, total));
    }
    estimates.extend(padding(walk, &program, &plan));
    estimates.extend(inline(walk, blocks));
    estimates.extend(futures(walk));
    // Values that need no block save the allocations too.
    let most: u64 = blocks.iter().map(|of| of.blocks).sum();
    let is_worth =
        |finding: &Finding| finding.saves > total / LEAST || finding.kind == "inline" && finding.count > most / LEAST;
    estimates.retain(is_worth);
    found.extend(estimates);
    found.sort_by_key(|finding| std::cmp::Reverse(finding.saves));
    found
}

/// Returns the call site that allocated the most bytes of an owner.
fn allocated(blocks: &[Blocks], is_it: impl Fn(&Blocks) -> bool) -> Option<String> {
    blocks.iter().filter(|of| is_it(of)).find_map(|of| of.sites.first()?.at.clone())
}

fn describe(program: &Program, step: &Step, old: &Plan<'_>, new: &Plan<'_>, blocks: &[Blocks]) -> Finding {
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
    let sum = |of: fn(&Counts) -> u64| sites.iter().map(|site| of(&program.sites[*site].counts)).sum::<u64>();
    let (mut kind, mut how) = ("reorder", "let the compiler order the fields: no repr(C)".to_owned());
    let (number, taken, mut why);
    let def;
    match first {
        Edit::Site(site, change) => {
            let of = &program.sites[site];
            def = of.def;
            (kind, how) = changed(program, site, change);
            number = sum(|counts| counts.instances);
            let inline: u64 = sites
                .iter()
                .map(|site| {
                    let of = &program.sites[*site];
                    of.own.size.saturating_mul(of.counts.slots)
                })
                .sum();
            taken = inline.saturating_add(sum(|counts| counts.requested));
            let filled = sum(|counts| counts.filled);
            why = match change {
                Change::Boxed | Change::Sparse | Change::BoxedAlways => {
                    let absent = match of.shape {
                        Shape::Optional { is_option: true, .. } => "None",
                        _ => "empty",
                    };
                    match number.saturating_sub(filled) {
                        0 => format!("{} values of {} B", count(number), count(of.own.size)),
                        rare => {
                            format!(
                                "{absent} in {} of {}, {} B",
                                percent(rare, number),
                                count(number),
                                count(of.own.size)
                            )
                        }
                    }
                }
                Change::Exact | Change::Thin => {
                    let waste = sum(|counts| counts.waste);
                    let unused = format!("{} of {} unused", bytes(waste), bytes(sum(|counts| counts.requested)));
                    match sum(|counts| counts.hollow) {
                        0 => unused,
                        hollow => format!("{unused}, {} of the blocks empty", count(hollow)),
                    }
                }
                Change::Sorted => {
                    let (used, filled) = (sum(|counts| counts.used), filled.max(1));
                    format!(
                        "{} on average, {} of {} unused",
                        if used / filled == 1 { "1 entry".into() } else { format!("{} entries", used / filled) },
                        bytes(sum(|counts| counts.waste)),
                        bytes(sum(|counts| counts.requested))
                    )
                }
            };
        }
        Edit::Variant(of_def, variant) => {
            def = Some(of_def);
            kind = "variant";
            let of = &program.defs[of_def];
            let values: u64 = of.variants.iter().map(|variant| variant.counts.instances).sum();
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
            taken = of.own.size.saturating_mul(values);
            let name = &of.variants[variant].name;
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
            let of = &program.defs[of_def];
            let is_it = |site: &&Site| matches!(site.shape, Shape::Def(def) if def == of_def);
            number = program.sites.iter().filter(is_it).map(|site| site.counts.slots).sum();
            taken = of.own.size.saturating_mul(number);
            why = "the fields are stored in the order of their declaration".into();
        }
    }
    let location = match (fields.as_slice(), def) {
        ([one], _) => one.clone(),
        (all, Some(def)) if sites.iter().all(|site| program.sites[*site].def == Some(def)) => {
            format!("{} of {}", fields_or_variants(all.len(), kind), program.defs[def].name)
        }
        (all, _) => all.join(", "),
    };
    if let Some(def) = def {
        why += &resized(&program.defs[def].name, old.def(def).size, new.def(def).size);
    }
    let of_def = def.map(|def| program.defs[def].name.clone());
    let at = allocated(blocks, |of| fields.contains(&of.owner))
        .or_else(|| allocated(blocks, |of| of_def.as_ref().is_some_and(|name| of.element == *name)));
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
        at,
        instead_of: Vec::new(),
    }
}

fn fields_or_variants(number: usize, kind: &str) -> String {
    if kind == "variant" { format!("{number} variants") } else { format!("{number} fields") }
}

/// Returns the kind of a change, and the suggested type.
fn changed(program: &Program, site: usize, change: Change) -> (&'static str, String) {
    let of = &program.sites[site];
    let inner = match of.shape {
        Shape::Optional { is_option: true, .. } => without_option(&of.ty),
        _ => &of.ty,
    };
    let is_struct =
        matches!(program.sites[program.without_option(site)].shape, Shape::Def(def) if !program.defs[def].is_enum);
    match change {
        Change::Boxed if is_struct => ("box", format!("Option<Box<{inner}>> (or Sparse<{inner}>)")),
        Change::Boxed => ("box", format!("Option<Box<{inner}>>")),
        Change::BoxedAlways => ("box", format!("Box<{}>", of.ty)),
        Change::Sparse => ("sparse", format!("Sparse<{inner}> (or Option<Box<{inner}>>)")),
        Change::Exact if matches!(of.shape, Shape::Text(_)) => ("exact", "Box<str>".into()),
        Change::Exact => ("exact", format!("Box<[{}]>", arguments(&of.ty))),
        Change::Thin => {
            let how = match of.shape {
                Shape::Sequence(..) => format!("ThinSlice<{}>", arguments(&of.ty)),
                _ => "ThinStr (or Box<str>)".into(),
            };
            ("thin", how)
        }
        Change::Sorted => ("sorted", format!("SortedMap<{}>", arguments(&of.ty))),
    }
}

/// Returns the owner, as in [`Blocks::owner`].
fn owned(program: &Program, site: usize) -> &str {
    &program.sites[site].path
}

/// A key for scalars that change together: whether they get a niche, the struct or enum that stores them inline, and
/// otherwise their site.
type Group = (bool, Option<usize>, SiteId);

/// Suggests narrower integers, and niches for `Option`s of integers that are never zero, together for each struct or
/// enum. Leaves out changes without effect. Applies the changes to the plan.
fn scalars(walk: &Walk<'_, '_>, program: &Program, plan: &mut Plan<'_>) -> Vec<Finding> {
    let schema = &walk.schema;
    let total = plan.sum().bytes;
    // The scalars of one struct or enum are one group; scalars in blocks have a group for each site.
    let mut groups: HashMap<Group, Vec<(SiteId, Layout)>> = HashMap::new();
    for (site, tally) in walk.tallies.iter().enumerate() {
        let Some((range, of)) = tally.range.zip(schema.sites.get(site)) else { continue };
        let Some(integer) = of.integer.filter(|_| of.is_editable && tally.counts.instances >= SOME) else { continue };
        let is_inline = inline_def(walk, site).is_some();
        let key = |is_niche| if is_inline { (is_niche, of.def, 0) } else { (is_niche, None, site) };
        let is_optional = of.edge == Edge::Optional
            && of
                .parent
                .is_some_and(|parent| schema.sites[parent].decoder.holds() == (Holds::Enum { is_option: true }));
        let size = integer.bytes_for(range.low, range.high);
        let free = u128::from(is_optional && !range.has_zero);
        if free == 1 {
            groups.entry(key(true)).or_default().push((site, Layout::scalar(of.size, 1)));
        }
        if size < of.size {
            groups.entry(key(false)).or_default().push((site, Layout { align: size, ..Layout::scalar(size, free) }));
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    // Niches first, since they have no cost.
    groups.sort_by_key(|((is_niche, def, site), _)| (!is_niche, *def, *site));
    let mut found = Vec::new();
    for ((is_niche, def, _), mut group) in groups {
        let most: u64 = group
            .iter()
            .map(|(site, _)| {
                program.sites[in_model(*site)].own.size.saturating_mul(program.sites[in_model(*site)].counts.slots)
            })
            .sum();
        if most <= total / LEAST {
            continue;
        }
        let before = plan.sum().bytes;
        let old: Vec<_> = group.iter().map(|(site, _)| plan.scalars.get(&in_model(*site)).copied()).collect();
        let set = |plan: &mut Plan<'_>, site: SiteId, layout: Option<Layout>| match layout {
            Some(layout) => plan.scalars.insert(in_model(site), layout),
            None => plan.scalars.remove(&in_model(site)),
        };
        for (site, layout) in &group {
            set(plan, *site, Some(*layout));
        }
        let after = plan.sum().bytes;
        let saves = before.saturating_sub(after);
        if saves <= total / LEAST {
            for ((site, _), layout) in group.iter().zip(old) {
                set(plan, *site, layout);
            }
            continue;
        }
        // A scalar whose bytes become padding need not change.
        let mut index = 0;
        group.retain(|(site, layout)| {
            let old = old[index];
            index += 1;
            set(plan, *site, old);
            let is_needed = plan.sum().bytes > after;
            if is_needed {
                set(plan, *site, Some(*layout));
            }
            is_needed
        });
        found.push(describe_scalars(walk, program, plan, &group, is_niche, def, saves));
    }
    found
}

/// Returns the struct or enum that stores a value inline.
fn inline_def(walk: &Walk<'_, '_>, site: SiteId) -> Option<usize> {
    let mut at = site;
    for _ in 0..model::DEEPEST {
        let of = walk.schema.sites.get(at)?;
        match of.edge {
            Edge::Field(..) => return of.def,
            Edge::Optional | Edge::Inner | Edge::Tuple(_) | Edge::Array => at = of.parent?,
            _ => return None,
        }
    }
    None
}

/// Returns the end of a reason: the old and new size of a type, if they differ.
fn resized(name: &str, before: u64, after: u64) -> String {
    if before == after { String::new() } else { format!("; {name} is {before} B, then {after}") }
}

fn describe_scalars(
    walk: &Walk<'_, '_>,
    program: &Program,
    plan: &Plan<'_>,
    group: &[(SiteId, Layout)],
    is_niche: bool,
    def: Option<usize>,
    saves: u64,
) -> Finding {
    let schema = &walk.schema;
    let mut fields = Vec::new();
    let (mut types, mut whys, mut number, mut taken) = (Vec::new(), Vec::new(), 0_u64, 0_u64);
    for (site, layout) in group {
        let of = &schema.sites[*site];
        let of_model = &program.sites[in_model(*site)];
        fields.push(of.path.clone());
        number = number.saturating_add(of_model.counts.instances);
        taken = taken.saturating_add(of.size.saturating_mul(of_model.counts.slots));
        let Some((integer, range)) = of.integer.zip(walk.tallies[*site].range) else { continue };
        let name = integer.name(layout.size);
        types.push(if layout.niche.is_some() { format!("NonZero<{name}>") } else { name });
        whys.push(if is_niche {
            format!("{} is never zero in {} values", of.path, count(of_model.counts.instances))
        } else {
            format!("{} is {} to {}", of.path, range.low, range.high)
        });
    }
    types.dedup();
    whys.truncate(3);
    let location = match (fields.as_slice(), def) {
        ([one], _) => one.clone(),
        (all, Some(def)) => format!("{} fields of {}", all.len(), program.defs[def].name),
        (all, None) => all.join(", "),
    };
    let mut why = whys.join("; ");
    if let Some(def) = def {
        why += &resized(&program.defs[def].name, program.defs[def].own.size, plan.def(def).size);
    }
    let (kind, how, costs) = if is_niche {
        ("niche", format!("Option<{}>", types.join(", ")), "zero cannot be stored")
    } else {
        ("narrow", types.join(", "), "larger values than these do not fit: convert with `try_from`")
    };
    Finding {
        kind: kind.into(),
        location,
        fields,
        count: number,
        bytes: taken,
        saves,
        costs: costs.into(),
        why,
        how,
        exact: plan.is_exact(),
        at: None,
        instead_of: Vec::new(),
    }
}

/// Suggests changes for structs with padding.
fn padding(walk: &Walk<'_, '_>, program: &Program, plan: &Plan<'_>) -> Vec<Finding> {
    let mut slots = vec![0_u64; program.defs.len()];
    for site in &program.sites {
        if let Shape::Def(def) = site.shape {
            slots[def] = slots[def].saturating_add(site.counts.slots);
        }
    }
    let mut found = Vec::new();
    for (number, (def, slots)) in program.defs.iter().zip(slots).enumerate() {
        let [variant] = def.variants.as_slice() else { continue };
        let instances = walk.def_tallies.get(number).map_or(0, |tally| tally.instances);
        if def.is_enum || !def.is_editable || instances < SOME || variant.fields.len() < 2 {
            continue;
        }
        let size = plan.def(number).size;
        let used: u64 = variant.fields.iter().map(|field| plan.layout(field.site).size).sum();
        let Some(unused) = size.checked_sub(used).filter(|unused| *unused > 0) else { continue };
        found.push(Finding {
            kind: "padding".into(),
            location: def.name.clone(),
            fields: vec![def.name.clone()],
            count: instances,
            bytes: size.saturating_mul(slots),
            saves: unused.saturating_mul(slots),
            costs: "several collections, or shifts and masks to read the fields".into(),
            why: format!("{unused} of {size} B are padding"),
            how: "join small fields in one integer, or use one collection for each field (struct of arrays)".into(),
            exact: false,
            at: None,
            instead_of: Vec::new(),
        });
    }
    found
}

/// Suggests changes for collections that are empty but own memory.
fn empty(walk: &Walk<'_, '_>, program: &Program, site: usize, blocks: &[Blocks]) -> Option<Finding> {
    let of = &program.sites[site];
    let holds = walk.schema.sites.get(site - 1)?.decoder.holds();
    let is_it = matches!(holds, Holds::Elements | Holds::Text | Holds::Table);
    let tally = walk.tallies.get(site - 1).filter(|tally| is_it && tally.hollow_bytes > 0)?;
    let location = owned(program, site);
    Some(Finding {
        kind: "empty".into(),
        location: location.into(),
        fields: vec![location.into()],
        count: of.counts.hollow,
        bytes: tally.hollow_bytes,
        saves: tally.hollow_bytes,
        costs: "the first insertion allocates".into(),
        why: format!("{} of {} blocks contain no element", count(of.counts.hollow), count(of.counts.allocations)),
        how: "create it with `new`; when it becomes empty, call shrink_to_fit or mem::take".into(),
        exact: true,
        at: allocated(blocks, |of| of.owner == location),
        instead_of: Vec::new(),
    })
}

/// Suggests an inline text type for texts of at most 24 bytes.
fn short(walk: &Walk<'_, '_>, program: &Program, site: usize, blocks: &[Blocks]) -> Option<Finding> {
    let of = &program.sites[site];
    let tally = walk.tallies.get(site - 1)?;
    let (number, saves) = tally.short;
    if of.ty != "String" || number == 0 {
        return None;
    }
    let location = owned(program, site);
    Some(Finding {
        kind: "short".into(),
        location: location.into(),
        fields: vec![location.into()],
        count: number,
        bytes: of.counts.requested,
        saves,
        costs: "each read tests whether the text is inline".into(),
        why: format!("{} of {} texts have at most {SHORT} bytes", count(number), count(of.counts.allocations)),
        how: "CompactString of the crate compact_str: as large as a String, and stores these texts inline".into(),
        exact: false,
        at: allocated(blocks, |of| of.owner == location),
        instead_of: Vec::new(),
    })
}

/// Suggests sharing for blocks with equal contents.
fn duplicate(walk: &Walk<'_, '_>, program: &Program, site: usize, blocks: &[Blocks]) -> Option<Finding> {
    let of_content = walk.schema.sites.get(site - 1)?;
    if of_content.ty.is_some_and(|ty| walk.schema.has_cell(ty, 0)) {
        return None;
    }
    let contents = walk.tallies.get(site - 1)?.contents.as_ref()?;
    let parent = in_model(of_content.parent?);
    // Each remaining block gets two reference counts.
    let saves = contents.duplicate_bytes.saturating_sub(contents.distinct().saturating_mul(2 * WORD));
    if contents.duplicates == 0 || saves == 0 {
        return None;
    }
    let of = &program.sites[parent];
    let location = owned(program, parent);
    let target = match of.shape {
        Shape::Pointer(..) => of_content.name.to_string(),
        _ => format!("[{}]", of_content.name),
    };
    Some(Finding {
        kind: "duplicate".into(),
        location: location.into(),
        fields: vec![location.into()],
        count: contents.count,
        bytes: contents.bytes,
        saves,
        costs: "a lookup for each new value; shared values cannot be changed".into(),
        why: format!("{} distinct values in {} blocks", count(contents.distinct()), count(contents.count)),
        how: format!("share equal values as Rc<{target}> or Arc<{target}>"),
        exact: false,
        at: allocated(blocks, |of| of.owner == location),
        instead_of: Vec::new(),
    })
}

/// Suggests a slab for values with a block each, and reports the rounding of other small blocks. Assumes glibc's
/// rounding.
fn one_by_one(walk: &Walk<'_, '_>, program: &Program, site: usize, blocks: &[Blocks], total: u64) -> Option<Finding> {
    let tally = walk.tallies.get(site - 1)?;
    let counts = &tally.counts;
    let is_box = walk.schema.sites.get(site - 1)?.decoder.holds() == Holds::Box;
    // Many boxes of one type justify a slab; for other blocks the rounding must be considerable.
    let is_worth = if is_box { counts.allocations >= MANY } else { tally.rounding > total / 20 };
    if !is_worth || tally.rounding == 0 {
        return None;
    }
    let location = owned(program, site);
    let why = format!(
        "{} blocks of {} B on average; an allocator such as glibc's adds {} B to each",
        count(counts.allocations),
        count(counts.requested / counts.allocations.max(1)),
        count(tally.rounding / counts.allocations.max(1))
    );
    let inner = arguments(&program.sites[site].ty);
    let (kind, how, costs) = if is_box {
        (
            "slab",
            format!("dwell::slab! of {inner}, or Vec<{inner}> without boxes"),
            "a slab keeps its memory for later values",
        )
    } else {
        (
            "rounding",
            "store them in one buffer with ranges, or allocate them in a dwell::Bump".into(),
            "all of them are freed together",
        )
    };
    Some(Finding {
        kind: kind.into(),
        location: location.into(),
        fields: vec![location.into()],
        count: counts.allocations,
        bytes: counts.requested,
        saves: tally.rounding,
        costs: costs.into(),
        why,
        how,
        exact: false,
        at: allocated(blocks, |of| of.owner == location),
        instead_of: Vec::new(),
    })
}

/// Suggests shrinking collections with unused capacity.
fn shrink(walk: &Walk<'_, '_>, program: &Program, site: usize, blocks: &[Blocks]) -> Option<Finding> {
    let of = &program.sites[site];
    let counts = &of.counts;
    let holds = walk.schema.sites.get(site - 1)?.decoder.holds();
    // Empty collections have a finding of their own.
    let hollow = walk.tallies.get(site - 1)?.hollow_bytes;
    let saves = match holds {
        Holds::Elements | Holds::Text => counts.waste.saturating_sub(hollow),
        // A hash table always has empty buckets.
        Holds::Table => {
            let tables = counts.allocations.saturating_sub(counts.hollow).max(1);
            let buckets =
                dwell::model::table::buckets_for(usize::try_from(counts.used / tables).unwrap_or(usize::MAX)) as u64;
            let now = counts.element_slots / counts.allocations.max(1);
            let requested = counts.requested.saturating_sub(hollow);
            requested.saturating_sub(requested.saturating_mul(buckets) / now.max(1))
        }
        _ => 0,
    };
    if saves == 0 {
        return None;
    }
    let location = owned(program, site);
    Some(Finding {
        kind: "shrink".into(),
        location: location.into(),
        fields: vec![location.into()],
        count: counts.allocations,
        bytes: counts.requested,
        saves,
        costs: "the next insertion allocates".into(),
        why: format!("{} of {} slots in use", count(counts.used), count(counts.element_slots)),
        how: "shrink_to_fit, or with_capacity for the needed length".into(),
        exact: false,
        at: allocated(blocks, |of| of.owner == location),
        instead_of: Vec::new(),
    })
}

/// Suggests interning for repeated texts.
fn intern(
    walk: &Walk<'_, '_>,
    program: &Program,
    site: usize,
    change: Option<Change>,
    blocks: &[Blocks],
) -> Option<Finding> {
    let tally: &Tally = walk.tallies.get(site - 1)?;
    let texts = tally.texts.as_ref()?;
    let duplicates = texts.duplicates;
    if duplicates == 0 {
        return None;
    }
    // The duplicates' unused capacity is saved too, unless another finding saves it.
    let waste = if change.is_some() { 0 } else { tally.counts.waste };
    let of_duplicates = u128::from(waste) * u128::from(duplicates) / u128::from(texts.count.max(1));
    let saves = texts.duplicate_bytes.saturating_add(u64::try_from(of_duplicates).unwrap_or(0));
    let location = owned(program, site);
    Some(Finding {
        kind: "intern".into(),
        location: location.into(),
        fields: vec![location.into()],
        count: texts.count,
        bytes: tally.counts.requested,
        saves,
        costs: "a lookup for each new text; shared texts cannot be changed".into(),
        why: format!("{} distinct texts in {}", count(texts.distinct()), count(texts.count)),
        how: "intern, or share as Rc<str> or Arc<str>".into(),
        exact: false,
        at: allocated(blocks, |of| of.owner == location),
        instead_of: Vec::new(),
    })
}

/// Suggests `Box` for `Rc`s and `Arc`s with one owner.
fn unshared(walk: &Walk<'_, '_>, program: &Program, site: usize, blocks: &[Blocks]) -> Option<Finding> {
    let tally = walk.tallies.get(site - 1)?;
    let of = &program.sites[site];
    let all = tally.counts.allocations;
    if tally.unshared == 0 || tally.unshared < all || !(of.ty.starts_with("Rc<") || of.ty.starts_with("Arc<")) {
        return None;
    }
    let location = owned(program, site);
    Some(Finding {
        kind: "unshared".into(),
        location: location.into(),
        fields: vec![location.into()],
        count: all,
        bytes: tally.counts.requested,
        saves: all.saturating_mul(2 * WORD),
        costs: "it can no longer be shared".into(),
        why: format!("none of {} is shared at the moment of the snapshot", count(all)),
        how: format!("Box<{}>", arguments(&of.ty)),
        exact: false,
        at: allocated(blocks, |of| of.owner == location),
        instead_of: Vec::new(),
    })
}

/// Suggests inline storage for small trait objects.
fn inline(walk: &Walk<'_, '_>, blocks: &[Blocks]) -> Vec<Finding> {
    let mut by_site: HashMap<SiteId, Vec<(u64, u64, u64)>> = HashMap::new();
    for holding in &walk.holdings {
        if let (Owner::Site(site), Some(_)) = (&holding.owner, holding.concrete)
            && walk.schema.sites[*site].decoder.holds() == Holds::Dyn
        {
            by_site.entry(*site).or_default().push((holding.element_size, holding.blocks, holding.bytes));
        }
    }
    let mut found = Vec::new();
    for (site, sizes) in by_site {
        let of = &walk.schema.sites[site];
        let instances = walk.tallies.get(site).map_or(0, |tally| tally.counts.instances);
        let all: u64 = sizes.iter().map(|size| size.1).sum();
        let caught = |words: u64| sizes.iter().filter(move |size| size.0 <= words * WORD);
        // The fewest words that hold nine tenths of the values.
        let Some(words) =
            INLINE.into_iter().find(|words| caught(*words).map(|size| size.1).sum::<u64>() * 10 >= all * 9)
        else {
            continue;
        };
        let freed: u64 = caught(words).map(|size| size.2).sum();
        let number: u64 = caught(words).map(|size| size.1).sum();
        let more = instances.saturating_mul((words - 1) * WORD);
        found.push(Finding {
            kind: "inline".into(),
            location: of.path.clone(),
            fields: vec![of.path.clone()],
            count: number,
            bytes: sizes.iter().map(|size| size.2).sum(),
            saves: freed.saturating_sub(more),
            costs: format!("each takes {} B inline", (words + 1) * WORD),
            why: format!("{} of {} have at most {} B and would need no block", count(number), count(all), words * WORD),
            how: format!("SmallBox<{}, {words}>", arguments(&of.name)),
            exact: false,
            at: allocated(blocks, |row| row.owner == of.path),
            instead_of: Vec::new(),
        });
    }
    found.sort_by(|a, b| (b.count, &a.location).cmp(&(a.count, &b.location)));
    found
}

/// Finds futures that are suspended in states that hold much less than their size.
fn futures(walk: &Walk<'_, '_>) -> Vec<Finding> {
    let schema = &walk.schema;
    let mut found = Vec::new();
    for (def, tally) in schema.defs.iter().zip(&walk.def_tallies) {
        if !def.is_coroutine || tally.instances < 2 {
            continue;
        }
        let size = schema.get(def.ty).size;
        let needed = |variant: usize| {
            let fields = def.variants.get(variant).map_or(&[][..], |variant| &variant.fields);
            fields.iter().map(|field| field.at.saturating_add(schema.sites[field.site].size)).max().unwrap_or(0)
        };
        let idle: u64 = tally
            .variants
            .iter()
            .enumerate()
            .map(|(variant, values)| values.saturating_mul(size.saturating_sub(needed(variant))))
            .sum();
        let Some((most, values)) = tally.variants.iter().enumerate().max_by_key(|(_, values)| **values) else {
            continue;
        };
        let largest = (0..def.variants.len()).max_by_key(|variant| needed(*variant)).unwrap_or(0);
        found.push(Finding {
            kind: "future".into(),
            location: def.name.to_string(),
            fields: Vec::new(),
            count: tally.instances,
            bytes: size.saturating_mul(tally.instances),
            saves: idle,
            costs: "a block for each future that reaches this state".into(),
            why: format!(
                "{} of {} are in {}, which needs {} of {} B",
                count(*values),
                count(tally.instances),
                def.variants[most].name,
                count(needed(most)),
                count(size)
            ),
            how: format!("box the values that {} holds, or drop them before the `.await`", def.variants[largest].name),
            exact: false,
            at: schema.get(def.ty).source.as_ref().map(|source| format!("{}:{}", source.file, source.line)),
            instead_of: Vec::new(),
        });
    }
    found
}
