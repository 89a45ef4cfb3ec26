//! The macros of [`dwell`](https://docs.rs/dwell) that derive and transform, re-exported there by its feature `derive`.

mod erased;
mod sparse;
mod weigh;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `dwell::sparse::IsEmpty` and `dwell::sparse::DefaultRef`, which `dwell::Sparse` requires, and `ConstDefault` for
/// types with `#[sparse(const)]`.
///
/// The type must implement `Default`; `#[sparse(const)]` implements it as well. A struct is empty if all its fields are empty; its type
/// parameters must implement `IsEmpty` for that. An enum is empty if it is the `#[default]` variant, whatever its type parameters are.
/// If a `Default` written by hand has a field that is not empty, no value of the type is empty, unless `#[sparse(eq)]` compares the
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
/// | `#[sparse(const)]` | type | writes `Default` too, as a constant: reading an empty value of a type without type parameters then costs no check whether its default has been made, so prefer it where the fields allow it. Every field's type must be `dwell::sparse::ConstDefault`; of an enum, the default is the variant marked `#[default]` |
/// | `#[sparse(allow_interior_mutability)]` | field | the field may be written through `&`, see below |
/// | `#[sparse(eq)]` | type, field | empty when `==` to the type's or the field's `Default`; what `==` takes for equal (`0.0` and `-0.0`) is then forgotten |
/// | `#[sparse(is_empty = "path")]` | field | empty if the function `path` returns `true` for `&field` |
/// | `#[sparse(bound = "T: Trait")]` | type | these bounds instead of `T: IsEmpty` for each type parameter of a struct, or `Self: PartialEq` with `eq` |
/// | `#[sparse(crate = "path")]` | type | the path of the crate `dwell`, if not `::dwell` |
///
/// # Lifetimes and type parameters
///
/// The default is in a `static`, with `'static` for the lifetimes of the type, and is borrowed for any shorter lifetime. `Deref`
/// therefore works for all lifetimes of the type. It requires type parameters to be `'static`; `Sparse::get` does not.
///
/// # Interior mutability
///
/// All empty values share one default, which must not be written. The derive therefore refuses a field that can be written through
/// `&` (`AtomicU32`, `Mutex<T>`, `OnceLock<T>`) with the error E0492 at its type. Move such a field out of the sparse struct, or mark
/// it `#[sparse(allow_interior_mutability)]` if all empty values may share it, such as a cache of a value computed from the other
/// fields. The derive cannot refuse a field whose type names a type parameter, or interior mutability behind a pointer
/// (`Box<AtomicU32>`, `Arc<Mutex<T>>`).
#[proc_macro_derive(Sparse, attributes(sparse, default))]
pub fn derive_sparse(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    sparse::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `dwell::weigh::Weigh`: the walk follows each field to all that it owns.
///
/// In an enum the walk follows the fields of the current variant. A type parameter that fields contain must implement `Weigh`; one that
/// occurs only behind references, raw pointers or `PhantomData` need not.
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
/// | `#[weigh(skip)]` | field | the walk skips it; its own bytes still count in the struct's |
/// | `#[weigh(with = "path")]` | field | the function `path` returns what `&field` owns, as a `dwell::weigh::Weight`; the field's type need not be `Weigh` |
/// | `#[weigh(shared)]` | field | a reference, or anything else that derefs to a `Weigh` type: what it points to counts as a block of its own, once a walk however many point there |
/// | `#[weigh(name = "..")]` | type, field | its name in a tree |
/// | `#[weigh(bound = "T: Trait")]` | type | these bounds instead of `T: Weigh` for each type parameter |
/// | `#[weigh(crate = "path")]` | type | the path of the crate `dwell`, if not `::dwell` |
#[proc_macro_derive(Weigh, attributes(weigh))]
pub fn derive_weigh(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    weigh::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes `async fn`s return a `PoolFuture`: their futures are in slots of the thread's pool, and a trait with such functions can
/// be a `dyn Trait`.
///
/// It stands on a trait and on each of its impls, on an inherent impl, or on one `async fn`, which may then call itself.
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
/// It is a stand-in for [async-trait](https://docs.rs/async-trait), whose signatures it has, and needs dwell's feature `std`.
/// A future may outlive the thread that made it and the slots of that thread's pool.
///
/// | | |
/// |---|---|
/// | `#[erased]` | the futures are `Send`. A default body of a method adds `where Self: Sync` for `&self`, and `where Self: Send` for `&mut self` and `self`, unless that is a supertrait |
/// | `#[erased(?Send)]` | the futures need not be `Send` |
/// | `#[erased(crate = "path")]` | where the crate `dwell` is, if not at `::dwell` |
#[proc_macro_attribute]
pub fn erased(args: TokenStream, item: TokenStream) -> TokenStream {
    let args = parse_macro_input!(args as erased::Args);
    erased::expand(&args, item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}
