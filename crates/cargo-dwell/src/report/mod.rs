//! The reports of a heap: text, JSON, a page, differences, and files for other viewers.

pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod html;
pub mod json;
pub(crate) mod saved;
pub(crate) mod snapshot;
pub(crate) mod text;
