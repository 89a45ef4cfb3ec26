//! Types and futures whose bytes come from one place, and some that look like it. The program prints the sizes before and
//! after the changes that the tool should suggest, made by hand.

#![allow(dead_code)]

use std::future::Future;
use std::hint::black_box;

fn step() -> impl Future<Output = ()> {
    std::future::ready(())
}

/// Few calls have a frame: it makes all terms large.
struct Call {
    frame: Option<[u64; 40]>,
    name: u32,
}
struct CallChanged {
    frame: Option<Box<[u64; 40]>>,
    name: u32,
}
enum Term {
    Call(Call),
    Name(String),
    Pair(Box<Term>, Box<Term>),
    Number(f64),
}

/// Most operands are terms.
enum Operand {
    Term(Term),
    Wildcard { except: [u64; 60], line: u32 },
    Name(String),
}

/// Most conditions are features: the others have several conditions each.
enum Condition {
    Feature([u64; 26]),
    Not(Box<Condition>),
    All(Vec<Condition>),
}

/// The program expects a value in each.
struct Sheet {
    parsed: Option<[u64; 50]>,
    number: u32,
}

/// Most prefixes are names: the others are in a box already.
enum Prefix {
    Name([u64; 17]),
    Expression(Box<u64>),
}

/// Each user chooses its type.
enum Separated<T> {
    Last(T),
    Before(T, [u64; 17]),
}

pub fn types() -> usize {
    let call = |frame| Call { frame, name: 1 };
    let terms = vec![
        Term::Call(call(Some([1; 40]))),
        Term::Name(String::new()),
        Term::Number(1.0),
        Term::Pair(Box::new(Term::Number(1.0)), Box::new(Term::Call(call(None)))),
    ];
    let operands = vec![
        Operand::Term(Term::Number(2.0)),
        Operand::Wildcard { except: [1; 60], line: 1 },
        Operand::Name(String::new()),
    ];
    let feature = || Condition::Feature([1; 26]);
    let conditions = vec![feature(), Condition::Not(Box::new(feature())), Condition::All(vec![feature()])];
    let sheets = vec![Sheet { parsed: Some([1; 50]), number: 1 }];
    let first = sheets[0].parsed.as_ref().unwrap()[0];
    println!("option Call {} {}", size_of::<Call>(), size_of::<CallChanged>());
    let prefixes = vec![Prefix::Name([1; 17]), Prefix::Expression(Box::new(1))];
    let lists = vec![Separated::Before([1_u64; 18], [1; 17]), Separated::Last([1; 18])];
    black_box((&prefixes, &lists));
    black_box((&terms, &operands, &conditions, &sheets));
    first as usize
}

async fn hash() -> u64 {
    let buffer = black_box([1_u8; 8192]);
    step().await;
    u64::from(buffer[0])
}

async fn plain() -> u64 {
    let number = black_box(1);
    step().await;
    number
}

/// Few requests need the buffer, but each has room for it.
pub async fn dispatch(kind: u8) -> u64 {
    if kind == 0 { hash().await } else { plain().await }
}

/// Each call needs the buffer: a box would only move it.
pub async fn linear() -> u64 {
    let buffer = black_box([1_u8; 8192]);
    step().await;
    u64::from(buffer[0])
}

async fn mix() -> u64 {
    let words = black_box([1_u64; 100]);
    step().await;
    words[0]
}

/// Two futures of one type, not one that is moved.
pub async fn both() -> u64 {
    let first = std::pin::pin!(mix());
    let second = std::pin::pin!(mix());
    first.await + second.await
}
