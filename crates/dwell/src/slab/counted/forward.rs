//! Traits that a counted pointer forwards to its value.

use super::{Counted, Counts, Weak};
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::error::Error;
use core::fmt;
use core::hash::{Hash, Hasher};

impl<T: Default, C: Counts> Default for Counted<T, C> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T, C: Counts> From<T> for Counted<T, C> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized, C: Counts> AsRef<T> for Counted<T, C> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized, C: Counts> Borrow<T> for Counted<T, C> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized + fmt::Debug, C: Counts> fmt::Debug for Counted<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display, C: Counts> fmt::Display for Counted<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, C: Counts> fmt::Pointer for Counted<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::as_ptr(self).fmt(f)
    }
}

impl<T: ?Sized, C: Counts> fmt::Debug for Weak<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

impl<T: ?Sized + PartialEq, C: Counts> PartialEq for Counted<T, C> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq, C: Counts> Eq for Counted<T, C> {}

impl<T: ?Sized + PartialOrd, C: Counts> PartialOrd for Counted<T, C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(other)
    }
}

impl<T: ?Sized + Ord, C: Counts> Ord for Counted<T, C> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

impl<T: ?Sized + Hash, C: Counts> Hash for Counted<T, C> {
    fn hash<S: Hasher>(&self, state: &mut S) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + Error, C: Counts> Error for Counted<T, C> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        (**self).source()
    }
}
