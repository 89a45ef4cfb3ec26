//! Random operations on `Sparse`, compared with a plain value. The model test and the fuzz target share this file.

use dwell::Sparse;
use dwell::sparse::IsEmpty;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Runs the operations encoded in `bytes`, two bytes each: the operation and the value.
pub(crate) fn run(bytes: &[u8]) {
    // The model of a `Sparse<String>` is the `String` it dereferences to, and whether it may be boxed.
    let mut values: [Sparse<String>; 2] = [Sparse::empty(), Sparse::empty()];
    let mut model: [String; 2] = Default::default();

    for pair in bytes.chunks_exact(2) {
        let (index, operation) = (usize::from(pair[0] & 1), pair[0] >> 1);
        // A quarter of the values are empty.
        let text = if pair[1] < 64 { String::new() } else { "x".repeat(usize::from(pair[1]) - 63) };
        let (value, expected) = (&mut values[index], &mut model[index]);
        match operation % 19 {
            0 => {
                *value = Sparse::new(text.clone());
                *expected = text;
            }
            1 => {
                *value = Sparse::try_new(text.clone()).expect("memory for a string");
                *expected = text;
            }
            2 => {
                assert_eq!(value.edit(|v| std::mem::replace(v, text.clone())), *expected);
                *expected = text;
                assert_eq!(value.get().is_none(), expected.is_empty(), "an edit keeps no empty box");
            }
            3 => {
                assert_eq!(value.try_edit(|v| v.len()).unwrap(), expected.len());
            }
            4 => {
                value.get_mut_or_default().push_str(&text);
                expected.push_str(&text);
                assert!(value.get().is_some());
            }
            5 => {
                value.try_get_mut_or_default().unwrap().push('y');
                expected.push('y');
            }
            6 => {
                if let Some(v) = value.get_mut() {
                    v.clear();
                    expected.clear();
                } else {
                    assert!(expected.is_empty());
                }
            }
            7 => {
                value.compact();
                assert_eq!(value.get().is_none(), expected.is_empty());
            }
            8 => {
                value.clear();
                expected.clear();
                assert!(value.get().is_none());
            }
            9 => assert_eq!(std::mem::take(value).into_inner(), std::mem::take(expected)),
            10 => {
                let boxed = std::mem::take(value).into_box();
                assert_eq!(boxed.as_deref().map_or("", |v| v), *expected);
                *value = Sparse::from(boxed);
            }
            11 => *value = Sparse::from(Some(std::mem::take(value).into_inner())),
            12 => {
                values[1 - index] = values[index].clone();
                model[1 - index] = model[index].clone();
            }
            13 => {
                let source = values[index].clone();
                values[1 - index].clone_from(&source);
                model[1 - index] = model[index].clone();
            }
            14 => {
                *value = value.try_clone().unwrap();
            }
            15 => {
                assert_eq!(value.take(), std::mem::take(expected));
                assert!(value.get().is_none());
            }
            16 => {
                assert_eq!(value.replace(text.clone()), std::mem::replace(expected, text.clone()));
                assert_eq!(value.get().is_none(), text.is_empty(), "no empty box is kept");
            }
            17 => {
                assert_eq!(value.try_replace(text.clone()).unwrap(), std::mem::replace(expected, text));
                let taken = value.take_box();
                assert_eq!(taken.is_none(), expected.is_empty());
                *value = Sparse::from(taken);
            }
            _ => {
                values.swap(0, 1);
                model.swap(0, 1);
            }
        }
        for (value, expected) in values.iter().zip(&model) {
            assert_eq!(**value, *expected);
            assert_eq!(value.get().map_or("", |v| v), *expected);
            assert_eq!(value.is_empty(), expected.is_empty());
            assert_eq!(IsEmpty::is_empty(value), expected.is_empty());
        }
        let [a, b] = &values;
        let hasher = BuildHasherDefault::<DefaultHasher>::new();
        assert_eq!(a == b, model[0] == model[1]);
        assert_eq!(a.cmp(b), model[0].cmp(&model[1]));
        assert_eq!(a.partial_cmp(b), model[0].partial_cmp(&model[1]));
        assert!(a != b || hasher.hash_one(a) == hasher.hash_one(b));
    }
}
