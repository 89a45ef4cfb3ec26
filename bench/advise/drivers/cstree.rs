//! A syntax tree of a long text of sums, and a walk over its tokens.
use cstree::build::GreenNodeBuilder;
use cstree::syntax::SyntaxNode;
use cstree::{RawSyntaxKind, Syntax};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Root,
    Line,
    Sum,
    Name,
    Plus,
    Blank,
}

const KINDS: [Kind; 6] = [Kind::Root, Kind::Line, Kind::Sum, Kind::Name, Kind::Plus, Kind::Blank];

impl Syntax for Kind {
    fn from_raw(raw: RawSyntaxKind) -> Self {
        KINDS[raw.0 as usize]
    }

    fn into_raw(self) -> RawSyntaxKind {
        RawSyntaxKind(self as u32)
    }

    fn static_text(self) -> Option<&'static str> {
        (self == Kind::Plus).then_some("+")
    }
}

fn main() {
    let mut builder: GreenNodeBuilder<'static, 'static, Kind> = GreenNodeBuilder::new();
    builder.start_node(Kind::Root);
    for line in 0..30_000 {
        builder.start_node(Kind::Line);
        builder.token(Kind::Name, &format!("total{line}"));
        builder.token(Kind::Blank, " ");
        builder.start_node(Kind::Sum);
        for part in 0..4 {
            if part > 0 {
                builder.static_token(Kind::Plus);
            }
            builder.token(Kind::Name, &format!("value{}", (line * 31 + part * 7) % 5_000));
        }
        builder.finish_node();
        builder.token(Kind::Blank, "\n");
        builder.finish_node();
    }
    builder.finish_node();
    let (green, cache) = builder.finish();
    let interner = cache.unwrap().into_interner().unwrap();
    let root: SyntaxNode<Kind> = SyntaxNode::new_root(green);
    let mut letters = 0;
    for element in root.descendants_with_tokens() {
        if let Some(token) = element.as_token() {
            letters += token.resolve_text(&interner).len();
        }
    }
    println!("{letters}");
}
