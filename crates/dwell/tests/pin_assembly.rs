//! `.pinned()` is `Box::pin`, instruction by instruction.

mod assembly;

/// Each value is pinned in both ways; `NAME_suffix` and `NAME_std` differ in nothing else.
const PROGRAM: &str = r"
use dwell::pin::PinExt;
use std::pin::Pin;

macro_rules! both {
    ($($suffix:ident, $std:ident: ($($argument:ident: $Argument:ty),*) -> $Value:ty, $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub fn $suffix($($argument: $Argument),*) -> Pin<Box<$Value>> {
            $value.pinned()
        }
        #[unsafe(no_mangle)]
        pub fn $std($($argument: $Argument),*) -> Pin<Box<$Value>> {
            Box::pin($value)
        }
    )*};
}

#[repr(align(64))]
pub struct Aligned(pub [u64; 8]);

async fn wait(text: String) -> usize {
    std::future::ready(()).await;
    text.len()
}

both! {
    nothing_suffix, nothing_std: () -> (), ();
    word_suffix, word_std: (value: u64) -> u64, value;
    text_suffix, text_std: (value: String) -> String, value;
    large_suffix, large_std: (value: [u8; 4096]) -> [u8; 4096], value;
    zeroes_suffix, zeroes_std: () -> [u8; 4096], [0_u8; 4096];
    aligned_suffix, aligned_std: (value: Aligned) -> Aligned, value;
}

#[unsafe(no_mangle)]
pub fn future_suffix(text: String) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    wait(text).pinned()
}
#[unsafe(no_mangle)]
pub fn future_std(text: String) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(wait(text))
}
";

const NAMES: [&str; 7] = ["nothing", "word", "text", "large", "zeroes", "aligned", "future"];

/// The instructions, without the numbers of the function and of its places that are in the names of labels.
fn numberless(assembly: &str, function: &str) -> Vec<String> {
    let unnumbered = |line: &str| {
        let Some((before, label)) = line.split_once(".L") else { return line.to_owned() };
        // `.LBB7_2` is place 2 of function 7.
        let place = label.split_once('_').map_or("", |(_, place)| place);
        format!("{before}.L_{place}")
    };
    assembly::instructions(assembly, function).map(unnumbered).collect()
}

#[test]
fn pinned_is_box_pin() {
    let assembly = match assembly::of("pin-assembly", PROGRAM) {
        Ok(assembly) => assembly,
        Err(reason) => {
            println!("skipped: {reason}");
            return;
        }
    };
    for name in NAMES {
        let (suffix, std) = (format!("{name}_suffix"), format!("{name}_std"));
        // The compiler has seen that they are one.
        let merged = |one: &str, other: &str| assembly.contains(&format!("\n{one} = {other}\n"));
        if merged(&suffix, &std) || merged(&std, &suffix) {
            continue;
        }
        let (suffix, std) = (numberless(&assembly, &suffix), numberless(&assembly, &std));
        assert!(std.len() > 1, "{name}: {std:?}");
        assert_eq!(suffix, std, "{name}");
    }
}
