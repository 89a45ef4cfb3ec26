//! `#[derive(Weigh)]`.
//!
//! The generated code names the implementation for each field in one form, `<Type as Weigh>::item`, outside the arguments of
//! calls. The compiler then reports a field without `Weigh` once: it leaves out messages that equal an earlier one.

use crate::lints::allow_deprecated;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Error, Expr, Field, Fields, GenericArgument, Generics, Index, LitStr,
    Member, Path, PathArguments, Result, ReturnType, Token, TraitBound, TraitBoundModifier, Type, TypeBareFn,
    TypeParamBound, TypePath, TypePtr, TypeReference, WherePredicate, parse_quote,
};

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let attributes = TypeAttributes::parse(&input.attrs)?;
    let dwell = &attributes.dwell;
    let repr = repr(&input.attrs)?;
    let name = &input.ident;
    let walk = Ident::new("__walk", Span::mixed_site());

    let plain = quote!(Plain);
    let mut parts: Vec<FieldPart<'_>> = Vec::new();
    let (kind, reach, body, vacant) = match &input.data {
        Data::Struct(data) => {
            let mut fields = field_parts(&data.fields)?;
            if let Some(last) = fields.last_mut() {
                last.is_tail = may_be_unsized(&last.field.ty, &input.generics);
            }
            if repr == Repr::Packed
                && let Some(part) = fields.iter().find(|part| !matches!(part.how, How::Skip))
            {
                let message = "a field of a packed struct cannot be borrowed: mark it `#[weigh(skip)]`, or implement \
                               `Weigh` by hand";
                return Err(Error::new(part.field.span(), message));
            }
            let described = fields.iter().map(|part| {
                let member = &part.member;
                part.described(dwell, &quote!(::core::option::Option::Some(::core::mem::offset_of!(Self, #member))))
            });
            let repr = Ident::new(repr.name(), Span::call_site());
            let kind = quote! {
                #dwell::weigh::Kind::Struct { fields: &[#(#described),*], repr: #dwell::weigh::Repr::#repr }
            };
            let steps = fields.iter().map(|part| {
                let member = &part.member;
                part.step(dwell, &walk, &quote!(&self.#member))
            });
            // Counts structs that equal their default, for which `Sparse` would need no block.
            let body = quote! {
                if __DWELL_TREE && <Self as #dwell::weigh::Weigh>::is_default(self) {
                    #walk.default_value();
                }
                #(#steps)*
            };
            let reach = reach_of(dwell, &plain, &fields);
            let checks = fields.iter().map(|part| part.vacant(dwell));
            let vacant = quote! {
                #[inline]
                fn is_vacant(&self) -> ::core::primitive::bool {
                    true #(&& #checks)*
                }
            };
            let defaults = fields.iter().map(|part| part.is_default(dwell));
            let vacant = quote! {
                #vacant

                #[inline]
                fn is_default(&self) -> ::core::primitive::bool {
                    true #(&& #defaults)*
                }
            };
            let count = fields.len();
            let prefetches = fields.iter().filter_map(|part| part.prefetch(dwell, count));
            let any = fields.iter().filter_map(|part| part.prefetches(dwell, count));
            let maps = fields.iter().filter_map(|part| part.vacant_maps(dwell));
            let vacant = quote! {
                const PREFETCHES: ::core::primitive::bool = false #(|| #any)*;
                const VACANT_MAPS: ::core::primitive::u64 = {
                    let sum: ::core::primitive::u64 = 0;
                    #(
                        let more = #maps;
                        let sum = sum.saturating_add(more);
                    )*
                    sum
                };

                #vacant

                #[inline]
                fn prefetch(value: ::core::option::Option<&Self>) {
                    let _ = value;
                    #(#prefetches)*
                }
            };
            parts.extend(fields);
            (kind, reach, body, vacant)
        }
        Data::Enum(data) => {
            let variants =
                data.variants.iter().map(|variant| field_parts(&variant.fields)).collect::<Result<Vec<_>>>()?;
            let (kind, body) = enum_walk(data, &variants, dwell, &walk)?;
            let all: Vec<_> = variants.into_iter().flatten().collect();
            let parts_reach = quote!(of_parts(::core::mem::size_of::<Self>()));
            let reach = reach_of(dwell, if all.is_empty() { &plain } else { &parts_reach }, &all);
            parts.extend(all);
            let default = data.variants.iter().find(|variant| {
                matches!(variant.fields, Fields::Unit) && variant.attrs.iter().any(|it| it.path().is_ident("default"))
            });
            let vacant = default.map(|variant| {
                let ident = &variant.ident;
                quote! {
                    #[inline]
                    fn is_default(&self) -> ::core::primitive::bool {
                        ::core::matches!(self, Self::#ident)
                    }
                }
            });
            (kind, reach, body, vacant.unwrap_or_default())
        }
        Data::Union(_) => {
            return Err(Error::new(input.ident.span(), "`Weigh` cannot be derived for a union"));
        }
    };

    let has_discriminants =
        matches!(&input.data, Data::Enum(data) if data.variants.iter().any(|it| it.discriminant.is_some()));
    let is_enum = matches!(&input.data, Data::Enum(_));
    let is_by_hand = has_discriminants || is_enum && repr != Repr::Rust || is_laid_out_by_hand(&input.attrs)?;
    let is_regular = !is_by_hand;
    let shown_as = attributes.name.as_ref().map(|name| quote!(.shown_as(#name)));
    let (import, described) = match parts.last().filter(|part| part.is_tail) {
        None => (None, quote!(#dwell::weigh::Type::new::<Self>(#kind))),
        Some(part) => {
            // Nothing is known of a type that the walk skips, so it counts as unsized.
            let (inferred, tail) = match (&part.how, &part.inferred) {
                (How::Itself, None) => (part.field.ty.to_token_stream(), part.field.ty.to_token_stream()),
                (How::Itself, Some(inferred)) => (inferred.to_token_stream(), part.field.ty.to_token_stream()),
                _ => (quote!(::core::primitive::str), quote!(::core::primitive::str)),
            };
            let tail = quote!(::core::marker::PhantomData::<#tail>);
            let sizes = quote!(#dwell::weigh::SizesOf::<Self>::KNOWN);
            let import = quote!(use #dwell::weigh::SizesUnknown as _;);
            (Some(import), quote!(#dwell::weigh::Type::with_tail::<Self, #inferred>(#tail, #kind, #sizes)))
        }
    };
    let mut generics = input.generics.clone();
    let predicates = bounds(input, &attributes, &parts);
    generics.make_where_clause().predicates.extend(predicates);
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (_, type_generics, _) = input.generics.split_for_impl();
    let allow = allow_deprecated(input);
    Ok(quote! {
        #[automatically_derived]
        #allow
        impl #impl_generics #dwell::weigh::Weigh for #name #type_generics #where_clause {
            const REACH: #dwell::weigh::Reach = #reach;
            const TYPE: &'static #dwell::weigh::Type = {
                #import
                &#described.derived(#is_regular) #shown_as
            };

            #vacant

            #[inline]
            fn weigh<'__dwell_a, '__dwell_v, const __DWELL_TREE: ::core::primitive::bool>(
                &'__dwell_a self,
                #walk: &mut #dwell::weigh::Walk<'__dwell_a, '__dwell_v, __DWELL_TREE>,
            ) where
                Self: '__dwell_v,
            {
                let _ = &#walk;
                #body
            }
        }
    })
}

/// The arguments of `#[weigh(..)]` on the type.
struct TypeAttributes {
    name: Option<LitStr>,
    bound: Option<Punctuated<WherePredicate, Token![,]>>,
    dwell: Path,
}

impl TypeAttributes {
    fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut found = Self { name: None, bound: None, dwell: parse_quote!(::dwell) };
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("weigh")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("name") {
                    found.name = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("bound") {
                    let text: LitStr = meta.value()?.parse()?;
                    found.bound = Some(text.parse_with(Punctuated::parse_terminated)?);
                } else if meta.path.is_ident("crate") {
                    found.dwell = meta.value()?.parse::<LitStr>()?.parse()?;
                } else {
                    return Err(meta.error("expected `name = \"..\"`, `bound = \"..\"` or `crate = \"..\"`"));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}

/// The order of the fields, from `#[repr(..)]`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repr {
    Rust,
    C,
    Packed,
}

impl Repr {
    fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::C => "C",
            Self::Packed => "Packed",
        }
    }
}

fn repr(attributes: &[Attribute]) -> Result<Repr> {
    let mut found = Repr::Rust;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        let items = attribute.parse_args_with(Punctuated::<syn::Meta, Token![,]>::parse_terminated)?;
        for item in items {
            if item.path().is_ident("packed") {
                found = Repr::Packed;
            } else if item.path().is_ident("C") && found == Repr::Rust {
                found = Repr::C;
            }
        }
    }
    Ok(found)
}

/// Returns whether `#[repr(..)]` determines the layout of an enum or the alignment of a struct.
fn is_laid_out_by_hand(attributes: &[Attribute]) -> Result<bool> {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        let items = attribute.parse_args_with(Punctuated::<syn::Meta, Token![,]>::parse_terminated)?;
        let is_known = |item: &syn::Meta| ["Rust", "transparent"].iter().any(|known| item.path().is_ident(known));
        let is_order = |item: &syn::Meta| ["C", "packed"].iter().any(|known| item.path().is_ident(known));
        if items.iter().any(|item| !is_known(item) && !is_order(item)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A field, and the way in which the walk measures it.
struct FieldPart<'a> {
    field: &'a Field,
    index: usize,
    member: Member,
    name: String,
    how: How,
    /// The type with `_` in place of the arguments of functions, if it has any.
    inferred: Option<Type>,
    /// Whether this is the last field of a struct and may be unsized.
    is_tail: bool,
}

enum How {
    /// By its implementation of `Weigh`.
    Itself,
    Skip,
    /// By a function.
    With(Path),
    /// As a shared pointer.
    Shared,
}

fn field_parts(fields: &Fields) -> Result<Vec<FieldPart<'_>>> {
    fields.iter().enumerate().map(|(index, field)| FieldPart::new(index, field)).collect()
}

impl<'a> FieldPart<'a> {
    fn new(index: usize, field: &'a Field) -> Result<Self> {
        let member = match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(Index::from(index)),
        };
        let mut name = match &member {
            Member::Named(name) => name.to_string().trim_start_matches("r#").to_owned(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        let mut how = How::Itself;
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("weigh")) {
            attribute.parse_nested_meta(|meta| {
                let chosen = if meta.path.is_ident("name") {
                    name = meta.value()?.parse::<LitStr>()?.value();
                    return Ok(());
                } else if meta.path.is_ident("skip") {
                    How::Skip
                } else if meta.path.is_ident("shared") {
                    How::Shared
                } else if meta.path.is_ident("with") {
                    How::With(meta.value()?.parse::<LitStr>()?.parse()?)
                } else {
                    return Err(meta.error("expected `skip`, `shared`, `with = \"..\"` or `name = \"..\"`"));
                };
                if !matches!(how, How::Itself) {
                    return Err(meta.error("only one of `skip`, `shared` and `with` can be used"));
                }
                how = chosen;
                Ok(())
            })?;
        }
        let inferred = if let How::Itself = how { inferred(&field.ty) } else { None };
        Ok(Self { field, index, member, name, how, inferred, is_tail: false })
    }

    /// Returns the expression of the field's `weigh::Field`.
    fn described(&self, dwell: &Path, offset: &TokenStream) -> TokenStream {
        let (ty, name) = (&self.field.ty, &self.name);
        let field = quote!(#dwell::weigh::Field);
        let made = match (&self.how, &self.inferred) {
            (How::Itself, _) if self.is_tail => {
                let inferred = self.inferred.as_ref().unwrap_or(ty);
                let tail = quote_spanned!(ty.span()=> tail::<#inferred>);
                quote!(#field::#tail(::core::marker::PhantomData::<#ty>, #name))
            }
            (How::Skip, _) if self.is_tail => {
                quote!(#field::skipped_tail::<#ty>(#name, #dwell::weigh::SizesOf::<#ty>::KNOWN))
            }
            (How::Itself, None) => {
                let part = self.of_trait(dwell, &quote!(__part));
                quote!(#field::with_part::<#ty>(#name, #offset, #part))
            }
            (How::Itself, Some(inferred)) => {
                quote!(#field::new_as::<#inferred>(::core::marker::PhantomData::<#ty>, #name, #offset))
            }
            (How::Skip, _) => quote!(#field::skipped::<#ty>(#name, #offset)),
            (How::With(_), _) => quote!(#field::opaque::<#ty>(#name, #offset)),
            (How::Shared, _) => {
                let shared = quote_spanned!(ty.span()=> shared::<#ty>);
                quote!(#field::#shared(#name, #offset))
            }
        };
        let is_serdes =
            |attribute: &&Attribute| attribute.path().is_ident("serde") || attribute.path().is_ident("serde_with");
        let kept: Vec<String> =
            self.field.attrs.iter().filter(is_serdes).map(|attribute| source(&attribute.to_token_stream())).collect();
        let kept = kept.join("\n");
        let kept = if kept.is_empty() { TokenStream::new() } else { quote!(.with_attributes(#kept)) };
        quote!(#made #kept)
    }

    /// Returns the path of an item of the implementation for the field's type, at the location of the type.
    fn of_trait(&self, dwell: &Path, item: &TokenStream) -> TokenStream {
        let ty = self.inferred.as_ref().unwrap_or(&self.field.ty);
        quote_spanned!(ty.span()=> <#ty as #dwell::weigh::Weigh>::#item)
    }

    /// Returns the expression of a constant of the implementation for the field's type, which [`Facts`] has as `fact`.
    fn constant(&self, dwell: &Path, name: &TokenStream, fact: &TokenStream) -> TokenStream {
        match &self.inferred {
            None => self.of_trait(dwell, name),
            Some(inferred) => {
                let ty = &self.field.ty;
                quote!(#dwell::weigh::facts_of::<#inferred>(::core::marker::PhantomData::<#ty>).#fact)
            }
        }
    }

    fn vacant_maps(&self, dwell: &Path) -> Option<TokenStream> {
        let is_itself = matches!(self.how, How::Itself);
        is_itself.then(|| self.constant(dwell, &quote!(VACANT_MAPS), &quote!(vacant_maps)))
    }

    /// Returns the expression of the field's `Reach`, or `None` if the walk skips the field.
    fn reach(&self, dwell: &Path) -> Option<TokenStream> {
        match self.how {
            How::Itself => Some(self.constant(dwell, &quote!(REACH), &quote!(reach))),
            How::Skip => None,
            How::With(_) | How::Shared => Some(quote!(#dwell::weigh::Reach::Heap)),
        }
    }

    /// Returns the test of whether the field is vacant. A field that the walk skips is vacant only if its type has size
    /// 0.
    fn vacant(&self, dwell: &Path) -> TokenStream {
        let (ty, member) = (&self.field.ty, &self.member);
        if let How::Itself = self.how {
            let is_vacant = self.of_trait(dwell, &quote!(is_vacant));
            quote!(#is_vacant(&self.#member))
        } else if self.is_tail {
            quote!(::core::mem::size_of_val(&self.#member) == 0)
        } else {
            quote!(::core::mem::size_of::<#ty>() == 0)
        }
    }

    /// Returns the test of whether the field equals the default of its type.
    fn is_default(&self, dwell: &Path) -> TokenStream {
        let (ty, member) = (&self.field.ty, &self.member);
        if let How::Itself = self.how {
            let is_default = self.of_trait(dwell, &quote!(is_default));
            quote!(#is_default(&self.#member))
        } else if self.is_tail {
            quote!(::core::mem::size_of_val(&self.#member) == 0)
        } else {
            quote!(::core::mem::size_of::<#ty>() == 0)
        }
    }

    /// Returns the statement that prefetches the target of the field. `value` is the struct as an `Option`.
    fn prefetch(&self, dwell: &Path, fields: usize) -> Option<TokenStream> {
        let member = &self.member;
        let does = self.prefetches(dwell, fields)?;
        let prefetch = self.of_trait(dwell, &quote!(prefetch));
        Some(quote! {
            if #does {
                #prefetch(::core::option::Option::map(value, |value| &value.#member))
            }
        })
    }

    /// Returns the constant that is `true` if `prefetch` has an effect.
    fn prefetches(&self, dwell: &Path, fields: usize) -> Option<TokenStream> {
        if !matches!(self.how, How::Itself) || self.inferred.is_some() {
            return None;
        }
        let name = if fields <= FEW_FIELDS { quote!(PREFETCHES) } else { quote!(PREFETCHES_AMONG_MANY) };
        Some(self.of_trait(dwell, &name))
    }

    /// Returns the step of the walk into the field; `value` is a reference to the field.
    fn step(&self, dwell: &Path, walk: &Ident, value: &TokenStream) -> TokenStream {
        let (ty, index) = (&self.field.ty, self.index);
        match &self.how {
            How::Itself if self.is_tail || self.inferred.is_some() => {
                let ty = self.inferred.as_ref().unwrap_or(ty);
                quote!(#walk.field::<#ty>(#index, #value);)
            }
            How::Itself => {
                let follow = self.of_trait(dwell, &quote!(__follow));
                quote!(#follow(#value, #index, #walk);)
            }
            How::Skip => TokenStream::new(),
            How::With(path) => quote_spanned!(path.span()=> #walk.add::<#ty>(#index, #path(#value));),
            How::Shared => quote_spanned!(ty.span()=> #walk.shared::<#ty>(#index, #value);),
        }
    }
}

/// Formats tokens like source: without spaces around `::` and inside brackets.
fn source(tokens: &TokenStream) -> String {
    let mut text = tokens.to_string();
    for (from, to) in [("# [", "#["), (" (", "("), ("( ", "("), (" )", ")"), (" ,", ","), (" :: ", "::"), (" ]", "]")] {
        text = text.replace(from, to);
    }
    text
}

/// The number of fields up to which each one is worth a prefetch.
const FEW_FIELDS: usize = 3;

/// Returns the expression of the largest `Reach` of the parts, and at least the `least` of the items of `Reach`.
fn reach_of(dwell: &Path, least: &TokenStream, parts: &[FieldPart<'_>]) -> TokenStream {
    let reaches = parts.iter().filter_map(|part| part.reach(dwell));
    quote!({
        let reach = #dwell::weigh::Reach::#least;
        #(
            let of_field = #reaches;
            let reach = reach.max(of_field);
        )*
        reach
    })
}

fn enum_walk(
    data: &DataEnum,
    variants: &[Vec<FieldPart<'_>>],
    dwell: &Path,
    walk: &Ident,
) -> Result<(TokenStream, TokenStream)> {
    let mut described = Vec::new();
    let mut arms = Vec::new();
    for (index, (variant, parts)) in data.variants.iter().zip(variants).enumerate() {
        if let Some(attribute) = variant.attrs.iter().find(|attribute| attribute.path().is_ident("weigh")) {
            return Err(Error::new(attribute.span(), "`#[weigh(..)]` is allowed only on the type or a field"));
        }
        let (ident, name) = (&variant.ident, variant.ident.to_string());
        let fields = parts.iter().map(|part| part.described(dwell, &quote!(::core::option::Option::None)));
        described.push(quote!(#dwell::weigh::Variant::new(#name, &[#(#fields),*])));
        let members = parts.iter().map(|part| &part.member);
        let bindings = parts.iter().map(|part| match part.how {
            How::Skip => quote!(_),
            _ => format_ident!("__field{}", part.index, span = Span::mixed_site()).into_token_stream(),
        });
        let steps = parts.iter().map(|part| {
            let binding = format_ident!("__field{}", part.index, span = Span::mixed_site());
            part.step(dwell, walk, &binding.into_token_stream())
        });
        arms.push(quote! {
            Self::#ident { #(#members: #bindings),* } => #walk.variant(#index, |#walk| {
                let _ = &#walk;
                #(#steps)*
            }),
        });
    }
    let kind = quote!(#dwell::weigh::Kind::Enum { variants: &[#(#described),*] });
    let body = if arms.is_empty() { quote!(match *self {}) } else { quote!(match self { #(#arms)* }) };
    Ok((kind, body))
}

/// Returns `T: Weigh` for each type parameter that a walk reaches, and `Field: Weigh` for the type of each field that
/// names an associated type of a parameter.
fn bounds(input: &DeriveInput, attributes: &TypeAttributes, parts: &[FieldPart<'_>]) -> Vec<WherePredicate> {
    if let Some(bound) = &attributes.bound {
        return bound.iter().cloned().collect();
    }
    let dwell = &attributes.dwell;
    let parameters: Vec<&Ident> = input.generics.type_params().map(|parameter| &parameter.ident).collect();
    let mut used = vec![false; parameters.len()];
    let mut predicates = Vec::new();
    for part in parts.iter().filter(|part| matches!(part.how, How::Itself)) {
        let ty = &part.field.ty;
        let mut projects = false;
        uses(ty, &mut |tokens| {
            let is_projection = matches!(tokens, Found::Projection(_));
            let (Found::Projection(tokens) | Found::Tokens(tokens)) = tokens;
            let mut tokens = tokens.into_iter().peekable();
            while let Some(token) = tokens.next() {
                let TokenTree::Ident(ident) = &token else { continue };
                let Some(at) = parameters.iter().position(|parameter| *parameter == ident) else { continue };
                let is_path = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                if is_projection || is_path {
                    projects = true;
                } else {
                    used[at] = true;
                }
            }
        });
        if projects {
            predicates.push(parse_quote!(#ty: #dwell::weigh::Weigh));
        }
    }
    for (parameter, _) in parameters.iter().zip(used).filter(|(_, used)| *used) {
        predicates.push(parse_quote!(#parameter: #dwell::weigh::Weigh));
    }
    for part in parts.iter().filter(|part| matches!(part.how, How::Shared)) {
        // Only a generic type needs the bound.
        let ty = &part.field.ty;
        let mut generic = false;
        uses_anywhere(ty.to_token_stream(), &parameters, &mut generic);
        if generic {
            predicates.push(parse_quote!(#ty: ::core::ops::Deref<Target: #dwell::weigh::Weigh>));
        }
    }
    predicates
}

/// Tokens of a type that may name type parameters.
enum Found {
    Tokens(TokenStream),
    /// `<T as Trait>::Type`, which is another type than `T`.
    Projection(TokenStream),
}

/// Calls `found` with the parts of a type that a walk may reach.
///
/// It omits those behind references and raw pointers, and those in function types and `PhantomData`.
fn uses(ty: &Type, found: &mut impl FnMut(Found)) {
    match ty {
        Type::Reference(_) | Type::Ptr(_) | Type::BareFn(_) | Type::Never(_) => {}
        Type::Paren(inner) => uses(&inner.elem, found),
        Type::Group(inner) => uses(&inner.elem, found),
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| uses(ty, found)),
        Type::Array(array) => uses(&array.elem, found),
        Type::Slice(slice) => uses(&slice.elem, found),
        Type::Path(path) if path.qself.is_none() => {
            let Some(last) = path.path.segments.last() else { return };
            if last.ident == "PhantomData" {
                return;
            }
            match &last.arguments {
                PathArguments::AngleBracketed(arguments) => {
                    for argument in &arguments.args {
                        match argument {
                            GenericArgument::Type(ty) => uses(ty, found),
                            GenericArgument::Lifetime(_) | GenericArgument::Const(_) => {}
                            other => found(Found::Tokens(flat(other.to_token_stream()))),
                        }
                    }
                }
                _ => found(Found::Tokens(path.to_token_stream())),
            }
        }
        Type::Path(path) => found(Found::Projection(flat(path.to_token_stream()))),
        // `Fn` objects are opaque, whatever their arguments.
        Type::TraitObject(object) => object.bounds.iter().for_each(|bound| match bound {
            TypeParamBound::Trait(bound)
                if bound.path.segments.last().is_some_and(|last| {
                    !last.arguments.is_empty() && !matches!(last.arguments, PathArguments::Parenthesized(_))
                }) =>
            {
                found(Found::Tokens(flat(bound.to_token_stream())));
            }
            _ => {}
        }),
        other => found(Found::Tokens(flat(other.to_token_stream()))),
    }
}

/// Returns the type with `_` in place of the arguments and results of functions, or `None` if no part that a walk reaches is a
/// function with arguments.
///
/// `for<'a> fn(&'a str)` is a subtype of `fn(_)`, and the compiler infers the argument. An implementation of a trait for
/// `fn(A)` does not cover the former: `A` stands for one type, and `&'a str` is one for each lifetime.
fn inferred(ty: &Type) -> Option<Type> {
    let mut infer = InferArguments { found: false };
    let mut ty = ty.clone();
    infer.visit_type_mut(&mut ty);
    infer.found.then_some(ty)
}

struct InferArguments {
    found: bool,
}

/// Types with interior mutability: a cell of a subtype is no subtype. And those of which a walk does not read the parameter.
const NOT_COVARIANT: [&str; 13] = [
    "AtomicPtr",
    "Cell",
    "LazyCell",
    "LazyLock",
    "Mutex",
    "OnceCell",
    "OnceLock",
    "PhantomData",
    "RefCell",
    "ReentrantLock",
    "RwLock",
    "SyncUnsafeCell",
    "UnsafeCell",
];

impl InferArguments {
    fn parenthesized(&mut self, arguments: &mut PathArguments) {
        if let PathArguments::Parenthesized(arguments) = arguments
            && !arguments.inputs.is_empty()
        {
            self.found = true;
            arguments.inputs.iter_mut().for_each(|input| *input = parse_quote!(_));
            Self::result(&mut arguments.output);
        }
    }

    fn result(output: &mut ReturnType) {
        if let ReturnType::Type(_, output) = output
            && !matches!(&**output, Type::Never(_))
        {
            **output = parse_quote!(_);
        }
    }
}

impl VisitMut for InferArguments {
    fn visit_type_bare_fn_mut(&mut self, function: &mut TypeBareFn) {
        if function.inputs.is_empty() {
            return;
        }
        self.found = true;
        function.lifetimes = None;
        for input in &mut function.inputs {
            input.name = None;
            input.ty = parse_quote!(_);
        }
        Self::result(&mut function.output);
    }

    fn visit_trait_bound_mut(&mut self, bound: &mut TraitBound) {
        if let Some(last) = bound.path.segments.last_mut()
            && matches!(last.arguments, PathArguments::Parenthesized(_))
        {
            bound.lifetimes = None;
            self.parenthesized(&mut last.arguments);
        }
    }

    fn visit_type_path_mut(&mut self, path: &mut TypePath) {
        // The types in `<fn(&str) as Trait>::Output` determine another type.
        if path.qself.is_some() {
            return;
        }
        let Some(last) = path.path.segments.last_mut() else { return };
        if NOT_COVARIANT.iter().any(|name| last.ident == name) {
            return;
        }
        match &mut last.arguments {
            // A trait object without `dyn`, as in edition 2015.
            arguments @ PathArguments::Parenthesized(_) => self.parenthesized(arguments),
            arguments => self.visit_path_arguments_mut(arguments),
        }
    }

    fn visit_type_reference_mut(&mut self, _: &mut TypeReference) {}
    fn visit_type_ptr_mut(&mut self, _: &mut TypePtr) {}
    fn visit_expr_mut(&mut self, _: &mut Expr) {}
}

/// Returns whether the type of a struct's last field may be unsized: a slice, `str`, a trait object, a type parameter that is
/// `?Sized`, or another struct with one of these as an argument.
fn may_be_unsized(ty: &Type, generics: &Generics) -> bool {
    match ty {
        Type::Slice(_) | Type::TraitObject(_) => true,
        Type::Paren(inner) => may_be_unsized(&inner.elem, generics),
        Type::Group(inner) => may_be_unsized(&inner.elem, generics),
        Type::Path(path) if path.qself.is_none() => {
            if let Some(ident) = path.path.get_ident()
                && generics.type_params().any(|parameter| parameter.ident == *ident)
            {
                return is_maybe_sized(ident, generics);
            }
            let Some(last) = path.path.segments.last() else { return false };
            match &last.arguments {
                PathArguments::None => UNSIZED.iter().any(|name| last.ident == name),
                // A trait object without `dyn`, as in edition 2015.
                PathArguments::Parenthesized(_) => true,
                PathArguments::AngleBracketed(_) if SIZED.iter().any(|name| last.ident == name) => false,
                PathArguments::AngleBracketed(arguments) => arguments.args.iter().any(|argument| match argument {
                    GenericArgument::Type(ty) => may_be_unsized(ty, generics),
                    _ => false,
                }),
            }
        }
        _ => false,
    }
}

/// Unsized types of std.
const UNSIZED: [&str; 4] = ["str", "CStr", "OsStr", "Path"];

/// Types of std and Dwell that are sized and may have an unsized argument.
const SIZED: [&str; 9] = ["Arc", "Box", "Cow", "NonNull", "PhantomData", "Rc", "Slot", "SmallBox", "Weak"];

/// Returns whether a type parameter has the bound `?Sized`.
fn is_maybe_sized(parameter: &Ident, generics: &Generics) -> bool {
    let relaxes = |bounds: &Punctuated<TypeParamBound, Token![+]>| {
        bounds.iter().any(|bound| matches!(bound, TypeParamBound::Trait(bound) if matches!(bound.modifier, TraitBoundModifier::Maybe(_))))
    };
    let given = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let in_where = given.into_iter().any(|predicate| match predicate {
        WherePredicate::Type(predicate) => {
            matches!(&predicate.bounded_ty, Type::Path(path) if path.path.is_ident(parameter))
                && relaxes(&predicate.bounds)
        }
        _ => false,
    });
    in_where || generics.type_params().any(|param| param.ident == *parameter && relaxes(&param.bounds))
}

/// Flattens tokens: replaces each group by the tokens in it.
fn flat(tokens: TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Group(group) => flat(group.stream()),
            token => token.into(),
        })
        .collect()
}

fn uses_anywhere(tokens: TokenStream, parameters: &[&Ident], found: &mut bool) {
    *found |=
        flat(tokens).into_iter().any(|token| matches!(&token, TokenTree::Ident(ident) if parameters.contains(&ident)));
}
