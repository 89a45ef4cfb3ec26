//! The server and four clients in one process, on two threads.

use mini_redis::{client, server};
use tokio::net::TcpListener;

async fn load(address: std::net::SocketAddr, client: usize, rounds: usize) -> mini_redis::Result<usize> {
    let mut connection = client::connect(address).await?;
    let mut bytes = 0;
    for _ in 0..rounds {
        for at in 0..250 {
            let key = format!("client {client} key {at}");
            connection.set(&key, format!("value {at} of client {client}").into()).await?;
            bytes += connection.get(&key).await?.map_or(0, |value| value.len());
        }
    }
    Ok(bytes)
}

fn main() -> mini_redis::Result<()> {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let bytes = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let served = tokio::spawn(async move { server::run(listener, ended).await.map_err(|error| error.to_string()) });
        let clients: Vec<_> = (0..4)
            .map(|client| tokio::spawn(async move { load(address, client, rounds).await.map_err(|error| error.to_string()) }))
            .collect();
        let mut bytes = 0;
        for client in clients {
            bytes += client.await??;
        }
        let _ = end.send(());
        served.await??;
        Ok::<usize, mini_redis::Error>(bytes)
    })?;
    println!("{bytes}");
    Ok(())
}
