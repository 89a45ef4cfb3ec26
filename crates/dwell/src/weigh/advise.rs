//! The search for suggestions: the types to change and the bytes that each change saves.
#![forbid(unsafe_code)]

use super::patch;
use super::program::{Built, build};
use super::suggestion::{Advice, Hint, Suggestion, SuggestionKind};
use super::texts::Texts;
use super::tree::Tree;
use super::types::Kind;
use crate::weigh::malloc::Model;
use crate::weigh::sorted::sorted;
use dwell_model::search::{Edit, LEAST, Step, Types, search};
use dwell_model::{Change, Counts, DefId, Edge, Holder, Plan, Program, Shape, SiteId, blocks, table};
use std_alloc::format;
use std_alloc::string::{String, ToString};
use std_alloc::vec;
use std_alloc::vec::Vec;

const WORD: u64 = size_of::<usize>() as u64;
/// The largest size, in bytes, of boxed values for which a `SmallBox` is suggested.
const SMALL: u64 = 4 * WORD;
/// The bytes of a cache line.
const LINE: u64 = 64;
/// The most bytes by which a type near a limit exceeds it: a `Vec` and a counter.
const NEAR: u64 = 4 * WORD;

impl Tree {
    /// Suggests changes that make the value smaller, each with its saving and its costs.
    ///
    /// Suggestions are predicted in order: each saving assumes the suggestions before it. Fields of one type in the
    /// same struct are one suggestion, and so are fields and variants of an enum that save nothing separately. The
    /// result omits savings of less than a thousandth and types of other crates. Suggestions whose effect depends on
    /// more than the counts are estimates and come last.
    ///
    /// ```
    /// # #[cfg(feature = "derive")] {
    /// use dwell::Weigh;
    /// use dwell::weigh::{SuggestionKind, tree};
    ///
    /// #[derive(Default, Weigh)]
    /// struct Page {
    ///     title: Box<str>,
    ///     author: Option<[u64; 20]>,
    /// }
    ///
    /// let pages: Vec<Page> = (0..10).map(|_| Page::default()).collect();
    /// let advice = tree(&pages).advise();
    /// assert_eq!(advice.suggestions[0].path, "Page.author");
    /// assert_eq!(advice.suggestions[0].kind, SuggestionKind::Box);
    /// assert_eq!(advice.suggestions[0].type_size, [184, 24]);
    /// assert_eq!(advice.suggestions[0].saves, 10 * (168 - 8));
    /// # }
    /// ```
    pub fn advise(&self) -> Advice {
        self.advise_with(Types::Dwell)
    }

    /// Suggests changes as [`advise`](Self::advise) does, without `Sparse`, `ThinStr`, `ThinSlice` and `SortedMap`.
    pub fn advise_std(&self) -> Advice {
        self.advise_with(Types::Std)
    }

    fn advise_with(&self, types: Types) -> Advice {
        let built = build(self);
        let program = &built.program;
        let mut plan = Plan::new(program);
        let before = plan.sum();
        let steps = search(program, types);
        let mut suggestions = Vec::new();
        for step in &steps {
            let old = plan.clone();
            plan.apply_all(&step.edits);
            suggestions.push(describe(program, step, &old, &plan));
        }
        let after = steps.last().map_or(before, |step| step.after);
        let texts = self.texts_by_site(&built);
        let least = before.bytes / LEAST;
        let estimates: Vec<Suggestion> = (0..program.sites.len())
            .filter_map(|site| match plan.change(site) {
                None => shrink(program, site)
                    .or_else(|| inline(&built, site))
                    .or_else(|| intern(program, site, texts[site].as_ref()?, &plan)),
                Some(Change::Exact | Change::Thin) => intern(program, site, texts[site].as_ref()?, &plan),
                Some(_) => None,
            })
            .filter(|estimate| estimate.saves > least || estimate.kind == SuggestionKind::Inline)
            .collect();
        suggestions.extend(sorted(estimates, &|a, b| b.saves.cmp(&a.saves)));
        Advice { suggestions, hints: hints(program, &plan), before: before.bytes, after: after.bytes }
    }

    fn texts_by_site(&self, built: &Built) -> Vec<Option<Texts>> {
        let mut found = vec![None; built.program.sites.len()];
        for (counter, site) in self.counters.iter().zip(&built.site_of) {
            if let (Some(texts), Some(site)) = (&counter.texts, site) {
                found[*site].get_or_insert_with(Texts::default).merge(texts);
            }
        }
        found
    }
}

fn describe(program: &Program, step: &Step, old: &Plan<'_>, new: &Plan<'_>) -> Suggestion {
    let saves = step.before.bytes.saturating_sub(step.after.bytes);
    let allocations = signed(step.after.allocations, step.before.allocations);
    let mut counts = Counts::default();
    let mut paths = Vec::new();
    for edit in &step.edits {
        let (of, path) = match *edit {
            Edit::Site(site, _) => (program.sites[site].counts, program.sites[site].path.clone()),
            Edit::Variant(def, variant) => {
                let def = &program.defs[def];
                (def.variants[variant].counts, format!("{}::{}", def.name, def.variants[variant].name))
            }
            Edit::Reorder(def) => (Counts::default(), program.defs[def].name.clone()),
        };
        counts.add(&of);
        paths.push(path);
    }
    let first = step.edits[0];
    let (kind, from, to, uses) = match first {
        Edit::Site(site, change) => {
            let kind = match change {
                Change::Boxed | Change::BoxedAlways => SuggestionKind::Box,
                Change::Sparse => SuggestionKind::Sparse,
                Change::Exact => SuggestionKind::Exact,
                Change::Thin => SuggestionKind::Thin,
                Change::Sorted => SuggestionKind::Sorted,
            };
            let (from, to) = patch::types(program, old, &step.edits, site, change);
            (kind, from, to, patch::call_sites(program, new, &step.edits, site, change))
        }
        Edit::Variant(def, variant) => {
            let from = format!("{} B inline", old.variant_size(def, variant));
            let uses = "to create a value: `Box::new(..)` around the fields; to match: one dereference".into();
            (SuggestionKind::Variant, from, "Box<_>".into(), uses)
        }
        Edit::Reorder(def) => {
            counts.slots = values_of(program, def);
            counts.filled = counts.slots;
            (SuggestionKind::Reorder, "repr(C)".into(), "repr(Rust)".into(), "nothing".into())
        }
    };
    let def_of = |edit: Edit| match edit {
        Edit::Site(site, _) => match program.sites[site].edge {
            Edge::Field(..) => program.sites[site].def,
            _ => None,
        },
        Edit::Variant(def, _) | Edit::Reorder(def) => Some(def),
    };
    let (type_name, type_size) = match (def_of(first), first) {
        (Some(def), _) => (program.defs[def].name.clone(), [old.def(def).size, new.def(def).size]),
        (None, Edit::Site(site, _)) => (program.sites[site].ty.clone(), [old.layout(site).size, new.layout(site).size]),
        (None, _) => (String::new(), [0, 0]),
    };
    let what = match (paths.len(), first) {
        (1, _) => paths[0].clone(),
        (many, Edit::Variant(def, _)) => format!("{many} variants of {}", program.defs[def].name),
        (many, Edit::Site(site, _)) => match program.sites[site].def {
            Some(def) => {
                let same = same_name(program, &step.edits);
                let fields = if matches!(program.sites[site].edge, Edge::Field(..)) { "fields" } else { "parts" };
                let what = same.map_or_else(|| format!("{many} {fields}"), |name| format!("{name} in {many} variants"));
                let boxed = step.edits.iter().filter(|edit| matches!(edit, Edit::Variant(..))).count();
                let (what, boxed) = match boxed {
                    0 => (what, String::new()),
                    boxed => (
                        what.replacen(&many.to_string(), &(many - boxed).to_string(), 1),
                        format!(", {boxed} of them in a box"),
                    ),
                };
                format!("{what} of {}{boxed}", dwell_model::search::without_arguments(&program.defs[def].name))
            }
            None => format!("{many} parts"),
        },
        (many, Edit::Reorder(_)) => format!("{many} types"),
    };
    let mut suggestion = Suggestion {
        path: what,
        paths,
        from,
        to,
        kind,
        filled: counts.filled,
        slots: counts.slots,
        type_name,
        type_size,
        saves,
        total: step.after.bytes,
        allocations,
        cost: first.cost(),
        is_exact: step.is_exact,
        patch: String::new(),
    };
    suggestion.patch = patch::text(program, step, old, new, &suggestion, &uses);
    suggestion
}

/// Returns the name of the edited fields if all of them are fields of one name in variants of an enum.
fn same_name(program: &Program, edits: &[Edit]) -> Option<String> {
    let name = |edit: &Edit| match *edit {
        Edit::Site(site, _) => match (program.sites[site].edge, program.sites[site].def) {
            (Edge::Field(variant, field), Some(def)) if program.defs[def].is_enum => {
                let name = &program.defs[def].variants[variant].fields[field].name;
                Some(name.clone()).filter(|name| !name.starts_with(|c: char| c.is_ascii_digit()))
            }
            _ => None,
        },
        _ => None,
    };
    let first = name(edits.first()?)?;
    let mut fields = edits.iter().filter(|edit| matches!(edit, Edit::Site(..)));
    fields.all(|edit| name(edit).as_ref() == Some(&first)).then_some(first)
}

fn values_of(program: &Program, def: DefId) -> u64 {
    let is_it = |site: &&dwell_model::Site| site.shape == Shape::Def(def);
    program.sites.iter().filter(is_it).fold(0, |sum, site| sum.saturating_add(site.counts.instances))
}

fn signed(after: u64, before: u64) -> i64 {
    let change = i128::from(after) - i128::from(before);
    i64::try_from(change).unwrap_or(if change < 0 { i64::MIN } else { i64::MAX })
}

/// Creates a suggestion with an estimated saving.
fn estimate(
    program: &Program,
    site: SiteId,
    kind: SuggestionKind,
    to: &str,
    saves: u64,
    allocations: i64,
    cost: &'static str,
) -> Suggestion {
    let field = &program.sites[site];
    let bytes = field.own.size;
    let after = match kind {
        SuggestionKind::Intern => 2 * WORD,
        _ => bytes,
    };
    Suggestion {
        path: field.path.clone(),
        paths: Vec::from([field.path.clone()]),
        from: field.ty.clone(),
        to: to.into(),
        kind,
        filled: field.counts.filled,
        slots: field.counts.slots,
        type_name: field.ty.clone(),
        type_size: [bytes, after],
        saves,
        total: 0,
        allocations,
        cost,
        is_exact: false,
        patch: format!("// {}: {} -> {to}; saves about {saves} B\n", field.path, field.ty),
    }
}

/// Suggests to shrink a map or vector with more vacant than occupied slots.
fn shrink(program: &Program, site: SiteId) -> Option<Suggestion> {
    let field = &program.sites[site];
    let counts = &field.counts;
    let saves = match field.shape {
        Shape::Map(Holder::Growable, key, value) => {
            let entry = blocks::entry(program.sites[key].own, program.sites[value].own);
            // The estimate assumes that all maps have the mean length.
            let maps = counts.allocations.max(1);
            let word = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            let buckets = table::buckets_for(word(counts.used / maps));
            let (bytes, _) = table::layout(buckets, word(entry.size), word(entry.align));
            counts.requested.saturating_sub(maps.saturating_mul(bytes as u64))
        }
        Shape::Sequence(Holder::Growable | Holder::LikeGrowable, _) => counts.waste,
        _ => return None,
    };
    let cost = "time, once; the next insertion allocates";
    (saves > counts.requested / 2)
        .then(|| estimate(program, site, SuggestionKind::Shrink, "shrink_to_fit()", saves, 0, cost))
}

/// Suggests to store equal strings once, behind an `Arc<str>`, which has the size of a `Box<str>`.
fn intern(program: &Program, site: SiteId, texts: &Texts, plan: &Plan<'_>) -> Option<Suggestion> {
    let field = &program.sites[site];
    let counts = &field.counts;
    if !field.is_editable {
        return None;
    }
    let change = plan.change(site);
    let spare = if change.is_some() { counts.waste } else { 0 };
    let header = if change == Some(Change::Thin) { counts.allocations } else { 0 };
    let inline = plan.layout(site).size;
    let now = counts.requested.saturating_sub(spare).saturating_add(header);
    let now = now.saturating_add(inline.saturating_mul(counts.slots));
    // Two reference counts precede each string, and rounding up to a word adds half a word on average.
    let each = 2 * WORD + WORD / 2;
    let then = texts.bytes().saturating_add(each.saturating_mul(texts.distinct()));
    let then = then.saturating_add((2 * WORD).saturating_mul(counts.slots));
    let blocks = i64::try_from(texts.distinct()).ok()?.checked_sub(i64::try_from(counts.allocations).ok()?)?;
    let cost = "a lookup for each new string; shared strings cannot be modified";
    (texts.distinct() < counts.filled / 2 && then < now)
        .then(|| estimate(program, site, SuggestionKind::Intern, "a shared Arc<str>", now - then, blocks, cost))
}

/// Suggests a `SmallBox` for a box of trait objects that are small on average.
fn inline(built: &Built, site: SiteId) -> Option<Suggestion> {
    let Kind::Pointer { to, shared: false } = built.types[site].kind else { return None };
    let field = &built.program.sites[site];
    let blocks = field.counts.allocations;
    if to().is_sized || blocks == 0 || field.counts.requested / blocks > SMALL || !to().name().starts_with("dyn ") {
        return None;
    }
    let words = (field.counts.requested / blocks).div_ceil(WORD).max(1);
    let ty = format!("SmallBox<{}, {words}>", super::types::short(to().name()));
    let grows = field.counts.slots.saturating_mul(words * WORD);
    let blocks = i64::try_from(blocks).unwrap_or(i64::MAX);
    let saves = field.counts.requested.saturating_sub(grows);
    let cost = "a larger owner; a move copies the value";
    let mut made = estimate(&built.program, site, SuggestionKind::Inline, &ty, saves, -blocks, cost);
    made.type_size[1] = (2 + words) * WORD;
    Some(made)
}

/// Returns hints for types a few bytes above a cache line or a size class, those with the most values first.
fn hints(program: &Program, plan: &Plan<'_>) -> Vec<Hint> {
    let mut found: Vec<Hint> = Vec::new();
    for (id, def) in program.defs.iter().enumerate().filter(|(_, def)| def.is_editable) {
        let (size, values) = (plan.def(id).size, values_of(program, id));
        if values == 0 {
            continue;
        }
        let hint = |limit, limit_kind| Hint { type_name: def.name.clone(), size, limit, limit_kind, values };
        let below = size / LINE * LINE;
        if below != 0 && size != below && size - below <= NEAR && size <= 8 * LINE {
            found.push(hint(below, "cache line"));
        }
        let is_boxed = |site: &dwell_model::Site| {
            site.shape == Shape::Def(id)
                && site.edge == Edge::Pointee
                && site.counts.used.max(site.counts.instances) != 0
        };
        let class = (1..=NEAR / WORD).map(|words| words * WORD).find_map(|less| {
            let small = size.checked_sub(less).filter(|small| *small != 0)?;
            let class = Model::Jemalloc.bytes(small, WORD);
            (class < Model::Jemalloc.bytes(size, WORD)).then_some(class)
        });
        if let (true, Some(class)) = (program.sites.iter().any(is_boxed), class) {
            found.push(hint(class, "size class"));
        }
    }
    let mut found = sorted(found, &|a, b| b.values.cmp(&a.values).then_with(|| a.type_name.cmp(&b.type_name)));
    found.truncate(8);
    found
}
