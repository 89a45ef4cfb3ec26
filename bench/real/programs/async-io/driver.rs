//! Sockets that are registered with the reactor, whose sources live in a slab, and exchange a byte.

use async_io::Async;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "250 pairs of sockets" => Box::new(|| {
            async_io::block_on(async {
                let mut pairs = Vec::new();
                for _ in 0..250 {
                    pairs.push(Async::<UnixStream>::pair().expect("two sockets"));
                }
                let mut sum = 0;
                for round in 0..2_u8 {
                    for (at, (one, other)) in pairs.iter().enumerate() {
                        one.write_with(|mut socket| socket.write(&[at as u8 ^ round])).await.expect("it takes a byte");
                        let mut byte = [0];
                        other.read_with(|mut socket| socket.read(&mut byte)).await.expect("it has a byte");
                        sum += u64::from(byte[0]);
                    }
                }
                sum
            })
        }),
        _ => panic!("no workload {name}"),
    }
}
