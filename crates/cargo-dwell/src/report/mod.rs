//! The reports of a heap: text, JSON, a page, differences, and files for other viewers.

mod dhat;
pub(crate) mod diff;
pub(crate) mod files;
mod folded;
mod format;
mod html;
pub mod json;
mod pprof;
mod rss;
pub(crate) mod saved;
pub(crate) mod snapshot;
pub(crate) mod text;
