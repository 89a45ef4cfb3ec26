//! The values of variables: those of all frames of the threads, and thread-local ones.

#![expect(clippy::cast_possible_truncation, reason = "sizes that were checked")]

use super::thread::State;
use super::unwind::{StackFrame, Unwinder};
use super::{Memory, Snapshot};
use crate::arch::{self, STACK_POINTER};
use crate::debuginfo::{self, Field, Frames, Kind, Locals, Program, Static, Text, TypeId};
use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{
    LittleEndian, Object as _, ObjectSymbol as _, ObjectSymbolTable as _, RelocationFlags, RelocationTarget, elf,
};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The maximum number of bytes of a variable that is read.
const LONGEST: u64 = 1 << 20;
/// The deepest nesting of cells around a state.
const DEEPEST: u32 = 8;

/// A variable with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// The path of its function; `None` for a thread-local variable.
    pub(crate) function: Option<Text>,
    pub(crate) ty: TypeId,
    pub(crate) bytes: Vec<u8>,
    /// Whether it surely has a value. A local variable may have been moved away, or not be initialised yet.
    pub(crate) is_alive: bool,
}

/// Returns the frames of each thread.
fn stacks(snapshot: &Snapshot) -> Vec<Vec<StackFrame>> {
    if snapshot.threads.is_empty() {
        return Vec::new();
    }
    let unwinder = Unwinder::new(&snapshot.modules);
    let tables = unwinder.tables();
    snapshot.threads.iter().map(|thread| tables.frames(&*snapshot.memory, thread)).collect()
}

/// Returns the addresses in Rust code at which threads run, as the debug info counts them.
pub(crate) fn addresses(snapshot: &Snapshot) -> Vec<u64> {
    let frames = stacks(snapshot).into_iter().flatten();
    let mut all: Vec<u64> = frames.filter_map(|frame| snapshot.in_program(frame.address)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the variables of all threads: thread-local ones, then those of frames, innermost first.
pub(crate) fn all(snapshot: &Snapshot, program: &Program, frames: &Frames, locals: &Locals) -> Vec<Variable> {
    let mut all = thread_locals(snapshot, program);
    let mut pointed_at = HashSet::new();
    let stacks = stacks(snapshot);
    for frame in stacks.iter().flatten() {
        let Some(address) = snapshot.in_program(frame.address) else { continue };
        let state = State { memory: &*snapshot.memory, registers: &frame.registers, cfa: Some(frame.cfa) };
        // Several copies of a variable may describe it, for example in an inlined function and its caller.
        let mut known = HashSet::new();
        for local in locals.get(&address).into_iter().flatten() {
            let size = program.size_of(local.ty);
            if size == 0 || size > LONGEST {
                continue;
            }
            let Some(bytes) = state.value(&local.location, local.base.as_deref(), local.encoding, size) else {
                continue;
            };
            if !known.insert((local.ty, bytes.clone())) {
                continue;
            }
            let (name, function) = (local.name.to_string(), Some(Text::clone(&local.function)));
            if let Some(ty) = pointee(program, local.ty, 0).filter(|ty| (1..=LONGEST).contains(&program.size_of(*ty)))
                && let Some(at) = bytes.first_chunk().map(|word| u64::from_le_bytes(*word))
                && snapshot.roots.iter().any(|(start, end)| (*start..*end).contains(&at))
                && pointed_at.insert((ty, at))
                && let Some(bytes) = state.bytes(at, program.size_of(ty))
            {
                // A value that a thread holds without a name, such as a future that it has pinned.
                all.push(Variable { name: format!("*{name}"), function: function.clone(), ty, bytes, is_alive: false });
            }
            all.push(Variable { name, function, ty: local.ty, bytes, is_alive: false });
        }
    }
    for stack in &stacks {
        futures(snapshot, program, frames, stack, &mut all);
    }
    all
}

/// Adds the futures on a stack: `block_on` has the type of its future as an argument, but optimised code often has no variable
/// for it. A value counts if its state is that of an `.await`.
fn futures(snapshot: &Snapshot, program: &Program, frames: &Frames, stack: &[StackFrame], all: &mut Vec<Variable>) {
    let (Some(first), Some(last)) = (stack.first(), stack.last()) else { return };
    let Some(start) = first.registers[STACK_POINTER].map(|start| start.next_multiple_of(8)) else { return };
    let mut known: HashSet<TypeId> = HashSet::new();
    let mut bytes = Vec::new();
    // The outer ones have the inner ones.
    for frame in stack.iter().rev() {
        let of_frame =
            snapshot.in_program(frame.address).and_then(|address| frames.get(&address)).into_iter().flatten();
        let params = of_frame.flat_map(|function| function.params.iter().map(move |param| (param.ty, &function.path)));
        for (ty, function) in params {
            let Kind::Coroutine(coroutine) = &program.get(ty).kind else { continue };
            let (size, Some(tag)) = (program.size_of(ty), &coroutine.tag) else { continue };
            if size == 0 || size > LONGEST || tag.size > 8 || !known.insert(ty) {
                continue;
            }
            if bytes.is_empty() {
                let memory = State { memory: &*snapshot.memory, registers: &first.registers, cfa: None };
                let Some(read) = memory.bytes(start, last.cfa.saturating_sub(start).min(LONGEST)) else { return };
                bytes = read;
            }
            let is_suspended = |tag: u64| {
                let mut states = coroutine.states.iter().filter(|state| state.is_suspended());
                states.any(|state| state.discriminant == Some(i128::from(tag)))
            };
            let (size, offset, len) = (size as usize, tag.offset as usize, tag.size as usize);
            for value in (0..bytes.len()).step_by(8).map_while(|at| bytes.get(at..at.checked_add(size)?)) {
                let Some(tag) = value.get(offset..offset + len) else { break };
                let tag = tag.iter().rev().fold(0, |tag, byte| tag << 8 | u64::from(*byte));
                if is_suspended(tag) {
                    all.push(Variable {
                        name: "*future".to_owned(),
                        function: Some(Text::clone(function)),
                        ty,
                        bytes: value.to_vec(),
                        is_alive: false,
                    });
                }
            }
        }
    }
}

/// Returns the type that a reference points to, also in a `Pin`.
fn pointee(program: &Program, ty: TypeId, depth: u32) -> Option<TypeId> {
    match &program.get(ty).kind {
        Kind::Pointer { pointee } => *pointee,
        Kind::Struct(fields) if depth < DEEPEST && program.size_of(ty) == program.pointer_size => {
            match fields.as_slice() {
                [field] => self::pointee(program, field.ty, depth + 1),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Where a file's block of thread-local memory is.
pub(super) enum BlockOf {
    /// The size and the alignment of an executable's, which is beside the thread pointer.
    Executable(u64, u64),
    /// The number of a library, by which glibc finds its block.
    Library(u64),
}

impl BlockOf {
    pub(super) fn new(memory: &dyn Memory, file: &Path, bias: u64) -> Option<Self> {
        if let Some((size, align)) = block_size(file) {
            return Some(Self::Executable(size, align));
        }
        let map = debuginfo::map(file).ok()?;
        let file = ElfFile64::<LittleEndian>::parse(&*map).ok()?;
        // glibc writes the number where the library's code reads it.
        let is_own = |target| match target {
            RelocationTarget::Absolute => true,
            RelocationTarget::Symbol(index) => {
                let symbols = file.dynamic_symbol_table();
                symbols.and_then(|all| all.symbol_by_index(index).ok()).is_some_and(|symbol| !symbol.is_undefined())
            }
            _ => false,
        };
        let is_number = |relocation: &object::Relocation| {
            relocation.flags() == RelocationFlags::Elf { r_type: arch::TLS_MODULE } && is_own(relocation.target())
        };
        let (at, _) = file.dynamic_relocations()?.find(|(_, relocation)| is_number(relocation))?;
        word(memory, at.checked_add(bias)?).filter(|number| *number > 0).map(Self::Library)
    }

    /// Returns where the block of a thread begins; `None` if it has none yet.
    pub(super) fn start(&self, memory: &dyn Memory, pointer: u64) -> Option<u64> {
        match *self {
            Self::Executable(size, align) => arch::thread_locals(pointer, size, align),
            Self::Library(number) => {
                // Two words for each library; the first two have the number of these.
                const ENTRY: u64 = 16;
                const MOST: u64 = 1 << 20;
                let vector = word(memory, pointer.checked_add(arch::TO_DYNAMIC)?)?;
                let count = word(memory, vector.checked_sub(ENTRY)?).filter(|count| *count < MOST)?;
                let at = vector.checked_add(number.checked_mul(ENTRY)?).filter(|_| number <= count)?;
                word(memory, at).filter(|start| *start != u64::MAX && *start != 0)
            }
        }
    }
}

fn word(memory: &dyn Memory, addr: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    (memory.read(addr, &mut bytes) == 8).then(|| u64::from_le_bytes(bytes))
}

/// Returns the thread-local variables of the program that are initialised.
fn thread_locals(snapshot: &Snapshot, program: &Program) -> Vec<Variable> {
    let mut all = Vec::new();
    let memory: &dyn Memory = &*snapshot.memory;
    let blocks: HashMap<Option<u32>, BlockOf> = super::rust(&snapshot.modules)
        .filter_map(|module| Some((module.object, BlockOf::new(memory, &module.path, module.bias)?)))
        .collect();
    for variable in &program.thread_locals {
        let Some(block) = blocks.get(&Some(program.object_of(variable.ty))) else { continue };
        let Some((ty, offset, state)) = stored(program, variable) else { continue };
        let size_of = program.size_of(ty);
        if size_of == 0 || size_of > LONGEST {
            continue;
        }
        for thread in &snapshot.threads {
            let start = thread.pointer.and_then(|pointer| block.start(memory, pointer)?.checked_add(variable.address));
            let Some(start) = start else { continue };
            let memory = State { memory, registers: &thread.registers, cfa: None };
            let read = |at: u64, len: u64| memory.bytes(start.checked_add(at)?, len);
            if let Some(Alive { at, value }) = &state
                && read(*at, 1).is_none_or(|state| i128::from(state[0]) != *value)
            {
                continue;
            }
            let Some(bytes) = read(offset, size_of) else { continue };
            all.push(Variable { name: name_of(&variable.path).to_owned(), function: None, ty, bytes, is_alive: true });
        }
    }
    all
}

/// The state of a variable that is initialised: a byte at an offset.
struct Alive {
    at: u64,
    value: i128,
}

/// Returns the type of a thread-local variable and its offset, and how to tell that it is initialised. Returns `None` if
/// that cannot be told.
fn stored(program: &Program, variable: &Static) -> Option<(TypeId, u64, Option<Alive>)> {
    let ty = program.get(variable.ty);
    if !ty.path.starts_with("std::sys::thread_local::") {
        return Some((variable.ty, 0, None));
    }
    // `lazy::Storage` and `eager::Storage`.
    let (Kind::Struct(fields), Some(param)) = (&ty.kind, ty.params.iter().find(|param| &*param.name == "T")) else {
        return None;
    };
    let state = fields.iter().find(|field| &*field.name == "state")?;
    let value = fields.iter().find(|field| field.name.starts_with("val"))?;
    let alive = alive(program, state, 0)?;
    Some((param.ty, value.offset, Some(alive)))
}

/// Returns the byte of a state that means "alive".
fn alive(program: &Program, state: &Field, depth: u32) -> Option<Alive> {
    match &program.get(state.ty).kind {
        Kind::Enum(definition) => {
            let tag = definition.tag.as_ref().filter(|tag| tag.size == 1)?;
            let variant = definition.variants.iter().find(|variant| &*variant.name == "Alive")?;
            let value = *variant.discriminants.first()?.start();
            Some(Alive { at: state.offset + tag.offset, value })
        }
        Kind::Struct(fields) if depth < DEEPEST => fields.iter().find_map(|field| {
            let field = Field { offset: state.offset + field.offset, ..field.clone() };
            alive(program, &field, depth + 1)
        }),
        _ => None,
    }
}

/// Returns the path of a thread-local variable without the function that initialises it.
fn name_of(path: &str) -> &str {
    path.split("::{").next().unwrap_or(path)
}

/// Returns the size and the alignment of an executable's block of thread-local memory; that of a library is elsewhere.
fn block_size(executable: &Path) -> Option<(u64, u64)> {
    let map = debuginfo::map(executable).ok()?;
    let file = ElfFile64::<LittleEndian>::parse(&*map).ok()?;
    let headers = file.elf_program_headers();
    let has = |kind: elf::ProgramType| headers.iter().any(|header| header.p_type(LittleEndian) == kind);
    // A static program has no loader.
    let header = file.elf_header();
    let (kind, entry) = (header.e_type.get(LittleEndian), header.e_entry.get(LittleEndian));
    let is_library = kind == elf::ET_DYN && entry == 0 && !has(elf::PT_INTERP);
    let segment = headers.iter().find(|header| header.p_type(LittleEndian) == elf::PT_TLS).filter(|_| !is_library)?;
    Some((segment.p_memsz(LittleEndian), segment.p_align(LittleEndian)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_thread_locals_have_no_initialiser() {
        assert_eq!(name_of("app::CACHE::{constant#0}::{closure#0}::VAL"), "app::CACHE");
        assert_eq!(name_of("app::CACHE"), "app::CACHE");
    }
}
