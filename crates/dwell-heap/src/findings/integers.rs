//! Integers that are wider than their values: `narrow`, and `niche` for optional ones that are never zero.
//!
//! The values of one run are not the range of a type. Both kinds need further runs ([`Also`]), and ask to check the range.

use super::also::Also;
use super::kind::{SOME, of_type};
use super::model::{self, in_model};
use super::search::resized;
use crate::heap::walk::{Holds, SiteId, Walk};
use crate::source::{Finding, Target};
use crate::units::count;
use dwell_model::search::LEAST;
use dwell_model::{Edge, Layout, Plan, Program};
use std::collections::HashMap;

/// A key for scalars that change together: whether they get a niche, the struct or enum that stores them inline, and
/// otherwise their site.
type Group = (bool, Option<usize>, SiteId);

/// Suggests narrower integers, and niches for `Option`s of integers that are never zero, together for each struct or
/// enum. Leaves out changes without effect. Applies the changes to the plan.
pub(super) fn find(walk: &Walk<'_, '_>, program: &Program, plan: &mut Plan<'_>, also: &Also) -> Vec<Finding> {
    let schema = &walk.schema;
    let total = plan.sum().bytes;
    // The scalars of one struct or enum are one group; scalars in blocks have a group for each site.
    let mut groups: HashMap<Group, Vec<(SiteId, Layout)>> = HashMap::new();
    for (site, tally) in walk.counted.tallies.iter().enumerate() {
        let Some((range, field)) = tally.range.zip(schema.sites.get(site)) else { continue };
        let Some(integer) = field.integer.filter(|_| field.is_editable && tally.counts.instances >= SOME) else {
            continue;
        };
        let is_inline = inline_def(walk, site).is_some();
        let key = |is_niche| if is_inline { (is_niche, field.def, 0) } else { (is_niche, None, site) };
        let is_optional = field.edge == Edge::Optional
            && field
                .parent
                .is_some_and(|parent| schema.sites[parent].decoder.holds() == (Holds::Enum { is_option: true }));
        let size = integer.bytes_for(range.low, range.high);
        let free = u128::from(is_optional && !range.has_zero && also.is_never_zero(field));
        if free == 1 {
            groups.entry(key(true)).or_default().push((site, Layout::scalar(field.size, 1)));
        }
        if size < field.size && also.is_small(field, size) {
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
        let old: Vec<_> = group.iter().map(|(site, _)| plan.scalar(in_model(*site))).collect();
        let set = |plan: &mut Plan<'_>, site: SiteId, layout| plan.set_scalar(in_model(site), layout);
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
        let field = walk.schema.sites.get(at)?;
        match field.edge {
            Edge::Field(..) => return field.def,
            Edge::Optional | Edge::Inner | Edge::Tuple(_) | Edge::Array => at = field.parent?,
            _ => return None,
        }
    }
    None
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
    let (mut fields, mut targets) = (Vec::new(), Vec::new());
    let (mut types, mut whys, mut number, mut taken) = (Vec::new(), Vec::new(), 0_u64, 0_u64);
    for (site, layout) in group {
        let field = &schema.sites[*site];
        let of_model = &program.sites[in_model(*site)];
        fields.push(field.path.clone());
        number = number.saturating_add(of_model.counts.instances);
        taken = taken.saturating_add(field.size.saturating_mul(of_model.counts.slots));
        let Some((integer, range)) = field.integer.zip(walk.counted.tallies[*site].range) else { continue };
        let name = integer.name(layout.size);
        let name = if layout.niche.is_some() { format!("NonZero<{name}>") } else { name };
        targets.push(Target::Scalar(in_model(*site), name.clone()));
        types.push(name);
        whys.push(if is_niche {
            format!("{} is never zero in {} values", field.path, count(of_model.counts.instances))
        } else {
            format!("{} is {} to {}", field.path, range.low, range.high)
        });
    }
    types.dedup();
    whys.truncate(3);
    let location = match (fields.as_slice(), def) {
        ([one], _) => one.clone(),
        (all, Some(def)) => of_type(all, &program.defs[def].name),
        (all, None) => all.join(", "),
    };
    let mut why = whys.join("; ");
    if let Some(def) = def {
        why += &resized(&program.defs[def].name, program.defs[def].own.size, plan.def(def).size);
    }
    let (kind, how, costs) = if is_niche {
        ("niche", format!("Option<{}>; check the range", types.join(", ")), "zero cannot be stored")
    } else {
        (
            "narrow",
            format!("{}; check the range", types.join(", ")),
            "larger values do not fit: convert with `try_from`",
        )
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
        targets,
        ..Finding::default()
    }
}
