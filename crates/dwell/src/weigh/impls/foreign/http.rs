//! http: texts are `Bytes`, whose allocations are not visible. Other parts are measured, or have a lower bound.

use crate::weigh::{Kind, MapKind, Type, Walk, Weigh, type_of};
use ::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version};

plain! {
    StatusCode; Version;
}

/// Records that a part may own more or less than is counted.
fn about<const TREE: bool>(walk: &mut Walk<'_, '_, TREE>) {
    walk.at_least();
    walk.at_most();
}

/// Counts the text of a `Bytes`, once a walk for each start address. It may be static, or a part of a larger block.
fn text<const TREE: bool>(walk: &mut Walk<'_, '_, TREE>, text: &[u8]) {
    if !text.is_empty() {
        if walk.is_first_at(text.as_ptr().addr()) {
            walk.text_block(text, text.len());
        }
        about(walk);
    }
}

/// Counts a method of more than 15 bytes as a boxed slice. Shorter ones are stored inline.
impl Weigh for Method {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: false });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        let text = self.as_str().as_bytes();
        if text.len() > 15 {
            walk.text_block(text, text.len());
        }
    }
}

/// Counts no bytes. A standard name owns no memory; for other names this is a lower bound, and the crate does not
/// distinguish them.
impl Weigh for HeaderName {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: false });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.at_least();
    }
}

impl Weigh for HeaderValue {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: false });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty()
    }

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        text(walk, self.as_bytes());
    }
}

impl Weigh for Uri {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: false });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if let Some(authority) = self.authority() {
            text(walk, authority.as_str().as_bytes());
        }
        if let Some(path) = self.path_and_query() {
            text(walk, path.as_str().as_bytes());
        }
        about(walk); // the scheme may own memory too
    }
}

/// Counts the map as opaque: its values are boxes of unknown contents.
impl Weigh for Extensions {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Opaque);

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if self.is_empty() {
            walk.at_least(); // an empty map may keep its box
        } else {
            walk.opaque();
        }
    }
}

/// A struct with the size and alignment of a `HeaderMap`'s entries.
#[expect(dead_code, reason = "only its layout is asked for")]
struct Bucket<T> {
    hash: u16,
    key: HeaderName,
    value: T,
    links: Option<[usize; 2]>,
}

/// A struct with the size and alignment of a further value of a name.
#[expect(dead_code, reason = "only its layout is asked for")]
struct ExtraValue<T> {
    value: T,
    previous: Link,
    next: Link,
}

#[expect(dead_code, reason = "only its layout is asked for")]
enum Link {
    Entry(usize),
    Extra(usize),
}

/// Counts a block of four-byte indices, a block of entries, and one of further values, each with its minimum size.
impl<T: Weigh> Weigh for HeaderMap<T> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
        key: type_of::<HeaderName>,
        value: type_of::<T>,
        entry: size_of::<Bucket<T>>(),
        map: MapKind::Hash,
    });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.capacity() == 0
    }

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        // At most three quarters of the indices are used, and their number is a power of two.
        let (capacity, keys, len) = (self.capacity(), self.keys_len(), self.len());
        if capacity == 0 || walk.defer(self) {
            return;
        }
        let indices = (capacity + capacity / 3).next_power_of_two();
        walk.block(4 * indices, 2, 4 * (indices - keys));
        let (bucket, extra) = (size_of::<Bucket<T>>(), size_of::<ExtraValue<T>>());
        walk.block(bucket * keys, align_of::<Bucket<T>>(), 0);
        walk.block(extra * (len - keys), align_of::<ExtraValue<T>>(), 0);
        walk.at_least();
        walk.slots::<HeaderName>(0, keys, keys);
        walk.slots::<T>(1, len, len);
        walk.entries(self);
    }
}

fields! {
    [T: Weigh] Request<T> {
        0 "method": Method = |request| request.method(),
        1 "uri": Uri = |request| request.uri(),
        2 "headers": HeaderMap = |request| request.headers(),
        3 "extensions": Extensions = |request| request.extensions(),
        4 "body": T = |request| request.body(),
    }
    [T: Weigh] Response<T> {
        0 "headers": HeaderMap = |response| response.headers(),
        1 "extensions": Extensions = |response| response.extensions(),
        2 "body": T = |response| response.body(),
    }
}
