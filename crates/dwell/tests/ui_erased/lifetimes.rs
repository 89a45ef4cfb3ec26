//! A result that does not live as long as the signature says, and lifetimes that differ from the trait's.
#[dwell::erased]
trait Longer {
    async fn longer(&self, left: &str, right: &'_ str) -> &'static str;
    async fn named<'r>(&'r self);
}

struct Text(String);

#[dwell::erased]
impl Longer for Text {
    async fn longer(&self, left: &str, right: &'_ str) -> &'static str {
        if false {
            &self.0
        } else if false {
            left
        } else {
            right
        }
    }

    async fn named<'r>(&'r self) {}
}

struct Other;

#[dwell::erased]
impl Longer for Other {
    async fn longer(&self, _left: &str, _right: &'_ str) -> &'static str {
        ""
    }

    async fn named(&'r self) {}
}

fn main() {}
