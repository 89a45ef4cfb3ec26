//! How many values of a type a program may have at a time.

use serde::{Deserialize, Serialize};

/// How many values of a type a program may have at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// Nothing in the program's types holds it: it is a variable, once or a few times.
    #[default]
    Once,
    /// Functions return it in an `Option` or a `Result`.
    Returned,
    /// It has heap allocations of its own: `Box`, `Rc`, `Arc`.
    Boxed,
    /// A future holds it.
    Future,
    /// It is in a spawned task.
    Task,
    /// It is an element of a collection or a channel.
    Many,
}
