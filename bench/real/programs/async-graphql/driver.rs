//! A query of a schema in memory: people, their friends, and the friends' names.

use async_graphql::{Context, EmptyMutation, EmptySubscription, Object, Schema};
use std::future::Future;
use std::pin::pin;
use std::task::{Poll, Waker};

struct Person(u64);

#[Object]
impl Person {
    async fn id(&self) -> u64 {
        self.0
    }

    async fn name(&self, context: &Context<'_>) -> String {
        let names = context.data_unchecked::<Vec<&'static str>>();
        names[self.0 as usize % names.len()].to_owned()
    }

    async fn friends(&self) -> Vec<Person> {
        (1..=5).map(|step| Person((self.0 * 7 + step) % 1_000)).collect()
    }
}

struct Query;

#[Object]
impl Query {
    async fn people(&self, count: u64) -> Vec<Person> {
        (0..count).map(Person).collect()
    }
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut std::task::Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing here waits"),
    }
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "a query of 6,000 fields" => {
            let schema = Schema::build(Query, EmptyMutation, EmptySubscription)
                .data(vec!["Ada", "Grace", "Barbara", "Frances", "Jean"])
                .finish();
            Box::new(move || {
                let query = "{ people(count: 400) { id name friends { id name } } }";
                let response = ready(schema.execute(query));
                assert!(response.errors.is_empty(), "{:?}", response.errors);
                response.data.to_string().len() as u64
            })
        }
        _ => panic!("no workload {name}"),
    }
}
