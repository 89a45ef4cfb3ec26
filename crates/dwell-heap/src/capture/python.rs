//! Values of Rust in objects of Python: those of pyo3's `#[pyclass]`, which only the interpreter's memory holds.
//!
//! An object begins with a count and the address of its type, which is a type object. pyo3 keeps that address in a static of
//! each class, and the debug info tells where the value is in the object.

use super::Snapshot;
use crate::debuginfo::{Kind, Program, TypeId};

const WORD: u64 = 8;
/// Objects begin at multiples of so many bytes.
const ALIGN: usize = 16;
/// The most references to an object; one that is never freed has the next one in its lower half.
const MOST: u64 = u32::MAX as u64;
/// The bytes that are read at once.
const PIECE: usize = 1 << 20;
/// The most words that are read of a class's static.
const WORDS: u64 = 64;
/// The deepest nesting of the value in its object.
const DEEPEST: u32 = 12;
/// Where a type object has its base, in all versions 3 of Python on 64 bits.
const BASE: u64 = 256;
/// The most type objects that are looked at.
const MOST_DERIVED: usize = 100_000;
/// The type of the statics of classes.
const OF_CLASS: &str = "pyo3::impl_::pyclass::lazy_type_object::LazyTypeObject";

/// A class of Python that has values of Rust.
struct Class {
    /// The address of its type object.
    address: u64,
    ty: TypeId,
    /// Where the value is in an object.
    offset: u64,
}

/// Returns the addresses and the types of the values.
pub(crate) fn values(snapshot: &Snapshot, program: &Program) -> Vec<(u64, TypeId)> {
    let mut classes = classes(snapshot, program);
    if classes.is_empty() {
        return Vec::new();
    }
    derive(snapshot, &mut classes);
    let mut found = Vec::new();
    objects(snapshot, |object, ty| {
        if let Some(class) = classes.iter().find(|class| class.address == ty) {
            found.push((object.saturating_add(class.offset), class.ty));
        }
    });
    found
}

/// Calls `found` with the addresses of what may be objects, and those of their types.
fn objects(snapshot: &Snapshot, mut found: impl FnMut(u64, u64)) {
    let mut bytes = vec![0; PIECE];
    // A damaged core may name any addresses.
    for &(start, end) in snapshot.anonymous.iter().filter(|(_, end)| *end < 1 << 63) {
        let mut at = start.next_multiple_of(ALIGN as u64);
        while at < end {
            let len = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
            let read = snapshot.memory.read(at, &mut bytes[..len]);
            let (words, _) = bytes[..read].as_chunks::<8>();
            for (pair, object) in words.as_chunks::<2>().0.iter().zip((at..).step_by(ALIGN)) {
                let [count, ty] = pair.map(u64::from_le_bytes);
                if (1..=MOST).contains(&count) {
                    found(object, ty);
                }
            }
            at += len as u64;
        }
    }
}

/// Adds the classes that Python code derives from those of Rust: their objects have the value at the same place.
fn derive(snapshot: &Snapshot, classes: &mut Vec<Class>) {
    let metas: Vec<u64> = classes.iter().filter_map(|class| word(snapshot, class.address.checked_add(WORD)?)).collect();
    let mut derived = Vec::new();
    objects(snapshot, |object, ty| {
        if metas.contains(&ty)
            && derived.len() < MOST_DERIVED
            && let Some(base) = object.checked_add(BASE).and_then(|at| word(snapshot, at))
        {
            derived.push((object, base));
        }
    });
    for _ in 0..DEEPEST {
        let known = classes.len();
        derived.retain(|&(address, base)| {
            let Some(class) = classes.iter().find(|class| class.address == base) else { return true };
            let (ty, offset) = (class.ty, class.offset);
            if classes.iter().all(|class| class.address != address) {
                classes.push(Class { address, ty, offset });
            }
            false
        });
        if classes.len() == known {
            break;
        }
    }
}

fn word(snapshot: &Snapshot, at: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    (snapshot.memory.read(at, &mut bytes) == bytes.len()).then(|| u64::from_le_bytes(bytes))
}

/// Returns the classes of which there is a type object.
fn classes(snapshot: &Snapshot, program: &Program) -> Vec<Class> {
    let word = |at| word(snapshot, at);
    // The type of a type object is the object `type`, whose type is itself.
    let is_type = |at: &u64| {
        let class = word(at.checked_add(WORD)?)?;
        (*at != 0 && at.is_multiple_of(WORD) && class != 0 && word(class.checked_add(WORD)?)? == class).then_some(())
    };
    let of_static = |(address, ty): (u64, TypeId)| {
        let (value, offset) = value_of(program, ty)?;
        let words = (0..(program.size_of(ty) / WORD).min(WORDS))
            .filter_map(|number| word(address.checked_add(number.checked_mul(WORD)?)?));
        let address = words.into_iter().find(|at| is_type(at).is_some())?;
        Some(Class { address, ty: value, offset })
    };
    let is_class = |ty: TypeId| program.get(ty).path.starts_with(OF_CLASS);
    let statics = program.statics.iter().filter(|variable| is_class(variable.ty));
    statics.filter_map(|variable| of_static((snapshot.in_process(variable.address)?.0, variable.ty))).collect()
}

/// Returns the type of a class's values and their place in an object.
fn value_of(program: &Program, class: TypeId) -> Option<(TypeId, u64)> {
    let of = |ty: TypeId| program.get(ty).params.iter().find(|param| &*param.name == "T").map(|param| param.ty);
    let value = of(class)?;
    let is_object = |path: &str| path.starts_with("pyo3::pycell::") && path.contains("ClassObject<");
    let objects = program.types().filter(|(ty, object)| is_object(&object.path) && of(*ty) == Some(value));
    // The object itself, and not its contents.
    let (object, _) = objects.max_by_key(|(_, object)| object.size)?;
    Some((value, offset(program, object, value, 0)?))
}

/// Returns where a value of a type is in another one.
fn offset(program: &Program, within: TypeId, wanted: TypeId, depth: u32) -> Option<u64> {
    if within == wanted {
        return Some(0);
    }
    let (Kind::Struct(fields) | Kind::Union(fields)) = &program.get(within).kind else { return None };
    let inside = fields.iter().filter(|_| depth < DEEPEST);
    inside.into_iter().find_map(|field| field.offset.checked_add(offset(program, field.ty, wanted, depth + 1)?))
}
