//! Nothing says what the box is a box of.
use dwell::small_box;

fn main() {
    let _value = small_box!(7);
}
