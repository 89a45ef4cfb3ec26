//! WebAssembly text of a generated module, parsed and encoded. The parser allocates strings with escapes in its arena.

use std::fmt::Write as _;
use wast::Wat;
use wast::parser::{self, ParseBuffer};

/// SplitMix64, with a fixed seed.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A module of `functions` functions, with an export and a data segment for each.
fn module(functions: usize) -> String {
    let (mut text, mut state) = (String::from("(module (memory 16)\n"), 11);
    for at in 0..functions {
        let _ = writeln!(text, "(func $f{at} (export \"f\\u{{e9}}{at}\") (param $x i32) (param $y i32) (result i32)");
        text.push_str("  local.get $x\n");
        for _ in 0..random(&mut state) % 20 {
            let op = ["i32.add", "i32.sub", "i32.mul", "i32.xor"][(random(&mut state) % 4) as usize];
            let _ = writeln!(text, "  local.get $y\n  i32.const {}\n  i32.and\n  {op}", random(&mut state) % 10_000);
        }
        let data: String = (0..32).map(|_| format!("\\{:02x}", random(&mut state) % 256)).collect();
        let _ = writeln!(text, ")\n(data (i32.const {}) \"{data}\")", at * 32);
    }
    text.push(')');
    text
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "2,000 functions" => {
            let text = module(2_000);
            Box::new(move || {
                let buffer = ParseBuffer::new(&text).expect("the input has no bad token");
                let mut wat = parser::parse::<Wat>(&buffer).expect("the input is a module");
                let bytes = wat.encode().expect("its names are known");
                bytes.iter().fold(bytes.len() as u64, |sum, byte| sum.rotate_left(5) ^ u64::from(*byte))
            })
        }
        _ => panic!("no workload {name}"),
    }
}
