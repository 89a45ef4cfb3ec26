// Each kind of waste a known number of times.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

pub struct Point(pub f64, pub f64, pub f64);

pub struct Reading {
    pub id: u64,
    pub kind: u32,
    pub level: i64,
    pub at: u64,
}

pub struct Mark {
    pub when: Option<u64>,
    pub what: u64,
}

pub struct Flagged {
    pub number: u64,
    pub flag: bool,
}

#[repr(C)]
pub struct Ordered {
    pub first: u8,
    pub number: u64,
    pub last: u8,
}

pub struct Setting {
    pub number: u64,
    pub flag: u8,
}

/// 96 bytes without a niche.
pub struct Wide {
    pub low: [u64; 6],
    pub high: [u64; 6],
}

/// Half of the notes are `None`, and of each wide field 2 % are `Some`.
pub struct Extra {
    pub note: Option<String>,
    pub first: Option<Wide>,
    pub second: Option<Wide>,
}

pub struct Entry {
    pub number: u64,
    pub extra: Extra,
}

pub struct Waste {
    pub entries: Vec<Entry>,
    pub hollow: Vec<VecDeque<u32>>,
    pub points: Vec<Box<Point>>,
    pub readings: Vec<Reading>,
    pub marks: Vec<Mark>,
    pub flagged: Vec<Flagged>,
    pub ordered: Vec<Ordered>,
    pub profiles: Vec<Box<[f32]>>,
    pub settings: Vec<Rc<Setting>>,
    pub small: Vec<u64>,
}

pub fn waste() -> Waste {
    // Numbers that fit in no smaller integer type.
    let large = |i: u64| u64::MAX - i;
    let wide = |i: u64, remainder: u64| (i % 50 == remainder).then(|| Wide { low: [large(i); 6], high: [large(i); 6] });
    let extra = |i: u64| Extra {
        note: (i % 2 == 0).then(|| "a note".repeat(10)),
        first: wide(i, 0),
        second: wide(i, 2),
    };
    Waste {
        entries: (0..300).map(|i| Entry { number: large(i), extra: extra(i) }).collect(),
        hollow: (0..300).map(|i| if i % 3 == 0 { (0..8).collect() } else { VecDeque::with_capacity(8) }).collect(),
        points: (0..2000).map(|i| Box::new(Point(f64::from(i), 0.5, 0.5))).collect(),
        readings: (0..1000)
            .map(|i| Reading { id: i, kind: (i % 5) as u32, level: (i % 7) as i64 - 3, at: large(i) })
            .collect(),
        marks: (0..1000).map(|i| Mark { when: (i % 2 == 0).then_some(large(i)), what: large(i) }).collect(),
        flagged: (0..20_000).map(|i| Flagged { number: large(i), flag: i % 2 == 0 }).collect(),
        ordered: (0..1000).map(|i| Ordered { first: 1, number: large(i), last: 2 }).collect(),
        profiles: (0..500).map(|i| vec![(i % 5) as f32; 64].into()).collect(),
        settings: (0..300).map(|i| Rc::new(Setting { number: large(i % 3), flag: 1 })).collect(),
        small: (0..1000).map(|i| i % 200).collect(),
    }
}

/// Returns strings that no declared type owns.
pub fn texts() -> Vec<String> {
    (0..2000).map(|i| format!("{i:010}").into_boxed_str().into_string()).collect()
}

pub enum Choice {
    Small(u64),
    Large([u64; 16]),
}

pub trait Area {
    fn area(&self) -> u64;
}
impl Area for u64 {
    fn area(&self) -> u64 {
        *self
    }
}
impl Area for [u64; 4] {
    fn area(&self) -> u64 {
        self[0]
    }
}

pub struct More {
    pub choices: Vec<Choice>,
    pub maps: Vec<HashMap<u32, u64>>,
    pub queues: Vec<VecDeque<u64>>,
    pub texts: Vec<String>,
    pub complete: Vec<String>,
    pub areas: Vec<Box<dyn Area>>,
}

pub fn more() -> More {
    let large = |i: u64| u64::MAX - i;
    More {
        choices: (0..1000)
            .map(|i| if i % 100 == 0 { Choice::Large([large(i); 16]) } else { Choice::Small(large(i)) })
            .collect(),
        maps: (0..400).map(|i| (0..2).map(|k| (u32::MAX - k, large(i))).collect()).collect(),
        queues: (0..300)
            .map(|i| {
                let mut queue = VecDeque::with_capacity(64);
                queue.extend((0..8).map(|k| large(i + k)));
                queue
            })
            .collect(),
        texts: (0..500)
            .map(|i| {
                let mut text = String::with_capacity(100);
                text.push_str(&format!("a text of thirty bytes: {i:06}"));
                text
            })
            .collect(),
        complete: (0..500).map(|i| format!("a text of thirty bytes: {i:06}").into_boxed_str().into_string()).collect(),
        areas: (0..1000)
            .map(|i| -> Box<dyn Area> { if i % 10 == 0 { Box::new([large(i); 4]) } else { Box::new(large(i)) } })
            .collect(),
    }
}
