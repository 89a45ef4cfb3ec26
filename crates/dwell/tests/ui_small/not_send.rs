//! A box that is `Send` of a value that stays on its thread.
use dwell::{SmallBox, small_box};
use std::fmt::Debug;
use std::rc::Rc;

fn main() {
    let _send: SmallBox<dyn Debug + Send> = small_box!(Rc::new(7));
}
