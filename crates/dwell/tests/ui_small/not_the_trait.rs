//! The value does not implement the trait.
use dwell::{SmallBox, small_box};

trait Shape {}
struct Square;

fn main() {
    let _shape: SmallBox<dyn Shape> = small_box!(Square);
}
