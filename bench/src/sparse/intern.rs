//! String interners of published crates.
//!
//! Each is used as its authors intend. Reading a string by its index needs the interner, which is in a thread local
//! here, because serde's derive cannot pass a context.

use dwell::sparse::IsEmpty;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A string interner.
pub(super) trait Interner {
    /// The handle of a string. Its order may differ from that of the strings.
    type Symbol: Copy + Ord;

    fn intern(text: &str) -> Self::Symbol;
    fn with<R>(symbol: Self::Symbol, read: impl FnOnce(&str) -> R) -> R;
}

/// A string interned by `I`.
pub(super) struct Interned<I: Interner>(I::Symbol);

impl<I: Interner> PartialEq for Interned<I> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<I: Interner> Eq for Interned<I> {}

impl<I: Interner> PartialOrd for Interned<I> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<I: Interner> Ord for Interned<I> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

impl<I: Interner> Serialize for Interned<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        I::with(self.0, |text| serializer.serialize_str(text))
    }
}

impl<'de, I: Interner> Deserialize<'de> for Interned<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<I>(PhantomData<I>);
        impl<I: Interner> Visitor<'_> for Text<I> {
            type Value = Interned<I>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Interned<I>, E> {
                Ok(Interned(I::intern(text)))
            }
        }
        deserializer.deserialize_str(Text(PhantomData))
    }
}

/// `lasso`: strings in chunks, a vector of slices by index, and a table of indices.
pub(super) struct Lasso;

mod lasso {
    use super::{Interner, Lasso};
    use lasso::{Rodeo, Spur};
    use rustc_hash::FxBuildHasher;
    use std::cell::RefCell;

    thread_local! {
        static RODEO: RefCell<Rodeo<Spur, FxBuildHasher>> = RefCell::new(Rodeo::with_hasher(FxBuildHasher));
    }

    impl Interner for Lasso {
        type Symbol = Spur;

        fn intern(text: &str) -> Spur {
            RODEO.with_borrow_mut(|rodeo| rodeo.get_or_intern(text))
        }

        fn with<R>(symbol: Spur, read: impl FnOnce(&str) -> R) -> R {
            RODEO.with_borrow(|rodeo| read(rodeo.resolve(&symbol)))
        }
    }
}

/// `string-interner` with its buffer backend: adjacent strings with their lengths. A symbol is an offset.
pub(super) struct StringInterner;

mod string_interner {
    use super::{Interner, StringInterner};
    use rustc_hash::FxBuildHasher;
    use std::cell::RefCell;
    use string_interner::StringInterner as Strings;
    use string_interner::backend::BufferBackend;
    use string_interner::symbol::SymbolU32;

    thread_local! {
        static STRINGS: RefCell<Strings<BufferBackend<SymbolU32>, FxBuildHasher>> =
            RefCell::new(Strings::with_hasher(FxBuildHasher));
    }

    pub(super) fn shrink() {
        STRINGS.with_borrow_mut(Strings::shrink_to_fit);
    }

    impl Interner for StringInterner {
        type Symbol = SymbolU32;

        fn intern(text: &str) -> SymbolU32 {
            STRINGS.with_borrow_mut(|strings| strings.get_or_intern(text))
        }

        fn with<R>(symbol: SymbolU32, read: impl FnOnce(&str) -> R) -> R {
            STRINGS.with_borrow(|strings| read(strings.resolve(symbol).expect("made by `intern`")))
        }
    }
}

/// `ustr`: one interner for the whole program. A symbol is a pointer.
pub(super) struct Ustr;

impl Interner for Ustr {
    type Symbol = ustr::Ustr;

    fn intern(text: &str) -> ustr::Ustr {
        ustr::Ustr::from(text)
    }

    fn with<R>(symbol: ustr::Ustr, read: impl FnOnce(&str) -> R) -> R {
        read(symbol.as_str())
    }
}

/// `internment`'s `Intern`: one interner for each type. A symbol is a (wide) pointer to a box that is never freed.
pub(super) struct Internment;

impl Interner for Internment {
    type Symbol = internment::Intern<str>;

    fn intern(text: &str) -> internment::Intern<str> {
        internment::Intern::from(text)
    }

    fn with<R>(symbol: internment::Intern<str>, read: impl FnOnce(&str) -> R) -> R {
        read(&symbol)
    }
}

/// An interned string always has a symbol, so it is never empty.
impl<I: Interner> IsEmpty for Interned<I> {
    fn is_empty(&self) -> bool {
        false
    }
}

/// Frees the spare capacity of the interner that supports it.
pub(super) fn settle() {
    string_interner::shrink();
}
