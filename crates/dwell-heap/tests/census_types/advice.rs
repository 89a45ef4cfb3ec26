// Values for which nothing, or little, should be proposed.

use std::io::{BufRead, BufReader, BufWriter, LineWriter, Sink, Write};

/// A session whose numbers grow, and whose buffer has spare capacity.
pub struct Session {
    pub seq: u64,
    pub balance_cents: u64,
    pub user_id: u64,
    pub created: u64,
    pub size: u64,
    pub buffer: Vec<u8>,
}

/// A payload that is larger than a value.
pub struct Payload {
    pub numbers: [u64; 6],
}

/// A value that must stay small.
pub enum Value {
    Number(u64),
    Map(Box<Payload>),
}

pub struct Advice {
    pub sessions: Vec<Session>,
    pub values: Vec<Value>,
    /// Nobody knows whether it still grows.
    pub growing: Vec<u64>,
    /// Buffers with equal bytes, which are on their way.
    pub readers: Vec<BufReader<&'static [u8]>>,
    pub writers: Vec<BufWriter<Sink>>,
    pub lines: Vec<LineWriter<Sink>>,
}

pub fn advice() -> Advice {
    let session = |i: u64| {
        let mut buffer = Vec::with_capacity(64);
        buffer.extend_from_slice(b"hello");
        Session { seq: 2, balance_cents: 200 + i, user_id: i % 100, created: i, size: i % 8, buffer }
    };
    let mut growing = Vec::with_capacity(1024);
    growing.extend((0..600).map(|i| u64::MAX - i));
    let reader = |_| {
        let mut reader = BufReader::new(&b"a line of text that is always the same"[..]);
        reader.fill_buf().unwrap();
        reader
    };
    let writer = |_| {
        let mut writer = BufWriter::new(std::io::sink());
        writer.write_all(b"a line of text that is always the same").unwrap();
        writer
    };
    Advice {
        growing,
        readers: (0..50).map(reader).collect(),
        writers: (0..50).map(writer).collect(),
        lines: (0..50).map(|_| LineWriter::new(std::io::sink())).collect(),
        sessions: (0..2000).map(session).collect(),
        values: (0..4000)
            .map(|i| if i % 2 == 0 { Value::Map(Box::new(Payload { numbers: [u64::MAX - i; 6] })) } else { Value::Number(i) })
            .collect(),
    }
}
