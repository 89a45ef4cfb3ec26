//! rustc-hash. Maps with any hasher are weighed; these are for fields that hold one.

plain! {
    ::rustc_hash::FxBuildHasher; ::rustc_hash::FxHasher;
}
