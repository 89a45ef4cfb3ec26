//! The procedural macros of [`dwell`](https://docs.rs/dwell), which re-exports them with its feature `derive`.

mod erased;
mod lints;
mod sparse;
mod weigh;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `IsEmpty` and `DefaultRef` of `dwell::sparse`, which `dwell::Sparse` requires.
///
/// With `#[sparse(const)]` it also implements `ConstDefault`. The type must implement `Default`, or `#[sparse(const)]`
/// implements it too. A struct is empty if all its fields are empty; its type parameters must implement `IsEmpty`. An
/// enum is empty if it is the `#[default]` variant; its type parameters need no bounds. If a manual `Default`
/// implementation has a field that is not empty, no value of the type is empty, unless `#[sparse(eq)]` compares the
/// type as a whole.
///
/// ```
/// use dwell::Sparse;
/// use dwell::sparse::IsEmpty;
///
/// #[derive(Default, Sparse)]
/// struct Page<T> {
///     title: String,
///     items: Vec<T>,
///     #[sparse(eq)] // `Level` has no `IsEmpty`: compared with its default
///     level: Level,
/// }
///
/// #[derive(Default, PartialEq)]
/// struct Level(u8);
///
/// assert!(Page::<u8>::default().is_empty());
/// assert_eq!(Sparse::<Page<u8>>::empty().title, "");
/// ```
///
/// # Attributes
///
/// | attribute | on | meaning |
/// |---|---|---|
/// | `#[sparse(const)]` | type | implements `Default` too, as a constant: reading an empty value of a type without type parameters then needs no check whether its default has been initialised, so prefer it where the fields allow it. Every field's type must implement `dwell::sparse::ConstDefault`; the default of an enum is the variant marked `#[default]` |
/// | `#[sparse(allow_interior_mutability)]` | field | accepts a field that can be written through `&`, see below |
/// | `#[sparse(eq)]` | type, field | empty if `==` to the `Default` of the type or field; differences that `==` ignores (`0.0` and `-0.0`) are then lost |
/// | `#[sparse(is_empty = "path")]` | field | empty if the function `path` returns `true` for `&field` |
/// | `#[sparse(bound = "T: Trait")]` | type | uses these bounds instead of `T: IsEmpty` for each type parameter of a struct, or instead of `Self: PartialEq` with `eq` |
/// | `#[sparse(crate = "path")]` | type | the path of the crate `dwell`, if not `::dwell` |
///
/// # Lifetimes and type parameters
///
/// The default is stored in a `static`, with `'static` for the lifetimes of the type, and is borrowed for any shorter
/// lifetime. `Deref` therefore works for all lifetimes of the type, unless a trait bound names one (`T: Trait<'a>`).
/// It requires type parameters to be `'static`; `Sparse::get` does not.
///
/// # Interior mutability
///
/// All empty values share one default, which must not be written. The derive therefore rejects a field that can be
/// written through `&` (`AtomicU32`, `Mutex<T>`, `OnceLock<T>`) with the error E0492 at the field's type. Move the
/// field out of the sparse struct. If all empty values may share the field, such as a cache of a value computed from
/// the other fields, mark it `#[sparse(allow_interior_mutability)]` instead. The derive cannot reject a field whose
/// type names a type parameter, or interior mutability behind a pointer (`Box<AtomicU32>`, `Arc<Mutex<T>>`).
#[proc_macro_derive(Sparse, attributes(sparse, default))]
pub fn derive_sparse(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    sparse::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `dwell::weigh::Weigh`: the walk follows each field and the memory that it owns.
///
/// In an enum the walk follows the fields of the current variant. A type parameter that fields contain must implement
/// `Weigh`. A parameter that occurs only behind references, raw pointers, in functions or in `PhantomData` need not.
///
/// Function pointers and closures may take references: `fn(&str) -> usize`, `Box<dyn Fn(&T) -> &U>`. The last field of a struct may
/// be unsized: `[T]`, `str`, `dyn Trait` or a `T: ?Sized`.
///
/// ```
/// use dwell::Weigh;
///
/// #[derive(Weigh)]
/// enum Tree<T> {
///     Leaf(T),
///     Branch(Vec<Tree<T>>),
/// }
///
/// let tree = Tree::Branch(vec![Tree::Leaf(String::from("x")), Tree::Branch(Vec::new())]);
/// assert_eq!(dwell::weigh(&tree).heap, 2 * size_of::<Tree<String>>() as u64 + 1);
/// ```
///
/// # Attributes
///
/// | attribute | on | meaning |
/// |---|---|---|
/// | `#[weigh(skip)]` | field | the walk skips the field; its own bytes still count as part of the struct |
/// | `#[weigh(with = "path")]` | field | the function `path` takes `&field` and returns a `dwell::weigh::Weight` of the memory that it owns; the field's type need not implement `Weigh` |
/// | `#[weigh(shared)]` | field | a reference, or another type that derefs to a `Weigh` type: its target counts as a separate block, once a walk however many pointers share it |
/// | `#[weigh(name = "..")]` | type, field | the name in a tree |
/// | `#[weigh(bound = "T: Trait")]` | type | uses these bounds instead of `T: Weigh` for each type parameter |
/// | `#[weigh(crate = "path")]` | type | the path of the crate `dwell`, if not `::dwell` |
#[proc_macro_derive(Weigh, attributes(weigh))]
pub fn derive_weigh(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    weigh::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes `async fn`s return a `PoolFuture`, whose future is in a slot of the thread's pool.
///
/// A trait with such functions is `dyn` compatible. The attribute applies to a trait and each of its impls, to an
/// inherent impl, or to one `async fn`, which may then call itself.
///
/// ```
/// use std::collections::HashMap;
///
/// #[dwell::erased]
/// trait Store: Send + Sync {
///     async fn load(&self, key: &str) -> Option<u64>;
///
///     async fn sum(&self, keys: &[&str]) -> u64 {
///         let mut sum = 0;
///         for key in keys {
///             sum += self.load(key).await.unwrap_or(0);
///         }
///         sum
///     }
/// }
///
/// #[dwell::erased]
/// impl Store for HashMap<String, u64> {
///     async fn load(&self, key: &str) -> Option<u64> {
///         self.get(key).copied()
///     }
/// }
///
/// let store: Box<dyn Store> = Box::new(HashMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]));
/// let sum = std::pin::pin!(async move { store.sum(&["a", "b", "c"]).await });
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(sum.poll(&mut context), std::task::Poll::Ready(3));
/// ```
///
/// The attribute can replace [async-trait](https://docs.rs/async-trait): the signatures are the same apart from the
/// result. It needs dwell's feature `std`. A future may outlive the thread that created it and that thread's pool.
///
/// The trait and each of its impls need the attribute. If it is missing at one of them, the compiler reports E0195: `lifetime
/// parameters or bounds on method .. do not match the trait declaration`.
///
/// | | |
/// |---|---|
/// | `#[erased]` | the futures are `Send`. A default body of a method adds `where Self: Sync` for `&self` and `Pin<&Self>`, `where Self: Send` for `&mut self`, `self` and `Box<Self>`, and both for `Arc<Self>`, unless that is a supertrait |
/// | `#[erased(Sync)]` | the futures are `Send` and `Sync`: a `SyncPoolFuture` |
/// | `#[erased(?Send)]` | the futures need not be `Send` |
/// | `#[erased(crate = "path")]` | the path of the crate `dwell`, if not `::dwell` |
/// # Names
///
/// A body sees its own `self`, arguments and items. The names of the macro begin with `__dwell_`. Its lifetimes are `'async_trait` and
/// those of `'life0`, `'life1`, .. that the function and its trait or impl do not have.
#[proc_macro_attribute]
pub fn erased(args: TokenStream, item: TokenStream) -> TokenStream {
    let args = parse_macro_input!(args as erased::Args);
    erased::expand(&args, item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}
