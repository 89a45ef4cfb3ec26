use dwell::weigh::{Kind, Type, Walk, Weigh, type_of};
use std::sync::Mutex;

struct Lock(Mutex<String>);

impl Weigh for Lock {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Wrapper { inner: type_of::<String> });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        // What a guard lends must be handed to `guarded`, not to `field`.
        walk.field(0, &*self.0.lock().unwrap());
    }
}

fn main() {}
