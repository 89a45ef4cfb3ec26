//! bumpalo's `Box`, which is [`dwell::bump::Box`].
//!
//! There is no `pin_in`: see `README.md`.

pub use dwell::bump::Box;
