//! The macros in a crate of edition 2018.

use dwell::{Sparse, Weigh};
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future: Pin<Box<F>> = Box::pin(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

#[dwell::erased]
trait Store: Send + Sync {
    async fn load(&self, key: &str, (left, right): (u8, u8)) -> Option<u8>;
    async fn sum(&self, keys: Vec<String>) -> u8 {
        let mut sum = 0;
        for key in &keys {
            sum += self.load(key, (1, 2)).await.unwrap_or(0);
        }
        sum
    }
    // The temporary of the last expression lives until the end of the statement in this edition.
    async fn locked(&self, of: Mutex<String>) -> usize {
        of.lock().unwrap().len()
    }
    async fn never(&self) -> ! {
        panic!("on purpose")
    }
    async fn object(&self, of: Box<dyn Fn(&str) -> usize + Send>) -> usize {
        of("abc")
    }
}

#[dwell::erased]
impl Store for u8 {
    async fn load(&self, key: &str, (left, right): (u8, u8)) -> Option<u8> {
        if key.is_empty() {
            return None;
        }
        Some(left + right + self)
    }
}

#[dwell::erased]
async fn fibonacci(n: u8) -> u8 {
    if n < 2 {
        n
    } else {
        fibonacci(n - 1).await + fibonacci(n - 2).await
    }
}

#[derive(Default, Sparse, Weigh)]
struct Traits<T> {
    title: Option<String>,
    value: T,
    run: Option<Run>,
}

#[derive(Weigh)]
struct Run(fn(&str) -> usize, Box<dyn Fn(&str) -> usize + Send + Sync>);

impl dwell::sparse::IsEmpty for Run {
    fn is_empty(&self) -> bool {
        false
    }
}

fn main() {
    let store: &dyn Store = &1_u8;
    assert_eq!(block_on(store.sum(vec!["a".into(), String::new()])), 4);
    assert_eq!(block_on(store.locked("abc".to_owned().into())), 3);
    assert_eq!(block_on(store.object(Box::new(str::len))), 3);
    assert_eq!(block_on(fibonacci(10)), 55);
    let _not_polled = store.never();
    let traits = Sparse::<Traits<u8>>::empty();
    assert!(traits.title.is_none() && traits.value == 0 && traits.run.is_none());
    let of =
        Traits { title: Some("ab".into()), value: String::from("c"), run: Some(Run(str::len, Box::new(str::len))) };
    assert_eq!(dwell::weigh(&of).heap, 3);
}
