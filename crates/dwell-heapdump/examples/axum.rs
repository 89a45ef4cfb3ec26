//! A server whose heap can be had by `curl localhost:PORT/debug/heap > heap.core`.
//!
//! Run it by `cargo run --release -p dwell-heapdump --features stream --example axum -- 3000`.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// What the server remembers of a user.
#[derive(Default)]
struct Session {
    visits: u64,
    pages: Vec<String>,
}

#[derive(Default)]
struct App {
    sessions: Mutex<HashMap<String, Session>>,
}

/// The heap, to whoever may ask for it: it has all secrets of the process.
async fn heap() -> Response {
    match dwell_heapdump::stream().and_then(dwell_heapdump::Dump::into_stream) {
        Ok(dump) => ([(header::CONTENT_TYPE, "application/octet-stream")], Body::from_stream(dump)).into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

async fn visit(State(app): State<Arc<App>>, Path((user, page)): Path<(String, String)>) -> String {
    let mut sessions = app.sessions.lock().unwrap();
    let session = sessions.entry(user).or_default();
    session.visits += 1;
    session.pages.push(page);
    format!("{} of {}\n", session.pages.len(), session.visits)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port: u16 = std::env::args().nth(1).map_or(3000, |port| port.parse().expect("the port is a number"));
    let app = Router::new()
        .route("/visit/{user}/{page}", get(visit))
        .with_state(Arc::new(App::default()))
        .route("/debug/heap", get(heap));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, app).await
}
