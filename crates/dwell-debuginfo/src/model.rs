//! The debug info of a program as plain values.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

/// A shared text.
pub type Text = Arc<str>;

/// The index of a type in its [`Program`].
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
    /// The size of a thin pointer in bytes.
    pub pointer_size: u64,
    /// The compilation units, with the compiler's names.
    pub units: Vec<Text>,
    /// The number of bytes of debug info that were read.
    pub bytes: u64,
    /// The parts that could not be read, with the reason: units of other compilers, missing files. All other types are
    /// present.
    pub damaged: Vec<String>,
    /// The statics and vtables with a fixed address, sorted by it.
    pub statics: Vec<Static>,
    /// The thread-local variables. Their address is the offset in the executable's block of each thread.
    pub thread_locals: Vec<Static>,
    /// The types. A [`TypeId`] is an index.
    pub types: Vec<Type>,
    /// The first type of each further object, of [`load_objects`](crate::load_objects).
    pub objects: Vec<TypeId>,
    /// The file of each further object.
    pub files: Vec<PathBuf>,
}

impl Program {
    /// Returns all types, in a deterministic order.
    pub fn types(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        (0..).map(TypeId).zip(&self.types)
    }

    /// Returns the type with an index.
    ///
    /// # Panics
    /// Panics if `id` is from another program with more types.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// Removes the crate from the names of the workspace's types if only types of other crates have the same name.
    ///
    /// For example, `app::Node` becomes `Node`, although std has a `linked_list::Node`.
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

    /// Returns the size of a value of type `id` in bytes.
    pub fn size_of(&self, id: TypeId) -> u64 {
        self.get(id).size
    }
}

/// Replaces `word` where it is not part of a longer path.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let is_part = |character: Option<char>| character.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':'));
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

/// A static or a vtable.
#[derive(Clone, Debug)]
pub struct Static {
    /// Its address in the executable.
    pub address: u64,
    /// The full path.
    pub path: Text,
    /// Its type; a vtable has a [`Kind::Vtable`].
    pub ty: TypeId,
}

/// A function on a call stack, with its own frame or inlined into another function.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The full path: `alloc::vec::{impl#1}::push<u8, alloc::alloc::Global>`.
    pub path: Text,
    /// The type of the `impl` in the path, if a symbol names it: `Vec<T>`.
    pub implementor: Option<Text>,
    /// The arguments of its type parameters.
    pub params: Vec<Param>,
    /// The line that was executing.
    pub source: Option<Source>,
    /// For a function with a frame of its own, the variables in that frame, with their types, and whether a function declares
    /// them that is inlined into this one.
    pub locals: Vec<(Text, TypeId, bool)>,
}

/// A variable or parameter that is in scope at an address.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: Text,
    /// Its type.
    pub ty: TypeId,
    /// The full path of its function; empty if it is not known.
    pub function: Text,
    /// The DWARF expression of its location at that address.
    pub location: Box<[u8]>,
    /// The DWARF expression of its function's frame base.
    pub base: Option<Box<[u8]>>,
    /// The encoding of both expressions.
    pub encoding: gimli::Encoding,
}

/// A type with its layout.
#[derive(Clone, Debug)]
pub struct Type {
    /// The short name: `Option<Vec<u8>>`, `{closure in main:12}`.
    pub name: Text,
    /// The full path: `core::option::Option<alloc::vec::Vec<u8, alloc::alloc::Global>>`.
    pub path: Text,
    /// The size of a value in bytes.
    pub size: u64,
    /// The alignment in bytes, inferred from the fields if the debug info does not have it.
    pub align: u64,
    /// Its kind, with its parts.
    pub kind: Kind,
    /// The arguments of its type parameters.
    pub params: Vec<Param>,
    /// The position of its declaration. rustc emits it for closures and coroutines only.
    pub source: Option<Source>,
    /// The crate that declares it, with its name in code: `serde_json`. Empty for built-in types.
    pub krate: Text,
    /// Whether [`krate`](Self::krate) belongs to the workspace.
    pub own: bool,
    /// Whether it is declared `pub`.
    pub public: bool,
    /// The first unit that has it, as an index into [`Program::units`].
    pub unit: u32,
}

/// The kind of a [`Type`], with its parts.
#[derive(Clone, Debug)]
pub enum Kind {
    /// An integer, a float, `bool`, `char`, `()`.
    Primitive,
    /// A struct or a tuple.
    Struct(Vec<Field>),
    /// A union. Fields may overlap.
    Union(Vec<Field>),
    /// An enum, with or without fields.
    Enum(Enum),
    /// A closure, with its captures.
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
        /// The pointer's target, if known.
        pointee: Option<TypeId>,
    },
    /// A pointer with a length or vtable: `&[T]`, `&str`, `Box<dyn Trait>`.
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

/// A field at a fixed offset.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name. Fields of tuples are `0`, `1` and so on; the future that an `.await` polls is `__awaitee`.
    pub name: Text,
    /// Its type.
    pub ty: TypeId,
    /// The offset in the outermost value, in bytes.
    pub offset: u64,
    /// The line of its declaration, in the file of the type's [`source`](Type::source). Known for values of coroutines.
    pub line: Option<u32>,
}

/// An enum's variants and the tag that distinguishes them.
#[derive(Clone, Debug)]
pub struct Enum {
    /// The tag of the variants; `None` if there is at most one variant.
    pub tag: Option<Tag>,
    /// The variants, in the order of declaration.
    pub variants: Vec<Variant>,
}

/// The bytes that distinguish an enum's variants or a coroutine's states.
#[derive(Clone, Debug)]
pub struct Tag {
    /// The offset in bytes.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
    /// The path of the field with the niche, such as `buf.cap`; `None` for a tag with bytes of its own.
    pub niche: Option<Text>,
}

/// A variant of an [`Enum`].
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name.
    pub name: Text,
    /// The tag values of this variant. If empty, the variant has all values that no other variant has.
    pub discriminants: Vec<RangeInclusive<i128>>,
    /// The fields, with their offsets in the enum.
    pub fields: Vec<Field>,
}

/// A coroutine's states, each with the values that it holds.
#[derive(Clone, Debug)]
pub struct Coroutine {
    /// The construct in the source.
    pub flavour: Flavour,
    /// The function that contains it, as a short name: `Server::run`.
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
    /// The values held in this state, with captures, without [`awaited`](Self::awaited). Offsets are those in the
    /// coroutine.
    pub held: Vec<Field>,
    /// The awaited future.
    pub awaited: Option<Field>,
}

impl State {
    /// Returns `true` if the coroutine is suspended here, at an `.await` or `yield`.
    pub fn is_suspended(&self) -> bool {
        self.name.starts_with("Suspend")
    }
}

/// A vtable.
#[derive(Clone, Debug)]
pub struct Vtable {
    /// The type that the trait is implemented for.
    pub concrete: TypeId,
    /// The short name of the trait; empty for a vtable of `dyn Send` and other traits without methods.
    pub trait_name: Text,
    /// The full path of the trait.
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
    /// The file as the compiler names it, relative to the workspace's root for its crates.
    pub file: Text,
    /// The line, from 1.
    pub line: u32,
}
