//! Ours, the published arenas, and the allocators beneath them. A file is a peer.

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
