//! `.pinned()` compiles to the same instructions as `Box::pin`.

mod assembly;

/// Each value is pinned in both ways; `NAME_postfix` and `NAME_std` differ in nothing else.
const PROGRAM: &str = r"
use dwell::pin::PinExt;
use std::pin::Pin;

macro_rules! both {
    ($($postfix:ident, $std:ident: ($($argument:ident: $Argument:ty),*) -> $Value:ty, $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub fn $postfix($($argument: $Argument),*) -> Pin<Box<$Value>> {
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
    nothing_postfix, nothing_std: () -> (), ();
    word_postfix, word_std: (value: u64) -> u64, value;
    text_postfix, text_std: (value: String) -> String, value;
    large_postfix, large_std: (value: [u8; 4096]) -> [u8; 4096], value;
    zeroes_postfix, zeroes_std: () -> [u8; 4096], [0_u8; 4096];
    aligned_postfix, aligned_std: (value: Aligned) -> Aligned, value;
}

#[unsafe(no_mangle)]
pub fn future_postfix(text: String) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    wait(text).pinned()
}
#[unsafe(no_mangle)]
pub fn future_std(text: String) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(wait(text))
}
";

const NAMES: [&str; 7] = ["nothing", "word", "text", "large", "zeroes", "aligned", "future"];

/// Returns the instructions, without the numbers of functions and blocks in labels.
fn without_label_numbers(assembly: &str, function: &str) -> Vec<String> {
    let unnumbered = |line: &str| {
        let Some((before, label)) = line.split_once(".L") else { return line.to_owned() };
        // `.LBB7_2` is block 2 of function 7.
        let block = label.split_once('_').map_or("", |(_, block)| block);
        format!("{before}.L_{block}")
    };
    assembly::instructions(assembly, function).map(unnumbered).collect()
}

#[test]
fn pinned_compiles_to_box_pin() {
    let assembly = match assembly::of("pin-assembly", PROGRAM) {
        Ok(assembly) => assembly,
        Err(reason) => {
            println!("skipped: {reason}");
            return;
        }
    };
    for name in NAMES {
        let (postfix, std) = (format!("{name}_postfix"), format!("{name}_std"));
        // The compiler merged the two functions.
        let merged = |one: &str, other: &str| assembly.contains(&format!("\n{one} = {other}\n"));
        if merged(&postfix, &std) || merged(&std, &postfix) {
            continue;
        }
        let (postfix, std) = (without_label_numbers(&assembly, &postfix), without_label_numbers(&assembly, &std));
        assert!(std.len() > 1, "{name}: {std:?}");
        assert_eq!(postfix, std, "{name}");
    }
}
