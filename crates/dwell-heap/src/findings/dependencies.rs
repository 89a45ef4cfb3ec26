//! Changes of types in dependencies. Their users cannot make them, but can tell the authors, or build with a patched copy.

use super::kind::of_dependency;
use super::{is_worth_its_blocks, model, processors, search as steps};
use crate::heap::rows::Blocks;
use crate::heap::walk::Walk;
use crate::source::Items;
use crate::source::{Finding, Target};
use dwell_model::Plan;
use dwell_model::search::{Edit, Types, search_with};

/// The part of the live bytes that is worth the effort.
const LEAST: u64 = 100;

/// Returns the changes of types in dependencies. `total` are the live bytes.
pub(super) fn find(walk: &Walk<'_, '_>, items: &Items, blocks: &[Blocks], total: u64) -> Vec<Finding> {
    if !walk.schema.has_own() {
        return Vec::new();
    }
    let program = model::of_dependencies(walk, items, total / LEAST);
    if program.defs.iter().all(|def| !def.is_editable) {
        return Vec::new();
    }
    let mut plan = Plan::new(&program);
    let mut found = Vec::new();
    for step in search_with(&program, Types::Std, |starts, run| processors::each(starts, run)) {
        if !is_worth_its_blocks(&program, &step) {
            continue;
        }
        let old = plan.clone();
        plan.apply_all(&step.edits);
        let def = step.edits.iter().find_map(|edit| match *edit {
            Edit::Site(site, _) => program.sites[site].def,
            Edit::Variant(def, _) | Edit::Reorder(def) => Some(def),
        });
        let dependency = def.and_then(|def| of_dependency(walk, def));
        let finding = Finding { dependency, ..steps::describe(&program, &step, &old, &plan, blocks) };
        found.extend(Some(finding).filter(|finding| finding.dependency.is_some() && finding.saves > total / LEAST));
    }
    found
}

/// Returns `true` if a finding changes a type, so that a patch of its crate can make it.
pub(super) fn is_of_type(finding: &Finding) -> bool {
    finding.targets.iter().any(|target| matches!(target, Target::Site(_, Some(_)) | Target::Variant(..)))
}
