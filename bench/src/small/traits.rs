//! Compares the table of trait implementations in `bench/results/small.md` with the compiler.

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

/// Defines the function of a column, which returns for each row its name and whether a box implements the trait.
macro_rules! column {
    ($name:ident, $Box:ident) => {
        fn $name() -> Vec<(&'static str, bool)> {
            vec![
                ("Deref", has!($Box<u8>: std::ops::Deref)),
                ("DerefMut", has!($Box<u8>: std::ops::DerefMut)),
                ("AsRef, AsMut", has!($Box<u8>: AsRef<u8> + AsMut<u8>)),
                ("Borrow, BorrowMut", has!($Box<u8>: Borrow<u8> + BorrowMut<u8>)),
                ("Clone", has!($Box<u8>: Clone)),
                ("Clone of slices", has!($Box<[u8]>: Clone)),
                ("Clone of str", has!($Box<str>: Clone)),
                ("Clone of CStr, OsStr, Path", has!($Box<Path>: Clone)),
                ("Default", has!($Box<u8>: Default)),
                ("Default of slices", has!($Box<[u8]>: Default)),
                ("Default of str", has!($Box<str>: Default)),
                ("PartialEq, Eq", has!($Box<str>: Eq)),
                ("PartialOrd, Ord", has!($Box<str>: Ord)),
                ("Hash", has!($Box<str>: Hash)),
                ("Debug, Display", has!($Box<str>: fmt::Debug + fmt::Display)),
                ("Pointer", has!($Box<str>: fmt::Pointer)),
                ("fmt::Write", has!($Box<String>: fmt::Write)),
                ("From a value", has!($Box<u8>: From<u8>)),
                ("From Box, sized", has!($Box<u8>: From<Box<u8>>)),
                ("From Box of a slice or str", has!($Box<str>: From<Box<str>>)),
                ("From Box of dyn Any", has!($Box<dyn Any>: From<Box<dyn Any>>)),
                ("From Box of another dyn", has!($Box<dyn fmt::Debug>: From<Box<dyn fmt::Debug>>)),
                ("From arrays", has!($Box<[u8]>: From<[u8; 3]>)),
                ("From Vec", has!($Box<[u8]>: From<Vec<u8>>)),
                ("From a borrowed slice", has!($Box<[u8]>: From<&'static [u8]>)),
                ("From Cow of a slice", has!($Box<[u8]>: From<Cow<'static, [u8]>>)),
                ("From &str", has!($Box<str>: From<&'static str>)),
                ("From String, Cow of str", has!($Box<str>: From<String> + From<Cow<'static, str>>)),
                ("From &CStr, &OsStr, &Path", has!($Box<Path>: From<&'static Path>)),
                ("From an error", has!($Box<dyn Error>: From<fmt::Error>)),
                ("From &str to dyn Error", has!($Box<dyn Error>: From<&'static str>)),
                ("TryFrom a slice to an array", has!($Box<[u8; 3]>: TryFrom<$Box<[u8]>>)),
                ("FromIterator for slices", has!($Box<[u8]>: FromIterator<u8>)),
                ("FromIterator for str", has!($Box<str>: FromIterator<char> + FromIterator<&'static str>)),
                ("IntoIterator of slices", has!($Box<[u8]>: IntoIterator<Item = u8>)),
                ("Iterator", has!($Box<dyn Iterator<Item = u8>>: Iterator)),
                ("Iterator of own subtraits", has!($Box<dyn Own>: Iterator)),
                ("DoubleEndedIterator", has!($Box<dyn DoubleEndedIterator<Item = u8>>: DoubleEndedIterator)),
                ("ExactSizeIterator", has!($Box<dyn ExactSizeIterator<Item = u8>>: ExactSizeIterator)),
                ("FusedIterator", has!($Box<std::iter::Empty<u8>>: FusedIterator)),
                ("Error, sized", has!($Box<fmt::Error>: Error)),
                ("Hasher", has!($Box<dyn Hasher>: Hasher)),
                ("io::Read", has!($Box<dyn io::Read>: io::Read)),
                ("io::Write", has!($Box<dyn io::Write>: io::Write)),
                ("io::Seek", has!($Box<dyn io::Seek>: io::Seek)),
                ("io::BufRead", has!($Box<dyn io::BufRead>: io::BufRead)),
                ("AsFd, AsRawFd", has!($Box<io::Stdin>: AsFd + std::os::fd::AsRawFd)),
                ("Future of Unpin", has!($Box<dyn Future<Output = u8> + Unpin>: Future)),
                ("Future of any", has!($Box<dyn Future<Output = u8>>: Future)),
                ("Unpin where T is", has!($Box<u8>: Unpin)),
                ("Unpin where T is not", has!($Box<dyn Future<Output = u8>>: Unpin)),
                ("Send, Sync", has!($Box<dyn Any + Send + Sync>: Send + Sync)),
                ("not Send where T is not", has!($Box<Rc<u8>>: Send)),
                ("UnwindSafe, RefUnwindSafe", has!($Box<u8>: UnwindSafe + RefUnwindSafe)),
                ("FnOnce, by call", has!($Box<dyn FnOnce(u8) -> u8>: FnOnce(u8) -> u8)),
                ("FnMut, Fn", has!($Box<dyn Fn(u8) -> u8>: Fn(u8) -> u8)),
                ("Serialize", has!($Box<str>: serde::Serialize)),
                ("Deserialize", has!($Box<str>: serde::de::DeserializeOwned)),
                ("Deserialize of slices", has!($Box<[u8]>: serde::de::DeserializeOwned)),
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
    let page = include_str!("../../results/small.md");
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
    let sso: Option<Vec<(&str, bool)>> = None;
    let (boxed, small, ours) = (std_box(), smallbox(), ours());
    let documented = documented();
    let word = |has: bool| if has { "yes" } else { "-" };
    let mut wrong = String::new();
    for (at, &(name, boxed)) in boxed.iter().enumerate() {
        // Without the feature `ssobox`, its documented column is not checked.
        let believed = documented.get(at).map_or("?", |(_, cells)| &cells[1]);
        let sso = sso.as_ref().map_or(believed, |column| word(column[at].1));
        let asked = [word(boxed), sso, word(small[at].1), word(ours[at].1)];
        if documented.get(at).is_none_or(|(row, cells)| row != name || cells[..] != asked) {
            wrong.extend(["| ", name, " | ", &asked.join(" | "), " |\n"]);
        }
    }
    assert!(wrong.is_empty(), "bench/results/small.md should have\n{wrong}");
    assert_eq!(documented.len(), boxed.len());
}
