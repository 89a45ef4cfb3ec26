//! Which of the generated types borrow strings from the JSON text.

use super::model::Model;
use super::types::{Body, Type};

/// The string of the generated code that borrows inside other types. serde makes a `Cow` borrow only if it is a field.
pub(super) const STR: &str = "
    /// A string that borrows from the JSON text, unless it has escapes.
    #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
    #[serde(transparent)]
    pub struct Str<'a>(#[serde(borrow)] pub Cow<'a, str>);

    impl std::ops::Deref for Str<'_> {
        type Target = str;

        fn deref(&self) -> &str {
            &self.0
        }
    }
";

/// Whether each type of a model borrows.
pub(super) struct Borrowing(Vec<bool>);

impl Borrowing {
    pub(super) fn new(model: &Model<'_, '_>) -> Self {
        let mut borrowing = Self(vec![false; model.defs.len()]);
        if !model.positions().schema.style.borrow {
            return borrowing;
        }
        // Types may contain each other, so this repeats until nothing changes.
        loop {
            let found = |body: &Body| {
                let mut found = false;
                body.each(&mut |inner| found |= borrowing.is(inner));
                found
            };
            let new: Vec<bool> = model.bodies.iter().map(found).collect();
            if new == borrowing.0 {
                return borrowing;
            }
            borrowing.0 = new;
        }
    }

    /// Returns whether a type has a lifetime.
    pub(super) fn is(&self, ty: &Type) -> bool {
        let mut found = false;
        ty.walk(&mut |part| match part {
            Type::Cow => found = true,
            Type::Named(id) => found |= self.0[*id],
            _ => {}
        });
        found
    }

    /// Returns the lifetime of a type, as it is written behind the type's name.
    pub(super) fn lifetime(&self, ty: &Type) -> &'static str {
        if self.is(ty) { "<'a>" } else { "" }
    }
}
