//! A program without `core`, so that a compiler without the target's libraries builds it for any target: three functions, two of
//! which have a `Packet` of 604 bytes on the stack.
#![feature(no_core, lang_items, auto_traits)]
#![no_core]
#![no_main]
#![allow(internal_features, improper_ctypes)]

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "freeze"]
pub unsafe auto trait Freeze {}
#[lang = "copy"]
pub trait Copy {}
impl Copy for u8 {}
impl Copy for u32 {}

pub struct Packet {
    pub bytes: [u8; 600],
    pub number: u32,
}

unsafe extern "C" {
    fn sink(at: *mut Packet);
}

#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn leaf(number: u32) -> u32 {
    let mut packet = Packet { bytes: [1; 600], number };
    unsafe { sink(&raw mut packet) };
    packet.number
}

#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn middle(number: u32) -> u32 {
    let mut packet = Packet { bytes: [2; 600], number: leaf(number) };
    unsafe { sink(&raw mut packet) };
    packet.number
}

#[unsafe(no_mangle)]
pub extern "C" fn _start() -> u32 {
    middle(7)
}
