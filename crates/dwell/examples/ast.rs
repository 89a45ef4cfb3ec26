//! A syntax tree in an arena: a parser that allocates nodes, and a visitor that folds constants into a new tree.
//!
//! ```text
//! cargo run --release --example ast -- "2 * (3 + x) - sum(1, 2, 3 * 4)"
//! ```

use dwell::{Bump, bump};
use std::fmt;

/// A node. References link the nodes, and the arena frees all of them at once, without a drop for each.
enum Expr<'a> {
    Number(i64),
    Name(&'a str),
    Binary(u8, &'a Expr<'a>, &'a Expr<'a>),
    Call(&'a str, &'a [Expr<'a>]),
}

impl fmt::Display for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
            Self::Binary(operator, left, right) => write!(f, "({left} {} {right})", char::from(*operator)),
            Self::Call(name, arguments) => {
                write!(f, "{name}(")?;
                for (index, argument) in arguments.iter().enumerate() {
                    write!(f, "{}{argument}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
        }
    }
}

struct Parser<'a, 's> {
    bump: &'a Bump,
    text: &'s str,
}

impl<'a> Parser<'a, '_> {
    fn peek(&mut self) -> Option<u8> {
        self.text = self.text.trim_start();
        self.text.bytes().next()
    }

    fn take(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.text = &self.text[1..];
        }
        found
    }

    /// Takes the longest prefix of the text whose characters fit, and copies it to the arena.
    fn word(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.text.find(|character| !fits(character)).unwrap_or(self.text.len());
        let (word, rest) = self.text.split_at(end);
        self.text = rest;
        self.bump.alloc_str(word)
    }

    fn expr(&mut self, lowest: u8) -> Result<Expr<'a>, String> {
        let mut left = self.operand()?;
        while let Some((operator, binds)) = self.peek().and_then(|byte| match byte {
            b'+' | b'-' => Some((byte, 1)),
            b'*' => Some((byte, 2)),
            _ => None,
        }) {
            if binds <= lowest {
                break;
            }
            self.take(operator);
            let right = self.expr(binds)?;
            left = Expr::Binary(operator, self.bump.alloc(left), self.bump.alloc(right));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expr<'a>, String> {
        match self.peek() {
            Some(b'0'..=b'9') => {
                let digits = self.word(|character| character.is_ascii_digit());
                digits.parse().map(Expr::Number).map_err(|error| format!("{digits}: {error}"))
            }
            Some(b'(') => {
                self.take(b'(');
                let inner = self.expr(0)?;
                if self.take(b')') { Ok(inner) } else { Err(format!("`)` is missing before `{}`", self.text)) }
            }
            Some(byte) if byte.is_ascii_alphabetic() => {
                let name = self.word(|character| character.is_ascii_alphanumeric());
                if !self.take(b'(') {
                    return Ok(Expr::Name(name));
                }
                // The vector grows while its elements allocate in the same arena.
                let mut arguments = bump::Vec::new_in(self.bump);
                while !self.take(b')') {
                    arguments.push(self.expr(0)?);
                    if !self.take(b',') && self.peek() != Some(b')') {
                        return Err(format!("`,` or `)` is missing before `{}`", self.text));
                    }
                }
                Ok(Expr::Call(name, arguments.into_slice()))
            }
            _ => Err(format!("a number, a name or `(` must stand before `{}`", self.text)),
        }
    }
}

/// Returns the tree with its constant parts computed, in another arena. The first arena may be freed then.
fn fold<'b>(expr: &Expr<'_>, bump: &'b Bump) -> Expr<'b> {
    match expr {
        Expr::Number(number) => Expr::Number(*number),
        Expr::Name(name) => Expr::Name(bump.alloc_str(name)),
        Expr::Binary(operator, left, right) => match (operator, fold(left, bump), fold(right, bump)) {
            (b'+', Expr::Number(left), Expr::Number(right)) => Expr::Number(left.wrapping_add(right)),
            (b'-', Expr::Number(left), Expr::Number(right)) => Expr::Number(left.wrapping_sub(right)),
            (b'*', Expr::Number(left), Expr::Number(right)) => Expr::Number(left.wrapping_mul(right)),
            (operator, left, right) => Expr::Binary(*operator, bump.alloc(left), bump.alloc(right)),
        },
        Expr::Call(name, arguments) => {
            Expr::Call(bump.alloc_str(name), bump.alloc_iter(arguments.iter().map(|argument| fold(argument, bump))))
        }
    }
}

fn main() {
    let text = std::env::args().nth(1).unwrap_or_else(|| "2 * (3 + 4) - sum(x, 1 + 2, 3 * 4)".to_owned());
    let folded = Bump::new();
    let (parsed, result) = {
        let parsed = Bump::new();
        let mut parser = Parser { bump: &parsed, text: &text };
        let expr = parser.expr(0).and_then(|expr| match parser.peek() {
            None => Ok(expr),
            Some(_) => Err(format!("an operator is missing before `{}`", parser.text)),
        });
        match expr {
            Ok(expr) => (expr.to_string(), fold(&expr, &folded)),
            Err(error) => {
                eprintln!("{error}");
                std::process::exit(2);
            }
        }
    };
    println!("{parsed}\n= {result}");
}
