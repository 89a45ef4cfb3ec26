//! Kills the program that it is loaded into before `main`, and before libraries that were loaded earlier are initialized.

unsafe extern "C" {
    fn raise(signal: i32) -> i32;
}

#[used]
#[unsafe(link_section = ".init_array")]
static KILL: extern "C" fn() = kill;

extern "C" fn kill() {
    if std::env::args_os().next().is_some_and(|name| name.to_string_lossy().ends_with("/ends")) {
        // SAFETY: the call takes a number, and does not return.
        unsafe { raise(9) };
    }
}
