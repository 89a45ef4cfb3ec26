// Written by generator.rs: DWELL_BLESS=1 cargo test -p dwell --features advice,derive --test weigh_what_if
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p0 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: u64, f1: Option<u64>, f2: Vec<u8>, f3: Option<Box<BTreeMap<u16, String>>> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<u64>(g), f1: option(g, |g| m::<u64>(g)), f2: vec(g, |g| m::<u8>(g)), f3: option(g, |g| Box::new(sorted::<u16, _>(g, |g| m::<String>(g)))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: (Map<u32, Option<String>>, (u16, T0)) }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: (map::<u32, _>(g, |g| option(g, |g| m::<String>(g))), (m::<u16>(g), T0::make(g))) }) } }
#[derive(Weigh)] pub enum T2 { V0(Option<u8>), V1 }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(option(g, |g| m::<u8>(g))), _ => T2::V1 }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: String, f1: f64, f2: Option<u16>, f3: Option<u8> }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<String>(g), f1: m::<f64>(g), f2: option(g, |g| m::<u16>(g)), f3: option(g, |g| m::<u8>(g)) }) } }
#[derive(Weigh)] pub enum T4 { V0, V1(((G<[u64; 9]>, [u64; 2]), Option<BTreeMap<u16, T0>>), T1) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0, _ => T4::V1(((G::make(g, |g| m::<[u64; 9]>(g)), [m::<u64>(g), m::<u64>(g)]), option(g, |g| sorted::<u16, _>(g, |g| T0::make(g)))), T1::make(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: ThinStr, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: ThinStr::new(&m::<String>(g)), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: u64, f1: Option<u64>, f2: Vec<u8>, f3: Option<Box<BTreeMap<u16, String>>> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<u64>(g), f1: option(g, |g| m::<u64>(g)), f2: vec(g, |g| m::<u8>(g)), f3: option(g, |g| Box::new(sorted::<u16, _>(g, |g| m::<String>(g)))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<Box<(Map<u32, Option<String>>, (u16, T0))>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: boxed((map::<u32, _>(g, |g| option(g, |g| m::<String>(g))), (m::<u16>(g), T0::make(g)))) }) } }
#[derive(Weigh)] pub enum T2 { V0(Option<u8>), V1 }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(option(g, |g| m::<u8>(g))), _ => T2::V1 }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: String, f1: f64, f2: Option<u16>, f3: Option<u8> }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<String>(g), f1: m::<f64>(g), f2: option(g, |g| m::<u16>(g)), f3: option(g, |g| m::<u8>(g)) }) } }
#[derive(Weigh)] pub enum T4 { V0, V1(Box<(((G<[u64; 9]>, [u64; 2]), Option<BTreeMap<u16, T0>>), T1)>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0, _ => T4::V1(Box::new((((G::make(g, |g| m::<[u64; 9]>(g)), [m::<u64>(g), m::<u64>(g)]), option(g, |g| sorted::<u16, _>(g, |g| T0::make(g)))), T1::make(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p1 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T0 { f0: Vec<(Option<Box<u32>>, (T0, ()))>, f1: [Option<LinkedList<bool>>; 2], f2: u64 }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: vec(g, |g| (option(g, |g| Box::new(m::<u32>(g))), (T0::make(g), m::<()>(g)))), f1: [option(g, |g| list(g, |g| m::<bool>(g))), option(g, |g| list(g, |g| m::<bool>(g)))], f2: m::<u64>(g) }) } }
#[derive(Weigh)] pub struct T1 { f0: Rc<Map<u32, Option<bool>>>, f1: Box<str>, f2: [u8; 2] }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: Rc::new(map::<u32, _>(g, |g| option(g, |g| m::<bool>(g)))), f1: m::<Box<str>>(g), f2: [m::<u8>(g), m::<u8>(g)] }) } }
#[derive(Weigh)] pub enum T2 { V0(u16, u64), V1(Box<Map<u32, Box<char>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<u16>(g), m::<u64>(g)), _ => T2::V1(Box::new(map::<u32, _>(g, |g| Box::new(m::<char>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<u16>, f1: u16 }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<u16>(g)), f1: m::<u16>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T4 { f0: LinkedList<Option<Box<String>>>, f1: T3, f2: (T0, Option<Vec<Box<str>>>), f3: Option<bool> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: list(g, |g| option(g, |g| Box::new(m::<String>(g)))), f1: T3::make(g), f2: (T0::make(g), option(g, |g| vec(g, |g| m::<Box<str>>(g)))), f3: option(g, |g| m::<bool>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: Option<u64>, f1: Option<f64>, f2: u64, f3: u8 }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: option(g, |g| m::<u64>(g)), f1: option(g, |g| m::<f64>(g)), f2: m::<u64>(g), f3: m::<u8>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T6 { f0: bool }
impl T6 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T6::default() } g.nested(|g| T6 { f0: m::<bool>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T0 { f0: Vec<(Option<Box<u32>>, (T0, ()))>, f1: [Option<LinkedList<bool>>; 2], f2: u64 }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: vec(g, |g| (option(g, |g| Box::new(m::<u32>(g))), (T0::make(g), m::<()>(g)))), f1: [option(g, |g| list(g, |g| m::<bool>(g))), option(g, |g| list(g, |g| m::<bool>(g)))], f2: m::<u64>(g) }) } }
#[derive(Weigh)] pub struct T1 { f0: Rc<Map<u32, Option<bool>>>, f1: Box<str>, f2: [u8; 2] }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: Rc::new(map::<u32, _>(g, |g| option(g, |g| m::<bool>(g)))), f1: m::<Box<str>>(g), f2: [m::<u8>(g), m::<u8>(g)] }) } }
#[derive(Weigh)] pub enum T2 { V0(u16, u64), V1(Box<Box<Map<u32, Box<char>>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<u16>(g), m::<u64>(g)), _ => T2::V1(Box::new(Box::new(map::<u32, _>(g, |g| Box::new(m::<char>(g)))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<u16>, f1: u16 }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<u16>(g)), f1: m::<u16>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T4 { f0: LinkedList<Option<Box<String>>>, f1: Box<T3>, f2: (T0, Option<Vec<Box<str>>>), f3: Option<bool> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: list(g, |g| option(g, |g| Box::new(m::<String>(g)))), f1: Box::new(T3::make(g)), f2: (T0::make(g), option(g, |g| vec(g, |g| m::<Box<str>>(g)))), f3: option(g, |g| m::<bool>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: Option<u64>, f1: Option<f64>, f2: u64, f3: u8 }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: option(g, |g| m::<u64>(g)), f1: option(g, |g| m::<f64>(g)), f2: m::<u64>(g), f3: m::<u8>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T6 { f0: bool }
impl T6 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T6::default() } g.nested(|g| T6 { f0: m::<bool>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p2 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<u16>, f1: char, f2: String, f3: Option<f64> }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<u16>(g)), f1: m::<char>(g), f2: m::<String>(g), f3: option(g, |g| m::<f64>(g)) }) } }
#[derive(Weigh)] pub struct T1 { f0: (Map<u32, G<std::num::NonZero<u32>>>, u8), f1: (Option<u32>, [u8; 3]), f2: [T0; 2], f3: Option<T0> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: (map::<u32, _>(g, |g| G::make(g, |g| m::<std::num::NonZero<u32>>(g))), m::<u8>(g)), f1: (option(g, |g| m::<u32>(g)), m::<[u8; 3]>(g)), f2: [T0::make(g), T0::make(g)], f3: option(g, |g| T0::make(g)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: std::num::NonZero<u32> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: m::<std::num::NonZero<u32>>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<char>, f1: char, f2: String, f3: Option<char>, f4: Option<u64> }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<char>(g)), f1: m::<char>(g), f2: m::<String>(g), f3: option(g, |g| m::<char>(g)), f4: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T4 { f0: String }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: m::<String>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T5 { f0: Option<Map<u32, [f64; 2]>> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: option(g, |g| map::<u32, _>(g, |g| [m::<f64>(g), m::<f64>(g)])) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T6 { f0: [u64; 9] }
impl T6 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T6::default() } g.nested(|g| T6 { f0: m::<[u64; 9]>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Box<[u64; 9]> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: Box::new(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<u16>, f1: char, f2: String, f3: Option<f64> }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<u16>(g)), f1: m::<char>(g), f2: m::<String>(g), f3: option(g, |g| m::<f64>(g)) }) } }
#[derive(Weigh)] pub struct T1 { f0: (Map<u32, G<std::num::NonZero<u32>>>, u8), f1: (Option<u32>, [u8; 3]), f2: [Option<Box<T0>>; 2], f3: Option<T0> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: (map::<u32, _>(g, |g| G::make(g, |g| m::<std::num::NonZero<u32>>(g))), m::<u8>(g)), f1: (option(g, |g| m::<u32>(g)), m::<[u8; 3]>(g)), f2: [boxed(T0::make(g)), boxed(T0::make(g))], f3: option(g, |g| T0::make(g)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: std::num::NonZero<u32> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: m::<std::num::NonZero<u32>>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<char>, f1: char, f2: String, f3: Option<char>, f4: Option<u64> }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<char>(g)), f1: m::<char>(g), f2: m::<String>(g), f3: option(g, |g| m::<char>(g)), f4: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T4 { f0: String }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: m::<String>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T5 { f0: Option<Map<u32, [f64; 2]>> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: option(g, |g| map::<u32, _>(g, |g| [m::<f64>(g), m::<f64>(g)])) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T6 { f0: [u64; 9] }
impl T6 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T6::default() } g.nested(|g| T6 { f0: m::<[u64; 9]>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p3 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: String, f1: Option<BTreeMap<u16, Map<u32, [u64; 9]>>>, f2: G<Option<G<std::num::NonZero<u32>>>>, f3: Option<Vec<[u16; 2]>> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<String>(g), f1: option(g, |g| sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<[u64; 9]>(g)))), f2: G::make(g, |g| option(g, |g| G::make(g, |g| m::<std::num::NonZero<u32>>(g)))), f3: option(g, |g| vec(g, |g| [m::<u16>(g), m::<u16>(g)])) }) } }
#[derive(Weigh)] pub enum T1 { V0(u64), V1, V2(BTreeMap<u16, Option<Box<T1>>>, Vec<BTreeMap<u16, Option<T2>>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<u64>(g)), 1 => T1::V1, _ => T1::V2(sorted::<u16, _>(g, |g| option(g, |g| Box::new(T1::make(g)))), vec(g, |g| sorted::<u16, _>(g, |g| option(g, |g| T2::make(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: Option<char> }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: option(g, |g| m::<char>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: bool, f1: u8, f2: String }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<bool>(g), f1: m::<u8>(g), f2: m::<String>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: String, f1: Option<BTreeMap<u16, Map<u32, [u64; 9]>>>, f2: G<Option<G<std::num::NonZero<u32>>>>, f3: Option<Vec<[u16; 2]>> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<String>(g), f1: option(g, |g| sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<[u64; 9]>(g)))), f2: G::make(g, |g| option(g, |g| G::make(g, |g| m::<std::num::NonZero<u32>>(g)))), f3: option(g, |g| vec(g, |g| [m::<u16>(g), m::<u16>(g)])) }) } }
#[derive(Weigh)] pub enum T1 { V0(Box<u64>), V1, V2(BTreeMap<u16, Option<Box<T1>>>, Vec<BTreeMap<u16, Option<T2>>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(Box::new(m::<u64>(g))), 1 => T1::V1, _ => T1::V2(sorted::<u16, _>(g, |g| option(g, |g| Box::new(T1::make(g)))), vec(g, |g| sorted::<u16, _>(g, |g| option(g, |g| T2::make(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: Option<char> }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: option(g, |g| m::<char>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: bool, f1: u8, f2: String }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<bool>(g), f1: m::<u8>(g), f2: m::<String>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p4 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: Option<u64> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0([u64; 9]), V1, V2, V3(Map<u32, LinkedList<Option<T0>>>, Map<u32, T3>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<[u64; 9]>(g)), 1 => T1::V1, 2 => T1::V2, _ => T1::V3(map::<u32, _>(g, |g| list(g, |g| option(g, |g| T0::make(g)))), map::<u32, _>(g, |g| T3::make(g))) }) } }
#[derive(Weigh)] pub enum T2 { V0([u64; 9]), V1(LinkedList<[u8; 3]>, u64), V2(Map<u32, Vec<G<u16>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<[u64; 9]>(g)), 1 => T2::V1(list(g, |g| m::<[u8; 3]>(g)), m::<u64>(g)), _ => T2::V2(map::<u32, _>(g, |g| vec(g, |g| G::make(g, |g| m::<u16>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<f64>, f1: Option<u16> }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<f64>(g)), f1: option(g, |g| m::<u16>(g)) }) } }
#[derive(Weigh)] pub enum T4 { V0(Option<u8>), V1(Option<Option<T3>>), V2, V3((), Box<str>), V4(G<Option<Vec<T2>>>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(option(g, |g| m::<u8>(g))), 1 => T4::V1(option(g, |g| option(g, |g| T3::make(g)))), 2 => T4::V2, 3 => T4::V3(m::<()>(g), m::<Box<str>>(g)), _ => T4::V4(G::make(g, |g| option(g, |g| vec(g, |g| T2::make(g))))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: Option<u64> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0([u64; 9]), V1, V2, V3(Box<(Map<u32, LinkedList<Option<T0>>>, Map<u32, T3>)>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<[u64; 9]>(g)), 1 => T1::V1, 2 => T1::V2, _ => T1::V3(Box::new((map::<u32, _>(g, |g| list(g, |g| option(g, |g| T0::make(g)))), map::<u32, _>(g, |g| T3::make(g))))) }) } }
#[derive(Weigh)] pub enum T2 { V0([u64; 9]), V1(LinkedList<[u8; 3]>, u64), V2(Map<u32, Vec<G<u16>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<[u64; 9]>(g)), 1 => T2::V1(list(g, |g| m::<[u8; 3]>(g)), m::<u64>(g)), _ => T2::V2(map::<u32, _>(g, |g| vec(g, |g| G::make(g, |g| m::<u16>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<f64>, f1: Option<u16> }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<f64>(g)), f1: option(g, |g| m::<u16>(g)) }) } }
#[derive(Weigh)] pub enum T4 { V0(Option<u8>), V1(Box<Option<Option<T3>>>), V2, V3((), Box<str>), V4(G<Option<Vec<T2>>>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(option(g, |g| m::<u8>(g))), 1 => T4::V1(Box::new(option(g, |g| option(g, |g| T3::make(g))))), 2 => T4::V2, 3 => T4::V3(m::<()>(g), m::<Box<str>>(g)), _ => T4::V4(G::make(g, |g| option(g, |g| vec(g, |g| T2::make(g))))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p5 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<char>, f1: bool, f2: Option<f64>, f3: Option<[u64; 9]> }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<char>(g)), f1: m::<bool>(g), f2: option(g, |g| m::<f64>(g)), f3: option(g, |g| m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(f64, Option<bool>, [u64; 9]), V1, V2(f64, Option<Map<u32, Vec<T3>>>, bool), V3, V4(T0) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<f64>(g), option(g, |g| m::<bool>(g)), m::<[u64; 9]>(g)), 1 => T1::V1, 2 => T1::V2(m::<f64>(g), option(g, |g| map::<u32, _>(g, |g| vec(g, |g| T3::make(g)))), m::<bool>(g)), 3 => T1::V3, _ => T1::V4(T0::make(g)) }) } }
#[derive(Weigh)] pub struct T2 { f0: Map<u32, T1>, f1: Option<Box<T2>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: map::<u32, _>(g, |g| T1::make(g)), f1: option(g, |g| Box::new(T2::make(g))) }) } }
#[derive(Weigh)] pub struct T3 { f0: Option<Box<Map<u32, [u64; 9]>>>, f1: BTreeMap<u16, Option<LinkedList<[u64; 9]>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| Box::new(map::<u32, _>(g, |g| m::<[u64; 9]>(g)))), f1: sorted::<u16, _>(g, |g| option(g, |g| list(g, |g| m::<[u64; 9]>(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: Option<char>, f1: Option<f64>, f2: char }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: option(g, |g| m::<char>(g)), f1: option(g, |g| m::<f64>(g)), f2: m::<char>(g) }) } }
#[derive(Weigh)] pub enum T5 { V0, V1(Vec<u64>, LinkedList<[[f64; 2]; 2]>, G<[Map<u32, u64>; 2]>), V2(Map<u32, Option<Option<u16>>>), V3(f64), V4([Vec<Map<u32, char>>; 2], T3, BTreeMap<u16, Option<Option<std::num::NonZero<u32>>>>) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0, 1 => T5::V1(vec(g, |g| m::<u64>(g)), list(g, |g| [[m::<f64>(g), m::<f64>(g)], [m::<f64>(g), m::<f64>(g)]]), G::make(g, |g| [map::<u32, _>(g, |g| m::<u64>(g)), map::<u32, _>(g, |g| m::<u64>(g))])), 2 => T5::V2(map::<u32, _>(g, |g| option(g, |g| option(g, |g| m::<u16>(g))))), 3 => T5::V3(m::<f64>(g)), _ => T5::V4([vec(g, |g| map::<u32, _>(g, |g| m::<char>(g))), vec(g, |g| map::<u32, _>(g, |g| m::<char>(g)))], T3::make(g), sorted::<u16, _>(g, |g| option(g, |g| option(g, |g| m::<std::num::NonZero<u32>>(g))))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Box<[u64; 9]> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: Box::new(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<char>, f1: bool, f2: Option<f64>, f3: Option<[u64; 9]> }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<char>(g)), f1: m::<bool>(g), f2: option(g, |g| m::<f64>(g)), f3: option(g, |g| m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(f64, Option<bool>, Box<[u64; 9]>), V1, V2(f64, Option<Map<u32, Vec<T3>>>, bool), V3, V4(T0) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<f64>(g), option(g, |g| m::<bool>(g)), Box::new(m::<[u64; 9]>(g))), 1 => T1::V1, 2 => T1::V2(m::<f64>(g), option(g, |g| map::<u32, _>(g, |g| vec(g, |g| T3::make(g)))), m::<bool>(g)), 3 => T1::V3, _ => T1::V4(T0::make(g)) }) } }
#[derive(Weigh)] pub struct T2 { f0: Map<u32, T1>, f1: Option<Box<T2>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: map::<u32, _>(g, |g| T1::make(g)), f1: option(g, |g| Box::new(T2::make(g))) }) } }
#[derive(Weigh)] pub struct T3 { f0: Option<Box<Map<u32, Box<[u64; 9]>>>>, f1: BTreeMap<u16, Option<LinkedList<[u64; 9]>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| Box::new(map::<u32, _>(g, |g| Box::new(m::<[u64; 9]>(g))))), f1: sorted::<u16, _>(g, |g| option(g, |g| list(g, |g| m::<[u64; 9]>(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: Option<char>, f1: Option<f64>, f2: char }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: option(g, |g| m::<char>(g)), f1: option(g, |g| m::<f64>(g)), f2: m::<char>(g) }) } }
#[derive(Weigh)] pub enum T5 { V0, V1(Vec<u64>, LinkedList<[[f64; 2]; 2]>, G<[Map<u32, u64>; 2]>), V2(Map<u32, Option<Option<u16>>>), V3(f64), V4([Vec<Map<u32, char>>; 2], T3, BTreeMap<u16, Option<Option<std::num::NonZero<u32>>>>) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0, 1 => T5::V1(vec(g, |g| m::<u64>(g)), list(g, |g| [[m::<f64>(g), m::<f64>(g)], [m::<f64>(g), m::<f64>(g)]]), G::make(g, |g| [map::<u32, _>(g, |g| m::<u64>(g)), map::<u32, _>(g, |g| m::<u64>(g))])), 2 => T5::V2(map::<u32, _>(g, |g| option(g, |g| option(g, |g| m::<u16>(g))))), 3 => T5::V3(m::<f64>(g)), _ => T5::V4([vec(g, |g| map::<u32, _>(g, |g| m::<char>(g))), vec(g, |g| map::<u32, _>(g, |g| m::<char>(g)))], T3::make(g), sorted::<u16, _>(g, |g| option(g, |g| option(g, |g| m::<std::num::NonZero<u32>>(g))))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p6 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: String, f1: Map<u32, T3> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<String>(g), f1: map::<u32, _>(g, |g| T3::make(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: String, f1: char }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<String>(g), f1: m::<char>(g) }) } }
#[derive(Weigh)] pub struct T2 { f0: Option<Option<u32>>, f1: String, f2: Option<Box<G<[char; 2]>>>, f3: Map<u32, Option<Option<T1>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: option(g, |g| option(g, |g| m::<u32>(g))), f1: m::<String>(g), f2: option(g, |g| Box::new(G::make(g, |g| [m::<char>(g), m::<char>(g)]))), f3: map::<u32, _>(g, |g| option(g, |g| option(g, |g| T1::make(g)))) }) } }
#[derive(Weigh)] pub enum T3 { V0(Option<char>), V1(Option<f64>), V2(G<T1>, u16) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(option(g, |g| m::<char>(g))), 1 => T3::V1(option(g, |g| m::<f64>(g))), _ => T3::V2(G::make(g, |g| T1::make(g)), m::<u16>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: Option<u8>, f1: u8 }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: option(g, |g| m::<u8>(g)), f1: m::<u8>(g) }) } }
#[derive(Weigh)] pub struct T5 { f0: [Option<Map<u32, ()>>; 2], f1: [Vec<(u64, T3)>; 2], f2: Option<Box<T1>> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: [option(g, |g| map::<u32, _>(g, |g| m::<()>(g))), option(g, |g| map::<u32, _>(g, |g| m::<()>(g)))], f1: [vec(g, |g| (m::<u64>(g), T3::make(g))), vec(g, |g| (m::<u64>(g), T3::make(g)))], f2: option(g, |g| Box::new(T1::make(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub struct T0 { f0: Box<str>, f1: Map<u32, T3> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<String>(g).into_boxed_str(), f1: map::<u32, _>(g, |g| T3::make(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: String, f1: char }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<String>(g), f1: m::<char>(g) }) } }
#[derive(Weigh)] pub struct T2 { f0: Option<Option<u32>>, f1: ThinStr, f2: Option<Box<G<[char; 2]>>>, f3: Map<u32, Option<Option<T1>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: option(g, |g| option(g, |g| m::<u32>(g))), f1: ThinStr::new(&m::<String>(g)), f2: option(g, |g| Box::new(G::make(g, |g| [m::<char>(g), m::<char>(g)]))), f3: map::<u32, _>(g, |g| option(g, |g| option(g, |g| T1::make(g)))) }) } }
#[derive(Weigh)] pub enum T3 { V0(Box<Option<char>>), V1(Option<f64>), V2(G<T1>, u16) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(Box::new(option(g, |g| m::<char>(g)))), 1 => T3::V1(option(g, |g| m::<f64>(g))), _ => T3::V2(G::make(g, |g| T1::make(g)), m::<u16>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: Option<u8>, f1: u8 }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: option(g, |g| m::<u8>(g)), f1: m::<u8>(g) }) } }
#[derive(Weigh)] pub struct T5 { f0: [Option<Map<u32, ()>>; 2], f1: [Vec<(u64, T3)>; 2], f2: Option<Box<T1>> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: [option(g, |g| map::<u32, _>(g, |g| m::<()>(g))), option(g, |g| map::<u32, _>(g, |g| m::<()>(g)))], f1: [vec(g, |g| (m::<u64>(g), T3::make(g))), vec(g, |g| (m::<u64>(g), T3::make(g)))], f2: option(g, |g| Box::new(T1::make(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p7 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1, V2, V3(Option<Map<u32, Rc<String>>>, String, Option<f64>), V4 }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, 1 => T0::V1, 2 => T0::V2, 3 => T0::V3(option(g, |g| map::<u32, _>(g, |g| Rc::new(m::<String>(g)))), m::<String>(g), option(g, |g| m::<f64>(g))), _ => T0::V4 }) } }
#[derive(Weigh)] pub struct T1 { f0: Option<Option<T0>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| option(g, |g| T0::make(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: u64, f1: [u64; 9], f2: Option<String>, f3: Option<[u64; 9]>, f4: char }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<u64>(g), f1: m::<[u64; 9]>(g), f2: option(g, |g| m::<String>(g)), f3: option(g, |g| m::<[u64; 9]>(g)), f4: m::<char>(g) }) } }
#[derive(Weigh)] pub enum T3 { V0, V1([BTreeMap<u16, Box<[T4]>>; 2], ((u8, BTreeMap<u16, T0>), [Box<T3>; 2]), T2), V2(T1, Option<Box<Vec<T3>>>, [T1; 2]) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0, 1 => T3::V1([sorted::<u16, _>(g, |g| vec(g, |g| T4::make(g)).into_boxed_slice()), sorted::<u16, _>(g, |g| vec(g, |g| T4::make(g)).into_boxed_slice())], ((m::<u8>(g), sorted::<u16, _>(g, |g| T0::make(g))), [Box::new(T3::make(g)), Box::new(T3::make(g))]), T2::make(g)), _ => T3::V2(T1::make(g), option(g, |g| Box::new(vec(g, |g| T3::make(g)))), [T1::make(g), T1::make(g)]) }) } }
#[derive(Weigh)] pub struct T4 { f0: Rc<(Box<[bool]>, Option<T3>)>, f1: T2 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: Rc::new((vec(g, |g| m::<bool>(g)).into_boxed_slice(), option(g, |g| T3::make(g)))), f1: T2::make(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1, V2, V3(Option<Map<u32, Rc<Box<str>>>>, String, Option<f64>), V4 }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, 1 => T0::V1, 2 => T0::V2, 3 => T0::V3(option(g, |g| map::<u32, _>(g, |g| Rc::new(m::<String>(g).into_boxed_str()))), m::<String>(g), option(g, |g| m::<f64>(g))), _ => T0::V4 }) } }
#[derive(Weigh)] pub struct T1 { f0: Option<Option<T0>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| option(g, |g| T0::make(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: u64, f1: [u64; 9], f2: Option<String>, f3: Option<[u64; 9]>, f4: char }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<u64>(g), f1: m::<[u64; 9]>(g), f2: option(g, |g| m::<String>(g)), f3: option(g, |g| m::<[u64; 9]>(g)), f4: m::<char>(g) }) } }
#[derive(Weigh)] pub enum T3 { V0, V1([BTreeMap<u16, Box<[T4]>>; 2], ((u8, BTreeMap<u16, T0>), [Box<T3>; 2]), Sparse<T2>), V2(Box<T1>, Option<Box<Vec<Option<Box<T3>>>>>, [T1; 2]) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0, 1 => T3::V1([sorted::<u16, _>(g, |g| vec(g, |g| T4::make(g)).into_boxed_slice()), sorted::<u16, _>(g, |g| vec(g, |g| T4::make(g)).into_boxed_slice())], ((m::<u8>(g), sorted::<u16, _>(g, |g| T0::make(g))), [Box::new(T3::make(g)), Box::new(T3::make(g))]), Sparse::new(T2::make(g))), _ => T3::V2(Box::new(T1::make(g)), option(g, |g| Box::new(vec(g, |g| boxed(T3::make(g))))), [T1::make(g), T1::make(g)]) }) } }
#[derive(Weigh)] pub struct T4 { f0: Rc<(Box<[bool]>, Option<T3>)>, f1: T2 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: Rc::new((vec(g, |g| m::<bool>(g)).into_boxed_slice(), option(g, |g| T3::make(g)))), f1: T2::make(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p8 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(String, u64, bool), V1(BTreeMap<u16, [u8; 3]>, u64), V2(LinkedList<(Box<u64>, [[u64; 9]; 2])>, Vec<()>, Option<Vec<T5>>), V3(Option<BTreeMap<u16, Rc<[u8; 3]>>>, Map<u32, f64>, BTreeMap<u16, Map<u32, Box<str>>>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<String>(g), m::<u64>(g), m::<bool>(g)), 1 => T0::V1(sorted::<u16, _>(g, |g| m::<[u8; 3]>(g)), m::<u64>(g)), 2 => T0::V2(list(g, |g| (Box::new(m::<u64>(g)), [m::<[u64; 9]>(g), m::<[u64; 9]>(g)])), vec(g, |g| m::<()>(g)), option(g, |g| vec(g, |g| T5::make(g)))), _ => T0::V3(option(g, |g| sorted::<u16, _>(g, |g| Rc::new(m::<[u8; 3]>(g)))), map::<u32, _>(g, |g| m::<f64>(g)), sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<Box<str>>(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: u64 }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<u64>(g) }) } }
#[derive(Weigh)] pub enum T2 { V0(u16, u8, Option<f64>), V1((u64, std::num::NonZero<u32>), [u64; 9], Box<str>), V2(Vec<Option<T1>>), V3([Map<u32, T4>; 2], T1), V4((G<Box<String>>, u32), Box<T0>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<u16>(g), m::<u8>(g), option(g, |g| m::<f64>(g))), 1 => T2::V1((m::<u64>(g), m::<std::num::NonZero<u32>>(g)), m::<[u64; 9]>(g), m::<Box<str>>(g)), 2 => T2::V2(vec(g, |g| option(g, |g| T1::make(g)))), 3 => T2::V3([map::<u32, _>(g, |g| T4::make(g)), map::<u32, _>(g, |g| T4::make(g))], T1::make(g)), _ => T2::V4((G::make(g, |g| Box::new(m::<String>(g))), m::<u32>(g)), Box::new(T0::make(g))) }) } }
#[derive(Weigh)] pub enum T3 { V0, V1, V2(T0, [u8; 3], [u8; 3]), V3(T0, Option<Box<[u16]>>, u8) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0, 1 => T3::V1, 2 => T3::V2(T0::make(g), m::<[u8; 3]>(g), m::<[u8; 3]>(g)), _ => T3::V3(T0::make(g), option(g, |g| vec(g, |g| m::<u16>(g)).into_boxed_slice()), m::<u8>(g)) }) } }
#[derive(Weigh)] pub enum T4 { V0, V1, V2(T2, Vec<Box<Box<String>>>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0, 1 => T4::V1, _ => T4::V2(T2::make(g), vec(g, |g| Box::new(Box::new(m::<String>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: Option<u16>, f1: u16 }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: option(g, |g| m::<u16>(g)), f1: m::<u16>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(String, u64, bool), V1(BTreeMap<u16, [u8; 3]>, u64), V2(LinkedList<(Box<u64>, [[u64; 9]; 2])>, Vec<()>, Option<Vec<T5>>), V3(Option<SortedMap<u16, Rc<[u8; 3]>>>, Map<u32, f64>, BTreeMap<u16, Map<u32, Box<str>>>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<String>(g), m::<u64>(g), m::<bool>(g)), 1 => T0::V1(sorted::<u16, _>(g, |g| m::<[u8; 3]>(g)), m::<u64>(g)), 2 => T0::V2(list(g, |g| (Box::new(m::<u64>(g)), [m::<[u64; 9]>(g), m::<[u64; 9]>(g)])), vec(g, |g| m::<()>(g)), option(g, |g| vec(g, |g| T5::make(g)))), _ => T0::V3(option(g, |g| sorted::<u16, _>(g, |g| Rc::new(m::<[u8; 3]>(g))).into_iter().collect()), map::<u32, _>(g, |g| m::<f64>(g)), sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<Box<str>>(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: u64 }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<u64>(g) }) } }
#[derive(Weigh)] pub enum T2 { V0(u16, u8, Option<f64>), V1(Box<((u64, std::num::NonZero<u32>), [u64; 9], Box<str>)>), V2(ThinSlice<Option<T1>>), V3([Map<u32, T4>; 2], T1), V4((G<Box<String>>, u32), Box<T0>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<u16>(g), m::<u8>(g), option(g, |g| m::<f64>(g))), 1 => T2::V1(Box::new(((m::<u64>(g), m::<std::num::NonZero<u32>>(g)), m::<[u64; 9]>(g), m::<Box<str>>(g)))), 2 => T2::V2(ThinSlice::from(vec(g, |g| option(g, |g| T1::make(g))))), 3 => T2::V3([map::<u32, _>(g, |g| T4::make(g)), map::<u32, _>(g, |g| T4::make(g))], T1::make(g)), _ => T2::V4((G::make(g, |g| Box::new(m::<String>(g))), m::<u32>(g)), Box::new(T0::make(g))) }) } }
#[derive(Weigh)] pub enum T3 { V0, V1, V2(T0, [u8; 3], [u8; 3]), V3(T0, Option<Box<[u16]>>, u8) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0, 1 => T3::V1, 2 => T3::V2(T0::make(g), m::<[u8; 3]>(g), m::<[u8; 3]>(g)), _ => T3::V3(T0::make(g), option(g, |g| vec(g, |g| m::<u16>(g)).into_boxed_slice()), m::<u8>(g)) }) } }
#[derive(Weigh)] pub enum T4 { V0, V1, V2(T2, Vec<Box<Box<String>>>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0, 1 => T4::V1, _ => T4::V2(T2::make(g), vec(g, |g| Box::new(Box::new(m::<String>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: Option<u16>, f1: u16 }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: option(g, |g| m::<u16>(g)), f1: m::<u16>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p9 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: u8, f1: Option<u8>, f2: Option<char>, f3: String, f4: f64 }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: m::<u8>(g), f1: option(g, |g| m::<u8>(g)), f2: option(g, |g| m::<char>(g)), f3: m::<String>(g), f4: m::<f64>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: f64, f1: char }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<f64>(g), f1: m::<char>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: String }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<String>(g) }) } }
#[derive(Weigh)] pub enum T3 { V0(char, char, u64), V1, V2((Option<BTreeMap<u16, T4>>, bool), Box<T4>, [G<String>; 2]) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<char>(g), m::<char>(g), m::<u64>(g)), 1 => T3::V1, _ => T3::V2((option(g, |g| sorted::<u16, _>(g, |g| T4::make(g))), m::<bool>(g)), Box::new(T4::make(g)), [G::make(g, |g| m::<String>(g)), G::make(g, |g| m::<String>(g))]) }) } }
#[derive(Weigh)] pub enum T4 { V0(Option<String>), V1(u8, std::num::NonZero<u32>, Option<BTreeMap<u16, Option<Box<str>>>>), V2, V3 }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(option(g, |g| m::<String>(g))), 1 => T4::V1(m::<u8>(g), m::<std::num::NonZero<u32>>(g), option(g, |g| sorted::<u16, _>(g, |g| option(g, |g| m::<Box<str>>(g))))), 2 => T4::V2, _ => T4::V3 }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: u8, f1: Option<u8>, f2: Option<char>, f3: String, f4: f64 }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: m::<u8>(g), f1: option(g, |g| m::<u8>(g)), f2: option(g, |g| m::<char>(g)), f3: m::<String>(g), f4: m::<f64>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: f64, f1: char }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<f64>(g), f1: m::<char>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: String }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<String>(g) }) } }
#[derive(Weigh)] pub enum T3 { V0(char, char, u64), V1, V2(Box<((Option<BTreeMap<u16, T4>>, bool), Box<T4>, [G<String>; 2])>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<char>(g), m::<char>(g), m::<u64>(g)), 1 => T3::V1, _ => T3::V2(Box::new(((option(g, |g| sorted::<u16, _>(g, |g| T4::make(g))), m::<bool>(g)), Box::new(T4::make(g)), [G::make(g, |g| m::<String>(g)), G::make(g, |g| m::<String>(g))]))) }) } }
#[derive(Weigh)] pub enum T4 { V0(Option<Box<str>>), V1(u8, std::num::NonZero<u32>, Option<BTreeMap<u16, Option<Box<str>>>>), V2, V3 }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(option(g, |g| m::<String>(g).into_boxed_str())), 1 => T4::V1(m::<u8>(g), m::<std::num::NonZero<u32>>(g), option(g, |g| sorted::<u16, _>(g, |g| option(g, |g| m::<Box<str>>(g))))), 2 => T4::V2, _ => T4::V3 }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p10 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(u8), V1(u64), V2(Option<()>, Option<G<G<u64>>>, Rc<Vec<Option<bool>>>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<u8>(g)), 1 => T0::V1(m::<u64>(g)), _ => T0::V2(option(g, |g| m::<()>(g)), option(g, |g| G::make(g, |g| G::make(g, |g| m::<u64>(g)))), Rc::new(vec(g, |g| option(g, |g| m::<bool>(g))))) }) } }
#[derive(Weigh)] pub enum T1 { V0(u64, u8, Option<f64>), V1(f64, Option<(Option<String>, Vec<u8>)>), V2(Map<u32, T2>, [Vec<Option<u32>>; 2], Option<T0>), V3(String), V4((Box<[u8; 3]>, T0), Option<u64>, ()) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<u64>(g), m::<u8>(g), option(g, |g| m::<f64>(g))), 1 => T1::V1(m::<f64>(g), option(g, |g| (option(g, |g| m::<String>(g)), vec(g, |g| m::<u8>(g))))), 2 => T1::V2(map::<u32, _>(g, |g| T2::make(g)), [vec(g, |g| option(g, |g| m::<u32>(g))), vec(g, |g| option(g, |g| m::<u32>(g)))], option(g, |g| T0::make(g))), 3 => T1::V3(m::<String>(g)), _ => T1::V4((Box::new(m::<[u8; 3]>(g)), T0::make(g)), option(g, |g| m::<u64>(g)), m::<()>(g)) }) } }
#[derive(Weigh)] pub enum T2 { V0(String, Option<u64>, Option<String>), V1(T0) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<String>(g), option(g, |g| m::<u64>(g)), option(g, |g| m::<String>(g))), _ => T2::V1(T0::make(g)) }) } }
#[derive(Weigh)] pub struct T3 { f0: Vec<BTreeMap<u16, u32>>, f1: Option<BTreeMap<u16, T5>>, f2: Option<Option<Option<Box<str>>>>, f3: u64 }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: vec(g, |g| sorted::<u16, _>(g, |g| m::<u32>(g))), f1: option(g, |g| sorted::<u16, _>(g, |g| T5::make(g))), f2: option(g, |g| option(g, |g| option(g, |g| m::<Box<str>>(g)))), f3: m::<u64>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: Option<[u64; 9]> }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: option(g, |g| m::<[u64; 9]>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: f64, f1: u8, f2: u64, f3: bool }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: m::<f64>(g), f1: m::<u8>(g), f2: m::<u64>(g), f3: m::<bool>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(u8), V1(u64), V2(Option<()>, Option<G<G<u64>>>, Rc<Vec<Option<bool>>>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<u8>(g)), 1 => T0::V1(m::<u64>(g)), _ => T0::V2(option(g, |g| m::<()>(g)), option(g, |g| G::make(g, |g| G::make(g, |g| m::<u64>(g)))), Rc::new(vec(g, |g| option(g, |g| m::<bool>(g))))) }) } }
#[derive(Weigh)] pub enum T1 { V0(u64, u8, Option<f64>), V1(f64, Option<(Option<String>, Vec<u8>)>), V2(Map<u32, T2>, [Vec<Option<u32>>; 2], Option<T0>), V3(String), V4((Box<[u8; 3]>, T0), Option<u64>, ()) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<u64>(g), m::<u8>(g), option(g, |g| m::<f64>(g))), 1 => T1::V1(m::<f64>(g), option(g, |g| (option(g, |g| m::<String>(g)), vec(g, |g| m::<u8>(g))))), 2 => T1::V2(map::<u32, _>(g, |g| T2::make(g)), [vec(g, |g| option(g, |g| m::<u32>(g))), vec(g, |g| option(g, |g| m::<u32>(g)))], option(g, |g| T0::make(g))), 3 => T1::V3(m::<String>(g)), _ => T1::V4((Box::new(m::<[u8; 3]>(g)), T0::make(g)), option(g, |g| m::<u64>(g)), m::<()>(g)) }) } }
#[derive(Weigh)] pub enum T2 { V0(String, Option<u64>, Option<String>), V1(T0) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<String>(g), option(g, |g| m::<u64>(g)), option(g, |g| m::<String>(g))), _ => T2::V1(T0::make(g)) }) } }
#[derive(Weigh)] pub struct T3 { f0: Vec<BTreeMap<u16, u32>>, f1: Option<BTreeMap<u16, Box<T5>>>, f2: Option<Option<Option<Box<str>>>>, f3: u64 }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: vec(g, |g| sorted::<u16, _>(g, |g| m::<u32>(g))), f1: option(g, |g| sorted::<u16, _>(g, |g| Box::new(T5::make(g)))), f2: option(g, |g| option(g, |g| option(g, |g| m::<Box<str>>(g)))), f3: m::<u64>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: Option<[u64; 9]> }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: option(g, |g| m::<[u64; 9]>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: f64, f1: u8, f2: u64, f3: bool }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: m::<f64>(g), f1: m::<u8>(g), f2: m::<u64>(g), f3: m::<bool>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p11 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: Box<str>, f1: G<Option<G<u8>>>, f2: u64 }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<Box<str>>(g), f1: G::make(g, |g| option(g, |g| G::make(g, |g| m::<u8>(g)))), f2: m::<u64>(g) }) } }
#[derive(Weigh)] pub enum T1 { V0(char, Option<char>), V1(Vec<[BTreeMap<u16, T0>; 2]>, BTreeMap<u16, T0>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<char>(g), option(g, |g| m::<char>(g))), _ => T1::V1(vec(g, |g| [sorted::<u16, _>(g, |g| T0::make(g)), sorted::<u16, _>(g, |g| T0::make(g))]), sorted::<u16, _>(g, |g| T0::make(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: u64, f1: Option<[u64; 9]>, f2: u64, f3: u8 }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<u64>(g), f1: option(g, |g| m::<[u64; 9]>(g)), f2: m::<u64>(g), f3: m::<u8>(g) }) } }
#[derive(Weigh)] pub struct T3 { f0: String, f1: G<BTreeMap<u16, Vec<T1>>>, f2: Map<u32, G<T3>>, f3: char }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: m::<String>(g), f1: G::make(g, |g| sorted::<u16, _>(g, |g| vec(g, |g| T1::make(g)))), f2: map::<u32, _>(g, |g| G::make(g, |g| T3::make(g))), f3: m::<char>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: ThinStr, f1: G<Option<G<u8>>>, f2: u64 }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: ThinStr::new(&m::<Box<str>>(g)), f1: G::make(g, |g| option(g, |g| G::make(g, |g| m::<u8>(g)))), f2: m::<u64>(g) }) } }
#[derive(Weigh)] pub enum T1 { V0(char, Option<char>), V1(Vec<[BTreeMap<u16, T0>; 2]>, BTreeMap<u16, Option<Box<T0>>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<char>(g), option(g, |g| m::<char>(g))), _ => T1::V1(vec(g, |g| [sorted::<u16, _>(g, |g| T0::make(g)), sorted::<u16, _>(g, |g| T0::make(g))]), sorted::<u16, _>(g, |g| boxed(T0::make(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: u64, f1: Option<[u64; 9]>, f2: u64, f3: u8 }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<u64>(g), f1: option(g, |g| m::<[u64; 9]>(g)), f2: m::<u64>(g), f3: m::<u8>(g) }) } }
#[derive(Weigh)] pub struct T3 { f0: String, f1: G<BTreeMap<u16, Vec<T1>>>, f2: Map<u32, G<T3>>, f3: char }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: m::<String>(g), f1: G::make(g, |g| sorted::<u16, _>(g, |g| vec(g, |g| T1::make(g)))), f2: map::<u32, _>(g, |g| G::make(g, |g| T3::make(g))), f3: m::<char>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p12 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<String>, f1: bool }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<String>(g)), f1: m::<bool>(g) }) } }
#[derive(Weigh)] pub struct T1 { f0: G<Option<(f64, T0)>>, f1: u64, f2: T0, f3: Option<Box<Map<u32, Rc<[u64; 9]>>>>, f4: (LinkedList<T5>, Option<T0>) }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: G::make(g, |g| option(g, |g| (m::<f64>(g), T0::make(g)))), f1: m::<u64>(g), f2: T0::make(g), f3: option(g, |g| Box::new(map::<u32, _>(g, |g| Rc::new(m::<[u64; 9]>(g))))), f4: (list(g, |g| T5::make(g)), option(g, |g| T0::make(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: [u64; 9], f1: Option<u8>, f2: char }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<[u64; 9]>(g), f1: option(g, |g| m::<u8>(g)), f2: m::<char>(g) }) } }
#[derive(Weigh)] pub enum T3 { V0(f64, Option<[u64; 9]>), V1([T0; 2], [[Box<f64>; 2]; 2]), V2(Option<T0>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<f64>(g), option(g, |g| m::<[u64; 9]>(g))), 1 => T3::V1([T0::make(g), T0::make(g)], [[Box::new(m::<f64>(g)), Box::new(m::<f64>(g))], [Box::new(m::<f64>(g)), Box::new(m::<f64>(g))]]), _ => T3::V2(option(g, |g| T0::make(g))) }) } }
#[derive(Weigh)] pub struct T4 { f0: T3 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: T3::make(g) }) } }
#[derive(Weigh)] pub struct T5 { f0: BTreeMap<u16, [u64; 9]>, f1: Vec<Option<T1>>, f2: (G<G<u16>>, [T1; 2]), f3: T2, f4: LinkedList<BTreeMap<u16, Option<T2>>> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: sorted::<u16, _>(g, |g| m::<[u64; 9]>(g)), f1: vec(g, |g| option(g, |g| T1::make(g))), f2: (G::make(g, |g| G::make(g, |g| m::<u16>(g))), [T1::make(g), T1::make(g)]), f3: T2::make(g), f4: list(g, |g| sorted::<u16, _>(g, |g| option(g, |g| T2::make(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<String>, f1: bool }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<String>(g)), f1: m::<bool>(g) }) } }
#[derive(Weigh)] pub struct T1 { f0: G<Option<(f64, T0)>>, f1: u64, f2: T0, f3: Option<Box<Map<u32, Rc<[u64; 9]>>>>, f4: (LinkedList<T5>, Option<T0>) }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: G::make(g, |g| option(g, |g| (m::<f64>(g), T0::make(g)))), f1: m::<u64>(g), f2: T0::make(g), f3: option(g, |g| Box::new(map::<u32, _>(g, |g| Rc::new(m::<[u64; 9]>(g))))), f4: (list(g, |g| T5::make(g)), option(g, |g| T0::make(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: [u64; 9], f1: Option<u8>, f2: char }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<[u64; 9]>(g), f1: option(g, |g| m::<u8>(g)), f2: m::<char>(g) }) } }
#[derive(Weigh)] pub enum T3 { V0(f64, Option<[u64; 9]>), V1([T0; 2], [[Box<f64>; 2]; 2]), V2(Option<T0>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<f64>(g), option(g, |g| m::<[u64; 9]>(g))), 1 => T3::V1([T0::make(g), T0::make(g)], [[Box::new(m::<f64>(g)), Box::new(m::<f64>(g))], [Box::new(m::<f64>(g)), Box::new(m::<f64>(g))]]), _ => T3::V2(option(g, |g| T0::make(g))) }) } }
#[derive(Weigh)] pub struct T4 { f0: T3 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: T3::make(g) }) } }
#[derive(Weigh)] pub struct T5 { f0: BTreeMap<u16, Box<[u64; 9]>>, f1: Vec<Option<T1>>, f2: (G<G<u16>>, [T1; 2]), f3: T2, f4: LinkedList<BTreeMap<u16, Option<T2>>> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: sorted::<u16, _>(g, |g| Box::new(m::<[u64; 9]>(g))), f1: vec(g, |g| option(g, |g| T1::make(g))), f2: (G::make(g, |g| G::make(g, |g| m::<u16>(g))), [T1::make(g), T1::make(g)]), f3: T2::make(g), f4: list(g, |g| sorted::<u16, _>(g, |g| option(g, |g| T2::make(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p13 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(Option<f64>), V1(Box<Option<Option<String>>>), V2, V3((u64, u64), G<u64>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(option(g, |g| m::<f64>(g))), 1 => T0::V1(Box::new(option(g, |g| option(g, |g| m::<String>(g))))), 2 => T0::V2, _ => T0::V3((m::<u64>(g), m::<u64>(g)), G::make(g, |g| m::<u64>(g))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<T0> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| T0::make(g)) }) } }
#[derive(Weigh)] pub enum T2 { V0(Option<u8>, String, String), V1(Option<BTreeMap<u16, BTreeMap<u16, std::num::NonZero<u32>>>>), V2(String, (Option<u32>, [u8; 3]), G<G<G<T0>>>), V3 }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(option(g, |g| m::<u8>(g)), m::<String>(g), m::<String>(g)), 1 => T2::V1(option(g, |g| sorted::<u16, _>(g, |g| sorted::<u16, _>(g, |g| m::<std::num::NonZero<u32>>(g))))), 2 => T2::V2(m::<String>(g), (option(g, |g| m::<u32>(g)), m::<[u8; 3]>(g)), G::make(g, |g| G::make(g, |g| G::make(g, |g| T0::make(g))))), _ => T2::V3 }) } }
#[derive(Weigh)] pub enum T3 { V0(u16, Option<u8>, u8), V1, V2(std::num::NonZero<u32>, (char, Box<[Option<u8>]>)) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<u16>(g), option(g, |g| m::<u8>(g)), m::<u8>(g)), 1 => T3::V1, _ => T3::V2(m::<std::num::NonZero<u32>>(g), (m::<char>(g), vec(g, |g| option(g, |g| m::<u8>(g))).into_boxed_slice())) }) } }
#[derive(Weigh)] pub enum T4 { V0(char, Option<u8>), V1(u16), V2([T3; 2]) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(m::<char>(g), option(g, |g| m::<u8>(g))), 1 => T4::V1(m::<u16>(g)), _ => T4::V2([T3::make(g), T3::make(g)]) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: Box<str>, d: Box<[u64; 9]> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g).into_boxed_str(), d: Box::new(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T0 { V0(Option<f64>), V1(Box<Option<Option<String>>>), V2, V3((u64, u64), G<u64>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(option(g, |g| m::<f64>(g))), 1 => T0::V1(Box::new(option(g, |g| option(g, |g| m::<String>(g))))), 2 => T0::V2, _ => T0::V3((m::<u64>(g), m::<u64>(g)), G::make(g, |g| m::<u64>(g))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<T0> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| T0::make(g)) }) } }
#[derive(Weigh)] pub enum T2 { V0(Option<u8>, String, String), V1(Option<BTreeMap<u16, BTreeMap<u16, std::num::NonZero<u32>>>>), V2(ThinStr, (Option<u32>, [u8; 3]), G<G<G<T0>>>), V3 }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(option(g, |g| m::<u8>(g)), m::<String>(g), m::<String>(g)), 1 => T2::V1(option(g, |g| sorted::<u16, _>(g, |g| sorted::<u16, _>(g, |g| m::<std::num::NonZero<u32>>(g))))), 2 => T2::V2(ThinStr::new(&m::<String>(g)), (option(g, |g| m::<u32>(g)), m::<[u8; 3]>(g)), G::make(g, |g| G::make(g, |g| G::make(g, |g| T0::make(g))))), _ => T2::V3 }) } }
#[derive(Weigh)] pub enum T3 { V0(Box<(u16, Option<u8>, u8)>), V1, V2(std::num::NonZero<u32>, (char, Box<[Option<u8>]>)) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(Box::new((m::<u16>(g), option(g, |g| m::<u8>(g)), m::<u8>(g)))), 1 => T3::V1, _ => T3::V2(m::<std::num::NonZero<u32>>(g), (m::<char>(g), vec(g, |g| option(g, |g| m::<u8>(g))).into_boxed_slice())) }) } }
#[derive(Weigh)] pub enum T4 { V0(char, Option<u8>), V1(u16), V2([Option<Box<T3>>; 2]) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(m::<char>(g), option(g, |g| m::<u8>(g))), 1 => T4::V1(m::<u16>(g)), _ => T4::V2([boxed(T3::make(g)), boxed(T3::make(g))]) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p14 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(u8, u8), V1((Option<u16>, u64), LinkedList<Map<u32, Option<char>>>, G<Option<Option<u64>>>), V2(u64) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<u8>(g), m::<u8>(g)), 1 => T0::V1((option(g, |g| m::<u16>(g)), m::<u64>(g)), list(g, |g| map::<u32, _>(g, |g| option(g, |g| m::<char>(g)))), G::make(g, |g| option(g, |g| option(g, |g| m::<u64>(g))))), _ => T0::V2(m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(f64, [u64; 9], u64), V1 }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<f64>(g), m::<[u64; 9]>(g), m::<u64>(g)), _ => T1::V1 }) } }
#[derive(Weigh)] pub struct T2 { f0: Vec<(T6, T2)>, f1: Option<Box<BTreeMap<u16, G<T6>>>>, f2: Option<BTreeMap<u16, G<u32>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: vec(g, |g| (T6::make(g), T2::make(g))), f1: option(g, |g| Box::new(sorted::<u16, _>(g, |g| G::make(g, |g| T6::make(g))))), f2: option(g, |g| sorted::<u16, _>(g, |g| G::make(g, |g| m::<u32>(g)))) }) } }
#[derive(Weigh)] pub enum T3 { V0(bool, u8, String), V1 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<bool>(g), m::<u8>(g), m::<String>(g)), _ => T3::V1 }) } }
#[derive(Weigh)] pub enum T4 { V0(char, f64, bool), V1(Option<Option<T2>>, (Box<Option<Box<str>>>, Box<Box<[T4]>>)), V2([String; 2], Box<str>, G<T0>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(m::<char>(g), m::<f64>(g), m::<bool>(g)), 1 => T4::V1(option(g, |g| option(g, |g| T2::make(g))), (Box::new(option(g, |g| m::<Box<str>>(g))), Box::new(vec(g, |g| T4::make(g)).into_boxed_slice()))), _ => T4::V2([m::<String>(g), m::<String>(g)], m::<Box<str>>(g), G::make(g, |g| T0::make(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: Option<[u64; 9]>, f1: Option<f64> }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: option(g, |g| m::<[u64; 9]>(g)), f1: option(g, |g| m::<f64>(g)) }) } }
#[derive(Weigh)] pub enum T6 { V0(f64, bool), V1(Rc<LinkedList<BTreeMap<u16, T1>>>, (Map<u32, T2>, T2), Vec<()>), V2(T1, Option<u16>, T5) }
impl T6 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T6::V0(m::<f64>(g), m::<bool>(g)), 1 => T6::V1(Rc::new(list(g, |g| sorted::<u16, _>(g, |g| T1::make(g)))), (map::<u32, _>(g, |g| T2::make(g)), T2::make(g)), vec(g, |g| m::<()>(g))), _ => T6::V2(T1::make(g), option(g, |g| m::<u16>(g)), T5::make(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(u8, u8), V1(Box<((Option<u16>, u64), LinkedList<Map<u32, Option<char>>>, G<Option<Option<u64>>>)>), V2(u64) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<u8>(g), m::<u8>(g)), 1 => T0::V1(Box::new(((option(g, |g| m::<u16>(g)), m::<u64>(g)), list(g, |g| map::<u32, _>(g, |g| option(g, |g| m::<char>(g)))), G::make(g, |g| option(g, |g| option(g, |g| m::<u64>(g))))))), _ => T0::V2(m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(f64, [u64; 9], u64), V1 }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<f64>(g), m::<[u64; 9]>(g), m::<u64>(g)), _ => T1::V1 }) } }
#[derive(Weigh)] pub struct T2 { f0: Vec<(T6, T2)>, f1: Option<Box<BTreeMap<u16, G<T6>>>>, f2: Option<BTreeMap<u16, G<u32>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: vec(g, |g| (T6::make(g), T2::make(g))), f1: option(g, |g| Box::new(sorted::<u16, _>(g, |g| G::make(g, |g| T6::make(g))))), f2: option(g, |g| sorted::<u16, _>(g, |g| G::make(g, |g| m::<u32>(g)))) }) } }
#[derive(Weigh)] pub enum T3 { V0(bool, u8, String), V1 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<bool>(g), m::<u8>(g), m::<String>(g)), _ => T3::V1 }) } }
#[derive(Weigh)] pub enum T4 { V0(char, f64, bool), V1(Option<Option<T2>>, (Box<Option<Box<str>>>, Box<Box<[T4]>>)), V2([String; 2], Box<str>, G<T0>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(m::<char>(g), m::<f64>(g), m::<bool>(g)), 1 => T4::V1(option(g, |g| option(g, |g| T2::make(g))), (Box::new(option(g, |g| m::<Box<str>>(g))), Box::new(vec(g, |g| T4::make(g)).into_boxed_slice()))), _ => T4::V2([m::<String>(g), m::<String>(g)], m::<Box<str>>(g), G::make(g, |g| T0::make(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: Option<[u64; 9]>, f1: Option<f64> }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: option(g, |g| m::<[u64; 9]>(g)), f1: option(g, |g| m::<f64>(g)) }) } }
#[derive(Weigh)] pub enum T6 { V0(f64, bool), V1(Rc<LinkedList<BTreeMap<u16, T1>>>, (Map<u32, T2>, T2), Vec<()>), V2(T1, Option<u16>, T5) }
impl T6 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T6::V0(m::<f64>(g), m::<bool>(g)), 1 => T6::V1(Rc::new(list(g, |g| sorted::<u16, _>(g, |g| T1::make(g)))), (map::<u32, _>(g, |g| T2::make(g)), T2::make(g)), vec(g, |g| m::<()>(g))), _ => T6::V2(T1::make(g), option(g, |g| m::<u16>(g)), T5::make(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p15 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: bool, f1: [u64; 9] }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: m::<bool>(g), f1: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T1 { V0, V1, V2([[u8; 3]; 2], T0), V3(T0, Option<[T0; 2]>, Rc<Box<Box<T1>>>), V4(Box<str>, BTreeMap<u16, Rc<T0>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0, 1 => T1::V1, 2 => T1::V2([m::<[u8; 3]>(g), m::<[u8; 3]>(g)], T0::make(g)), 3 => T1::V3(T0::make(g), option(g, |g| [T0::make(g), T0::make(g)]), Rc::new(Box::new(Box::new(T1::make(g))))), _ => T1::V4(m::<Box<str>>(g), sorted::<u16, _>(g, |g| Rc::new(T0::make(g)))) }) } }
#[derive(Weigh)] pub enum T2 { V0(Option<String>, u64, char), V1(bool, u8), V2(u8, String), V3([u64; 9]) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(option(g, |g| m::<String>(g)), m::<u64>(g), m::<char>(g)), 1 => T2::V1(m::<bool>(g), m::<u8>(g)), 2 => T2::V2(m::<u8>(g), m::<String>(g)), _ => T2::V3(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T3 { V0(u16), V1, V2 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<u16>(g)), 1 => T3::V1, _ => T3::V2 }) } }
#[derive(Weigh)] pub struct T4 { f0: Option<Box<BTreeMap<u16, Map<u32, u64>>>>, f1: f64, f2: G<[Option<T0>; 2]> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: option(g, |g| Box::new(sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<u64>(g))))), f1: m::<f64>(g), f2: G::make(g, |g| [option(g, |g| T0::make(g)), option(g, |g| T0::make(g))]) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: bool, f1: [u64; 9] }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: m::<bool>(g), f1: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T1 { V0, V1, V2([[u8; 3]; 2], T0), V3(T0, Option<[T0; 2]>, Rc<Box<Box<T1>>>), V4(Box<str>, BTreeMap<u16, Rc<T0>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0, 1 => T1::V1, 2 => T1::V2([m::<[u8; 3]>(g), m::<[u8; 3]>(g)], T0::make(g)), 3 => T1::V3(T0::make(g), option(g, |g| [T0::make(g), T0::make(g)]), Rc::new(Box::new(Box::new(T1::make(g))))), _ => T1::V4(m::<Box<str>>(g), sorted::<u16, _>(g, |g| Rc::new(T0::make(g)))) }) } }
#[derive(Weigh)] pub enum T2 { V0(Option<String>, u64, char), V1(bool, u8), V2(u8, String), V3(Box<[u64; 9]>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(option(g, |g| m::<String>(g)), m::<u64>(g), m::<char>(g)), 1 => T2::V1(m::<bool>(g), m::<u8>(g)), 2 => T2::V2(m::<u8>(g), m::<String>(g)), _ => T2::V3(Box::new(m::<[u64; 9]>(g))) }) } }
#[derive(Weigh)] pub enum T3 { V0(u16), V1, V2 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<u16>(g)), 1 => T3::V1, _ => T3::V2 }) } }
#[derive(Weigh)] pub struct T4 { f0: Option<Box<BTreeMap<u16, Map<u32, u64>>>>, f1: f64, f2: G<[Option<T0>; 2]> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: option(g, |g| Box::new(sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<u64>(g))))), f1: m::<f64>(g), f2: G::make(g, |g| [option(g, |g| T0::make(g)), option(g, |g| T0::make(g))]) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p16 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1, V2(u64, std::num::NonZero<u32>, Map<u32, Box<Option<String>>>), V3(u64, u32, Option<u64>), V4 }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, 1 => T0::V1, 2 => T0::V2(m::<u64>(g), m::<std::num::NonZero<u32>>(g), map::<u32, _>(g, |g| Box::new(option(g, |g| m::<String>(g))))), 3 => T0::V3(m::<u64>(g), m::<u32>(g), option(g, |g| m::<u64>(g))), _ => T0::V4 }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: Option<u16>, f1: String, f2: f64 }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: option(g, |g| m::<u16>(g)), f1: m::<String>(g), f2: m::<f64>(g) }) } }
#[derive(Weigh)] pub struct T2 { f0: Map<u32, Vec<Option<Box<[u64; 9]>>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: map::<u32, _>(g, |g| vec(g, |g| option(g, |g| Box::new(m::<[u64; 9]>(g))))) }) } }
#[derive(Weigh)] pub struct T3 { f0: BTreeMap<u16, std::num::NonZero<u32>>, f1: T0, f2: Map<u32, [Map<u32, T2>; 2]> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: sorted::<u16, _>(g, |g| m::<std::num::NonZero<u32>>(g)), f1: T0::make(g), f2: map::<u32, _>(g, |g| [map::<u32, _>(g, |g| T2::make(g)), map::<u32, _>(g, |g| T2::make(g))]) }) } }
#[derive(Weigh)] pub enum T4 { V0(bool, f64), V1, V2(Option<Option<Box<u64>>>, Vec<()>), V3(T2, u16, Map<u32, T3>), V4(Box<Map<u32, T3>>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(m::<bool>(g), m::<f64>(g)), 1 => T4::V1, 2 => T4::V2(option(g, |g| option(g, |g| Box::new(m::<u64>(g)))), vec(g, |g| m::<()>(g))), 3 => T4::V3(T2::make(g), m::<u16>(g), map::<u32, _>(g, |g| T3::make(g))), _ => T4::V4(Box::new(map::<u32, _>(g, |g| T3::make(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1, V2(u64, std::num::NonZero<u32>, Map<u32, Box<Option<String>>>), V3(u64, u32, Option<u64>), V4 }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, 1 => T0::V1, 2 => T0::V2(m::<u64>(g), m::<std::num::NonZero<u32>>(g), map::<u32, _>(g, |g| Box::new(option(g, |g| m::<String>(g))))), 3 => T0::V3(m::<u64>(g), m::<u32>(g), option(g, |g| m::<u64>(g))), _ => T0::V4 }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: Option<u16>, f1: String, f2: f64 }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: option(g, |g| m::<u16>(g)), f1: m::<String>(g), f2: m::<f64>(g) }) } }
#[derive(Weigh)] pub struct T2 { f0: SortedMap<u32, Vec<Option<Box<[u64; 9]>>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: map::<u32, _>(g, |g| vec(g, |g| option(g, |g| Box::new(m::<[u64; 9]>(g))))).into_iter().collect() }) } }
#[derive(Weigh)] pub struct T3 { f0: SortedMap<u16, std::num::NonZero<u32>>, f1: T0, f2: Map<u32, [Map<u32, T2>; 2]> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: sorted::<u16, _>(g, |g| m::<std::num::NonZero<u32>>(g)).into_iter().collect(), f1: T0::make(g), f2: map::<u32, _>(g, |g| [map::<u32, _>(g, |g| T2::make(g)), map::<u32, _>(g, |g| T2::make(g))]) }) } }
#[derive(Weigh)] pub enum T4 { V0(bool, f64), V1, V2(Option<Option<Box<u64>>>, Vec<()>), V3(T2, u16, Map<u32, T3>), V4(Box<Map<u32, T3>>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(m::<bool>(g), m::<f64>(g)), 1 => T4::V1, 2 => T4::V2(option(g, |g| option(g, |g| Box::new(m::<u64>(g)))), vec(g, |g| m::<()>(g))), 3 => T4::V3(T2::make(g), m::<u16>(g), map::<u32, _>(g, |g| T3::make(g))), _ => T4::V4(Box::new(map::<u32, _>(g, |g| T3::make(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p17 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: [u64; 9], f1: Option<[u64; 9]> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<[u64; 9]>(g), f1: option(g, |g| m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(char, u64), V1, V2(Option<T0>, Option<G<[[u8; 3]; 2]>>, G<Option<bool>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<char>(g), m::<u64>(g)), 1 => T1::V1, _ => T1::V2(option(g, |g| T0::make(g)), option(g, |g| G::make(g, |g| [m::<[u8; 3]>(g), m::<[u8; 3]>(g)])), G::make(g, |g| option(g, |g| m::<bool>(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: String }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<String>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T3 { f0: Map<u32, Vec<Option<T4>>>, f1: Vec<Vec<Option<Box<[u8; 3]>>>>, f2: Vec<bool> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: map::<u32, _>(g, |g| vec(g, |g| option(g, |g| T4::make(g)))), f1: vec(g, |g| vec(g, |g| option(g, |g| Box::new(m::<[u8; 3]>(g))))), f2: vec(g, |g| m::<bool>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: f64 }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: m::<f64>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub struct T0 { f0: [u64; 9], f1: Option<Box<[u64; 9]>> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<[u64; 9]>(g), f1: option(g, |g| m::<[u64; 9]>(g)).map(Box::new) }) } }
#[derive(Weigh)] pub enum T1 { V0(char, u64), V1, V2(Option<Box<T0>>, Option<G<[[u8; 3]; 2]>>, G<Option<bool>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<char>(g), m::<u64>(g)), 1 => T1::V1, _ => T1::V2(option(g, |g| T0::make(g)).map(Box::new), option(g, |g| G::make(g, |g| [m::<[u8; 3]>(g), m::<[u8; 3]>(g)])), G::make(g, |g| option(g, |g| m::<bool>(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: String }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<String>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T3 { f0: Map<u32, Vec<Option<T4>>>, f1: Vec<Vec<Option<Box<[u8; 3]>>>>, f2: Vec<bool> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: map::<u32, _>(g, |g| vec(g, |g| option(g, |g| T4::make(g)))), f1: vec(g, |g| vec(g, |g| option(g, |g| Box::new(m::<[u8; 3]>(g))))), f2: vec(g, |g| m::<bool>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: f64 }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: m::<f64>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p18 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T0 { f0: [Option<Box<Option<Box<T4>>>>; 2] }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: [option(g, |g| Box::new(option(g, |g| Box::new(T4::make(g))))), option(g, |g| Box::new(option(g, |g| Box::new(T4::make(g)))))] }) } }
#[derive(Weigh)] pub enum T1 { V0, V1(Map<u32, G<Map<u32, T0>>>, Option<Option<T0>>, Box<str>), V2(Box<[G<Option<T1>>]>), V3(Box<[Option<Vec<f64>>]>, [Option<[u32; 2]>; 2], G<(Option<T0>, T0)>), V4 }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0, 1 => T1::V1(map::<u32, _>(g, |g| G::make(g, |g| map::<u32, _>(g, |g| T0::make(g)))), option(g, |g| option(g, |g| T0::make(g))), m::<Box<str>>(g)), 2 => T1::V2(vec(g, |g| G::make(g, |g| option(g, |g| T1::make(g)))).into_boxed_slice()), 3 => T1::V3(vec(g, |g| option(g, |g| vec(g, |g| m::<f64>(g)))).into_boxed_slice(), [option(g, |g| [m::<u32>(g), m::<u32>(g)]), option(g, |g| [m::<u32>(g), m::<u32>(g)])], G::make(g, |g| (option(g, |g| T0::make(g)), T0::make(g)))), _ => T1::V4 }) } }
#[derive(Weigh)] pub struct T2 { f0: G<Box<[BTreeMap<u16, T2>]>>, f1: Box<str> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: G::make(g, |g| vec(g, |g| sorted::<u16, _>(g, |g| T2::make(g))).into_boxed_slice()), f1: m::<Box<str>>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<u64>, f1: Option<u8> }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<u64>(g)), f1: option(g, |g| m::<u8>(g)) }) } }
#[derive(Weigh)] pub struct T4 { f0: Option<(f64, Option<Box<T1>>)>, f1: (Map<u32, Option<T2>>, BTreeMap<u16, Map<u32, ()>>), f2: T3 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: option(g, |g| (m::<f64>(g), option(g, |g| Box::new(T1::make(g))))), f1: (map::<u32, _>(g, |g| option(g, |g| T2::make(g))), sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<()>(g)))), f2: T3::make(g) }) } }
#[derive(Weigh)] pub enum T5 { V0(Option<char>), V1(Box<Box<String>>, String, Option<T1>) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(option(g, |g| m::<char>(g))), _ => T5::V1(Box::new(Box::new(m::<String>(g))), m::<String>(g), option(g, |g| T1::make(g))) }) } }
#[derive(Weigh)] pub enum T6 { V0(u64, String, u64), V1(Vec<Map<u32, Map<u32, T4>>>, Vec<u16>), V2, V3(std::num::NonZero<u32>, [u64; 9]), V4(Map<u32, Option<Box<()>>>, Option<BTreeMap<u16, T2>>, T5) }
impl T6 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T6::V0(m::<u64>(g), m::<String>(g), m::<u64>(g)), 1 => T6::V1(vec(g, |g| map::<u32, _>(g, |g| map::<u32, _>(g, |g| T4::make(g)))), vec(g, |g| m::<u16>(g))), 2 => T6::V2, 3 => T6::V3(m::<std::num::NonZero<u32>>(g), m::<[u64; 9]>(g)), _ => T6::V4(map::<u32, _>(g, |g| option(g, |g| Box::new(m::<()>(g)))), option(g, |g| sorted::<u16, _>(g, |g| T2::make(g))), T5::make(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T0 { f0: [Option<Box<Option<Box<T4>>>>; 2] }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: [option(g, |g| Box::new(option(g, |g| Box::new(T4::make(g))))), option(g, |g| Box::new(option(g, |g| Box::new(T4::make(g)))))] }) } }
#[derive(Weigh)] pub enum T1 { V0, V1(Map<u32, G<Map<u32, T0>>>, Option<Option<T0>>, Box<str>), V2(Box<[G<Option<T1>>]>), V3(Box<[Option<Vec<f64>>]>, [Option<[u32; 2]>; 2], G<(Option<T0>, T0)>), V4 }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0, 1 => T1::V1(map::<u32, _>(g, |g| G::make(g, |g| map::<u32, _>(g, |g| T0::make(g)))), option(g, |g| option(g, |g| T0::make(g))), m::<Box<str>>(g)), 2 => T1::V2(vec(g, |g| G::make(g, |g| option(g, |g| T1::make(g)))).into_boxed_slice()), 3 => T1::V3(vec(g, |g| option(g, |g| vec(g, |g| m::<f64>(g)))).into_boxed_slice(), [option(g, |g| [m::<u32>(g), m::<u32>(g)]), option(g, |g| [m::<u32>(g), m::<u32>(g)])], G::make(g, |g| (option(g, |g| T0::make(g)), T0::make(g)))), _ => T1::V4 }) } }
#[derive(Weigh)] pub struct T2 { f0: G<Box<[BTreeMap<u16, T2>]>>, f1: Box<str> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: G::make(g, |g| vec(g, |g| sorted::<u16, _>(g, |g| T2::make(g))).into_boxed_slice()), f1: m::<Box<str>>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<u64>, f1: Option<u8> }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<u64>(g)), f1: option(g, |g| m::<u8>(g)) }) } }
#[derive(Weigh)] pub struct T4 { f0: Option<(f64, Option<Box<T1>>)>, f1: (Map<u32, Option<T2>>, BTreeMap<u16, Map<u32, ()>>), f2: T3 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: option(g, |g| (m::<f64>(g), option(g, |g| Box::new(T1::make(g))))), f1: (map::<u32, _>(g, |g| option(g, |g| T2::make(g))), sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<()>(g)))), f2: T3::make(g) }) } }
#[derive(Weigh)] pub enum T5 { V0(Option<char>), V1(Box<(Box<Box<String>>, String, Option<T1>)>) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(option(g, |g| m::<char>(g))), _ => T5::V1(Box::new((Box::new(Box::new(m::<String>(g))), m::<String>(g), option(g, |g| T1::make(g))))) }) } }
#[derive(Weigh)] pub enum T6 { V0(u64, String, u64), V1(Box<[Map<u32, Map<u32, T4>>]>, Vec<u16>), V2, V3(std::num::NonZero<u32>, [u64; 9]), V4(Map<u32, Option<Box<()>>>, Option<SortedMap<u16, Box<T2>>>, T5) }
impl T6 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T6::V0(m::<u64>(g), m::<String>(g), m::<u64>(g)), 1 => T6::V1(vec(g, |g| map::<u32, _>(g, |g| map::<u32, _>(g, |g| T4::make(g)))).into_boxed_slice(), vec(g, |g| m::<u16>(g))), 2 => T6::V2, 3 => T6::V3(m::<std::num::NonZero<u32>>(g), m::<[u64; 9]>(g)), _ => T6::V4(map::<u32, _>(g, |g| option(g, |g| Box::new(m::<()>(g)))), option(g, |g| sorted::<u16, _>(g, |g| Box::new(T2::make(g))).into_iter().collect()), T5::make(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p19 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1 }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, _ => T0::V1 }) } }
#[derive(Weigh)] pub struct T1 { f0: Option<std::num::NonZero<u32>>, f1: BTreeMap<u16, BTreeMap<u16, Option<Box<T2>>>>, f2: Map<u32, Option<T0>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| m::<std::num::NonZero<u32>>(g)), f1: sorted::<u16, _>(g, |g| sorted::<u16, _>(g, |g| option(g, |g| Box::new(T2::make(g))))), f2: map::<u32, _>(g, |g| option(g, |g| T0::make(g))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: std::num::NonZero<u32>, f1: Map<u32, Vec<Vec<[u64; 9]>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: m::<std::num::NonZero<u32>>(g), f1: map::<u32, _>(g, |g| vec(g, |g| vec(g, |g| m::<[u64; 9]>(g)))) }) } }
#[derive(Weigh)] pub struct T3 { f0: std::num::NonZero<u32>, f1: Option<Box<str>>, f2: T2, f3: Option<Map<u32, Option<bool>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: m::<std::num::NonZero<u32>>(g), f1: option(g, |g| m::<Box<str>>(g)), f2: T2::make(g), f3: option(g, |g| map::<u32, _>(g, |g| option(g, |g| m::<bool>(g)))) }) } }
#[derive(Weigh)] pub enum T4 { V0(f64, Option<f64>, u16), V1(Option<Option<Map<u32, String>>>, T3) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(m::<f64>(g), option(g, |g| m::<f64>(g)), m::<u16>(g)), _ => T4::V1(option(g, |g| option(g, |g| map::<u32, _>(g, |g| m::<String>(g)))), T3::make(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: Option<char>, f1: u64, f2: f64, f3: String, f4: char }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: option(g, |g| m::<char>(g)), f1: m::<u64>(g), f2: m::<f64>(g), f3: m::<String>(g), f4: m::<char>(g) }) } }
#[derive(Weigh)] pub struct T6 { f0: LinkedList<G<Box<[String]>>> }
impl T6 { fn make(g: &mut Gen) -> Self { g.nested(|g| T6 { f0: list(g, |g| G::make(g, |g| vec(g, |g| m::<String>(g)).into_boxed_slice())) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1 }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, _ => T0::V1 }) } }
#[derive(Weigh)] pub struct T1 { f0: Option<std::num::NonZero<u32>>, f1: BTreeMap<u16, BTreeMap<u16, Option<Box<T2>>>>, f2: Map<u32, Option<Box<T0>>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| m::<std::num::NonZero<u32>>(g)), f1: sorted::<u16, _>(g, |g| sorted::<u16, _>(g, |g| option(g, |g| Box::new(T2::make(g))))), f2: map::<u32, _>(g, |g| option(g, |g| T0::make(g)).map(Box::new)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: std::num::NonZero<u32>, f1: Map<u32, ThinSlice<Vec<Box<[u64; 9]>>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: m::<std::num::NonZero<u32>>(g), f1: map::<u32, _>(g, |g| ThinSlice::from(vec(g, |g| vec(g, |g| Box::new(m::<[u64; 9]>(g)))))) }) } }
#[derive(Weigh)] pub struct T3 { f0: std::num::NonZero<u32>, f1: Option<Box<str>>, f2: T2, f3: Option<Map<u32, Option<bool>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: m::<std::num::NonZero<u32>>(g), f1: option(g, |g| m::<Box<str>>(g)), f2: T2::make(g), f3: option(g, |g| map::<u32, _>(g, |g| option(g, |g| m::<bool>(g)))) }) } }
#[derive(Weigh)] pub enum T4 { V0(Box<(f64, Option<f64>, u16)>), V1(Option<Option<SortedMap<u32, String>>>, T3) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(Box::new((m::<f64>(g), option(g, |g| m::<f64>(g)), m::<u16>(g)))), _ => T4::V1(option(g, |g| option(g, |g| map::<u32, _>(g, |g| m::<String>(g)).into_iter().collect())), T3::make(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: Option<char>, f1: u64, f2: f64, f3: String, f4: char }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: option(g, |g| m::<char>(g)), f1: m::<u64>(g), f2: m::<f64>(g), f3: m::<String>(g), f4: m::<char>(g) }) } }
#[derive(Weigh)] pub struct T6 { f0: LinkedList<G<Box<[String]>>> }
impl T6 { fn make(g: &mut Gen) -> Self { g.nested(|g| T6 { f0: list(g, |g| G::make(g, |g| vec(g, |g| m::<String>(g)).into_boxed_slice())) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p20 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(u8, u16), V1, V2(Vec<Map<u32, ([u8; 3], String)>>, G<G<LinkedList<T4>>>, Box<Box<[T5; 2]>>), V3 }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<u8>(g), m::<u16>(g)), 1 => T0::V1, 2 => T0::V2(vec(g, |g| map::<u32, _>(g, |g| (m::<[u8; 3]>(g), m::<String>(g)))), G::make(g, |g| G::make(g, |g| list(g, |g| T4::make(g)))), Box::new(Box::new([T5::make(g), T5::make(g)]))), _ => T0::V3 }) } }
#[derive(Weigh)] pub struct T1 { f0: T0, f1: (BTreeMap<u16, [T3; 2]>, f64), f2: Vec<bool>, f3: Option<[(T0, u16); 2]> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: T0::make(g), f1: (sorted::<u16, _>(g, |g| [T3::make(g), T3::make(g)]), m::<f64>(g)), f2: vec(g, |g| m::<bool>(g)), f3: option(g, |g| [(T0::make(g), m::<u16>(g)), (T0::make(g), m::<u16>(g))]) }) } }
#[derive(Weigh)] pub struct T2 { f0: u64, f1: Option<([std::num::NonZero<u32>; 2], (Box<str>, [u8; 3]))>, f2: Option<Option<Vec<T5>>>, f3: BTreeMap<u16, [Vec<String>; 2]> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: m::<u64>(g), f1: option(g, |g| ([m::<std::num::NonZero<u32>>(g), m::<std::num::NonZero<u32>>(g)], (m::<Box<str>>(g), m::<[u8; 3]>(g)))), f2: option(g, |g| option(g, |g| vec(g, |g| T5::make(g)))), f3: sorted::<u16, _>(g, |g| [vec(g, |g| m::<String>(g)), vec(g, |g| m::<String>(g))]) }) } }
#[derive(Weigh)] pub enum T3 { V0(Option<bool>, String, char), V1(G<Box<()>>, [char; 2]), V2([[([u64; 9], T2); 2]; 2], Option<T1>), V3(BTreeMap<u16, G<G<T0>>>, u64, ()), V4 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(option(g, |g| m::<bool>(g)), m::<String>(g), m::<char>(g)), 1 => T3::V1(G::make(g, |g| Box::new(m::<()>(g))), [m::<char>(g), m::<char>(g)]), 2 => T3::V2([[(m::<[u64; 9]>(g), T2::make(g)), (m::<[u64; 9]>(g), T2::make(g))], [(m::<[u64; 9]>(g), T2::make(g)), (m::<[u64; 9]>(g), T2::make(g))]], option(g, |g| T1::make(g))), 3 => T3::V3(sorted::<u16, _>(g, |g| G::make(g, |g| G::make(g, |g| T0::make(g)))), m::<u64>(g), m::<()>(g)), _ => T3::V4 }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: [u64; 9], f1: bool, f2: u16, f3: Option<u16> }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: m::<[u64; 9]>(g), f1: m::<bool>(g), f2: m::<u16>(g), f3: option(g, |g| m::<u16>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: u64, f1: Option<String>, f2: char, f3: [u64; 9] }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: m::<u64>(g), f1: option(g, |g| m::<String>(g)), f2: m::<char>(g), f3: m::<[u64; 9]>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(u8, u16), V1, V2(Vec<SortedMap<u32, ([u8; 3], String)>>, G<G<LinkedList<T4>>>, Box<Box<[T5; 2]>>), V3 }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<u8>(g), m::<u16>(g)), 1 => T0::V1, 2 => T0::V2(vec(g, |g| map::<u32, _>(g, |g| (m::<[u8; 3]>(g), m::<String>(g))).into_iter().collect()), G::make(g, |g| G::make(g, |g| list(g, |g| T4::make(g)))), Box::new(Box::new([T5::make(g), T5::make(g)]))), _ => T0::V3 }) } }
#[derive(Weigh)] pub struct T1 { f0: T0, f1: (BTreeMap<u16, [T3; 2]>, f64), f2: Vec<bool>, f3: Option<[(T0, u16); 2]> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: T0::make(g), f1: (sorted::<u16, _>(g, |g| [T3::make(g), T3::make(g)]), m::<f64>(g)), f2: vec(g, |g| m::<bool>(g)), f3: option(g, |g| [(T0::make(g), m::<u16>(g)), (T0::make(g), m::<u16>(g))]) }) } }
#[derive(Weigh)] pub struct T2 { f0: u64, f1: Option<([std::num::NonZero<u32>; 2], (Box<str>, [u8; 3]))>, f2: Option<Option<ThinSlice<T5>>>, f3: BTreeMap<u16, [Vec<String>; 2]> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: m::<u64>(g), f1: option(g, |g| ([m::<std::num::NonZero<u32>>(g), m::<std::num::NonZero<u32>>(g)], (m::<Box<str>>(g), m::<[u8; 3]>(g)))), f2: option(g, |g| option(g, |g| ThinSlice::from(vec(g, |g| T5::make(g))))), f3: sorted::<u16, _>(g, |g| [vec(g, |g| m::<String>(g)), vec(g, |g| m::<String>(g))]) }) } }
#[derive(Weigh)] pub enum T3 { V0(Option<bool>, ThinStr, char), V1(G<Box<()>>, [char; 2]), V2([[([u64; 9], T2); 2]; 2], Option<T1>), V3(Box<(SortedMap<u16, G<G<T0>>>, u64, ())>), V4 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(option(g, |g| m::<bool>(g)), ThinStr::new(&m::<String>(g)), m::<char>(g)), 1 => T3::V1(G::make(g, |g| Box::new(m::<()>(g))), [m::<char>(g), m::<char>(g)]), 2 => T3::V2([[(m::<[u64; 9]>(g), T2::make(g)), (m::<[u64; 9]>(g), T2::make(g))], [(m::<[u64; 9]>(g), T2::make(g)), (m::<[u64; 9]>(g), T2::make(g))]], option(g, |g| T1::make(g))), 3 => T3::V3(Box::new((sorted::<u16, _>(g, |g| G::make(g, |g| G::make(g, |g| T0::make(g)))).into_iter().collect(), m::<u64>(g), m::<()>(g)))), _ => T3::V4 }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: [u64; 9], f1: bool, f2: u16, f3: Option<u16> }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: m::<[u64; 9]>(g), f1: m::<bool>(g), f2: m::<u16>(g), f3: option(g, |g| m::<u16>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: u64, f1: Option<String>, f2: char, f3: [u64; 9] }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: m::<u64>(g), f1: option(g, |g| m::<String>(g)), f2: m::<char>(g), f3: m::<[u64; 9]>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p21 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(Option<f64>), V1(Option<Option<LinkedList<T2>>>, Vec<BTreeMap<u16, Vec<T2>>>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(option(g, |g| m::<f64>(g))), _ => T0::V1(option(g, |g| option(g, |g| list(g, |g| T2::make(g)))), vec(g, |g| sorted::<u16, _>(g, |g| vec(g, |g| T2::make(g))))) }) } }
#[derive(Weigh)] pub enum T1 { V0, V1 }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0, _ => T1::V1 }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: Map<u32, BTreeMap<u16, G<T2>>>, f1: G<f64>, f2: G<BTreeMap<u16, u16>>, f3: G<Option<Option<f64>>>, f4: Map<u32, Option<Box<[String; 2]>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: map::<u32, _>(g, |g| sorted::<u16, _>(g, |g| G::make(g, |g| T2::make(g)))), f1: G::make(g, |g| m::<f64>(g)), f2: G::make(g, |g| sorted::<u16, _>(g, |g| m::<u16>(g))), f3: G::make(g, |g| option(g, |g| option(g, |g| m::<f64>(g)))), f4: map::<u32, _>(g, |g| option(g, |g| Box::new([m::<String>(g), m::<String>(g)]))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T3 { f0: Option<Box<str>>, f1: (Option<Box<Option<T0>>>, Option<f64>) }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| m::<Box<str>>(g)), f1: (option(g, |g| Box::new(option(g, |g| T0::make(g)))), option(g, |g| m::<f64>(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(Option<f64>), V1(Option<Option<LinkedList<T2>>>, Box<[SortedMap<u16, Vec<Box<T2>>>]>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(option(g, |g| m::<f64>(g))), _ => T0::V1(option(g, |g| option(g, |g| list(g, |g| T2::make(g)))), vec(g, |g| sorted::<u16, _>(g, |g| vec(g, |g| Box::new(T2::make(g)))).into_iter().collect()).into_boxed_slice()) }) } }
#[derive(Weigh)] pub enum T1 { V0, V1 }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0, _ => T1::V1 }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: Map<u32, BTreeMap<u16, G<T2>>>, f1: G<f64>, f2: G<BTreeMap<u16, u16>>, f3: G<Option<Option<f64>>>, f4: Map<u32, Option<Box<[String; 2]>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: map::<u32, _>(g, |g| sorted::<u16, _>(g, |g| G::make(g, |g| T2::make(g)))), f1: G::make(g, |g| m::<f64>(g)), f2: G::make(g, |g| sorted::<u16, _>(g, |g| m::<u16>(g))), f3: G::make(g, |g| option(g, |g| option(g, |g| m::<f64>(g)))), f4: map::<u32, _>(g, |g| option(g, |g| Box::new([m::<String>(g), m::<String>(g)]))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T3 { f0: Option<ThinStr>, f1: (Option<Box<Option<T0>>>, Option<f64>) }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| ThinStr::new(&m::<Box<str>>(g))), f1: (option(g, |g| Box::new(option(g, |g| T0::make(g)))), option(g, |g| m::<f64>(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p22 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(Option<char>, bool, Option<bool>), V1(u64), V2(bool, Option<BTreeMap<u16, Option<T1>>>, Option<Rc<Vec<bool>>>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(option(g, |g| m::<char>(g)), m::<bool>(g), option(g, |g| m::<bool>(g))), 1 => T0::V1(m::<u64>(g)), _ => T0::V2(m::<bool>(g), option(g, |g| sorted::<u16, _>(g, |g| option(g, |g| T1::make(g)))), option(g, |g| Rc::new(vec(g, |g| m::<bool>(g))))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<Option<Box<T6>>>, f1: Vec<Option<(T1, T5)>>, f2: Option<T0>, f3: T0 }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| option(g, |g| Box::new(T6::make(g)))), f1: vec(g, |g| option(g, |g| (T1::make(g), T5::make(g)))), f2: option(g, |g| T0::make(g)), f3: T0::make(g) }) } }
#[derive(Weigh)] pub enum T2 { V0(bool), V1(BTreeMap<u16, Box<Vec<T0>>>), V2(Box<[BTreeMap<u16, T4>]>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<bool>(g)), 1 => T2::V1(sorted::<u16, _>(g, |g| Box::new(vec(g, |g| T0::make(g))))), _ => T2::V2(vec(g, |g| sorted::<u16, _>(g, |g| T4::make(g))).into_boxed_slice()) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: f64, f1: f64, f2: u64, f3: Option<u16>, f4: String }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<f64>(g), f1: m::<f64>(g), f2: m::<u64>(g), f3: option(g, |g| m::<u16>(g)), f4: m::<String>(g) }) } }
#[derive(Weigh)] pub struct T4 { f0: Option<char>, f1: G<G<T2>> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: option(g, |g| m::<char>(g)), f1: G::make(g, |g| G::make(g, |g| T2::make(g))) }) } }
#[derive(Weigh)] pub enum T5 { V0(u8), V1(Box<Option<(T4, T5)>>), V2(char, Option<Vec<Option<char>>>) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(m::<u8>(g)), 1 => T5::V1(Box::new(option(g, |g| (T4::make(g), T5::make(g))))), _ => T5::V2(m::<char>(g), option(g, |g| vec(g, |g| option(g, |g| m::<char>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T6 { f0: Option<f64>, f1: char }
impl T6 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T6::default() } g.nested(|g| T6 { f0: option(g, |g| m::<f64>(g)), f1: m::<char>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Box<[u64; 9]> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: Box::new(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T0 { V0(Option<char>, bool, Option<bool>), V1(u64), V2(bool, Option<BTreeMap<u16, Option<T1>>>, Option<Rc<Box<[bool]>>>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(option(g, |g| m::<char>(g)), m::<bool>(g), option(g, |g| m::<bool>(g))), 1 => T0::V1(m::<u64>(g)), _ => T0::V2(m::<bool>(g), option(g, |g| sorted::<u16, _>(g, |g| option(g, |g| T1::make(g)))), option(g, |g| Rc::new(vec(g, |g| m::<bool>(g)).into_boxed_slice()))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<Option<Box<T6>>>, f1: Vec<Option<Box<(T1, T5)>>>, f2: Option<T0>, f3: T0 }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| option(g, |g| Box::new(T6::make(g)))), f1: vec(g, |g| option(g, |g| (T1::make(g), T5::make(g))).map(Box::new)), f2: option(g, |g| T0::make(g)), f3: T0::make(g) }) } }
#[derive(Weigh)] pub enum T2 { V0(bool), V1(BTreeMap<u16, Box<Box<[T0]>>>), V2(Box<[BTreeMap<u16, T4>]>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<bool>(g)), 1 => T2::V1(sorted::<u16, _>(g, |g| Box::new(vec(g, |g| T0::make(g)).into_boxed_slice()))), _ => T2::V2(vec(g, |g| sorted::<u16, _>(g, |g| T4::make(g))).into_boxed_slice()) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: f64, f1: f64, f2: u64, f3: Option<u16>, f4: String }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<f64>(g), f1: m::<f64>(g), f2: m::<u64>(g), f3: option(g, |g| m::<u16>(g)), f4: m::<String>(g) }) } }
#[derive(Weigh)] pub struct T4 { f0: Option<char>, f1: G<G<T2>> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: option(g, |g| m::<char>(g)), f1: G::make(g, |g| G::make(g, |g| T2::make(g))) }) } }
#[derive(Weigh)] pub enum T5 { V0(u8), V1(Box<Option<(T4, T5)>>), V2(char, Option<Vec<Option<char>>>) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(m::<u8>(g)), 1 => T5::V1(Box::new(option(g, |g| (T4::make(g), T5::make(g))))), _ => T5::V2(m::<char>(g), option(g, |g| vec(g, |g| option(g, |g| m::<char>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T6 { f0: Option<f64>, f1: char }
impl T6 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T6::default() } g.nested(|g| T6 { f0: option(g, |g| m::<f64>(g)), f1: m::<char>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p23 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(u8), V1(Map<u32, G<T3>>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<u8>(g)), _ => T0::V1(map::<u32, _>(g, |g| G::make(g, |g| T3::make(g)))) }) } }
#[derive(Weigh)] pub enum T1 { V0(String, u64), V1([Option<T0>; 2]), V2(Option<G<T0>>, Option<Option<(String, T0)>>), V3(BTreeMap<u16, Box<str>>, Option<G<T0>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<String>(g), m::<u64>(g)), 1 => T1::V1([option(g, |g| T0::make(g)), option(g, |g| T0::make(g))]), 2 => T1::V2(option(g, |g| G::make(g, |g| T0::make(g))), option(g, |g| option(g, |g| (m::<String>(g), T0::make(g))))), _ => T1::V3(sorted::<u16, _>(g, |g| m::<Box<str>>(g)), option(g, |g| G::make(g, |g| T0::make(g)))) }) } }
#[derive(Weigh)] pub enum T2 { V0([u64; 9]), V1(LinkedList<Rc<[T1; 2]>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<[u64; 9]>(g)), _ => T2::V1(list(g, |g| Rc::new([T1::make(g), T1::make(g)]))) }) } }
#[derive(Weigh)] pub struct T3 { f0: Option<LinkedList<(f64, T0)>>, f1: T2, f2: u8, f3: T2 }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| list(g, |g| (m::<f64>(g), T0::make(g)))), f1: T2::make(g), f2: m::<u8>(g), f3: T2::make(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(u8), V1(Map<u32, G<T3>>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<u8>(g)), _ => T0::V1(map::<u32, _>(g, |g| G::make(g, |g| T3::make(g)))) }) } }
#[derive(Weigh)] pub enum T1 { V0(Box<str>, u64), V1([Option<T0>; 2]), V2(Option<G<T0>>, Option<Option<(String, T0)>>), V3(BTreeMap<u16, Box<str>>, Option<G<T0>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<String>(g).into_boxed_str(), m::<u64>(g)), 1 => T1::V1([option(g, |g| T0::make(g)), option(g, |g| T0::make(g))]), 2 => T1::V2(option(g, |g| G::make(g, |g| T0::make(g))), option(g, |g| option(g, |g| (m::<String>(g), T0::make(g))))), _ => T1::V3(sorted::<u16, _>(g, |g| m::<Box<str>>(g)), option(g, |g| G::make(g, |g| T0::make(g)))) }) } }
#[derive(Weigh)] pub enum T2 { V0([u64; 9]), V1(LinkedList<Rc<[T1; 2]>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<[u64; 9]>(g)), _ => T2::V1(list(g, |g| Rc::new([T1::make(g), T1::make(g)]))) }) } }
#[derive(Weigh)] pub struct T3 { f0: Option<LinkedList<(f64, T0)>>, f1: T2, f2: u8, f3: T2 }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| list(g, |g| (m::<f64>(g), T0::make(g)))), f1: T2::make(g), f2: m::<u8>(g), f3: T2::make(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p24 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1(Map<u32, T5>, u64) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, _ => T0::V1(map::<u32, _>(g, |g| T5::make(g)), m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(u64), V1(BTreeMap<u16, Option<Option<std::num::NonZero<u32>>>>, (Box<T2>, BTreeMap<u16, Map<u32, T2>>), u8) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<u64>(g)), _ => T1::V1(sorted::<u16, _>(g, |g| option(g, |g| option(g, |g| m::<std::num::NonZero<u32>>(g)))), (Box::new(T2::make(g)), sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| T2::make(g)))), m::<u8>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: bool }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<bool>(g) }) } }
#[derive(Weigh)] pub enum T3 { V0, V1(T1, String), V2(std::num::NonZero<u32>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0, 1 => T3::V1(T1::make(g), m::<String>(g)), _ => T3::V2(m::<std::num::NonZero<u32>>(g)) }) } }
#[derive(Weigh)] pub struct T4 { f0: Option<G<T2>>, f1: Option<Box<[Map<u32, T4>]>>, f2: T2 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: option(g, |g| G::make(g, |g| T2::make(g))), f1: option(g, |g| vec(g, |g| map::<u32, _>(g, |g| T4::make(g))).into_boxed_slice()), f2: T2::make(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: char }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: m::<char>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1(Box<(Map<u32, T5>, u64)>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, _ => T0::V1(Box::new((map::<u32, _>(g, |g| T5::make(g)), m::<u64>(g)))) }) } }
#[derive(Weigh)] pub enum T1 { V0(u64), V1(BTreeMap<u16, Option<Option<std::num::NonZero<u32>>>>, (Box<T2>, BTreeMap<u16, Map<u32, T2>>), u8) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<u64>(g)), _ => T1::V1(sorted::<u16, _>(g, |g| option(g, |g| option(g, |g| m::<std::num::NonZero<u32>>(g)))), (Box::new(T2::make(g)), sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| T2::make(g)))), m::<u8>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: bool }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<bool>(g) }) } }
#[derive(Weigh)] pub enum T3 { V0, V1(T1, Box<str>), V2(std::num::NonZero<u32>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0, 1 => T3::V1(T1::make(g), m::<String>(g).into_boxed_str()), _ => T3::V2(m::<std::num::NonZero<u32>>(g)) }) } }
#[derive(Weigh)] pub struct T4 { f0: Option<G<T2>>, f1: Option<Box<[Map<u32, T4>]>>, f2: Box<T2> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: option(g, |g| G::make(g, |g| T2::make(g))), f1: option(g, |g| vec(g, |g| map::<u32, _>(g, |g| T4::make(g))).into_boxed_slice()), f2: Box::new(T2::make(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: char }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: m::<char>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p25 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: u64, f1: Option<Box<Box<[Option<T5>]>>>, f2: u64, f3: u64 }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<u64>(g), f1: option(g, |g| Box::new(vec(g, |g| option(g, |g| T5::make(g))).into_boxed_slice())), f2: m::<u64>(g), f3: m::<u64>(g) }) } }
#[derive(Weigh)] pub enum T1 { V0(f64), V1(Option<Option<std::num::NonZero<u32>>>), V2(Rc<[Option<char>; 2]>), V3(Option<Vec<Box<T3>>>, bool), V4([u64; 2], Option<G<Option<T0>>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<f64>(g)), 1 => T1::V1(option(g, |g| option(g, |g| m::<std::num::NonZero<u32>>(g)))), 2 => T1::V2(Rc::new([option(g, |g| m::<char>(g)), option(g, |g| m::<char>(g))])), 3 => T1::V3(option(g, |g| vec(g, |g| Box::new(T3::make(g)))), m::<bool>(g)), _ => T1::V4([m::<u64>(g), m::<u64>(g)], option(g, |g| G::make(g, |g| option(g, |g| T0::make(g))))) }) } }
#[derive(Weigh)] pub enum T2 { V0, V1(Box<G<Box<str>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0, _ => T2::V1(Box::new(G::make(g, |g| m::<Box<str>>(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<u16> }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<u16>(g)) }) } }
#[derive(Weigh)] pub enum T4 { V0, V1, V2(Option<Option<u8>>, Option<Box<T1>>), V3(String, Box<str>, Box<G<(T0, u32)>>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0, 1 => T4::V1, 2 => T4::V2(option(g, |g| option(g, |g| m::<u8>(g))), option(g, |g| Box::new(T1::make(g)))), _ => T4::V3(m::<String>(g), m::<Box<str>>(g), Box::new(G::make(g, |g| (T0::make(g), m::<u32>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: [u64; 9], f1: bool, f2: char, f3: u16 }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: m::<[u64; 9]>(g), f1: m::<bool>(g), f2: m::<char>(g), f3: m::<u16>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: u64, f1: Option<Box<Box<[Option<T5>]>>>, f2: u64, f3: u64 }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<u64>(g), f1: option(g, |g| Box::new(vec(g, |g| option(g, |g| T5::make(g))).into_boxed_slice())), f2: m::<u64>(g), f3: m::<u64>(g) }) } }
#[derive(Weigh)] pub enum T1 { V0(Box<f64>), V1(Box<Option<Option<std::num::NonZero<u32>>>>), V2(Box<Rc<[Option<char>; 2]>>), V3(Option<Box<[Box<T3>]>>, bool), V4([u64; 2], Option<G<Option<T0>>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(Box::new(m::<f64>(g))), 1 => T1::V1(Box::new(option(g, |g| option(g, |g| m::<std::num::NonZero<u32>>(g))))), 2 => T1::V2(Box::new(Rc::new([option(g, |g| m::<char>(g)), option(g, |g| m::<char>(g))]))), 3 => T1::V3(option(g, |g| vec(g, |g| Box::new(T3::make(g))).into_boxed_slice()), m::<bool>(g)), _ => T1::V4([m::<u64>(g), m::<u64>(g)], option(g, |g| G::make(g, |g| option(g, |g| T0::make(g))))) }) } }
#[derive(Weigh)] pub enum T2 { V0, V1(Box<Box<G<Box<str>>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0, _ => T2::V1(Box::new(Box::new(G::make(g, |g| m::<Box<str>>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<u16> }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<u16>(g)) }) } }
#[derive(Weigh)] pub enum T4 { V0, V1, V2(Option<Option<u8>>, Option<Box<T1>>), V3(String, Box<str>, Box<G<(T0, u32)>>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0, 1 => T4::V1, 2 => T4::V2(option(g, |g| option(g, |g| m::<u8>(g))), option(g, |g| Box::new(T1::make(g)))), _ => T4::V3(m::<String>(g), m::<Box<str>>(g), Box::new(G::make(g, |g| (T0::make(g), m::<u32>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: [u64; 9], f1: bool, f2: char, f3: u16 }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: m::<[u64; 9]>(g), f1: m::<bool>(g), f2: m::<char>(g), f3: m::<u16>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p26 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(bool, Option<String>), V1(BTreeMap<u16, T2>, bool, Vec<bool>), V2, V3(Option<[Option<()>; 2]>), V4(Option<Option<u64>>, Box<[Box<[BTreeMap<u16, T0>]>]>, u64) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<bool>(g), option(g, |g| m::<String>(g))), 1 => T0::V1(sorted::<u16, _>(g, |g| T2::make(g)), m::<bool>(g), vec(g, |g| m::<bool>(g))), 2 => T0::V2, 3 => T0::V3(option(g, |g| [option(g, |g| m::<()>(g)), option(g, |g| m::<()>(g))])), _ => T0::V4(option(g, |g| option(g, |g| m::<u64>(g))), vec(g, |g| vec(g, |g| sorted::<u16, _>(g, |g| T0::make(g))).into_boxed_slice()).into_boxed_slice(), m::<u64>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: char, f1: [u64; 9] }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<char>(g), f1: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T2 { V0(char), V1, V2(Box<Vec<Option<T3>>>, BTreeMap<u16, T3>, (T1, u8)), V3((std::num::NonZero<u32>, T0)), V4(Option<(T0, Box<T0>)>, Map<u32, Option<Vec<u8>>>, G<u16>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<char>(g)), 1 => T2::V1, 2 => T2::V2(Box::new(vec(g, |g| option(g, |g| T3::make(g)))), sorted::<u16, _>(g, |g| T3::make(g)), (T1::make(g), m::<u8>(g))), 3 => T2::V3((m::<std::num::NonZero<u32>>(g), T0::make(g))), _ => T2::V4(option(g, |g| (T0::make(g), Box::new(T0::make(g)))), map::<u32, _>(g, |g| option(g, |g| vec(g, |g| m::<u8>(g)))), G::make(g, |g| m::<u16>(g))) }) } }
#[derive(Weigh)] pub enum T3 { V0, V1 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0, _ => T3::V1 }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T0 { V0(Box<(bool, Option<String>)>), V1(BTreeMap<u16, T2>, bool, Box<[bool]>), V2, V3(Option<[Option<()>; 2]>), V4(Option<Option<u64>>, Box<[Box<[BTreeMap<u16, T0>]>]>, u64) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(Box::new((m::<bool>(g), option(g, |g| m::<String>(g))))), 1 => T0::V1(sorted::<u16, _>(g, |g| T2::make(g)), m::<bool>(g), vec(g, |g| m::<bool>(g)).into_boxed_slice()), 2 => T0::V2, 3 => T0::V3(option(g, |g| [option(g, |g| m::<()>(g)), option(g, |g| m::<()>(g))])), _ => T0::V4(option(g, |g| option(g, |g| m::<u64>(g))), vec(g, |g| vec(g, |g| sorted::<u16, _>(g, |g| T0::make(g))).into_boxed_slice()).into_boxed_slice(), m::<u64>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: char, f1: [u64; 9] }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<char>(g), f1: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T2 { V0(char), V1, V2(Box<Vec<Option<T3>>>, BTreeMap<u16, T3>, (T1, u8)), V3((std::num::NonZero<u32>, T0)), V4(Option<(T0, Box<T0>)>, Map<u32, Option<Vec<u8>>>, G<u16>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<char>(g)), 1 => T2::V1, 2 => T2::V2(Box::new(vec(g, |g| option(g, |g| T3::make(g)))), sorted::<u16, _>(g, |g| T3::make(g)), (T1::make(g), m::<u8>(g))), 3 => T2::V3((m::<std::num::NonZero<u32>>(g), T0::make(g))), _ => T2::V4(option(g, |g| (T0::make(g), Box::new(T0::make(g)))), map::<u32, _>(g, |g| option(g, |g| vec(g, |g| m::<u8>(g)))), G::make(g, |g| m::<u16>(g))) }) } }
#[derive(Weigh)] pub enum T3 { V0, V1 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0, _ => T3::V1 }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p27 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: u8, f1: bool, f2: Option<bool>, f3: u8, f4: Option<char> }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: m::<u8>(g), f1: m::<bool>(g), f2: option(g, |g| m::<bool>(g)), f3: m::<u8>(g), f4: option(g, |g| m::<char>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(bool, u64), V1 }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<bool>(g), m::<u64>(g)), _ => T1::V1 }) } }
#[derive(Weigh)] pub enum T2 { V0(u16, u16), V1(Option<Option<u16>>, T0, std::num::NonZero<u32>), V2(LinkedList<G<LinkedList<T2>>>), V3((std::num::NonZero<u32>, Box<Box<str>>)), V4(Map<u32, Box<(T0, [u64; 9])>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<u16>(g), m::<u16>(g)), 1 => T2::V1(option(g, |g| option(g, |g| m::<u16>(g))), T0::make(g), m::<std::num::NonZero<u32>>(g)), 2 => T2::V2(list(g, |g| G::make(g, |g| list(g, |g| T2::make(g))))), 3 => T2::V3((m::<std::num::NonZero<u32>>(g), Box::new(m::<Box<str>>(g)))), _ => T2::V4(map::<u32, _>(g, |g| Box::new((T0::make(g), m::<[u64; 9]>(g))))) }) } }
#[derive(Weigh)] pub enum T3 { V0(Option<char>, f64, Option<u8>), V1(Option<u32>, [[Option<String>; 2]; 2], Option<String>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(option(g, |g| m::<char>(g)), m::<f64>(g), option(g, |g| m::<u8>(g))), _ => T3::V1(option(g, |g| m::<u32>(g)), [[option(g, |g| m::<String>(g)), option(g, |g| m::<String>(g))], [option(g, |g| m::<String>(g)), option(g, |g| m::<String>(g))]], option(g, |g| m::<String>(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: ThinStr, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: ThinStr::new(&m::<String>(g)), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: u8, f1: bool, f2: Option<bool>, f3: u8, f4: Option<char> }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: m::<u8>(g), f1: m::<bool>(g), f2: option(g, |g| m::<bool>(g)), f3: m::<u8>(g), f4: option(g, |g| m::<char>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(bool, u64), V1 }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<bool>(g), m::<u64>(g)), _ => T1::V1 }) } }
#[derive(Weigh)] pub enum T2 { V0(u16, u16), V1(Option<Option<u16>>, T0, std::num::NonZero<u32>), V2(LinkedList<G<LinkedList<T2>>>), V3(Option<Box<(std::num::NonZero<u32>, Box<Box<str>>)>>), V4(Map<u32, Box<(T0, [u64; 9])>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<u16>(g), m::<u16>(g)), 1 => T2::V1(option(g, |g| option(g, |g| m::<u16>(g))), T0::make(g), m::<std::num::NonZero<u32>>(g)), 2 => T2::V2(list(g, |g| G::make(g, |g| list(g, |g| T2::make(g))))), 3 => T2::V3(boxed((m::<std::num::NonZero<u32>>(g), Box::new(m::<Box<str>>(g))))), _ => T2::V4(map::<u32, _>(g, |g| Box::new((T0::make(g), m::<[u64; 9]>(g))))) }) } }
#[derive(Weigh)] pub enum T3 { V0(Option<char>, f64, Option<u8>), V1(Option<u32>, [[Option<String>; 2]; 2], Option<String>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(option(g, |g| m::<char>(g)), m::<f64>(g), option(g, |g| m::<u8>(g))), _ => T3::V1(option(g, |g| m::<u32>(g)), [[option(g, |g| m::<String>(g)), option(g, |g| m::<String>(g))], [option(g, |g| m::<String>(g)), option(g, |g| m::<String>(g))]], option(g, |g| m::<String>(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p28 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: char, f1: Option<u8>, f2: u64, f3: Option<f64> }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: m::<char>(g), f1: option(g, |g| m::<u8>(g)), f2: m::<u64>(g), f3: option(g, |g| m::<f64>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: Option<bool>, f1: bool, f2: u64, f3: Option<bool> }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: option(g, |g| m::<bool>(g)), f1: m::<bool>(g), f2: m::<u64>(g), f3: option(g, |g| m::<bool>(g)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: Map<u32, Vec<bool>>, f1: Vec<std::num::NonZero<u32>>, f2: Map<u32, (String, [String; 2])> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: map::<u32, _>(g, |g| vec(g, |g| m::<bool>(g))), f1: vec(g, |g| m::<std::num::NonZero<u32>>(g)), f2: map::<u32, _>(g, |g| (m::<String>(g), [m::<String>(g), m::<String>(g)])) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: f64 }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<f64>(g) }) } }
#[derive(Weigh)] pub enum T4 { V0, V1(Option<T1>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0, _ => T4::V1(option(g, |g| T1::make(g))) }) } }
#[derive(Weigh)] pub enum T5 { V0(u64, String, char), V1(T0), V2(std::num::NonZero<u32>, Map<u32, Box<Map<u32, char>>>), V3(Option<Option<BTreeMap<u16, u32>>>, Box<(BTreeMap<u16, T3>, BTreeMap<u16, u64>)>, Vec<Box<u64>>), V4(BTreeMap<u16, Box<[Map<u32, T2>]>>, char, String) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(m::<u64>(g), m::<String>(g), m::<char>(g)), 1 => T5::V1(T0::make(g)), 2 => T5::V2(m::<std::num::NonZero<u32>>(g), map::<u32, _>(g, |g| Box::new(map::<u32, _>(g, |g| m::<char>(g))))), 3 => T5::V3(option(g, |g| option(g, |g| sorted::<u16, _>(g, |g| m::<u32>(g)))), Box::new((sorted::<u16, _>(g, |g| T3::make(g)), sorted::<u16, _>(g, |g| m::<u64>(g)))), vec(g, |g| Box::new(m::<u64>(g)))), _ => T5::V4(sorted::<u16, _>(g, |g| vec(g, |g| map::<u32, _>(g, |g| T2::make(g))).into_boxed_slice()), m::<char>(g), m::<String>(g)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T6 { f0: Map<u32, T5>, f1: BTreeMap<u16, T4>, f2: G<T0> }
impl T6 { fn make(g: &mut Gen) -> Self { g.nested(|g| T6 { f0: map::<u32, _>(g, |g| T5::make(g)), f1: sorted::<u16, _>(g, |g| T4::make(g)), f2: G::make(g, |g| T0::make(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: char, f1: Option<u8>, f2: u64, f3: Option<f64> }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: m::<char>(g), f1: option(g, |g| m::<u8>(g)), f2: m::<u64>(g), f3: option(g, |g| m::<f64>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: Option<bool>, f1: bool, f2: u64, f3: Option<bool> }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: option(g, |g| m::<bool>(g)), f1: m::<bool>(g), f2: m::<u64>(g), f3: option(g, |g| m::<bool>(g)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: Map<u32, Vec<bool>>, f1: Vec<std::num::NonZero<u32>>, f2: Map<u32, (String, [String; 2])> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: map::<u32, _>(g, |g| vec(g, |g| m::<bool>(g))), f1: vec(g, |g| m::<std::num::NonZero<u32>>(g)), f2: map::<u32, _>(g, |g| (m::<String>(g), [m::<String>(g), m::<String>(g)])) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: f64 }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<f64>(g) }) } }
#[derive(Weigh)] pub enum T4 { V0, V1(Option<T1>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0, _ => T4::V1(option(g, |g| T1::make(g))) }) } }
#[derive(Weigh)] pub enum T5 { V0(u64, String, char), V1(T0), V2(std::num::NonZero<u32>, Map<u32, Box<Map<u32, char>>>), V3(Option<Option<BTreeMap<u16, u32>>>, Box<(BTreeMap<u16, T3>, BTreeMap<u16, u64>)>, Box<[Box<u64>]>), V4(BTreeMap<u16, Box<[Map<u32, T2>]>>, char, ThinStr) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(m::<u64>(g), m::<String>(g), m::<char>(g)), 1 => T5::V1(T0::make(g)), 2 => T5::V2(m::<std::num::NonZero<u32>>(g), map::<u32, _>(g, |g| Box::new(map::<u32, _>(g, |g| m::<char>(g))))), 3 => T5::V3(option(g, |g| option(g, |g| sorted::<u16, _>(g, |g| m::<u32>(g)))), Box::new((sorted::<u16, _>(g, |g| T3::make(g)), sorted::<u16, _>(g, |g| m::<u64>(g)))), vec(g, |g| Box::new(m::<u64>(g))).into_boxed_slice()), _ => T5::V4(sorted::<u16, _>(g, |g| vec(g, |g| map::<u32, _>(g, |g| T2::make(g))).into_boxed_slice()), m::<char>(g), ThinStr::new(&m::<String>(g))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T6 { f0: Map<u32, T5>, f1: BTreeMap<u16, T4>, f2: G<T0> }
impl T6 { fn make(g: &mut Gen) -> Self { g.nested(|g| T6 { f0: map::<u32, _>(g, |g| T5::make(g)), f1: sorted::<u16, _>(g, |g| T4::make(g)), f2: G::make(g, |g| T0::make(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p29 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<bool>, f1: u16, f2: f64, f3: u16, f4: [u64; 9] }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<bool>(g)), f1: m::<u16>(g), f2: m::<f64>(g), f3: m::<u16>(g), f4: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<T0>, f1: u32, f2: Box<str>, f3: Option<Box<Map<u32, [T3; 2]>>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| T0::make(g)), f1: m::<u32>(g), f2: m::<Box<str>>(g), f3: option(g, |g| Box::new(map::<u32, _>(g, |g| [T3::make(g), T3::make(g)]))) }) } }
#[derive(Weigh)] pub struct T2 { f0: G<(T0, (u64, bool))>, f1: ([Option<String>; 2], Rc<BTreeMap<u16, T0>>), f2: Option<Box<Option<Box<Option<T5>>>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: G::make(g, |g| (T0::make(g), (m::<u64>(g), m::<bool>(g)))), f1: ([option(g, |g| m::<String>(g)), option(g, |g| m::<String>(g))], Rc::new(sorted::<u16, _>(g, |g| T0::make(g)))), f2: option(g, |g| Box::new(option(g, |g| Box::new(option(g, |g| T5::make(g)))))) }) } }
#[derive(Weigh)] pub struct T3 { f0: Map<u32, Option<Option<u8>>>, f1: T1, f2: String, f3: T2, f4: Option<Vec<Option<u32>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: map::<u32, _>(g, |g| option(g, |g| option(g, |g| m::<u8>(g)))), f1: T1::make(g), f2: m::<String>(g), f3: T2::make(g), f4: option(g, |g| vec(g, |g| option(g, |g| m::<u32>(g)))) }) } }
#[derive(Weigh)] pub struct T4 { f0: T2, f1: Option<Box<[T2]>>, f2: T3 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: T2::make(g), f1: option(g, |g| vec(g, |g| T2::make(g)).into_boxed_slice()), f2: T3::make(g) }) } }
#[derive(Weigh)] pub enum T5 { V0(u16, Option<u16>, u8), V1 }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(m::<u16>(g), option(g, |g| m::<u16>(g)), m::<u8>(g)), _ => T5::V1 }) } }
#[derive(Weigh)] pub struct T6 { f0: Box<str> }
impl T6 { fn make(g: &mut Gen) -> Self { g.nested(|g| T6 { f0: m::<Box<str>>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<bool>, f1: u16, f2: f64, f3: u16, f4: [u64; 9] }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<bool>(g)), f1: m::<u16>(g), f2: m::<f64>(g), f3: m::<u16>(g), f4: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<T0>, f1: u32, f2: Box<str>, f3: Option<Box<SortedMap<u32, [T3; 2]>>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| T0::make(g)), f1: m::<u32>(g), f2: m::<Box<str>>(g), f3: option(g, |g| Box::new(map::<u32, _>(g, |g| [T3::make(g), T3::make(g)]).into_iter().collect())) }) } }
#[derive(Weigh)] pub struct T2 { f0: G<(T0, (u64, bool))>, f1: ([Option<String>; 2], Rc<BTreeMap<u16, T0>>), f2: Option<Box<Option<Box<Option<T5>>>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: G::make(g, |g| (T0::make(g), (m::<u64>(g), m::<bool>(g)))), f1: ([option(g, |g| m::<String>(g)), option(g, |g| m::<String>(g))], Rc::new(sorted::<u16, _>(g, |g| T0::make(g)))), f2: option(g, |g| Box::new(option(g, |g| Box::new(option(g, |g| T5::make(g)))))) }) } }
#[derive(Weigh)] pub struct T3 { f0: SortedMap<u32, Option<Option<u8>>>, f1: T1, f2: String, f3: Box<T2>, f4: Option<Vec<Option<u32>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: map::<u32, _>(g, |g| option(g, |g| option(g, |g| m::<u8>(g)))).into_iter().collect(), f1: T1::make(g), f2: m::<String>(g), f3: Box::new(T2::make(g)), f4: option(g, |g| vec(g, |g| option(g, |g| m::<u32>(g)))) }) } }
#[derive(Weigh)] pub struct T4 { f0: T2, f1: Option<ThinSlice<T2>>, f2: T3 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: T2::make(g), f1: option(g, |g| ThinSlice::from(vec(g, |g| T2::make(g)).into_boxed_slice())), f2: T3::make(g) }) } }
#[derive(Weigh)] pub enum T5 { V0(u16, Option<u16>, u8), V1 }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(m::<u16>(g), option(g, |g| m::<u16>(g)), m::<u8>(g)), _ => T5::V1 }) } }
#[derive(Weigh)] pub struct T6 { f0: Box<str> }
impl T6 { fn make(g: &mut Gen) -> Self { g.nested(|g| T6 { f0: m::<Box<str>>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p30 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<u8> }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<u8>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(Option<u8>, Option<bool>, u16), V1, V2(Map<u32, BTreeMap<u16, T1>>, T0, Option<u64>), V3 }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(option(g, |g| m::<u8>(g)), option(g, |g| m::<bool>(g)), m::<u16>(g)), 1 => T1::V1, 2 => T1::V2(map::<u32, _>(g, |g| sorted::<u16, _>(g, |g| T1::make(g))), T0::make(g), option(g, |g| m::<u64>(g))), _ => T1::V3 }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: bool, f1: char, f2: Option<u16>, f3: u64, f4: Option<u64> }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<bool>(g), f1: m::<char>(g), f2: option(g, |g| m::<u16>(g)), f3: m::<u64>(g), f4: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T3 { V0, V1(T2, G<[(char, bool); 2]>, [Option<u64>; 2]), V2(Option<Option<Option<String>>>), V3(String), V4(T1, [char; 2], BTreeMap<u16, Map<u32, std::num::NonZero<u32>>>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0, 1 => T3::V1(T2::make(g), G::make(g, |g| [(m::<char>(g), m::<bool>(g)), (m::<char>(g), m::<bool>(g))]), [option(g, |g| m::<u64>(g)), option(g, |g| m::<u64>(g))]), 2 => T3::V2(option(g, |g| option(g, |g| option(g, |g| m::<String>(g))))), 3 => T3::V3(m::<String>(g)), _ => T3::V4(T1::make(g), [m::<char>(g), m::<char>(g)], sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<std::num::NonZero<u32>>(g)))) }) } }
#[derive(Weigh)] pub enum T4 { V0(u8, [u64; 9]), V1 }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(m::<u8>(g), m::<[u64; 9]>(g)), _ => T4::V1 }) } }
#[derive(Weigh)] pub enum T5 { V0(Option<[u64; 9]>, u8, f64), V1(u8, BTreeMap<u16, u32>, T2) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(option(g, |g| m::<[u64; 9]>(g)), m::<u8>(g), m::<f64>(g)), _ => T5::V1(m::<u8>(g), sorted::<u16, _>(g, |g| m::<u32>(g)), T2::make(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<u8> }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<u8>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(Option<u8>, Option<bool>, u16), V1, V2(Map<u32, BTreeMap<u16, Option<Box<T1>>>>, T0, Option<u64>), V3 }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(option(g, |g| m::<u8>(g)), option(g, |g| m::<bool>(g)), m::<u16>(g)), 1 => T1::V1, 2 => T1::V2(map::<u32, _>(g, |g| sorted::<u16, _>(g, |g| boxed(T1::make(g)))), T0::make(g), option(g, |g| m::<u64>(g))), _ => T1::V3 }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: bool, f1: char, f2: Option<u16>, f3: u64, f4: Option<u64> }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<bool>(g), f1: m::<char>(g), f2: option(g, |g| m::<u16>(g)), f3: m::<u64>(g), f4: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T3 { V0, V1(Box<(T2, G<[(char, bool); 2]>, [Option<u64>; 2])>), V2(Option<Option<Option<String>>>), V3(Box<str>), V4(T1, [char; 2], BTreeMap<u16, Map<u32, std::num::NonZero<u32>>>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0, 1 => T3::V1(Box::new((T2::make(g), G::make(g, |g| [(m::<char>(g), m::<bool>(g)), (m::<char>(g), m::<bool>(g))]), [option(g, |g| m::<u64>(g)), option(g, |g| m::<u64>(g))]))), 2 => T3::V2(option(g, |g| option(g, |g| option(g, |g| m::<String>(g))))), 3 => T3::V3(m::<String>(g).into_boxed_str()), _ => T3::V4(T1::make(g), [m::<char>(g), m::<char>(g)], sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<std::num::NonZero<u32>>(g)))) }) } }
#[derive(Weigh)] pub enum T4 { V0(u8, [u64; 9]), V1 }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(m::<u8>(g), m::<[u64; 9]>(g)), _ => T4::V1 }) } }
#[derive(Weigh)] pub enum T5 { V0(Option<[u64; 9]>, u8, f64), V1(u8, BTreeMap<u16, u32>, T2) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(option(g, |g| m::<[u64; 9]>(g)), m::<u8>(g), m::<f64>(g)), _ => T5::V1(m::<u8>(g), sorted::<u16, _>(g, |g| m::<u32>(g)), T2::make(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p31 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: Option<Option<Box<[u64; 9]>>>, f1: [[(String, u64); 2]; 2], f2: Option<Option<(u64, std::num::NonZero<u32>)>>, f3: Option<Box<String>> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: option(g, |g| option(g, |g| Box::new(m::<[u64; 9]>(g)))), f1: [[(m::<String>(g), m::<u64>(g)), (m::<String>(g), m::<u64>(g))], [(m::<String>(g), m::<u64>(g)), (m::<String>(g), m::<u64>(g))]], f2: option(g, |g| option(g, |g| (m::<u64>(g), m::<std::num::NonZero<u32>>(g)))), f3: option(g, |g| Box::new(m::<String>(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: Option<[u64; 9]>, f1: u64, f2: String }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: option(g, |g| m::<[u64; 9]>(g)), f1: m::<u64>(g), f2: m::<String>(g) }) } }
#[derive(Weigh)] pub enum T2 { V0, V1, V2((u32, Rc<Box<bool>>), T1, Vec<Option<[u32; 2]>>), V3(LinkedList<()>), V4 }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0, 1 => T2::V1, 2 => T2::V2((m::<u32>(g), Rc::new(Box::new(m::<bool>(g)))), T1::make(g), vec(g, |g| option(g, |g| [m::<u32>(g), m::<u32>(g)]))), 3 => T2::V3(list(g, |g| m::<()>(g))), _ => T2::V4 }) } }
#[derive(Weigh)] #[repr(C)] pub struct T3 { f0: T0, f1: LinkedList<u8>, f2: Option<Box<bool>>, f3: Option<Box<LinkedList<String>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: T0::make(g), f1: list(g, |g| m::<u8>(g)), f2: option(g, |g| Box::new(m::<bool>(g))), f3: option(g, |g| Box::new(list(g, |g| m::<String>(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: char, f1: u8, f2: String, f3: Option<u64> }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: m::<char>(g), f1: m::<u8>(g), f2: m::<String>(g), f3: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] pub struct T5 { f0: BTreeMap<u16, u8>, f1: T1, f2: [T3; 2], f3: Option<Box<char>> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: sorted::<u16, _>(g, |g| m::<u8>(g)), f1: T1::make(g), f2: [T3::make(g), T3::make(g)], f3: option(g, |g| Box::new(m::<char>(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: Option<Option<Box<[u64; 9]>>>, f1: [[(String, u64); 2]; 2], f2: Option<Option<(u64, std::num::NonZero<u32>)>>, f3: Option<Box<String>> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: option(g, |g| option(g, |g| Box::new(m::<[u64; 9]>(g)))), f1: [[(m::<String>(g), m::<u64>(g)), (m::<String>(g), m::<u64>(g))], [(m::<String>(g), m::<u64>(g)), (m::<String>(g), m::<u64>(g))]], f2: option(g, |g| option(g, |g| (m::<u64>(g), m::<std::num::NonZero<u32>>(g)))), f3: option(g, |g| Box::new(m::<String>(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: Option<[u64; 9]>, f1: u64, f2: String }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: option(g, |g| m::<[u64; 9]>(g)), f1: m::<u64>(g), f2: m::<String>(g) }) } }
#[derive(Weigh)] pub enum T2 { V0, V1, V2((u32, Rc<Box<bool>>), T1, Box<[Option<[u32; 2]>]>), V3(LinkedList<()>), V4 }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0, 1 => T2::V1, 2 => T2::V2((m::<u32>(g), Rc::new(Box::new(m::<bool>(g)))), T1::make(g), vec(g, |g| option(g, |g| [m::<u32>(g), m::<u32>(g)])).into_boxed_slice()), 3 => T2::V3(list(g, |g| m::<()>(g))), _ => T2::V4 }) } }
#[derive(Weigh)] #[repr(C)] pub struct T3 { f0: T0, f1: LinkedList<u8>, f2: Option<Box<bool>>, f3: Option<Box<LinkedList<String>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: T0::make(g), f1: list(g, |g| m::<u8>(g)), f2: option(g, |g| Box::new(m::<bool>(g))), f3: option(g, |g| Box::new(list(g, |g| m::<String>(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: char, f1: u8, f2: String, f3: Option<u64> }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: m::<char>(g), f1: m::<u8>(g), f2: m::<String>(g), f3: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] pub struct T5 { f0: BTreeMap<u16, u8>, f1: T1, f2: [T3; 2], f3: Option<Box<char>> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: sorted::<u16, _>(g, |g| m::<u8>(g)), f1: T1::make(g), f2: [T3::make(g), T3::make(g)], f3: option(g, |g| Box::new(m::<char>(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p32 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(char, Option<char>, Option<String>), V1(BTreeMap<u16, T3>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<char>(g), option(g, |g| m::<char>(g)), option(g, |g| m::<String>(g))), _ => T0::V1(sorted::<u16, _>(g, |g| T3::make(g))) }) } }
#[derive(Weigh)] pub enum T1 { V0, V1(Box<str>, u8), V2(Option<T0>), V3((Option<Vec<()>>, Vec<T3>), BTreeMap<u16, G<Vec<Box<str>>>>, Box<Option<std::num::NonZero<u32>>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0, 1 => T1::V1(m::<Box<str>>(g), m::<u8>(g)), 2 => T1::V2(option(g, |g| T0::make(g))), _ => T1::V3((option(g, |g| vec(g, |g| m::<()>(g))), vec(g, |g| T3::make(g))), sorted::<u16, _>(g, |g| G::make(g, |g| vec(g, |g| m::<Box<str>>(g)))), Box::new(option(g, |g| m::<std::num::NonZero<u32>>(g)))) }) } }
#[derive(Weigh)] pub struct T2 { f0: G<Option<Map<u32, T4>>>, f1: f64 }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: G::make(g, |g| option(g, |g| map::<u32, _>(g, |g| T4::make(g)))), f1: m::<f64>(g) }) } }
#[derive(Weigh)] pub enum T3 { V0(Option<bool>, char, f64), V1, V2, V3(Map<u32, Map<u32, T2>>, Option<BTreeMap<u16, Vec<T1>>>, Vec<[([u8; 3], u16); 2]>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(option(g, |g| m::<bool>(g)), m::<char>(g), m::<f64>(g)), 1 => T3::V1, 2 => T3::V2, _ => T3::V3(map::<u32, _>(g, |g| map::<u32, _>(g, |g| T2::make(g))), option(g, |g| sorted::<u16, _>(g, |g| vec(g, |g| T1::make(g)))), vec(g, |g| [(m::<[u8; 3]>(g), m::<u16>(g)), (m::<[u8; 3]>(g), m::<u16>(g))])) }) } }
#[derive(Weigh)] pub struct T4 { f0: Option<Option<Option<u8>>> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: option(g, |g| option(g, |g| option(g, |g| m::<u8>(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T0 { V0(char, Option<char>, Option<String>), V1(BTreeMap<u16, T3>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<char>(g), option(g, |g| m::<char>(g)), option(g, |g| m::<String>(g))), _ => T0::V1(sorted::<u16, _>(g, |g| T3::make(g))) }) } }
#[derive(Weigh)] pub enum T1 { V0, V1(Box<str>, u8), V2(Option<T0>), V3((Option<Vec<()>>, Vec<T3>), BTreeMap<u16, G<Vec<Box<str>>>>, Box<Option<std::num::NonZero<u32>>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0, 1 => T1::V1(m::<Box<str>>(g), m::<u8>(g)), 2 => T1::V2(option(g, |g| T0::make(g))), _ => T1::V3((option(g, |g| vec(g, |g| m::<()>(g))), vec(g, |g| T3::make(g))), sorted::<u16, _>(g, |g| G::make(g, |g| vec(g, |g| m::<Box<str>>(g)))), Box::new(option(g, |g| m::<std::num::NonZero<u32>>(g)))) }) } }
#[derive(Weigh)] pub struct T2 { f0: G<Option<Map<u32, T4>>>, f1: f64 }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: G::make(g, |g| option(g, |g| map::<u32, _>(g, |g| T4::make(g)))), f1: m::<f64>(g) }) } }
#[derive(Weigh)] pub enum T3 { V0(Option<bool>, char, f64), V1, V2, V3(Map<u32, SortedMap<u32, T2>>, Option<BTreeMap<u16, Vec<T1>>>, Vec<[([u8; 3], u16); 2]>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(option(g, |g| m::<bool>(g)), m::<char>(g), m::<f64>(g)), 1 => T3::V1, 2 => T3::V2, _ => T3::V3(map::<u32, _>(g, |g| map::<u32, _>(g, |g| T2::make(g)).into_iter().collect()), option(g, |g| sorted::<u16, _>(g, |g| vec(g, |g| T1::make(g)))), vec(g, |g| [(m::<[u8; 3]>(g), m::<u16>(g)), (m::<[u8; 3]>(g), m::<u16>(g))])) }) } }
#[derive(Weigh)] pub struct T4 { f0: Option<Option<Option<u8>>> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: option(g, |g| option(g, |g| option(g, |g| m::<u8>(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p33 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: Option<Box<Option<Box<bool>>>>, f1: [G<(u8, u32)>; 2] }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: option(g, |g| Box::new(option(g, |g| Box::new(m::<bool>(g))))), f1: [G::make(g, |g| (m::<u8>(g), m::<u32>(g))), G::make(g, |g| (m::<u8>(g), m::<u32>(g)))] }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: char, f1: Option<u16>, f2: String, f3: [u64; 9] }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<char>(g), f1: option(g, |g| m::<u16>(g)), f2: m::<String>(g), f3: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T2 { f0: Option<Option<Option<char>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: option(g, |g| option(g, |g| option(g, |g| m::<char>(g)))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T3 { f0: [(Option<std::num::NonZero<u32>>, (char, u64)); 2], f1: Map<u32, u16>, f2: T2 }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: [(option(g, |g| m::<std::num::NonZero<u32>>(g)), (m::<char>(g), m::<u64>(g))), (option(g, |g| m::<std::num::NonZero<u32>>(g)), (m::<char>(g), m::<u64>(g)))], f1: map::<u32, _>(g, |g| m::<u16>(g)), f2: T2::make(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: u64 }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: m::<u64>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T5 { f0: [Option<Box<T6>>; 2], f1: T0, f2: [u64; 9], f3: Box<[char]> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: [option(g, |g| Box::new(T6::make(g))), option(g, |g| Box::new(T6::make(g)))], f1: T0::make(g), f2: m::<[u64; 9]>(g), f3: vec(g, |g| m::<char>(g)).into_boxed_slice() }) } }
#[derive(Weigh)] pub struct T6 { f0: Map<u32, T0>, f1: [u64; 9], f2: Vec<[f64; 2]>, f3: G<LinkedList<u16>> }
impl T6 { fn make(g: &mut Gen) -> Self { g.nested(|g| T6 { f0: map::<u32, _>(g, |g| T0::make(g)), f1: m::<[u64; 9]>(g), f2: vec(g, |g| [m::<f64>(g), m::<f64>(g)]), f3: G::make(g, |g| list(g, |g| m::<u16>(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: Box<str>, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g).into_boxed_str(), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: Option<Box<Option<Box<bool>>>>, f1: [G<(u8, u32)>; 2] }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: option(g, |g| Box::new(option(g, |g| Box::new(m::<bool>(g))))), f1: [G::make(g, |g| (m::<u8>(g), m::<u32>(g))), G::make(g, |g| (m::<u8>(g), m::<u32>(g)))] }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: char, f1: Option<u16>, f2: String, f3: [u64; 9] }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<char>(g), f1: option(g, |g| m::<u16>(g)), f2: m::<String>(g), f3: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T2 { f0: Option<Option<Option<char>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: option(g, |g| option(g, |g| option(g, |g| m::<char>(g)))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T3 { f0: [Option<Box<(Option<std::num::NonZero<u32>>, (char, u64))>>; 2], f1: Map<u32, u16>, f2: Box<T2> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: [boxed((option(g, |g| m::<std::num::NonZero<u32>>(g)), (m::<char>(g), m::<u64>(g)))), boxed((option(g, |g| m::<std::num::NonZero<u32>>(g)), (m::<char>(g), m::<u64>(g))))], f1: map::<u32, _>(g, |g| m::<u16>(g)), f2: Box::new(T2::make(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T4 { f0: u64 }
impl T4 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T4::default() } g.nested(|g| T4 { f0: m::<u64>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T5 { f0: [Option<Box<T6>>; 2], f1: T0, f2: Box<[u64; 9]>, f3: Box<[char]> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: [option(g, |g| Box::new(T6::make(g))), option(g, |g| Box::new(T6::make(g)))], f1: T0::make(g), f2: Box::new(m::<[u64; 9]>(g)), f3: vec(g, |g| m::<char>(g)).into_boxed_slice() }) } }
#[derive(Weigh)] pub struct T6 { f0: Map<u32, T0>, f1: Box<[u64; 9]>, f2: Vec<[f64; 2]>, f3: G<LinkedList<u16>> }
impl T6 { fn make(g: &mut Gen) -> Self { g.nested(|g| T6 { f0: map::<u32, _>(g, |g| T0::make(g)), f1: Box::new(m::<[u64; 9]>(g)), f2: vec(g, |g| [m::<f64>(g), m::<f64>(g)]), f3: G::make(g, |g| list(g, |g| m::<u16>(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<T6>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| T6::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p34 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: Option<[Vec<Box<str>>; 2]>, f1: Option<Option<Option<Box<std::num::NonZero<u32>>>>> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: option(g, |g| [vec(g, |g| m::<Box<str>>(g)), vec(g, |g| m::<Box<str>>(g))]), f1: option(g, |g| option(g, |g| option(g, |g| Box::new(m::<std::num::NonZero<u32>>(g))))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Box<[G<String>]>, f1: T0, f2: Option<[Option<Box<T3>>; 2]>, f3: Vec<BTreeMap<u16, Map<u32, String>>>, f4: Option<Box<Vec<Option<T4>>>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: vec(g, |g| G::make(g, |g| m::<String>(g))).into_boxed_slice(), f1: T0::make(g), f2: option(g, |g| [option(g, |g| Box::new(T3::make(g))), option(g, |g| Box::new(T3::make(g)))]), f3: vec(g, |g| sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<String>(g)))), f4: option(g, |g| Box::new(vec(g, |g| option(g, |g| T4::make(g))))) }) } }
#[derive(Weigh)] pub struct T2 { f0: G<BTreeMap<u16, G<T4>>>, f1: (Map<u32, Rc<[u8; 3]>>, Box<str>), f2: [String; 2], f3: Vec<Map<u32, T3>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: G::make(g, |g| sorted::<u16, _>(g, |g| G::make(g, |g| T4::make(g)))), f1: (map::<u32, _>(g, |g| Rc::new(m::<[u8; 3]>(g))), m::<Box<str>>(g)), f2: [m::<String>(g), m::<String>(g)], f3: vec(g, |g| map::<u32, _>(g, |g| T3::make(g))) }) } }
#[derive(Weigh)] pub struct T3 { f0: f64, f1: Option<Box<BTreeMap<u16, Option<T2>>>>, f2: BTreeMap<u16, LinkedList<[bool; 2]>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: m::<f64>(g), f1: option(g, |g| Box::new(sorted::<u16, _>(g, |g| option(g, |g| T2::make(g))))), f2: sorted::<u16, _>(g, |g| list(g, |g| [m::<bool>(g), m::<bool>(g)])) }) } }
#[derive(Weigh)] pub enum T4 { V0(Option<u64>, String), V1(u8), V2(bool), V3(G<String>), V4 }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(option(g, |g| m::<u64>(g)), m::<String>(g)), 1 => T4::V1(m::<u8>(g)), 2 => T4::V2(m::<bool>(g)), 3 => T4::V3(G::make(g, |g| m::<String>(g))), _ => T4::V4 }) } }
#[derive(Weigh)] pub enum T5 { V0([u64; 9], char), V1((u64, [std::num::NonZero<u32>; 2]), T1), V2(Box<(String, G<()>)>, u32), V3, V4 }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(m::<[u64; 9]>(g), m::<char>(g)), 1 => T5::V1((m::<u64>(g), [m::<std::num::NonZero<u32>>(g), m::<std::num::NonZero<u32>>(g)]), T1::make(g)), 2 => T5::V2(Box::new((m::<String>(g), G::make(g, |g| m::<()>(g)))), m::<u32>(g)), 3 => T5::V3, _ => T5::V4 }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: Option<[Vec<Box<str>>; 2]>, f1: Option<Option<Option<Box<std::num::NonZero<u32>>>>> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: option(g, |g| [vec(g, |g| m::<Box<str>>(g)), vec(g, |g| m::<Box<str>>(g))]), f1: option(g, |g| option(g, |g| option(g, |g| Box::new(m::<std::num::NonZero<u32>>(g))))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Box<[G<String>]>, f1: T0, f2: Option<[Option<Box<T3>>; 2]>, f3: Vec<BTreeMap<u16, Map<u32, String>>>, f4: Option<Box<Box<[Option<T4>]>>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: vec(g, |g| G::make(g, |g| m::<String>(g))).into_boxed_slice(), f1: T0::make(g), f2: option(g, |g| [option(g, |g| Box::new(T3::make(g))), option(g, |g| Box::new(T3::make(g)))]), f3: vec(g, |g| sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<String>(g)))), f4: option(g, |g| Box::new(vec(g, |g| option(g, |g| T4::make(g))).into_boxed_slice())) }) } }
#[derive(Weigh)] pub struct T2 { f0: G<BTreeMap<u16, G<T4>>>, f1: (Map<u32, Rc<[u8; 3]>>, Box<str>), f2: [String; 2], f3: Vec<Map<u32, T3>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: G::make(g, |g| sorted::<u16, _>(g, |g| G::make(g, |g| T4::make(g)))), f1: (map::<u32, _>(g, |g| Rc::new(m::<[u8; 3]>(g))), m::<Box<str>>(g)), f2: [m::<String>(g), m::<String>(g)], f3: vec(g, |g| map::<u32, _>(g, |g| T3::make(g))) }) } }
#[derive(Weigh)] pub struct T3 { f0: f64, f1: Option<Box<BTreeMap<u16, Option<T2>>>>, f2: BTreeMap<u16, LinkedList<[bool; 2]>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: m::<f64>(g), f1: option(g, |g| Box::new(sorted::<u16, _>(g, |g| option(g, |g| T2::make(g))))), f2: sorted::<u16, _>(g, |g| list(g, |g| [m::<bool>(g), m::<bool>(g)])) }) } }
#[derive(Weigh)] pub enum T4 { V0(Option<u64>, String), V1(u8), V2(bool), V3(G<String>), V4 }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(option(g, |g| m::<u64>(g)), m::<String>(g)), 1 => T4::V1(m::<u8>(g)), 2 => T4::V2(m::<bool>(g)), 3 => T4::V3(G::make(g, |g| m::<String>(g))), _ => T4::V4 }) } }
#[derive(Weigh)] pub enum T5 { V0([u64; 9], char), V1((u64, [std::num::NonZero<u32>; 2]), T1), V2(Box<(String, G<()>)>, u32), V3, V4 }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(m::<[u64; 9]>(g), m::<char>(g)), 1 => T5::V1((m::<u64>(g), [m::<std::num::NonZero<u32>>(g), m::<std::num::NonZero<u32>>(g)]), T1::make(g)), 2 => T5::V2(Box::new((m::<String>(g), G::make(g, |g| m::<()>(g)))), m::<u32>(g)), 3 => T5::V3, _ => T5::V4 }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p35 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(String, char, [u64; 9]), V1((), u64), V2((), Option<(Box<[u32]>, Option<u16>)>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<String>(g), m::<char>(g), m::<[u64; 9]>(g)), 1 => T0::V1(m::<()>(g), m::<u64>(g)), _ => T0::V2(m::<()>(g), option(g, |g| (vec(g, |g| m::<u32>(g)).into_boxed_slice(), option(g, |g| m::<u16>(g))))) }) } }
#[derive(Weigh)] pub struct T1 { f0: u16, f1: f64, f2: T0 }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: m::<u16>(g), f1: m::<f64>(g), f2: T0::make(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: Option<u64>, f1: u64 }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: option(g, |g| m::<u64>(g)), f1: m::<u64>(g) }) } }
#[derive(Weigh)] pub struct T3 { f0: G<Option<Option<T2>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: G::make(g, |g| option(g, |g| option(g, |g| T2::make(g)))) }) } }
#[derive(Weigh)] pub struct T4 { f0: G<G<String>> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: G::make(g, |g| G::make(g, |g| m::<String>(g))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T5 { f0: Map<u32, f64>, f1: Vec<Option<Vec<T5>>>, f2: Option<Box<Option<Box<[bool; 2]>>>> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: map::<u32, _>(g, |g| m::<f64>(g)), f1: vec(g, |g| option(g, |g| vec(g, |g| T5::make(g)))), f2: option(g, |g| Box::new(option(g, |g| Box::new([m::<bool>(g), m::<bool>(g)])))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T0 { V0(String, char, [u64; 9]), V1((), u64), V2((), Option<(Box<[u32]>, Option<u16>)>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<String>(g), m::<char>(g), m::<[u64; 9]>(g)), 1 => T0::V1(m::<()>(g), m::<u64>(g)), _ => T0::V2(m::<()>(g), option(g, |g| (vec(g, |g| m::<u32>(g)).into_boxed_slice(), option(g, |g| m::<u16>(g))))) }) } }
#[derive(Weigh)] pub struct T1 { f0: u16, f1: f64, f2: T0 }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: m::<u16>(g), f1: m::<f64>(g), f2: T0::make(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: Option<u64>, f1: u64 }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: option(g, |g| m::<u64>(g)), f1: m::<u64>(g) }) } }
#[derive(Weigh)] pub struct T3 { f0: G<Option<Option<T2>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: G::make(g, |g| option(g, |g| option(g, |g| T2::make(g)))) }) } }
#[derive(Weigh)] pub struct T4 { f0: G<G<String>> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: G::make(g, |g| G::make(g, |g| m::<String>(g))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T5 { f0: Map<u32, f64>, f1: Vec<Option<Vec<T5>>>, f2: Option<Box<Option<Box<[bool; 2]>>>> }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: map::<u32, _>(g, |g| m::<f64>(g)), f1: vec(g, |g| option(g, |g| vec(g, |g| T5::make(g)))), f2: option(g, |g| Box::new(option(g, |g| Box::new([m::<bool>(g), m::<bool>(g)])))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p36 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T0 { f0: Vec<Option<Map<u32, T3>>>, f1: Option<[G<[u8; 3]>; 2]>, f2: (Vec<Vec<T0>>, Option<Option<[u64; 9]>>), f3: Option<Option<Option<u64>>>, f4: ([u8; 3], Map<u32, Option<u16>>) }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: vec(g, |g| option(g, |g| map::<u32, _>(g, |g| T3::make(g)))), f1: option(g, |g| [G::make(g, |g| m::<[u8; 3]>(g)), G::make(g, |g| m::<[u8; 3]>(g))]), f2: (vec(g, |g| vec(g, |g| T0::make(g))), option(g, |g| option(g, |g| m::<[u64; 9]>(g)))), f3: option(g, |g| option(g, |g| option(g, |g| m::<u64>(g)))), f4: (m::<[u8; 3]>(g), map::<u32, _>(g, |g| option(g, |g| m::<u16>(g)))) }) } }
#[derive(Weigh)] pub enum T1 { V0, V1(T0, bool, char) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0, _ => T1::V1(T0::make(g), m::<bool>(g), m::<char>(g)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: std::num::NonZero<u32>, f1: Option<Box<Option<u32>>>, f2: T1, f3: Rc<Vec<bool>>, f4: Option<G<G<T1>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: m::<std::num::NonZero<u32>>(g), f1: option(g, |g| Box::new(option(g, |g| m::<u32>(g)))), f2: T1::make(g), f3: Rc::new(vec(g, |g| m::<bool>(g))), f4: option(g, |g| G::make(g, |g| G::make(g, |g| T1::make(g)))) }) } }
#[derive(Weigh)] pub struct T3 { f0: [Box<[Map<u32, T2>]>; 2], f1: G<Option<T2>>, f2: u8, f3: T0 }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: [vec(g, |g| map::<u32, _>(g, |g| T2::make(g))).into_boxed_slice(), vec(g, |g| map::<u32, _>(g, |g| T2::make(g))).into_boxed_slice()], f1: G::make(g, |g| option(g, |g| T2::make(g))), f2: m::<u8>(g), f3: T0::make(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T0 { f0: Vec<Option<Map<u32, T3>>>, f1: Option<[G<[u8; 3]>; 2]>, f2: (Vec<Vec<T0>>, Option<Option<[u64; 9]>>), f3: Option<Option<Option<u64>>>, f4: Box<([u8; 3], Map<u32, Option<u16>>)> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: vec(g, |g| option(g, |g| map::<u32, _>(g, |g| T3::make(g)))), f1: option(g, |g| [G::make(g, |g| m::<[u8; 3]>(g)), G::make(g, |g| m::<[u8; 3]>(g))]), f2: (vec(g, |g| vec(g, |g| T0::make(g))), option(g, |g| option(g, |g| m::<[u64; 9]>(g)))), f3: option(g, |g| option(g, |g| option(g, |g| m::<u64>(g)))), f4: Box::new((m::<[u8; 3]>(g), map::<u32, _>(g, |g| option(g, |g| m::<u16>(g))))) }) } }
#[derive(Weigh)] pub enum T1 { V0, V1(Option<Box<T0>>, bool, char) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0, _ => T1::V1(boxed(T0::make(g)), m::<bool>(g), m::<char>(g)) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: std::num::NonZero<u32>, f1: Option<Box<Option<u32>>>, f2: Box<T1>, f3: Rc<Vec<bool>>, f4: Option<G<G<T1>>> }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: m::<std::num::NonZero<u32>>(g), f1: option(g, |g| Box::new(option(g, |g| m::<u32>(g)))), f2: Box::new(T1::make(g)), f3: Rc::new(vec(g, |g| m::<bool>(g))), f4: option(g, |g| G::make(g, |g| G::make(g, |g| T1::make(g)))) }) } }
#[derive(Weigh)] pub struct T3 { f0: [Box<[Map<u32, T2>]>; 2], f1: G<Option<T2>>, f2: u8, f3: Box<T0> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: [vec(g, |g| map::<u32, _>(g, |g| T2::make(g))).into_boxed_slice(), vec(g, |g| map::<u32, _>(g, |g| T2::make(g))).into_boxed_slice()], f1: G::make(g, |g| option(g, |g| T2::make(g))), f2: m::<u8>(g), f3: Box::new(T0::make(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p37 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1(Option<[u8; 3]>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, _ => T0::V1(option(g, |g| m::<[u8; 3]>(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: bool, f1: u8, f2: Option<u64> }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<bool>(g), f1: m::<u8>(g), f2: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T2 { V0(bool, char), V1(T0, [u8; 3]), V2(T1, Vec<(BTreeMap<u16, [u64; 9]>, [u8; 3])>), V3(T1, Box<[Box<str>]>), V4(Option<Option<G<String>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<bool>(g), m::<char>(g)), 1 => T2::V1(T0::make(g), m::<[u8; 3]>(g)), 2 => T2::V2(T1::make(g), vec(g, |g| (sorted::<u16, _>(g, |g| m::<[u64; 9]>(g)), m::<[u8; 3]>(g)))), 3 => T2::V3(T1::make(g), vec(g, |g| m::<Box<str>>(g)).into_boxed_slice()), _ => T2::V4(option(g, |g| option(g, |g| G::make(g, |g| m::<String>(g))))) }) } }
#[derive(Weigh)] pub enum T3 { V0(u64, u8), V1(String), V2, V3(G<[Map<u32, Box<str>>; 2]>), V4(u16, Box<u16>, Box<[Option<Option<T4>>]>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<u64>(g), m::<u8>(g)), 1 => T3::V1(m::<String>(g)), 2 => T3::V2, 3 => T3::V3(G::make(g, |g| [map::<u32, _>(g, |g| m::<Box<str>>(g)), map::<u32, _>(g, |g| m::<Box<str>>(g))])), _ => T3::V4(m::<u16>(g), Box::new(m::<u16>(g)), vec(g, |g| option(g, |g| option(g, |g| T4::make(g)))).into_boxed_slice()) }) } }
#[derive(Weigh)] pub struct T4 { f0: T1, f1: Option<Box<str>>, f2: Map<u32, [T0; 2]> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: T1::make(g), f1: option(g, |g| m::<Box<str>>(g)), f2: map::<u32, _>(g, |g| [T0::make(g), T0::make(g)]) }) } }
#[derive(Weigh)] pub enum T5 { V0, V1(BTreeMap<u16, T1>, T2, G<Map<u32, Option<String>>>), V2(Option<Box<T5>>, BTreeMap<u16, [G<()>; 2]>, char), V3, V4(Box<Option<BTreeMap<u16, T2>>>, u8) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0, 1 => T5::V1(sorted::<u16, _>(g, |g| T1::make(g)), T2::make(g), G::make(g, |g| map::<u32, _>(g, |g| option(g, |g| m::<String>(g))))), 2 => T5::V2(option(g, |g| Box::new(T5::make(g))), sorted::<u16, _>(g, |g| [G::make(g, |g| m::<()>(g)), G::make(g, |g| m::<()>(g))]), m::<char>(g)), 3 => T5::V3, _ => T5::V4(Box::new(option(g, |g| sorted::<u16, _>(g, |g| T2::make(g)))), m::<u8>(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1(Option<[u8; 3]>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, _ => T0::V1(option(g, |g| m::<[u8; 3]>(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: bool, f1: u8, f2: Option<u64> }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: m::<bool>(g), f1: m::<u8>(g), f2: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T2 { V0(bool, char), V1(Box<(T0, [u8; 3])>), V2(T1, Vec<(BTreeMap<u16, [u64; 9]>, [u8; 3])>), V3(T1, Box<[Box<str>]>), V4(Option<Option<G<String>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<bool>(g), m::<char>(g)), 1 => T2::V1(Box::new((T0::make(g), m::<[u8; 3]>(g)))), 2 => T2::V2(T1::make(g), vec(g, |g| (sorted::<u16, _>(g, |g| m::<[u64; 9]>(g)), m::<[u8; 3]>(g)))), 3 => T2::V3(T1::make(g), vec(g, |g| m::<Box<str>>(g)).into_boxed_slice()), _ => T2::V4(option(g, |g| option(g, |g| G::make(g, |g| m::<String>(g))))) }) } }
#[derive(Weigh)] pub enum T3 { V0(u64, u8), V1(String), V2, V3(G<[Map<u32, Box<str>>; 2]>), V4(u16, Box<u16>, Box<[Option<Option<T4>>]>) }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<u64>(g), m::<u8>(g)), 1 => T3::V1(m::<String>(g)), 2 => T3::V2, 3 => T3::V3(G::make(g, |g| [map::<u32, _>(g, |g| m::<Box<str>>(g)), map::<u32, _>(g, |g| m::<Box<str>>(g))])), _ => T3::V4(m::<u16>(g), Box::new(m::<u16>(g)), vec(g, |g| option(g, |g| option(g, |g| T4::make(g)))).into_boxed_slice()) }) } }
#[derive(Weigh)] pub struct T4 { f0: T1, f1: Option<Box<str>>, f2: Map<u32, [T0; 2]> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: T1::make(g), f1: option(g, |g| m::<Box<str>>(g)), f2: map::<u32, _>(g, |g| [T0::make(g), T0::make(g)]) }) } }
#[derive(Weigh)] pub enum T5 { V0, V1(BTreeMap<u16, T1>, Option<Box<T2>>, G<Map<u32, Option<String>>>), V2(Option<Box<T5>>, BTreeMap<u16, [G<()>; 2]>, char), V3, V4(Box<Option<BTreeMap<u16, T2>>>, u8) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0, 1 => T5::V1(sorted::<u16, _>(g, |g| T1::make(g)), boxed(T2::make(g)), G::make(g, |g| map::<u32, _>(g, |g| option(g, |g| m::<String>(g))))), 2 => T5::V2(option(g, |g| Box::new(T5::make(g))), sorted::<u16, _>(g, |g| [G::make(g, |g| m::<()>(g)), G::make(g, |g| m::<()>(g))]), m::<char>(g)), 3 => T5::V3, _ => T5::V4(Box::new(option(g, |g| sorted::<u16, _>(g, |g| T2::make(g)))), m::<u8>(g)) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p38 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(u64, char), V1, V2(std::num::NonZero<u32>, Vec<Option<Map<u32, bool>>>, [Map<u32, Option<()>>; 2]) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<u64>(g), m::<char>(g)), 1 => T0::V1, _ => T0::V2(m::<std::num::NonZero<u32>>(g), vec(g, |g| option(g, |g| map::<u32, _>(g, |g| m::<bool>(g)))), [map::<u32, _>(g, |g| option(g, |g| m::<()>(g))), map::<u32, _>(g, |g| option(g, |g| m::<()>(g)))]) }) } }
#[derive(Weigh)] pub enum T1 { V0(char), V1(u64, BTreeMap<u16, BTreeMap<u16, T4>>, u32), V2(Option<Option<f64>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<char>(g)), 1 => T1::V1(m::<u64>(g), sorted::<u16, _>(g, |g| sorted::<u16, _>(g, |g| T4::make(g))), m::<u32>(g)), _ => T1::V2(option(g, |g| option(g, |g| m::<f64>(g)))) }) } }
#[derive(Weigh)] pub enum T2 { V0(u16, bool), V1([Rc<Box<char>>; 2]), V2(char, Option<Vec<BTreeMap<u16, String>>>), V3(BTreeMap<u16, Option<T3>>, Map<u32, Rc<Option<T0>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<u16>(g), m::<bool>(g)), 1 => T2::V1([Rc::new(Box::new(m::<char>(g))), Rc::new(Box::new(m::<char>(g)))]), 2 => T2::V2(m::<char>(g), option(g, |g| vec(g, |g| sorted::<u16, _>(g, |g| m::<String>(g))))), _ => T2::V3(sorted::<u16, _>(g, |g| option(g, |g| T3::make(g))), map::<u32, _>(g, |g| Rc::new(option(g, |g| T0::make(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: [u64; 9] }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T4 { V0(Option<u64>), V1(BTreeMap<u16, T4>), V2 }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(option(g, |g| m::<u64>(g))), 1 => T4::V1(sorted::<u16, _>(g, |g| T4::make(g))), _ => T4::V2 }) } }
#[derive(Weigh)] pub enum T5 { V0(u16, String), V1, V2(Vec<T1>, Box<Box<[[Box<str>; 2]]>>, Box<[Box<G<[u64; 9]>>]>) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(m::<u16>(g), m::<String>(g)), 1 => T5::V1, _ => T5::V2(vec(g, |g| T1::make(g)), Box::new(vec(g, |g| [m::<Box<str>>(g), m::<Box<str>>(g)]).into_boxed_slice()), vec(g, |g| Box::new(G::make(g, |g| m::<[u64; 9]>(g)))).into_boxed_slice()) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(Box<(u64, char)>), V1, V2(std::num::NonZero<u32>, Vec<Option<Map<u32, bool>>>, [SortedMap<u32, Option<()>>; 2]) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(Box::new((m::<u64>(g), m::<char>(g)))), 1 => T0::V1, _ => T0::V2(m::<std::num::NonZero<u32>>(g), vec(g, |g| option(g, |g| map::<u32, _>(g, |g| m::<bool>(g)))), [map::<u32, _>(g, |g| option(g, |g| m::<()>(g))).into_iter().collect(), map::<u32, _>(g, |g| option(g, |g| m::<()>(g))).into_iter().collect()]) }) } }
#[derive(Weigh)] pub enum T1 { V0(char), V1(u64, BTreeMap<u16, BTreeMap<u16, T4>>, u32), V2(Option<Option<f64>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<char>(g)), 1 => T1::V1(m::<u64>(g), sorted::<u16, _>(g, |g| sorted::<u16, _>(g, |g| T4::make(g))), m::<u32>(g)), _ => T1::V2(option(g, |g| option(g, |g| m::<f64>(g)))) }) } }
#[derive(Weigh)] pub enum T2 { V0(u16, bool), V1([Rc<Box<char>>; 2]), V2(char, Option<Vec<BTreeMap<u16, String>>>), V3(BTreeMap<u16, Option<T3>>, Map<u32, Rc<Option<T0>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<u16>(g), m::<bool>(g)), 1 => T2::V1([Rc::new(Box::new(m::<char>(g))), Rc::new(Box::new(m::<char>(g)))]), 2 => T2::V2(m::<char>(g), option(g, |g| vec(g, |g| sorted::<u16, _>(g, |g| m::<String>(g))))), _ => T2::V3(sorted::<u16, _>(g, |g| option(g, |g| T3::make(g))), map::<u32, _>(g, |g| Rc::new(option(g, |g| T0::make(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: [u64; 9] }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T4 { V0(Option<u64>), V1(BTreeMap<u16, T4>), V2 }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(option(g, |g| m::<u64>(g))), 1 => T4::V1(sorted::<u16, _>(g, |g| T4::make(g))), _ => T4::V2 }) } }
#[derive(Weigh)] pub enum T5 { V0(u16, String), V1, V2(Box<(Vec<T1>, Box<Box<[[Box<str>; 2]]>>, Box<[Box<G<[u64; 9]>>]>)>) }
impl T5 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T5::V0(m::<u16>(g), m::<String>(g)), 1 => T5::V1, _ => T5::V2(Box::new((vec(g, |g| T1::make(g)), Box::new(vec(g, |g| [m::<Box<str>>(g), m::<Box<str>>(g)]).into_boxed_slice()), vec(g, |g| Box::new(G::make(g, |g| m::<[u64; 9]>(g)))).into_boxed_slice()))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p39 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1, V2(u64) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, 1 => T0::V1, _ => T0::V2(m::<u64>(g)) }) } }
#[derive(Weigh)] pub struct T1 { f0: BTreeMap<u16, T0>, f1: Map<u32, Vec<Option<[u64; 9]>>>, f2: T0 }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: sorted::<u16, _>(g, |g| T0::make(g)), f1: map::<u32, _>(g, |g| vec(g, |g| option(g, |g| m::<[u64; 9]>(g)))), f2: T0::make(g) }) } }
#[derive(Weigh)] pub enum T2 { V0(Option<u16>, [u64; 9]), V1(T1, Option<(T0, T0)>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(option(g, |g| m::<u16>(g)), m::<[u64; 9]>(g)), _ => T2::V1(T1::make(g), option(g, |g| (T0::make(g), T0::make(g)))) }) } }
#[derive(Weigh)] pub struct T3 { f0: Option<Option<Box<Vec<T4>>>>, f1: Option<[u64; 9]>, f2: String, f3: Option<Box<T4>>, f4: (Option<Vec<()>>, T2) }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| option(g, |g| Box::new(vec(g, |g| T4::make(g))))), f1: option(g, |g| m::<[u64; 9]>(g)), f2: m::<String>(g), f3: option(g, |g| Box::new(T4::make(g))), f4: (option(g, |g| vec(g, |g| m::<()>(g))), T2::make(g)) }) } }
#[derive(Weigh)] pub enum T4 { V0(String), V1(LinkedList<Option<Vec<Box<str>>>>, u32, bool), V2(G<LinkedList<[T2; 2]>>, G<Vec<(T5, T4)>>), V3(Option<G<Option<T0>>>, String, Vec<Map<u32, T3>>), V4(Option<Option<Box<std::num::NonZero<u32>>>>, Map<u32, T0>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(m::<String>(g)), 1 => T4::V1(list(g, |g| option(g, |g| vec(g, |g| m::<Box<str>>(g)))), m::<u32>(g), m::<bool>(g)), 2 => T4::V2(G::make(g, |g| list(g, |g| [T2::make(g), T2::make(g)])), G::make(g, |g| vec(g, |g| (T5::make(g), T4::make(g))))), 3 => T4::V3(option(g, |g| G::make(g, |g| option(g, |g| T0::make(g)))), m::<String>(g), vec(g, |g| map::<u32, _>(g, |g| T3::make(g)))), _ => T4::V4(option(g, |g| option(g, |g| Box::new(m::<std::num::NonZero<u32>>(g)))), map::<u32, _>(g, |g| T0::make(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: bool, f1: Option<u8>, f2: Option<f64>, f3: [u64; 9] }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: m::<bool>(g), f1: option(g, |g| m::<u8>(g)), f2: option(g, |g| m::<f64>(g)), f3: m::<[u64; 9]>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1, V2(u64) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, 1 => T0::V1, _ => T0::V2(m::<u64>(g)) }) } }
#[derive(Weigh)] pub struct T1 { f0: BTreeMap<u16, Box<T0>>, f1: Map<u32, Vec<Option<[u64; 9]>>>, f2: T0 }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: sorted::<u16, _>(g, |g| Box::new(T0::make(g))), f1: map::<u32, _>(g, |g| vec(g, |g| option(g, |g| m::<[u64; 9]>(g)))), f2: T0::make(g) }) } }
#[derive(Weigh)] pub enum T2 { V0(Option<u16>, [u64; 9]), V1(T1, Option<(T0, T0)>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(option(g, |g| m::<u16>(g)), m::<[u64; 9]>(g)), _ => T2::V1(T1::make(g), option(g, |g| (T0::make(g), T0::make(g)))) }) } }
#[derive(Weigh)] pub struct T3 { f0: Option<Option<Box<Vec<T4>>>>, f1: Option<[u64; 9]>, f2: String, f3: Option<Box<T4>>, f4: (Option<Vec<()>>, T2) }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| option(g, |g| Box::new(vec(g, |g| T4::make(g))))), f1: option(g, |g| m::<[u64; 9]>(g)), f2: m::<String>(g), f3: option(g, |g| Box::new(T4::make(g))), f4: (option(g, |g| vec(g, |g| m::<()>(g))), T2::make(g)) }) } }
#[derive(Weigh)] pub enum T4 { V0(Box<Box<str>>), V1(LinkedList<Option<Vec<ThinStr>>>, u32, bool), V2(G<LinkedList<[T2; 2]>>, G<Vec<(T5, T4)>>), V3(Option<G<Option<T0>>>, String, Vec<Map<u32, T3>>), V4(Option<Option<Box<std::num::NonZero<u32>>>>, Map<u32, T0>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(Box::new(m::<String>(g).into_boxed_str())), 1 => T4::V1(list(g, |g| option(g, |g| vec(g, |g| ThinStr::new(&m::<Box<str>>(g))))), m::<u32>(g), m::<bool>(g)), 2 => T4::V2(G::make(g, |g| list(g, |g| [T2::make(g), T2::make(g)])), G::make(g, |g| vec(g, |g| (T5::make(g), T4::make(g))))), 3 => T4::V3(option(g, |g| G::make(g, |g| option(g, |g| T0::make(g)))), m::<String>(g), vec(g, |g| map::<u32, _>(g, |g| T3::make(g)))), _ => T4::V4(option(g, |g| option(g, |g| Box::new(m::<std::num::NonZero<u32>>(g)))), map::<u32, _>(g, |g| T0::make(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T5 { f0: bool, f1: Option<u8>, f2: Option<f64>, f3: [u64; 9] }
impl T5 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T5::default() } g.nested(|g| T5 { f0: m::<bool>(g), f1: option(g, |g| m::<u8>(g)), f2: option(g, |g| m::<f64>(g)), f3: m::<[u64; 9]>(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p40 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<u16>, f1: u8, f2: u16, f3: u8 }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<u16>(g)), f1: m::<u8>(g), f2: m::<u16>(g), f3: m::<u8>(g) }) } }
#[derive(Weigh)] pub struct T1 { f0: T0, f1: Option<[u64; 2]>, f2: Map<u32, Option<Box<Option<char>>>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: T0::make(g), f1: option(g, |g| [m::<u64>(g), m::<u64>(g)]), f2: map::<u32, _>(g, |g| option(g, |g| Box::new(option(g, |g| m::<char>(g))))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: Option<Option<T0>>, f1: T0, f2: T0, f3: T1 }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: option(g, |g| option(g, |g| T0::make(g))), f1: T0::make(g), f2: T0::make(g), f3: T1::make(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: bool, f1: u64 }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<bool>(g), f1: m::<u64>(g) }) } }
#[derive(Weigh)] pub struct T4 { f0: Map<u32, Option<Option<T0>>> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: map::<u32, _>(g, |g| option(g, |g| option(g, |g| T0::make(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: ThinStr, d: Box<[u64; 9]> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: ThinStr::new(&m::<String>(g)), d: Box::new(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T0 { f0: Option<u16>, f1: u8, f2: u16, f3: u8 }
impl T0 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T0::default() } g.nested(|g| T0 { f0: option(g, |g| m::<u16>(g)), f1: m::<u8>(g), f2: m::<u16>(g), f3: m::<u8>(g) }) } }
#[derive(Weigh)] pub struct T1 { f0: T0, f1: Option<[u64; 2]>, f2: Map<u32, Option<Box<Option<char>>>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: T0::make(g), f1: option(g, |g| [m::<u64>(g), m::<u64>(g)]), f2: map::<u32, _>(g, |g| option(g, |g| Box::new(option(g, |g| m::<char>(g))))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T2 { f0: Option<Option<T0>>, f1: T0, f2: Sparse<T0>, f3: T1 }
impl T2 { fn make(g: &mut Gen) -> Self { g.nested(|g| T2 { f0: option(g, |g| option(g, |g| T0::make(g))), f1: T0::make(g), f2: Sparse::new(T0::make(g)), f3: T1::make(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: bool, f1: u64 }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: m::<bool>(g), f1: m::<u64>(g) }) } }
#[derive(Weigh)] pub struct T4 { f0: Map<u32, Option<Option<T0>>> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: map::<u32, _>(g, |g| option(g, |g| option(g, |g| T0::make(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p41 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0([u64; 9]), V1, V2, V3(Rc<Map<u32, Option<T1>>>, u8) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<[u64; 9]>(g)), 1 => T0::V1, 2 => T0::V2, _ => T0::V3(Rc::new(map::<u32, _>(g, |g| option(g, |g| T1::make(g)))), m::<u8>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(Option<f64>, char), V1(Box<((char, T1), std::num::NonZero<u32>)>, (Option<T0>, G<u16>), (Rc<Map<u32, u8>>, T0)) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(option(g, |g| m::<f64>(g)), m::<char>(g)), _ => T1::V1(Box::new(((m::<char>(g), T1::make(g)), m::<std::num::NonZero<u32>>(g))), (option(g, |g| T0::make(g)), G::make(g, |g| m::<u16>(g))), (Rc::new(map::<u32, _>(g, |g| m::<u8>(g))), T0::make(g))) }) } }
#[derive(Weigh)] pub enum T2 { V0(bool, Option<u8>, u64), V1(T0, BTreeMap<u16, Rc<T0>>, Option<Option<LinkedList<T3>>>), V2(f64, BTreeMap<u16, [T1; 2]>), V3, V4(T1, [LinkedList<Vec<T2>>; 2]) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<bool>(g), option(g, |g| m::<u8>(g)), m::<u64>(g)), 1 => T2::V1(T0::make(g), sorted::<u16, _>(g, |g| Rc::new(T0::make(g))), option(g, |g| option(g, |g| list(g, |g| T3::make(g))))), 2 => T2::V2(m::<f64>(g), sorted::<u16, _>(g, |g| [T1::make(g), T1::make(g)])), 3 => T2::V3, _ => T2::V4(T1::make(g), [list(g, |g| vec(g, |g| T2::make(g))), list(g, |g| vec(g, |g| T2::make(g)))]) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<u16>, f1: bool }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<u16>(g)), f1: m::<bool>(g) }) } }
#[derive(Weigh)] pub struct T4 { f0: T0 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: T0::make(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0([u64; 9]), V1, V2, V3(Rc<Map<u32, Option<T1>>>, u8) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<[u64; 9]>(g)), 1 => T0::V1, 2 => T0::V2, _ => T0::V3(Rc::new(map::<u32, _>(g, |g| option(g, |g| T1::make(g)))), m::<u8>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(Option<f64>, char), V1(Box<((char, T1), std::num::NonZero<u32>)>, (Option<T0>, G<u16>), Box<(Rc<Map<u32, u8>>, T0)>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(option(g, |g| m::<f64>(g)), m::<char>(g)), _ => T1::V1(Box::new(((m::<char>(g), T1::make(g)), m::<std::num::NonZero<u32>>(g))), (option(g, |g| T0::make(g)), G::make(g, |g| m::<u16>(g))), Box::new((Rc::new(map::<u32, _>(g, |g| m::<u8>(g))), T0::make(g)))) }) } }
#[derive(Weigh)] pub enum T2 { V0(bool, Option<u8>, u64), V1(T0, BTreeMap<u16, Rc<T0>>, Option<Option<LinkedList<Sparse<T3>>>>), V2(f64, BTreeMap<u16, [T1; 2]>), V3, V4(Box<T1>, [LinkedList<Vec<Box<T2>>>; 2]) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<bool>(g), option(g, |g| m::<u8>(g)), m::<u64>(g)), 1 => T2::V1(T0::make(g), sorted::<u16, _>(g, |g| Rc::new(T0::make(g))), option(g, |g| option(g, |g| list(g, |g| Sparse::new(T3::make(g)))))), 2 => T2::V2(m::<f64>(g), sorted::<u16, _>(g, |g| [T1::make(g), T1::make(g)])), 3 => T2::V3, _ => T2::V4(Box::new(T1::make(g)), [list(g, |g| vec(g, |g| Box::new(T2::make(g)))), list(g, |g| vec(g, |g| Box::new(T2::make(g))))]) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T3 { f0: Option<u16>, f1: bool }
impl T3 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T3::default() } g.nested(|g| T3 { f0: option(g, |g| m::<u16>(g)), f1: m::<bool>(g) }) } }
#[derive(Weigh)] pub struct T4 { f0: T0 }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: T0::make(g) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p42 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(bool, [u64; 9], u64), V1(G<G<Option<u64>>>, (Box<Option<T2>>, u64), Box<u32>), V2(Option<Map<u32, BTreeMap<u16, T1>>>, (), Option<u32>), V3(Map<u32, Map<u32, Option<bool>>>, u8), V4([u32; 2], Rc<u64>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<bool>(g), m::<[u64; 9]>(g), m::<u64>(g)), 1 => T0::V1(G::make(g, |g| G::make(g, |g| option(g, |g| m::<u64>(g)))), (Box::new(option(g, |g| T2::make(g))), m::<u64>(g)), Box::new(m::<u32>(g))), 2 => T0::V2(option(g, |g| map::<u32, _>(g, |g| sorted::<u16, _>(g, |g| T1::make(g)))), m::<()>(g), option(g, |g| m::<u32>(g))), 3 => T0::V3(map::<u32, _>(g, |g| map::<u32, _>(g, |g| option(g, |g| m::<bool>(g)))), m::<u8>(g)), _ => T0::V4([m::<u32>(g), m::<u32>(g)], Rc::new(m::<u64>(g))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<Option<Option<Box<u8>>>>, f1: u64, f2: (Option<(T0, f64)>, T0), f3: T0, f4: G<u64> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| option(g, |g| option(g, |g| Box::new(m::<u8>(g))))), f1: m::<u64>(g), f2: (option(g, |g| (T0::make(g), m::<f64>(g))), T0::make(g)), f3: T0::make(g), f4: G::make(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: Option<u64> }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T3 { V0(u8, u16), V1, V2([bool; 2], Option<Option<Option<bool>>>, u64), V3(Rc<Vec<(u16, String)>>), V4 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<u8>(g), m::<u16>(g)), 1 => T3::V1, 2 => T3::V2([m::<bool>(g), m::<bool>(g)], option(g, |g| option(g, |g| option(g, |g| m::<bool>(g)))), m::<u64>(g)), 3 => T3::V3(Rc::new(vec(g, |g| (m::<u16>(g), m::<String>(g))))), _ => T3::V4 }) } }
#[derive(Weigh)] pub struct T4 { f0: (T2, LinkedList<[T2; 2]>), f1: Option<[Option<()>; 2]> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: (T2::make(g), list(g, |g| [T2::make(g), T2::make(g)])), f1: option(g, |g| [option(g, |g| m::<()>(g)), option(g, |g| m::<()>(g))]) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(bool, [u64; 9], u64), V1(G<G<Option<u64>>>, (Box<Option<T2>>, u64), Box<u32>), V2(Box<(Option<Map<u32, BTreeMap<u16, T1>>>, (), Option<u32>)>), V3(Map<u32, Map<u32, Option<bool>>>, u8), V4(Box<([u32; 2], Rc<u64>)>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<bool>(g), m::<[u64; 9]>(g), m::<u64>(g)), 1 => T0::V1(G::make(g, |g| G::make(g, |g| option(g, |g| m::<u64>(g)))), (Box::new(option(g, |g| T2::make(g))), m::<u64>(g)), Box::new(m::<u32>(g))), 2 => T0::V2(Box::new((option(g, |g| map::<u32, _>(g, |g| sorted::<u16, _>(g, |g| T1::make(g)))), m::<()>(g), option(g, |g| m::<u32>(g))))), 3 => T0::V3(map::<u32, _>(g, |g| map::<u32, _>(g, |g| option(g, |g| m::<bool>(g)))), m::<u8>(g)), _ => T0::V4(Box::new(([m::<u32>(g), m::<u32>(g)], Rc::new(m::<u64>(g))))) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<Option<Option<Box<u8>>>>, f1: u64, f2: Box<(Option<(T0, f64)>, T0)>, f3: T0, f4: G<u64> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| option(g, |g| option(g, |g| Box::new(m::<u8>(g))))), f1: m::<u64>(g), f2: Box::new((option(g, |g| (T0::make(g), m::<f64>(g))), T0::make(g))), f3: T0::make(g), f4: G::make(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: Option<u64> }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: option(g, |g| m::<u64>(g)) }) } }
#[derive(Weigh)] pub enum T3 { V0(u8, u16), V1, V2([bool; 2], Option<Option<Option<bool>>>, u64), V3(Rc<Vec<(u16, String)>>), V4 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<u8>(g), m::<u16>(g)), 1 => T3::V1, 2 => T3::V2([m::<bool>(g), m::<bool>(g)], option(g, |g| option(g, |g| option(g, |g| m::<bool>(g)))), m::<u64>(g)), 3 => T3::V3(Rc::new(vec(g, |g| (m::<u16>(g), m::<String>(g))))), _ => T3::V4 }) } }
#[derive(Weigh)] pub struct T4 { f0: Box<(T2, LinkedList<[T2; 2]>)>, f1: Option<[Option<()>; 2]> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: Box::new((T2::make(g), list(g, |g| [T2::make(g), T2::make(g)]))), f1: option(g, |g| [option(g, |g| m::<()>(g)), option(g, |g| m::<()>(g))]) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p43 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(char), V1(Option<BTreeMap<u16, G<T2>>>, Map<u32, Rc<Option<()>>>, Vec<[[T2; 2]; 2]>), V2 }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<char>(g)), 1 => T0::V1(option(g, |g| sorted::<u16, _>(g, |g| G::make(g, |g| T2::make(g)))), map::<u32, _>(g, |g| Rc::new(option(g, |g| m::<()>(g)))), vec(g, |g| [[T2::make(g), T2::make(g)], [T2::make(g), T2::make(g)]])), _ => T0::V2 }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<Box<Vec<G<Box<str>>>>>, f1: String, f2: (Vec<T1>, LinkedList<Option<u32>>), f3: Option<Box<Vec<Option<Box<str>>>>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| Box::new(vec(g, |g| G::make(g, |g| m::<Box<str>>(g))))), f1: m::<String>(g), f2: (vec(g, |g| T1::make(g)), list(g, |g| option(g, |g| m::<u32>(g)))), f3: option(g, |g| Box::new(vec(g, |g| option(g, |g| m::<Box<str>>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: Option<f64>, f1: char }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: option(g, |g| m::<f64>(g)), f1: m::<char>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T3 { f0: Option<Box<Option<T1>>>, f1: u16, f2: Option<Box<Option<G<u64>>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| Box::new(option(g, |g| T1::make(g)))), f1: m::<u16>(g), f2: option(g, |g| Box::new(option(g, |g| G::make(g, |g| m::<u64>(g))))) }) } }
#[derive(Weigh)] pub enum T4 { V0(Option<[u64; 9]>), V1(BTreeMap<u16, u16>, Map<u32, [u64; 9]>), V2(Option<[Map<u32, T2>; 2]>, G<Box<T1>>, Vec<T4>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(option(g, |g| m::<[u64; 9]>(g))), 1 => T4::V1(sorted::<u16, _>(g, |g| m::<u16>(g)), map::<u32, _>(g, |g| m::<[u64; 9]>(g))), _ => T4::V2(option(g, |g| [map::<u32, _>(g, |g| T2::make(g)), map::<u32, _>(g, |g| T2::make(g))]), G::make(g, |g| Box::new(T1::make(g))), vec(g, |g| T4::make(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T0 { V0(char), V1(Option<BTreeMap<u16, G<T2>>>, Map<u32, Rc<Option<()>>>, Vec<[[T2; 2]; 2]>), V2 }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(m::<char>(g)), 1 => T0::V1(option(g, |g| sorted::<u16, _>(g, |g| G::make(g, |g| T2::make(g)))), map::<u32, _>(g, |g| Rc::new(option(g, |g| m::<()>(g)))), vec(g, |g| [[T2::make(g), T2::make(g)], [T2::make(g), T2::make(g)]])), _ => T0::V2 }) } }
#[derive(Weigh)] #[repr(C)] pub struct T1 { f0: Option<Box<Vec<G<Box<str>>>>>, f1: String, f2: (Vec<T1>, LinkedList<Option<u32>>), f3: Option<Box<Vec<Option<Box<str>>>>> }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: option(g, |g| Box::new(vec(g, |g| G::make(g, |g| m::<Box<str>>(g))))), f1: m::<String>(g), f2: (vec(g, |g| T1::make(g)), list(g, |g| option(g, |g| m::<u32>(g)))), f3: option(g, |g| Box::new(vec(g, |g| option(g, |g| m::<Box<str>>(g))))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: Option<f64>, f1: char }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: option(g, |g| m::<f64>(g)), f1: m::<char>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T3 { f0: Option<Box<Option<T1>>>, f1: u16, f2: Option<Box<Option<G<u64>>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| Box::new(option(g, |g| T1::make(g)))), f1: m::<u16>(g), f2: option(g, |g| Box::new(option(g, |g| G::make(g, |g| m::<u64>(g))))) }) } }
#[derive(Weigh)] pub enum T4 { V0(Option<[u64; 9]>), V1(BTreeMap<u16, u16>, Map<u32, [u64; 9]>), V2(Option<[Map<u32, Option<Box<T2>>>; 2]>, G<Box<T1>>, Vec<T4>) }
impl T4 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T4::V0(option(g, |g| m::<[u64; 9]>(g))), 1 => T4::V1(sorted::<u16, _>(g, |g| m::<u16>(g)), map::<u32, _>(g, |g| m::<[u64; 9]>(g))), _ => T4::V2(option(g, |g| [map::<u32, _>(g, |g| boxed(T2::make(g))), map::<u32, _>(g, |g| boxed(T2::make(g)))]), G::make(g, |g| Box::new(T1::make(g))), vec(g, |g| T4::make(g))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p44 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T0 { f0: String }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<String>(g) }) } }
#[derive(Weigh)] pub enum T1 { V0(Option<[u64; 9]>, char, char), V1(Box<Option<T0>>), V2([u64; 9], [Option<Map<u32, Box<str>>>; 2], Map<u32, T3>), V3(Rc<Map<u32, T4>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(option(g, |g| m::<[u64; 9]>(g)), m::<char>(g), m::<char>(g)), 1 => T1::V1(Box::new(option(g, |g| T0::make(g)))), 2 => T1::V2(m::<[u64; 9]>(g), [option(g, |g| map::<u32, _>(g, |g| m::<Box<str>>(g))), option(g, |g| map::<u32, _>(g, |g| m::<Box<str>>(g)))], map::<u32, _>(g, |g| T3::make(g))), _ => T1::V3(Rc::new(map::<u32, _>(g, |g| T4::make(g)))) }) } }
#[derive(Weigh)] pub enum T2 { V0, V1(T0, Option<Box<BTreeMap<u16, T4>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0, _ => T2::V1(T0::make(g), option(g, |g| Box::new(sorted::<u16, _>(g, |g| T4::make(g))))) }) } }
#[derive(Weigh)] pub enum T3 { V0([u64; 9], [u64; 9], bool), V1 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<[u64; 9]>(g), m::<[u64; 9]>(g), m::<bool>(g)), _ => T3::V1 }) } }
#[derive(Weigh)] #[repr(C)] pub struct T4 { f0: T1, f1: [Map<u32, LinkedList<char>>; 2], f2: Rc<T0> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: T1::make(g), f1: [map::<u32, _>(g, |g| list(g, |g| m::<char>(g))), map::<u32, _>(g, |g| list(g, |g| m::<char>(g)))], f2: Rc::new(T0::make(g)) }) } }
#[derive(Weigh)] pub struct T5 { f0: [u64; 9], f1: Option<u64>, f2: Option<Option<Box<Option<u64>>>>, f3: [Option<bool>; 2] }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: m::<[u64; 9]>(g), f1: option(g, |g| m::<u64>(g)), f2: option(g, |g| option(g, |g| Box::new(option(g, |g| m::<u64>(g))))), f3: [option(g, |g| m::<bool>(g)), option(g, |g| m::<bool>(g))] }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] #[repr(C)] pub struct T0 { f0: String }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: m::<String>(g) }) } }
#[derive(Weigh)] pub enum T1 { V0(Option<[u64; 9]>, char, char), V1(Box<Option<T0>>), V2([u64; 9], [Option<Map<u32, Box<str>>>; 2], Map<u32, T3>), V3(Rc<Map<u32, Box<T4>>>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(option(g, |g| m::<[u64; 9]>(g)), m::<char>(g), m::<char>(g)), 1 => T1::V1(Box::new(option(g, |g| T0::make(g)))), 2 => T1::V2(m::<[u64; 9]>(g), [option(g, |g| map::<u32, _>(g, |g| m::<Box<str>>(g))), option(g, |g| map::<u32, _>(g, |g| m::<Box<str>>(g)))], map::<u32, _>(g, |g| T3::make(g))), _ => T1::V3(Rc::new(map::<u32, _>(g, |g| Box::new(T4::make(g))))) }) } }
#[derive(Weigh)] pub enum T2 { V0, V1(Box<T0>, Option<Box<BTreeMap<u16, T4>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0, _ => T2::V1(Box::new(T0::make(g)), option(g, |g| Box::new(sorted::<u16, _>(g, |g| T4::make(g))))) }) } }
#[derive(Weigh)] pub enum T3 { V0([u64; 9], [u64; 9], bool), V1 }
impl T3 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T3::V0(m::<[u64; 9]>(g), m::<[u64; 9]>(g), m::<bool>(g)), _ => T3::V1 }) } }
#[derive(Weigh)] #[repr(C)] pub struct T4 { f0: T1, f1: [SortedMap<u32, LinkedList<char>>; 2], f2: Rc<T0> }
impl T4 { fn make(g: &mut Gen) -> Self { g.nested(|g| T4 { f0: T1::make(g), f1: [map::<u32, _>(g, |g| list(g, |g| m::<char>(g))).into_iter().collect(), map::<u32, _>(g, |g| list(g, |g| m::<char>(g))).into_iter().collect()], f2: Rc::new(T0::make(g)) }) } }
#[derive(Weigh)] pub struct T5 { f0: Option<Box<[u64; 9]>>, f1: Option<u64>, f2: Option<Option<Box<Option<u64>>>>, f3: [Option<bool>; 2] }
impl T5 { fn make(g: &mut Gen) -> Self { g.nested(|g| T5 { f0: boxed(m::<[u64; 9]>(g)), f1: option(g, |g| m::<u64>(g)), f2: option(g, |g| option(g, |g| Box::new(option(g, |g| m::<u64>(g))))), f3: [option(g, |g| m::<bool>(g)), option(g, |g| m::<bool>(g))] }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<T4>, Vec<T5>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| T4::make(g)), vec(g, |g| T5::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p45 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(Option<u16>, Option<[u64; 9]>), V1(char, G<BTreeMap<u16, Map<u32, u32>>>, u16) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(option(g, |g| m::<u16>(g)), option(g, |g| m::<[u64; 9]>(g))), _ => T0::V1(m::<char>(g), G::make(g, |g| sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<u32>(g)))), m::<u16>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(u64, u64), V1((), Option<Box<[BTreeMap<u16, T0>]>>), V2([Vec<T2>; 2], u16), V3(Map<u32, Rc<Map<u32, String>>>, String, T0) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(m::<u64>(g), m::<u64>(g)), 1 => T1::V1(m::<()>(g), option(g, |g| vec(g, |g| sorted::<u16, _>(g, |g| T0::make(g))).into_boxed_slice())), 2 => T1::V2([vec(g, |g| T2::make(g)), vec(g, |g| T2::make(g))], m::<u16>(g)), _ => T1::V3(map::<u32, _>(g, |g| Rc::new(map::<u32, _>(g, |g| m::<String>(g)))), m::<String>(g), T0::make(g)) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: String, f1: Option<char> }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<String>(g), f1: option(g, |g| m::<char>(g)) }) } }
#[derive(Weigh)] pub struct T3 { f0: Option<Box<LinkedList<(String, Box<str>)>>>, f1: T2, f2: G<Option<LinkedList<T3>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| Box::new(list(g, |g| (m::<String>(g), m::<Box<str>>(g))))), f1: T2::make(g), f2: G::make(g, |g| option(g, |g| list(g, |g| T3::make(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0(Option<u16>, Option<[u64; 9]>), V1(char, G<BTreeMap<u16, Map<u32, u32>>>, u16) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(2); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0(option(g, |g| m::<u16>(g)), option(g, |g| m::<[u64; 9]>(g))), _ => T0::V1(m::<char>(g), G::make(g, |g| sorted::<u16, _>(g, |g| map::<u32, _>(g, |g| m::<u32>(g)))), m::<u16>(g)) }) } }
#[derive(Weigh)] pub enum T1 { V0(Box<(u64, u64)>), V1((), Option<Box<[BTreeMap<u16, T0>]>>), V2([Vec<T2>; 2], u16), V3(Box<(Map<u32, Rc<Map<u32, String>>>, String, T0)>) }
impl T1 { fn make(g: &mut Gen) -> Self { let n = g.below(4); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T1::V0(Box::new((m::<u64>(g), m::<u64>(g)))), 1 => T1::V1(m::<()>(g), option(g, |g| vec(g, |g| sorted::<u16, _>(g, |g| T0::make(g))).into_boxed_slice())), 2 => T1::V2([vec(g, |g| T2::make(g)), vec(g, |g| T2::make(g))], m::<u16>(g)), _ => T1::V3(Box::new((map::<u32, _>(g, |g| Rc::new(map::<u32, _>(g, |g| m::<String>(g)))), m::<String>(g), T0::make(g)))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: String, f1: Option<char> }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<String>(g), f1: option(g, |g| m::<char>(g)) }) } }
#[derive(Weigh)] pub struct T3 { f0: Option<Box<LinkedList<(String, Box<str>)>>>, f1: T2, f2: G<Option<LinkedList<T3>>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| Box::new(list(g, |g| (m::<String>(g), m::<Box<str>>(g))))), f1: T2::make(g), f2: G::make(g, |g| option(g, |g| list(g, |g| T3::make(g)))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p46 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub struct T0 { f0: BTreeMap<u16, Option<Box<Option<[u64; 9]>>>>, f1: u64, f2: Vec<String> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: sorted::<u16, _>(g, |g| option(g, |g| Box::new(option(g, |g| m::<[u64; 9]>(g))))), f1: m::<u64>(g), f2: vec(g, |g| m::<String>(g)) }) } }
#[derive(Weigh)] pub struct T1 { f0: u8, f1: [u8; 3] }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: m::<u8>(g), f1: m::<[u8; 3]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: u16, f1: f64 }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<u16>(g), f1: m::<f64>(g) }) } }
#[derive(Weigh)] pub struct T3 { f0: Option<u32>, f1: (Option<Option<Box<std::num::NonZero<u32>>>>, (G<T0>, String)), f2: Option<Box<(T2, Map<u32, bool>)>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| m::<u32>(g)), f1: (option(g, |g| option(g, |g| Box::new(m::<std::num::NonZero<u32>>(g)))), (G::make(g, |g| T0::make(g)), m::<String>(g))), f2: option(g, |g| Box::new((T2::make(g), map::<u32, _>(g, |g| m::<bool>(g))))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Box<[u64; 9]> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: Box::new(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub struct T0 { f0: SortedMap<u16, Option<Box<Option<[u64; 9]>>>>, f1: u64, f2: Box<[String]> }
impl T0 { fn make(g: &mut Gen) -> Self { g.nested(|g| T0 { f0: sorted::<u16, _>(g, |g| option(g, |g| Box::new(option(g, |g| m::<[u64; 9]>(g))))).into_iter().collect(), f1: m::<u64>(g), f2: vec(g, |g| m::<String>(g)).into_boxed_slice() }) } }
#[derive(Weigh)] pub struct T1 { f0: u8, f1: [u8; 3] }
impl T1 { fn make(g: &mut Gen) -> Self { g.nested(|g| T1 { f0: m::<u8>(g), f1: m::<[u8; 3]>(g) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T2 { f0: u16, f1: f64 }
impl T2 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T2::default() } g.nested(|g| T2 { f0: m::<u16>(g), f1: m::<f64>(g) }) } }
#[derive(Weigh)] pub struct T3 { f0: Option<u32>, f1: Box<(Option<Option<Box<std::num::NonZero<u32>>>>, (G<T0>, String))>, f2: Option<Box<(T2, Map<u32, bool>)>> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: option(g, |g| m::<u32>(g)), f1: Box::new((option(g, |g| option(g, |g| Box::new(m::<std::num::NonZero<u32>>(g)))), (G::make(g, |g| T0::make(g)), m::<String>(g)))), f2: option(g, |g| Box::new((T2::make(g), map::<u32, _>(g, |g| m::<bool>(g))))) }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p47 {
pub mod before { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: [u64; 9] }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: m::<[u64; 9]>(g) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1(BTreeMap<u16, Option<Box<char>>>, Map<u32, [[T1; 2]; 2]>), V2(String, LinkedList<f64>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, 1 => T0::V1(sorted::<u16, _>(g, |g| option(g, |g| Box::new(m::<char>(g)))), map::<u32, _>(g, |g| [[T1::make(g), T1::make(g)], [T1::make(g), T1::make(g)]])), _ => T0::V2(m::<String>(g), list(g, |g| m::<f64>(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: Option<u8>, f1: Option<u16>, f2: String, f3: bool, f4: u8 }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: option(g, |g| m::<u8>(g)), f1: option(g, |g| m::<u16>(g)), f2: m::<String>(g), f3: m::<bool>(g), f4: m::<u8>(g) }) } }
#[derive(Weigh)] pub enum T2 { V0(String), V1(Vec<T3>), V2(Map<u32, Box<T1>>, std::num::NonZero<u32>, u16), V3(Vec<T0>), V4(Option<Map<u32, std::num::NonZero<u32>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(m::<String>(g)), 1 => T2::V1(vec(g, |g| T3::make(g))), 2 => T2::V2(map::<u32, _>(g, |g| Box::new(T1::make(g))), m::<std::num::NonZero<u32>>(g), m::<u16>(g)), 3 => T2::V3(vec(g, |g| T0::make(g))), _ => T2::V4(option(g, |g| map::<u32, _>(g, |g| m::<std::num::NonZero<u32>>(g)))) }) } }
#[derive(Weigh)] pub struct T3 { f0: BTreeMap<u16, T0>, f1: String, f2: [T2; 2], f3: Option<Option<Box<u16>>>, f4: Box<[Option<Map<u32, T2>>]> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: sorted::<u16, _>(g, |g| T0::make(g)), f1: m::<String>(g), f2: [T2::make(g), T2::make(g)], f3: option(g, |g| option(g, |g| Box::new(m::<u16>(g)))), f4: vec(g, |g| option(g, |g| map::<u32, _>(g, |g| T2::make(g)))).into_boxed_slice() }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
pub mod after { use super::super::*;
#[derive(Weigh)] pub struct G<T> { a: T, b: Option<Box<T>>, c: String, d: Option<Box<[u64; 9]>> }
impl<T> G<T> { fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self { g.nested(|g| G { a: inner(g), b: option(g, |g| Box::new(inner(g))), c: m::<String>(g), d: boxed(m::<[u64; 9]>(g)) }) } }
#[derive(Weigh)] pub enum T0 { V0, V1(BTreeMap<u16, Option<Box<char>>>, Map<u32, [[T1; 2]; 2]>), V2(String, LinkedList<f64>) }
impl T0 { fn make(g: &mut Gen) -> Self { let n = g.below(3); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T0::V0, 1 => T0::V1(sorted::<u16, _>(g, |g| option(g, |g| Box::new(m::<char>(g)))), map::<u32, _>(g, |g| [[T1::make(g), T1::make(g)], [T1::make(g), T1::make(g)]])), _ => T0::V2(m::<String>(g), list(g, |g| m::<f64>(g))) }) } }
#[derive(Weigh, Default, DeriveSparse)] pub struct T1 { f0: Option<u8>, f1: Option<u16>, f2: String, f3: bool, f4: u8 }
impl T1 { fn make(g: &mut Gen) -> Self { if g.below(3) != 0 { return T1::default() } g.nested(|g| T1 { f0: option(g, |g| m::<u8>(g)), f1: option(g, |g| m::<u16>(g)), f2: m::<String>(g), f3: m::<bool>(g), f4: m::<u8>(g) }) } }
#[derive(Weigh)] pub enum T2 { V0(Box<String>), V1(Vec<T3>), V2(Map<u32, Box<T1>>, std::num::NonZero<u32>, u16), V3(Vec<T0>), V4(Option<Map<u32, std::num::NonZero<u32>>>) }
impl T2 { fn make(g: &mut Gen) -> Self { let n = g.below(5); let n = if g.is_deep() { 0 } else { n }; g.nested(|g| match n { 0 => T2::V0(Box::new(m::<String>(g))), 1 => T2::V1(vec(g, |g| T3::make(g))), 2 => T2::V2(map::<u32, _>(g, |g| Box::new(T1::make(g))), m::<std::num::NonZero<u32>>(g), m::<u16>(g)), 3 => T2::V3(vec(g, |g| T0::make(g))), _ => T2::V4(option(g, |g| map::<u32, _>(g, |g| m::<std::num::NonZero<u32>>(g)))) }) } }
#[derive(Weigh)] pub struct T3 { f0: BTreeMap<u16, T0>, f1: String, f2: [T2; 2], f3: Option<Option<Box<u16>>>, f4: Box<[Option<Map<u32, T2>>]> }
impl T3 { fn make(g: &mut Gen) -> Self { g.nested(|g| T3 { f0: sorted::<u16, _>(g, |g| T0::make(g)), f1: m::<String>(g), f2: [T2::make(g), T2::make(g)], f3: option(g, |g| option(g, |g| Box::new(m::<u16>(g)))), f4: vec(g, |g| option(g, |g| map::<u32, _>(g, |g| T2::make(g)))).into_boxed_slice() }) } }
pub fn make(g: &mut Gen) -> (Vec<T0>, Vec<T1>, Vec<T2>, Vec<T3>, Vec<G<String>>) { (vec(g, |g| T0::make(g)), vec(g, |g| T1::make(g)), vec(g, |g| T2::make(g)), vec(g, |g| T3::make(g)), vec(g, |g| G::make(g, m::<String>))) }
}
}
programs! {
    p0: [("boxed_variant", "T4::V1"), ("boxed", "T1.f0"), ("thin", "G.c")];
    p1: [("boxed_variant", "T2::V1"), ("boxed_always", "T4.f1")];
    p2: [("boxed", "T1.f2 []"), ("boxed_always", "G.d")];
    p3: [("boxed_variant", "T1::V0")];
    p4: [("boxed_variant", "T1::V3"), ("boxed_variant", "T4::V1")];
    p5: [("boxed_always", "G.d"), ("boxed_always", "T3.f0 Some * value"), ("boxed_always", "T1::V0.2")];
    p6: [("exact", "T0.f0"), ("thin", "T2.f1"), ("boxed_variant", "T3::V0"), ("boxed", "G.d")];
    p7: [("boxed_always", "T3::V2.0"), ("boxed", "T3::V2.1 Some * []"), ("exact", "T0::V3.0 Some value *"), ("sparse", "T3::V1.2")];
    p8: [("thin", "T2::V2.0"), ("sorted", "T0::V3.0 Some"), ("boxed_variant", "T2::V1")];
    p9: [("exact", "T4::V0.0 Some"), ("boxed", "G.d"), ("boxed_variant", "T3::V2")];
    p10: [("boxed_always", "T3.f1 Some value")];
    p11: [("boxed", "T1::V1.1 value"), ("thin", "T0.f0")];
    p12: [("boxed_always", "T5.f0 value")];
    p13: [("boxed_variant", "T3::V0"), ("exact", "G.c"), ("thin", "T2::V2.0"), ("boxed", "T4::V2.0 []"), ("boxed_always", "G.d")];
    p14: [("boxed_variant", "T0::V1")];
    p15: [("boxed_variant", "T2::V3")];
    p16: [("sorted", "T3.f0"), ("sorted", "T2.f0")];
    p17: [("boxed", "T0.f1"), ("boxed", "T1::V2.0"), ("boxed", "G.d")];
    p18: [("exact", "T6::V1.0"), ("boxed_variant", "T5::V1"), ("sorted", "T6::V4.1 Some"), ("boxed_always", "T6::V4.1 Some value"), ("boxed", "G.d")];
    p19: [("boxed", "T1.f2 value"), ("boxed_variant", "T4::V0"), ("sorted", "T4::V1.0 Some Some"), ("boxed_always", "T2.f1 value [] []"), ("thin", "T2.f1 value")];
    p20: [("sorted", "T3::V3.0"), ("thin", "T3::V0.1"), ("sorted", "T0::V2.0 []"), ("boxed_variant", "T3::V3"), ("thin", "T2.f2 Some Some")];
    p21: [("sorted", "T0::V1.1 []"), ("exact", "T0::V1.1"), ("thin", "T3.f0 Some"), ("boxed_always", "T0::V1.1 [] value []")];
    p22: [("exact", "T0::V2.2 Some *"), ("boxed", "T1.f1 []"), ("exact", "T2::V1.0 value *"), ("boxed_always", "G.d")];
    p23: [("exact", "T1::V0.0")];
    p24: [("boxed_always", "T4.f2"), ("exact", "T3::V1.1"), ("boxed_variant", "T0::V1"), ("boxed", "G.d")];
    p25: [("boxed_variant", "T1::V1"), ("boxed_variant", "T1::V0"), ("boxed_variant", "T1::V2"), ("boxed_variant", "T2::V1"), ("exact", "T1::V3.0 Some")];
    p26: [("exact", "T0::V1.2"), ("boxed", "G.d"), ("boxed_variant", "T0::V0")];
    p27: [("boxed", "T2::V3.0"), ("boxed", "G.d"), ("thin", "G.c")];
    p28: [("exact", "T5::V3.2"), ("thin", "T5::V4.2")];
    p29: [("thin", "T4.f1 Some"), ("sorted", "T1.f3 Some *"), ("sorted", "T3.f0"), ("boxed_always", "T3.f3")];
    p30: [("boxed_variant", "T3::V1"), ("exact", "T3::V3.0"), ("boxed", "G.d"), ("boxed", "T1::V2.0 value value")];
    p31: [("exact", "T2::V2.2")];
    p32: [("boxed", "G.d"), ("sorted", "T3::V3.0 value")];
    p33: [("boxed_always", "T5.f2"), ("exact", "G.c"), ("boxed_always", "T3.f2"), ("boxed", "T3.f0 []"), ("boxed_always", "T6.f1")];
    p34: [("exact", "T1.f4 Some *")];
    p35: [("boxed", "G.d")];
    p36: [("boxed_always", "T2.f2"), ("boxed_always", "T0.f4"), ("boxed_always", "T3.f3"), ("boxed", "T1::V1.0")];
    p37: [("boxed", "T5::V1.1"), ("boxed_variant", "T2::V1")];
    p38: [("sorted", "T0::V2.2 []"), ("boxed_variant", "T5::V2"), ("boxed_variant", "T0::V0")];
    p39: [("thin", "T4::V1.0 [] Some []"), ("exact", "T4::V0.0"), ("boxed_variant", "T4::V0"), ("boxed_always", "T1.f0 value")];
    p40: [("boxed_always", "G.d"), ("thin", "G.c"), ("sparse", "T2.f2")];
    p41: [("sparse", "T2::V1.2 Some Some []"), ("boxed_always", "T1::V1.2"), ("boxed_always", "T2::V4.1 [] [] []"), ("boxed_always", "T2::V4.0")];
    p42: [("boxed_always", "T4.f0"), ("boxed_always", "T1.f2"), ("boxed_variant", "T0::V4"), ("boxed_variant", "T0::V2")];
    p43: [("boxed", "T4::V2.0 Some [] value"), ("boxed", "G.d")];
    p44: [("boxed_always", "T2::V1.0"), ("sorted", "T4.f1 []"), ("boxed", "T5.f0"), ("boxed_always", "T1::V3.0 * value")];
    p45: [("boxed_variant", "T1::V3"), ("boxed_variant", "T1::V0")];
    p46: [("boxed_always", "G.d"), ("exact", "T0.f2"), ("boxed_always", "T3.f1"), ("sorted", "T0.f0")];
    p47: [("boxed_variant", "T2::V0"), ("boxed", "G.d")];
}
