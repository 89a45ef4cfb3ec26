//! A boxed value may look at what it borrows when it is dropped.
use dwell::{Bump, bump};

struct Loud<'a>(&'a str);

impl Drop for Loud<'_> {
    fn drop(&mut self) {
        println!("{}", self.0);
    }
}

fn main() {
    let bump = Bump::new();
    let _boxed;
    {
        let text = String::from("gone");
        _boxed = bump::Box::new_in(Loud(&text), &bump);
    }
}
