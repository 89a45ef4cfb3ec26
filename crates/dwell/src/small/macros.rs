//! The macros that box a value and coerce it.

/// Boxes a value and coerces it to the type that the context asks for.
///
/// Types are inferred as for `Box::new(value)`: the target determines the types of literals and of a closure's
/// parameters.
///
/// ```
/// use dwell::{SmallBox, small_box};
///
/// let double: SmallBox<dyn Fn(u8) -> u8> = small_box!(|x| x * 2);
/// assert_eq!(double(4), 8);
///
/// let words: SmallBox<[u64]> = small_box!([1, 2, 3]);
/// assert_eq!(words.iter().sum::<u64>(), 6);
/// ```
///
/// The target type must be known at the macro call: from a type annotation, a field, an argument, or the return type of
/// the enclosing closure. If it becomes known only later, write
/// [`SmallBox::new_coerced(value, |value| value as _)`](crate::SmallBox::new_coerced). For a sized target use
/// [`SmallBox::new`](crate::SmallBox::new).
#[macro_export]
macro_rules! small_box {
    ($value:expr $(,)?) => {
        $crate::SmallBox::from_incoming($crate::small::fill($value, &mut $crate::small::IncomingStorage::new()))
    };
}

/// Like [`small_box!`](crate::small_box), but usable in constants. A value that does not fit inline is a compile error.
///
/// ```
/// use dwell::{SmallBox, small_box_const};
/// use std::fmt::Display;
///
/// static ANSWER: SmallBox<dyn Display + Sync> = small_box_const!(42);
/// assert_eq!(ANSWER.to_string(), "42");
/// ```
#[macro_export]
macro_rules! small_box_const {
    ($value:expr $(,)?) => {
        $crate::SmallBox::from_incoming_const($crate::small::fill($value, &mut $crate::small::IncomingStorage::new()))
    };
}
