//! The edits of the source that make a suggested change: `Box::pin(..)` or `pin!` around the expression that makes a
//! future.
//!
//! The expression is found among the tokens by the name of the called function. If the name occurs more often than the
//! future has such values, there is no edit.

use super::finder::{last_segment, lines};
use super::size::{AWAITED, Graph, coroutines_in, values_in};
use super::source::{Files, Is, Tokens, word};
use super::suggestion::{Problem, Suggestion};
use dwell_debuginfo::{Coroutine, Flavour, Kind, Program, TypeId};
use dwell_source::Edit;
use proc_macro2::Delimiter;
use std::ops::Range;

/// The deepest nesting of types in which values are counted.
const DEEPEST: u32 = 32;

/// Indices of tokens, the last one included.
type Expression = (usize, usize);

/// Returns the edits for a suggestion; none if the source does not show the place.
pub(super) fn edits(program: &Program, graph: &Graph, suggestion: &Suggestion, files: &mut Files) -> Vec<Edit> {
    let ty = program.get(suggestion.change.coroutine);
    let (Kind::Coroutine(coroutine), Some(source)) = (&ty.kind, &ty.source) else { return Vec::new() };
    let Some((first, last)) = lines(ty, coroutine).filter(|_| ty.own && files.may_read(ty)) else { return Vec::new() };
    let Some(file) = files.name(&source.file) else { return Vec::new() };
    let Some(tokens) = files.tokens(&source.file) else { return Vec::new() };
    let Some(body) = tokens.inside((first as usize, last as usize)) else { return Vec::new() };
    let place = Place { program, graph, coroutine, tokens, body };
    let Some(found) = place.wrapped(suggestion) else { return Vec::new() };
    let edit = |((from, to), [before, after]): (Expression, [&str; 2])| {
        let text = tokens.text_of(from, to)?;
        Some(Edit {
            file: file.clone(),
            line: u32::try_from(tokens.list[from].line).ok()?,
            item: coroutine.function.to_string(),
            from: text.to_owned(),
            to: format!("{before}{text}{after}"),
        })
    };
    // A change of which a part is missing saves less.
    found.into_iter().map(edit).collect::<Option<_>>().unwrap_or_default()
}

const BOXED: [&str; 2] = ["Box::pin(", ")"];
const PINNED: [&str; 2] = ["std::pin::pin!(", ")"];

/// The body of the future to change.
struct Place<'a> {
    program: &'a Program,
    graph: &'a Graph,
    coroutine: &'a Coroutine,
    tokens: &'a Tokens,
    body: Range<usize>,
}

impl Place<'_> {
    /// Returns the expressions to wrap, each with the text before and after it.
    fn wrapped(&self, suggestion: &Suggestion) -> Option<Vec<(Expression, [&'static str; 2])>> {
        let boxed = |all: Vec<Expression>| all.into_iter().map(|one| (one, BOXED)).collect();
        match suggestion.problem {
            Problem::PinFuture | Problem::BoxValue => {
                let variable = suggestion.change.edits.last()?;
                let line = suggestion.at.as_ref()?.line as usize;
                let value = self.tokens.initialiser(self.body.clone(), &variable.part.0, line)?;
                let around = match suggestion.problem {
                    Problem::PinFuture => PINNED,
                    _ => self.boxed_value(value)?,
                };
                Some(vec![(value, around)])
            }
            Problem::BoxArgument | Problem::BoxFuture if !suggestion.change.replaced.is_empty() => {
                let line = suggestion.at.as_ref().map(|at| at.line as usize);
                let mut all = Vec::new();
                for &inner in suggestion.change.replaced.keys() {
                    let values = values_in(self.program, self.graph, suggestion.change.coroutine, inner, DEEPEST);
                    all.extend(self.makers(inner, usize::try_from(values).ok()?, line)?);
                }
                all.sort_unstable();
                Some(boxed(all))
            }
            Problem::BoxFuture => {
                let states = suggestion.change.edits.iter().map(|edit| edit.awaited_in);
                states.map(|state| self.awaited(state?)).collect::<Option<_>>().map(boxed)
            }
            _ => None,
        }
    }

    /// Returns the expressions that make the futures of a type: calls of an `async fn`, or an `async` block. There must be
    /// as many as values, or only one; in the whole body, or else in the statement with the line.
    fn makers(&self, inner: TypeId, values: usize, line: Option<usize>) -> Option<Vec<Expression>> {
        let ty = self.program.get(inner);
        let Kind::Coroutine(coroutine) = &ty.kind else { return None };
        let in_body = self.made(coroutine, ty.source.as_ref().map(|at| at.line as usize), self.body.clone());
        let fits = |all: &Vec<Expression>| all.len() == 1 || !all.is_empty() && all.len() == values;
        if fits(&in_body) {
            return Some(in_body);
        }
        let await_at = self.tokens.only_await(line?, self.body.clone())?;
        let statement = self.tokens.statement_start(await_at, self.body.start)..await_at;
        let in_statement: Vec<Expression> =
            in_body.into_iter().filter(|(from, to)| statement.contains(from) && statement.contains(to)).collect();
        Some(in_statement).filter(fits)
    }

    fn made(&self, coroutine: &Coroutine, line: Option<usize>, within: Range<usize>) -> Vec<Expression> {
        match coroutine.flavour {
            Flavour::AsyncFn => self.tokens.calls(last_segment(&coroutine.function), within),
            Flavour::AsyncBlock => line.map_or_else(Vec::new, |line| self.tokens.blocks(line, within)),
            _ => Vec::new(),
        }
    }

    /// Returns the operand of a state's `.await`, if it calls the `async fn` whose future is awaited.
    fn awaited(&self, state: usize) -> Option<Expression> {
        let state = self.coroutine.states.get(state)?;
        let awaited = state.awaited.as_ref().filter(|field| *field.name == *AWAITED)?;
        let [inner] = coroutines_in(self.program, awaited.ty)[..] else { return None };
        let Kind::Coroutine(coroutine) = &self.program.get(inner).kind else { return None };
        let at = self.tokens.only_await(state.source.as_ref()?.line as usize, self.body.clone())?;
        let last = at.checked_sub(2)?;
        let from = self.tokens.operand(last)?;
        let calls = self.made(coroutine, None, from..last + 1);
        // `IntoFuture` and macros make another value of the operand.
        (inner == awaited.ty && calls.contains(&(from, last))).then_some((from, last))
    }

    /// Returns what to write around a large value.
    fn boxed_value(&self, (from, to): Expression) -> Option<[&'static str; 2]> {
        match self.tokens.list[from].is {
            // `[x; n]`: a `Box::new` of it makes it on the stack first.
            Is::Open(Delimiter::Bracket, close) if close == to => {
                (from..to).any(|at| self.tokens.list[at].is == Is::Punct(';')).then_some(["vec!", ""])
            }
            _ => Some(["Box::new(", ")"]),
        }
    }
}

impl Tokens {
    /// Returns the tokens of a function's or block's body.
    fn inside(&self, lines: (usize, usize)) -> Option<Range<usize>> {
        let start = self.list.iter().position(|token| token.line >= lines.0)?;
        let end = self.list.iter().rposition(|token| token.line <= lines.1)? + 1;
        Some(start..end)
    }

    fn text_of(&self, from: usize, to: usize) -> Option<&str> {
        self.text.get(self.list.get(from)?.range.start..self.list.get(to)?.range.end)
    }

    fn is(&self, at: usize, punct: char) -> bool {
        self.list.get(at).is_some_and(|token| token.is == Is::Punct(punct))
    }

    /// Returns the only `await` of a line.
    fn only_await(&self, line: usize, within: Range<usize>) -> Option<usize> {
        let is_await = |at: &usize| self.list[*at].line == line && word(&self.list[*at].is, "await");
        let all: Vec<usize> = within.filter(is_await).collect();
        let [one] = all[..] else { return None };
        Some(one)
    }

    /// Returns the calls of functions and methods with a name, each from the start of its path or receiver.
    fn calls(&self, name: &str, within: Range<usize>) -> Vec<Expression> {
        let call = |at: usize| {
            let is_declared = at > 0 && word(&self.list[at - 1].is, "fn");
            if !word(&self.list[at].is, name) || is_declared {
                return None;
            }
            let open = self.after_turbofish(at + 1)?;
            let Is::Open(Delimiter::Parenthesis, close) = self.list.get(open)?.is else { return None };
            let from = self.path_or_receiver(at)?;
            (within.contains(&from) && within.contains(&close)).then_some((from, close))
        };
        within.clone().filter_map(call).collect()
    }

    /// Returns the `async` blocks that begin on a line.
    fn blocks(&self, line: usize, within: Range<usize>) -> Vec<Expression> {
        let block = |at: usize| {
            if self.list[at].line != line || !word(&self.list[at].is, "async") {
                return None;
            }
            let open = if word(&self.list.get(at + 1)?.is, "move") { at + 2 } else { at + 1 };
            let Is::Open(Delimiter::Brace, close) = self.list.get(open)?.is else { return None };
            within.contains(&close).then_some((at, close))
        };
        within.clone().filter_map(block).collect()
    }

    /// Returns the index after `::<..>`, if it is there.
    fn after_turbofish(&self, at: usize) -> Option<usize> {
        if !(self.is(at, ':') && self.is(at + 1, ':') && self.is(at + 2, '<')) {
            return Some(at);
        }
        let mut depth = 0_usize;
        for index in at + 2..self.list.len() {
            match self.list[index].is {
                Is::Punct('<') => depth += 1,
                Is::Punct('>') if !self.is(index - 1, '-') => depth -= 1,
                Is::Punct(';') => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(index + 1);
            }
        }
        None
    }

    /// Returns the start of the operand that ends with a token: a call with its path or receiver.
    fn operand(&self, last: usize) -> Option<usize> {
        match self.list.get(last)?.is {
            Is::Close(open) => match (&self.list[open].is, open.checked_sub(1)) {
                (Is::Open(Delimiter::Parenthesis, _), Some(before)) => match &self.list[before].is {
                    Is::Word(name) if !is_keyword(name) => self.path_or_receiver(before),
                    // A macro's arguments, or those of a function with a turbofish.
                    Is::Punct('!' | '>') => None,
                    _ => Some(open),
                },
                (Is::Open(Delimiter::Bracket, _), Some(before)) => match &self.list[before].is {
                    Is::Word(name) if !is_keyword(name) => self.path_or_receiver(before),
                    Is::Close(_) | Is::Punct('?') => self.operand(before),
                    _ => None,
                },
                _ => None,
            },
            Is::Punct('?') => self.operand(last.checked_sub(1)?),
            Is::Word(_) | Is::Literal(_) => self.path_or_receiver(last),
            _ => None,
        }
    }

    /// Returns the start of an expression that ends with a name: of its path, or of what its method is called on.
    fn path_or_receiver(&self, name: usize) -> Option<usize> {
        let Some(before) = name.checked_sub(1) else { return Some(name) };
        if self.is(before, '.') {
            let is_range = before > 0 && self.is(before - 1, '.');
            return if is_range { Some(name) } else { self.operand(before.checked_sub(1)?) };
        }
        if self.is(before, ':') && before > 0 && self.is(before - 1, ':') {
            let part = before.checked_sub(2)?;
            // Not `<T as Trait>::f`.
            return matches!(self.list[part].is, Is::Word(_)).then(|| self.path_or_receiver(part))?;
        }
        Some(name)
    }

    /// Returns the value of `let name = value;` on a line, if the type of the variable is inferred.
    fn initialiser(&self, within: Range<usize>, name: &str, line: usize) -> Option<Expression> {
        let end = within.end;
        let binding = |at: &usize| {
            let before = at.checked_sub(1).map(|before| &self.list[before].is);
            let is_bound = before.is_some_and(|before| word(before, "let") || word(before, "mut"));
            self.list[*at].line == line && word(&self.list[*at].is, name) && is_bound && self.is(at + 1, '=')
        };
        let all: Vec<usize> = within.filter(binding).collect();
        let [at] = all[..] else { return None };
        let from = at + 2;
        let mut to = from;
        loop {
            match self.list.get(to).filter(|_| to < end)?.is {
                Is::Punct(';') => break,
                Is::Open(_, close) => to = close + 1,
                // `let .. else` has another value.
                Is::Word(ref word) if word == "else" => return None,
                _ => to += 1,
            }
        }
        (to > from).then(|| (from, to - 1))
    }
}

fn is_keyword(name: &str) -> bool {
    ["return", "match", "if", "in", "while", "else", "move", "let", "mut", "ref", "break", "as"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Tokens {
        Tokens::new(source.to_owned()).unwrap()
    }

    #[test]
    fn calls_have_their_path_or_receiver() {
        let calls = |source: &str| -> Vec<String> {
            let tokens = tokens(source);
            let all = tokens.calls("load", 0..tokens.list.len());
            all.into_iter().map(|(from, to)| tokens.text_of(from, to).unwrap().to_owned()).collect()
        };
        assert_eq!(calls("retry(3, load(a, b)).await"), ["load(a, b)"]);
        assert_eq!(calls("let x = self.a.b(1)?.load(c).timeout(d).await;"), ["self.a.b(1)?.load(c)"]);
        assert_eq!(
            calls("return a::b::load::<Vec<u8>, 3>(\n    c,\n).await"),
            ["a::b::load::<Vec<u8>, 3>(\n    c,\n)"]
        );
        assert_eq!(calls("join!(load(1), &load(2)[..], x[0].load(3), 0..load(4))").len(), 4);
        assert_eq!(calls("x = (a + b).load(3) + y[1][2].load(4)"), ["(a + b).load(3)", "y[1][2].load(4)"]);
        assert_eq!(calls("async fn load(a: u8) {} <T as A>::load(1); a!(b).load(2); f(load)"), [""; 0]);
    }

    #[test]
    fn values_of_variables_are_found() {
        let value = |source: &str, name: &str| {
            let tokens = tokens(source);
            let found = tokens.initialiser(0..tokens.list.len(), name, 1)?;
            tokens.text_of(found.0, found.1).map(str::to_owned)
        };
        assert_eq!(value("let mut a = load(b, { c; d });", "a").as_deref(), Some("load(b, { c; d })"));
        assert_eq!(value("let a = [0u8; 4096]; let b = a;", "b").as_deref(), Some("a"));
        assert_eq!(value("let a: Load = load();", "a"), None);
        assert_eq!(value("let a = b else { return };", "a"), None);
        assert_eq!(value("let a = b", "a"), None);
    }
}
