//! An axum router with type-erased middleware and calls in pools instead of `Box<dyn Future>`.
//!
//! ```text
//! cargo run --release -p dwell --features tower --example axum_layers
//! ```
//!
//! The example opens no socket. It calls the router directly, as a test of a service does.

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

/// A trait with an async method that is `dyn` compatible without the crate async-trait.
trait Greetings: Send + Sync {
    fn greeting<'a>(&'a self, name: &'a str) -> PoolFuture<'a, String>;
}

struct English;

impl Greetings for English {
    fn greeting<'a>(&'a self, name: &'a str) -> PoolFuture<'a, String> {
        async move { format!("hello, {name}") }.pooled()
    }
}

/// Replaces tower's `BoxCloneSyncService`: the service and each of its calls are in slots of the thread's pool.
type Service = PoolCloneSyncService<Request<Body>, Response, Infallible>;

fn router(greetings: Arc<dyn Greetings>) -> Router {
    let greet = move |Path(name): Path<String>| {
        let greetings = Arc::clone(&greetings);
        async move { greetings.greeting(&name).await }
    };
    // Each `Service::layer()` erases the types of all layers below it.
    let middleware = ServiceBuilder::new()
        .layer(Service::layer())
        .map_response(|mut response: Response| {
            response.headers_mut().insert("x-answered-by", HeaderValue::from_static("dwell"));
            response
        })
        .layer(Service::layer());
    Router::new().route("/greet/{name}", get(greet)).layer(middleware)
}

fn main() {
    futures::executor::block_on(async {
        let router = router(Arc::new(English));
        for (path, status) in [("/greet/world", StatusCode::OK), ("/nothing", StatusCode::NOT_FOUND)] {
            let request = Request::get(path).body(Body::empty()).expect("a path is a URI");
            let Ok(response) = router.clone().oneshot(request).await;
            assert_eq!(response.status(), status);
            let by = response.headers()["x-answered-by"].clone();
            let body = axum::body::to_bytes(response.into_body(), 1024).await.expect("a small body");
            println!("{path}: {status}, answered by {by:?}: {:?}", String::from_utf8_lossy(&body));
        }
    });
}
