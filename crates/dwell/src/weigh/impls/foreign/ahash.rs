//! ahash: the hasher types, for fields of these types. Maps implement `Weigh` with any hasher.

plain! {
    ::ahash::RandomState; ::ahash::AHasher;
}
