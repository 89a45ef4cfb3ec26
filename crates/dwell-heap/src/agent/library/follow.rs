//! Processes that the program starts. With `--follow` the agent records them, too.
//!
//! The tool listens at an abstract address, which stays in the environment with `LD_PRELOAD`. The agent of a program that a child
//! executes, and that of a process that was forked, connect there and receive a plan. The connection is then their socket.

use crate::thread;
use crate::{blocks, helper, is_armed, layout, numbers, profile, stacks, sys};
use core::ffi::{c_char, c_void, CStr};
use core::sync::atomic::{AtomicU32, AtomicU8, Ordering};

/// The longest address.
const MOST: usize = 64;

static ADDRESS: [AtomicU8; MOST] = {
    #[allow(clippy::declare_interior_mutable_const)]
    const ZERO: AtomicU8 = AtomicU8::new(0);
    [ZERO; MOST]
};
static LEN: AtomicU32 = AtomicU32::new(0);

/// What the environment says.
pub enum Found {
    /// The program is not followed.
    None,
    /// This is the program, and its children are followed.
    Followed((u32, u32)),
    /// This is a child.
    Child,
}

/// Looks for an address in the environment, and keeps it there for children.
pub fn of_environment(environment: *mut *mut c_char) -> Found {
    let mut index = 0;
    loop {
        // SAFETY: the loader passes an array that ends with null. The loop returns at the null, so `index` is not beyond it.
        let slot = unsafe { environment.add(index) };
        // SAFETY: the array is readable up to its null, and no other thread runs yet.
        let entry = unsafe { *slot };
        if entry.is_null() {
            return Found::None;
        }
        // SAFETY: an entry of the environment is a NUL-terminated string that lives as long as the process.
        let text = unsafe { CStr::from_ptr(entry) }.to_bytes();
        index += 1;
        let Some(value) = text.strip_prefix(layout::VARIABLE.as_bytes()).and_then(|rest| rest.strip_prefix(b"=")) else { continue };
        let Some(at) = value.iter().position(|byte| *byte == b'@') else { return Found::None };
        let (files, address) = (numbers(&value[..at]), &value[at + 1..]);
        if address.is_empty() || address.len() > MOST {
            return Found::None;
        }
        for (byte, own) in address.iter().zip(&ADDRESS) {
            own.store(*byte, Ordering::Relaxed);
        }
        LEN.store(address.len() as u32, Ordering::Relaxed);
        let Some(files) = files else { return Found::Child };
        // A child's value is `@ADDRESS`.
        let start = text.len() - value.len();
        for offset in start..=text.len() - at {
            // SAFETY: `offset + at` is at most the length of the text, where its NUL is.
            let from = unsafe { entry.add(offset + at) };
            // SAFETY: `offset` is below that.
            let to = unsafe { entry.add(offset) };
            // SAFETY: the kernel puts the environment's strings on the stack, which is writable, and no other thread runs yet.
            unsafe { *to = *from };
        }
        return Found::Followed(files);
    }
}

/// Connects to the tool. Returns the files of a plan and of the connection, unless the tool is gone or has no plan for this process.
/// `state` is the address of the records that a forked process has; 0 if it has none.
pub fn connect(state: u64) -> Option<(u32, u32)> {
    const UNIX: usize = 1;
    const PACKETS: usize = 5;
    const CLOSE_ON_EXEC: usize = 0o2_000_000;
    const FILES_CLOSE_ON_EXEC: usize = 0x4000_0000;
    // SAFETY: the call takes three numbers.
    let socket = unsafe { sys::call(sys::SOCKET, [UNIX, PACKETS | CLOSE_ON_EXEC, 0, 0, 0, 0]) };
    if socket < 0 {
        return None;
    }
    let socket = socket as usize;
    // The family, then a zero, which says that the address is abstract.
    let mut address = [0_u8; 3 + MOST];
    address[0] = UNIX as u8;
    for (byte, own) in address[3..].iter_mut().zip(&ADDRESS) {
        *byte = own.load(Ordering::Relaxed);
    }
    let len = 3 + LEN.load(Ordering::Relaxed) as usize;
    // SAFETY: the call reads `len` bytes of a local, which has as many.
    let connected = unsafe { sys::call(sys::CONNECT, [socket, address.as_ptr() as usize, len, 0, 0, 0]) };
    // SAFETY: the call reads the eight bytes of a local.
    if connected == 0 && unsafe { sys::call(sys::WRITE, [socket, &state as *const u64 as usize, 8, 0, 0, 0]) } == 8 {
        let mut byte = 0_u8;
        let mut part = [&mut byte as *mut u8 as usize, 1];
        // The length of the message, its level and kind, and a file.
        let mut control = [0_u64; 3];
        const LEVEL_AND_KIND: u64 = 1 | 1 << 32;
        let mut message = [0, 0, part.as_mut_ptr() as usize, 1, control.as_mut_ptr() as usize, core::mem::size_of_val(&control), 0];
        let message = message.as_mut_ptr() as usize;
        // SAFETY: the call writes a byte, the control data and the header, all of which are locals; the header has the fields of
        // the C type, each of them in a word.
        let read = unsafe { sys::call(sys::RECVMSG, [socket, message, FILES_CLOSE_ON_EXEC, 0, 0, 0]) };
        if read == 1 && control[0] == 20 && control[1] == LEVEL_AND_KIND {
            return Some((control[2] as u32, socket as u32));
        }
    }
    // SAFETY: the socket was made above, and no other code knows it.
    unsafe { sys::call(sys::CLOSE, [socket, 0, 0, 0, 0, 0]) };
    None
}

extern "C" {
    fn __register_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
        library: *mut c_void,
    ) -> i32;
}

/// The value of [`thread::Thread::inside`] while the thread forks.
const FORKS: u32 = 2;

/// Counts the program's forks, and records the processes if they are followed.
pub fn watch_forks() {
    let is_followed = LEN.load(Ordering::Relaxed) > 0;
    let of_followed = |handler: extern "C" fn()| if is_followed { Some(handler) } else { None };
    // SAFETY: the handlers are functions of this library, which is never unloaded. They were registered before those of the program,
    // so `before` runs after these, and the others before.
    unsafe { __register_atfork(of_followed(before), Some(in_parent), of_followed(in_child), core::ptr::null_mut()) };
}

/// Takes all locks, so that the child finds none taken by a thread that it does not have.
extern "C" fn before() {
    let thread = thread::current();
    // A signal handler may fork while the thread has a lock.
    if is_armed() && thread.inside.get() == 0 {
        thread.inside.set(FORKS);
        profile::locks(sys::lock);
        stacks::locks(sys::lock);
        blocks::locks(sys::lock);
    }
}

/// Releases the locks. Returns `true` if the thread had them.
fn release() -> bool {
    let has_locks = thread::current().inside.get() == FORKS;
    if has_locks {
        blocks::locks(sys::unlock);
        stacks::locks(sys::unlock);
        profile::locks(sys::unlock);
    }
    has_locks
}

extern "C" fn in_parent() {
    if is_armed() {
        helper::shared().forks.fetch_add(1, Ordering::Relaxed);
    }
    if release() {
        thread::current().inside.set(0);
    }
}

extern "C" fn in_child() {
    if release() {
        crate::arm_again();
        thread::current().inside.set(0);
    }
}
