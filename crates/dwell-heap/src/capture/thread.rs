//! The registers of a thread, and values by DWARF expressions over them.

use super::Memory;
use crate::arch::{Registers, STACK_POINTER};
use gimli::{Encoding, EndianSlice, Evaluation, EvaluationResult, LittleEndian, Location, Piece, Value};

/// A thread of a captured process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number; 0 if it is not known.
    pub id: i32,
    /// Its registers.
    pub registers: Registers,
    /// The base of its thread-local memory, if known.
    pub pointer: Option<u64>,
}

impl Thread {
    /// Returns the stack pointer.
    #[cfg_attr(not(agent), allow(dead_code, reason = "only a run has stacks"))]
    pub(crate) fn stack_pointer(&self) -> Option<u64> {
        self.registers[STACK_POINTER]
    }
}

/// Registers and memory by which expressions are evaluated.
#[derive(Clone, Copy)]
pub(crate) struct State<'s> {
    pub(crate) memory: &'s dyn Memory,
    pub(crate) registers: &'s Registers,
    /// The canonical frame address, if it is known.
    pub(crate) cfa: Option<u64>,
}

/// The maximum number of operations of an expression.
const OPERATIONS: u32 = 1000;
/// The maximum number of bytes of a value.
const LONGEST: u64 = 1 << 20;

impl State<'_> {
    fn register(&self, number: u16) -> Option<u64> {
        self.registers.get(usize::from(number)).copied().flatten()
    }

    /// Reads `len` bytes at an address.
    pub(crate) fn bytes(&self, addr: u64, len: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(len.min(LONGEST)).ok()?];
        (len <= LONGEST && self.memory.read(addr, &mut bytes) == bytes.len()).then_some(bytes)
    }

    /// Reads the word at an address.
    pub(crate) fn word(&self, addr: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        (self.memory.read(addr, &mut bytes) == 8).then(|| u64::from_le_bytes(bytes))
    }

    /// Returns the parts of a value by the expression for its location.
    fn pieces<'e>(
        &self,
        expression: &'e [u8],
        base: Option<&[u8]>,
        encoding: Encoding,
        start: Option<u64>,
    ) -> Option<Vec<Piece<EndianSlice<'e, LittleEndian>>>> {
        let code = EndianSlice::new(expression, LittleEndian);
        let mut evaluation = Evaluation::new(code, encoding);
        evaluation.set_max_iterations(OPERATIONS);
        if let Some(start) = start {
            evaluation.set_initial_value(start);
        }
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    evaluation.resume_with_register(Value::Generic(self.register(register.0)?)).ok()?
                }
                EvaluationResult::RequiresMemory { address, size, space: None, .. } => {
                    let mut bytes = [0; 8];
                    let wanted = bytes.get_mut(..usize::from(size))?;
                    let len = wanted.len();
                    (self.memory.read(address, wanted) == len).then_some(())?;
                    evaluation.resume_with_memory(Value::Generic(u64::from_le_bytes(bytes))).ok()?
                }
                EvaluationResult::RequiresCallFrameCfa => evaluation.resume_with_call_frame_cfa(self.cfa?).ok()?,
                EvaluationResult::RequiresFrameBase => {
                    let base = self.frame_base(base?, encoding)?;
                    evaluation.resume_with_frame_base(base).ok()?
                }
                _ => return None,
            };
        }
        Some(evaluation.result())
    }

    /// Returns the frame base: the value of a register, or an address.
    fn frame_base(&self, expression: &[u8], encoding: Encoding) -> Option<u64> {
        // An expression for a frame base must not refer to the frame base.
        let pieces = self.pieces(expression, None, encoding, None)?;
        match pieces.first()?.location {
            Location::Register { register } => self.register(register.0),
            Location::Address { address } => Some(address),
            _ => None,
        }
    }

    /// Returns the value of an expression of unwind tables, which begins with the canonical frame address if it is known.
    pub(crate) fn address(&self, expression: &[u8], encoding: Encoding) -> Option<u64> {
        match self.pieces(expression, None, encoding, self.cfa)?.first()?.location {
            Location::Address { address } => Some(address),
            _ => None,
        }
    }

    /// Returns the `size` bytes of a variable. `None` if a register or memory is not known, or if the debug info has no
    /// location. Parts that the optimiser removed are zero.
    pub(crate) fn value(&self, location: &[u8], base: Option<&[u8]>, encoding: Encoding, size: u64) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        let pieces = self.pieces(location, base, encoding, None)?;
        if pieces.iter().all(|piece| piece.location == Location::Empty) {
            return None;
        }
        for piece in pieces {
            let bytes = match piece.size_in_bits {
                None => size,
                Some(bits) if bits % 8 == 0 && piece.bit_offset.unwrap_or(0) == 0 => bits / 8,
                Some(_) => return None,
            };
            if bytes > LONGEST {
                return None;
            }
            let small = |value: u64| value.to_le_bytes().get(..usize::try_from(bytes).ok()?).map(<[u8]>::to_vec);
            all.extend(match piece.location {
                Location::Register { register } => small(self.register(register.0)?)?,
                Location::Address { address } => self.bytes(address, bytes)?,
                Location::Empty => vec![0; usize::try_from(bytes).ok()?],
                Location::Value { value } => small(value.to_u64(u64::MAX).ok()?)?,
                _ => return None,
            });
        }
        (all.len() as u64 == size).then_some(all)
    }
}
