//! The subjects: Dwell, published arenas, and general-purpose allocators, each in its own file.

mod blink_alloc;
mod bump_scope;
mod bumpalo;
mod heap;
mod ours;
mod typed_arena;

pub(super) use self::blink_alloc::BlinkAlloc;
pub(super) use self::bump_scope::{Downwards, Upwards};
pub(super) use self::bumpalo::Bumpalo;
pub(super) use self::heap::{Heap, Malloc, Mimalloc};
pub(super) use self::ours::Dwell;
pub(super) use self::typed_arena::TypedArena;
