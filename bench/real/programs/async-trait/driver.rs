//! A service as in web frameworks: a handler behind a trait object calls a repository behind another.

use async_trait::async_trait;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

#[async_trait]
trait Repository: Send + Sync {
    async fn find(&self, id: u64) -> Option<u64>;
    async fn related(&self, id: u64) -> Vec<u64>;
}

#[async_trait]
trait Handler: Send + Sync {
    async fn handle(&self, request: u64) -> u64;
}

struct Memory(Vec<u64>);

#[async_trait]
impl Repository for Memory {
    async fn find(&self, id: u64) -> Option<u64> {
        self.0.get(usize::try_from(id).ok()?).copied()
    }

    async fn related(&self, id: u64) -> Vec<u64> {
        let mut found = Vec::with_capacity(3);
        for near in id..id + 3 {
            // A request within a request, as by a cache in front of a store.
            found.extend(self.find(near).await);
        }
        found
    }
}

struct Sum {
    repository: Box<dyn Repository>,
}

#[async_trait]
impl Handler for Sum {
    async fn handle(&self, request: u64) -> u64 {
        match self.repository.find(request).await {
            Some(found) => self.repository.related(request).await.iter().sum::<u64>() ^ found,
            None => 0,
        }
    }
}

struct Log(Box<dyn Handler>);

#[async_trait]
impl Handler for Log {
    async fn handle(&self, request: u64) -> u64 {
        self.0.handle(request).await.wrapping_add(1)
    }
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing here waits"),
    }
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "20,000 requests" => {
            let repository = Box::new(Memory((0..1_000).map(|value| value * 31).collect()));
            let service: Box<dyn Handler> = Box::new(Log(Box::new(Log(Box::new(Sum { repository })))));
            Box::new(move || (0..20_000).map(|id| ready(service.handle(id % 1_100))).fold(0, u64::wrapping_add))
        }
        _ => panic!("no workload {name}"),
    }
}
