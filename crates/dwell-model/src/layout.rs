//! The layout of types by `rustc`: sizes, alignments and niches.
//!
//! The language does not guarantee these rules, so tests compile generated types and compare the sizes. The rules are
//! those of `rustc` 1.95 for `repr(Rust)` (`compiler/rustc_abi/src/layout.rs`):
//!
//! - **Structs**: the fields are sorted by descending alignment, so that padding appears only at the end. Among fields of equal
//!   alignment, the one with the largest *niche* (invalid bit patterns) is first, or last if that brings it nearer to an edge.
//! - **Enums** are laid out twice: with a tag in front of each variant, and with the discriminant in a niche of the
//!   largest variant, around which the other variants must fit. The smaller layout wins, then the one with the larger
//!   remaining niche.
//! - **Pointers** have a size that does not depend on their target, so the recursion ends at them.

use super::sorted::sort;
use std_alloc::vec;
use std_alloc::vec::Vec;

/// The bytes of a pointer.
pub const WORD: u64 = size_of::<usize>() as u64;

/// The number of invalid bit patterns of a capacity, which is at most `isize::MAX`.
const CAPACITY: u128 = 1 << (8 * WORD - 1);

/// Size, alignment and niche.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The size in bytes, a multiple of `align`.
    pub size: u64,
    /// The alignment in bytes, a power of two.
    pub align: u64,
    /// The largest niche.
    pub niche: Option<Niche>,
    /// Whether size and alignment are certain.
    pub sure: bool,
    /// Whether the niche is certain.
    pub niche_sure: bool,
}

/// The invalid bit patterns of one scalar of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Niche {
    /// The offset of the scalar.
    pub offset: u64,
    /// The size of the scalar.
    pub size: u64,
    /// The number of invalid patterns.
    pub free: u128,
}

impl Niche {
    /// Returns the offset of the byte after the scalar.
    fn end(self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

impl Layout {
    /// The layout of `()`.
    pub const NOTHING: Self = Self::plain(0, 1);
    /// The layout of `bool`.
    pub const BOOL: Self = Self::scalar(1, 254);
    /// The layout of `char`.
    pub const CHAR: Self = Self::scalar(4, (1 << 32) - 0x11_0000);
    /// The layout of `Box<T>` for a sized type.
    pub const POINTER: Self = Self::words(1, 1);
    /// The layout of `Option<Box<T>>` for a sized type.
    pub const OPTIONAL_POINTER: Self = Self::words(1, 0);
    /// The layout of `Box<str>` and `Box<[T]>`.
    pub const WIDE_POINTER: Self = Self::words(2, 1);
    /// The layout of `String` and `Vec<T>`.
    pub const VECTOR: Self = Self::words(3, CAPACITY);

    /// Creates a layout without a niche.
    pub const fn plain(size: u64, align: u64) -> Self {
        Self { size, align, niche: None, sure: true, niche_sure: true }
    }

    /// Creates the layout of a scalar with `free` invalid bit patterns.
    pub const fn scalar(size: u64, free: u128) -> Self {
        let niche = if free == 0 { None } else { Some(Niche { offset: 0, size, free }) };
        Self { size, align: if size == 0 { 1 } else { size }, niche, sure: true, niche_sure: true }
    }

    /// Creates a layout of several words, with `free` invalid bit patterns in the first word.
    pub const fn words(words: u64, free: u128) -> Self {
        Self::words_of(WORD, words, free)
    }

    /// Creates a layout of several words of a target whose pointers have `word` bytes.
    pub const fn words_of(word: u64, words: u64, free: u128) -> Self {
        let niche = if free == 0 { None } else { Some(Niche { offset: 0, size: word, free }) };
        Self { size: word * words, align: word, niche, sure: true, niche_sure: true }
    }

    /// Returns the number of invalid bit patterns of the niche.
    pub fn free(&self) -> u128 {
        self.niche.map_or(0, |niche| niche.free)
    }

    /// Marks size, alignment and niche as uncertain.
    #[must_use]
    pub const fn guess(mut self) -> Self {
        self.sure = false;
        self.niche_sure = false;
        self
    }

    /// Returns the same layout with a niche of unknown size, or without a niche if `has_niche` is `false`.
    #[must_use]
    pub const fn with_unknown_niche(mut self, has_niche: bool) -> Self {
        self.niche = if has_niche { Some(Niche { offset: 0, size: self.align, free: 1 }) } else { None };
        self.niche_sure = !has_niche;
        self
    }
}

/// Rounds `size` up to a multiple of `align`. Returns `u64::MAX` on overflow.
pub fn up(size: u64, align: u64) -> u64 {
    size.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX)
}

/// The end of a struct towards which the niche moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bias {
    Start,
    End,
}

/// A layout and the offsets of its fields.
struct Placed {
    layout: Layout,
    offsets: Vec<u64>,
}

/// Returns the layout of a struct.
pub fn structure(fields: &[Layout]) -> Layout {
    arranged(fields).layout
}

/// Returns the layout of a tuple. Its last field stays last, since the type of that field may be unsized.
pub fn tuple(fields: &[Layout]) -> Layout {
    let Some((_, sized)) = fields.split_last() else { return Layout::NOTHING };
    let mut by = order(sized, Bias::Start);
    by.push(sized.len());
    place(fields, 0, 1, &by, Bias::Start).layout
}

/// Returns the layout of a `repr(C)` struct: fields in order of declaration.
pub fn declared(fields: &[Layout]) -> Layout {
    let by: Vec<usize> = (0..fields.len()).collect();
    place(fields, 0, 1, &by, Bias::Start).layout
}

/// Returns the layout of an array. Its niche is that of the first element.
pub fn array(element: Layout, len: u64) -> Layout {
    let niche = if len == 0 { None } else { element.niche };
    Layout { size: element.size.saturating_mul(len), niche, ..element }
}

/// Returns the layout of an `Option`. The result equals the [`enumeration`] of nothing and `some`, but needs no
/// allocation, since most fields are options.
pub fn option(some: Layout) -> Layout {
    let sure = some.sure && some.niche_sure;
    let layout = match some.niche {
        Some(niche) if niche.free > 0 => {
            let free = niche.free - 1;
            Layout { size: up(some.size, some.align), niche: (free > 0).then_some(Niche { free, ..niche }), ..some }
        }
        _ => {
            // The tag grows into the padding before the value.
            let tag = if (2..=8).contains(&some.align) { some.align } else { 1 };
            let size = up(up(1, some.align).saturating_add(some.size), some.align);
            Layout { size, niche: Some(Niche { offset: 0, size: tag, free: (1 << (8 * tag)) - 2 }), ..some }
        }
    };
    Layout { sure, niche_sure: sure, ..layout }
}

/// Returns the layout of an enum with these variants.
pub fn enumeration(variants: &[Vec<Layout>]) -> Layout {
    let all: Vec<OfVariant> = variants.iter().map(|fields| OfVariant::new(fields, variants.len())).collect();
    of_variants(&all)
}

/// What the layout of an enum depends on of a variant. Most changes leave most variants of an enum as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfVariant {
    /// The layout of the fields as those of a struct.
    whole: Layout,
    /// The largest niche of the fields, where it is in `whole`.
    niche: Option<Niche>,
    /// The size and the alignment of the fields behind a tag.
    behind_tag: (u64, u64),
    /// The alignment of the field behind the tag, if any has bytes.
    first_align: u64,
    /// Whether all sizes and niches are certain.
    sure: bool,
}

impl OfVariant {
    /// Computes those of a variant of an enum with so many variants.
    pub(super) fn new(fields: &[Layout], variants: usize) -> Self {
        let Placed { layout: whole, offsets } = arranged(fields);
        // Of several niches `max_by_key` returns the last.
        let niches = fields.iter().zip(offsets).filter_map(|(field, offset)| Some((offset, field.niche?)));
        let niche = niches.max_by_key(|(_, niche)| niche.free);
        let niche = niche.map(|(offset, niche)| Niche { offset: offset.saturating_add(niche.offset), ..niche });
        // By ascending alignment, since the tag precedes the fields.
        let (most, largest) = (most_free(fields), largest_align(fields));
        let key = |index: usize| {
            let field = &fields[index];
            (if most > 0 { group(field).min(largest) } else { group(field) }, field.free())
        };
        let mut order: Vec<usize> = (0..fields.len()).collect();
        sort(&mut order, &mut |a, b| key(a).cmp(&key(b)));
        let least = least_tag(variants);
        let tagged = place(fields, least, least, &order, Bias::Start);
        // By ascending offset, without zero-size fields of alignment 1.
        sort(&mut order, &mut |a, b| tagged.offsets[a].cmp(&tagged.offsets[b]));
        let first = order.iter().map(|&index| &fields[index]).find(|field| field.size > 0 || field.align > 1);
        Self {
            whole,
            niche,
            behind_tag: (tagged.layout.size, tagged.layout.align),
            first_align: first.map_or(u64::MAX, |field| field.align),
            sure: fields.iter().all(|field| field.sure && field.niche_sure),
        }
    }
}

/// Returns the bytes of the smallest tag.
fn least_tag(variants: usize) -> u64 {
    if variants <= 1 << 8 { 1 } else { 2 }
}

/// Returns the layout of an enum with these variants.
pub(super) fn of_variants(variants: &[OfVariant]) -> Layout {
    match variants {
        [] => return Layout::NOTHING,
        [only] => return only.whole,
        _ => {}
    }
    // The position of the niche determines which fields fit around it, so an uncertain niche makes the size uncertain.
    let sure = variants.iter().all(|variant| variant.sure);
    let tagged = tagged(variants);
    let best = match niche_filled(variants) {
        Some(filled) if filled.size < tagged.size => filled,
        Some(filled) if filled.size == tagged.size && filled.free() > tagged.free() => filled,
        _ => tagged,
    };
    Layout { sure, niche_sure: sure, ..best }
}

/// Places the fields of a struct with the niche as near to an end as possible.
fn arranged(fields: &[Layout]) -> Placed {
    let first = place(fields, 0, 1, &order(fields, Bias::Start), Bias::Start);
    let Some(niche) = first.layout.niche else { return first };
    let (head, tail) = (niche.offset, first.layout.size.saturating_sub(niche.end()));
    if fields.len() > 1 && head != 0 && tail > 0 {
        let last = place(fields, 0, 1, &order(fields, Bias::End), Bias::End);
        if last.layout.niche.is_some_and(|niche| niche.offset > head && niche.offset > tail) {
            return last;
        }
    }
    first
}

/// Returns the exponent by which fields are grouped: that of the alignment, or of the size if it has more factors of
/// two.
fn group(field: &Layout) -> u32 {
    field.align.max(field.size).trailing_zeros()
}

fn most_free(fields: &[Layout]) -> u128 {
    fields.iter().map(Layout::free).max().unwrap_or(0)
}

fn largest_align(fields: &[Layout]) -> u32 {
    fields.iter().map(|field| field.align).max().unwrap_or(1).trailing_zeros()
}

/// Returns the indices of the fields in the order of their offsets.
fn order(fields: &[Layout], bias: Bias) -> Vec<usize> {
    let (most, align) = (most_free(fields), largest_align(fields));
    let key = |index: usize| {
        let field = &fields[index];
        let group = match bias {
            _ if most == 0 => group(field),
            Bias::Start => group(field).min(align),
            Bias::End if field.free() == most => field.align.trailing_zeros(),
            Bias::End => group(field),
        };
        let free = match bias {
            Bias::Start => !field.free(),
            Bias::End => field.free(),
        };
        let offset = field.niche.map_or(0, |niche| match bias {
            Bias::Start => niche.offset,
            Bias::End => !(field.size.saturating_sub(niche.end())),
        });
        (core::cmp::Reverse(group), free, offset)
    };
    // A search for types lays out the same structs thousands of times, so each key is computed once.
    let keys: Vec<_> = (0..fields.len()).map(key).collect();
    let mut order: Vec<usize> = (0..fields.len()).collect();
    sort(&mut order, &mut |a, b| keys[a].cmp(&keys[b]));
    order
}

fn place(fields: &[Layout], start: u64, align: u64, order: &[usize], bias: Bias) -> Placed {
    let (mut end, mut align, mut niche) = (start, align, None::<Niche>);
    let mut offsets = vec![0; fields.len()];
    for &index in order {
        let field = &fields[index];
        let offset = up(end, field.align);
        offsets[index] = offset;
        align = align.max(field.align);
        if let Some(new) = field.niche {
            let is_better = niche.is_none_or(|old| match bias {
                Bias::Start => new.free > old.free,
                Bias::End => new.free >= old.free,
            });
            if is_better {
                niche = Some(Niche { offset: offset.saturating_add(new.offset), ..new });
            }
        }
        end = offset.saturating_add(field.size);
    }
    let sure = fields.iter().all(|field| field.sure);
    let niche_sure = sure && fields.iter().all(|field| field.niche_sure);
    Placed { layout: Layout { size: up(end, align), align, niche, sure, niche_sure }, offsets }
}

fn tagged(variants: &[OfVariant]) -> Layout {
    let least = least_tag(variants.len());
    let most = |value: fn(&OfVariant) -> u64| variants.iter().map(value).max().unwrap_or(0);
    let (size, align) = (most(|variant| variant.behind_tag.0), most(|variant| variant.behind_tag.1).max(1));
    let first_align = variants.iter().map(|variant| variant.first_align).min().unwrap_or(u64::MAX);
    // The tag grows into the padding that no variant can use.
    let tag = if (least + 1..=8).contains(&first_align) { first_align } else { least };
    let patterns = 1_u128 << (8 * tag);
    let niche = Some(Niche { offset: 0, size: tag, free: patterns.saturating_sub(variants.len() as u128) });
    Layout { size: up(size, align), align, niche: niche.filter(|niche| niche.free > 0), sure: true, niche_sure: true }
}

fn niche_filled(variants: &[OfVariant]) -> Option<Layout> {
    // Of several largest variants `max_by_key` returns the last.
    let largest = (0..variants.len()).max_by_key(|&index| variants[index].whole.size)?;
    let others = || (0..variants.len()).filter(|&index| index != largest);
    let needed = (others().next_back()? - others().next()? + 1) as u128;
    let niche = variants[largest].niche.filter(|niche| niche.free >= needed)?;
    let align = variants.iter().map(|variant| variant.whole.align).max()?;
    let size = up(variants[largest].whole.size, align);
    let fits = |layout: &Layout| {
        let behind = up(niche.end(), layout.align);
        layout.size <= niche.offset || behind.saturating_add(layout.size) <= size
    };
    if !others().all(|index| fits(&variants[index].whole)) {
        return None;
    }
    let free = niche.free - needed;
    let niche = (free > 0).then_some(Niche { free, ..niche });
    Some(Layout { size, align, niche, sure: true, niche_sure: true })
}

#[cfg(test)]
#[cfg(target_pointer_width = "64")]
mod tests {
    use super::*;

    fn int(size: u64) -> Layout {
        Layout::scalar(size, 0)
    }

    /// Compares the rules with the compiler.
    #[test]
    fn sizes_match_the_compiler() {
        assert_eq!(structure(&[int(1), int(8), int(2)]).size, size_of::<(u8, u64, u16)>() as u64);
        assert_eq!(option(structure(&[int(1), int(8)])).size, size_of::<Option<(u8, u64)>>() as u64);
        assert_eq!(option(Layout::VECTOR).size, size_of::<Option<std_alloc::string::String>>() as u64);
        assert_eq!(option(option(Layout::POINTER)).size, size_of::<Option<Option<&u8>>>() as u64);
        assert_eq!(enumeration(&[vec![], vec![int(8)], vec![int(1), int(4)]]).size, {
            #[expect(dead_code, reason = "only its size is asked for")]
            enum E {
                A,
                B(u64),
                C(u8, u32),
            }
            size_of::<E>() as u64
        });
        let fields = [vec![Layout::POINTER], vec![Layout::VECTOR, int(8)], vec![int(8), int(8)]];
        assert_eq!(enumeration(&fields).size, {
            #[expect(dead_code, reason = "only its size is asked for")]
            enum E<'a> {
                A(&'a u8),
                B(std_alloc::string::String, u64),
                C(u64, u64),
            }
            size_of::<E<'_>>() as u64
        });
        assert_eq!(enumeration(&[vec![int(8)], vec![int(8)]]).size, size_of::<Result<u64, u64>>() as u64);
        assert_eq!(declared(&[int(1), int(8), int(1)]).size, 24);
        assert_eq!(option(array(Layout::BOOL, 3)).size, size_of::<Option<[bool; 3]>>() as u64);
        assert_eq!(option(array(Layout::CHAR, 0)).size, size_of::<Option<[char; 0]>>() as u64);
    }

    /// Compares the shortcut for options with the rule for all enums.
    #[test]
    fn option_layout_matches_the_enum_rule() {
        let all = [0, 1, 2, 4, 8, 16, 64, 4096].into_iter().flat_map(|align| {
            let sizes = [0, 1, 3, 8].map(|many| align.max(1) * many);
            sizes.map(|size| Layout::plain(size, align.max(1)))
        });
        for plain in all {
            let niches = [1, 2, 254, 1 << 63].map(|free| Some(Niche { offset: plain.size / 2, size: 1, free }));
            for niche in niches.into_iter().filter(|_| plain.size > 0).chain([None]) {
                let some = Layout { niche, ..plain };
                assert_eq!(option(some), enumeration(&[vec![], vec![some]]), "{some:?}");
                let some = some.with_unknown_niche(niche.is_some());
                assert_eq!(option(some).sure, enumeration(&[vec![], vec![some]]).sure, "{some:?}");
                assert_eq!(option(some.guess()), enumeration(&[vec![], vec![some.guess()]]), "{some:?}");
            }
        }
    }

    #[test]
    fn guessed_layouts_stay_guesses() {
        assert!(!structure(&[int(1), int(8).guess()]).sure);
        assert!(!option(int(8).guess()).sure);
        assert!(option(Layout::POINTER).sure);
    }
}
