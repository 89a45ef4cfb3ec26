//! bumpalo's `Box`, which is [`dwell::bump::Box`].
//!
//! It has no `pin_in`; `README.md` says why.

pub use dwell::bump::Box;
