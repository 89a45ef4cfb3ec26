//! Predictions of the bytes of a value after changes of its types.

use super::Accuracy;
use super::program::{Built, build};
use super::tree::Tree;
use crate::model::search::{Edit, without_arguments};
use crate::model::{Change, Edge, Holder, Plan, Program, Shape, SiteId};
use core::fmt;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// A prediction of the bytes of a value if some of its fields have other types.
///
/// The prediction uses the counts of the tree: each slot of a changed type gets its new size, each filled box adds a block, and
/// exact types have no spare capacity. Changes are predicted together, so that a box in a box counts once. Sizes follow the rules
/// of `rustc` for `repr(Rust)`; they are checked against the present sizes of the types, see [`is_exact`](Self::is_exact).
///
/// A path is `Type.field`, `Enum::Variant.field`, or one of these with a part of the field's type: `Page.lines []` stands for the
/// elements, `Page.notes key` and `Page.notes value` for the keys and values of a map, `Page.author Some` for the value of an
/// option. The type is named without its module. Parts of the value itself begin with `value`. For a generic type, `Page.title` is
/// the field in all instances, `Page<u8>.title` in one.
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

/// There is no such field, or it does not support the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchField {
    path: String,
}

impl fmt::Display for NoSuchField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no field `{}` that can be changed so", self.path)
    }
}

impl core::error::Error for NoSuchField {}

impl<'t> WhatIf<'t> {
    /// Creates a prediction without changes.
    pub fn new(tree: &'t Tree) -> Self {
        Self { tree, built: build(tree), edits: Vec::new() }
    }

    /// The field becomes `Option<Box<T>>`; vacant values become `None`.
    ///
    /// # Errors
    ///
    /// If there is no such field, or it is laid out by another crate.
    pub fn boxed(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Boxed, |program, site| {
            let is_option = matches!(program.sites[site].shape, Shape::Optional { is_option: true, .. });
            is_option || !matches!(program.sites[site].shape, Shape::Optional { .. })
        })
    }

    /// The field becomes `Box<T>`, with a block for each value.
    ///
    /// # Errors
    ///
    /// If there is no such field, or it is laid out by another crate.
    pub fn boxed_always(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::BoxedAlways, |_, _| true)
    }

    /// The field, a `T` or `Option<T>`, becomes [`Sparse<T>`](struct@crate::Sparse); a value that equals its default takes no block.
    ///
    /// # Errors
    ///
    /// If there is no such field, or its type is not a struct.
    pub fn sparse(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Sparse, |program, site| {
            matches!(program.sites[program.without_option(site)].shape, Shape::Def(_))
        })
    }

    /// The field, a `String` or `Vec<T>`, becomes `Box<str>` or `Box<[T]>`.
    ///
    /// # Errors
    ///
    /// If there is no such field.
    pub fn exact(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Exact, |program, site| {
            matches!(program.sites[site].shape, Shape::Text(Holder::Growable) | Shape::Sequence(Holder::Growable, _))
        })
    }

    /// The field, a `String`, `Vec<T>` or a box of their contents, becomes [`ThinStr`](crate::sparse::ThinStr) or
    /// [`ThinSlice<T>`](crate::sparse::ThinSlice).
    ///
    /// # Errors
    ///
    /// If there is no such field.
    pub fn thin(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Thin, |program, site| match program.sites[site].shape {
            Shape::Text(Holder::Growable) | Shape::Sequence(Holder::Growable, _) => true,
            Shape::Pointer(Holder::Box, to) => {
                matches!(program.sites[to].shape, Shape::Text(Holder::Unsized) | Shape::Sequence(Holder::Unsized, _))
            }
            _ => false,
        })
    }

    /// The field, a `HashMap<K, V>` or `BTreeMap<K, V>`, becomes [`SortedMap<K, V>`](crate::sparse::SortedMap).
    ///
    /// # Errors
    ///
    /// If there is no such field.
    pub fn sorted(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Sorted, |program, site| {
            matches!(program.sites[site].shape, Shape::Map(Holder::Growable | Holder::BTree, ..))
        })
    }

    /// The fields of the variant `Enum::Variant` move into a box.
    ///
    /// # Errors
    ///
    /// If there is no such variant.
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
            // The last that was said of a site holds.
            if let Edit::Site(site, _) = edit {
                self.edits.retain(|made| !matches!(made, Edit::Site(of, _) if *of == site));
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

    /// The requested bytes, inline and on the heap, with all changes made.
    pub fn total(&self) -> u64 {
        self.plan().sum().bytes
    }

    /// The number of allocations with all changes made.
    pub fn allocations(&self) -> u64 {
        self.plan().sum().allocations
    }

    /// Whether the predicted bytes and allocations are exact.
    ///
    /// They are if the [weight](super::Weight::is_exact) of the present value is, if the rules reproduce the present sizes of the
    /// types, and if no changed size depends on a type of another crate of which the niches are unknown.
    pub fn is_exact(&self) -> bool {
        self.accuracy() == Accuracy::Exact
    }

    /// Whether the predicted bytes and allocations are exact, a bound, or an estimate.
    ///
    /// They are a bound if the changes are predicted exactly and the weight of the present value is a bound: removed entries of
    /// maps, for example, may leave memory that cannot be seen.
    pub fn accuracy(&self) -> Accuracy {
        // A part that a function of the user measured has no slots that could grow.
        let is_exact = self.edits.is_empty() || self.plan().is_exact();
        if is_exact { self.tree.weight.accuracy() } else { Accuracy::About }
    }

    /// The requested bytes at present.
    pub fn before(&self) -> u64 {
        self.tree.nodes.iter().fold(self.tree.weight.inline, |sum, node| sum.saturating_add(node.requested))
    }
}

/// Whether a path without type arguments means this one.
fn same_text(full: &str, path: &str) -> bool {
    full != path && without_arguments(full) == path
}
