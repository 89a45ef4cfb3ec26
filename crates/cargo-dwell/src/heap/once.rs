//! The states of `OnceLock` and `LazyLock`.
//!
//! Their contents are uninitialised until the state is "complete". That is 0 in newer releases of std and 3 in older
//! ones, in which the other number means "incomplete". The executable's file has the initial states of statics, which
//! are incomplete.

use super::fields::named;
use super::types::{Schema, head};
use crate::debuginfo;
use object::{Object, ObjectSegment};

/// The paths of the types that contain a `Once`.
pub(crate) const LOCK: &str = "std::sync::once_lock::OnceLock";
pub(crate) const LAZY: &str = "std::sync::lazy_lock::LazyLock";
/// The field with the state. Its higher bits tell whether threads wait.
pub(crate) const STATE: &str = "state_and_queued";
pub(crate) const STATE_BYTES: u64 = 4;
const INITIAL: [u64; 2] = [0, 3];

/// Returns the number of the state "complete", or `None` if the program has no static that shows it.
pub(crate) fn complete(schema: &Schema<'_>) -> Option<u64> {
    let program = schema.program;
    let mut states = program
        .statics
        .iter()
        .filter(|of| [LOCK, LAZY].contains(&head(&program.get(of.ty).path)))
        .filter_map(|of| of.address.checked_add(named(schema, of.ty, STATE)?))
        .peekable();
    states.peek()?;
    let data = debuginfo::map(&program.file).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let word = |address: u64| {
        let is_inside =
            |of: &object::Segment<'_, '_>| address.checked_sub(of.address()).is_some_and(|at| at < of.size());
        let segment = file.segments().find(is_inside)?;
        match segment.data_range(address, STATE_BYTES).ok()? {
            Some(bytes) => Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?))),
            // Statics of zeros are not in the file.
            None => Some(0),
        }
    };
    let mut found = states.filter_map(word);
    let first = found.next().filter(|state| INITIAL.contains(state))?;
    found.all(|state| state == first).then_some(INITIAL[1] - first)
}
