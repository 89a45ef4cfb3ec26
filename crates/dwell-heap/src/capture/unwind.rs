//! Finds the frames of threads by the unwind tables (`.eh_frame`) of the mapped files, without frame pointers.

use super::thread::{State, Thread};
use super::{Memory, Module, prologue};
use crate::arch::{
    FRAME_POINTER, INSTRUCTION_POINTER, LONGEST_CALL, PRESERVED, RETURN_ADDRESS, Registers, STACK_POINTER, UNKNOWN,
    VENDOR, code_address, ends_with_call,
};
use crate::debuginfo;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian, ParsedEhFrameHdr,
    RegisterRule, UnwindContext, UnwindExpression, UnwindSection as _, UnwindTableRow,
};
use object::{Object as _, ObjectSection as _, ObjectSegment as _};
use std::iter::StepBy;
use std::ops::Range;

/// The maximum number of frames of a thread.
const DEEPEST: usize = 1024;

/// How many words of a stack are searched for a return address.
const SEARCHED: u64 = 64;

/// The maximum number of bytes of a function's first instructions.
const PROLOGUE: u64 = 128;

type Section<'d> = EndianSlice<'d, LittleEndian>;

/// A frame of a thread.
#[derive(Clone, Debug)]
pub(crate) struct StackFrame {
    /// The address of the instruction that runs; for a caller, of the last byte of its call.
    pub(crate) address: u64,
    /// The registers in this frame.
    pub(crate) registers: Registers,
    /// The canonical frame address: the stack pointer before the call of this function.
    pub(crate) cfa: u64,
}

/// The mapped files.
pub(crate) struct Unwinder<'m> {
    modules: Vec<(&'m Module, memmap2::Mmap)>,
}

impl<'m> Unwinder<'m> {
    /// Opens the files. Those that cannot be read are left out.
    pub(crate) fn new(modules: &'m [Module]) -> Self {
        let open = |module: &'m Module| Some((module, debuginfo::map(&module.path).ok()?));
        Self { modules: modules.iter().filter_map(open).collect() }
    }

    /// Returns the tables of the files.
    pub(crate) fn tables(&self) -> Tables<'_> {
        Tables(self.modules.iter().filter_map(|(module, map)| Table::new(module, map)).collect())
    }
}

/// The unwind tables of the mapped files.
pub(crate) struct Tables<'d>(Vec<Table<'d>>);

struct Table<'d> {
    module: &'d Module,
    file: object::File<'d>,
    bases: BaseAddresses,
    frames: EhFrame<Section<'d>>,
    /// The index by address, which linkers write.
    index: Option<ParsedEhFrameHdr<Section<'d>>>,
}

impl<'d> Table<'d> {
    fn new(module: &'d Module, data: &'d [u8]) -> Option<Self> {
        let file = object::File::parse(data).ok()?;
        let section =
            |name: &str| Some((file.section_by_name(name)?.address(), file.section_by_name(name)?.data().ok()?));
        let (address, frames) = section(".eh_frame")?;
        let mut bases = BaseAddresses::default().set_eh_frame(address);
        let index = section(".eh_frame_hdr").and_then(|(address, data)| {
            bases = bases.clone().set_eh_frame_hdr(address);
            EhFrameHdr::new(data, LittleEndian).parse(&bases, 8).ok()
        });
        let mut frames = EhFrame::new(frames, LittleEndian);
        frames.set_vendor(VENDOR);
        Some(Self { module, file, bases, frames, index })
    }

    /// Returns the entry of the function at an address of the file.
    fn function(&self, address: u64) -> Option<FrameDescriptionEntry<Section<'d>>> {
        let cie = EhFrame::cie_from_offset;
        let fde = match self.index.as_ref().and_then(ParsedEhFrameHdr::table) {
            Some(table) => table.fde_for_address(&self.frames, &self.bases, address, cie),
            None => self.frames.fde_for_address(&self.bases, address, cie),
        };
        fde.ok().filter(|fde| fde.contains(address))
    }

    /// Returns `true` if a function with an entry has a call before this address.
    fn is_behind_call(&self, address: u64) -> bool {
        let Some(call) = address.wrapping_sub(self.module.bias).checked_sub(LONGEST_CALL) else { return false };
        let code = || self.file.segments().find_map(|segment| segment.data_range(call, LONGEST_CALL).ok().flatten());
        self.function(call + LONGEST_CALL - 1).is_some() && code().is_some_and(ends_with_call)
    }

    /// Returns the possible frame pointers of the function at an address by its first instructions. `stack` is its stack pointer.
    fn frame_pointers(&self, address: u64, stack: u64) -> Option<StepBy<Range<u64>>> {
        let fde = self.function(address.wrapping_sub(self.module.bias))?;
        let (start, len) = (fde.initial_address(), fde.len().min(PROLOGUE));
        let code = self.file.segments().find_map(|segment| segment.data_range(start, len).ok().flatten())?;
        prologue::frame_pointers(code, stack)
    }

    /// Calls `visit` with the rules for the address in a module, and with the encoding of their expressions. Tells also
    /// whether the function is a signal handler's return.
    fn rules<T>(
        &self,
        address: u64,
        visit: impl FnOnce(
            &UnwindTableRow<usize>,
            &dyn Fn(&UnwindExpression<usize>) -> Option<(&'d [u8], gimli::Encoding)>,
            bool,
        ) -> T,
    ) -> Option<T> {
        let address = address.wrapping_sub(self.module.bias);
        let fde = self.function(address)?;
        let mut context = UnwindContext::new();
        let row = fde.unwind_info_for_address(&self.frames, &self.bases, &mut context, address).ok()?;
        let encoding = fde.cie().encoding();
        let expression =
            |expression: &UnwindExpression<usize>| Some((expression.get(&self.frames).ok()?.0.slice(), encoding));
        Some(visit(row, &expression, fde.is_signal_trampoline()))
    }
}

impl Tables<'_> {
    /// Returns whether a call is before the code that the word at an address points to; `None` if it points to none.
    fn is_return(&self, memory: &dyn Memory, addr: u64) -> Option<bool> {
        let word = State { memory, registers: &UNKNOWN, cfa: None }.word(addr).map(code_address)?;
        let table = self.0.iter().find(|table| (table.module.start..table.module.end).contains(&word))?;
        Some(table.is_behind_call(word))
    }

    /// Returns the registers of the nearest caller that has an entry, by the first return address on the stack behind a call: libraries
    /// such as musl have no tables. Only its stack pointer is known then.
    fn caller_of_unknown(&self, memory: &dyn Memory, stack: u64) -> Option<Registers> {
        let state = State { memory, registers: &UNKNOWN, cfa: None };
        (0..SEARCHED).find_map(|index| {
            let at = stack.checked_add(index * 8)?;
            let word = code_address(state.word(at)?);
            let table = self.0.iter().find(|table| (table.module.start..table.module.end).contains(&word))?;
            if !table.is_behind_call(word) {
                return None;
            }
            let mut caller = UNKNOWN;
            caller[STACK_POINTER] = Some(at + 8);
            caller[INSTRUCTION_POINTER] = Some(word);
            Some(caller)
        })
    }

    /// Returns the frames of a thread, innermost first, as far as the tables lead.
    pub(crate) fn frames(&self, memory: &dyn Memory, thread: &Thread) -> Vec<StackFrame> {
        let mut registers = thread.registers;
        let mut frames: Vec<StackFrame> = Vec::new();
        // A caller continues behind its call, and that may be another function's first instruction.
        let mut behind_call = 0;
        while frames.len() < DEEPEST {
            let Some(pc) = registers[INSTRUCTION_POINTER].filter(|pc| *pc != 0) else { break };
            let address = pc.wrapping_sub(behind_call);
            let is_around = |table: &&Table<'_>| (table.module.start..table.module.end).contains(&address);
            let Some(table) = self.0.iter().find(is_around) else { break };
            // A thread waits in a system call, whose function may have no entry.
            if frames.is_empty()
                && behind_call == 0
                && table.function(address.wrapping_sub(table.module.bias)).is_none()
            {
                let Some(stack) = registers[STACK_POINTER] else { break };
                let Some(caller) = self.caller_of_unknown(memory, stack) else { break };
                registers = caller;
                behind_call = 1;
                continue;
            }
            // Of a thread that was left alone in a system call, only two registers are known.
            if let (None, Some(stack)) = (registers[FRAME_POINTER], registers[STACK_POINTER]) {
                registers[FRAME_POINTER] = table.frame_pointers(address, stack).and_then(|mut frames| {
                    let is_one = frames.clone().nth(1).is_none();
                    let is_frame = |is_behind_call| is_one || is_behind_call;
                    frames.find(|frame| self.is_return(memory, frame.saturating_add(8)).is_some_and(is_frame))
                });
            }
            let step = table.rules(address, |row, expression, is_signal| {
                let state = State { memory, registers: &registers, cfa: None };
                let cfa = match row.cfa() {
                    CfaRule::RegisterAndOffset { register, offset } => {
                        state.registers.get(usize::from(register.0)).copied().flatten()?.wrapping_add_signed(*offset)
                    }
                    CfaRule::Expression(operations) => {
                        let (code, encoding) = expression(operations)?;
                        state.address(code, encoding)?
                    }
                };
                let state = State { cfa: Some(cfa), ..state };
                let mut caller: Registers = UNKNOWN;
                for (number, slot) in caller.iter_mut().enumerate() {
                    *slot = match row.register(gimli::Register(u16::try_from(number).ok()?)) {
                        Some(RegisterRule::Offset(offset)) => state.word(cfa.wrapping_add_signed(offset)),
                        Some(RegisterRule::ValOffset(offset)) => Some(cfa.wrapping_add_signed(offset)),
                        Some(RegisterRule::SameValue) => registers[number],
                        Some(RegisterRule::Register(other)) => registers.get(usize::from(other.0)).copied().flatten(),
                        Some(RegisterRule::Expression(operations)) => expression(&operations)
                            .and_then(|(code, encoding)| state.word(state.address(code, encoding)?)),
                        Some(RegisterRule::ValExpression(operations)) => {
                            expression(&operations).and_then(|(code, encoding)| state.address(code, encoding))
                        }
                        None if PRESERVED.contains(&number) => registers[number],
                        _ => None,
                    };
                }
                caller[STACK_POINTER] = caller[STACK_POINTER].filter(|_| is_signal).or(Some(cfa));
                caller[INSTRUCTION_POINTER] = caller[RETURN_ADDRESS].map(code_address);
                Some((cfa, caller, is_signal))
            });
            let Some((cfa, caller, is_signal)) = step.flatten() else { break };
            // The frames of a signal handler may be on another stack.
            let is_above = frames.last().is_none_or(|inner| cfa > inner.cfa || is_signal);
            frames.push(StackFrame { address, registers, cfa });
            if !is_above {
                break;
            }
            registers = caller;
            behind_call = u64::from(!is_signal);
        }
        frames
    }
}
