//! Constants that do not fit.
use dwell::{SmallBox, small_box_const};
use std::fmt::Debug;

static LARGE: SmallBox<dyn Debug + Sync> = small_box_const!([1_u64, 2, 3]);
static ALIGNED: SmallBox<u128> = SmallBox::new_const(1);

fn main() {
    println!("{LARGE:?} {ALIGNED}");
}
