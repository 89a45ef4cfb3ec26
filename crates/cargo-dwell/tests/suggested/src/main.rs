//! Types and futures with a change each that is worth doing or not. The program prints the sizes before and after the
//! changes that the tool should suggest, made by hand.

#![allow(dead_code)]

mod jobs;
mod reported;
mod sources;

use reported::{client, client_changed, multiply, multiply_changed, shares, upload, upload_changed};
use std::collections::BTreeMap;
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Three large variants of seven: one alone saves little.
enum Shape {
    Dot,
    Line(u32, u32),
    Mesh([u64; 300]),
    Cloud([u64; 290]),
    Field {
        values: [u64; 280],
        unit: u8,
    },
    Label(String),
    Tag(u8),
}
enum ShapeChanged {
    Dot,
    Line(u32, u32),
    Mesh(Box<[u64; 300]>),
    Cloud(Box<[u64; 290]>),
    Field(Box<([u64; 280], u8)>),
    Label(String),
    Tag(u8),
}

#[derive(Clone)]
struct Target([u64; 12]);
/// A large `Option` in a struct of which there are many.
#[derive(Clone)]
struct Route {
    name: String,
    target: Option<Target>,
    retries: Option<u16>,
}
struct RouteChanged {
    name: String,
    target: Option<Box<Target>>,
    retries: Option<u16>,
}

/// Its author decided.
#[allow(clippy::large_enum_variant)]
enum Declined {
    Large([u64; 90]),
    Text(String),
    Small(u8),
}

/// Most values are the large ones.
enum Outcome {
    Value([u64; 40]),
    Error(String),
}

/// Exists once.
struct Settings {
    palette: Option<[u64; 64]>,
    name: String,
}

macro_rules! either {
    ($a:ty, $b:ty) => {{
        mod __either {
            pub enum Out<A, B> {
                First(A),
                Second(B),
                Third,
            }
        }
        let list: Vec<__either::Out<$a, $b>> = vec![__either::Out::First(black_box([0; 500])), __either::Out::Second(1)];
        black_box(list.len())
    }};
}

fn step() -> impl Future<Output = ()> {
    std::future::ready(())
}

async fn work() -> u64 {
    let data = black_box([1_u64; 100]);
    step().await;
    data[0]
}

async fn limit<F: Future<Output = u64>>(future: F) -> u64 {
    step().await;
    let result = future.await;
    step().await;
    result + 1
}

async fn retry<F: Future<Output = u64>>(future: F) -> u64 {
    step().await;
    limit(future).await
}

async fn copies() -> u64 {
    let one = retry(work()).await;
    step().await;
    one
}
async fn copies_changed() -> u64 {
    let one = retry(Box::pin(work())).await;
    step().await;
    one
}

async fn consume(data: [u8; 600]) -> usize {
    step().await;
    data.len()
}

async fn forward(data: [u8; 600]) -> usize {
    consume(data).await
}
fn forward_changed(data: [u8; 600]) -> impl Future<Output = usize> {
    consume(data)
}

async fn twice() -> u64 {
    let inner = work();
    black_box(size_of_val(&inner));
    inner.await
}
async fn twice_changed() -> u64 {
    let mut inner = pin!(work());
    black_box(size_of_val(&inner));
    inner.as_mut().await
}

/// Uses the argument after its own `.await`: it cannot only return the other future.
async fn checked(data: [u8; 600]) -> Option<usize> {
    Some(consume(data).await + 1)
}

fn run<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

static POOL: [u64; 512] = [7; 512];

#[inline(never)]
fn buffer(seed: u8) -> usize {
    let scratch = black_box([seed; 5000]);
    scratch.iter().filter(|byte| **byte == 1).count()
}

#[inline(never)]
fn descend(depth: u32) -> usize {
    let kept = black_box([depth; 100]);
    if depth == 0 { buffer(1) } else { descend(black_box(depth - 1)) + kept[0] as usize }
}

fn main() {
    let shapes = vec![
        Shape::Dot,
        Shape::Line(1, 2),
        Shape::Mesh([1; 300]),
        Shape::Cloud([1; 290]),
        Shape::Field { values: [1; 280], unit: 1 },
        Shape::Label(String::new()),
        Shape::Tag(1),
    ];
    let mut routes = BTreeMap::new();
    routes.insert(1_u8, Route { name: String::new(), target: Some(Target([1; 12])), retries: None });
    let declined = vec![Declined::Large([1; 90]), Declined::Text(String::new()), Declined::Small(1)];
    let outcomes = vec![Outcome::Value([1; 40]), Outcome::Error(String::new())];
    let settings = Settings { palette: Some([1; 64]), name: String::new() };
    black_box((&shapes, &routes, &declined, &outcomes, &settings, either!([u8; 500], u8)));
    println!("type Shape {} {}", size_of::<Shape>(), size_of::<ShapeChanged>());
    println!("type Route {} {}", size_of::<Route>(), size_of::<RouteChanged>());
    println!("box-argument copies {} {}", size_of_val(&copies()), size_of_val(&copies_changed()));
    println!("return-future forward {} {}", size_of_val(&forward([1; 600])), size_of_val(&forward_changed([1; 600])));
    println!("pin-future twice {} {}", size_of_val(&twice()), size_of_val(&twice_changed()));
    println!("box-argument client {} {}", size_of_val(&client(1)), size_of_val(&client_changed(1)));
    println!("box-argument upload {} {}", size_of_val(&upload(1)), size_of_val(&upload_changed(1)));
    let changed = multiply_changed(1, shares(), shares());
    println!("return-future multiply {} {}", size_of_val(&multiply(1, shares(), shares())), size_of_val(&changed));
    let tasks: Vec<Pin<Box<dyn Future<Output = usize>>>> = vec![Box::pin(client(1)), Box::pin(upload(1))];
    let done: usize = tasks.into_iter().map(run).sum::<usize>() + run(client_changed(1)) + run(upload_changed(1));
    let products = run(multiply(1, shares(), shares())).is_ok() && run(changed).is_ok();
    black_box((done, products));
    let boxed: Vec<Pin<Box<dyn Future<Output = u64>>>> = vec![
        Box::pin(copies()),
        Box::pin(twice()),
        Box::pin(sources::dispatch(1)),
        Box::pin(sources::linear()),
        Box::pin(sources::both()),
    ];
    black_box(sources::types());
    let sum: u64 = boxed.into_iter().map(run).sum::<u64>() + run(copies_changed()) + run(twice_changed());
    let lengths = run(forward([1; 600])) + run(forward_changed([1; 600])) + run(checked([1; 600])).unwrap_or(0);
    black_box(jobs::run());
    black_box((sum, lengths, POOL[black_box(3)], descend(black_box(3))));
}
