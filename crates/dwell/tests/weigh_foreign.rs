//! `weigh` on other crates' types, compared with the allocator's counts. Run with the features of those crates.
#![cfg(feature = "std")]
#![allow(dead_code, reason = "each feature uses a part of it")]
#![allow(clippy::cast_possible_truncation, reason = "numbers of any kind")]

mod common;

use common::live;
use dwell::weigh::{Accuracy, Weigh};
// Fixed hasher keys: a table has the same layout in each run.
#[allow(unused_imports, reason = "each feature uses a part of it")]
use std::hash::{BuildHasherDefault, DefaultHasher};

/// Returns the weight of a value, and the bytes and blocks that the allocator counted for it.
fn weighed<T: Weigh>(make: impl FnOnce() -> T) -> (dwell::weigh::Weight, u64, u64) {
    let before = live();
    let value = make();
    let after = live();
    let weight = dwell::weigh(&value);
    let tree = dwell::weigh::tree(&value);
    assert_eq!((tree.weight.heap, tree.weight.allocations), (weight.heap, weight.allocations));
    assert_eq!(tree.weight.accuracy(), weight.accuracy());
    (weight, (after.1 - before.1).cast_unsigned() as u64, (after.0 - before.0).cast_unsigned() as u64)
}

/// Asserts that the weight equals the allocator's counts, and returns its accuracy.
fn equal<T: Weigh>(make: impl FnOnce() -> T) -> Accuracy {
    let (weight, bytes, blocks) = weighed(make);
    let name = std::any::type_name::<T>();
    assert_eq!(weight.heap, bytes, "bytes of a {name}");
    assert_eq!(weight.allocations, blocks, "blocks of a {name}");
    weight.accuracy()
}

/// Asserts that the weight equals the allocator's counts and is reported as exact.
fn exact<T: Weigh>(make: impl FnOnce() -> T) {
    assert_eq!(equal(make), Accuracy::Exact, "{}", std::any::type_name::<T>());
}

/// Asserts that the weight is a lower bound of the allocator's counts and is reported as one.
fn at_least<T: Weigh>(make: impl FnOnce() -> T) {
    let (weight, bytes, blocks) = weighed(make);
    let name = std::any::type_name::<T>();
    assert_eq!(weight.accuracy(), Accuracy::AtLeast, "{name}");
    assert!(
        weight.heap <= bytes && weight.allocations <= blocks,
        "{weight} of a {name}, which has {bytes} in {blocks}"
    );
}

/// Returns lengths that cover every kind of growth.
fn lengths() -> impl Iterator<Item = usize> {
    scaled((0..70).chain((70..2000).step_by(113)))
}

/// Returns all of the numbers, or a few small ones under Miri.
fn scaled(numbers: impl IntoIterator<Item = usize>) -> impl Iterator<Item = usize> {
    numbers.into_iter().filter(|n| !cfg!(miri) || *n < 150).step_by(if cfg!(miri) { 11 } else { 1 })
}

fn text(n: usize) -> String {
    "t".repeat(n % 41)
}

#[cfg(feature = "hashbrown-0_17")]
#[test]
fn hashbrown() {
    use ::hashbrown::{HashMap, HashSet, HashTable};
    type State = BuildHasherDefault<DefaultHasher>;
    for n in lengths() {
        equal(|| (0..n).map(|n| (n, text(n))).collect::<HashMap<_, _, State>>());
        equal(|| {
            let mut map: HashMap<u16, u8, State> = (0..n as u16).map(|n| (n, 1)).collect();
            map.retain(|key, _| key % 4 == 0);
            map
        });
        equal(|| (0..n).map(text).collect::<HashSet<_, State>>());
        equal(|| {
            let mut table = HashTable::with_capacity(n / 2);
            for n in 0..n as u64 {
                table
                    .insert_unique(n.wrapping_mul(0x9E37_79B9_7F4A_7C15), n, |n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            }
            table
        });
    }
}

#[cfg(feature = "indexmap")]
#[test]
fn indexmap() {
    use ::indexmap::{IndexMap, IndexSet};
    type State = BuildHasherDefault<DefaultHasher>;
    for n in lengths() {
        equal(|| (0..n).map(|n| (n, text(n))).collect::<IndexMap<_, _, State>>());
        equal(|| {
            let mut map = IndexMap::<u8, [u8; 3], State>::default();
            for n in 0..n {
                map.insert(n as u8, [0; 3]);
            }
            map
        });
        equal(|| (0..n).map(text).collect::<IndexSet<_, State>>());
        equal(|| {
            let mut set = (0..n).collect::<IndexSet<_, State>>();
            set.shrink_to_fit();
            set
        });
    }
}

#[cfg(feature = "smallvec")]
#[test]
fn smallvec() {
    use ::smallvec::SmallVec;
    for n in lengths() {
        exact(|| (0..n).map(text).collect::<SmallVec<[String; 4]>>());
        exact(|| {
            let mut vec = SmallVec::<[u8; 8]>::new();
            (0..n).for_each(|n| vec.push(n as u8));
            vec.truncate(3);
            vec
        });
        exact(|| (0..n).map(|_| ()).collect::<SmallVec<[(); 4]>>());
    }
}

#[cfg(feature = "arrayvec-0_7")]
#[test]
fn arrayvec() {
    use ::arrayvec::{ArrayString, ArrayVec};
    for n in 0..=20 {
        exact(|| (0..n).map(text).collect::<ArrayVec<_, 20>>());
        exact(|| ArrayString::<20>::from(&"x".repeat(n)).unwrap());
    }
    let tree = dwell::weigh::tree(&(0..5).map(text).collect::<ArrayVec<_, 20>>());
    assert_eq!((tree.nodes[1].slots, tree.nodes[1].instances), (20, 5));
}

#[cfg(feature = "bytes")]
#[test]
fn bytes() {
    use ::bytes::{Bytes, BytesMut};
    for n in lengths() {
        // A single owner without spare bytes has the right weight, but `weigh` cannot know that.
        assert_ne!(equal(|| Bytes::from(vec![0; n].into_boxed_slice())), Accuracy::Exact);
        assert_ne!(equal(|| BytesMut::with_capacity(n)), Accuracy::Exact);
    }
    let one = Bytes::from(vec![0; 100]);
    let clones = vec![one; 3];
    assert_eq!(dwell::weigh(&clones).heap, 3 * size_of::<Bytes>() as u64 + 100);
    assert_eq!(dwell::weigh(&Bytes::from_static(b"static")).accuracy(), Accuracy::About);
}

#[cfg(feature = "compact_str-0_9")]
#[test]
fn compact_str() {
    use ::compact_str::CompactString;
    for n in lengths() {
        exact(|| CompactString::from("x".repeat(n).as_str()));
        exact(|| {
            let mut text = CompactString::with_capacity(n);
            text.push_str("some");
            text
        });
    }
}

#[cfg(feature = "compact_str-0_10")]
#[test]
fn compact_str_010() {
    use ::compact_str_010::CompactString;
    for n in lengths() {
        exact(|| CompactString::from("x".repeat(n).as_str()));
        exact(|| {
            let mut text = CompactString::with_capacity(n);
            text.push_str("some");
            text
        });
    }
}

#[cfg(feature = "serde_json")]
#[test]
fn serde_json() {
    use ::serde_json::{Value, json};
    fn value(n: usize) -> Value {
        match n % 7 {
            0 => Value::Null,
            1 => json!(n),
            2 => json!(text(n)),
            3 => Value::Array((0..n / 9).map(value).collect()),
            _ => Value::Object((0..n / 5).map(|n| (format!("{n}{}", text(n)), value(n))).collect()),
        }
    }
    for n in lengths().filter(|n| *n < 400) {
        equal(|| value(n));
        let text = value(n).to_string();
        equal(|| ::serde_json::from_str::<Value>(&text).unwrap());
    }
}

/// The user cannot change these types, so nothing is suggested for their parts, and predictions of such changes are
/// errors.
#[cfg(all(feature = "serde_json", feature = "advice", feature = "derive"))]
#[test]
fn serde_json_values_get_no_suggestions() {
    use ::serde_json::{Map, Value, json};
    use dwell::weigh::{WhatIf, tree};
    use std::borrow::Cow;

    #[derive(dwell::Weigh)]
    struct Page {
        title: Cow<'static, str>,
        content: Value,
        extensions: Map<String, Value>,
        example: Option<Value>,
        labels: std::collections::BTreeMap<String, Value>,
    }
    // Each part would be worth a change in the user's own types: unused capacity, an array of one element, an object of
    // few entries.
    let spare = || String::with_capacity(200);
    let object = || Map::from_iter([(spare() + "key", Value::String(spare())), (spare(), json!([1, [2], {}]))]);
    let page = |n: usize| Page {
        title: Cow::Owned(spare()),
        content: Value::Object(object()),
        extensions: object(),
        example: n.is_multiple_of(50).then(|| Value::Array(vec![Value::Object(object())])),
        labels: [(spare(), Value::String(spare()))].into(),
    };
    let pages: Vec<Page> = (0..if cfg!(miri) { 10 } else { 100 }).map(page).collect();
    let tree = tree(&pages);
    for advice in [tree.advise(), tree.advise_std()] {
        let paths: Vec<&String> = advice.suggestions.iter().flat_map(|suggestion| &suggestion.paths).collect();
        assert!(paths.iter().all(|path| path.starts_with("Page.") || path.starts_with("value")), "{paths:?}");
        // Changes of the user's own types are still suggested.
        assert!(paths.iter().any(|path| *path == "Page.labels key"), "{paths:?}");
        let patch = advice.to_patch();
        for foreign in ["enum Value", "enum Cow", "struct Map", "Value::", "Cow::"] {
            assert!(!patch.contains(foreign), "{patch}");
        }
    }
    let mut what_if = WhatIf::new(&tree);
    let inside = [
        "Value::Object.0",
        "Value::Object.0 key",
        "Value::Object.0 value",
        "Value::Array.0",
        "Value::Array.0 []",
        "Value::String.0",
        "Cow::Owned.0",
    ];
    for path in inside {
        let changes = [
            what_if.exact(path),
            what_if.thin(path),
            what_if.boxed(path),
            what_if.boxed_always(path),
            what_if.sorted(path),
            what_if.sparse(path),
            what_if.boxed_variant(path),
        ];
        assert!(changes.iter().all(Result::is_err), "{path}: {changes:?}");
    }
    for variant in ["Value::Object", "Value::Array", "Value::String", "Cow::Owned"] {
        assert!(what_if.boxed_variant(variant).is_err(), "{variant}");
    }
    assert_eq!(what_if.total(), tree.weight.total());
    let page = &pages[0];
    assert!(page.title.is_empty() && page.content.is_object() && page.extensions.len() == 2);
    assert!(page.example.is_some() && page.labels.len() == 1);
}

#[cfg(feature = "slab-0_4")]
#[test]
fn slab() {
    use ::slab::Slab;
    for n in lengths() {
        exact(|| {
            let mut slab = Slab::new();
            let keys: Vec<_> = (0..n).map(|n| slab.insert(text(n))).collect();
            keys.iter().step_by(3).for_each(|key| drop(slab.remove(*key)));
            slab
        });
        exact(|| (0..n).map(|n| (n, n as u8)).collect::<Slab<_>>());
    }
}

#[cfg(feature = "slotmap")]
#[test]
fn slotmap() {
    use ::slotmap::{DefaultKey, SecondaryMap, SlotMap};
    for n in lengths() {
        exact(|| {
            let mut map: SlotMap<DefaultKey, String> = SlotMap::new();
            let keys: Vec<_> = (0..n).map(|n| map.insert(text(n))).collect();
            keys.iter().step_by(3).for_each(|key| drop(map.remove(*key)));
            map
        });
        exact(|| SlotMap::<DefaultKey, u8>::with_capacity(n));
        let mut map: SlotMap<DefaultKey, ()> = SlotMap::new();
        let keys: Vec<_> = (0..n).map(|_| map.insert(())).collect();
        exact(|| {
            let mut second = SecondaryMap::new();
            for key in &keys {
                second.insert(*key, Box::new(1_u8));
            }
            second
        });
    }
}

#[cfg(feature = "bumpalo")]
#[test]
fn bumpalo() {
    use ::bumpalo::Bump;
    for n in lengths() {
        exact(|| {
            let bump = Bump::new();
            (0..n).for_each(|n| {
                bump.alloc_slice_fill_copy(n, 1_u8);
            });
            bump
        });
    }
}

#[cfg(feature = "indexmap")]
#[test]
fn index_map_with_removed_entries_is_a_lower_bound() {
    use ::indexmap::IndexMap;
    type State = BuildHasherDefault<DefaultHasher>;
    for n in lengths() {
        at_least(|| {
            let mut map: IndexMap<usize, String, State> = (0..n).map(|n| (n, text(n))).collect();
            map.retain(|key, _| key % 7 == 0);
            map
        });
        at_least(|| {
            let mut map: IndexMap<usize, u8, State> = (0..n).map(|n| (n, 0)).collect();
            map.clear();
            map
        });
    }
}

#[cfg(feature = "semver")]
#[test]
fn semver() {
    use ::semver::{BuildMetadata, Comparator, Op, Prerelease, Version, VersionReq};
    // Lengths around the inline limit, and around the limits of one and two length bytes.
    for n in scaled((0..20).chain(120..140).chain([1000, 16_383, 16_384, 70_000])) {
        let text = "a".repeat(n);
        exact(|| Prerelease::new(&text).unwrap());
        exact(|| BuildMetadata::new(&text).unwrap());
        exact(|| Version {
            pre: Prerelease::new(&text).unwrap(),
            build: BuildMetadata::new(&text).unwrap(),
            ..Version::new(1, 2, 3)
        });
        exact(|| VersionReq {
            comparators: vec![Comparator {
                op: Op::Caret,
                major: 1,
                minor: Some(2),
                patch: None,
                pre: Prerelease::new(&text).unwrap(),
            }],
        });
    }
    exact(|| VersionReq::parse(">=1.2.3, <1.8.0-alpha.and.more").unwrap());
    exact(|| VersionReq::STAR);
}

#[cfg(feature = "camino")]
#[test]
fn camino() {
    use ::camino::Utf8PathBuf;
    for n in scaled(0..100) {
        exact(|| Utf8PathBuf::from(text(n)));
        exact(|| {
            let mut path = Utf8PathBuf::with_capacity(n);
            path.push("usr");
            path.push(text(n));
            path
        });
    }
    let (whole, part) = (Utf8PathBuf::from("usr/lib"), size_of::<Utf8PathBuf>() as u64);
    assert_eq!(dwell::weigh(whole.as_path()).inline, 7);
    assert_eq!(dwell::weigh(&whole).inline, part);
}

#[cfg(feature = "url")]
#[test]
fn url() {
    use ::url::{Host, Url};
    for n in scaled(0..60) {
        at_least(|| Url::parse(&format!("https://example.com/{}?q=%20#{n}", text(n))).unwrap());
        at_least(|| {
            let mut url = Url::parse("https://user:password@example.com/a/long/path/to/be/removed").unwrap();
            url.set_path(&text(n));
            url
        });
        exact(|| Host::Domain(text(n)));
    }
    exact(|| Host::<String>::parse("127.0.0.1").unwrap());
    // Without spare capacity the lower bound is the exact weight.
    assert_eq!(equal(|| ["mailto:a@b.c"].map(|text| Url::parse(text).unwrap())), Accuracy::AtLeast);
}

#[cfg(feature = "smol_str-0_3")]
#[test]
fn smol_str() {
    use ::smol_str::SmolStr;
    for n in lengths() {
        exact(|| SmolStr::new("x".repeat(n)));
    }
    exact(|| SmolStr::new_static("a static text of more than twenty-three bytes"));
    exact(|| vec![SmolStr::new("x".repeat(100)); 5]);
    let text = SmolStr::new("x".repeat(24));
    let tree = dwell::weigh::tree_with_texts(&vec![text.clone(), text]);
    assert_eq!(tree.nodes[1].texts.as_ref().map(dwell::weigh::Texts::bytes), Some(24));
}

#[cfg(feature = "parking_lot-0_12")]
#[test]
fn parking_lot() {
    use ::parking_lot::{FairMutex, Mutex, ReentrantMutex, RwLock};
    for n in scaled(0..40) {
        exact(|| Mutex::new(vec![text(n); n]));
        exact(|| FairMutex::new(text(n)));
        exact(|| RwLock::new(Some(text(n))));
        exact(|| ReentrantMutex::new(text(n)));
    }
    plain::<::parking_lot::Condvar>();

    // This thread holds the locks, and the walk does not wait for them.
    let locks = (Mutex::new(text(9)), RwLock::new(text(9)), ReentrantMutex::new(text(9)));
    let (_a, _b, _c) = (locks.0.lock(), locks.1.write(), locks.2.lock());
    let weight = dwell::weigh(&locks);
    assert_eq!((weight.heap, weight.opaque, weight.accuracy()), (9, 2, Accuracy::AtLeast));
    let read = RwLock::new(text(9));
    let _guard = read.read();
    assert_eq!(dwell::weigh(&read).heap, 9);
}

#[cfg(feature = "dashmap")]
#[test]
fn dashmap() {
    use ::dashmap::{DashMap, DashSet};
    type State = BuildHasherDefault<DefaultHasher>;
    for n in scaled((0..40).chain([100, 1000])) {
        for shards in [2, 16] {
            let filled = || {
                let map = DashMap::with_hasher_and_shard_amount(State::default(), shards);
                (0..n).for_each(|n| drop(map.insert(n, text(n))));
                map
            };
            exact(filled);
            exact(|| {
                let map = filled();
                map.retain(|key, _| key % 5 == 0);
                map
            });
        }
        exact(|| {
            let set = DashSet::<String, State>::default();
            (0..n).for_each(|n| assert!(set.insert(text(n)) || n >= 41));
            set
        });
        exact(|| {
            let map = DashMap::<u16, [u64; 5], State>::default();
            (0..n as u16).for_each(|n| assert!(map.insert(n, [0; 5]).is_none()));
            map
        });
    }

    // This thread holds a reference into a shard: the walk reads beside another reader, and skips the shard of a
    // writer.
    let map = DashMap::with_hasher_and_shard_amount(State::default(), 4);
    (0..100).for_each(|n| drop(map.insert(n, text(n))));
    let whole = dwell::weigh(&map);
    assert!(whole.is_exact());
    let tree = dwell::weigh::tree(&map);
    assert_eq!((tree.nodes[2].instances, tree.nodes[2].ty.name()), (100, "alloc::string::String"));
    {
        let _reads = map.get(&1);
        assert_eq!(dwell::weigh(&map), whole);
    }
    let _writes = map.get_mut(&1);
    let weight = dwell::weigh(&map);
    assert_eq!((weight.opaque, weight.accuracy()), (1, Accuracy::AtLeast));
    assert!(weight.heap < whole.heap);

    // Memory owned by the values is followed while the shard's guard is held.
    let deep = DashMap::<u8, std::sync::Arc<DashMap<u8, String, State>>, State>::default();
    let inner = std::sync::Arc::new(DashMap::default());
    inner.insert(1, text(30));
    deep.insert(1, std::sync::Arc::clone(&inner));
    deep.insert(2, inner);
    let weight = dwell::weigh(&deep);
    assert!(weight.is_exact() && weight.heap > 30);
}

#[cfg(feature = "http")]
#[test]
fn http() {
    use ::http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
    exact(|| Method::PATCH);
    exact(|| Method::from_bytes(b"FIFTEEN-LETTERS").unwrap());
    exact(|| Method::from_bytes(b"SIXTEEN-LETTERS!").unwrap());
    exact(|| Method::from_bytes(&[b'A'; 100]).unwrap());
    exact(HeaderMap::<String>::default);
    plain::<::http::StatusCode>();

    for n in scaled((0..30).chain([100, 1000])) {
        // Headers with static names and values of another type.
        at_least(|| {
            let mut map = HeaderMap::<String>::with_capacity(n + 1);
            (0..n).for_each(|n| assert_eq!(map.append("accept", text(n)), n != 0));
            map
        });
        let names: Vec<_> = (0..n).map(|n| ::http::HeaderName::try_from(format!("x-{n}")).unwrap()).collect();
        at_least(|| {
            let mut map = HeaderMap::<u8>::with_capacity(1);
            for name in &names {
                assert!(map.insert(name, 1).is_none());
            }
            map
        });
    }
    let about = |weight: dwell::weigh::Weight| assert_eq!(weight.accuracy(), Accuracy::About);
    about(dwell::weigh(&HeaderValue::from_static("static")));
    about(dwell::weigh(&HeaderValue::try_from(text(40)).unwrap()));
    about(dwell::weigh(&Uri::from_static("https://example.com/path?query")));
    let mut request = Request::get("https://example.com/").header("accept", "text/html").body(text(20)).unwrap();
    assert!(dwell::weigh(&request).heap >= 20);
    request.extensions_mut().insert(text(30));
    assert_eq!(dwell::weigh(&request).opaque, 1);
    assert!(dwell::weigh(&Response::new(text(20))).heap >= 20);
}

#[test]
fn io_errors() {
    use std::io::{Error, ErrorKind};
    exact(|| Error::from_raw_os_error(2));
    exact(|| Error::from(ErrorKind::NotFound));
    // The error owns two blocks, and here they own nothing else.
    exact(|| Error::new(ErrorKind::InvalidData, std::fmt::Error));
    // The error owns a string that is not measured.
    at_least(|| Error::other("a text that is copied"));
    at_least(|| Error::other(Error::other("one in another")));
    exact(|| Some(Error::from(ErrorKind::Interrupted)));
}

#[test]
fn buffers() {
    use std::io::{BufRead, BufReader, BufWriter, Cursor, LineWriter, Write};
    for n in [0, 1, 100, 8192, 10_000] {
        exact(|| BufReader::with_capacity(n, Cursor::new(text(n))));
        exact(|| {
            let mut reader = BufReader::with_capacity(n.max(1), Cursor::new(vec![7; n]));
            reader.fill_buf().unwrap();
            reader
        });
        exact(|| {
            let mut writer = BufWriter::with_capacity(n, Vec::new());
            writer.write_all(&vec![1; n / 2]).unwrap();
            writer
        });
        at_least(|| LineWriter::with_capacity(n, vec![0; 10]));
    }
    let reader = BufReader::with_capacity(64, std::io::empty());
    let tree = dwell::weigh::tree(&reader);
    assert_eq!((tree.weight.heap, tree.nodes[0].waste), (64, 64));
    plain::<std::io::Empty>();
}

#[test]
fn channels() {
    use std::sync::mpsc;
    struct NotWeigh;
    let (sender, receiver) = mpsc::channel();
    sender.send(NotWeigh).unwrap();
    at_least(|| (sender, receiver));
    let (sender, receiver) = mpsc::sync_channel(3);
    sender.send(text(9)).unwrap();
    at_least(|| (sender, receiver));
}

#[test]
fn sorted_sets() {
    use dwell::sparse::SortedSet;
    for n in lengths() {
        exact(|| (0..n).map(text).collect::<SortedSet<_>>());
        exact(|| (0..n).map(|n| n as u8).collect::<SortedSet<_>>());
    }
    let tree = dwell::weigh::tree(&SortedSet::from([text(1), text(2), text(3)]));
    assert_eq!((tree.nodes[1].slots, tree.nodes[1].heap), (3, 6));
}

/// Checks that the default of each type is empty, also when an empty `Sparse` lends it.
#[allow(unused_macros, reason = "each feature uses a part of it")]
mod empty {
    use dwell::Sparse;
    use dwell::sparse::{DefaultRef, IsEmpty};

    pub(super) fn lent<T: Default + DefaultRef + IsEmpty>(full: T) {
        unlent(full);
        assert!(Sparse::<T>::empty().is_empty());
        assert!(T::default_ref().is_empty());
    }

    pub(super) fn unlent<T: Default + IsEmpty>(full: T) {
        let name = std::any::type_name::<T>();
        assert!(T::default().is_empty() && Sparse::new(T::default()).get().is_none(), "{name}");
        assert!(!full.is_empty() && Sparse::new(full).get().is_some(), "{name}");
    }
}

#[test]
fn foreign_types_implement_is_empty() {
    #[cfg(feature = "arrayvec-0_7")]
    {
        empty::lent(::arrayvec::ArrayVec::<String, 3>::from_iter([text(1)]));
        empty::lent(::arrayvec::ArrayString::<3>::from("a").unwrap());
    }
    #[cfg(feature = "bumpalo")]
    empty::unlent(::bumpalo::Bump::with_capacity(100));
    #[cfg(feature = "bytes")]
    {
        empty::lent(::bytes::Bytes::from_static(b"a"));
        empty::lent(::bytes::BytesMut::from("a"));
    }
    #[cfg(feature = "camino")]
    empty::lent(::camino::Utf8PathBuf::from("a"));
    #[cfg(feature = "chrono-0_4")]
    {
        empty::lent(::chrono::TimeDelta::days(1));
        empty::lent(::chrono::DateTime::<::chrono::Utc>::MIN_UTC);
        empty::lent(::chrono::NaiveDate::MIN);
        empty::lent(::chrono::NaiveDateTime::MIN);
        empty::lent(::chrono::NaiveTime::from_hms_opt(1, 0, 0).unwrap());
    }
    #[cfg(feature = "compact_str-0_9")]
    empty::lent(::compact_str::CompactString::from("a"));
    #[cfg(feature = "compact_str-0_10")]
    empty::lent(::compact_str_010::CompactString::from("a"));
    #[cfg(feature = "dashmap")]
    {
        let map = ::dashmap::DashMap::<u8, u8>::default();
        map.insert(1, 1);
        empty::unlent(map);
        let set = ::dashmap::DashSet::<u8>::default();
        set.insert(1);
        empty::unlent(set);
        // `is_empty` does not wait for a locked map.
        let map = ::dashmap::DashMap::<u8, u8>::default();
        let _entry = map.entry(1);
        assert!(!dwell::sparse::IsEmpty::is_empty(&map));
    }
    #[cfg(feature = "hashbrown-0_17")]
    {
        type State = BuildHasherDefault<DefaultHasher>;
        empty::lent(::hashbrown::HashMap::<u8, u8, State>::from_iter([(1, 1)]));
        empty::lent(::hashbrown::HashSet::<u8, State>::from_iter([1]));
        let mut table = ::hashbrown::HashTable::new();
        table.insert_unique(1, 1, |_| 1);
        empty::lent(table);
    }
    #[cfg(feature = "http")]
    {
        empty::lent(::http::HeaderMap::<u8>::from_iter([(::http::header::ACCEPT, 1)]));
        empty::lent(::http::Method::POST);
        empty::lent(::http::StatusCode::NOT_FOUND);
        empty::lent(::http::Version::HTTP_2);
        empty::lent(::http::Uri::from_static("https://example.com"));
        let mut extensions = ::http::Extensions::new();
        extensions.insert(1);
        empty::lent(extensions);
    }
    #[cfg(feature = "indexmap")]
    {
        type State = BuildHasherDefault<DefaultHasher>;
        empty::lent(::indexmap::IndexMap::<u8, u8, State>::from_iter([(1, 1)]));
        empty::lent(::indexmap::IndexSet::<u8, State>::from_iter([1]));
    }
    #[cfg(feature = "parking_lot-0_12")]
    {
        empty::unlent(::parking_lot::Mutex::new(1));
        empty::unlent(::parking_lot::RwLock::new(text(1)));
    }
    #[cfg(feature = "rustc-hash")]
    assert!(dwell::sparse::IsEmpty::is_empty(&::rustc_hash::FxBuildHasher));
    #[cfg(feature = "semver")]
    {
        empty::lent(::semver::VersionReq::parse("1").unwrap());
        empty::lent(::semver::Prerelease::new("a").unwrap());
        empty::lent(::semver::BuildMetadata::new("a").unwrap());
    }
    #[cfg(feature = "serde_json")]
    {
        empty::lent(::serde_json::json!(0));
        empty::lent(::serde_json::Map::from_iter([(text(1), ::serde_json::Value::Null)]));
    }
    #[cfg(feature = "slab-0_4")]
    empty::lent(::slab::Slab::from_iter([(0, 1)]));
    #[cfg(feature = "slotmap")]
    {
        let mut map = ::slotmap::SlotMap::<::slotmap::DefaultKey, u8>::new();
        let key = map.insert(1);
        empty::lent(key);
        let mut second = ::slotmap::SecondaryMap::new();
        second.insert(key, 1);
        empty::lent(second);
        map.remove(key);
        empty::unlent(map); // the map remembers the version of the removed key
    }
    #[cfg(feature = "smallvec")]
    empty::lent(::smallvec::SmallVec::<[u8; 3]>::from_slice(&[1]));
    #[cfg(feature = "smol_str-0_3")]
    empty::lent(::smol_str::SmolStr::new("a"));
    #[cfg(feature = "time-0_3")]
    empty::lent(::time::Duration::SECOND);
    #[cfg(feature = "uuid")]
    empty::lent(::uuid::Uuid::max());
}

/// Asserts that a type is `Weigh` and owns nothing.
fn plain<T: Weigh>() {
    assert_eq!(T::REACH, dwell::weigh::Reach::Plain);
}

#[cfg(feature = "ahash-0_8")]
#[test]
fn ahash() {
    plain::<::ahash::RandomState>();
    equal(|| {
        let mut map = std::collections::HashMap::with_hasher(::ahash::RandomState::with_seeds(1, 2, 3, 4));
        map.extend((0..100).map(|n| (n, text(n))));
        map
    });
}

#[cfg(feature = "rustc-hash")]
#[test]
fn rustc_hash() {
    plain::<::rustc_hash::FxBuildHasher>();
    equal(|| (0..100).map(|n| (n, text(n))).collect::<::rustc_hash::FxHashMap<_, _>>());
}

#[cfg(feature = "chrono-0_4")]
#[test]
fn chrono() {
    plain::<::chrono::DateTime<::chrono::Utc>>();
}

#[cfg(feature = "time-0_3")]
#[test]
fn time() {
    plain::<::time::OffsetDateTime>();
    plain::<::time::Duration>();
}

#[cfg(feature = "uuid")]
#[test]
fn uuid() {
    plain::<::uuid::Uuid>();
}
