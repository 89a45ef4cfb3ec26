//! Strings kept once: published crates and a small type of our own beside each other.
//!
//! Each is used as its authors mean it. Those that hand out an index need their interner at hand to read it; it is found
//! through a thread local here, because serde's derive has no place for a context.

use dwell::sparse::IsEmpty;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A way to keep strings once.
pub(super) trait Interner {
    /// Stands for a string; `Ord` need not be the strings' own.
    type Symbol: Copy + Ord;

    fn intern(text: &str) -> Self::Symbol;
    fn with<R>(symbol: Self::Symbol, read: impl FnOnce(&str) -> R) -> R;
}

/// A string kept once by `I`.
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

/// `lasso`: strings in chunks, a slice of them by index, a table of indices.
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

/// `string-interner` with its buffer backend: strings behind each other with their lengths, a symbol is an offset.
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

/// `ustr`: one interner for the whole program, a symbol is a pointer.
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

/// `internment`'s `Intern`: one interner a type, a symbol is a (wide) pointer to a box that is never freed.
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

/// Fields of this type are never empty; there is nothing that an empty symbol would stand for.
impl<I: Interner> IsEmpty for Interned<I> {
    fn is_empty(&self) -> bool {
        false
    }
}

/// Gives back what was reserved ahead, where an interner can.
pub(super) fn settle() {
    string_interner::shrink();
}

/// Our own: strings behind each other in chunks, a symbol is where one begins.
///
/// A chunk never moves, so nothing is copied as it grows. No index from symbols to strings is kept, and the table holds
/// symbols of 4 bytes.
pub(super) struct Offsets;

mod offsets {
    use super::{Interner, Offsets};
    use hashbrown::HashTable;
    use rustc_hash::FxBuildHasher;
    use std::cell::RefCell;
    use std::hash::BuildHasher;
    use std::num::NonZeroU32;

    /// Symbols count in bytes: 4 GB of text at most.
    const CHUNK: usize = 1 << 20;

    #[derive(Default)]
    struct Strings {
        /// Each of `CHUNK` bytes at least; one that is longer has the places of several, which stay empty.
        chunks: Vec<Box<[u8]>>,
        /// Bytes used of the last chunk.
        used: usize,
        table: HashTable<NonZeroU32>,
    }

    impl Strings {
        fn get(&self, symbol: NonZeroU32) -> &str {
            let at = symbol.get() as usize;
            let chunk = &self.chunks[at / CHUNK][at % CHUNK..];
            // The length in seven-bit groups, then the text.
            let (mut length, mut shift, mut head) = (0, 0, 0);
            loop {
                let byte = chunk[head];
                length |= usize::from(byte & 0x7F) << shift;
                head += 1;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            std::str::from_utf8(&chunk[head..head + length]).expect("only strings were put in")
        }

        fn push(&mut self, text: &str) -> NonZeroU32 {
            let needed = text.len() + 5;
            if self.chunks.is_empty() || self.chunks[self.chunks.len() - 1].len() - self.used < needed {
                let spans = needed.div_ceil(CHUNK);
                self.chunks.push(vec![0; spans * CHUNK].into_boxed_slice());
                // No symbol is 0.
                self.used = 1;
            }
            let last = self.chunks.len() - 1;
            let at = self.used;
            let chunk = &mut self.chunks[last][at..];
            let (mut length, mut head) = (text.len(), 0);
            while length >= 0x80 {
                chunk[head] = (length & 0x7F) as u8 | 0x80;
                length >>= 7;
                head += 1;
            }
            chunk[head] = length as u8;
            head += 1;
            chunk[head..head + text.len()].copy_from_slice(text.as_bytes());
            self.used += head + text.len();
            NonZeroU32::new((last * CHUNK + at) as u32).expect("places start at 1")
        }
    }

    thread_local! {
        static STRINGS: RefCell<Strings> = RefCell::default();
    }

    impl Interner for Offsets {
        type Symbol = NonZeroU32;

        fn intern(text: &str) -> NonZeroU32 {
            STRINGS.with_borrow_mut(|strings| {
                let hash = FxBuildHasher.hash_one(text);
                if let Some(&found) = strings.table.find(hash, |&symbol| strings.get(symbol) == text) {
                    return found;
                }
                let symbol = strings.push(text);
                let Strings { chunks: _, used: _, table: _ } = strings;
                let mut table = std::mem::take(&mut strings.table);
                table.insert_unique(hash, symbol, |&symbol| FxBuildHasher.hash_one(strings.get(symbol)));
                strings.table = table;
                symbol
            })
        }

        fn with<R>(symbol: NonZeroU32, read: impl FnOnce(&str) -> R) -> R {
            STRINGS.with_borrow(|strings| read(strings.get(symbol)))
        }
    }
}
