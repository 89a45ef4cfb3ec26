//! A syntax tree that any arena can hold.

use super::subject::Arena;

/// An expression. Besides names, its nodes are structs of 24 to 64 bytes.
pub(super) enum Expression<'a, A: Arena> {
    Number(u64),
    Name(A::Bytes<'a>),
    Negation(A::Ref<'a, Expression<'a, A>>),
    Binary(A::Ref<'a, Binary<'a, A>>),
    Call(A::Ref<'a, Call<'a, A>>),
}

pub(super) struct Binary<'a, A: Arena> {
    pub(super) operator: u8,
    pub(super) sides: [Expression<'a, A>; 2],
}

pub(super) struct Call<'a, A: Arena> {
    pub(super) function: A::Bytes<'a>,
    pub(super) arguments: [Expression<'a, A>; 2],
}

/// Returns a sum over all nodes of a tree, so that each is read.
pub(super) fn weight<A: Arena>(expression: &Expression<'_, A>) -> u64 {
    match expression {
        Expression::Number(n) => *n & 1,
        Expression::Name(name) => name.len() as u64,
        Expression::Negation(value) => 1 + weight::<A>(value),
        Expression::Binary(binary) => u64::from(binary.operator) + binary.sides.iter().map(weight::<A>).sum::<u64>(),
        Expression::Call(call) => call.function.len() as u64 + call.arguments.iter().map(weight::<A>).sum::<u64>(),
    }
}
