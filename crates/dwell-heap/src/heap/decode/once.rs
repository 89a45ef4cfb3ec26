//! `OnceLock` and `LazyLock`.
//!
//! Their contents are uninitialised until the state is "complete". That is 0 in newer releases of std and 3 in older
//! ones, in which the other number means "incomplete". The executable's file has the initial states of statics, which
//! are incomplete.

use crate::debuginfo::{self, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, InModel, Part, Schema, SiteId, Value, Walk, head, named};
use dwell_model::{Edge, Shape};
use object::{Object, ObjectSegment};
use std::path::Path;
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[(LOCK, lock), (LAZY, lazy)]);

const LOCK: &str = "std::sync::once_lock::OnceLock";
const LAZY: &str = "std::sync::lazy_lock::LazyLock";
/// The field with the state. Its higher bits tell whether threads wait.
const STATE: &str = "state_and_queued";
const STATE_BYTES: u64 = 4;
const STATE_BITS: u64 = 3;
const INITIAL: [u64; 2] = [0, 3];

#[derive(Debug)]
struct Once {
    state: u64,
    complete: u64,
    value: Part,
}

fn lock(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    recognise(schema, ty, site, "value")
}

fn lazy(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    recognise(schema, ty, site, "data")
}

/// Decodes a type with a `Once` and the value in `field`, whose offset in this field is 0.
fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId, field: &str) -> Decoded {
    let complete = schema.fact(LOCK, complete)?;
    let (state, at) = (named(schema, ty, STATE)?, named(schema, ty, field)?);
    let value = schema.param(ty, "T")?;
    Some(Rc::new(Once { state, complete, value: Part { at, site: schema.part(value, site, Edge::Inner) } }))
}

impl Decoder for Once {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let is_complete =
            value.number(self.state, STATE_BYTES).is_some_and(|state| state & STATE_BITS == self.complete);
        if is_complete {
            cx.part(&self.value, value);
        }
        !is_complete
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Wrapper(self.value.site)
    }
}

/// Returns the number of the state "complete", or `None` if the program has no static that shows it.
fn complete(schema: &Schema<'_>) -> Option<u64> {
    let program = schema.program;
    let states: Vec<u64> = program
        .statics
        .iter()
        .filter(|variable| [LOCK, LAZY].contains(&head(&program.get(variable.ty).path)))
        .filter_map(|variable| variable.address.checked_add(named(schema, variable.ty, STATE)?))
        .collect();
    // Std as it is shipped has no debug info, so perhaps only one of several objects has such a static.
    let mut found = std::iter::once(&program.file).chain(&program.files).zip(0..).flat_map(|(file, object)| {
        let own = states.iter().map(|state| debuginfo::object_at(*state));
        words(file, own.filter(|(of, _)| *of == object).map(|(_, address)| address).collect())
    });
    let first = found.next().filter(|state| INITIAL.contains(state))?;
    found.all(|state| state == first).then_some(INITIAL[1] - first)
}

/// Returns the numbers at these addresses of a file, as far as they are there.
fn words(file: &Path, addresses: Vec<u64>) -> Vec<u64> {
    if addresses.is_empty() {
        return Vec::new();
    }
    let Ok(data) = debuginfo::map(file) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*data) else { return Vec::new() };
    let word = |address: u64| {
        let is_inside =
            |segment: &object::Segment<'_, '_>| address.checked_sub(segment.address()).is_some_and(|at| at < segment.size());
        let segment = file.segments().find(is_inside)?;
        match segment.data_range(address, STATE_BYTES).ok()? {
            Some(bytes) => Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?))),
            // Statics of zeros are not in the file.
            None => Some(0),
        }
    };
    addresses.into_iter().filter_map(word).collect()
}
