// Values for which nothing, or little, should be proposed.

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
}

pub fn advice() -> Advice {
    let session = |i: u64| {
        let mut buffer = Vec::with_capacity(64);
        buffer.extend_from_slice(b"hello");
        Session { seq: 2, balance_cents: 200 + i, user_id: i % 100, created: i, size: i % 8, buffer }
    };
    let mut growing = Vec::with_capacity(1024);
    growing.extend((0..600).map(|i| u64::MAX - i));
    Advice {
        growing,
        sessions: (0..2000).map(session).collect(),
        values: (0..4000)
            .map(|i| if i % 2 == 0 { Value::Map(Box::new(Payload { numbers: [u64::MAX - i; 6] })) } else { Value::Number(i) })
            .collect(),
    }
}
