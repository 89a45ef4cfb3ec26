//! The same as `axum.rs`, with hyper alone: `curl localhost:PORT/debug/heap > heap.core`.
//!
//! Run it by `cargo run --release -p dwell-heapdump --features stream --example hyper -- 3000`.

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

type Body = UnsyncBoxBody<Bytes, io::Error>;

static PATHS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Makes frames of chunks.
struct Frames(dwell_heapdump::Chunks);

impl hyper::body::Body for Frames {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let chunk = self.0.poll_chunk(cx);
        chunk.map(|chunk| chunk.map(|chunk| chunk.map(|bytes| Frame::data(bytes.into()))))
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Body>, hyper::http::Error> {
    let text = |text: String| Full::from(text).map_err(|never| match never {}).boxed_unsync();
    if request.uri().path() != "/debug/heap" {
        let mut paths = PATHS.lock().unwrap();
        paths.push(request.uri().path().to_owned());
        return Response::builder().body(text(format!("{} requests\n", paths.len())));
    }
    match dwell_heapdump::stream().and_then(dwell_heapdump::Dump::into_stream) {
        Ok(dump) => Response::builder().body(Frames(dump).boxed_unsync()),
        Err(error) => Response::builder().status(StatusCode::SERVICE_UNAVAILABLE).body(text(format!("{error}\n"))),
    }
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let port: u16 = std::env::args().nth(1).map_or(3000, |port| port.parse().expect("the port is a number"));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (connection, _) = listener.accept().await?;
        tokio::spawn(async move {
            let served = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(connection), service_fn(answer));
            if let Err(error) = served.await {
                eprintln!("{error}");
            }
        });
    }
}
