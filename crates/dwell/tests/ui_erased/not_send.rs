//! A value that is not `Send` lives across an `.await`.
use std::sync::Mutex;

async fn pause() {}

#[dwell::erased]
trait Holds {
    async fn holds(&self) -> bool {
        let mutex = Mutex::new(());
        let _guard = mutex.lock().unwrap();
        pause().await;
        true
    }
}

fn main() {}
