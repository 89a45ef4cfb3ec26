//! Alternatives to the suggested boxes: one box around a whole struct instead of boxes around its fields.
//!
//! The search takes the step with the largest saving, say boxes around two fields of `traits`. A box around `traits`
//! itself then saves little more. A user may still prefer it: it is one line instead of two, and better for a struct
//! that is rarely read. So this module tries a box around each struct with boxed fields, on the program without those.

use dwell_model::search::{Edit, LEAST, Step};
use dwell_model::{Change, DefId, Edge, Plan, Program, Shape, SiteId};
use std::collections::BTreeSet;

/// A step that replaces others.
pub(crate) struct Alternative<'p> {
    pub(crate) step: Step,
    /// The plan before the replaced steps, and the plan with this step instead of them.
    pub(crate) old: Plan<'p>,
    pub(crate) new: Plan<'p>,
    /// The replaced steps.
    pub(crate) instead_of: Vec<usize>,
}

/// Returns the alternatives to `steps`, at most one for each struct. An alternative needs no more edits, and saves at
/// least half as much.
pub(crate) fn alternatives<'p>(program: &'p Program, steps: &[Step]) -> Vec<Alternative<'p>> {
    let plan = Plan::new(program);
    let least = plan.sum().bytes / LEAST;
    let structs = (0..program.defs.len()).filter(|&def| !program.defs[def].is_enum && program.defs[def].is_editable);
    structs
        .filter_map(|def| {
            let inside = inline_defs(program, def);
            let is_inside = |edit: &Edit| match *edit {
                Edit::Site(site, Change::Boxed | Change::BoxedAlways | Change::Sparse) => {
                    program.sites[site].def.is_some_and(|def| inside.contains(&def))
                }
                Edit::Variant(def, _) => inside.contains(&def),
                _ => false,
            };
            let instead_of: Vec<usize> =
                (0..steps.len()).filter(|&step| steps[step].edits.iter().any(is_inside)).collect();
            let mut old = plan.clone();
            for step in &steps[..*instead_of.first()?] {
                old.apply_all(&step.edits);
            }
            let before = old.sum();
            let mut new = old.clone();
            let sites = (0..program.sites.len()).filter(|site| old.change(*site).is_none());
            let mut edits: Vec<Edit> = sites
                .filter_map(|site| box_of(program, site, def).map(|change| Edit::Site(site, change)))
                .filter(|&edit| new.apply(edit))
                .collect();
            // Drop edits that save nothing.
            edits.retain(|&edit| {
                let with = new.sum().cost();
                new.undo(edit);
                let is_worth_it = with < new.sum().cost();
                if is_worth_it {
                    new.apply(edit);
                }
                is_worth_it
            });
            let after = new.sum();
            let saves = before.bytes.saturating_sub(after.bytes);
            let others =
                instead_of.iter().map(|&step| steps[step].before.bytes.saturating_sub(steps[step].after.bytes));
            let replaced: usize = instead_of.iter().map(|&step| steps[step].edits.len()).sum();
            if edits.is_empty() || edits.len() > replaced || saves <= least || saves < others.sum::<u64>() / 2 {
                return None;
            }
            let step = Step { edits, before, after, is_exact: new.is_exact() };
            Some(Alternative { step, old, new, instead_of })
        })
        .collect()
}

/// Returns the box around a field of the struct `def`, if the site is a field of it.
fn box_of(program: &Program, site: SiteId, def: DefId) -> Option<Change> {
    let field = &program.sites[site];
    let inner = program.without_option(site);
    let is_field = matches!(field.edge, Edge::Field(..)) && field.def.is_some_and(|owner| !program.defs[owner].is_enum);
    if !field.is_editable || !is_field || !matches!(program.sites[inner].shape, Shape::Def(found) if found == def) {
        return None;
    }
    Some(match inner == site {
        false => Change::Boxed,
        true if field.counts.filled < field.counts.instances && program.defs[def].is_shareable => Change::Sparse,
        true => Change::BoxedAlways,
    })
}

/// Returns `def` and all structs and enums stored inline in its values.
fn inline_defs(program: &Program, def: DefId) -> BTreeSet<DefId> {
    let mut met = BTreeSet::from([def]);
    let mut open = vec![def];
    while let Some(def) = open.pop() {
        let fields = program.defs[def].variants.iter().flat_map(|variant| &variant.fields);
        let mut sites: Vec<SiteId> = fields.map(|field| field.site).collect();
        while let Some(site) = sites.pop() {
            match &program.sites[site].shape {
                Shape::Def(inner) if met.insert(*inner) => open.push(*inner),
                Shape::Optional { some: inner, .. } | Shape::Wrapper(inner) | Shape::Array(inner, _) => {
                    sites.push(*inner);
                }
                Shape::Tuple(parts) => sites.extend(parts),
                _ => {}
            }
        }
    }
    met
}
