//! A trait object of one's own with `Iterator` as a supertrait.
use dwell::{SmallBox, small_box};

trait Tokens: Iterator<Item = char> {}
impl Tokens for std::str::Chars<'_> {}

fn main() {
    let tokens: SmallBox<dyn Tokens> = small_box!("ab".chars());
    for _token in tokens {}
}
