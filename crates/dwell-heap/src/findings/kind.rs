//! What a kind of finding is, and what it sees.

use crate::heap::rows::Blocks;
use crate::heap::walk::{DefId, Walk};
use crate::source::{Finding, Target};
use dwell_model::{Change, Plan, Program};

pub(super) const WORD: u64 = 8;
/// The least number of values for which a type's fields are judged.
pub(super) const SOME: u64 = 100;

/// A heap with its model and the changes that were found already.
pub(super) struct Heap<'h, 's, 'p, 'm> {
    pub(super) walk: &'h Walk<'s, 'p>,
    pub(super) program: &'m Program,
    /// The changes of types that the search found.
    pub(super) plan: &'h Plan<'m>,
    /// The rows of the report, most bytes first.
    pub(super) blocks: &'h [Blocks],
    /// The bytes of all values in the model, before any change.
    pub(super) total: u64,
}

impl Heap<'_, '_, '_, '_> {
    /// Returns a finding at a site, without its numbers and texts.
    pub(super) fn finding(&self, kind: &str, site: usize) -> Finding {
        let location = owned(self.program, site);
        Finding {
            kind: kind.into(),
            location: location.into(),
            fields: vec![location.into()],
            targets: vec![Target::Site(site, None)],
            // A collection on a stack has the name of its type.
            at: allocated(self.blocks, |row| {
                row.owner == location || row.content == location && matches!(&*row.by, "stack" | "task" | "cycle")
            }),
            dependency: dependency(self.walk, site),
            ..Finding::default()
        }
    }

    /// Returns the part of `bytes` that is left when the values of a site have the size that the search gives them.
    pub(super) fn left(&self, elements: usize, bytes: u64) -> u64 {
        let (before, after) = (self.program.sites[elements].own.size, self.plan.layout(elements).size);
        if after >= before {
            return bytes;
        }
        u64::try_from(u128::from(bytes) * u128::from(after) / u128::from(before)).unwrap_or(bytes)
    }

    /// Returns the change of a site's type that the search found.
    pub(super) fn change(&self, site: usize) -> Option<Change> {
        self.plan.change(site)
    }
}

/// A kind of finding: what it looks for, its evidence, what it saves.
pub(super) trait Kind {
    /// Looks at one site of the model.
    fn of_site(&self, _: &Heap<'_, '_, '_, '_>, _site: usize) -> Option<Finding> {
        None
    }

    /// Looks at the whole heap.
    fn of_heap(&self, _: &Heap<'_, '_, '_, '_>) -> Vec<Finding> {
        Vec::new()
    }
}

/// Returns the call site that allocated the most bytes of an owner.
pub(super) fn allocated(blocks: &[Blocks], is_it: impl Fn(&Blocks) -> bool) -> Option<String> {
    blocks.iter().filter(|row| is_it(row)).find_map(|row| row.sites.first()?.at.clone())
}

/// Returns the owner, as in [`Blocks::owner`].
pub(super) fn owned(program: &Program, site: usize) -> &str {
    &program.sites[site].path
}

/// Returns the crate that declares a site's field or has its variable, if it is not one of the workspace.
pub(super) fn dependency(walk: &Walk<'_, '_>, site: usize) -> Option<String> {
    walk.schema.dependency(site.checked_sub(1)?).map(str::to_owned)
}

/// Returns the crate that declares a struct, an enum or a future, if it is not one of the workspace.
pub(super) fn of_dependency(walk: &Walk<'_, '_>, def: DefId) -> Option<String> {
    walk.schema.dependency_of(def).map(str::to_owned)
}

/// Returns the fields of a type as text: `first, second of Extra`.
pub(super) fn of_type(fields: &[String], def: &str) -> String {
    const SHOWN: usize = 4;
    let short = |field: &String| {
        let field = field.strip_prefix(def).unwrap_or(field);
        field.trim_start_matches([':', '.']).to_owned()
    };
    let mut names: Vec<String> = fields.iter().take(SHOWN).map(short).collect();
    if fields.len() > SHOWN {
        names.push(format!("{} more", fields.len() - SHOWN));
    }
    format!("{} of {def}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_name_their_fields() {
        let names = |paths: &[&str]| of_type(&paths.iter().map(ToString::to_string).collect::<Vec<_>>(), "Record");
        assert_eq!(names(&["Record.first", "Record.second"]), "first, second of Record");
        assert_eq!(names(&["Record::Full.0", "Record::Late.0"]), "Full.0, Late.0 of Record");
        let five = ["Record.a", "Record.b", "Record.c", "Record.d", "Record.e"];
        assert_eq!(names(&five), "a, b, c, d, 1 more of Record");
    }
}
