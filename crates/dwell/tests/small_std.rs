//! Tests of features that `SmallBox` shares with `Box`: errors from strings, leaks, raw pointers, pins, and strings
//! from bytes.

mod common;

use common::{Counts, Spy, failing_after, left_by, panics};
use dwell::{SmallBox, small_box};
use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Debug, Display};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

#[derive(Debug)]
struct Failure<T>(T);

impl<T: Debug> Display for Failure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed: {:?}", self.0)
    }
}

impl<T: Debug> Error for Failure<T> {}

type Local<const N: usize> = SmallBox<dyn Error, N>;
type Shared = SmallBox<dyn Error + Send + Sync>;

#[test]
fn errors_convert_from_the_same_types_as_box() {
    let text = String::from("text");
    let local: [Local<2>; 5] = [
        "text".into(),
        text.as_str().into(),
        text.clone().into(),
        Cow::Borrowed("text").into(),
        Box::<dyn Error>::from("text").into(),
    ];
    assert!(local.iter().all(|error| error.to_string() == "text"));
    let shared: [Shared; 4] = ["text".into(), text.clone().into(), Cow::<str>::Owned(text).into(), {
        Box::<dyn Error + Send + Sync>::from("text").into()
    }];
    assert!(shared.iter().all(|error| error.to_string() == "text"));
    let send: SmallBox<dyn Error + Send> = Failure(1).into();
    assert_eq!(send.to_string(), "failed: 1");
}

#[test]
fn question_mark_converts_errors() {
    fn concrete(text: &str) -> Result<u8, Local<2>> {
        Ok(text.parse()?)
    }
    fn boxed(text: &str) -> Result<u8, Local<4>> {
        Ok(text.parse::<u8>().map_err(Box::<dyn Error>::from)?)
    }
    fn of_text(text: &str) -> Result<u8, Shared> {
        text.parse::<u8>().map_err(|_| format!("{text} is no byte"))?;
        Err("it is one")?
    }
    assert!(concrete("x").unwrap_err().downcast::<std::num::ParseIntError>().is_ok());
    assert!(boxed("x").unwrap_err().is_inline());
    assert_eq!(of_text("x").unwrap_err().to_string(), "x is no byte");
    assert_eq!(of_text("1").unwrap_err().to_string(), "it is one");
}

#[test]
fn small_errors_are_inline_and_dropped_once() {
    let counts = Counts::default();
    let left = left_by(|| {
        let small: SmallBox<dyn Error + '_> = Failure(counts.spy(1)).into();
        let large: SmallBox<dyn Error + '_> = Failure((counts.spy(1), [0_u64; 4])).into();
        let wide: SmallBox<dyn Error + '_, 8> = Failure((counts.spy(1), [0_u64; 4])).into();
        let nothing: SmallBox<dyn Error> = Failure(()).into();
        let aligned: SmallBox<dyn Error> = Failure(Aligned).into();
        assert!(small.is_inline() && !large.is_inline() && wide.is_inline() && nothing.is_inline());
        assert!(!aligned.is_inline());
        assert_eq!((&raw const *aligned).cast::<()>().addr() % 64, 0);
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

#[derive(Debug)]
#[repr(align(64))]
struct Aligned;

trait Object {
    fn value(&self) -> u32;
}

impl Object for Spy<'_> {
    fn value(&self) -> u32 {
        self.value
    }
}

impl<T> Object for (Spy<'_>, T) {
    fn value(&self) -> u32 {
        self.0.value
    }
}

fn both(counts: &Counts) -> [SmallBox<dyn Object + '_>; 2] {
    let both: [SmallBox<dyn Object + '_>; 2] = [small_box!(counts.spy(7)), small_box!((counts.spy(7), [0_u64; 4]))];
    assert!(both[0].is_inline() && !both[1].is_inline());
    both
}

#[test]
fn into_raw_and_from_raw_round_trip() {
    let counts = Counts::default();
    let left = left_by(|| {
        for value in both(&counts) {
            let address = (!value.is_inline()).then(|| (&raw const *value).cast::<()>());
            let raw = value.into_raw();
            // The raw pointer of a spilled value is that of its block.
            assert!(address.is_none_or(|address| address == raw.cast::<()>().cast_const()));
            // SAFETY: `into_raw` returned the pointer, and `from_raw` is called once with it.
            let value: SmallBox<dyn Object + '_, 3> = unsafe { SmallBox::from_raw(raw) };
            assert!(!value.is_inline());
            let raw = value.resize::<2>().into_raw();
            // SAFETY: `into_raw` returned the pointer, and `from_raw` is called once with it.
            assert_eq!(unsafe { Box::from_raw(raw) }.value(), 7);
        }
        let nothing: SmallBox<[u64]> = small_box!([]);
        // SAFETY: `into_raw` returned the pointer, and `from_raw` is called once with it.
        assert!(unsafe { SmallBox::<[u64]>::from_raw(nothing.into_raw()) }.is_empty());
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

#[test]
fn leak_returns_a_valid_reference() {
    let counts = Counts::default();
    for value in both(&counts) {
        let leaked: &mut (dyn Object + '_) = value.leak();
        assert_eq!(leaked.value(), 7);
        assert!(!counts.balanced());
        // SAFETY: `leak` returned the reference, and it is not used again.
        drop(unsafe { Box::from_raw(leaked) });
    }
    assert!(counts.balanced());
    let text: &'static mut str = SmallBox::<str>::from("x").leak();
    text.make_ascii_uppercase();
    assert_eq!(text, "X");
    // SAFETY: `leak` returned the reference, and it is not used again.
    drop(unsafe { Box::from_raw(text) });
}

/// A future that stores its own address at the first poll. The second poll returns whether it is still there.
struct SelfAddress {
    own: *const Self,
    _pinned: std::marker::PhantomPinned,
}

impl Future for SelfAddress {
    type Output = bool;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<bool> {
        let here = &raw const *self;
        // SAFETY: no field is moved out of the pinned value.
        let this = unsafe { self.get_unchecked_mut() };
        if this.own.is_null() {
            this.own = here;
            return Poll::Pending;
        }
        Poll::Ready(std::ptr::eq(this.own, here))
    }
}

#[test]
fn pinned_values_do_not_move() {
    let self_address = || SelfAddress { own: std::ptr::null(), _pinned: std::marker::PhantomPinned };
    let inline: SmallBox<dyn Future<Output = bool>> = small_box!(self_address());
    let spilled: SmallBox<dyn Future<Output = bool>, 1> =
        small_box!(async { std::future::ready([0_u64; 9]).await.len() == 9 && self_address().await });
    for pinned in [inline.into_pin(), spilled.into_pin()] {
        let mut context = Context::from_waker(Waker::noop());
        let mut moved = vec![pinned];
        assert!(moved[0].as_mut().poll(&mut context).is_pending());
        moved.reserve(100);
        let mut pinned = moved.pop().unwrap();
        assert_eq!(pinned.as_mut().poll(&mut context), Poll::Ready(true));
    }
}

#[test]
fn failed_allocation_returns_the_box() {
    let counts = Counts::default();
    let left = left_by(|| {
        let [inline, spilled] = both(&counts);
        let inline = failing_after(0, || inline.try_leak().map(drop).unwrap_err()).into_inner();
        let inline = failing_after(0, || inline.try_into_raw().map(drop).unwrap_err()).into_inner();
        let inline = failing_after(0, || inline.try_into_pin().map(drop).unwrap_err()).into_inner();
        assert!(inline.is_inline() && inline.value() == 7);
        let raw = failing_after(0, || spilled.try_into_raw()).unwrap();
        // SAFETY: `try_into_raw` returned the pointer, and `from_raw` is called once with it.
        drop(unsafe { SmallBox::<_, 2>::from_raw(raw) });
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

/// `small_box!` takes the value before it panics because the slice is too long.
#[test]
fn too_long_slice_drops_the_value() {
    struct Unsized<'a, T: ?Sized>(#[expect(dead_code, reason = "dropped")] Spy<'a>, T);
    let counts = Counts::default();
    assert!(panics(|| {
        let _made: SmallBox<Unsized<'_, [()]>> = small_box!(Unsized(counts.spy(1), [(); usize::MAX]));
    }));
    assert!(counts.balanced());
    let whole: SmallBox<Unsized<'_, [()]>> = small_box!(Unsized(counts.spy(1), [(); 3]));
    assert_eq!(whole.1.len(), 3);
}

#[cfg(feature = "serde")]
mod of_serde {
    use dwell::SmallBox;
    use serde::Deserialize;
    use serde::de::value::{BytesDeserializer, Error, SeqDeserializer};
    use serde::de::{IntoDeserializer, Visitor};

    type Text = SmallBox<str>;

    #[test]
    fn str_deserializes_from_bytes() {
        let borrowed: BytesDeserializer<'_, Error> = b"inline".as_slice().into_deserializer();
        assert_eq!(&*Text::deserialize(borrowed).unwrap(), "inline");
        let spilled: BytesDeserializer<'_, Error> = b"more than sixteen bytes".as_slice().into_deserializer();
        assert_eq!(&*Text::deserialize(spilled).unwrap(), "more than sixteen bytes");
        let wrong: BytesDeserializer<'_, Error> = [0xFF_u8].as_slice().into_deserializer();
        let message = Text::deserialize(wrong).unwrap_err().to_string();
        assert_eq!(message, "invalid value: byte array, expected a string");
        assert!(Text::deserialize(SeqDeserializer::<_, Error>::new([1_u8].into_iter())).is_err());
    }

    /// A deserializer of owned bytes.
    struct Owned(Vec<u8>);

    impl<'de> serde::Deserializer<'de> for Owned {
        type Error = Error;

        fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_byte_buf(self.0)
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
        }
    }

    #[test]
    fn str_deserializes_from_owned_bytes() {
        assert_eq!(&*Text::deserialize(Owned(b"owned".to_vec())).unwrap(), "owned");
        assert!(Text::deserialize(Owned(vec![b'a', 0xC3])).is_err());
    }
}
