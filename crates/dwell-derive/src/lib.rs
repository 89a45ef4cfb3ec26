//! The macros of [`dwell`](https://docs.rs/dwell) that derive and transform, re-exported there by its feature `derive`.

mod erased;
mod sparse;
mod weigh;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `dwell::sparse::IsEmpty` and `dwell::sparse::DefaultRef` (and `ConstDefault` where it can), which make a
/// type fit for `dwell::Sparse`.
///
/// The type must implement `Default`, which `#[sparse(const)]` writes as well. A struct is empty when all its fields
/// are; a type parameter `T` must then be `IsEmpty` itself. An enum is empty when it is its `#[default]` variant. A
/// `Default` written by hand that is not empty field by field is respected: then no value counts as empty, unless the
/// type is compared as a whole with `#[sparse(eq)]`.
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
/// | `#[sparse(is_empty = "path")]` | field | empty when the function `path` says so of `&field` |
/// | `#[sparse(bound = "T: Trait")]` | type | these bounds instead of `T: IsEmpty` for each type parameter |
/// | `#[sparse(crate = "path")]` | type | where the crate `dwell` is, if not at `::dwell` |
///
/// # Lifetimes and type parameters
///
/// What an empty `Sparse` lends lives in a `static`, made for `'static` and lent for any shorter lifetime. So `Deref` works
/// for all lifetimes of the type. Its type parameters must be `'static` for `Deref`; `Sparse::get` works for all.
///
/// # Interior mutability
///
/// All empty values lend one default, which must not be written. So a field that can be written through `&` (`AtomicU32`,
/// `Mutex<T>`, `OnceLock<T>`) is refused with the error E0492 at its type. Two ways out: keep such a field outside of what is
/// `Sparse`, or, if it is right that all empty values share it (a cache of something computed from the others), mark it
/// `#[sparse(allow_interior_mutability)]`. What cannot be seen is not refused: a field whose type names a type parameter, and
/// what is behind a pointer (`Box<AtomicU32>`, `Arc<Mutex<T>>`).
#[proc_macro_derive(Sparse, attributes(sparse, default))]
pub fn derive_sparse(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    sparse::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `dwell::weigh::Weigh`: a walk follows each field to all that it owns.
///
/// Of an enum it follows the variant that is there. A type parameter that fields hold must be `Weigh` itself; one that is
/// only behind references, raw pointers or `PhantomData` need not be.
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
/// | `#[weigh(skip)]` | field | what it owns is left out; its own bytes still count in the struct's |
/// | `#[weigh(with = "path")]` | field | the function `path` says what `&field` owns, as a `dwell::weigh::Weight`; the field's type need not be `Weigh` |
/// | `#[weigh(shared)]` | field | a reference, or anything else that derefs to a `Weigh` type: what it points to counts as a block of its own, once a walk however many point there |
/// | `#[weigh(name = "..")]` | type, field | what it is called in a tree |
/// | `#[weigh(bound = "T: Trait")]` | type | these bounds instead of `T: Weigh` for each type parameter |
/// | `#[weigh(crate = "path")]` | type | where the crate `dwell` is, if not at `::dwell` |
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
