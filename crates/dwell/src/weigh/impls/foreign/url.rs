//! url: one `String` with a known length and an unknown capacity.

use crate::weigh::{Kind, Type, Walk, Weigh};
use ::url::{Host, Url};
use core::net::{Ipv4Addr, Ipv6Addr};

impl Weigh for Url {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: false });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        let text = self.as_str().as_bytes();
        walk.text_block(text, text.len());
        walk.at_least();
    }
}

variants! {
    [S: Weigh] Host<S> {
        0 "Domain": Host::Domain(domain) => [domain: S],
        1 "Ipv4": Host::Ipv4(address) => [address: Ipv4Addr],
        2 "Ipv6": Host::Ipv6(address) => [address: Ipv6Addr],
    }
}
