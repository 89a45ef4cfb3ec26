//! uuid.

plain! {
    ::uuid::Uuid; ::uuid::NonNilUuid;
}
