//! The compared boxes. Each is an implementation of `Subject`.

use dwell::small::{CallOnce, PushCoerced};
use dwell::{SmallBox, small_box};
use std::ops::{Deref, DerefMut};

/// The trait of boxed values.
pub(super) trait Object {
    fn call(&self) -> u64;
}

/// A node of a syntax tree.
pub(super) trait Node {
    fn value(&self) -> u64;
}

/// The state that events change.
pub(super) type World = u64;

/// A type of box.
pub(super) trait Subject: 'static {
    const NAME: &'static str;
    type Object: Deref<Target = dyn Object>;
    type Node: Deref<Target = dyn Node>;
    type Slice: Deref<Target = [u64]>;
    type Event;

    fn object<U: Object + 'static>(value: U) -> Self::Object;
    fn node<U: Node + 'static>(value: U) -> Self::Node;
    fn slice<const LEN: usize>(values: [u64; LEN]) -> Self::Slice;
    fn event<F: FnOnce(&mut World) + 'static>(event: F) -> Self::Event;
    fn happen(event: Self::Event, world: &mut World);

    /// Pushes a box in the way that its documentation recommends.
    fn push<U: Object + 'static>(boxes: &mut Vec<Self::Object>, value: U) {
        boxes.push(Self::object(value));
    }
}

/// std's `Box`, on the global allocator.
pub(super) struct Std;

impl Subject for Std {
    const NAME: &'static str = super::BASELINE;
    type Object = Box<dyn Object>;
    type Node = Box<dyn Node>;
    type Slice = Box<[u64]>;
    type Event = Box<dyn FnOnce(&mut World)>;

    fn object<U: Object + 'static>(value: U) -> Self::Object {
        Box::new(value)
    }

    fn node<U: Node + 'static>(value: U) -> Self::Node {
        Box::new(value)
    }

    fn slice<const LEN: usize>(values: [u64; LEN]) -> Self::Slice {
        Box::new(values)
    }

    fn event<F: FnOnce(&mut World) + 'static>(event: F) -> Self::Event {
        Box::new(event)
    }

    fn happen(event: Self::Event, world: &mut World) {
        event(world);
    }
}

/// `SmallBox`.
pub(super) struct Dwell;

impl Subject for Dwell {
    const NAME: &'static str = "dwell";
    type Object = SmallBox<dyn Object>;
    type Node = SmallBox<dyn Node>;
    type Slice = SmallBox<[u64]>;
    type Event = SmallBox<dyn for<'a> CallOnce<(&'a mut World,), Output = ()>>;

    fn object<U: Object + 'static>(value: U) -> Self::Object {
        small_box!(value)
    }

    fn node<U: Node + 'static>(value: U) -> Self::Node {
        small_box!(value)
    }

    fn slice<const LEN: usize>(values: [u64; LEN]) -> Self::Slice {
        small_box!(values)
    }

    fn event<F: FnOnce(&mut World) + 'static>(event: F) -> Self::Event {
        small_box!(event)
    }

    fn happen(event: Self::Event, world: &mut World) {
        event.call_once((world,));
    }

    fn push<U: Object + 'static>(boxes: &mut Vec<Self::Object>, value: U) {
        boxes.push_coerced(value, |value| value);
    }
}

/// Converts an event to a `FnMut`, for boxes that cannot call a `FnOnce` by value on stable.
fn mutable<F: FnOnce(&mut World)>(event: F) -> impl FnMut(&mut World) {
    let mut event = Some(event);
    move |world| {
        if let Some(event) = event.take() {
            event(world);
        }
    }
}

/// A peer whose constructor is a macro.
macro_rules! peer {
    ($Subject:ident, $name:literal, $Box:ident, |$value:ident| $new:expr) => {
        pub(super) struct $Subject;

        impl Subject for $Subject {
            const NAME: &'static str = $name;
            type Object = $Box<dyn Object>;
            type Node = $Box<dyn Node>;
            type Slice = $Box<[u64]>;
            type Event = $Box<dyn FnMut(&mut World)>;

            fn object<U: Object + 'static>($value: U) -> Self::Object {
                $new
            }

            fn node<U: Node + 'static>($value: U) -> Self::Node {
                $new
            }

            fn slice<const LEN: usize>($value: [u64; LEN]) -> Self::Slice {
                $new
            }

            fn event<F: FnOnce(&mut World) + 'static>(event: F) -> Self::Event {
                let $value = mutable(event);
                $new
            }

            fn happen(mut event: Self::Event, world: &mut World) {
                DerefMut::deref_mut(&mut event)(world);
            }
        }
    };
}

/// 32 bytes, two words inline.
type Smallbox<T> = smallbox::SmallBox<T, smallbox::space::S2>;
peer!(SmallboxPeer, "smallbox 0.8.9", Smallbox, |value| smallbox::smallbox!(value));

/// 32 bytes, two words inline.
type Flex<T> = nexus_smartptr::Flex32<T>;
peer!(Nexus, "nexus-smartptr 0.1.1", Flex, |value| nexus_smartptr::flex!(value));

#[cfg(feature = "ssobox")]
type SsoBox<T> = ssobox::SsoBox<T>;
#[cfg(feature = "ssobox")]
peer!(Ssobox, "ssobox 0.1.1", SsoBox, |value| ssobox::SsoBox::new_unsized(value));
