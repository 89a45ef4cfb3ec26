// The flags for rustc that compiles the agent: in the build script, or in the tool if that could not.

pub(crate) const FLAGS: [&str; 10] = [
    "--crate-type=cdylib",
    "--crate-name=cargo_dwell_agent",
    "--edition=2021",
    "--cap-lints=allow",
    "-Copt-level=3",
    "-Cpanic=abort",
    "-Cforce-frame-pointers=yes",
    "-Ccodegen-units=1",
    "-Cstrip=symbols",
    "-Coverflow-checks=no",
];
