//! ahash. Maps with any hasher are weighed; these are for fields that hold one.

plain! {
    ::ahash::RandomState; ::ahash::AHasher;
}
