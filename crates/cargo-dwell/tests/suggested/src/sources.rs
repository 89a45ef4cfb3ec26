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

/// Its author knows better.
// dwell: keep, nearly all are large
enum Kept {
    Large([u64; 90]),
    Text(String),
    Small(u8),
}

/// Messages wait in slots, so most parcels are messages.
struct Message([u64; 30]);
enum Parcel {
    Ping,
    Publish(Message),
    Ack(u32),
}

/// Each event is made, passed on and dropped.
enum Event {
    Incoming([u64; 30]),
    Outgoing(u8),
}

/// Each `Result` has room for the error.
struct Fault {
    context: [u64; 20],
    code: u32,
}
struct FaultChanged(Box<([u64; 20], u32)>);

/// The bytes of a text box: the array is no type of its own, and other arrays like it are something else.
enum Glyph {
    Space,
    Outline([u64; 36]),
    Letter(char),
}
enum GlyphChanged {
    Space,
    Outline(Box<[u64; 36]>),
    Letter(char),
}
struct Cache(Box<[u64; 36]>);

/// A type that contains itself is in lists of its own; most literals have none.
enum Domain {
    Bool,
    Range([u64; 14]),
    Either(Box<Domain>, Vec<Domain>),
}
enum Literal {
    Number(u64),
    Set(Vec<u64>),
    Matrix(Vec<u64>, Domain),
}
enum LiteralChanged {
    Number(u64),
    Set(Vec<u64>),
    Matrix(Box<(Vec<u64>, Domain)>),
}

/// Nine bytes for nine bits.
struct Word {
    text: u64,
    is_first: bool,
    is_last: bool,
    is_upper: bool,
    is_digit: bool,
    is_quoted: bool,
    is_space: bool,
    is_comment: bool,
    is_macro: bool,
    is_end: bool,
}
struct WordChanged {
    text: u64,
    flags: u16,
}

/// Each node is counted, and has a list of others.
enum Element {
    Document([u64; 50], Vec<std::rc::Rc<Element>>),
    Inner(Vec<std::rc::Rc<Element>>),
    Text(String),
}
enum ElementChanged {
    Document(Box<([u64; 50], Vec<std::rc::Rc<Element>>)>),
    Inner(Vec<std::rc::Rc<Element>>),
    Text(String),
}

fn fail(number: u32) -> Result<u32, Fault> {
    if black_box(number) > 9 { Err(Fault { context: [1; 20], code: number }) } else { Ok(number) }
}

fn silent() -> usize {
    let kept = vec![Kept::Large([1; 90]), Kept::Text(String::new()), Kept::Small(1)];
    let slots = vec![Some(Message([1; 30])), None];
    let parcels = vec![Parcel::Ping, Parcel::Ack(1), Parcel::Publish(Message([1; 30]))];
    let events = std::collections::VecDeque::from([Event::Incoming([1; 30]), Event::Outgoing(1)]);
    let glyphs = vec![Glyph::Space, Glyph::Letter('a'), Glyph::Outline([1; 36])];
    black_box((&kept, &slots, &parcels, &events, &glyphs, Cache(Box::new([1; 36]))));
    let domain = Domain::Either(Box::new(Domain::Bool), vec![Domain::Range([1; 14])]);
    let literals = vec![Literal::Number(1), Literal::Set(vec![1]), Literal::Matrix(vec![1], domain)];
    let word = |text| Word {
        text,
        is_first: text == 0,
        is_last: text == 1,
        is_upper: text == 2,
        is_digit: text == 3,
        is_quoted: text == 4,
        is_space: text == 5,
        is_comment: text == 6,
        is_macro: text == 7,
        is_end: text == 8,
    };
    let text = std::rc::Rc::new(Element::Text(String::new()));
    let element = std::rc::Rc::new(Element::Inner(vec![text]));
    black_box((&literals, vec![word(1), word(8)], Element::Document([1; 50], vec![element])));
    println!("silent Element {} {}", size_of::<Element>(), size_of::<ElementChanged>());
    println!("silent Literal {} {}", size_of::<Literal>(), size_of::<LiteralChanged>());
    println!("silent Word {} {}", size_of::<Word>(), size_of::<WordChanged>());
    println!("silent Fault {} {}", size_of::<Fault>(), size_of::<FaultChanged>());
    println!("silent Glyph {} {}", size_of::<Glyph>(), size_of::<GlyphChanged>());
    fail(3).map_or(0, |number| number as usize)
}

pub fn types() -> usize {
    black_box(silent());
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
