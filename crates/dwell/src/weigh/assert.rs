//! `assert_weighs!`.

/// Asserts a limit on the bytes of a value and of all that it owns.
///
/// The limit is a number of bytes, or a literal and a unit: `B`; `kB`, `MB`, `GB` (powers of 1000); `KiB`, `MiB`, `GiB`
/// (powers of 1024). The comparison is `<=`, `<` or `==`. Further arguments are a message, as in `assert!`.
///
/// ```
/// use dwell::assert_weighs;
///
/// let squares: Vec<u64> = (0..1000).map(|n| n * n).collect();
/// assert_weighs!(squares <= 8 KiB);
/// assert_weighs!(squares[..10] == 80);
/// assert_weighs!(squares < 1.5 MiB, "the cache has {} entries", squares.len());
/// ```
///
/// # Panics
///
/// Panics with the weight if the comparison fails, or if a part of the value is opaque.
///
/// ```should_panic
/// dwell::assert_weighs!(vec![0_u8; 2000] <= 1 KiB);
/// ```
#[macro_export]
macro_rules! assert_weighs {
    (@ [$($value:tt)+] <= $($limit:tt)+) => { $crate::assert_weighs!(@limit (<=) [$($value)+] $($limit)+) };
    (@ [$($value:tt)+] < $($limit:tt)+) => { $crate::assert_weighs!(@limit (<) [$($value)+] $($limit)+) };
    (@ [$($value:tt)+] == $($limit:tt)+) => { $crate::assert_weighs!(@limit (==) [$($value)+] $($limit)+) };
    (@ [$($value:tt)*] $next:tt $($rest:tt)*) => { $crate::assert_weighs!(@ [$($value)* $next] $($rest)*) };
    (@ [$($value:tt)*]) => {
        ::core::compile_error!("expected `assert_weighs!(value <= limit)`, as in `assert_weighs!(cache <= 1 MiB)`")
    };
    (@limit $operator:tt $value:tt $number:literal $unit:ident $(, $($message:tt)*)?) => {
        $crate::assert_weighs!(
            @check $operator $value $crate::weigh::Limit::in_units($number as f64, ::core::stringify!($unit))
            $(, $($message)*)?
        )
    };
    (@limit $operator:tt $value:tt $bytes:expr $(, $($message:tt)*)?) => {
        $crate::assert_weighs!(
            @check $operator $value $crate::weigh::Limit::in_bytes($bytes) $(, $($message)*)?
        )
    };
    (@check ($operator:tt) [$($value:tt)+] $limit:expr $(,)?) => {
        $crate::assert_weighs!(@check ($operator) [$($value)+] $limit, "")
    };
    (@check ($operator:tt) [$($value:tt)+] $limit:expr, $($message:tt)+) => {{
        let weight = $crate::weigh(&$($value)+);
        let limit: $crate::weigh::Limit = $limit;
        if weight.opaque != 0 || !(weight.total() $operator limit.bytes()) {
            limit.fail(
                weight,
                ::core::stringify!($($value)+),
                ::core::stringify!($operator),
                ::core::format_args!($($message)+),
            );
        }
    }};
    ($($all:tt)*) => { $crate::assert_weighs!(@ [] $($all)*) };
}

use super::Weight;
use core::fmt;

/// The limit of [`assert_weighs!`](crate::assert_weighs), in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    bytes: u64,
}

impl Limit {
    /// Creates a limit in bytes.
    pub const fn in_bytes(bytes: u64) -> Self {
        Self { bytes }
    }

    /// Creates a limit of `number` units, rounded down to bytes.
    ///
    /// # Panics
    ///
    /// Panics if the unit is unknown.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "limits are small numbers, and casts saturate"
    )]
    pub const fn in_units(number: f64, unit: &str) -> Self {
        let bytes = match unit.as_bytes() {
            b"B" => 1.0,
            b"kB" => 1e3,
            b"MB" => 1e6,
            b"GB" => 1e9,
            b"KiB" => 1024.0,
            b"MiB" => 1024.0 * 1024.0,
            b"GiB" => 1024.0 * 1024.0 * 1024.0,
            _ => panic!("expected one of the units B, kB, MB, GB, KiB, MiB, GiB"),
        };
        Self { bytes: (number * bytes) as u64 }
    }

    /// Returns the limit in bytes.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// Panics with a message that contains the weight and the limit.
    ///
    /// # Panics
    ///
    /// Always.
    #[cold]
    #[track_caller]
    pub fn fail(self, weight: Weight, value: &str, operator: &str, message: fmt::Arguments<'_>) -> ! {
        let colon = if message.as_str() == Some("") { "" } else { ": " };
        panic!("`{value}` weighs {weight}; expected {operator} {} bytes{colon}{message}", self.bytes);
    }
}
