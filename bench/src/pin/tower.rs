//! A stack of eight tower layers, each of them type-erased.

use dwell::pin::tower::PoolCloneService;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tower::util::BoxCloneService;
use tower::{Service, ServiceExt, service_fn};

use crate::op::{Op, Run, Suite};
use crate::sink;

/// A way to erase the type of a layer.
trait Subject: 'static {
    const NAME: &'static str;
    type Service: Service<u64, Response = u64, Error = u64, Future: Send + 'static> + Clone + Send + 'static;

    fn erase<S>(service: S) -> Self::Service
    where
        S: Service<u64, Response = u64, Error = u64, Future: Send + 'static> + Clone + Send + 'static;
}

struct Tower;

impl Subject for Tower {
    const NAME: &'static str = "BoxCloneService";
    type Service = BoxCloneService<u64, u64, u64>;

    fn erase<S>(service: S) -> Self::Service
    where
        S: Service<u64, Response = u64, Error = u64, Future: Send + 'static> + Clone + Send + 'static,
    {
        BoxCloneService::new(service)
    }
}

struct Dwell;

impl Subject for Dwell {
    const NAME: &'static str = "dwell";
    type Service = PoolCloneService<u64, u64, u64>;

    fn erase<S>(service: S) -> Self::Service
    where
        S: Service<u64, Response = u64, Error = u64, Future: Send + 'static> + Clone + Send + 'static,
    {
        PoolCloneService::new(service)
    }
}

async fn answer(request: u64) -> Result<u64, u64> {
    Ok(request)
}

/// Returns a service with eight layers, each of which modifies the request and the response.
fn stack<S: Subject>() -> S::Service {
    let mut service = S::erase(service_fn(answer));
    for layer in 0..8 {
        service = S::erase(
            service
                .map_request(move |request: u64| request ^ layer)
                .map_response(move |response: u64| response ^ layer),
        );
    }
    service
}

/// Calls the service and polls until the response is ready.
#[inline(never)]
fn ask<S: Service<u64, Response = u64, Error = u64>>(service: &mut S, request: u64) {
    let mut context = Context::from_waker(Waker::noop());
    while service.poll_ready(&mut context).is_pending() {}
    let mut call = pin!(service.call(request));
    loop {
        if let Poll::Ready(answer) = call.as_mut().poll(&mut context) {
            sink::word(answer.unwrap_or(0));
            break;
        }
    }
}

fn ops<S: Subject>() -> Vec<Op> {
    vec![
        Op::new("eight/request", S::NAME, || -> Run {
            let mut service = stack::<S>();
            Box::new(move |operations| (0..operations).for_each(|_| ask(&mut service, black_box(7))))
        }),
        // Servers clone the service for each connection, or, as axum does, for each request.
        Op::new("eight/clone+request", S::NAME, || -> Run {
            let service = stack::<S>();
            Box::new(move |operations| (0..operations).for_each(|_| ask(&mut service.clone(), black_box(7))))
        }),
    ]
}

pub(super) fn suite() -> Suite {
    let mut all = ops::<Tower>();
    all.extend(ops::<Dwell>());
    Suite { module: "tower", baseline: Tower::NAME, ops: all }
}
