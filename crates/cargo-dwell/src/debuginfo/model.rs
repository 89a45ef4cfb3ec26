//! The debug info of a program as plain values.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

/// A piece of text that many values share.
pub type Text = Arc<str>;

/// A type of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// The types of one executable. Equal types of several compilation units are one type.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The file that the debug info belongs to.
    pub file: PathBuf,
    /// The build id (ELF) or UUID (Mach-O) in hexadecimal digits.
    pub build_id: Option<Text>,
    /// The version of rustc that built the newest of the program's own units, such as `1.95.0`.
    pub rustc: Option<Text>,
    /// Bytes of a thin pointer.
    pub pointer_size: u64,
    /// The compilation units, as the compiler names them.
    pub units: Vec<Text>,
    /// Bytes of debug info that were read.
    pub bytes: u64,
    /// The parts that could not be read, with the reason: units of other compilers, missing files. The rest is complete.
    pub damaged: Vec<String>,
    /// The statics and vtables with a fixed address, ordered by it.
    pub statics: Vec<Static>,
    pub(crate) types: Vec<Type>,
}

impl Program {
    /// All types, in an order that is the same whenever the same executable is read.
    pub fn types(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        (0..).map(TypeId).zip(&self.types)
    }

    /// The type that `id` names.
    ///
    /// # Panics
    /// If `id` is of another program.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// Takes the crate off the names of the workspace's own types where only types of other crates are called the same:
    /// `Node` for `app::Node`, though std has a `linked_list::Node`.
    pub fn prefer_own_names(&mut self) {
        let head = |name: &Text| name.split('<').next().unwrap_or_default().to_owned();
        let mut taken: HashMap<String, HashSet<String>> = HashMap::new();
        for ty in self.types.iter().filter(|ty| ty.own) {
            let name = head(&ty.name);
            if !name.starts_with('{') {
                let last = name.rsplit("::").next().unwrap_or_default().to_owned();
                taken.entry(last).or_default().insert(name);
            }
        }
        let only = |(last, names): (String, HashSet<String>)| match names.len() {
            1 => names.into_iter().next().filter(|name| *name != last).map(|name| (name, last)),
            _ => None,
        };
        let mut short: Vec<(String, String)> = taken.into_iter().filter_map(only).collect();
        short.sort();
        for ty in &mut self.types {
            for (name, last) in &short {
                if ty.name.contains(name.as_str()) {
                    ty.name = replace_word(&ty.name, name, last).into();
                }
            }
        }
    }

    /// Bytes of a value of type `id`.
    pub fn size_of(&self, id: TypeId) -> u64 {
        self.get(id).size
    }
}

/// Replaces `word` where it is not a part of a longer path.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let is_part = |character: Option<char>| character.is_some_and(|of| of.is_alphanumeric() || matches!(of, '_' | ':'));
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(word) {
        let end = at + word.len();
        if !is_part(text[..at].chars().next_back()) && !is_part(text[end..].chars().next()) {
            out.push_str(&text[done..at]);
            out.push_str(by);
            done = end;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// A static, or a vtable.
#[derive(Clone, Debug)]
pub struct Static {
    /// Where it is in the executable.
    pub address: u64,
    /// The name in full.
    pub path: Text,
    /// Its type; a [`Kind::Vtable`] of a vtable.
    pub ty: TypeId,
}

/// A function on a call stack: one that has a frame of its own, or one that was inlined into it.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The name in full: `alloc::vec::{impl#1}::push<u8, alloc::alloc::Global>`.
    pub path: Text,
    /// The arguments of its type parameters.
    pub params: Vec<Param>,
    /// The line of it that was being run.
    pub source: Option<Source>,
}

/// A type with its layout.
#[derive(Clone, Debug)]
pub struct Type {
    /// The name as a person writes it: `Option<Vec<u8>>`, `{closure in main:12}`.
    pub name: Text,
    /// The name in full: `core::option::Option<alloc::vec::Vec<u8, alloc::alloc::Global>>`.
    pub path: Text,
    /// Bytes of a value.
    pub size: u64,
    /// The alignment in bytes. It is inferred from the fields where the debug info does not say it.
    pub align: u64,
    /// Its parts.
    pub kind: Kind,
    /// The arguments of its type parameters.
    pub params: Vec<Param>,
    /// The position of its declaration. rustc emits it for closures and coroutines only.
    pub source: Option<Source>,
    /// The crate that declares it, as it is called in code: `serde_json`. Empty for built-in types.
    pub krate: Text,
    /// Whether [`krate`](Self::krate) is one of the workspace's own.
    pub own: bool,
    /// Whether it is declared `pub`.
    pub public: bool,
    /// The first unit that has it, an index of [`Program::units`].
    pub unit: u32,
}

/// The parts of a [`Type`].
#[derive(Clone, Debug)]
pub enum Kind {
    /// An integer, a float, `bool`, `char`, `()`.
    Primitive,
    /// A struct or a tuple.
    Struct(Vec<Field>),
    /// A union: all fields begin where they say and may overlap.
    Union(Vec<Field>),
    /// An enum, with or without fields.
    Enum(Enum),
    /// A closure: what it captures.
    Closure(Vec<Field>),
    /// The future of an `async fn`, block or closure, or another coroutine.
    Coroutine(Coroutine),
    /// `[T; N]`.
    Array {
        /// `T`
        element: TypeId,
        /// `N`
        count: u64,
    },
    /// A thin pointer or reference, a function pointer.
    Pointer {
        /// Its target, if known.
        pointee: Option<TypeId>,
    },
    /// A pointer with a length or a vtable: `&[T]`, `&str`, `Box<dyn Trait>`.
    WidePointer {
        /// The element of a slice (`u8` for `str`), the `dyn Trait` of a trait object.
        pointee: Option<TypeId>,
        /// The two words.
        fields: Vec<Field>,
    },
    /// The vtable of a type for a trait.
    Vtable(Vtable),
    /// A type without a layout of its own: `dyn Trait`, a function, a foreign type.
    Opaque,
}

/// A part of a type, at a fixed offset.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name; a tuple's are `0`, `1`. The future that an `.await` waits for is `__awaitee`.
    pub name: Text,
    /// Its type.
    pub ty: TypeId,
    /// Bytes from the start of the outermost value.
    pub offset: u64,
    /// The line that declares it, in the file of the type's [`source`](Type::source). Known for what a coroutine holds.
    pub line: Option<u32>,
}

/// An enum's variants and the tag that distinguishes them.
#[derive(Clone, Debug)]
pub struct Enum {
    /// The tag of the variants; `None` if there is at most one variant.
    pub tag: Option<Tag>,
    /// The variants, as they are declared.
    pub variants: Vec<Variant>,
}

/// The bytes that distinguish an enum's variants or a coroutine's states.
#[derive(Clone, Debug)]
pub struct Tag {
    /// Its offset in bytes.
    pub offset: u64,
    /// Its bytes.
    pub size: u64,
    /// The path of the niche in a variant's field, such as `buf.cap`; `None` for a tag that has bytes of its own.
    pub niche: Option<Text>,
}

/// A variant of an [`Enum`].
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name.
    pub name: Text,
    /// The tag's values that select it. Empty: all values that no other variant has.
    pub discriminants: Vec<RangeInclusive<i128>>,
    /// The fields. Their offsets count from the start of the enum.
    pub fields: Vec<Field>,
}

/// A coroutine's states and what it holds in each.
#[derive(Clone, Debug)]
pub struct Coroutine {
    /// Its name in the source.
    pub flavour: Flavour,
    /// The function that has it, as a person writes it: `Server::run`.
    pub function: Text,
    /// The tag that distinguishes the states.
    pub tag: Option<Tag>,
    /// The captures or arguments, which the first state holds.
    pub captures: Vec<Field>,
    /// `Unresumed`, `Returned`, `Panicked`, and one `Suspend` per `.await`.
    pub states: Vec<State>,
}

/// The source construct of a coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// `async fn`
    AsyncFn,
    /// `async {}`
    AsyncBlock,
    /// `async || {}`
    AsyncClosure,
    /// `gen` and `async gen` blocks, `#[coroutine]`
    Other,
}

/// A state of a [`Coroutine`].
#[derive(Clone, Debug)]
pub struct State {
    /// `Unresumed`, `Returned`, `Panicked`, `Suspend0`, ...
    pub name: Text,
    /// The tag's value.
    pub discriminant: Option<i128>,
    /// The file and line of its `.await`.
    pub source: Option<Source>,
    /// The values held in this state, captures included, without [`awaited`](Self::awaited). Offsets count from the start of
    /// the coroutine.
    pub held: Vec<Field>,
    /// The future that is waited for.
    pub awaited: Option<Field>,
}

impl State {
    /// Whether the coroutine waits here at an `.await` (or `yield`).
    pub fn is_suspended(&self) -> bool {
        self.name.starts_with("Suspend")
    }
}

/// A vtable.
#[derive(Clone, Debug)]
pub struct Vtable {
    /// The type that the trait is implemented for.
    pub concrete: TypeId,
    /// The trait as a person writes it; empty for a vtable of `dyn Send` and the like.
    pub trait_name: Text,
    /// The trait in full.
    pub trait_path: Text,
}

/// The argument of a type parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// `T`
    pub name: Text,
    /// The type of `T`.
    pub ty: TypeId,
}

/// A position in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The file, as the compiler was given it: below the workspace's root for its own crates.
    pub file: Text,
    /// The line, from 1.
    pub line: u32,
}
