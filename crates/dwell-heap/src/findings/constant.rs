//! Optional fields that are `None` in all of many values.

use super::kind::{Heap, Kind, of_dependency, of_type};
use super::model::in_model;
use super::search::resized;
use crate::heap::walk::Holds;
use crate::source::{Finding, Target};
use crate::units::count;
use dwell_model::{Edge, Layout};
use std::collections::BTreeMap;

/// The least number of values: one run does not show the range of a type.
const MANY: u64 = 10_000;

/// Optional fields that are `None` in all of many values.
pub(super) struct Constant;

impl Kind for Constant {
    fn of_heap(&self, heap: &Heap<'_, '_, '_, '_>) -> Vec<Finding> {
        let Heap { walk, program, .. } = *heap;
        // The fields of a struct together: one alone may leave padding.
        let mut by_def: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, field) in walk.schema.sites.iter().enumerate() {
            let site = in_model(number);
            let counts = &program.sites[site].counts;
            let is_option = field.decoder.holds() == (Holds::Enum { is_option: true });
            if let (true, Edge::Field(..), Some(def)) = (is_option, field.edge, field.def)
                && counts.instances >= MANY
                && counts.filled == 0
                && !program.defs[def].is_enum
                && heap.change(site).is_none()
            {
                by_def.entry(def).or_default().push(site);
            }
        }
        by_def.into_iter().filter_map(|(def, sites)| finding(heap, def, sites)).collect()
    }
}

/// Returns the finding for optional fields of a struct, if it gets smaller without them.
fn finding(heap: &Heap<'_, '_, '_, '_>, def: usize, mut sites: Vec<usize>) -> Option<Finding> {
    let program = heap.program;
    let mut plan = heap.plan.clone();
    let before = (plan.sum().bytes, plan.def(def).size);
    for site in &sites {
        plan.set_scalar(*site, Some(Layout::NOTHING));
    }
    let after = plan.sum().bytes;
    // A field whose bytes become padding may stay.
    sites.retain(|site| {
        plan.set_scalar(*site, None);
        let is_needed = plan.sum().bytes > after;
        if is_needed {
            plan.set_scalar(*site, Some(Layout::NOTHING));
        }
        is_needed
    });
    let saves = before.0.checked_sub(after).filter(|saves| *saves > 0)?;
    let fields: Vec<String> = sites.iter().map(|site| program.sites[*site].path.clone()).collect();
    let definition = &program.defs[def];
    let number = program.sites[*sites.first()?].counts.instances;
    let location = match &fields[..] {
        [one] => one.clone(),
        all => of_type(all, &definition.name),
    };
    let size = |site: &usize| program.sites[*site].own.size.saturating_mul(program.sites[*site].counts.slots);
    Some(Finding {
        kind: "constant".into(),
        location,
        count: number,
        bytes: sites.iter().map(size).sum(),
        saves,
        costs: "a later value needs another place".into(),
        why: format!("None in all {}{}", count(number), resized(&definition.name, before.1, plan.def(def).size)),
        how: "remove it, or keep the few values that there may be in a map beside".into(),
        targets: sites.iter().map(|site| Target::Site(*site, None)).collect(),
        dependency: of_dependency(heap.walk, def),
        fields,
        ..Finding::default()
    })
}
