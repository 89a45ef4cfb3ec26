//! The compared ways to store a future. Each is one implementation of `Subject`.

use boxpin::BoxPinExt;
use dwell::pin::{self, ErasedExt, PinExt};
use dwell::slab;
use dwell::{SmallBox, slab::Slab};
use futures::future::{BoxFuture, FutureExt};
use stackfuture::StackFuture;
use std::any::Any;
use std::cell::OnceCell;
use std::pin::Pin;
use tokio_util::sync::ReusableBoxFuture;

/// A future of a workload.
pub(super) trait Work: Future<Output = u64> + Send + 'static {}
impl<F: Future<Output = u64> + Send + 'static> Work for F {}

/// A way to store a future.
pub(super) trait Subject: 'static {
    const NAME: &'static str;
    /// The name if it stores only the outermost of several layers, instead of each layer.
    const ONCE: &'static str;
    type Storage: Default + 'static;
    type Held<'a, F: Work>: Future<Output = u64>;

    fn make<F: Work>(storage: &mut Self::Storage, future: F) -> Self::Held<'_, F>;
}

/// A subject with `Send` futures that own their memory.
pub(super) trait Sends: 'static {
    const NAME: &'static str;
    const ONCE: &'static str;
    type Storage: Default + 'static;
    type Held<F: Work>: Work;

    fn hold<F: Work>(storage: &Self::Storage, future: F) -> Self::Held<F>;
}

impl<S: Sends> Subject for S {
    const NAME: &'static str = <S as Sends>::NAME;
    const ONCE: &'static str = <S as Sends>::ONCE;
    type Storage = <S as Sends>::Storage;
    type Held<'a, F: Work> = <S as Sends>::Held<F>;

    fn make<F: Work>(storage: &mut Self::Storage, future: F) -> Self::Held<'_, F> {
        S::hold(storage, future)
    }
}

macro_rules! sends {
    ($($(#[$attr:meta])* $Subject:ident $([const $size:ident])?, $name:literal, $Storage:ty: <$F:ident> $Held:ty, |$storage:pat_param, $future:ident| $make:expr;)*) => {$(
        $(#[$attr])*
        pub(super) struct $Subject $(<const $size: usize>)?;

        impl $(<const $size: usize>)? Sends for $Subject $(<$size>)? {
            const NAME: &'static str = $name;
            const ONCE: &'static str = concat!($name, "/once");
            type Storage = $Storage;
            type Held<$F: Work> = $Held;

            fn hold<$F: Work>($storage: &$Storage, $future: $F) -> $Held {
                $make
            }
        }
    )*};
}

type Dyn = dyn Future<Output = u64> + Send;

sends! {
    NoBox, "no_box", (): <F> F, |(), future| future;
    ConcretePin, "concrete_pin", (): <F> Pin<Box<F>>, |(), future| Box::pin(future);
    BoxPin, "boxpin 0.1.0", (): <F> Pin<Box<F>>, |(), future| BoxPinExt::pinned(future);
    Pinned, "dwell/pinned", (): <F> Pin<Box<F>>, |(), future| PinExt::pinned(future);
    /// The baseline.
    Boxed, "boxed", (): <F> BoxFuture<'static, u64>, |(), future| future.boxed();
    /// Has `BYTES` bytes of inline storage.
    Stack [const BYTES], "stackfuture 0.3.1", (): <F> StackFuture<'static, u64, BYTES>, |(), future| StackFuture::from(future);
    /// Has `WORDS` words of inline storage.
    InlineBox [const WORDS], "dwell/inline", (): <F> pin::InlineFuture<'static, u64, WORDS>, |(), future| future.inline();
    Small [const WORDS], "dwell/small", (): <F> SmallBox<Dyn, WORDS>, |(), future| future.small();
    Pool, "dwell/pool", slab::Pool: <F> pin::PoolFuture<'static, u64>, |storage, future| future.pooled_in(storage);
    Pooled, "dwell/pooled", (): <F> pin::PoolFuture<'static, u64>, |(), future| future.pooled();
}

/// Dwell's pool of one thread, whose futures are not `Send`.
pub(super) struct LocalPool;

impl Subject for LocalPool {
    const NAME: &'static str = "dwell/pool_local";
    const ONCE: &'static str = "dwell/pool_local/once";
    type Storage = slab::Pool;
    type Held<'a, F: Work> = pin::LocalPoolFuture<'static, u64>;

    fn make<F: Work>(storage: &mut Self::Storage, future: F) -> Self::Held<'_, F> {
        future.pooled_local_in(storage)
    }
}

/// Dwell's slab for futures of one type. The futures are not erased and not `Send`.
pub(super) struct InSlab;

impl Subject for InSlab {
    const NAME: &'static str = "dwell/slab";
    const ONCE: &'static str = "dwell/slab/once";
    /// A `Slab<F>`, as `Any` because the type `F` is not known here.
    type Storage = OnceCell<Box<dyn Any>>;
    type Held<'a, F: Work> = Pin<slab::Slot<F>>;

    fn make<F: Work>(storage: &mut Self::Storage, future: F) -> Self::Held<'_, F> {
        let slab: &dyn Any = &**storage.get_or_init(|| Box::new(Slab::<F>::new()));
        future.pinned_in(slab.downcast_ref::<Slab<F>>().expect("a storage has one workload"))
    }
}

/// tokio-util's block, which stores one future after another.
pub(super) struct ReusableBox;

impl Subject for ReusableBox {
    const NAME: &'static str = "ReusableBoxFuture 0.7";
    const ONCE: &'static str = "ReusableBoxFuture 0.7/once";
    type Storage = Option<ReusableBoxFuture<'static, u64>>;
    type Held<'a, F: Work> = &'a mut ReusableBoxFuture<'static, u64>;

    fn make<F: Work>(storage: &mut Self::Storage, future: F) -> Self::Held<'_, F> {
        match storage {
            Some(reusable) => {
                reusable.set(future);
                reusable
            }
            None => storage.insert(ReusableBoxFuture::new(future)),
        }
    }
}

/// Dwell's block, which stores one future after another.
pub(super) struct Reusable;

impl Subject for Reusable {
    const NAME: &'static str = "dwell/reusable";
    const ONCE: &'static str = "dwell/reusable/once";
    type Storage = pin::ReusableFuture<'static, u64>;
    type Held<'a, F: Work> = &'a mut pin::ReusableFuture<'static, u64>;

    fn make<F: Work>(storage: &mut Self::Storage, future: F) -> Self::Held<'_, F> {
        storage.set(future);
        storage
    }
}
