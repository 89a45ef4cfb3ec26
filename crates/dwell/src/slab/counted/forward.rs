//! Traits that a counted pointer forwards to its value.

macro_rules! forward {
    ($Rc:ident, $Weak:ident) => {
        impl<T: Default> Default for $Rc<T> {
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T> From<T> for $Rc<T> {
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }

        impl<T: ?Sized> AsRef<T> for $Rc<T> {
            fn as_ref(&self) -> &T {
                self
            }
        }

        impl<T: ?Sized> core::borrow::Borrow<T> for $Rc<T> {
            fn borrow(&self) -> &T {
                self
            }
        }

        impl<T: ?Sized + core::fmt::Debug> core::fmt::Debug for $Rc<T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + core::fmt::Display> core::fmt::Display for $Rc<T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized> core::fmt::Pointer for $Rc<T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                Self::as_ptr(self).fmt(f)
            }
        }

        impl<T: ?Sized> core::fmt::Debug for $Weak<T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("(Weak)")
            }
        }

        impl<T: ?Sized + PartialEq> PartialEq for $Rc<T> {
            fn eq(&self, other: &Self) -> bool {
                **self == **other
            }
        }

        impl<T: ?Sized + Eq> Eq for $Rc<T> {}

        impl<T: ?Sized + PartialOrd> PartialOrd for $Rc<T> {
            fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
                (**self).partial_cmp(other)
            }
        }

        impl<T: ?Sized + Ord> Ord for $Rc<T> {
            fn cmp(&self, other: &Self) -> core::cmp::Ordering {
                (**self).cmp(other)
            }
        }

        impl<T: ?Sized + core::hash::Hash> core::hash::Hash for $Rc<T> {
            fn hash<S: core::hash::Hasher>(&self, state: &mut S) {
                (**self).hash(state);
            }
        }

        impl<T: ?Sized + core::error::Error> core::error::Error for $Rc<T> {
            fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
                (**self).source()
            }
        }
    };
}
pub(super) use forward;
