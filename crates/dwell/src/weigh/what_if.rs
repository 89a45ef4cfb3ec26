//! Predictions of the bytes of a value after changes of its types.

use super::Accuracy;
use super::program::{Built, build};
use super::tree::Tree;
use core::fmt;
use dwell_model::search::{Edit, without_arguments};
use dwell_model::{Change, Edge, Holder, Plan, Program, Shape, SiteId};
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// A prediction of the bytes of a value after some of its fields change their types.
///
/// The prediction uses the counts of the tree: each slot of a changed type gets its new size, each filled box adds a
/// block, and exact types have no spare capacity. Changes are predicted together, so that a box in a box counts once.
/// Sizes follow the rules of `rustc` for `repr(Rust)`, which are checked against the present sizes of the types; see
/// [`is_exact`](Self::is_exact).
///
/// A path is `Type.field`, `Enum::Variant.field`, or one of these with a part of the field's type: `Page.lines []`
/// stands for the elements, `Page.notes key` and `Page.notes value` for the keys and values of a map,
/// `Page.author Some` for the value of an option. A path names the type without its module. Paths of the root value
/// begin with `value`. For a generic type, `Page.title` is the field in all instances, `Page<u8>.title` in one.
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use dwell::Weigh;
/// use dwell::weigh::{WhatIf, tree};
///
/// #[derive(Default, Weigh)]
/// struct Page {
///     title: String,
///     author: Option<[u64; 20]>,
/// }
///
/// let pages: Vec<Page> = (0..10).map(|_| Page::default()).collect();
/// let tree = tree(&pages);
/// let mut what_if = WhatIf::new(&tree);
/// what_if.boxed("Page.author")?; // `Option<Box<[u64; 20]>>`
/// assert_eq!(what_if.total(), 24 + 10 * (24 + 8));
/// # }
/// # Ok::<_, dwell::weigh::NoSuchField>(())
/// ```
#[derive(Debug)]
pub struct WhatIf<'t> {
    tree: &'t Tree,
    built: Built,
    edits: Vec<Edit>,
}

/// The error if no field has the path, or if the field does not support the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchField {
    path: String,
}

impl fmt::Display for NoSuchField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no field `{}` that supports this change", self.path)
    }
}

impl core::error::Error for NoSuchField {}

impl<'t> WhatIf<'t> {
    /// Creates a prediction without changes.
    pub fn new(tree: &'t Tree) -> Self {
        Self { tree, built: build(tree), edits: Vec::new() }
    }

    /// Changes a field to `Option<Box<T>>`; vacant values become `None`.
    ///
    /// # Errors
    ///
    /// Returns an error if no field has this path, or if its struct or enum does not derive [`Weigh`](super::Weigh).
    pub fn boxed(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Boxed, |program, site| {
            let is_option = matches!(program.sites[site].shape, Shape::Optional { is_option: true, .. });
            is_option || !matches!(program.sites[site].shape, Shape::Optional { .. })
        })
    }

    /// Changes a field to `Box<T>`, with a block for each value.
    ///
    /// # Errors
    ///
    /// Returns an error if no field has this path, or if its struct or enum does not derive [`Weigh`](super::Weigh).
    pub fn boxed_always(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::BoxedAlways, |_, _| true)
    }

    /// Changes a field from `T` or `Option<T>` to [`Sparse<T>`](struct@crate::Sparse); a default value takes no block.
    ///
    /// # Errors
    ///
    /// Returns an error if no field has this path, or if its type is not a struct or enum.
    pub fn sparse(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Sparse, |program, site| {
            matches!(program.sites[program.without_option(site)].shape, Shape::Def(_))
        })
    }

    /// Changes a field from `String` or `Vec<T>` to `Box<str>` or `Box<[T]>`.
    ///
    /// # Errors
    ///
    /// Returns an error if no field of these types has this path.
    pub fn exact(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Exact, |program, site| {
            matches!(program.sites[site].shape, Shape::Text(Holder::Growable) | Shape::Sequence(Holder::Growable, _))
        })
    }

    /// Changes a field to [`ThinStr`](crate::sparse::ThinStr) or [`ThinSlice<T>`](crate::sparse::ThinSlice).
    ///
    /// The field is a `String`, `Vec<T>`, `Box<str>` or `Box<[T]>`.
    ///
    /// # Errors
    ///
    /// Returns an error if no field of these types has this path.
    pub fn thin(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Thin, |program, site| match program.sites[site].shape {
            Shape::Text(Holder::Growable) | Shape::Sequence(Holder::Growable, _) => true,
            Shape::Pointer(Holder::Box, to) => {
                matches!(program.sites[to].shape, Shape::Text(Holder::Unsized) | Shape::Sequence(Holder::Unsized, _))
            }
            _ => false,
        })
    }

    /// Changes a field from `HashMap` or `BTreeMap` to [`SortedMap<K, V>`](crate::sparse::SortedMap).
    ///
    /// # Errors
    ///
    /// Returns an error if no field of these types has this path.
    pub fn sorted(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Sorted, |program, site| {
            matches!(program.sites[site].shape, Shape::Map(Holder::Growable | Holder::BTree, ..))
        })
    }

    /// Moves the fields of the variant `Enum::Variant` into a box.
    ///
    /// # Errors
    ///
    /// Returns an error if no variant has this path.
    pub fn boxed_variant(&mut self, path: &str) -> Result<(), NoSuchField> {
        let defs = self.built.program.defs.iter().enumerate().filter(|(_, def)| def.is_enum && def.is_editable);
        let named = defs.flat_map(|(id, def)| {
            let name = |variant: &str| std_alloc::format!("{}::{variant}", def.name);
            def.variants.iter().enumerate().map(move |(index, variant)| (id, index, name(&variant.name)))
        });
        let is_it = |name: &str| name == path || same_text(name, path);
        let found: Vec<Edit> =
            named.filter(|(.., name)| is_it(name)).map(|(def, variant, _)| Edit::Variant(def, variant)).collect();
        self.add(path, found)
    }

    fn change(&mut self, path: &str, change: Change, fits: fn(&Program, SiteId) -> bool) -> Result<(), NoSuchField> {
        let program = &self.built.program;
        let is_it = |id: &SiteId| {
            let site = &program.sites[*id];
            (site.path == path || same_text(&site.path, path))
                && site.is_editable
                && !matches!(site.edge, Edge::Root)
                && fits(program, *id)
        };
        let found = (0..program.sites.len()).filter(is_it).map(|site| Edit::Site(site, change)).collect();
        self.add(path, found)
    }

    fn add(&mut self, path: &str, edits: Vec<Edit>) -> Result<(), NoSuchField> {
        if edits.is_empty() {
            return Err(NoSuchField { path: path.into() });
        }
        for edit in edits {
            // The last change of a site replaces earlier ones.
            if let Edit::Site(site, _) = edit {
                self.edits.retain(|made| !matches!(made, Edit::Site(edited, _) if *edited == site));
            }
            self.edits.push(edit);
        }
        Ok(())
    }

    fn plan(&self) -> Plan<'_> {
        let mut plan = Plan::new(&self.built.program);
        plan.apply_all(&self.edits);
        plan
    }

    /// Returns the requested bytes, inline and on the heap, after all changes.
    pub fn total(&self) -> u64 {
        self.plan().sum().bytes
    }

    /// Returns the number of allocations after all changes.
    pub fn allocations(&self) -> u64 {
        self.plan().sum().allocations
    }

    /// Returns whether the predicted bytes and allocations are exact.
    ///
    /// They are exact if the [weight](super::Weight::is_exact) of the present value is exact, the rules reproduce the
    /// present sizes of the types, and no changed size depends on a type of another crate with unknown niches.
    pub fn is_exact(&self) -> bool {
        self.accuracy() == Accuracy::Exact
    }

    /// Returns whether the predicted bytes and allocations are exact, a bound, or an estimate.
    ///
    /// They are a bound if the changes are predicted exactly and the weight of the present value is a bound: removed
    /// entries of maps, for example, may leave memory that the map does not report.
    pub fn accuracy(&self) -> Accuracy {
        // A part that a user's function measured has no slots, so no change affects its bytes.
        let is_exact = self.edits.is_empty() || self.plan().is_exact();
        if is_exact { self.tree.weight.accuracy() } else { Accuracy::About }
    }

    /// Returns the requested bytes at present.
    pub fn before(&self) -> u64 {
        self.tree.nodes.iter().fold(self.tree.weight.inline, |sum, node| sum.saturating_add(node.requested))
    }
}

/// Returns whether `path`, without type arguments, names the same part as `full`.
fn same_text(full: &str, path: &str) -> bool {
    full != path && without_arguments(full) == path
}
