//! rustc-hash: the hasher types, for fields of these types. Maps implement `Weigh` with any hasher.

plain! {
    ::rustc_hash::FxBuildHasher; ::rustc_hash::FxHasher;
}
