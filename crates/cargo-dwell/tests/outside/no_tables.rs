//! A program that waits in functions without unwind tables, as those of musl. It has 1,000 records in a variable.
use std::arch::global_asm;
use std::collections::HashMap;

struct Record {
    name: String,
}

// `outer` keeps a register and calls `inner`, which reads a byte of the standard input.
global_asm!(
    ".globl outer_without_tables",
    "outer_without_tables:",
    "push rbx",
    "sub rsp, 32",
    "call 2f",
    "add rsp, 32",
    "pop rbx",
    "ret",
    "2:",
    "sub rsp, 24",
    "xor eax, eax",
    "xor edi, edi",
    "mov rsi, rsp",
    "mov edx, 1",
    "syscall",
    "add rsp, 24",
    "ret",
);

unsafe extern "C" {
    fn outer_without_tables();
}

fn main() {
    let records: HashMap<u64, Record> = (0..1000).map(|number| (number, Record { name: format!("record {number}") })).collect();
    println!("ready");
    // SAFETY: the function keeps the registers that its caller needs, and writes a byte of its own stack.
    unsafe { outer_without_tables() };
    println!("{}", records.values().map(|record| record.name.len()).sum::<usize>());
}
