//! An axum router whose middleware is erased layer by layer, without an allocation for it.
//!
//! `cargo run --release -p dwell-bench --example axum`
//!
//! No socket is opened: the requests are made here, as a test of such a service would.

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::Response;
use axum::routing::get;
use dwell::pin::tower::PoolCloneSyncService;
use dwell::pin::{ErasedExt, PoolFuture};
use std::convert::Infallible;
use std::sync::Arc;
use tower::{ServiceBuilder, ServiceExt};

/// Where greetings come from: a trait with an async method that can be a `dyn Greetings`.
trait Greetings: Send + Sync {
    fn greeting<'a>(&'a self, name: &'a str) -> PoolFuture<'a, String>;
}

struct English;

impl Greetings for English {
    fn greeting<'a>(&'a self, name: &'a str) -> PoolFuture<'a, String> {
        async move { format!("hello, {name}") }.pooled()
    }
}

type Service = PoolCloneSyncService<Request<Body>, Response, Infallible>;

fn router(greetings: Arc<dyn Greetings>) -> Router {
    let greet = move |Path(name): Path<String>| {
        let greetings = Arc::clone(&greetings);
        async move { greetings.greeting(&name).await }
    };
    let middleware = ServiceBuilder::new()
        .layer(Service::layer())
        .map_response(|mut response: Response| {
            response.headers_mut().insert("x-answered-by", HeaderValue::from_static("dwell"));
            response
        })
        .layer(Service::layer());
    Router::new().route("/greet/{name}", get(greet)).layer(middleware)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let router = router(Arc::new(English));
    for (path, status) in [("/greet/world", StatusCode::OK), ("/nothing", StatusCode::NOT_FOUND)] {
        let request = Request::get(path).body(Body::empty()).expect("a path is a URI");
        let response = match router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        assert_eq!(response.status(), status);
        let by = response.headers().get("x-answered-by").cloned();
        let body = axum::body::to_bytes(response.into_body(), 1024).await.expect("a small body");
        println!("{path}: {status}, by {by:?}, {:?}", String::from_utf8_lossy(&body));
    }
}
