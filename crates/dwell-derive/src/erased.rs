//! `#[erased]`, which stores the futures of `async fn`s in slots of the thread's pool.
//!
//! ```text
//! async fn load<T: Key>(&self, key: &T) -> u64 { body }
//! ```
//!
//! becomes
//!
//! ```text
//! fn load<'life0, 'life1, 'async_trait, T: 'async_trait + Key>(&'life0 self, key: &'life1 T) -> PoolFuture<'async_trait, u64>
//! where
//!     'life0: 'async_trait,
//!     'life1: 'async_trait,
//!     Self: 'async_trait,
//! {
//!     erase(async move {
//!         let key = key;
//!         let __ret: u64 = { body };
//!         __ret
//!     })
//! }
//! ```
//!
//! The signatures equal those of async-trait except for the result. The lifetime has the same name, so that a program
//! can change from one to the other.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Error, Parse, ParseStream, Result};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, FnArg, GenericArgument, GenericParam, Generics, Ident, ImplItem, Item, Lifetime, LitStr,
    ParenthesizedGenericArguments, Pat, PatIdent, Path, PathArguments, Receiver, ReturnType, Signature, Token,
    TraitItem, TraitItemFn, Type, TypeBareFn, TypeImplTrait, TypeParamBound, TypePtr, TypeReference, parse_quote,
    parse_quote_spanned,
};

/// The arguments of `#[erased(..)]`.
pub(crate) struct Args {
    send: bool,
    krate: Path,
}

impl Parse for Args {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut args = Self { send: true, krate: parse_quote!(::dwell) };
        while !input.is_empty() {
            if input.peek(Token![?]) && args.send {
                input.parse::<Token![?]>()?;
                let name: Ident = input.parse().map_err(|error| expected(error.span()))?;
                if name != "Send" {
                    return Err(expected(name.span()));
                }
                args.send = false;
            } else if input.peek(Token![crate]) {
                input.parse::<Token![crate]>()?;
                input.parse::<Token![=]>()?;
                args.krate = input.parse::<LitStr>()?.parse()?;
            } else {
                return Err(expected(input.span()));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(args)
    }
}

fn expected(span: Span) -> Error {
    Error::new(span, "expected `#[erased]`, `#[erased(?Send)]` or `#[erased(crate = \"path\")]`")
}

/// The position of a function.
#[derive(Clone, Copy)]
enum Context<'a> {
    Trait { generics: &'a Generics, supertraits: &'a [TypeParamBound] },
    Impl { generics: &'a Generics },
    Free,
}

impl Context<'_> {
    /// Returns the lifetimes that the trait or impl declares.
    fn lifetimes(&self) -> impl Iterator<Item = &Lifetime> {
        let generics = match self {
            Self::Trait { generics, .. } | Self::Impl { generics } => Some(*generics),
            Self::Free => None,
        };
        generics.into_iter().flat_map(Generics::lifetimes).map(|parameter| &parameter.lifetime)
    }
}

pub(crate) fn expand(args: &Args, item: TokenStream) -> Result<TokenStream> {
    let mut item: Item = syn::parse2(item)?;
    match &mut item {
        Item::Trait(of) => {
            let supertraits: Vec<_> = of.supertraits.iter().cloned().collect();
            let context = Context::Trait { generics: &of.generics, supertraits: &supertraits };
            for item in &mut of.items {
                if let TraitItem::Fn(function) = item {
                    args.function(context, &mut function.attrs, &mut function.sig, function.default.as_mut());
                }
            }
        }
        Item::Impl(of) => {
            let context = Context::Impl { generics: &of.generics };
            for item in &mut of.items {
                match item {
                    ImplItem::Fn(function) => {
                        args.function(context, &mut function.attrs, &mut function.sig, Some(&mut function.block));
                    }
                    // A function without a body, which the compiler reports. The transformed signature avoids further
                    // errors.
                    ImplItem::Verbatim(tokens) => {
                        if let Ok(mut function) = syn::parse2::<TraitItemFn>(tokens.clone()) {
                            args.function(context, &mut function.attrs, &mut function.sig, None);
                            *tokens = function.into_token_stream();
                        }
                    }
                    _ => {}
                }
            }
        }
        Item::Fn(of) if of.sig.asyncness.is_some() => {
            args.function(Context::Free, &mut of.attrs, &mut of.sig, Some(&mut of.block));
        }
        other => {
            let message = "`#[erased]` is for a trait, an impl or an `async fn`";
            return Err(Error::new(first_span(other), message));
        }
    }
    Ok(item.into_token_stream())
}

/// Returns the span of the first token that is not part of an attribute.
fn first_span(item: &Item) -> Span {
    match item {
        Item::Fn(of) => of.sig.fn_token.span,
        other => other.span(),
    }
}

impl Args {
    /// Transforms an `async fn`, and leaves other functions unchanged.
    fn function(
        &self,
        context: Context<'_>,
        attrs: &mut Vec<Attribute>,
        signature: &mut Signature,
        body: Option<&mut Block>,
    ) {
        let Some(asyncness) = signature.asyncness.take() else { return };
        signature.fn_token.span = asyncness.span;
        attrs.push(parse_quote! {
            #[allow(
                unknown_lints,
                mismatched_lifetime_syntaxes,
                clippy::async_yields_async,
                clippy::diverging_sub_expression,
                clippy::let_unit_value,
                clippy::needless_arbitrary_self_type,
                clippy::no_effect_underscore_binding,
                clippy::shadow_same,
                clippy::type_complexity,
                clippy::type_repetition_in_bounds,
                clippy::used_underscore_binding
            )]
        });
        let has_default = body.is_some();
        let mut uses_self = names_self(signature.to_token_stream());
        if let Some(body) = body {
            if let Context::Trait { .. } = context {
                uses_self |= names_self(body.to_token_stream());
            }
            self.body(asyncness.span, signature, body);
            let_receiver_change(signature, attrs);
        }
        self.signature(context, signature, uses_self && !matches!(context, Context::Free), has_default);
    }

    fn signature(&self, context: Context<'_>, signature: &mut Signature, uses_self: bool, has_default: bool) {
        let mut lifetimes = NameLifetimes { elided: Vec::new(), named: Vec::new() };
        for (index, input) in signature.inputs.iter_mut().enumerate() {
            match input {
                FnArg::Receiver(receiver) => lifetimes.receiver(receiver),
                FnArg::Typed(typed) => {
                    if !is_reference(&typed.ty) {
                        let name = argument_name(index, &typed.pat);
                        *typed.pat = parse_quote!(#name);
                    }
                    lifetimes.visit_type_mut(&mut typed.ty);
                    BoundImplTrait.visit_type_mut(&mut typed.ty);
                }
            }
        }
        let mut predicates: Vec<TokenStream> = Vec::new();
        for lifetime in &lifetimes.elided {
            predicates.push(quote_spanned!(lifetime.span()=> #lifetime: 'async_trait));
        }
        for lifetime in context.lifetimes().filter(|lifetime| lifetimes.named.contains(lifetime)) {
            predicates.push(quote_spanned!(lifetime.span()=> #lifetime: 'async_trait));
        }
        for parameter in &mut signature.generics.params {
            match parameter {
                GenericParam::Type(parameter) => {
                    let span = parameter.ident.span();
                    parameter.colon_token.get_or_insert_with(|| Token![:](span));
                    parameter.bounds.insert(0, parse_quote_spanned!(span=> 'async_trait));
                }
                GenericParam::Lifetime(parameter) => {
                    let span = parameter.lifetime.span();
                    parameter.colon_token.get_or_insert_with(|| Token![:](span));
                    parameter.bounds.insert(0, parse_quote_spanned!(span=> 'async_trait));
                }
                GenericParam::Const(_) => {}
            }
        }
        // Uses spans of the signature, so that errors do not point to the attribute.
        let end = signature.paren_token.span.close();
        signature.generics.lt_token.get_or_insert_with(|| Token![<](signature.ident.span()));
        signature.generics.gt_token.get_or_insert_with(|| Token![>](signature.paren_token.span.join()));
        if uses_self {
            let auto = if has_default { self.auto_traits(context, signature.receiver()) } else { Vec::new() };
            predicates.push(quote_spanned!(end=> Self: #(::core::marker::#auto +)* 'async_trait));
        }
        for lifetime in lifetimes.elided {
            signature.generics.params.push(parse_quote!(#lifetime));
        }
        signature.generics.params.push(parse_quote_spanned!(end=> 'async_trait));
        let clause = signature.generics.make_where_clause();
        clause
            .predicates
            .extend(predicates.into_iter().map(|predicate| -> syn::WherePredicate { parse_quote!(#predicate) }));

        let krate = &self.krate;
        let future = if self.send { quote!(PoolFuture) } else { quote!(LocalPooledFuture) };
        let (arrow, output) = match &signature.output {
            ReturnType::Default => (quote!(->), quote!(())),
            ReturnType::Type(arrow, output) => (quote!(#arrow), quote!(#output)),
        };
        signature.output = parse_quote!(#arrow #krate::pin::#future<'async_trait, #output>);
    }

    /// Returns the auto traits that `Self` needs so that the future of a default body with this receiver is `Send`.
    fn auto_traits(&self, context: Context<'_>, receiver: Option<&Receiver>) -> Vec<Ident> {
        let Context::Trait { supertraits, .. } = context else { return Vec::new() };
        if !self.send {
            return Vec::new();
        }
        let wanted: &[&str] = match receiver.map(|receiver| &*receiver.ty) {
            Some(Type::Reference(reference)) if reference.mutability.is_none() => &["Sync"],
            Some(Type::Path(path)) if is_arc_of_self(&path.path) => &["Sync", "Send"],
            _ => &["Send"],
        };
        let has = |name: &str| {
            supertraits.iter().any(|bound| {
                let TypeParamBound::Trait(bound) = bound else { return false };
                bound.path.segments.last().is_some_and(|last| last.ident == name)
            })
        };
        wanted.iter().filter(|name| !has(name)).map(|name| format_ident!("{name}")).collect()
    }

    fn body(&self, span: Span, signature: &Signature, body: &mut Block) {
        // As in an `async fn` of the compiler, all arguments move into the future, used or not, and are dropped in
        // reverse order at its end. References have no drop, so unused ones do not move and need not be `Send`.
        let moves = signature.inputs.iter().enumerate().map(|(index, input)| match input {
            FnArg::Receiver(receiver) if receiver.reference.is_none() => quote!(let _ = &self;),
            FnArg::Receiver(_) => TokenStream::new(),
            FnArg::Typed(typed) if is_reference(&typed.ty) => TokenStream::new(),
            FnArg::Typed(typed) => {
                let conditions: Vec<_> = typed.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
                let (pattern, name) = (&typed.pat, argument_name(index, &typed.pat));
                match &**pattern {
                    Pat::Ident(PatIdent { by_ref: None, subpat: None, .. }) => {
                        quote!(#(#conditions)* let #pattern = #name;)
                    }
                    Pat::Wild(_) => quote!(#(#conditions)* let #name = #name;),
                    _ => quote! {
                        // Patterns with a `ref mut` need the `mut`.
                        #(#conditions)*
                        #[allow(unused_mut)]
                        let mut #name = #name;
                        #(#conditions)*
                        let #pattern = #name;
                    },
                }
            }
        });
        let run = match &signature.output {
            ReturnType::Default => quote! {
                #(#moves)*
                let _: () = #body;
            },
            ReturnType::Type(_, output) => {
                let mut output = output.clone();
                InferImplTrait.visit_type_mut(&mut output);
                let krate = self.krate_at(output.span());
                // Determines the type of each `return` in the body.
                let hint = quote_spanned! {output.span()=>
                    if false {
                        #[allow(unreachable_code)]
                        return #krate::pin::unreachable_output::<#output>();
                    }
                };
                quote! {
                    #hint
                    #(#moves)*
                    let __ret: #output = #body;
                    #[allow(unreachable_code)]
                    __ret
                }
            }
        };
        let erase = Ident::new(if self.send { "erase" } else { "erase_local" }, span);
        let krate = self.krate_at(span);
        let future = quote_spanned!(span=> #krate::pin::#erase(async move { #run }));
        body.stmts = parse_quote!(#future);
    }

    /// Returns the path of the crate `dwell` with the location of `span`.
    fn krate_at(&self, span: Span) -> TokenStream {
        let path = self.krate.to_token_stream().into_iter();
        path.map(|mut token| {
            token.set_span(span.resolved_at(token.span()));
            token
        })
        .collect()
    }
}

/// Returns the name of an argument in the signature. The future matches the pattern.
fn argument_name(index: usize, pattern: &Pat) -> Ident {
    match pattern {
        Pat::Ident(PatIdent { by_ref: None, subpat: None, ident, .. }) => ident.clone(),
        other => format_ident!("__arg{index}", span = other.span().resolved_at(Span::mixed_site())),
    }
}

/// Changes `&mut self` to `mut self: &mut Self`, so that a body may borrow `self` itself, as with async-trait.
fn let_receiver_change(signature: &mut Signature, attrs: &mut Vec<Attribute>) {
    if let Some(FnArg::Receiver(receiver)) = signature.inputs.first_mut()
        && let Some((_, lifetime)) = &receiver.reference
        && let Some(mutability) = receiver.mutability
    {
        let span = receiver.self_token.span;
        *receiver.ty = parse_quote_spanned!(span=> &#lifetime mut Self);
        receiver.colon_token = Some(Token![:](span));
        receiver.reference = None;
        receiver.mutability = Some(mutability);
        attrs.push(parse_quote!(#[allow(unused_mut)]));
    }
}

fn is_reference(of: &Type) -> bool {
    matches!(of, Type::Reference(_))
}

fn is_arc_of_self(path: &Path) -> bool {
    let Some(last) = path.segments.last() else { return false };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    last.ident == "Arc"
        && matches!(arguments.args.first(), Some(GenericArgument::Type(Type::Path(of))) if of.path.is_ident("Self"))
}

/// Returns whether `self` or `Self` is among the tokens.
fn names_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "self" || ident == "Self",
        TokenTree::Group(group) => names_self(group.stream()),
        _ => false,
    })
}

/// A visitor that names each elided lifetime of the arguments.
struct NameLifetimes {
    elided: Vec<Lifetime>,
    /// The lifetimes that already have a name.
    named: Vec<Lifetime>,
}

impl NameLifetimes {
    fn receiver(&mut self, receiver: &mut Receiver) {
        match &mut receiver.reference {
            Some((and, lifetime)) => self.optional(and.span, lifetime),
            None => self.visit_type_mut(&mut receiver.ty),
        }
    }

    fn optional(&mut self, span: Span, lifetime: &mut Option<Lifetime>) {
        match lifetime {
            None => *lifetime = Some(self.next(span)),
            Some(lifetime) => self.visit_lifetime_mut(lifetime),
        }
    }

    fn next(&mut self, span: Span) -> Lifetime {
        let lifetime = Lifetime::new(&format!("'life{}", self.elided.len()), span);
        self.elided.push(lifetime.clone());
        lifetime
    }
}

impl VisitMut for NameLifetimes {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.next(lifetime.span());
        } else {
            self.named.push(lifetime.clone());
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        self.optional(reference.and_token.span, &mut reference.lifetime);
        self.visit_type_mut(&mut reference.elem);
    }

    // Elided lifetimes in `Fn(&T) -> &T` and `fn(&T) -> &T` belong to these types.
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {}
    fn visit_type_bare_fn_mut(&mut self, _: &mut TypeBareFn) {}
    fn visit_expr_mut(&mut self, _: &mut syn::Expr) {}
}

/// A visitor that changes `impl Trait` to `impl 'async_trait + Trait`.
struct BoundImplTrait;

impl BoundImplTrait {
    /// Adds the parentheses that `&impl 'async_trait + Trait` needs.
    fn in_parentheses(of: &mut Type) {
        if let Type::ImplTrait(_) = of {
            *of = parse_quote_spanned!(of.span()=> (#of));
        }
    }
}

impl VisitMut for BoundImplTrait {
    fn visit_type_impl_trait_mut(&mut self, of: &mut TypeImplTrait) {
        of.bounds.insert(0, parse_quote_spanned!(of.impl_token.span=> 'async_trait));
        visit_mut::visit_type_impl_trait_mut(self, of);
    }

    fn visit_type_reference_mut(&mut self, of: &mut TypeReference) {
        visit_mut::visit_type_reference_mut(self, of);
        Self::in_parentheses(&mut of.elem);
    }

    fn visit_type_ptr_mut(&mut self, of: &mut TypePtr) {
        visit_mut::visit_type_ptr_mut(self, of);
        Self::in_parentheses(&mut of.elem);
    }

    fn visit_expr_mut(&mut self, _: &mut syn::Expr) {}
}

/// A visitor that changes `impl Trait` to `_`, since it cannot be the type of a variable.
struct InferImplTrait;

impl VisitMut for InferImplTrait {
    fn visit_type_mut(&mut self, of: &mut Type) {
        if let Type::ImplTrait(_) = of {
            *of = parse_quote!(_);
        } else {
            visit_mut::visit_type_mut(self, of);
        }
    }
}
