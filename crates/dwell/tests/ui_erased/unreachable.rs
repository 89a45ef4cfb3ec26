//! Code after a value that there never is; the attribute adds none.
#![deny(warnings)]

#[dwell::erased]
pub trait Trait {
    async fn nothing() {
        unimplemented!()
    }

    async fn number() -> u8 {
        let never = unimplemented!();
        let _never = never;
    }
}

fn main() {}
