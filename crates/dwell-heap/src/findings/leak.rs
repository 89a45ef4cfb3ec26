//! Leaks: rings of `Rc` or `Arc` that nothing outside holds.

use super::kind::{Heap, Kind, of_dependency};
use crate::heap::walk::Leak as Rings;
use crate::heap::walk::owners::field_of;
use crate::source::Finding;
use crate::units::count;

pub(super) const KIND: &str = "leak";

/// Rings of `Rc` or `Arc`. Findings of other kinds are about values that are not leaked.
pub(super) struct Leak;

impl Kind for Leak {
    fn of_heap(&self, heap: &Heap<'_, '_, '_, '_>) -> Vec<Finding> {
        heap.walk.counted.leaks.iter().map(|rings| describe(heap, rings)).collect()
    }
}

fn describe(heap: &Heap<'_, '_, '_, '_>, rings: &Rings) -> Finding {
    let sites = &heap.walk.schema.sites;
    let mut fields: Vec<String> = Vec::new();
    for site in rings.sites.iter().filter_map(|site| sites.get(*site)) {
        let field = field_of(&site.path);
        if !fields.iter().any(|other| other == field) {
            fields.push(field.to_owned());
        }
    }
    // The author can edit none of the fields.
    let of_site = |site: &usize| of_dependency(heap.walk, sites.get(*site)?.def?);
    let all: Vec<Option<String>> = rings.sites.iter().map(of_site).collect();
    let dependency = if all.iter().all(Option::is_some) { all.into_iter().flatten().next() } else { None };
    let location = fields.join(" -> ");
    let back = fields.iter().find(|field| is_back(field)).filter(|_| fields.len() > 1);
    let weak = match back {
        Some(back) => format!("make {back} a Weak"),
        None => "make one of these fields a Weak".into(),
    };
    Finding {
        kind: KIND.into(),
        location,
        count: rings.rings,
        bytes: rings.bytes,
        saves: rings.bytes,
        costs: "a Weak must be upgraded for each use".into(),
        why: format!(
            "leaked: in {} {} these fields hold each other, and nothing else holds them",
            count(rings.rings),
            if rings.rings == 1 { "ring" } else { "rings" }
        ),
        how: format!("{weak}, or clear it before the last outside owner is dropped"),
        exact: true,
        at: rings.stack.and_then(|stack| heap.walk.call_site(stack)).map(str::to_owned),
        dependency,
        fields,
        ..Finding::default()
    }
}

/// Returns `true` if the name of a field says that it points back.
fn is_back(field: &str) -> bool {
    let name = field.rsplit('.').next().unwrap_or(field);
    ["parent", "owner", "prev", "previous", "back", "up", "root"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_point_back() {
        assert!(is_back("Node.parent") && !is_back("Node.children"));
    }
}
