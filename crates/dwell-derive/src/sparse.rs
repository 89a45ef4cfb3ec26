//! `#[derive(Sparse)]`.

use crate::lints::allow_deprecated;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Error, Field, Fields, GenericParam, Index, LitStr, Member, Path, Result,
    Token, TypeParamBound, WherePredicate, parse_quote,
};

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let attributes = TypeAttributes::parse(&input.attrs)?;
    let dwell = &attributes.dwell;
    let name = &input.ident;

    let is_empty = is_empty_body(input, &attributes)?;
    let has_empty_parts = has_empty_parts(input, &attributes)?;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let mut bounded = input.generics.clone();
    if is_generic(input) || attributes.bound.is_some() {
        let predicates = &mut bounded.make_where_clause().predicates;
        match &attributes.bound {
            Some(bound) => predicates.extend(bound.iter().cloned()),
            None if attributes.eq => predicates.push(parse_quote!(Self: ::core::cmp::PartialEq)),
            // Whether an enum is its default variant does not depend on its type parameters.
            None if matches!(input.data, Data::Enum(_)) => {}
            None => predicates.extend(input.generics.type_params().map(|parameter| -> WherePredicate {
                let parameter = &parameter.ident;
                parse_quote!(#parameter: #dwell::sparse::IsEmpty)
            })),
        }
        // The type's own `Default` implementation determines which parameters must be `Default`.
        predicates.push(parse_quote!(Self: ::core::default::Default));
    }
    let is_empty_where = &bounded.where_clause;

    let const_default = const_default(input, &attributes)?;
    let default_ref = default_ref_body(input, dwell, const_default.is_some());
    let lent_where = lent_where(input, where_clause);
    let refuse_interior_mutability = refuse_interior_mutability(input, &attributes)?;
    let allow = allow_deprecated(input);
    Ok(quote! {
        const _: () = {
            #const_default

            #refuse_interior_mutability

            #[automatically_derived]
            #allow
            impl #impl_generics #dwell::sparse::IsEmpty for #name #type_generics #is_empty_where {
                fn is_empty(&self) -> ::core::primitive::bool {
                    #is_empty
                }

                #has_empty_parts
            }

            #[automatically_derived]
            #allow
            impl #impl_generics #dwell::sparse::DefaultRef for #name #type_generics #lent_where {
                fn default_ref<'__dwell>() -> &'__dwell Self
                where
                    Self: '__dwell,
                {
                    #default_ref
                }
            }
        };
    })
}

/// The arguments of `#[sparse(..)]` on the type.
struct TypeAttributes {
    eq: bool,
    constant: bool,
    bound: Option<Punctuated<WherePredicate, Token![,]>>,
    dwell: Path,
}

impl TypeAttributes {
    fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut found = Self { eq: false, constant: false, bound: None, dwell: parse_quote!(::dwell) };
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("sparse")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("eq") {
                    found.eq = true;
                } else if meta.path.is_ident("const") {
                    found.constant = true;
                } else if meta.path.is_ident("bound") {
                    let text: LitStr = meta.value()?.parse()?;
                    found.bound = Some(text.parse_with(Punctuated::parse_terminated)?);
                } else if meta.path.is_ident("crate") {
                    found.dwell = meta.value()?.parse::<LitStr>()?.parse()?;
                } else {
                    return Err(meta.error("expected `eq`, `const`, `bound = \"..\"` or `crate = \"..\"`"));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}

fn is_empty_body(input: &DeriveInput, attributes: &TypeAttributes) -> Result<TokenStream> {
    // An attribute without effect is an error.
    let useless: Vec<&Attribute> = match &input.data {
        Data::Enum(data) => data
            .variants
            .iter()
            .flat_map(|variant| variant.attrs.iter().chain(variant.fields.iter().flat_map(|field| &field.attrs)))
            .collect(),
        Data::Struct(data) if attributes.eq => data.fields.iter().flat_map(|field| &field.attrs).collect(),
        _ => Vec::new(),
    };
    for attribute in useless.iter().filter(|attribute| attribute.path().is_ident("sparse")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident(ALLOW_INTERIOR_MUTABILITY) {
                return Ok(());
            }
            Err(Error::new(attribute.span(), "this has no effect: the value is compared as a whole"))
        })?;
    }
    if attributes.eq {
        return Ok(quote!(*self == <Self as ::core::default::Default>::default()));
    }
    match &input.data {
        Data::Struct(data) => struct_is_empty(input, &data.fields, attributes),
        Data::Enum(data) => enum_is_empty(input, data, attributes),
        Data::Union(_) => Err(Error::new(input.ident.span(), "`Sparse` cannot be derived for a union")),
    }
}

/// Returns an expression that tests whether all fields are empty, both of the value and of the type's default.
fn struct_is_empty(input: &DeriveInput, fields: &Fields, attributes: &TypeAttributes) -> Result<TokenStream> {
    let dwell = &attributes.dwell;
    let all_empty = fields_are_empty(fields, dwell, "is_empty")?;
    if attributes.constant {
        // The derive implements `Default` itself, so that all fields of the default are empty.
        return Ok(all_empty);
    }
    let of_default = quote! {
        #dwell::sparse::IsEmpty::has_empty_parts(&<Self as ::core::default::Default>::default())
    };
    let default_is_empty = asked_once(input, dwell, &of_default);
    Ok(quote!(#all_empty && #default_is_empty))
}

/// Returns the body of a function of `IsEmpty`, which ends in the conjunction of `test` of all fields.
fn fields_are_empty(fields: &Fields, dwell: &Path, test: &str) -> Result<TokenStream> {
    let checks = fields
        .iter()
        .enumerate()
        .map(|(index, field)| field_is_empty(index, field, dwell, test))
        .collect::<Result<Vec<_>>>()?;
    let value = value();
    Ok(quote! {
        let #value = self;
        true #(&& #checks)*
    })
}

/// Returns `IsEmpty::has_empty_parts` of a struct that is compared by its fields.
fn has_empty_parts(input: &DeriveInput, attributes: &TypeAttributes) -> Result<Option<TokenStream>> {
    let Data::Struct(data) = &input.data else { return Ok(None) };
    if attributes.eq {
        return Ok(None);
    }
    let all_empty = fields_are_empty(&data.fields, &attributes.dwell, "has_empty_parts")?;
    Ok(Some(quote! {
        fn has_empty_parts(&self) -> ::core::primitive::bool {
            #all_empty
        }
    }))
}

/// Returns the identifier of the tested value, hygienic with respect to the user's names.
fn value() -> Ident {
    Ident::new("__dwell_value", Span::mixed_site())
}

/// Returns a test, cached where possible, of whether the type's own `Default` is empty.
fn asked_once(input: &DeriveInput, dwell: &Path, question: &TokenStream) -> TokenStream {
    // All instances of a generic function share a `static` in it, but their defaults may differ.
    if is_generic(input) {
        return question.clone();
    }
    quote! {{
        static DEFAULT: #dwell::sparse::DefaultIsEmpty = #dwell::sparse::DefaultIsEmpty::new();
        DEFAULT.get(|| #question)
    }}
}

fn field_is_empty(index: usize, field: &Field, dwell: &Path, test: &str) -> Result<TokenStream> {
    let member = match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(index)),
    };
    let kind = &field.ty;
    let span = kind.span();
    let value = value();
    let test = Ident::new(test, span);
    let is_empty = quote_spanned!(span=> <#kind as #dwell::sparse::IsEmpty>::#test);
    let mut check = quote!(#is_empty(&#value.#member));
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("sparse")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("eq") {
                let default = quote!(::core::default::Default);
                check = quote_spanned!(span=> #value.#member == <#kind as #default>::default());
            } else if meta.path.is_ident("is_empty") {
                let function: Path = meta.value()?.parse::<LitStr>()?.parse()?;
                check = quote_spanned!(span=> #function(&#value.#member));
            } else if !meta.path.is_ident(ALLOW_INTERIOR_MUTABILITY) {
                return Err(meta.error("expected `eq`, `is_empty = \"..\"` or `allow_interior_mutability`"));
            }
            Ok(())
        })?;
    }
    Ok(check)
}

/// Returns the variant marked `#[default]`, which `derive(Default)` and `#[sparse(const)]` require to be a unit
/// variant.
fn default_variant(data: &DataEnum) -> Option<&Ident> {
    let marked = |attributes: &[Attribute]| attributes.iter().any(|attribute| attribute.path().is_ident("default"));
    data.variants.iter().find(|variant| marked(&variant.attrs)).map(|variant| &variant.ident)
}

fn enum_is_empty(input: &DeriveInput, data: &DataEnum, attributes: &TypeAttributes) -> Result<TokenStream> {
    match default_variant(data) {
        Some(variant) if attributes.constant => Ok(quote!(::core::matches!(self, Self::#variant))),
        Some(variant) => {
            // The mark alone is not enough: other derives use `#[default]` too, and `Default` may be implemented
            // manually.
            let of_default = quote! {
                ::core::matches!(<Self as ::core::default::Default>::default(), Self::#variant)
            };
            let default_is_empty = asked_once(input, &attributes.dwell, &of_default);
            Ok(quote!(::core::matches!(self, Self::#variant) && #default_is_empty))
        }
        None => Err(Error::new(
            input.ident.span(),
            "which variant is empty? mark one `#[default]` and derive `Default`, or compare with `#[sparse(eq)]`",
        )),
    }
}

/// Implements `ConstDefault` for a type marked `#[sparse(const)]`, and `Default` from it, so that both agree.
fn const_default(input: &DeriveInput, attributes: &TypeAttributes) -> Result<Option<TokenStream>> {
    if !attributes.constant {
        return Ok(None);
    }
    let dwell = &attributes.dwell;
    let (name, allow) = (&input.ident, allow_deprecated(input));
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let value = match &input.data {
        Data::Struct(data) => {
            let members = data.fields.members();
            quote!(Self { #(#members: #dwell::sparse::ConstDefault::DEFAULT),* })
        }
        Data::Enum(data) => match default_variant(data) {
            Some(variant) => quote!(Self::#variant),
            None => return Err(Error::new(name.span(), "which variant is the default? mark one `#[default]`")),
        },
        Data::Union(_) => return Ok(None), // `is_empty_body` reports it
    };
    Ok(Some(quote! {
        #[automatically_derived]
        #allow
        impl #impl_generics ::core::default::Default for #name #type_generics #where_clause {
            fn default() -> Self {
                <Self as #dwell::sparse::ConstDefault>::DEFAULT
            }
        }

        #[automatically_derived]
        #allow
        impl #impl_generics #dwell::sparse::ConstDefault for #name #type_generics #where_clause {
            const DEFAULT: Self = #value;
        }
    }))
}

fn default_ref_body(input: &DeriveInput, dwell: &Path, constant: bool) -> TokenStream {
    // Shortening `'static` to the lifetimes of `Self` is subtyping, which the compiler rejects if the type is not
    // covariant.
    if needs_generic_cell(input) {
        let kind = lent_type(input);
        return quote! {
            static DEFAULTS: #dwell::sparse::GenericDefaultCell = #dwell::sparse::GenericDefaultCell::new();
            DEFAULTS.get::<#kind>()
        };
    }
    let kind = static_type(input);
    if constant {
        return quote! {
            static DEFAULT: #kind = <#kind as #dwell::sparse::ConstDefault>::DEFAULT;
            &DEFAULT
        };
    }
    quote! {
        static DEFAULT: #dwell::sparse::DefaultCell<#kind> = #dwell::sparse::DefaultCell::new();
        DEFAULT.get()
    }
}

/// Returns whether the default cannot be in a `static` of its own type, which can name neither the type's parameters nor
/// `Self`.
fn needs_generic_cell(input: &DeriveInput) -> bool {
    is_generic(input) || bounds_name_lifetime(input)
}

/// Returns the type with `'static` for each of its lifetimes, which is the type of a default in a `static`.
fn static_type(input: &DeriveInput) -> TokenStream {
    let name = &input.ident;
    let arguments = input.generics.params.iter().map(|parameter| match parameter {
        GenericParam::Lifetime(_) => quote!('static),
        GenericParam::Type(parameter) => parameter.ident.to_token_stream(),
        GenericParam::Const(parameter) => parameter.ident.to_token_stream(),
    });
    // `::<>` is valid in expressions too, such as the length of an array.
    quote!(#name::<#(#arguments),*>)
}

/// Replaces each lifetime parameter of the type among the tokens by `'static`, and `Self` by the type.
fn with_static(input: &DeriveInput, tokens: TokenStream) -> TokenStream {
    let mut replaced: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let after_quote = matches!(replaced.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '\'');
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), with_static(input, group.stream()));
                inner.set_span(group.span());
                replaced.push(TokenTree::Group(inner));
            }
            TokenTree::Ident(ident)
                if after_quote && input.generics.lifetimes().any(|parameter| parameter.lifetime.ident == ident) =>
            {
                replaced.push(TokenTree::Ident(Ident::new("static", ident.span())));
            }
            TokenTree::Ident(ident) if ident == "Self" => replaced.extend(static_type(input)),
            token => replaced.push(token),
        }
    }
    replaced.into_iter().collect()
}

/// Returns whether one of the tokens is an identifier for which `is_it` returns `true`.
fn mentions(tokens: TokenStream, is_it: &dyn Fn(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions(group.stream(), is_it),
        TokenTree::Ident(ident) => is_it(&ident),
        _ => false,
    })
}

/// Returns the bounds of the type's parameters and its `where` clause, with `'static` for each of its lifetimes.
fn static_predicates(input: &DeriveInput) -> TokenStream {
    let of_parameters =
        input.generics.type_params().filter(|parameter| !parameter.bounds.is_empty()).map(|parameter| {
            let (name, bounds) = (&parameter.ident, &parameter.bounds);
            quote!(#name: #bounds,)
        });
    let given = input.generics.where_clause.iter().flat_map(|clause| &clause.predicates).map(|given| quote!(#given,));
    with_static(input, of_parameters.chain(given).collect())
}

/// Returns the type of the shared default: `Self` with `'static` for its lifetimes, or `Self` unchanged.
///
/// It is `Self` unchanged if a trait bound names a lifetime (`T: Trait<'a>`). The type with `'static` would need the
/// bound for `'static` too, and the compiler could not choose between the two bounds (E0283).
fn lent_type(input: &DeriveInput) -> TokenStream {
    if bounds_name_lifetime(input) { quote!(Self) } else { static_type(input) }
}

/// Returns whether a trait bound names a lifetime of the type, by itself or in `Self`.
fn bounds_name_lifetime(input: &DeriveInput) -> bool {
    if input.generics.lifetimes().next().is_none() {
        return false;
    }
    let is_lifetime = |ident: &Ident| {
        ident == "Self" || input.generics.lifetimes().any(|parameter| parameter.lifetime.ident == *ident)
    };
    let names_lifetime = |tokens: TokenStream| mentions(tokens, &is_lifetime);
    // `Sized` has one implementation, whatever the lifetimes.
    let is_trait = |bound: &&TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_none_or(|last| last.ident != "Sized"),
        _ => false,
    };
    let in_bounds = |bounds: &Punctuated<TypeParamBound, Token![+]>| {
        bounds.iter().filter(is_trait).any(|bound| names_lifetime(bound.to_token_stream()))
    };
    let given = input.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let in_where = given.into_iter().any(|predicate| match predicate {
        WherePredicate::Type(predicate) => {
            let of_type = names_lifetime(predicate.bounded_ty.to_token_stream());
            of_type && predicate.bounds.iter().any(|bound| is_trait(&bound)) || in_bounds(&predicate.bounds)
        }
        _ => false,
    });
    in_where || input.generics.type_params().any(|parameter| in_bounds(&parameter.bounds))
}

fn lent_where(input: &DeriveInput, where_clause: Option<&syn::WhereClause>) -> TokenStream {
    if !needs_generic_cell(input) {
        return quote!(#where_clause);
    }
    let given = where_clause.into_iter().flat_map(|clause| &clause.predicates);
    let kind = lent_type(input);
    // With `'static`, `T: 'a` becomes `T: 'static`.
    let of_static = input.generics.lifetimes().next().map(|_| {
        let parameters = input.generics.type_params().map(|parameter| &parameter.ident);
        quote!(#(#parameters: 'static,)*)
    });
    quote! {
        where
            #(#given,)*
            #of_static
            #kind: ::core::default::Default + ::core::marker::Send + ::core::marker::Sync + 'static
    }
}

/// The attribute that accepts a field which can be written through `&`.
const ALLOW_INTERIOR_MUTABILITY: &str = "allow_interior_mutability";

/// Returns items that compile only if no field has interior mutability: a constant must not borrow such a value
/// (E0492). The compiler checks the type and never creates the value.
fn refuse_interior_mutability(input: &DeriveInput, attributes: &TypeAttributes) -> Result<TokenStream> {
    let fields: Vec<&Field> = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        // With `#[sparse(const)]` the default of an enum is a variant without fields.
        Data::Enum(_) if attributes.constant => Vec::new(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(), // `is_empty_body` reports it
    };
    // The derive does not know the types for type parameters, which `Self` names too.
    let is_generic = input.generics.type_params().next().is_some();
    let is_unknown = |ident: &Ident| {
        is_generic && ident == "Self" || input.generics.type_params().any(|parameter| parameter.ident == *ident)
    };
    let mut checks = Vec::new();
    for (index, field) in fields.into_iter().enumerate() {
        if allows_interior_mutability(field)? || mentions(field.ty.to_token_stream(), &is_unknown) {
            continue;
        }
        let dwell = &attributes.dwell;
        let (name, kind) = (format_ident!("FIELD_{index}"), with_static(input, field.ty.to_token_stream()));
        let value = at(field.ty.span(), quote!(&#dwell::sparse::any_value()));
        checks.push(quote!(const #name: &'static #kind = #value;));
    }
    if checks.is_empty() {
        return Ok(TokenStream::new());
    }
    let parameters = input.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(parameter) => Some(parameter.ident.to_token_stream()),
        GenericParam::Const(parameter) => {
            let (name, kind) = (&parameter.ident, &parameter.ty);
            Some(quote!(const #name: #kind))
        }
    });
    let (predicates, allow) = (static_predicates(input), allow_deprecated(input));
    // The compiler checks the constants of a trait, but evaluates them only where they are used.
    Ok(quote! {
        #allow
        #[allow(clippy::all, clippy::pedantic)]
        trait __NoInteriorMutability<#(#parameters),*>
        where
            #predicates
        {
            #(#checks)*
        }
    })
}

/// Moves tokens to `span`, so that the compiler reports their errors there.
fn at(span: Span, tokens: TokenStream) -> TokenStream {
    let moved = tokens.into_iter().map(|mut token| {
        token.set_span(span);
        token
    });
    moved.collect()
}

fn allows_interior_mutability(field: &Field) -> Result<bool> {
    let mut allowed = false;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("sparse")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident(ALLOW_INTERIOR_MUTABILITY) {
                allowed = true;
            } else if meta.input.peek(Token![=]) {
                meta.value()?.parse::<LitStr>()?; // belongs to another attribute
            }
            Ok(())
        })?;
    }
    Ok(allowed)
}

/// Returns whether the type is generic over more than lifetimes.
fn is_generic(input: &DeriveInput) -> bool {
    input.generics.params.iter().any(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
}
