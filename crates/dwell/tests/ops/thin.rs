//! Random operations on `ThinSlice` and `ThinStr`, compared with a `Vec` and a `String`. The model test and the fuzz
//! target share this file.

use dwell::sparse::{IsEmpty, ThinSlice, ThinStr};
use std::borrow::{Borrow, Cow};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Runs the operations encoded in `bytes`, two bytes each: the operation, and the string or length.
pub(crate) fn run(bytes: &[u8]) {
    let mut slices: [ThinSlice<String>; 2] = Default::default();
    let mut vecs: [Vec<String>; 2] = Default::default();
    let mut texts: [ThinStr; 2] = Default::default();
    let mut strings: [String; 2] = Default::default();

    for pair in bytes.chunks_exact(2) {
        let (index, operation, number) = (usize::from(pair[0] & 1), pair[0] >> 1, usize::from(pair[1]));
        on_slices(&mut slices, &mut vecs, index, operation, number);
        on_texts(&mut texts, &mut strings, index, operation, number);
    }
}

fn on_slices(slices: &mut [ThinSlice<String>; 2], vecs: &mut [Vec<String>; 2], index: usize, operation: u8, n: usize) {
    let fresh: Vec<String> = (0..n % 9).map(|i| format!("{n} {i}")).collect();
    let (slice, vec) = (&mut slices[index], &mut vecs[index]);
    match operation % 12 {
        0 => {
            *slice = ThinSlice::from(fresh.clone());
            *vec = fresh;
        }
        1 => {
            *slice = ThinSlice::from(&*fresh);
            *vec = fresh;
        }
        2 => {
            *slice = fresh.iter().filter(|text| text.len() % 2 == 0).cloned().collect();
            *vec = fresh.into_iter().filter(|text| text.len() % 2 == 0).collect();
        }
        3 => {
            *slice = ThinSlice::from(["a".to_owned(), n.to_string()]);
            *vec = vec!["a".to_owned(), n.to_string()];
        }
        4 => assert_eq!(Vec::from(std::mem::take(slice)), std::mem::take(vec)),
        5 => assert_eq!(Box::from(std::mem::take(slice)), std::mem::take(vec).into_boxed_slice()),
        6 => {
            // Takes some elements from the front and some from the back, and drops the rest.
            let mut ours = std::mem::take(slice).into_iter();
            let mut theirs = std::mem::take(vec).into_iter();
            for step in 0..n % 5 {
                let (a, b) =
                    if step % 2 == 0 { (ours.next(), theirs.next()) } else { (ours.next_back(), theirs.next_back()) };
                assert_eq!(a, b);
                assert_eq!(ours.len(), theirs.len());
                assert_eq!(ours.as_slice(), theirs.as_slice());
                assert!(ours.clone().eq(theirs.clone()));
            }
        }
        7 => {
            if let (Some(a), Some(b)) = (slice.last_mut(), vec.last_mut()) {
                a.push('!');
                b.push('!');
            }
        }
        8 => {
            slices[1 - index] = slices[index].clone();
            vecs[1 - index] = vecs[index].clone();
        }
        9 => {
            let source = slices[index].clone();
            slices[1 - index].clone_from(&source);
            vecs[1 - index] = vecs[index].clone();
        }
        10 => {
            slice.sort_unstable();
            vec.sort_unstable();
        }
        _ => {
            slices.swap(0, 1);
            vecs.swap(0, 1);
        }
    }
    for (slice, vec) in slices.iter().zip(vecs.iter()) {
        assert_eq!(**slice, **vec);
        assert_eq!(IsEmpty::is_empty(slice), vec.is_empty());
        assert_eq!(format!("{slice:?}"), format!("{vec:?}"));
        assert!(slice.into_iter().eq(vec));
        assert_eq!(hash(slice), hash(vec));
    }
    assert_eq!(slices[0] == slices[1], vecs[0] == vecs[1]);
    assert_eq!(slices[0].cmp(&slices[1]), vecs[0].cmp(&vecs[1]));
}

fn on_texts(texts: &mut [ThinStr; 2], strings: &mut [String; 2], index: usize, operation: u8, n: usize) {
    // Lengths around 0 and around 255, where the header changes, with two bytes per character.
    let fresh = match n {
        0..32 => String::new(),
        32..128 => "ä".repeat(n - 32),
        _ => "ä".repeat(n - 16) + if n.is_multiple_of(2) { "x" } else { "" },
    };
    let (text, string) = (&mut texts[index], &mut strings[index]);
    match operation % 13 {
        0 => {
            *text = ThinStr::new(&fresh);
            *string = fresh;
        }
        1 => {
            *text = ThinStr::try_new(&fresh).expect("memory for a string");
            *string = fresh;
        }
        2 => {
            *text = ThinStr::from(fresh.clone());
            *string = fresh;
        }
        3 => {
            *text = ThinStr::from(fresh.clone().into_boxed_str());
            *string = fresh;
        }
        4 => {
            *text = ThinStr::from(Cow::Borrowed(&*fresh));
            *string = fresh;
        }
        5 => {
            *text = fresh.chars().rev().collect();
            *string = fresh.chars().rev().collect();
        }
        6 => {
            let character = char::from_u32(0x60 << (n % 11)).unwrap_or('?'); // one to four bytes
            *text = ThinStr::from(character);
            *string = String::from(character);
        }
        7 => assert_eq!(String::from(std::mem::take(text)), std::mem::take(string)),
        8 => assert_eq!(Box::from(std::mem::take(text)), std::mem::take(string).into_boxed_str()),
        9 => {
            text.make_ascii_uppercase();
            string.make_ascii_uppercase();
        }
        10 => {
            texts[1 - index] = texts[index].clone();
            strings[1 - index] = strings[index].clone();
        }
        11 => {
            let source = texts[index].clone();
            texts[1 - index].clone_from(&source);
            strings[1 - index] = strings[index].clone();
        }
        _ => {
            texts.swap(0, 1);
            strings.swap(0, 1);
        }
    }
    for (text, string) in texts.iter().zip(strings.iter()) {
        assert_eq!(text.as_str(), string);
        assert_eq!(text, string);
        assert_eq!(string, text);
        assert_eq!(Borrow::<str>::borrow(text), string);
        assert_eq!((text.len(), text.is_empty()), (string.len(), string.is_empty()));
        assert_eq!(format!("{text} {text:?}"), format!("{string} {string:?}"));
        assert_eq!(hash(text), hash(string));
    }
    assert_eq!(texts[0] == texts[1], strings[0] == strings[1]);
    assert_eq!(texts[0].cmp(&texts[1]), strings[0].cmp(&strings[1]));
}

fn hash(value: impl std::hash::Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::new().hash_one(value)
}
