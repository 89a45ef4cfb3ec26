//! The levels of lints in generated code.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::DeriveInput;

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
