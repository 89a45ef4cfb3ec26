//! An expression parser that allocates its tree in the subject.

use fastrand::Rng;

use super::subject::Arena;
use super::tree::{Binary, Call, Expression};

/// A recursive descent parser for well-formed text.
struct Parser<'t, 'a, A> {
    text: &'t [u8],
    at: usize,
    arena: &'a A,
}

/// Parses a text and returns its tree.
#[inline(never)]
pub(super) fn parse<'a, A: Arena>(text: &str, arena: &'a A) -> Expression<'a, A> {
    Parser { text: text.as_bytes(), at: 0, arena }.expression(0)
}

fn precedence(operator: u8) -> Option<u8> {
    match operator {
        b'+' | b'-' => Some(1),
        b'*' | b'/' => Some(2),
        _ => None,
    }
}

impl<'a, A: Arena> Parser<'_, 'a, A> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn skip(&mut self) {
        self.at += 1;
    }

    fn expression(&mut self, least: u8) -> Expression<'a, A> {
        let mut left = self.operand();
        while let Some(level) = precedence(self.peek()).filter(|&level| level > least) {
            let operator = self.peek();
            self.skip();
            let right = self.expression(level);
            left = Expression::Binary(self.arena.alloc(Binary { operator, sides: [left, right] }));
        }
        left
    }

    fn operand(&mut self) -> Expression<'a, A> {
        match self.peek() {
            b'(' => {
                self.skip();
                let inner = self.expression(0);
                self.skip();
                inner
            }
            b'!' => {
                self.skip();
                let value = self.operand();
                Expression::Negation(self.arena.alloc(value))
            }
            b'0'..=b'9' => {
                let mut number = 0_u64;
                while self.peek().is_ascii_digit() {
                    number = number.wrapping_mul(10).wrapping_add(u64::from(self.peek() - b'0'));
                    self.skip();
                }
                Expression::Number(number)
            }
            _ => self.name(),
        }
    }

    /// Parses a name, or a call of a function with two arguments.
    fn name(&mut self) -> Expression<'a, A> {
        let start = self.at;
        while self.peek().is_ascii_lowercase() {
            self.skip();
        }
        let name = self.arena.copy(&self.text[start..self.at]);
        if self.peek() != b'[' {
            return Expression::Name(name);
        }
        self.skip();
        let first = self.expression(0);
        self.skip();
        let second = self.expression(0);
        self.skip();
        Expression::Call(self.arena.alloc(Call { function: name, arguments: [first, second] }))
    }
}

/// Returns a random text with this number of operands.
pub(super) fn text(operands: usize, rng: &mut Rng) -> String {
    const NAMES: [&str; 8] = ["i", "len", "index", "position", "self", "total", "align", "chunk"];
    let mut inner = |operands| text(operands, rng);
    match operands {
        0 | 1 => match rng.u8(..8) {
            0..4 => NAMES[rng.usize(..NAMES.len())].to_owned(),
            4 => format!("!{}", NAMES[rng.usize(..NAMES.len())]),
            _ => rng.u32(..10_000).to_string(),
        },
        _ => {
            let first = 1 + operands / 3;
            let (left, right) = (inner(first), inner(operands - first));
            match rng.u8(..8) {
                0..2 => format!("{}[{left},{right}]", NAMES[rng.usize(..NAMES.len())]),
                2..4 => format!("({left}{}{right})", ["+", "-"][rng.usize(..2)]),
                _ => format!("{left}{}{right}", ["+", "-", "*", "/"][rng.usize(..4)]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::peers::{Heap, Malloc};
    use super::super::subject::Subject;
    use super::super::tree::Expression;

    fn shown(expression: &Expression<'_, Heap<Malloc>>) -> String {
        match expression {
            Expression::Number(number) => number.to_string(),
            Expression::Name(name) => String::from_utf8_lossy(name).into_owned(),
            Expression::Negation(value) => format!("!{}", shown(value)),
            Expression::Binary(binary) => {
                let [left, right] = &binary.sides;
                format!("({}{}{})", shown(left), char::from(binary.operator), shown(right))
            }
            Expression::Call(call) => {
                let [first, second] = &call.arguments;
                format!("{}[{},{}]", String::from_utf8_lossy(&call.function), shown(first), shown(second))
            }
        }
    }

    #[test]
    fn operators_bind_as_usual() {
        let heap = Heap::new();
        assert_eq!(shown(&super::parse("1+a*2-!b", &heap)), "((1+(a*2))-!b)");
        assert_eq!(shown(&super::parse("f[1,(2-3)*x]/4/5", &heap)), "((f[1,((2-3)*x)]/4)/5)");
    }
}
