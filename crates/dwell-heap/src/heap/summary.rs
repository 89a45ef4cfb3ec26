//! Summarises a walk: rows by owner and type, with call sites.

use super::rows::{Age, Bin, Blocks, CallSite, Enum, Field, Histogram, Sharer, Stack, Strings, Variant};
use super::walk::{Holding, Holds, Origin, Owner, Range, Schema, SiteId, Tally, Walk, owners};
use crate::capture::Snapshot;
use crate::debuginfo::Frames;
use std::collections::{BTreeMap, HashMap};

/// The maximum number of call sites listed for an owner.
const SITES: usize = 8;

pub(crate) fn sizes(snapshot: &Snapshot) -> Vec<Bin> {
    let mut sizes = Histogram::default();
    for block in &snapshot.blocks {
        sizes.add(block.size, u64::from(block.weight));
    }
    sizes.bins()
}

/// Returns the name and kind of the owner of blocks.
pub(super) fn owner(walk: &Walk<'_, '_>, holding: &Holding) -> (String, &'static str) {
    let schema = &walk.schema;
    match holding.owner {
        Owner::Copy(original) => owner(walk, &walk.counted.holdings[original as usize]),
        Owner::Site(site) if schema.sites[site].path.starts_with("(static ") => {
            (schema.sites[site].path.clone(), "static")
        }
        Owner::Site(site) if schema.sites[site].path.starts_with("(local ") => {
            (schema.sites[site].path.clone(), "local")
        }
        Owner::Site(site) if schema.sites[site].path.starts_with("(thread-local ") => {
            (schema.sites[site].path.clone(), "thread-local")
        }
        Owner::Site(site) => (schema.sites[site].path.clone(), "field"),
        Owner::Weak(site) => (schema.sites[site].path.clone(), "weak"),
        Owner::Stack => ("(stack)".into(), "stack"),
        Owner::Task => ("(task)".into(), "task"),
        Owner::Unowned => ("(cycle)".into(), "cycle"),
        Owner::Leaked => ("(leaked)".into(), "leak"),
        Owner::Untyped(function) => (walk.allocator(function), "unknown"),
    }
}

pub(crate) fn blocks(walk: &Walk<'_, '_>, snapshot: &Snapshot, origins: &[Origin]) -> Vec<Blocks> {
    // Rows are grouped by owner, content and element, because several sites can have the same text.
    let mut index: HashMap<(String, String, String, &'static str), usize> = HashMap::new();
    let mut all: Vec<Blocks> = Vec::new();
    let mut row_of = Vec::with_capacity(walk.counted.holdings.len());
    let mut lengths: Vec<Histogram> = Vec::new();
    for holding in &walk.counted.holdings {
        let (owner, by) = owner(walk, holding);
        let element = holding.element.to_string();
        let row = *index.entry((owner.clone(), holding.content.clone(), element.clone(), by)).or_insert(all.len());
        if row == all.len() {
            all.push(Blocks {
                owner,
                by: by.into(),
                content: holding.content.clone(),
                element,
                element_size: holding.element_size,
                len: Some(0),
                ..Blocks::default()
            });
            lengths.push(Histogram::default());
        }
        lengths[row].merge(&holding.lengths);
        let entry = &mut all[row];
        entry.blocks = entry.blocks.saturating_add(holding.blocks);
        entry.bytes = entry.bytes.saturating_add(holding.bytes);
        entry.len = entry.len.filter(|_| holding.unknown == 0).map(|len| len.saturating_add(holding.len));
        entry.capacity = entry.capacity.saturating_add(holding.capacity);
        entry.unused_bytes = entry.unused_bytes.saturating_add(holding.unused);
        row_of.push(row);
    }
    let mut by_stack: foldhash::HashMap<(usize, u32), (u64, u64)> = foldhash::HashMap::default();
    for (number, block) in snapshot.blocks.iter().enumerate() {
        let Some(&row) = row_of.get(walk.holding(number) as usize) else { continue };
        if walk.is_leaked(number) {
            let bytes = block.size.saturating_mul(u64::from(block.weight));
            all[row].leaked_bytes = all[row].leaked_bytes.saturating_add(bytes);
        }
        let sum = by_stack.entry((row, block.stack)).or_default();
        sum.0 += u64::from(block.weight);
        sum.1 = sum.1.saturating_add(block.size.saturating_mul(u64::from(block.weight)));
    }
    for ((row, since), bytes) in by_age(walk, snapshot, &row_of) {
        if let Some(since) =
            walk.history.moments.get(since as usize).filter(|_| since as usize + 1 < walk.history.moments.len())
        {
            all[row].ages.push(Age { since: since.clone(), bytes });
        }
    }
    let mut unused: HashMap<(usize, u32), u64> = HashMap::new();
    for (&(holding, stack), bytes) in &walk.counted.unused {
        let Some(&row) = row_of.get(holding as usize) else { continue };
        let sum = unused.entry((row, stack)).or_default();
        *sum = sum.saturating_add(*bytes);
    }
    let mut sites: BTreeMap<(usize, Option<&str>, &str), CallSite> = BTreeMap::new();
    for ((row, stack), (blocks, bytes)) in by_stack {
        let Some(origin) = origins.get(stack as usize) else { continue };
        let call_site = sites.entry((row, origin.at.as_deref(), &origin.function)).or_insert_with(|| CallSite {
            at: origin.at.clone(),
            function: origin.function.clone(),
            ..CallSite::default()
        });
        call_site.blocks += blocks;
        call_site.bytes = call_site.bytes.saturating_add(bytes);
        call_site.unused_bytes = call_site.unused_bytes.saturating_add(unused.get(&(row, stack)).copied().unwrap_or(0));
    }
    for ((row, ..), site) in sites {
        all[row].sites.push(site);
    }
    share(walk, &row_of, &mut all);
    for (row, lengths) in all.iter_mut().zip(lengths) {
        row.lengths = lengths.bins();
        // All are single values.
        if row.lengths.iter().all(|bin| bin.to == 1 && bin.from == 1) {
            row.lengths.clear();
        }
        row.sites.sort_by_key(|site| std::cmp::Reverse(site.bytes));
        row.sites.truncate(SITES);
    }
    all.sort_by(|a, b| (b.bytes, &a.owner, &a.content, &a.element).cmp(&(a.bytes, &b.owner, &b.content, &b.element)));
    all
}

/// Returns the bytes of each row by the number of the snapshot since which they live.
fn by_age(walk: &Walk<'_, '_>, snapshot: &Snapshot, row_of: &[usize]) -> BTreeMap<(usize, u32), u64> {
    let mut sums: BTreeMap<(usize, u32), u64> = BTreeMap::new();
    for (number, (block, since)) in snapshot.blocks.iter().zip(walk.history.ages).enumerate() {
        if let Some(&row) = row_of.get(walk.holding(number) as usize) {
            let sum = sums.entry((row, *since)).or_default();
            *sum = sum.saturating_add(block.size.saturating_mul(u64::from(block.weight)));
        }
    }
    sums
}

/// Adds the holders of `Rc`s and `Arc`s to the rows of their blocks.
fn share(walk: &Walk<'_, '_>, row_of: &[usize], rows: &mut [Blocks]) {
    let holders = walk.holders();
    // References of each row by site; those that were not found have no site.
    let mut counts: HashMap<(usize, Option<SiteId>), u64> = HashMap::new();
    for block in (0..holders.blocks()).filter(|block| holders.strong(*block) > 0) {
        let Some(&row) = row_of.get(walk.holding(block) as usize) else { continue };
        let mut missing = u64::from(holders.strong(block));
        for hold in holders.pointers_to(block) {
            missing = missing.saturating_sub(1);
            *counts.entry((row, Some(hold.site as SiteId))).or_default() += 1;
        }
        if missing > 0 {
            let sum = counts.entry((row, None)).or_default();
            *sum = sum.saturating_add(missing);
        }
    }
    let mut by_owner: BTreeMap<(usize, &str), u64> = BTreeMap::new();
    for ((row, site), count) in counts {
        let owner = site.and_then(|site| walk.schema.sites.get(site)).map_or("(elsewhere)", |site| &site.path);
        *by_owner.entry((row, owner)).or_default() += count;
    }
    for ((row, owner), references) in by_owner {
        rows[row].shared_by.push(Sharer { owner: owner.to_owned(), references });
    }
    for row in rows {
        if let [one] = &row.shared_by[..]
            && one.owner == row.owner
        {
            row.shared_by.clear();
        }
        row.shared_by.sort_by(|a, b| (b.references, &a.owner).cmp(&(a.references, &b.owner)));
    }
}

/// Returns the site of an enum, also inside a cell or lock.
fn enum_site(schema: &Schema<'_>, site: SiteId) -> Option<SiteId> {
    let decoder = &schema.sites[site].decoder;
    match decoder.holds() {
        Holds::Enum { .. } => Some(site),
        Holds::Def(def) if schema.defs[def].is_enum => Some(site),
        Holds::Wrapper => {
            let mut found = decoder.parts().iter().filter_map(|part| enum_site(schema, part.site));
            found.next().filter(|_| found.next().is_none())
        }
        _ => None,
    }
}

fn variant_names(schema: &Schema<'_>, site: SiteId) -> Vec<String> {
    let decoder = &schema.sites[site].decoder;
    match decoder.holds() {
        Holds::Def(def) => schema.defs[def].variants.iter().map(|variant| variant.name.to_string()).collect(),
        _ => decoder.variants().iter().map(|variant| variant.name.to_string()).collect(),
    }
}

fn variants(names: Vec<String>, counts: &[u64]) -> Vec<Variant> {
    let counts = counts.iter().copied().chain(std::iter::repeat(0));
    names.into_iter().zip(counts).map(|(name, count)| Variant { name, count }).collect()
}

fn tally<'w>(walk: &'w Walk<'_, '_>, site: SiteId) -> Option<&'w Tally> {
    walk.counted.tallies.get(site)
}

pub(crate) fn fields(walk: &Walk<'_, '_>) -> Vec<Field> {
    let schema = &walk.schema;
    let mut all = Vec::new();
    for def in schema.defs.iter().filter(|def| def.is_ready) {
        for variant in &def.variants {
            let is_variant = def.is_enum && !def.is_coroutine;
            let owner = if is_variant { format!("{}::{}", def.name, variant.name) } else { def.name.to_string() };
            for field in &variant.fields {
                let Some(of_field) = tally(walk, field.site).filter(|tally| tally.counts.instances > 0) else {
                    continue;
                };
                let site = &schema.sites[field.site];
                let variants = enum_site(schema, field.site).map_or_else(Vec::new, |inner| {
                    let counts = tally(walk, inner).map_or(&[][..], |tally| &tally.variants);
                    variants(variant_names(schema, inner), counts)
                });
                // An integer in an `Option` too.
                let some = schema.sites[field.site].decoder.variants().iter().flat_map(|variant| &variant.parts).next();
                let range = of_field.range.or_else(|| tally(walk, some?.site)?.range);
                all.push(Field {
                    owner: owner.clone(),
                    field: field.name.to_string(),
                    field_type: site.name.to_string(),
                    size: site.size,
                    instances: of_field.counts.instances,
                    filled: of_field.counts.filled,
                    variants,
                    bits: range.map(Range::bits),
                    has_zero: range.is_some_and(|range| range.has_zero),
                });
            }
        }
    }
    all.sort_by_key(|field| std::cmp::Reverse(field.size.saturating_mul(field.instances)));
    all
}

pub(crate) fn enums(walk: &Walk<'_, '_>) -> Vec<Enum> {
    #[derive(Default)]
    struct Sum {
        instances: u64,
        names: Vec<String>,
        counts: Vec<u64>,
    }
    let schema = &walk.schema;
    let mut all = Vec::new();
    for (def, definition) in schema.defs.iter().enumerate().filter(|(_, def)| def.is_enum && def.is_ready) {
        let Some(tally) = walk.counted.def_tallies.get(def).filter(|tally| tally.instances > 0) else { continue };
        let names = definition.variants.iter().map(|variant| variant.name.to_string()).collect();
        all.push(Enum {
            name: definition.name.to_string(),
            size: schema.get(definition.ty).size,
            instances: tally.instances,
            variants: variants(names, &tally.variants),
        });
    }
    // Enums of std are grouped by type.
    let mut by_type: BTreeMap<(String, u64), Sum> = BTreeMap::new();
    for (site, field) in schema.sites.iter().enumerate() {
        if !matches!(field.decoder.holds(), Holds::Enum { .. }) {
            continue;
        }
        let Some(tally) = tally(walk, site).filter(|tally| !tally.variants.is_empty()) else { continue };
        let sum = by_type.entry((field.name.to_string(), field.size)).or_default();
        sum.instances = sum.instances.saturating_add(tally.counts.instances);
        sum.names = variant_names(schema, site);
        sum.counts.resize(tally.variants.len().max(sum.counts.len()), 0);
        for (sum, more) in sum.counts.iter_mut().zip(&tally.variants) {
            *sum = sum.saturating_add(*more);
        }
    }
    for ((name, size), Sum { instances, names, counts }) in by_type {
        all.push(Enum { name, size, instances, variants: variants(names, &counts) });
    }
    all.sort_by_key(|row| std::cmp::Reverse(row.size.saturating_mul(row.instances)));
    all
}

pub(crate) fn strings(walk: &Walk<'_, '_>) -> Vec<Strings> {
    let mut by_owner: BTreeMap<&str, Strings> = BTreeMap::new();
    for (tally, site) in walk.counted.tallies.iter().zip(&walk.schema.sites) {
        let Some(texts) = &tally.texts else { continue };
        let sum = by_owner.entry(&site.path).or_default();
        sum.owner.clone_from(&site.path);
        sum.count += texts.count;
        sum.bytes += texts.bytes;
        sum.distinct += texts.distinct();
        sum.duplicate_bytes += texts.duplicate_bytes;
    }
    let mut all: Vec<Strings> = by_owner.into_values().collect();
    all.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    all
}

/// Returns the functions of all stacks that allocated live blocks, and the stacks as indices of these.
pub(crate) fn stacks(snapshot: &Snapshot, frames: &Frames) -> (Vec<String>, Vec<Stack>) {
    let mut sums: Vec<(u64, u64)> = vec![(0, 0); snapshot.stacks.len()];
    for block in &snapshot.blocks {
        if let Some(sum) = sums.get_mut(block.stack as usize) {
            sum.0 += u64::from(block.weight);
            sum.1 = sum.1.saturating_add(block.size.saturating_mul(u64::from(block.weight)));
        }
    }
    let mut names: Vec<String> = Vec::new();
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut all = Vec::new();
    for (stack, (blocks, bytes)) in snapshot.stacks.iter().zip(sums) {
        if blocks == 0 {
            continue;
        }
        let of_stack = owners::functions(snapshot, frames, stack).into_iter().map(|frame| {
            let name = match frame {
                Ok(frame) => match &frame.source {
                    Some(source) => {
                        format!(
                            "{} ({}:{})",
                            owners::shown_function(frame),
                            owners::short_file(&source.file),
                            source.line
                        )
                    }
                    None => owners::shown_function(frame),
                },
                Err(name) => name,
            };
            let next = u32::try_from(names.len()).unwrap_or(u32::MAX);
            *known.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                next
            })
        });
        all.push(Stack { frames: of_stack.collect(), blocks, bytes });
    }
    all.sort_by_key(|stack| std::cmp::Reverse(stack.bytes));
    (names, all)
}
