//! A box of a value that borrows.
use dwell::{SmallBox, small_box};
use std::fmt::Debug;

fn main() {
    let debug: SmallBox<dyn Debug + '_>;
    {
        let text = String::from("gone");
        debug = small_box!(&text);
    }
    println!("{debug:?}");
}
