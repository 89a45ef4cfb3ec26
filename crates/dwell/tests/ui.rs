//! The error messages for wrong uses of `Sparse`, `SmallBox`, `Bump`, `Weigh` and `#[erased]`. The recorded messages
//! are those of one compiler; with another one the test is skipped. `TRYBUILD=overwrite` records them anew.

/// The compiler whose messages are recorded.
const RECORDED: &str = "rustc 1.95";

#[test]
fn error_messages_match() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = std::process::Command::new(rustc).arg("--version").output().expect("rustc runs").stdout;
    let version = String::from_utf8_lossy(&version).into_owned();
    if !version.starts_with(RECORDED) {
        println!("skipped: the messages are those of {RECORDED}, this is {version}");
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui_small/*.rs");
    cases.compile_fail("tests/ui_bump/*.rs");
    #[cfg(feature = "derive")]
    cases.compile_fail("tests/ui/*.rs");
    #[cfg(feature = "derive")]
    cases.compile_fail("tests/ui_erased/*.rs");
    #[cfg(feature = "derive")]
    cases.compile_fail("tests/ui_weigh/*.rs");
}
