//! What a dump does to the program that makes it: nothing that it can see.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(
    unreachable_pub,
    clippy::cast_possible_truncation,
    clippy::multiple_unsafe_ops_per_block,
    clippy::undocumented_unsafe_blocks,
    reason = "calls of libc in tests"
)]

mod support;

use dwell_heapdump::{Error, Folder, Options, on_signal, request, size, stream, write, write_to};
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use support::{Core, Filter, Scratch, alone, children, forbid, is_root, is_sanitized};

/// Ends the other threads of a test, also if it fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Values that a dump must have.
fn values() -> Vec<u64> {
    (0..20_000).map(|number| u64::wrapping_mul(number, 0x9e37_79b9_7f4a_7c15)).collect()
}

#[test]
fn a_dump_has_the_memory_and_the_threads() {
    alone("a_dump_has_the_memory_and_the_threads", || {
        let scratch = Scratch::new("memory");
        let (sender, receiver) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let other = thread::spawn(move || {
            let on_stack = [0x1234_5678_9abc_def0_u64; 64];
            sender.send(on_stack.as_ptr().addr() as u64).unwrap();
            ended.recv().unwrap();
            black_box(&on_stack);
        });
        let address = receiver.recv().unwrap();
        thread::sleep(Duration::from_millis(50));
        let values = values();
        let text = "a text on the heap".repeat(1000);
        let expected = size().unwrap();
        let summary = write(scratch.path("a.core")).unwrap();
        let core = Core::open(&scratch.path("a.core"));
        assert!(core.has(&values) && core.has(text.as_bytes()));
        assert_eq!(core.at(address, 8).unwrap(), 0x1234_5678_9abc_def0_u64.to_le_bytes());
        let statuses = core.notes("CORE", 1);
        assert_eq!(statuses.len(), summary.threads);
        // The stack of the other thread is known: from its stack pointer on.
        let stacks: Vec<u64> = statuses.iter().map(|status| stack_pointer(status)).collect();
        let is_above = |stack: &u64| *stack < address && address - stack < 8192;
        assert!(is_sanitized() || stacks.iter().any(is_above), "{stacks:x?} {address:x}");
        assert_eq!(core.notes("CORE", 6).len(), 1);
        let maps = core.notes("dwell", 1);
        assert!(String::from_utf8_lossy(maps[0]).contains("[stack]"));
        let metadata = fs::metadata(scratch.path("a.core")).unwrap();
        assert_eq!(metadata.len(), summary.bytes);
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        // What was said before is near: the program allocates meanwhile.
        let is_near = expected.abs_diff(summary.bytes) < 1 << 20;
        assert!(is_sanitized() || is_near, "{expected} {summary:?}");
        end.send(()).unwrap();
        other.join().unwrap();
    });
}

fn stack_pointer(status: &[u8]) -> u64 {
    let at = 112 + 8 * if cfg!(target_arch = "x86_64") { 19 } else { 31 };
    u64::from_le_bytes(status[at..at + 8].try_into().unwrap())
}

#[test]
fn pages_of_zeros_and_of_files_are_left_out() {
    alone("pages_of_zeros_and_of_files_are_left_out", || {
        let scratch = Scratch::new("zeros");
        let before = write(scratch.path("a.core")).unwrap();
        let zeros = map(32 << 20);
        zeros.fill(1);
        zeros.fill(0);
        // A mark between them.
        zeros[16 << 20] = 7;
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        let _mapped = map_file(&file);
        let after = write(scratch.path("b.core")).unwrap();
        assert!(after.bytes < before.bytes + (1 << 20), "{before:?} {after:?}");
        let core = Core::open(&scratch.path("b.core"));
        assert!(core.has(&zeros[16 << 20..(16 << 20) + 4096]));
        assert!(core.at(zeros.as_ptr().addr() as u64, 1).is_none());
    });
}

/// Returns memory of its own mapping.
fn map(bytes: usize) -> &'static mut [u8] {
    unsafe {
        let at = libc::mmap(
            ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(at, libc::MAP_FAILED);
        std::slice::from_raw_parts_mut(at.cast(), bytes)
    }
}

fn map_file(file: &File) -> &'static [u8] {
    use std::os::fd::AsRawFd as _;
    let bytes = usize::try_from(file.metadata().unwrap().len()).unwrap();
    unsafe {
        let at = libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0);
        assert_ne!(at, libc::MAP_FAILED);
        let all: &[u8] = std::slice::from_raw_parts(at.cast(), bytes);
        black_box(all.iter().map(|byte| u64::from(*byte)).sum::<u64>());
        all
    }
}

#[test]
fn the_child_sends_no_signal_and_is_no_child_for_wait() {
    alone("the_child_sends_no_signal_and_is_no_child_for_wait", || {
        static SIGNALS: AtomicUsize = AtomicUsize::new(0);
        extern "C" fn count(_: i32) {
            SIGNALS.fetch_add(1, Ordering::Relaxed);
        }
        unsafe { libc::signal(libc::SIGCHLD, count as *const () as usize) };
        let scratch = Scratch::new("sigchld");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let mut status = 0;
                    let found = unsafe { libc::waitpid(-1, &raw mut status, 0) };
                    assert_eq!((found, io::Error::last_os_error().raw_os_error()), (-1, Some(libc::ECHILD)));
                }
            });
            let end = End(&is_over);
            for round in 0..10 {
                write(scratch.path(&round.to_string())).unwrap();
            }
            drop(end);
        });
        assert_eq!(SIGNALS.load(Ordering::Relaxed), 0);
        assert_eq!(children(), []);
        // A program that ignores the signal has no zombies, and one that waits for all children gets this one as well.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        write(scratch.path("ignored")).unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let mut status = 0;
                    unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
                }
            });
            let end = End(&is_over);
            for round in 0..10 {
                write(scratch.path(&format!("all {round}"))).unwrap();
            }
            drop(end);
        });
        assert_eq!(children(), []);
    });
}

#[test]
fn descriptors_are_not_kept_open() {
    alone("descriptors_are_not_kept_open", || {
        let open = || fs::read_dir("/proc/self/fd").unwrap().count();
        let before = open();
        let (here, mut there) = UnixStream::pair().unwrap();
        there.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut dump = stream().unwrap();
        // The child waits for a reader now, and runs.
        assert!(dump.size().unwrap() > 0);
        drop(here);
        assert_eq!(there.read(&mut [0]).unwrap(), 0);
        drop(dump);
        drop(there);
        assert_eq!(open(), before);
        assert_eq!(children(), []);
    });
}

#[test]
fn programs_are_started_meanwhile() {
    alone("programs_are_started_meanwhile", || {
        let scratch = Scratch::new("spawn");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let started = scope.spawn(|| {
                let mut count = 0;
                while !is_over.load(Ordering::Relaxed) {
                    // `posix_spawn`, and a copy with code before the start.
                    let mut command = Command::new("/bin/sh");
                    command.args(["-c", "ls -l /proc/$$/fd"]);
                    if count % 2 == 1 {
                        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, || Ok(())) };
                    }
                    let output = command.output().unwrap();
                    assert!(output.status.success());
                    let text = String::from_utf8(output.stdout).unwrap();
                    assert!(!text.contains('#') && !text.contains(".core"), "{text}");
                    count += 1;
                }
                count
            });
            let end = End(&is_over);
            for round in 0..20 {
                write(scratch.path(&format!("{round}.core"))).unwrap();
            }
            drop(end);
            assert!(started.join().unwrap() > 0);
        });
        assert_eq!(children(), []);
    });
}

#[test]
fn huge_locked_and_unforked_pages_stay_as_they_are() {
    alone("huge_locked_and_unforked_pages_stay_as_they_are", || {
        const HUGE: usize = 2 << 20;
        let scratch = Scratch::new("pages");
        let all = map(17 * HUGE);
        let skip = all.as_ptr().align_offset(HUGE);
        let huge = &mut all[skip..skip + 16 * HUGE];
        let advise =
            |memory: &mut [u8], advice| unsafe { libc::madvise(memory.as_mut_ptr().cast(), memory.len(), advice) };
        assert_eq!(advise(huge, libc::MADV_HUGEPAGE), 0);
        for (index, byte) in huge.iter_mut().enumerate() {
            *byte = (index / 4096 % 251) as u8 + 1;
        }
        let secret = map(1 << 16);
        secret.fill(0x5a);
        assert_eq!(advise(secret, libc::MADV_DONTFORK), 0);
        let wiped = map(1 << 16);
        wiped.fill(0x5b);
        assert_eq!(advise(wiped, libc::MADV_WIPEONFORK), 0);
        let locked = unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } == 0;
        if !locked {
            println!("skipped: memory cannot be locked here");
        }
        let copy = huge.to_vec();
        write(scratch.path("a.core")).unwrap();
        let core = Core::open(&scratch.path("a.core"));
        assert!(core.has(huge));
        assert!(core.at(secret.as_ptr().addr() as u64, 1).is_none());
        assert!(core.at(wiped.as_ptr().addr() as u64, 1).is_none());
        assert!(secret.iter().all(|byte| *byte == 0x5a) && wiped.iter().all(|byte| *byte == 0x5b));
        // The program writes while the dump is written: the dump has what was before.
        let mut dump = stream().unwrap();
        dump.size().unwrap();
        huge.fill(0xff);
        let mut bytes = Vec::new();
        dump.read_to_end(&mut bytes).unwrap();
        let core = Core::parse(bytes).unwrap();
        assert_eq!(core.at(huge.as_ptr().addr() as u64, huge.len()).unwrap(), copy);
        assert!(huge.iter().all(|byte| *byte == 0xff));
    });
}

#[test]
fn a_limit_of_processes_is_named() {
    alone("a_limit_of_processes_is_named", || {
        let scratch = Scratch::new("nproc");
        unsafe {
            if is_root() {
                // Root has no limit.
                fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o777)).unwrap();
                assert_eq!(libc::setuid(54_321), 0);
                assert_eq!(libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
            }
            let none = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
            assert_eq!(libc::setrlimit(libc::RLIMIT_NPROC, &raw const none), 0);
        }
        let error = write(scratch.path("a.core")).unwrap_err();
        assert!(matches!(error, Error::Copy(_)), "{error:?}");
        assert!(error.to_string().ends_with("the limit of processes of this user or container is reached"), "{error}");
        assert_eq!(scratch.names(), [""; 0]);
    });
}

#[test]
fn an_undumpable_program_has_a_dump() {
    alone("an_undumpable_program_has_a_dump", || {
        let scratch = Scratch::new("undumpable");
        if is_root() {
            fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o777)).unwrap();
            assert_eq!(unsafe { libc::setuid(54_321) }, 0);
        }
        // Its files in `/proc` belong to root now: it cannot see which of its pages exist.
        assert_eq!(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) }, 0);
        let values = values();
        write(scratch.path("a.core")).unwrap();
        assert!(Core::open(&scratch.path("a.core")).has(&values));
    });
}

#[test]
fn a_limit_of_addresses_is_kept() {
    alone("a_limit_of_addresses_is_kept", || {
        let scratch = Scratch::new("as");
        let text = fs::read_to_string("/proc/self/statm").unwrap();
        let now = text.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096;
        let mut outcomes = Vec::new();
        for more in [0, 64 << 10, 8 << 20] {
            let limit = libc::rlimit { rlim_cur: now + more, rlim_max: libc::RLIM_INFINITY };
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
            let outcome = write(scratch.path(&format!("{more}.core")));
            assert!(matches!(outcome, Ok(_) | Err(Error::Copy(_))), "{outcome:?}");
            outcomes.push(outcome.is_ok());
        }
        assert_eq!(outcomes.last(), Some(&true));
        assert_eq!(scratch.names().len(), outcomes.iter().filter(|is_ok| **is_ok).count());
    });
}

/// Lets copies of the process fail, but not new threads.
fn forbid_copies(errno: i32) {
    const CLONE_VM: u32 = 0x100;
    forbid(&Filter { call: libc::SYS_clone, argument: (0, CLONE_VM, 0), errno });
}

#[test]
fn a_filter_of_system_calls_is_named() {
    alone("a_filter_of_system_calls_is_named", || {
        let scratch = Scratch::new("seccomp");
        for (errno, wanted) in [
            (libc::EPERM, "a seccomp filter forbids `clone`"),
            (libc::ENOSYS, "a seccomp filter forbids `clone`"),
            // What the kernel says with vm.overcommit_memory = 2, which is the whole machine's.
            (libc::ENOMEM, "the kernel does not commit memory for a copy (see vm.overcommit_memory)"),
            (libc::EAGAIN, "the limit of processes of this user or container is reached"),
        ] {
            let path = scratch.path("a.core");
            let error = thread::spawn(move || {
                forbid_copies(errno);
                write(path).unwrap_err()
            });
            let error = error.join().unwrap();
            assert!(error.to_string().ends_with(wanted), "{error}");
        }
        assert_eq!(scratch.names(), [""; 0]);
        // The other threads have no filter.
        write(scratch.path("a.core")).unwrap();
    });
}

#[test]
fn old_kernels_have_dumps() {
    alone("old_kernels_have_dumps", || {
        let scratch = Scratch::new("old");
        let path = scratch.path("a.core");
        let values = values();
        thread::scope(|scope| {
            scope.spawn(|| {
                let call = |call, errno| forbid(&Filter { call, argument: (0, 0, 0), errno });
                call(libc::SYS_close_range, libc::ENOSYS);
                call(libc::SYS_get_robust_list, libc::EPERM);
                call(libc::SYS_sync_file_range, libc::EPERM);
                // No scan of pages, no descriptors of processes, and no files without names.
                forbid(&Filter { call: libc::SYS_ioctl, argument: (1, 0xffff, 0x6610), errno: libc::ENOTTY });
                forbid(&Filter { call: libc::SYS_clone, argument: (0, 0x1000, 0x1000), errno: libc::EINVAL });
                forbid(&Filter {
                    call: libc::SYS_openat,
                    argument: (2, 0x40_0000, 0x40_0000),
                    errno: libc::EOPNOTSUPP,
                });
                write(&path).unwrap();
                let error = Options::new().at_most(1).write(scratch.path("b.core")).unwrap_err();
                assert!(matches!(error, Error::Size { .. }), "{error}");
            });
        });
        assert!(Core::open(&path).has(&values));
        assert_eq!(scratch.names(), ["a.core"]);
    });
}

#[test]
fn a_full_disk_has_no_half_file() {
    alone("a_full_disk_has_no_half_file", || {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let error = write_to(&full).unwrap_err();
        assert!(matches!(&error, Error::Write(cause) if cause.raw_os_error() == Some(libc::ENOSPC)), "{error}");
        let scratch = Scratch::new("full");
        let limit = libc::rlimit { rlim_cur: 1 << 16, rlim_max: libc::RLIM_INFINITY };
        let none = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) };
        let error = write(scratch.path("a.core")).unwrap_err();
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const none) };
        assert!(matches!(&error, Error::Write(cause) if cause.raw_os_error() == Some(libc::EFBIG)), "{error}");
        let error = Options::new().keep_free(u64::MAX / 2).write(scratch.path("b.core")).unwrap_err();
        assert!(error.to_string().starts_with("the heap dump does not fit on the disk: "), "{error}");
        assert_eq!(scratch.names(), [""; 0]);
        // A small file system of its own.
        let place = std::ffi::CString::new(scratch.0.to_str().unwrap()).unwrap();
        let mounted = unsafe {
            libc::unshare(libc::CLONE_NEWNS) == 0
                && libc::mount(
                    c"none".as_ptr(),
                    c"/".as_ptr(),
                    ptr::null(),
                    libc::MS_REC | libc::MS_PRIVATE,
                    ptr::null(),
                ) == 0
                && libc::mount(c"none".as_ptr(), place.as_ptr(), c"tmpfs".as_ptr(), 0, c"size=128k".as_ptr().cast())
                    == 0
        };
        if !mounted {
            println!("skipped: no file system can be mounted here");
            return;
        }
        let error = Options::new().keep_free(0).write(scratch.path("c.core")).unwrap_err();
        assert!(matches!(error, Error::Disk { .. }), "{error}");
        assert_eq!(scratch.names(), [""; 0]);
        unsafe { libc::umount(place.as_ptr()) };
    });
}

#[test]
fn a_closed_pipe_is_an_error() {
    alone("a_closed_pipe_is_an_error", || {
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let error = write_to(&writer).unwrap_err();
        assert!(matches!(&error, Error::Write(cause) if cause.raw_os_error() == Some(libc::EPIPE)), "{error}");
        let mut dump = stream().unwrap();
        dump.read_exact(&mut [0; 100]).unwrap();
        drop(dump);
        assert_eq!(children(), []);
    });
}

#[test]
fn a_program_compresses_a_dump() {
    alone("a_program_compresses_a_dump", || {
        let scratch = Scratch::new("gzip");
        let path = scratch.path("a.core.gz");
        let mut gzip = Command::new("gzip")
            .stdin(std::process::Stdio::piped())
            .stdout(File::create(&path).unwrap())
            .spawn()
            .expect("gzip is everywhere");
        let values = values();
        let summary = write_to(gzip.stdin.take().unwrap()).unwrap();
        assert!(gzip.wait().unwrap().success());
        assert!(fs::metadata(&path).unwrap().len() < summary.bytes);
        let bytes = Command::new("gzip").arg("-dc").arg(path).output().unwrap().stdout;
        assert!(Core::parse(bytes).unwrap().has(&values));
    });
}

#[test]
fn a_socket_that_does_not_wait_gets_all() {
    alone("a_socket_that_does_not_wait_gets_all", || {
        let (here, mut there) = UnixStream::pair().unwrap();
        here.set_nonblocking(true).unwrap();
        let values = values();
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            there.read_to_end(&mut bytes).map(|_| bytes).unwrap()
        });
        let summary = write_to(&here).unwrap();
        drop(here);
        let bytes = reader.join().unwrap();
        assert_eq!(bytes.len() as u64, summary.bytes);
        assert!(Core::parse(bytes).unwrap().has(&values));
    });
}

#[test]
fn pid_namespaces() {
    alone("pid_namespaces", || {
        if std::env::var_os("DWELL_HEAPDUMP_INNER").is_some() {
            // The first process of a namespace.
            assert_eq!(std::process::id(), 1);
            let scratch = Scratch::new("inner");
            write(scratch.path("a.core")).unwrap();
            assert_eq!(children(), []);
            return;
        }
        let output = Command::new("unshare")
            .args(["--fork", "--pid", "--mount-proc"])
            .arg(std::env::current_exe().unwrap())
            .args(["pid_namespaces", "--exact", "--nocapture", "--test-threads=1"])
            .env("DWELL_HEAPDUMP_INNER", "1")
            .output();
        match output {
            Ok(output) if output.status.success() => {}
            Ok(output) if String::from_utf8_lossy(&output.stderr).contains("unshare failed") => {
                println!("skipped: no namespace can be made here");
                return;
            }
            Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stdout)),
            Err(error) => println!("skipped: unshare: {error}"),
        }
        let scratch = Scratch::new("outer");
        if unsafe { libc::unshare(libc::CLONE_NEWPID) } != 0 {
            println!("skipped: no namespace can be made here");
            return;
        }
        assert!(matches!(write(scratch.path("a.core")).unwrap_err(), Error::Namespace));
        // It can still start programs: the first is the first process of the namespace.
        let output = Command::new("sh").args(["-c", "echo $$"]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1");
    });
}

#[test]
fn threads_allocate_and_end_meanwhile() {
    alone("threads_allocate_and_end_meanwhile", || {
        let scratch = Scratch::new("threads");
        let values = values();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let inner = thread::spawn(|| {
                            let all: Vec<String> = (0..200).map(|number| format!("value {number}")).collect();
                            black_box(all).len()
                        });
                        assert_eq!(inner.join().unwrap(), 200);
                    }
                });
            }
            let end = End(&is_over);
            for round in 0..20 {
                let path = scratch.path(&format!("{round}.core"));
                write(&path).unwrap();
                assert!(Core::open(&path).has(&values));
                fs::remove_file(path).unwrap();
            }
            drop(end);
        });
        assert_eq!(children(), []);
    });
}

#[test]
fn one_dump_at_a_time() {
    alone("one_dump_at_a_time", || {
        let scratch = Scratch::new("busy");
        let mut dump = stream().unwrap();
        dump.size().unwrap();
        assert!(matches!(write(scratch.path("a.core")).unwrap_err(), Error::Busy));
        // A copy of the program has a dump of its own, also of one that the program is in.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let is_ok = write(scratch.path("child.core")).is_ok();
            unsafe { libc::_exit(i32::from(!is_ok)) };
        }
        let mut status = 0;
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        drop(dump);
        write(scratch.path("a.core")).unwrap();
        assert!(matches!(write(scratch.path("a.core")).unwrap_err(), Error::Exists(_)));
        assert!(matches!(
            Options::new().spacing(Duration::from_secs(999)).write(scratch.path("b.core")).unwrap_err(),
            Error::Spacing
        ));
        let error = Options::new().at_most(1 << 12).write(scratch.path("b.core")).unwrap_err();
        assert!(error.to_string().ends_with("and 1 MiB are allowed"), "{error}");
        assert_eq!(scratch.names(), ["a.core", "child.core"]);
    });
}

#[test]
fn a_child_that_hangs_is_ended() {
    alone("a_child_that_hangs_is_ended", || {
        let (reader, writer) = io::pipe().unwrap();
        let began = Instant::now();
        let error = Options::new().timeout(Duration::from_millis(300)).write_to(&writer).unwrap_err();
        assert!(matches!(error, Error::Timeout), "{error}");
        assert!(began.elapsed() > Duration::from_millis(290));
        assert_eq!(children(), []);
        drop(reader);
    });
}

#[test]
fn a_killed_child_leaves_nothing() {
    alone("a_killed_child_leaves_nothing", || {
        let scratch = Scratch::new("killed");
        let _values: Vec<Vec<u64>> = (0..100).map(|_| values()).collect();
        let mut killed = 0;
        for round in 0..100_u64 {
            let path = scratch.path(&format!("{round}.core"));
            let (sender, done) = mpsc::channel();
            let of_dump = path.clone();
            let dump = thread::spawn(move || {
                let outcome = write(of_dump);
                sender.send(()).unwrap();
                outcome
            });
            thread::sleep(Duration::from_micros(round % 40 * 1500));
            while done.try_recv() == Err(mpsc::TryRecvError::Empty) {
                for child in children() {
                    unsafe { libc::kill(child, libc::SIGKILL) };
                }
            }
            match dump.join().unwrap() {
                Ok(_) => {
                    Core::open(&path);
                    fs::remove_file(path).unwrap();
                }
                Err(error) => {
                    assert!(matches!(error, Error::Killed(libc::SIGKILL)), "{error}");
                    killed += 1;
                    if path.exists() {
                        // It was killed between the name and its end.
                        Core::open(&path);
                        fs::remove_file(path).unwrap();
                    }
                }
            }
            assert_eq!(scratch.names(), [""; 0]);
            assert_eq!(children(), []);
        }
        println!("note: {killed} of 100 children were killed in time");
        assert!(killed > 0);
        // A reader does not take the part for the whole.
        let mut dump = stream().unwrap();
        dump.size().unwrap();
        for child in children() {
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        let error = dump.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("killed by signal 9"), "{error}");
    });
}

#[test]
fn signals_during_allocations() {
    alone("signals_during_allocations", || {
        let scratch = Scratch::new("signals");
        let (sender, outcomes) = mpsc::channel();
        let folder = Folder::new(&scratch.0).files(100).options(Options::new()).report(move |outcome| {
            let _ = sender.send(outcome.as_ref().map(|(path, _)| path.clone()).map_err(ToString::to_string));
        });
        assert!(matches!(on_signal(libc::SIGKILL, folder.clone()).unwrap_err(), Error::Signal(_)));
        unsafe { libc::signal(libc::SIGUSR1, libc::SIG_IGN) };
        assert!(matches!(on_signal(libc::SIGUSR1, folder.clone()).unwrap_err(), Error::Signal(_)));
        let watch = on_signal(libc::SIGUSR2, folder.clone()).unwrap();
        assert!(matches!(on_signal(libc::SIGHUP, folder).unwrap_err(), Error::Signal(_)));
        // The handler interrupts the allocator of this thread.
        let main = unsafe { libc::pthread_self() };
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let is_over = &is_over;
            let sender = scope.spawn(move || {
                let _end = End(is_over);
                for _ in 0..10 {
                    unsafe { libc::pthread_kill(main, libc::SIGUSR2) };
                    let path = outcomes.recv_timeout(Duration::from_secs(60)).unwrap().unwrap();
                    Core::open(&path);
                    fs::remove_file(path).unwrap();
                }
                // A handler of the program's own.
                request();
                assert!(outcomes.recv_timeout(Duration::from_secs(60)).unwrap().is_ok());
            });
            while !is_over.load(Ordering::Relaxed) {
                black_box((0..100).map(|number| vec![1_u8; number * 10]).collect::<Vec<_>>());
            }
            sender.join().unwrap();
        });
        watch.stop();
        assert_eq!(children(), []);
    });
}

#[test]
fn a_dump_costs_the_program_little_memory() {
    alone("a_dump_costs_the_program_little_memory", || {
        let scratch = Scratch::new("rss");
        let amount = |process: &str, kind: &str| {
            let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap();
            let line = text.lines().find_map(|line| line.strip_prefix(kind)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<i64>().unwrap()
        };
        let resident = || amount("self", "Rss:");
        let _values: Vec<Vec<u64>> = (0..400).map(|_| values()).collect();
        let before = resident();
        let mut dump = stream().unwrap();
        dump.size().unwrap();
        let during = resident() - before;
        // What the child does not share with the program, which writes nothing meanwhile.
        let child = children()[0].to_string();
        let own = amount(&child, "Private_Dirty:") + amount(&child, "Private_Clean:");
        drop(dump);
        let summary = write(scratch.path("a.core")).unwrap();
        let after = resident() - before;
        println!("note: {during} kB more during a dump and {own} kB of the child's own, {after} kB more after it");
        println!(
            "note: {} bytes of memory, copied in {:?}, written in {:?}",
            summary.bytes, summary.pause, summary.time
        );
        assert!(is_sanitized() || (during + own < 2048 && after < 2048), "{during} {own} {after}");
    });
}
