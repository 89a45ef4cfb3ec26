//! A server with many keys, filled by one of its own clients.

use mini_redis::{client, server};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let count: usize = std::env::args().nth(1).map_or(100, |text| text.parse().expect("a number"));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::spawn(async move {
        let _ = server::run(listener, async { stopped.await.unwrap_or(()) }).await;
    });
    let mut one = client::connect(address).await.expect("a connection");
    for n in 0..count {
        one.set(&format!("key{n}"), format!("value {n}").into()).await.expect("it is kept");
    }
    println!("{:?}", one.get("key7").await.expect("an answer"));
    drop(one);
    let _ = stop.send(());
    let _ = server.await;
}
