//! Formats a long style sheet.
use malva::{Syntax, config::FormatOptions, format_text};

fn main() {
    let rule = |number: usize| format!(
        "$size-{number}:{}px;.item-{number},.item-{number}:hover>a{{color:#{number:06x};margin:0 auto;&.active{{padding:$size-{number} * 2;\
         @include shadow(1px,2px,rgba(0,0,0,.5));background:url(\"a/{number}.png\") no-repeat}}}}\n", number % 40);
    let text: String = (0..6_000).map(rule).collect();
    let formatted = format_text(&text, Syntax::Scss, &FormatOptions::default()).unwrap();
    println!("{}", formatted.len());
}
