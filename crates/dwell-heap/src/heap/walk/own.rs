//! Which crates are the workspace's own, and which are dependencies.

use super::{DefId, Schema, SiteId};
use crate::debuginfo::Type;

impl<'p> Schema<'p> {
    /// Adds crates of the workspace, also those that declare no types.
    pub(crate) fn add_own(&mut self, crates: &[String]) {
        self.own.extend(crates.iter().cloned());
    }

    /// Returns `true` if crates of the workspace are known.
    pub(crate) fn has_own(&self) -> bool {
        !self.own.is_empty()
    }

    /// Says which crate's function has a variable.
    pub(super) fn in_crate(&mut self, root: SiteId, krate: &str) {
        self.crates.insert(root, krate.to_owned());
    }

    /// Returns the crate that declares a site or its variable, if it is not one of the workspace.
    pub(crate) fn dependency(&self, site: SiteId) -> Option<&str> {
        let mut at = site;
        let krate = loop {
            let field = self.sites.get(at)?;
            if let Some(def) = field.def {
                return self.dependency_of(def);
            }
            match (self.crates.get(&at), field.parent) {
                (Some(krate), _) => break krate.as_str(),
                (None, Some(parent)) => at = parent,
                (None, None) => return None,
            }
        };
        (self.has_own() && !self.own.contains(krate)).then_some(krate)
    }

    /// Returns the crate that declares a struct, an enum or a future, if it is not one of the workspace.
    pub(crate) fn dependency_of(&self, def: DefId) -> Option<&str> {
        let definition: &'p Type = self.get(self.defs[def].ty);
        (self.has_own() && !definition.own && !definition.krate.is_empty()).then_some(&*definition.krate)
    }
}
