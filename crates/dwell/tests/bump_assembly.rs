//! The fast path of an allocation, instruction by instruction.

mod assembly;

const PROGRAM: &str = r"
use dwell::Bump;

#[unsafe(no_mangle)]
pub fn alloc_u8(bump: &Bump<1>, value: u8) -> &mut u8 {
    bump.alloc(value)
}

#[unsafe(no_mangle)]
pub fn alloc_u64(bump: &Bump, value: u64) -> &mut u64 {
    bump.alloc(value)
}
";

/// Returns the instructions of a function up to its first return: the fast path.
fn fast_path<'a>(assembly: &'a str, function: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for instruction in assembly::instructions(assembly, function) {
        let name = instruction.split_whitespace().next().expect("an instruction has a name");
        names.push(name);
        if name.starts_with("ret") {
            break;
        }
    }
    names
}

/// Load, add, compare, branch, store the position, store the value, return.
#[test]
fn fast_path_has_seven_instructions() {
    match assembly::of("bump-assembly", PROGRAM) {
        Ok(assembly) => {
            assert_eq!(fast_path(&assembly, "alloc_u64"), ["movq", "leaq", "cmpq", "ja", "movq", "movq", "retq"]);
            assert_eq!(fast_path(&assembly, "alloc_u8"), ["movq", "leaq", "cmpq", "ja", "movq", "movb", "retq"]);
        }
        Err(reason) => println!("skipped: {reason}"),
    }
}
