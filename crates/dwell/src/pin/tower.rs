//! Type-erased tower services that allocate their calls from pools instead of by `malloc`.
//!
//! | tower's | here | |
//! |---|---|---|
//! | `BoxService` | [`PoolService`] | `Sync`, not `Clone` |
//! | `BoxCloneService` | [`PoolCloneService`] | `Clone`, not `Sync` |
//! | `BoxCloneSyncService` | [`PoolCloneSyncService`] | `Clone` and `Sync`, as axum requires |
//! | `BoxFuture` as a `Service::Future` | [`PoolFuture`], by [`PoolCalls`] | the service keeps its type |
//!
//! ```
//! use dwell::pin::tower::PoolCloneService;
//! use tower::{Service, ServiceExt, service_fn};
//! # use std::task::{Context, Poll, Waker};
//!
//! let upper = service_fn(|text: String| async move { Ok::<_, std::io::Error>(text.to_uppercase()) });
//! let service: PoolCloneService<String, String, std::io::Error> = PoolCloneService::new(upper);
//! let call = service.clone().oneshot("here".into());
//! # let mut call = std::pin::pin!(call);
//! # let Poll::Ready(answer) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!("not ready") };
//! # assert_eq!(answer.unwrap(), "HERE");
//! ```
//!
//! Futures and clones of services are stored in the thread-local pool of [`ErasedExt::pooled`]. Once the pool has grown
//! to the largest number of values that are live at the same time, a call allocates nothing.

use super::{ErasedExt, PoolFuture};
use crate::alloc::AllocError;
use crate::slab::Pooled;
use core::fmt;
use core::task::{Context, Poll};
use tower_layer::{Layer, LayerFn, layer_fn};
use tower_service::Service;

/// The future of a call of a type-erased service.
type Call<Response, Error> = PoolFuture<'static, Result<Response, Error>>;

/// A service whose calls return [`PoolFuture`]s, a type that can be named.
///
/// ```
/// use dwell::pin::{PoolFuture, tower::PoolCalls};
/// use tower::{Service, service_fn};
/// # use std::task::{Context, Poll, Waker};
///
/// let mut service = PoolCalls::new(service_fn(|n: u32| async move { Ok::<_, ()>(n + 1) }));
/// let call: PoolFuture<'static, Result<u32, ()>> = service.call(1);
/// # assert_eq!(std::pin::pin!(call).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(2)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PoolCalls<S> {
    service: S,
}

impl<S> PoolCalls<S> {
    /// Wraps a service.
    pub const fn new(service: S) -> Self {
        Self { service }
    }

    /// Returns the layer that applies [`new`](Self::new).
    pub fn layer() -> PoolCallsLayer {
        PoolCallsLayer
    }
}

/// The [`Layer`] of [`PoolCalls`].
#[derive(Clone, Copy, Debug, Default)]
pub struct PoolCallsLayer;

impl<S> Layer<S> for PoolCallsLayer {
    type Service = PoolCalls<S>;

    fn layer(&self, service: S) -> PoolCalls<S> {
        PoolCalls::new(service)
    }
}

impl<Request, S> Service<Request> for PoolCalls<S>
where
    S: Service<Request>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Call<S::Response, S::Error>;

    #[inline]
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    #[inline]
    fn call(&mut self, request: Request) -> Self::Future {
        self.service.call(request).pooled()
    }
}

/// A type-erased service.
type Erased<Request, Response, Error> =
    dyn Service<Request, Response = Response, Error = Error, Future = Call<Response, Error>> + Send;

macro_rules! erased_service {
    (
        $(#[$attr:meta])*
        $Name:ident: $Erased:ty, where S: $($Bound:ident +)* $life:lifetime
    ) => {
        $(#[$attr])*
        pub struct $Name<Request, Response, Error> {
            service: Pooled<$Erased>,
        }

        impl<Request, Response, Error> $Name<Request, Response, Error> {
            /// Erases the type of a service and of its calls.
            ///
            /// # Panics
            ///
            /// Calls the allocation error handler if the allocation fails, as [`ErasedExt::pooled`] does.
            pub fn new<S>(service: S) -> Self
            where
                S: Service<Request, Response = Response, Error = Error> $(+ $Bound)* + $life,
                S::Future: Send + 'static,
            {
                Self { service: Pooled::new(PoolCalls::new(service)).coerce(|view| view as _) }
            }

            /// Like [`new`](Self::new), but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// If the allocation fails. The error contains the service.
            pub fn try_new<S>(service: S) -> Result<Self, AllocError<S>>
            where
                S: Service<Request, Response = Response, Error = Error> $(+ $Bound)* + $life,
                S::Future: Send + 'static,
            {
                match Pooled::try_new(PoolCalls::new(service)) {
                    Ok(slot) => Ok(Self { service: slot.coerce(|view| view as _) }),
                    Err(error) => Err(error.map(|calls| calls.service)),
                }
            }

            /// Returns the layer that applies [`new`](Self::new).
            pub fn layer<S>() -> LayerFn<fn(S) -> Self>
            where
                S: Service<Request, Response = Response, Error = Error> $(+ $Bound)* + $life,
                S::Future: Send + 'static,
            {
                layer_fn(Self::new)
            }
        }

        impl<Request, Response, Error> Service<Request> for $Name<Request, Response, Error> {
            type Response = Response;
            type Error = Error;
            type Future = Call<Response, Error>;

            #[inline]
            fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
                self.service.poll_ready(context)
            }

            #[inline]
            fn call(&mut self, request: Request) -> Self::Future {
                self.service.call(request)
            }
        }

        impl<Request, Response, Error> fmt::Debug for $Name<Request, Response, Error> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Name)).finish_non_exhaustive()
            }
        }
    };
}

erased_service! {
    /// A type-erased service: tower's `BoxService` without `malloc`.
    ///
    /// ```
    /// use dwell::pin::tower::PoolService;
    /// use tower::{Service, service_fn};
    /// # use std::task::{Context, Poll, Waker};
    ///
    /// let mut service: PoolService<u32, u32, ()> = PoolService::new(service_fn(|n| async move { Ok(n + 1) }));
    /// let call = service.call(1);
    /// # assert_eq!(std::pin::pin!(call).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(2)));
    /// ```
    PoolService: Erased<Request, Response, Error>, where S: Send + 'static
}

// SAFETY: no function accesses the service through a `&PoolService`: `poll_ready` and `call` take `&mut self`, there is
// no `Clone`, and `Debug` prints only the name.
unsafe impl<Request, Response, Error> Sync for PoolService<Request, Response, Error> {}

macro_rules! cloned_service {
    ($(#[$attr:meta])* $Name:ident, $Clone:ident: $($Auto:ident)+) => {
        /// A service that clones itself into a slot of the pool.
        trait $Clone<Request>: Service<Request> {
            fn clone_pooled(
                &self,
            ) -> Pooled<
                dyn $Clone<Request, Response = Self::Response, Error = Self::Error, Future = Self::Future> $(+ $Auto)+,
            >;
        }

        impl<Request, S: Service<Request> + Clone $(+ $Auto)+ + 'static> $Clone<Request> for S {
            fn clone_pooled(
                &self,
            ) -> Pooled<
                dyn $Clone<Request, Response = Self::Response, Error = Self::Error, Future = Self::Future> $(+ $Auto)+,
            > {
                Pooled::new(self.clone()).coerce(|view| view as _)
            }
        }

        erased_service! {
            $(#[$attr])*
            $Name: dyn $Clone<Request, Response = Response, Error = Error, Future = Call<Response, Error>> $(+ $Auto)+,
            where S: Clone + $($Auto +)+ 'static
        }

        impl<Request, Response, Error> Clone for $Name<Request, Response, Error> {
            fn clone(&self) -> Self {
                Self { service: self.service.clone_pooled() }
            }
        }
    };
}

cloned_service! {
    /// A type-erased service that can be cloned: tower's `BoxCloneService` without `malloc`.
    ///
    /// ```
    /// use dwell::pin::tower::PoolCloneService;
    /// use tower::{Service, ServiceBuilder, service_fn};
    /// # use std::task::{Context, Poll, Waker};
    ///
    /// let service: PoolCloneService<u32, u32, ()> = ServiceBuilder::new()
    ///     .layer(PoolCloneService::layer())
    ///     .map_request(|n| 2 * n)
    ///     .service_fn(|n| async move { Ok(n + 1) });
    /// let call = service.clone().call(1);
    /// # assert_eq!(std::pin::pin!(call).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(3)));
    /// ```
    PoolCloneService, CloneService: Send
}

cloned_service! {
    /// A type-erased service that can be cloned and shared: tower's `BoxCloneSyncService` without `malloc`.
    PoolCloneSyncService, CloneSyncService: Send Sync
}
