//! How types are written: their names, derives, visibility and comments.

use super::names;
use anyhow::{Result, bail};

/// The name of a document's type in Rust.
pub const DOCUMENT: &str = "Document";

/// How types are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// Whether comments have no counts, so that the file changes only if the types do.
    pub plain: bool,
    /// Traits to derive beside those that are always derived.
    pub derives: Vec<String>,
    /// The visibility of types and fields.
    pub visibility: String,
    /// The name of the type of a document.
    pub root: String,
    /// Whether strings borrow from the JSON text, as `Cow<'a, str>`.
    pub borrow: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { plain: false, derives: Vec::new(), visibility: "pub".into(), root: DOCUMENT.into(), borrow: false }
    }
}

impl Style {
    /// Checks the names.
    ///
    /// # Errors
    /// Returns an error if the root is not the name of a type, a derive not a path, or the visibility not one of Rust's.
    pub fn check(&self) -> Result<()> {
        check_root(&self.root)?;
        if let Some(wrong) = self.derives.iter().find(|path| !path.split("::").all(is_name)) {
            bail!("--derive {wrong}: not the path of a trait, such as Eq or schemars::JsonSchema");
        }
        if !matches!(&*self.visibility, "pub" | "pub(crate)" | "pub(super)") {
            bail!("--visibility {}: not one of pub, pub(crate) and pub(super)", self.visibility);
        }
        Ok(())
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic()) && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Checks the name of a document's type.
pub(crate) fn check_root(name: &str) -> Result<()> {
    if !is_name(name) || names::type_name(name) != name {
        bail!("--root {name}: not the name of a type, such as Order");
    }
    Ok(())
}
