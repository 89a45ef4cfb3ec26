use dwell::Sparse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

fn is_zero(uses: &AtomicU32) -> bool {
    uses.load(Ordering::Relaxed) == 0
}

// Every empty `Sparse` would count in the one default.
#[derive(Default, Sparse)]
struct Counted {
    #[sparse(is_empty = "is_zero")]
    uses: AtomicU32,
}

#[derive(Default, Sparse)]
struct Generic<'a, T: Clone> {
    name: &'a str,
    values: Vec<T>,
    #[sparse(is_empty = "is_unlocked")]
    lock: Option<Mutex<u8>>,
}

fn is_unlocked(lock: &Option<Mutex<u8>>) -> bool {
    lock.is_none()
}

#[derive(Default, Sparse)]
enum Level {
    #[default]
    Off,
    On([AtomicU8; 2]),
}

struct Of<T>(AtomicU8, std::marker::PhantomData<T>);

// `Self` stands for this struct, which has no type parameters.
#[derive(Sparse)]
struct Around<'a, const N: usize> {
    name: [&'a str; N],
    #[sparse(is_empty = "is_nothing")]
    counted: Of<Self>,
}

fn is_nothing<T>(_: &Of<T>) -> bool {
    true
}

impl<const N: usize> Default for Around<'_, N> {
    fn default() -> Self {
        Self { name: [""; N], counted: Of(AtomicU8::new(0), std::marker::PhantomData) }
    }
}

fn main() {}
