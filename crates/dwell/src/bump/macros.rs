//! `vec!` and `format!` in an arena.

/// Creates a [`Vec`](crate::bump::Vec) in an arena with the given elements, or with `n` clones of one.
///
/// ```
/// use dwell::{Bump, bump};
///
/// let bump = Bump::new();
/// let mut vec = bump::vec![in &bump; 1, 2, 3];
/// vec.push(4);
/// assert_eq!(vec, [1, 2, 3, 4]);
/// assert_eq!(bump::vec![in &bump; 'x'; 3], ['x', 'x', 'x']);
/// let empty: bump::Vec<u8> = bump::vec![in &bump];
/// assert!(empty.is_empty());
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __bump_vec {
    (in $bump:expr $(;)?) => {
        $crate::bump::Vec::new_in($bump)
    };
    (in $bump:expr; $value:expr; $len:expr) => {
        $crate::bump::Vec::from_elem_in($value, $len, $bump)
    };
    (in $bump:expr; $($value:expr),+ $(,)?) => {
        $crate::bump::Vec::from_array_in([$($value),+], $bump)
    };
}

/// [`vec!`](crate::bump::vec!) that reports a failed allocation.
///
/// The array of the elements, or the value to be cloned, is returned in the error.
///
/// ```
/// use dwell::{Bump, bump};
///
/// let bump = Bump::new();
/// assert_eq!(bump::try_vec![in &bump; 1, 2].unwrap(), [1, 2]);
/// bump.set_allocation_limit(Some(bump.allocated_bytes()));
/// let error = bump::try_vec![in &bump; [0_u8; 1000]; 2].unwrap_err();
/// assert_eq!(error.into_inner(), [0; 1000]);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __bump_try_vec {
    (in $bump:expr; $value:expr; $len:expr) => {
        $crate::bump::Vec::try_from_elem_in($value, $len, $bump)
    };
    (in $bump:expr; $($value:expr),* $(,)?) => {
        $crate::bump::Vec::try_from_array_in([$($value),*], $bump)
    };
}

/// Creates a [`String`](crate::bump::String) in an arena from formatted text, like std's `format!`.
///
/// ```
/// use dwell::{Bump, bump};
///
/// let bump = Bump::new();
/// let what = "shapes";
/// let mut key = bump::format!(in &bump, "{what}/{}", 7);
/// key.push('!');
/// assert_eq!(key, "shapes/7!");
/// ```
///
/// # Panics
///
/// When a value's `fmt` returns an error of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! __bump_format {
    (in $bump:expr, $($text:tt)+) => {
        $crate::bump::String::from_fmt_in(::core::format_args!($($text)+), $bump)
    };
}

/// [`format!`](crate::bump::format!) that reports a failed allocation or an error that a value's `fmt` returns.
///
/// ```
/// use dwell::{Bump, bump};
///
/// let bump = Bump::new();
/// assert_eq!(bump::try_format!(in &bump, "{}", 7)?, "7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __bump_try_format {
    (in $bump:expr, $($text:tt)+) => {
        $crate::bump::String::try_from_fmt_in(::core::format_args!($($text)+), $bump)
    };
}

pub use {__bump_format as format, __bump_try_format as try_format, __bump_try_vec as try_vec, __bump_vec as vec};
