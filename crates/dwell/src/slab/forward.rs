//! The traits that a slot has because its value has them.
