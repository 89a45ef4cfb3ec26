//! Parses lists in parentheses, as the example `parens` does, with words in them, and makes a tree of them.
use pest::iterators::Pairs;
use pest::{ParseResult, ParserState, state};

#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Rule {
    list,
    word,
}

type State<'i> = Box<ParserState<'i, Rule>>;

fn blank(state: State<'_>) -> ParseResult<State<'_>> {
    state.repeat(|s| s.match_string(" "))
}

fn word(state: State<'_>) -> ParseResult<State<'_>> {
    state.rule(Rule::word, |s| s.match_range('a'..'z').and_then(|s| s.repeat(|s| s.match_range('a'..'z').or_else(|s| s.match_range('0'..'9')))))
}

fn list(state: State<'_>) -> ParseResult<State<'_>> {
    state.rule(Rule::list, |s| {
        s.sequence(|s| {
            s.match_string("(")
                .and_then(|s| s.repeat(|s| s.sequence(|s| blank(s).and_then(|s| word(s).or_else(list)))))
                .and_then(blank)
                .and_then(|s| s.match_string(")"))
        })
    })
}

enum Tree {
    List(Vec<Tree>),
    Word(String),
}

fn tree(pairs: Pairs<'_, Rule>) -> Vec<Tree> {
    pairs.map(|pair| match pair.as_rule() {
        Rule::list => Tree::List(tree(pair.into_inner())),
        Rule::word => Tree::Word(pair.as_str().to_owned()),
    }).collect()
}

fn count(tree: &Tree) -> usize {
    match tree {
        Tree::List(all) => 1 + all.iter().map(count).sum::<usize>(),
        Tree::Word(word) => word.len(),
    }
}

fn main() {
    let items: String = (0..20_000).map(|item| format!("(item{item} (name alpha{} (size x{}) ) (tags a b c) ) ", item % 97, item % 7)).collect();
    let text = format!("({items})");
    let pairs = state(&text, list).unwrap();
    let trees = tree(pairs);
    println!("{}", trees.iter().map(count).sum::<usize>());
}
