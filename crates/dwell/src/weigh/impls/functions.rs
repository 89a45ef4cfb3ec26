//! `Weigh` for function pointers and for trait objects of closures, which are opaque.
//!
//! `for<'a> fn(&'a T)` is another type than `fn(&T)` of one lifetime, so each needs an implementation. Those here are for one and
//! two arguments, of which each may be a reference. The derive covers all others by subtyping: it names `fn(_)`.

use crate::weigh::Kind;

/// Implements `Weigh` for functions with these arguments.
macro_rules! functions {
    ($(($($name:ident)*))*) => {$(
        plain! {
            @[$($name,)* R] fn($($name),*) -> R;
            @[$($name,)* R] unsafe fn($($name),*) -> R;
            @[$($name,)* R] extern "C" fn($($name),*) -> R;
            @[$($name,)* R] unsafe extern "C" fn($($name),*) -> R;
            @[$($name,)* R] extern "C-unwind" fn($($name),*) -> R;
            @[$($name,)* R] unsafe extern "C-unwind" fn($($name),*) -> R;
            @[$($name,)* R] extern "system" fn($($name),*) -> R;
            @[$($name,)* R] unsafe extern "system" fn($($name),*) -> R;
        }
        opaque! {
            @[$($name,)* R] dyn Fn($($name),*) -> R + '_: Kind::Opaque;
            @[$($name,)* R] dyn Fn($($name),*) -> R + Send + '_: Kind::Opaque;
            @[$($name,)* R] dyn Fn($($name),*) -> R + Sync + '_: Kind::Opaque;
            @[$($name,)* R] dyn Fn($($name),*) -> R + Send + Sync + '_: Kind::Opaque;
            @[$($name,)* R] dyn FnMut($($name),*) -> R + '_: Kind::Opaque;
            @[$($name,)* R] dyn FnMut($($name),*) -> R + Send + '_: Kind::Opaque;
            @[$($name,)* R] dyn FnMut($($name),*) -> R + Send + Sync + '_: Kind::Opaque;
            @[$($name,)* R] dyn FnOnce($($name),*) -> R + '_: Kind::Opaque;
            @[$($name,)* R] dyn FnOnce($($name),*) -> R + Send + '_: Kind::Opaque;
            @[$($name,)* R] dyn FnOnce($($name),*) -> R + Send + Sync + '_: Kind::Opaque;
        }
    )*};
}

functions! {
    () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) (A B C D E F G H I)
    (A B C D E F G H I J) (A B C D E F G H I J K) (A B C D E F G H I J K L)
}

/// Implements `Weigh` for pointers to C functions with a variable number of arguments.
macro_rules! variadic {
    ($(($($name:ident)*))*) => {
        plain! {$(
            @[$($name,)* R] extern "C" fn($($name),*, ...) -> R;
            @[$($name,)* R] unsafe extern "C" fn($($name),*, ...) -> R;
        )*}
    };
}

variadic! {
    (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F)
}

/// Implements `Weigh` for functions that take references of any lifetime.
macro_rules! higher_ranked {
    ($([$($generics:tt)*] for<$($lifetime:lifetime),*> ($($argument:ty),*) $(-> $result:ty)?;)*) => {$(
        higher_ranked!(@plain [$($generics)*]
            for<$($lifetime),*> fn($($argument),*) $(-> $result)?;
            for<$($lifetime),*> unsafe fn($($argument),*) $(-> $result)?;
            for<$($lifetime),*> extern "C" fn($($argument),*) $(-> $result)?;
            for<$($lifetime),*> unsafe extern "C" fn($($argument),*) $(-> $result)?;
        );
        higher_ranked!(@opaque [$($generics)*]
            dyn for<$($lifetime),*> Fn($($argument),*) $(-> $result)? + '_;
            dyn for<$($lifetime),*> Fn($($argument),*) $(-> $result)? + Send + '_;
            dyn for<$($lifetime),*> Fn($($argument),*) $(-> $result)? + Send + Sync + '_;
            dyn for<$($lifetime),*> FnMut($($argument),*) $(-> $result)? + '_;
            dyn for<$($lifetime),*> FnMut($($argument),*) $(-> $result)? + Send + '_;
            dyn for<$($lifetime),*> FnOnce($($argument),*) $(-> $result)? + '_;
            dyn for<$($lifetime),*> FnOnce($($argument),*) $(-> $result)? + Send + '_;
        );
    )*};
    (@plain $generics:tt $($ty:ty;)*) => {
        $(higher_ranked!(@one plain $generics $ty);)*
    };
    (@opaque $generics:tt $($ty:ty;)*) => {
        $(higher_ranked!(@one opaque $generics $ty);)*
    };
    (@one plain [$($generics:tt)*] $ty:ty) => {
        plain! {
            #[allow(coherence_leak_check, reason = "one lifetime and every lifetime are two types")]
            @[$($generics)*] $ty;
        }
    };
    (@one opaque [$($generics:tt)*] $ty:ty) => {
        opaque! {
            #[allow(coherence_leak_check, reason = "one lifetime and every lifetime are two types")]
            @[$($generics)*] $ty: Kind::Opaque;
        }
    };
}

higher_ranked! {
    [A: ?Sized, R] for<'a> (&'a A) -> R;
    [A: ?Sized, R] for<'a> (&'a mut A) -> R;
    [A: ?Sized, R: ?Sized] for<'a> (&'a A) -> &'a R;
    [A: ?Sized, B: ?Sized, R] for<'a, 'b> (&'a A, &'b B) -> R;
    [A: ?Sized, B: ?Sized, R] for<'a, 'b> (&'a mut A, &'b B) -> R;
    [A: ?Sized, B: ?Sized, R] for<'a, 'b> (&'a A, &'b mut B) -> R;
    [A: ?Sized, B: ?Sized, R] for<'a, 'b> (&'a mut A, &'b mut B) -> R;
    [A: ?Sized, B, R] for<'a> (&'a A, B) -> R;
    [A: ?Sized, B, R] for<'a> (&'a mut A, B) -> R;
    [A, B: ?Sized, R] for<'a> (A, &'a B) -> R;
    [A, B: ?Sized, R] for<'a> (A, &'a mut B) -> R;
}
