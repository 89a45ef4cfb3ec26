//! Compares postfix methods with the expressions that they replace. The gate fails unless the instructions are equal.

use boxpin::BoxPinExt;
use dwell::pin::PinExt;
use std::hint::black_box;

use crate::op::{Op, Run, Suite};
use crate::sink;

/// A value of `N` words whose drop has an effect.
struct Value<const N: usize>([u64; N]);

impl<const N: usize> Drop for Value<N> {
    fn drop(&mut self) {
        sink::pointer(self);
    }
}

fn ops<const N: usize>() -> Vec<Op> {
    macro_rules! op {
        ($name:literal, |$value:ident| $pin:expr) => {{
            #[inline(never)]
            fn once<const N: usize>(words: &[u64; N]) {
                let $value = Value(*words);
                let pinned = $pin;
                sink::pointer(&pinned);
            }
            Op::new(format!("{N} words"), $name, || -> Run {
                Box::new(|operations| {
                    let words = black_box([7; N]);
                    (0..operations).for_each(|_| once(&words));
                })
            })
        }};
    }
    vec![
        op!("Box::pin", |value| Box::pin(value)),
        op!("boxpin 0.1.0", |value| BoxPinExt::pinned(value)),
        op!("dwell", |value| PinExt::pinned(value)),
    ]
}

pub(super) fn suite() -> Suite {
    let ops = [ops::<0>(), ops::<1>(), ops::<8>(), ops::<512>()].into_iter().flatten().collect();
    Suite { module: "pinned", baseline: "Box::pin", ops }
}
