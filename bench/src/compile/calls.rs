//! Generates a program with 900 calls of an arena: three for each of 300 types.

use std::fmt::Write;

/// The number of types.
const TYPES: usize = 300;

/// A subject: its name, the type of an arena, and the expression that creates one.
pub(super) struct Subject {
    pub(super) name: &'static str,
    arena: &'static str,
    new: &'static str,
}

/// The dependencies of every subject besides `dwell`, so that all are built before the first one.
pub(super) const DEPENDENCIES: &str = "bumpalo = \"=3.20.4\"\nbump-scope = \"=2.4.1\"\n";

/// The subjects, the baseline first.
pub(super) const SUBJECTS: [Subject; 3] = [
    Subject { name: "bumpalo 3.20.4", arena: "bumpalo::Bump<8>", new: "bumpalo::Bump::with_min_align()" },
    Subject {
        name: "bump-scope 2.4.1",
        arena: "bump_scope::Bump<bump_scope::alloc::Global, bump_scope::settings::BumpSettings<8>>",
        new: "bump_scope::Bump::new()",
    },
    Subject { name: "dwell", arena: "dwell::Bump", new: "dwell::Bump::new()" },
];

/// Returns the program. The calls are the same for all arenas, since the methods have the same names.
pub(super) fn program(subject: &Subject) -> String {
    let Subject { arena, new, .. } = subject;
    let mut text = format!("mod leaf;\nuse std::hint::black_box;\ntype Arena = {arena};\n");
    for n in 0..TYPES {
        // Sizes from 8 to 64 bytes.
        let (words, odd) = (n % 7, n % 250);
        let _ = write!(
            text,
            "#[derive(Clone, Copy)]\nstruct T{n} {{ a: [u64; {words}], b: u32, c: u8 }}\n\
             #[inline(never)]\nfn f{n}(arena: &Arena, c: u8) {{\n\
             let value = T{n} {{ a: [{n}; {words}], b: {n}, c }};\n\
             black_box(&*arena.alloc(value));\n\
             black_box(&*arena.alloc_with(|| T{n} {{ a: [{odd}; {words}], b: 7, c }}));\n\
             black_box(&*arena.alloc_slice_copy(&[value; 3]));\n}}\n"
        );
    }
    let _ = writeln!(text, "fn main() {{\ndrop(black_box(leaf::step(1)));\nlet arena: Arena = {new};");
    for n in 0..TYPES {
        let _ = writeln!(text, "f{n}(&arena, {});", n % 200);
    }
    text + "}\n"
}
