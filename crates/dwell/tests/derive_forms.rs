//! The derives in code that is unlike most: names that they use, lints that are forbidden, attributes and types of every kind.
#![cfg(all(feature = "std", feature = "derive"))]
#![allow(
    clippy::non_minimal_cfg,
    clippy::derivable_impls,
    clippy::pub_underscore_fields,
    clippy::struct_field_names,
    clippy::trivially_copy_pass_by_ref,
    clippy::useless_vec,
    reason = "what is tested"
)]
#![forbid(
    dead_code,
    deprecated,
    unsafe_code,
    unused_mut,
    unused_variables,
    unused_imports,
    unused_must_use,
    unused_lifetimes,
    unused_results,
    unused_assignments,
    unreachable_code,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    single_use_lifetimes,
    mismatched_lifetime_syntaxes,
    let_underscore_drop,
    missing_docs,
    missing_debug_implementations,
    missing_copy_implementations,
    trivial_bounds,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    non_camel_case_types,
    rust_2018_idioms,
    rust_2021_compatibility,
    rust_2024_compatibility,
    future_incompatible
)]

use dwell::weigh::Weigh as Weighs;

/// The names that the macros use are taken.
mod shadowed {
    mod core {}
    mod std {}
    mod dwell {}
    mod alloc {}
    struct Option;
    struct Some;
    struct None;
    struct Box;
    struct Vec;
    struct Default;
    struct Sized;
    struct Send;
    struct PhantomData;
    struct Walk;
    struct Reach;
    type Result = u8;
    trait Weigh {}
    trait IsEmpty {}
    impl Weigh for Option {}
    impl IsEmpty for Option {}
    const VALUE: u8 = 1;
    macro_rules! matches {
        () => {};
    }
    macro_rules! size_of {
        () => {};
    }

    #[derive(::dwell::Weigh)]
    struct Named {
        walk: u8,
        value: String,
        reach: Result,
        sum: [u8; VALUE as usize],
        r#type: fn(&str) -> usize,
        __walk: String,
        part: String,
        field: (),
    }

    #[derive(::dwell::Weigh)]
    enum Either<T> {
        Self_(T),
        Walk { __field0: String, walk: u8, r#fn: T },
        Unit,
    }

    #[derive(::dwell::Sparse, ::dwell::Weigh)]
    #[sparse(const)]
    struct Constant {
        value: u8,
        __dwell_value: ::std::string::String,
        r#struct: ::core::option::Option<u8>,
    }

    #[derive(PartialEq)]
    struct Level(u8);
    impl ::core::default::Default for Level {
        fn default() -> Self {
            Self(0)
        }
    }

    #[derive(::dwell::Sparse)]
    struct Fields {
        value: u8,
        #[sparse(eq)]
        level: Level,
        #[sparse(is_empty = "is_zero")]
        number: u64,
    }
    impl ::core::default::Default for Fields {
        fn default() -> Self {
            Self { value: 0, level: Level(0), number: 0 }
        }
    }
    fn is_zero(number: &u64) -> bool {
        *number == 0
    }

    #[test]
    fn names_of_the_users_do_not_meet_those_of_the_derives() {
        matches!();
        size_of!();
        fn taken<T: Weigh + IsEmpty>() {}
        taken::<Option>();
        let types = (Option, Some, None, Box, Vec, Default, Sized, Send, PhantomData, Walk, Reach);
        assert_eq!(::core::mem::size_of_val(&types), 0);
        let named = Named {
            walk: 1,
            value: "a".into(),
            reach: 2,
            sum: [3],
            r#type: str::len,
            __walk: "bc".into(),
            part: "d".into(),
            field: (),
        };
        assert_eq!(usize::from(named.walk + named.reach + named.sum[0]) + (named.r#type)(&named.value), 7);
        assert_eq!((named.__walk.len(), named.part.len(), named.field), (2, 1, ()));
        assert_eq!(::dwell::weigh(&named).heap, 4);
        let tree = ::dwell::weigh::tree(&named);
        assert_eq!(tree.label(tree.nodes[0].children[4]), "type");
        let all = [
            Either::Self_(String::from("x")),
            Either::Walk { __field0: "yz".into(), walk: 0, r#fn: "f".into() },
            Either::Unit,
        ];
        assert!(all.iter().any(|one| ::core::matches!(one, Either::Walk { walk: 0, .. })));
        assert_eq!(::dwell::weigh(&all).heap, 4);
        let empty = ::dwell::Sparse::<Constant>::empty();
        assert_eq!((empty.value, &*empty.__dwell_value, empty.r#struct), (0, "", ::core::option::Option::None));
        assert!(::dwell::sparse::IsEmpty::is_empty(&Constant::default()));
        let fields = ::dwell::Sparse::<Fields>::empty();
        assert!(fields.value == 0 && fields.level.0 == 0 && fields.number == 0);
    }
}

/// Attributes on types, fields and variants.
mod attributes {
    use dwell::sparse::IsEmpty;
    use dwell::{Sparse, Weigh};

    /// A type.
    #[derive(Debug, Default, Clone, PartialEq, Sparse, Weigh)]
    #[cfg_attr(all(), sparse(crate = "::dwell"), weigh(crate = "::dwell"))]
    #[non_exhaustive]
    struct Attributes {
        /// A field.
        #[doc = "More."]
        kept: String,
        #[cfg(any())]
        missing: Missing,
        #[cfg(all())]
        present: u8,
        #[cfg_attr(all(), sparse(eq), weigh(skip))]
        other: Other,
    }

    #[derive(Debug, Default, Clone, PartialEq)]
    struct Other(u8);

    #[derive(Debug, Default, Clone, PartialEq, Sparse, Weigh)]
    enum Variants {
        /// A variant.
        #[default]
        Nothing,
        #[cfg(any())]
        Missing(Missing),
        #[cfg(all())]
        Present(#[cfg(any())] Missing, #[doc = "A field."] String),
        Named {
            #[cfg(any())]
            missing: Missing,
            text: String,
        },
    }

    #[test]
    fn conditional_fields_and_variants_are_left_out() {
        let of = Attributes { kept: "ab".into(), present: 0, other: Other(0) };
        assert_eq!(dwell::weigh(&of).heap, 2);
        assert!(!of.is_empty() && Attributes::default().is_empty());
        assert_eq!(of.other.0 + of.present, 0);
        let all = vec![Variants::Nothing, Variants::Present("a".into()), Variants::Named { text: "bc".into() }];
        assert_eq!(dwell::weigh(&all[..]).heap, 3);
        assert!(all[0].is_empty() && !all[1].is_empty());
    }
}

/// Generics of every kind.
mod generics {
    use super::Weighs;
    use dwell::{Sparse, Weigh};
    use std::fmt::Debug;
    use std::marker::PhantomData;

    trait Family {
        type Member: Weigh + Default + dwell::sparse::IsEmpty;
    }

    #[derive(Weigh)]
    struct Generic<'a, 'b: 'a, T: Debug + Clone = String, const N: usize = 2, U = Vec<T>>
    where
        U: IntoIterator<Item = T>,
        [T; N]: Sized,
    {
        array: [T; N],
        list: U,
        lent: &'a T,
        text: &'b str,
        this: Option<Box<Self>>,
        of_fields: fn(&Self, &'a T) -> &'b str,
    }

    #[derive(Weigh)]
    struct OfFamily<F: Family> {
        member: F::Member,
        members: Vec<<F as Family>::Member>,
        family: PhantomData<F>,
    }

    #[derive(Default, Sparse, Weigh)]
    struct Empties<T, const N: usize>
    where
        T: Default,
    {
        value: T,
        text: String,
    }

    struct Texts;
    impl Family for Texts {
        type Member = String;
    }

    macro_rules! list_of {
        ($of:ty) => {
            Vec<$of>
        };
    }

    macro_rules! declare {
        ($name:ident { $($field:ident: $of:ty),* }, $call:ty) => {
            #[derive(Weigh)]
            struct $name {
                $($field: $of,)*
                call: $call,
                macros: list_of!($($of)*),
            }
        };
    }

    declare!(Declared { list: Vec<String> }, Option<fn(&str) -> &str>);

    #[derive(Weigh)]
    #[repr(C, packed)]
    struct Packed(#[weigh(skip)] u8, #[weigh(skip)] u64);

    #[derive(Weigh)]
    #[repr(transparent)]
    struct Transparent<T: ?Sized>(T);

    #[derive(Weigh)]
    #[repr(C, align(64))]
    struct Aligned {
        text: String,
    }

    #[derive(Weigh)]
    #[repr(u8)]
    enum Numbered {
        One = 1,
        Seven(String) = 7,
    }

    #[test]
    fn generics_of_every_kind_are_weighed() {
        let text = String::from("abc");
        let make = |this| Generic::<'_, '_, String> {
            array: [text.clone(), text.clone()],
            list: vec![text.clone()],
            lent: &text,
            text: &text,
            this,
            of_fields: |this, _| this.text,
        };
        let of = make(Some(Box::new(make(None))));
        assert_eq!((of.of_fields)(&of, &text).len() + of.lent.len() + of.array.len() + of.list.len(), 9);
        assert!(of.this.as_ref().is_some_and(|this| this.this.is_none()));
        let one = 3 * 3 + size_of::<String>() as u64;
        assert_eq!(dwell::weigh(&of).heap, 2 * one + size_of_val(&of) as u64);

        let family = OfFamily::<Texts> { member: "a".into(), members: vec!["bc".into()], family: PhantomData };
        assert_eq!(dwell::weigh(&family).heap, 3 + size_of::<String>() as u64);
        assert_eq!((family.member.len(), family.members.len(), family.family), (1, 1, PhantomData));

        let empties = Sparse::<Empties<String, 3>>::empty();
        assert_eq!((&*empties.value, &*empties.text), ("", ""));
        let declared = Declared { list: Vec::new(), call: Some(|of| of), macros: vec![vec!["x".into()]] };
        assert!(declared.list.is_empty() && declared.call.is_some() && declared.macros.len() == 1);
        assert_eq!(dwell::weigh(&declared).heap, 2 * size_of::<String>() as u64 + 1);

        let Packed(one, two) = Packed(1, 2);
        assert_eq!(u64::from(one) + two, 3);
        assert_eq!((Packed::TYPE.size, Packed::TYPE.align), (9, 1));
        assert_eq!(<Transparent<u16>>::TYPE.size, 2);
        let transparent: Box<Transparent<[String]>> = Box::new(Transparent(["a".to_owned(), "bc".to_owned()]));
        assert_eq!(dwell::weigh(&transparent).heap, 3 + 2 * size_of::<String>() as u64);
        assert_eq!(transparent.0.len(), 2);
        let aligned = Aligned { text: "x".into() };
        assert_eq!((dwell::weigh(&aligned).inline, aligned.text.len()), (64, 1));
        let numbered = [Numbered::One, Numbered::Seven("x".into())];
        assert!(numbered.iter().any(|one| matches!(one, Numbered::Seven(text) if text == "x")));
        assert_eq!(dwell::weigh(&numbered).heap, 1);
    }
}
