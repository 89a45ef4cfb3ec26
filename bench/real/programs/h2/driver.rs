//! h2's own benchmark in one thread and over a pipe in memory: requests on one connection, all of them in flight.

use bytes::Bytes;
use h2::{client, server};
use http::{Request, Response};

const WINDOW: u32 = 1 << 20;

async fn serve(io: tokio::io::DuplexStream) {
    let mut connection = server::handshake(io).await.expect("a handshake");
    while let Some(request) = connection.accept().await {
        let (mut request, mut respond) = request.expect("a request");
        tokio::spawn(async move {
            let body = request.body_mut();
            while let Some(data) = body.data().await {
                let data = data.expect("data");
                let _ = body.flow_control().release_capacity(data.len());
            }
            let mut send = respond.send_response(Response::new(()), false).expect("a response");
            send.send_data(Bytes::from_static(b"pong"), true).expect("a body");
        });
    }
}

async fn requests(count: usize) -> u64 {
    let (near, far) = tokio::io::duplex(WINDOW as usize);
    let server = tokio::spawn(serve(far));
    let (client, connection) = client::Builder::new()
        .initial_max_send_streams(count)
        .handshake::<_, Bytes>(near)
        .await
        .expect("a handshake");
    let connection = tokio::spawn(connection);
    let mut handles = Vec::with_capacity(count);
    for _ in 0..count {
        let mut client = client.clone();
        handles.push(tokio::spawn(async move {
            let request = Request::builder().uri("http://localhost/").body(()).expect("a request");
            let (response, _) = client.send_request(request, true).expect("a stream");
            let mut body = response.await.expect("a response").into_body();
            let mut bytes = 0;
            while let Some(data) = body.data().await {
                bytes += data.expect("data").len();
            }
            bytes as u64
        }));
    }
    let mut sum = 0;
    for handle in handles {
        sum += handle.await.expect("no panic");
    }
    drop(client);
    connection.await.expect("no panic").expect("an orderly end");
    server.await.expect("no panic");
    sum
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    match name {
        "5,000 requests at once" => Box::new(move || runtime.block_on(requests(5_000))),
        // Fifty connections one after the other, each with ten requests.
        "50 connections" => Box::new(move || (0..50).map(|_| runtime.block_on(requests(10))).sum()),
        _ => panic!("no workload {name}"),
    }
}
