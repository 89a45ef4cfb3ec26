//! Lints and errors: their levels and locations.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{DeriveInput, Error};

/// Returns `#[allow(deprecated)]` if an attribute of the type or of a part of it names `deprecated`: a field is deprecated, or its
/// type is and the user allows that.
///
/// Where the lint is forbidden the attribute would be an error, so it is not always there.
pub(crate) fn allow_deprecated(input: &DeriveInput) -> Option<TokenStream> {
    names_deprecated(input.to_token_stream()).then(|| quote!(#[allow(deprecated)]))
}

fn names_deprecated(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "deprecated",
        TokenTree::Group(group) => names_deprecated(group.stream()),
        _ => false,
    })
}

/// Returns the tokens that make the compiler report an error at its location.
///
/// They keep the hygiene of the macro: in edition 2015 the path `::core` in the user's code begins at the user's crate.
pub(crate) fn report(error: &Error) -> TokenStream {
    located(error.to_compile_error())
}

fn located(tokens: TokenStream) -> TokenStream {
    let at = |mut token: TokenTree| {
        let span = Span::mixed_site().located_at(token.span());
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), located(group.stream())).into();
        }
        token.set_span(span);
        token
    };
    tokens.into_iter().map(at).collect()
}
