//! A syntax tree of functions with blocks, statements and tokens: a walk over all elements, and the token at each offset.

use rowan::{GreenNode, GreenNodeBuilder, Language, SyntaxKind, SyntaxNode, TextSize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Lang {}

impl Language for Lang {
    type Kind = u16;

    fn kind_from_raw(raw: SyntaxKind) -> u16 {
        raw.0
    }

    fn kind_to_raw(kind: u16) -> SyntaxKind {
        SyntaxKind(kind)
    }
}

/// Builds a file of 200 functions of ten statements of seven tokens.
fn file() -> GreenNode {
    let mut builder = GreenNodeBuilder::new();
    builder.start_node(SyntaxKind(0));
    for function in 0..200 {
        builder.start_node(SyntaxKind(1));
        builder.token(SyntaxKind(10), "fn ");
        builder.token(SyntaxKind(11), &format!("function_{function}"));
        builder.start_node(SyntaxKind(2));
        for statement in 0..10 {
            builder.start_node(SyntaxKind(3));
            for token in ["let", " ", "x", " = ", &format!("{}", statement * function), ";", "\n"] {
                builder.token(SyntaxKind(12), token);
            }
            builder.finish_node();
        }
        builder.finish_node();
        builder.finish_node();
    }
    builder.finish_node();
    builder.finish()
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    let green = file();
    match name {
        "token at an offset" => Box::new(move || {
            let root = SyntaxNode::<Lang>::new_root(green.clone());
            let end = u32::from(root.text_range().end());
            (0..end).step_by(7).map(|at| {
                let token = root.token_at_offset(TextSize::from(at)).right_biased().expect("a token");
                u64::from(u32::from(token.text_range().start())) + u64::from(token.kind())
            }).sum()
        }),
        "walk" => Box::new(move || {
            let root = SyntaxNode::<Lang>::new_root(green.clone());
            root.descendants_with_tokens().map(|element| u64::from(u32::from(element.text_range().len()))).sum()
        }),
        _ => panic!("no workload {name}"),
    }
}
