//! Patches the functions of statically linked allocators: a jump to a hook replaces their first instructions. The tool
//! has encoded all code; the agent copies bytes.

use crate::arch;
use crate::hooks;
use crate::layout::{CALLS, Patch, Patches, Shared, PATCH_BYTES, PLACEMENTS, SHARED_BYTES};
use crate::sys;
use crate::STATE;
use core::mem::size_of;
use core::sync::atomic::Ordering;

const PROT_READ: usize = 1;
const PROT_READ_WRITE: usize = 3;
const PROT_READ_EXEC: usize = 5;
const PROT_ALL: usize = 7;
const MAP_PRIVATE: usize = 2;
const MAP_PRIVATE_ANONYMOUS_FIXED: usize = 0x2 | 0x20 | 0x10_0000;

/// Applies the patches of the plan, and stores their number in the shared page.
pub fn apply(shared: &Shared, plan: u32) {
    let bytes = shared.patch_bytes.load(Ordering::Relaxed) as usize;
    if bytes < size_of::<Patches>() {
        return;
    }
    // SAFETY: the kernel chooses an unused address, so the new mapping replaces nothing.
    let addr = unsafe { sys::call(sys::MMAP, [0, bytes, PROT_READ, MAP_PRIVATE, plan as usize, SHARED_BYTES]) };
    if (-4095..0).contains(&addr) {
        return;
    }
    // SAFETY: the mapping has `bytes` bytes. The tool sealed the file's size, and does not write to this part once the
    // program runs.
    let plan = unsafe { core::slice::from_raw_parts(addr as *const u8, bytes) };
    if let Some(count) = apply_all(plan, shared.bias.load(Ordering::Relaxed)) {
        shared.patched.store(count, Ordering::Relaxed);
    }
    // SAFETY: the mapping was made above with this size, and `plan` is not used after this.
    unsafe { sys::call(sys::MUNMAP, [addr as usize, bytes, 0, 0, 0, 0]) };
}

/// Reads a value of the plan.
fn read<T: Copy + Plain>(plan: &[u8], at: usize) -> Option<T> {
    let bytes = plan.get(at..)?.get(..size_of::<T>())?;
    // SAFETY: `bytes` has the size of a `T`, the read needs no alignment, and every bit pattern is valid for a `Plain`
    // type.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// A type for which every bit pattern is valid.
trait Plain {}
impl Plain for Patches {}
impl Plain for Patch {}

fn apply_all(plan: &[u8], bias: u64) -> Option<u32> {
    let head: Patches = read(plan, 0)?;
    let (count, code_bytes) = (head.count as usize, head.code_bytes as usize);
    let codes = size_of::<Patches>() + count * size_of::<Patch>();
    let (placement, code) = (0..PLACEMENTS).find_map(|placement| {
        let source = plan.get(codes + placement * code_bytes..)?.get(..code_bytes)?;
        let wanted = bias.wrapping_add(head.placements[placement]) as usize;
        let arguments = [wanted, code_bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS_FIXED, usize::MAX, 0];
        // SAFETY: with the flag MAP_FIXED_NOREPLACE the call fails if something is mapped there, so it replaces
        // nothing.
        let code = unsafe { sys::call(sys::MMAP, arguments) };
        if code as usize != wanted {
            if code > 0 {
                // Kernels before 4.17 do not know the flag and map elsewhere.
                // SAFETY: the mapping was made just now, and no other code uses it.
                unsafe { sys::call(sys::MUNMAP, [code as usize, code_bytes, 0, 0, 0, 0]) };
            }
            return None;
        }
        // SAFETY: the mapping was made above. It has `code_bytes` bytes, is writable, and only this function uses it.
        let target = unsafe { core::slice::from_raw_parts_mut(wanted as *mut u8, code_bytes) };
        target.copy_from_slice(source);
        Some((placement, target))
    })?;
    let patches = || (0..count).map_while(|index| read::<Patch>(plan, size_of::<Patches>() + index * size_of::<Patch>()));
    for patch in patches() {
        let hook = match patch.function {
            CALLS => core::ptr::addr_of!(STATE.calls) as usize,
            function => *hooks::HOOKS.get(function as usize)? as usize,
        };
        let hook = hook.to_ne_bytes();
        code.get_mut(patch.hook as usize..)?.get_mut(..hook.len())?.copy_from_slice(&hook);
    }
    let base = code.as_ptr() as usize;
    // SAFETY: the code is the mapping made above.
    unsafe { arch::written(base, code_bytes) };
    // SAFETY: the mapping was made above, and this function does not write to it after this.
    if unsafe { sys::call(sys::MPROTECT, [base, code_bytes, PROT_READ_EXEC, 0, 0, 0]) } != 0 {
        return None;
    }
    let page = crate::page();
    let mut patched = 0;
    for patch in patches() {
        let addr = bias.wrapping_add(patch.addr) as usize;
        let len = (patch.len as usize).min(PATCH_BYTES);
        // SAFETY: the tool found these `len` bytes in a segment of the executable. `prepare` compared the device and
        // inode of that file with those of the file that this process runs, so the loader has mapped the segment.
        let there = unsafe { core::slice::from_raw_parts(addr as *const u8, len) };
        if there != &patch.old[..len] {
            continue;
        }
        let (first, last) = (addr & !(page - 1), (addr + len - 1) & !(page - 1));
        let pages = last - first + page;
        // SAFETY: the pages hold code of the executable, as argued above. The call makes them writable and does not
        // change them.
        if unsafe { sys::call(sys::MPROTECT, [first, pages, PROT_ALL, 0, 0, 0]) } != 0 {
            continue;
        }
        if patch.function == CALLS {
            STATE.counters.fetch_add(1, Ordering::Relaxed);
        } else {
            hooks::set_original(patch.function as usize, base + patch.moved as usize);
        }
        for (index, byte) in patch.new[placement][..len].iter().enumerate() {
            // SAFETY: the byte is one of the `len` bytes made writable above. No other thread runs yet, so none
            // executes them.
            unsafe { (addr as *mut u8).add(index).write_volatile(*byte) };
        }
        // SAFETY: the bytes are those of the executable that were written above.
        unsafe { arch::written(addr, len) };
        // SAFETY: the call restores the usual protection of code, and nothing writes to the pages after this.
        unsafe { sys::call(sys::MPROTECT, [first, pages, PROT_READ_EXEC, 0, 0, 0]) };
        patched += 1;
    }
    Some(patched)
}
