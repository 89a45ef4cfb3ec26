//! Compares the table of trait implementations in `docs/small.md` with the compiler.

use std::any::Any;
use std::borrow::{Borrow, BorrowMut, Cow};
use std::error::Error;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::os::fd::AsFd;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::Path;
use std::rc::Rc;

/// Evaluates to whether a type implements a trait. If the bound holds, the inherent constant takes precedence over the
/// constant of the trait.
macro_rules! has {
    ($Type:ty: $($bound:tt)+) => {{
        struct Probe<T: ?Sized>(PhantomData<T>);
        #[allow(dead_code, reason = "not used if every type has the trait")]
        trait Fallback {
            const HAS: bool = false;
        }
        impl<T: ?Sized> Fallback for Probe<T> {}
        #[allow(dead_code, reason = "not used for types without the trait")]
        impl<T: ?Sized + $($bound)+> Probe<T> {
            const HAS: bool = true;
        }
        <Probe<$Type>>::HAS
    }};
}

/// A user-defined trait with `Iterator` as its supertrait.
trait Own: Iterator<Item = u8> {}

const ROWS: &[&str] = &[
    "Deref",
    "DerefMut",
    "AsRef, AsMut",
    "Borrow, BorrowMut",
    "Clone",
    "Clone of slices",
    "Clone of str",
    "Clone of CStr, OsStr, Path",
    "Default",
    "Default of slices",
    "Default of str",
    "PartialEq, Eq",
    "PartialOrd, Ord",
    "Hash",
    "Debug, Display",
    "Pointer",
    "fmt::Write",
    "From a value",
    "From Box, sized",
    "From Box of a slice or str",
    "From Box of dyn Any",
    "From Box of another dyn",
    "From arrays",
    "From Vec",
    "From a borrowed slice",
    "From Cow of a slice",
    "From &str",
    "From String, Cow of str",
    "From &CStr, &OsStr, &Path",
    "From an error",
    "From &str to dyn Error",
    "TryFrom a slice to an array",
    "FromIterator for slices",
    "FromIterator for str",
    "IntoIterator of slices",
    "Iterator",
    "Iterator of own subtraits",
    "DoubleEndedIterator",
    "ExactSizeIterator",
    "FusedIterator",
    "Error, sized",
    "Hasher",
    "io::Read",
    "io::Write",
    "io::Seek",
    "io::BufRead",
    "AsFd, AsRawFd",
    "Future of Unpin",
    "Future of any",
    "Unpin where T is",
    "Unpin where T is not",
    "Send, Sync",
    "not Send where T is not",
    "UnwindSafe, RefUnwindSafe",
    "FnOnce, by call",
    "FnMut, Fn",
    "Serialize",
    "Deserialize",
    "Deserialize of slices",
];

/// Defines the function of a column, which returns for each row whether a box implements the trait.
macro_rules! column {
    ($name:ident, $Box:ident) => {
        fn $name() -> Vec<bool> {
            vec![
                has!($Box<u8>: std::ops::Deref),
                has!($Box<u8>: std::ops::DerefMut),
                has!($Box<u8>: AsRef<u8> + AsMut<u8>),
                has!($Box<u8>: Borrow<u8> + BorrowMut<u8>),
                has!($Box<u8>: Clone),
                has!($Box<[u8]>: Clone),
                has!($Box<str>: Clone),
                has!($Box<Path>: Clone),
                has!($Box<u8>: Default),
                has!($Box<[u8]>: Default),
                has!($Box<str>: Default),
                has!($Box<str>: Eq),
                has!($Box<str>: Ord),
                has!($Box<str>: Hash),
                has!($Box<str>: fmt::Debug + fmt::Display),
                has!($Box<str>: fmt::Pointer),
                has!($Box<String>: fmt::Write),
                has!($Box<u8>: From<u8>),
                has!($Box<u8>: From<Box<u8>>),
                has!($Box<str>: From<Box<str>>),
                has!($Box<dyn Any>: From<Box<dyn Any>>),
                has!($Box<dyn fmt::Debug>: From<Box<dyn fmt::Debug>>),
                has!($Box<[u8]>: From<[u8; 3]>),
                has!($Box<[u8]>: From<Vec<u8>>),
                has!($Box<[u8]>: From<&'static [u8]>),
                has!($Box<[u8]>: From<Cow<'static, [u8]>>),
                has!($Box<str>: From<&'static str>),
                has!($Box<str>: From<String> + From<Cow<'static, str>>),
                has!($Box<Path>: From<&'static Path>),
                has!($Box<dyn Error>: From<fmt::Error>),
                has!($Box<dyn Error>: From<&'static str>),
                has!($Box<[u8; 3]>: TryFrom<$Box<[u8]>>),
                has!($Box<[u8]>: FromIterator<u8>),
                has!($Box<str>: FromIterator<char> + FromIterator<&'static str>),
                has!($Box<[u8]>: IntoIterator<Item = u8>),
                has!($Box<dyn Iterator<Item = u8>>: Iterator),
                has!($Box<dyn Own>: Iterator),
                has!($Box<dyn DoubleEndedIterator<Item = u8>>: DoubleEndedIterator),
                has!($Box<dyn ExactSizeIterator<Item = u8>>: ExactSizeIterator),
                has!($Box<std::iter::Empty<u8>>: FusedIterator),
                has!($Box<fmt::Error>: Error),
                has!($Box<dyn Hasher>: Hasher),
                has!($Box<dyn io::Read>: io::Read),
                has!($Box<dyn io::Write>: io::Write),
                has!($Box<dyn io::Seek>: io::Seek),
                has!($Box<dyn io::BufRead>: io::BufRead),
                has!($Box<io::Stdin>: AsFd + std::os::fd::AsRawFd),
                has!($Box<dyn Future<Output = u8> + Unpin>: Future),
                has!($Box<dyn Future<Output = u8>>: Future),
                has!($Box<u8>: Unpin),
                has!($Box<dyn Future<Output = u8>>: Unpin),
                has!($Box<dyn Any + Send + Sync>: Send + Sync),
                has!($Box<Rc<u8>>: Send),
                has!($Box<u8>: UnwindSafe + RefUnwindSafe),
                has!($Box<dyn FnOnce(u8) -> u8>: FnOnce(u8) -> u8),
                has!($Box<dyn Fn(u8) -> u8>: Fn(u8) -> u8),
                has!($Box<str>: serde::Serialize),
                has!($Box<str>: serde::de::DeserializeOwned),
                has!($Box<[u8]>: serde::de::DeserializeOwned),
            ]
        }
    };
}

column!(std_box, Box);
#[cfg(feature = "ssobox")]
type Ssobox<T> = ssobox::SsoBox<T>;
#[cfg(feature = "ssobox")]
column!(ssobox, Ssobox);
type Smallbox<T> = smallbox::SmallBox<T, smallbox::space::S2>;
column!(smallbox, Smallbox);
type Ours<T> = dwell::SmallBox<T>;
column!(ours, Ours);

/// Returns the rows of the documented table: their names and the columns `Box`, ssobox, smallbox, and dwell.
fn documented() -> Vec<(String, Vec<String>)> {
    let page = include_str!("../../../docs/small.md");
    let table = page.lines().skip_while(|line| !line.starts_with("| trait |")).skip(2);
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    table
        .take_while(|line| line.starts_with('|'))
        .map(cells)
        .map(|cells| (cells[0].replace('`', ""), cells[1..5].to_vec()))
        .collect()
}

#[test]
fn documented_table_matches_the_compiler() {
    #[cfg(feature = "ssobox")]
    let sso = Some(ssobox());
    #[cfg(not(feature = "ssobox"))]
    let sso: Option<Vec<bool>> = None;
    let (boxed, small, ours) = (std_box(), smallbox(), ours());
    let documented = documented();
    let word = |has: bool| if has { "yes" } else { "-" };
    let mut wrong = String::new();
    for (at, name) in ROWS.iter().enumerate() {
        // Without the feature `ssobox`, its documented column is not checked.
        let believed = documented.get(at).map_or("?", |(_, cells)| &cells[1]);
        let sso = sso.as_ref().map_or(believed, |column| word(column[at]));
        let asked = [word(boxed[at]), sso, word(small[at]), word(ours[at])];
        if documented.get(at).is_none_or(|(row, cells)| row != name || cells[..] != asked) {
            wrong.extend(["| ", name, " | ", &asked.join(" | "), " |\n"]);
        }
    }
    assert!(wrong.is_empty(), "docs/small.md should have\n{wrong}");
    assert_eq!(documented.len(), ROWS.len());
}
