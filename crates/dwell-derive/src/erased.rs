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
//!         let __dwell_output: u64 = { body };
//!         __dwell_output
//!     })
//! }
//! ```
//!
//! The signatures equal those of async-trait except for the result. The lifetime has the same name, so that a program
//! can change from one to the other.
//!
//! No `#[allow]` is among the generated code where it can be avoided, since one of a forbidden lint is an error. Most lints
//! do not report code of a macro from another crate, which the compiler tells by the span: generated names have the
//! location of the user's code and the hygiene of the macro.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Error, Parse, ParseStream, Result};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, FnArg, GenericArgument, GenericParam, Generics, Ident, ImplItem, Item, Lifetime, LitStr, Macro,
    Meta, ParenthesizedGenericArguments, Pat, PatIdent, Path, PathArguments, Receiver, ReturnType, Signature, Token,
    TraitItem, TraitItemFn, Type, TypeBareFn, TypeImplTrait, TypeParamBound, TypePtr, TypeReference, parse_quote,
    parse_quote_spanned,
};

/// The arguments of `#[erased(..)]`.
pub(crate) struct Args {
    auto: Auto,
    krate: Path,
}

/// The auto traits of the futures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Auto {
    Nothing,
    Send,
    SendSync,
}

/// An auto trait that `Self` needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Send,
    Sync,
}

impl Parse for Args {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut args = Self { auto: Auto::Send, krate: parse_quote!(::dwell) };
        while !input.is_empty() {
            if input.peek(Token![?]) && args.auto == Auto::Send {
                input.parse::<Token![?]>()?;
                let name: Ident = input.parse().map_err(|error| expected(error.span()))?;
                if name != "Send" {
                    return Err(expected(name.span()));
                }
                args.auto = Auto::Nothing;
            } else if input.peek(Ident) && args.auto == Auto::Send {
                let name: Ident = input.parse()?;
                if name != "Sync" {
                    return Err(expected(name.span()));
                }
                args.auto = Auto::SendSync;
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
    Error::new(span, "expected `#[erased]`, `#[erased(?Send)]`, `#[erased(Sync)]` or `#[erased(crate = \"path\")]`")
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
        Item::Trait(definition) => {
            let supertraits: Vec<_> = definition.supertraits.iter().cloned().collect();
            let context = Context::Trait { generics: &definition.generics, supertraits: &supertraits };
            for item in &mut definition.items {
                if let TraitItem::Fn(function) = item {
                    args.function(context, &mut function.attrs, &mut function.sig, function.default.as_mut());
                }
            }
        }
        Item::Impl(implementation) => {
            let context = Context::Impl { generics: &implementation.generics };
            for item in &mut implementation.items {
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
        Item::Fn(function) if function.sig.asyncness.is_some() => {
            args.function(Context::Free, &mut function.attrs, &mut function.sig, Some(&mut function.block));
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
        Item::Fn(function) => function.sig.fn_token.span,
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
        // The names of lifetimes in the function and around it, which a generated one must not shadow.
        let mut taken: Vec<String> = context.lifetimes().map(|lifetime| lifetime.ident.to_string()).collect();
        lifetime_names(signature.to_token_stream(), &mut taken);
        if let Some(body) = &body {
            lifetime_names(body.to_token_stream(), &mut taken);
        }
        let mut uses_self = NamesSelf::is_in(|visitor| visitor.visit_signature_mut(signature));
        if let Some(body) = body {
            if let Context::Trait { .. } = context {
                uses_self |= NamesSelf::is_in(|visitor| visitor.visit_block_mut(body));
            }
            let_receiver_change(signature, body);
            self.body(asyncness.span, signature, body);
        }
        let lifetimes = NameLifetimes { taken, elided: Vec::new(), named: Vec::new() };
        self.signature(context, signature, lifetimes, uses_self && !matches!(context, Context::Free), has_default);
    }

    fn signature(
        &self,
        context: Context<'_>,
        signature: &mut Signature,
        mut lifetimes: NameLifetimes,
        uses_self: bool,
        has_default: bool,
    ) {
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
        if let Some(lifetime) = lifetimes.of_result(signature.receiver()) {
            NameResult { lifetime }.visit_return_type_mut(&mut signature.output);
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
        let future = match self.auto {
            Auto::Nothing => quote!(LocalPoolFuture),
            Auto::Send => quote!(PoolFuture),
            Auto::SendSync => quote!(SyncPoolFuture),
        };
        let (arrow, output) = match &signature.output {
            ReturnType::Default => (quote!(->), quote!(())),
            ReturnType::Type(arrow, output) if is_never(output) => (quote!(#arrow), quote!(#krate::pin::Never)),
            ReturnType::Type(arrow, output) => (quote!(#arrow), quote!(#output)),
        };
        signature.output = parse_quote!(#arrow #krate::pin::#future<'async_trait, #output>);
    }

    /// Returns the auto traits that `Self` needs so that the future of a default body with this receiver is `Send`.
    fn auto_traits(&self, context: Context<'_>, receiver: Option<&Receiver>) -> Vec<Ident> {
        let Context::Trait { supertraits, .. } = context else { return Vec::new() };
        let mut wanted = Vec::new();
        let of_receiver = |receiver: &Receiver, shared, wanted: &mut Vec<Needs>| needs(&receiver.ty, shared, wanted);
        if self.auto != Auto::Nothing {
            match receiver {
                Some(receiver) => of_receiver(receiver, Needs::Send, &mut wanted),
                None => wanted.push(Needs::Send),
            }
        }
        if let (Auto::SendSync, Some(receiver)) = (self.auto, receiver) {
            of_receiver(receiver, Needs::Sync, &mut wanted);
        }
        let has = |name: &str| {
            supertraits.iter().any(|bound| {
                let TypeParamBound::Trait(bound) = bound else { return false };
                bound.path.segments.last().is_some_and(|last| last.ident == name)
            })
        };
        let is_wanted = |(need, name): &(Needs, &str)| wanted.contains(need) && !has(name);
        let all = [(Needs::Sync, "Sync"), (Needs::Send, "Send")];
        all.into_iter().filter(is_wanted).map(|(_, name)| format_ident!("{name}")).collect()
    }

    fn body(&self, span: Span, signature: &mut Signature, body: &mut Block) {
        // As in an `async fn` of the compiler, all arguments move into the future, used or not, and are dropped in
        // reverse order at its end. References have no drop, so unused ones do not move and need not be `Send`.
        let moves = signature.inputs.iter_mut().enumerate().map(|(index, input)| match input {
            FnArg::Receiver(receiver) if receiver.reference.is_none() => quote!(let _ = &self;),
            FnArg::Receiver(_) => TokenStream::new(),
            FnArg::Typed(typed) if is_reference(&typed.ty) => TokenStream::new(),
            FnArg::Typed(typed) => {
                let name = argument_name(index, &typed.pat);
                let conditions: Vec<_> = typed.attrs.iter().filter(|attr| is_condition(attr)).cloned().collect();
                // The levels of lints are for the argument and for the variable of the body. The lint that is expected
                // may occur at either.
                let lints: Vec<_> = typed.attrs.iter().filter(|attr| is_lint(attr)).cloned().collect();
                typed.attrs.iter_mut().for_each(allow_expected);
                let pattern = &typed.pat;
                match &**pattern {
                    Pat::Ident(PatIdent { by_ref: None, subpat: None, .. }) => {
                        quote!(#(#conditions)* #(#lints)* let #pattern = #name;)
                    }
                    Pat::Wild(_) => quote!(#(#conditions)* let #name = #name;),
                    _ => {
                        let mutability = needs_mut(pattern).then(|| Token![mut](Span::mixed_site()));
                        quote! {
                            #(#conditions)*
                            let #mutability #name = #name;
                            #(#conditions)*
                            #(#lints)*
                            let #pattern = #name;
                        }
                    }
                }
            }
        });
        let moves: Vec<TokenStream> = moves.collect();
        let run = match &signature.output {
            ReturnType::Default => quote! {
                #(#moves)*
                let _: () = #body;
            },
            ReturnType::Type(_, output) => {
                let krate = self.krate_at(output.span());
                let span = Span::mixed_site().located_at(output.span());
                if is_never(output) {
                    quote! {
                        #(#moves)*
                        let _: #krate::pin::Never = #body;
                    }
                } else {
                    let mut output = (**output).clone();
                    InferImplTrait.visit_type_mut(&mut output);
                    // Determines the type of each `return` in the body. No code that the compiler finds to be unreachable, if the
                    // body never returns or no value of the type exists: a crate may forbid the lint, and so to allow it.
                    let value = Ident::new("__dwell_output", span);
                    let hint = quote_spanned! {span=>
                        if let ::core::option::Option::Some(#value) = ::core::option::Option::None::<#output> {
                            return #value;
                        }
                    };
                    // A block of the macro's edition: it drops the temporary values of the body before the arguments, as an
                    // `async fn` does.
                    quote_spanned! {Span::mixed_site()=>
                        {
                            #hint
                            #(#moves)*
                            #body
                        }
                    }
                }
            }
        };
        let erase = match self.auto {
            Auto::Nothing => "erase_local",
            Auto::Send => "erase",
            Auto::SendSync => "erase_sync",
        };
        let erase = Ident::new(erase, span);
        let krate = self.krate_at(span);
        // `async` is a keyword of the macro's edition.
        let keyword = Token![async](Span::mixed_site().located_at(span));
        let future = quote_spanned!(span=> #krate::pin::#erase(#keyword move { #run }));
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
        other => format_ident!("__dwell_arg{index}", span = other.span().resolved_at(Span::mixed_site())),
    }
}

/// Changes `&mut self` to `mut self: &mut Self` if the body borrows or assigns `self` itself, as it may with async-trait.
fn let_receiver_change(signature: &mut Signature, body: &Block) {
    if let Some(FnArg::Receiver(receiver)) = signature.inputs.first_mut()
        && let Some((_, lifetime)) = &receiver.reference
        && let Some(mutability) = receiver.mutability
        && changes_self(body.to_token_stream())
    {
        let span = receiver.self_token.span;
        *receiver.ty = parse_quote_spanned!(span=> &#lifetime mut Self);
        receiver.colon_token = Some(Token![:](span));
        receiver.reference = None;
        receiver.mutability = Some(mutability);
    }
}

/// Returns whether `&mut self` or `self = ..` is among the tokens.
fn changes_self(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_punct =
        |at: usize, wanted: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted);
    let is_ident = |at: usize, wanted: &str| matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == wanted);
    (0..tokens.len()).any(|at| {
        let borrows =
            is_punct(at, '&') && is_ident(at + 1, "mut") && is_ident(at + 2, "self") && !is_punct(at + 3, '.');
        let assigns = is_ident(at, "self") && is_punct(at + 1, '=') && !is_punct(at + 2, '=') && !is_punct(at + 2, '>');
        borrows || assigns || matches!(&tokens[at], TokenTree::Group(group) if changes_self(group.stream()))
    })
}

fn is_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(_))
}

fn is_never(ty: &Type) -> bool {
    match ty {
        Type::Never(_) => true,
        Type::Paren(inner) => is_never(&inner.elem),
        Type::Group(inner) => is_never(&inner.elem),
        _ => false,
    }
}

fn is_condition(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

/// Returns whether an attribute sets the level of a lint.
fn is_lint(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|name| attribute.path().is_ident(name))
}

/// Changes `#[expect(..)]` to `#[allow(..)]`.
fn allow_expected(attribute: &mut Attribute) {
    if attribute.path().is_ident("expect")
        && let Meta::List(list) = &mut attribute.meta
    {
        list.path = Ident::new("allow", list.path.span()).into();
    }
}

/// Returns whether a pattern borrows a value mutably, which must then be a `mut` variable. A macro may expand to such a
/// pattern.
fn needs_mut(pattern: &Pat) -> bool {
    struct Finds(bool);
    impl VisitMut for Finds {
        fn visit_pat_ident_mut(&mut self, ident: &mut PatIdent) {
            self.0 |= ident.by_ref.is_some() && ident.mutability.is_some();
            visit_mut::visit_pat_ident_mut(self, ident);
        }
        fn visit_macro_mut(&mut self, _: &mut Macro) {
            self.0 = true;
        }
    }
    let mut finds = Finds(false);
    finds.visit_pat_mut(&mut pattern.clone());
    finds.0
}

/// Adds the auto trait that `Self` needs so that a receiver of type `ty` has the auto trait `wanted`.
fn needs(ty: &Type, wanted: Needs, found: &mut Vec<Needs>) {
    match ty {
        Type::Paren(inner) => needs(&inner.elem, wanted, found),
        Type::Group(inner) => needs(&inner.elem, wanted, found),
        // `&T` is `Send` and `Sync` if `T` is `Sync`.
        Type::Reference(reference) if reference.mutability.is_none() => needs(&reference.elem, Needs::Sync, found),
        Type::Reference(reference) => needs(&reference.elem, wanted, found),
        Type::Path(path) if path.path.is_ident("Self") => found.push(wanted),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return };
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return };
            for argument in &arguments.args {
                let GenericArgument::Type(inner) = argument else { continue };
                needs(inner, wanted, found);
                // `Arc<T>` is `Send` and `Sync` if `T` is both.
                if last.ident == "Arc" {
                    needs(inner, Needs::Send, found);
                    needs(inner, Needs::Sync, found);
                }
            }
        }
        _ => found.push(wanted),
    }
}

/// A visitor that finds `self` and `Self`, except those of nested items.
struct NamesSelf(bool);

impl NamesSelf {
    fn is_in(visit: impl FnOnce(&mut Self)) -> bool {
        let mut found = Self(false);
        visit(&mut found);
        found.0
    }
}

impl VisitMut for NamesSelf {
    fn visit_ident_mut(&mut self, ident: &mut Ident) {
        self.0 |= ident == "self" || ident == "Self";
    }

    fn visit_receiver_mut(&mut self, _: &mut Receiver) {
        self.0 = true;
    }

    fn visit_path_mut(&mut self, path: &mut Path) {
        // `self::function` names a module.
        if path.segments.len() > 1 && path.segments[0].ident == "self" {
            path.segments.iter_mut().for_each(|segment| self.visit_path_arguments_mut(&mut segment.arguments));
        } else {
            visit_mut::visit_path_mut(self, path);
        }
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        // A macro with a function may define an item with its own `self`.
        self.0 |= !names(mac.tokens.clone(), &["fn"]) && names(mac.tokens.clone(), &["self", "Self"]);
    }
}

/// Returns whether one of the names is among the tokens.
fn names(tokens: TokenStream, wanted: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => wanted.iter().any(|name| ident == name),
        TokenTree::Group(group) => names(group.stream(), wanted),
        _ => false,
    })
}

/// A visitor that names each elided lifetime of the arguments.
struct NameLifetimes {
    /// The names that are not free.
    taken: Vec<String>,
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
        let mut free = (self.elided.len()..).map(|n| format!("life{n}")).filter(|name| !self.taken.contains(name));
        let name = free.next().unwrap_or_default();
        let lifetime = Lifetime::new(&format!("'{name}"), span);
        self.taken.push(name);
        self.elided.push(lifetime.clone());
        lifetime
    }

    /// Returns the lifetime of elided lifetimes in the result: that of a reference to `Self`, or the only one of the
    /// arguments.
    fn of_result(&self, receiver: Option<&Receiver>) -> Option<Lifetime> {
        if let Some(lifetime) = receiver.and_then(|receiver| of_self(&receiver.ty, receiver.reference.as_ref())) {
            return Some(lifetime);
        }
        match (&*self.elided, &*self.named) {
            ([only], []) | ([], [only]) => Some(only.clone()),
            _ => None,
        }
    }
}

/// Returns the lifetime of the reference to `Self` in a receiver.
fn of_self(ty: &Type, reference: Option<&(Token![&], Option<Lifetime>)>) -> Option<Lifetime> {
    if let Some((_, lifetime)) = reference {
        return lifetime.clone();
    }
    match ty {
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if path.path.is_ident("Self") => reference.lifetime.clone(),
            inner => of_self(inner, None),
        },
        Type::Path(path) => match &path.path.segments.last()?.arguments {
            PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => of_self(ty, None),
                _ => None,
            }),
            _ => None,
        },
        _ => None,
    }
}

/// A visitor that names the elided lifetimes of a result.
struct NameResult {
    lifetime: Lifetime,
}

impl VisitMut for NameResult {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = Lifetime { apostrophe: lifetime.apostrophe, ident: self.lifetime.ident.clone() };
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime.get_or_insert_with(|| self.lifetime.clone());
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {}
    fn visit_type_bare_fn_mut(&mut self, _: &mut TypeBareFn) {}
    fn visit_expr_mut(&mut self, _: &mut syn::Expr) {}
}

/// Adds the names of the lifetimes among the tokens.
fn lifetime_names(tokens: TokenStream, names: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => lifetime_names(group.stream(), names),
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                if let Some(TokenTree::Ident(ident)) = tokens.peek() {
                    names.push(ident.to_string());
                }
            }
            _ => {}
        }
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
    fn in_parentheses(ty: &mut Type) {
        if let Type::ImplTrait(_) = ty {
            *ty = parse_quote_spanned!(ty.span()=> (#ty));
        }
    }
}

impl VisitMut for BoundImplTrait {
    fn visit_type_impl_trait_mut(&mut self, ty: &mut TypeImplTrait) {
        ty.bounds.insert(0, parse_quote_spanned!(ty.impl_token.span=> 'async_trait));
        visit_mut::visit_type_impl_trait_mut(self, ty);
    }

    fn visit_type_reference_mut(&mut self, ty: &mut TypeReference) {
        visit_mut::visit_type_reference_mut(self, ty);
        Self::in_parentheses(&mut ty.elem);
    }

    fn visit_type_ptr_mut(&mut self, ty: &mut TypePtr) {
        visit_mut::visit_type_ptr_mut(self, ty);
        Self::in_parentheses(&mut ty.elem);
    }

    fn visit_expr_mut(&mut self, _: &mut syn::Expr) {}
}

/// A visitor that changes `impl Trait` to `_`, since it cannot be the type of a variable.
struct InferImplTrait;

impl VisitMut for InferImplTrait {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::ImplTrait(_) = ty {
            *ty = parse_quote!(_);
        } else {
            visit_mut::visit_type_mut(self, ty);
        }
    }
}
