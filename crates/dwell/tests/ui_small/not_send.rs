//! A box of a value that stays on its thread.
use dwell::{SmallBox, small_box};
use std::fmt::Debug;
use std::rc::Rc;

fn main() {
    let local: SmallBox<dyn Debug> = small_box!(Rc::new(7));
    std::thread::spawn(move || println!("{local:?}"));
    let _send: SmallBox<dyn Debug + Send> = small_box!(Rc::new(7));
}
