//! The threads of this process, as far as it may know its own.

use crate::arch;
use crate::elf::Thread;
use crate::error::Error;
use crate::sys;
use std::fs;

/// The threads, and of how many the registers are not known, because they run.
pub(crate) struct Threads {
    /// The calling thread first, with its registers still to be filled in.
    pub(crate) all: Vec<Thread>,
    pub(crate) running: usize,
}

/// Reads the threads. Their stack pointers and instruction pointers are those of the system call that they wait in.
pub(crate) fn threads() -> Result<Threads, Error> {
    // The ids in `/proc` are those of the namespace that it was mounted in.
    let me = fs::read_link("/proc/thread-self").map_err(Error::Proc)?;
    let me = me.file_name().unwrap_or_default().to_owned();
    let own_list = sys::robust_list(0);
    let own_pointer = arch::registers().1;
    let mut all = vec![Thread::new(sys::thread_id())];
    let mut running = 0;
    for entry in fs::read_dir("/proc/self/task").map_err(Error::Proc)? {
        let Ok(entry) = entry else { continue };
        let name = entry.file_name();
        if name == me {
            continue;
        }
        let Some(id) = name.to_str().and_then(|id| id.parse().ok()) else { continue };
        // A thread that has ended meanwhile has no file any more.
        let Ok(call) = fs::read_to_string(entry.path().join("syscall")) else { continue };
        let mut thread = Thread::new(id);
        if let Some((stack, instruction)) = of_call(&call) {
            thread.registers[arch::STACK_POINTER] = stack;
            thread.registers[arch::INSTRUCTION_POINTER] = instruction;
        } else {
            running += 1;
        }
        // The list of robust mutexes is in the control block, at the same place for all threads.
        if let (Some(own), Some(list)) = (own_list, sys::robust_list(id)) {
            thread.pointer = own_pointer.wrapping_add(list.wrapping_sub(own));
        }
        all.push(thread);
    }
    Ok(Threads { all, running })
}

/// Returns the stack pointer and the instruction pointer of a line such as `202 0x7f.. 0x80 .. 0x7ffd.. 0x7f..`.
fn of_call(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split_ascii_whitespace().rev();
    let mut number = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (instruction, stack) = (number()?, number()?);
    (stack != 0).then_some((stack, instruction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_two_words_are_the_pointers() {
        let line = "202 0x55d0 0x80 0x0 0x0 0x0 0x0 0x7ffd00001000 0x7f0000002000\n";
        assert_eq!(of_call(line), Some((0x7ffd_0000_1000, 0x7f00_0000_2000)));
        assert_eq!(of_call("-1 0x7ffd00001000 0x7f0000002000\n"), Some((0x7ffd_0000_1000, 0x7f00_0000_2000)));
        assert_eq!(of_call("running\n"), None);
        assert_eq!(of_call(""), None);
        assert_eq!(of_call("0 0x0 0x0\n"), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "reads /proc")]
    fn other_threads_have_the_pointers_that_they_know_themselves() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            sender.send((sys::thread_id(), arch::registers().1)).unwrap();
            ended.recv().unwrap();
        });
        let (id, pointer) = receiver.recv().unwrap();
        let threads = threads().unwrap();
        let found = threads.all.iter().find(|thread| thread.id == id).unwrap();
        if cfg!(target_env = "gnu") {
            assert_eq!(found.pointer, pointer);
        }
        end.send(()).unwrap();
        other.join().unwrap();
    }
}
