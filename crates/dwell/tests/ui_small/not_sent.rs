//! A box of a value that stays on its thread, sent to another.
use dwell::{SmallBox, small_box};
use std::fmt::Debug;
use std::rc::Rc;

fn main() {
    let local: SmallBox<dyn Debug> = small_box!(Rc::new(7));
    std::thread::spawn(move || println!("{local:?}"));
}
