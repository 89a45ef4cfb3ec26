//! Compares the predicted layouts of types with those of the installed compiler.

mod support;

use dwell_shape::types::{Body, Int, Layouts, Type};
use std::fmt::Write;

/// Returns random type definitions, each of which may use the preceding ones.
fn bodies(random: &mut fastrand::Rng, number: usize) -> Vec<Body> {
    let mut bodies = Vec::new();
    for id in 0..number {
        let fields = |random: &mut fastrand::Rng| (0..random.usize(0..9)).map(|_| any(random, id, 3)).collect();
        bodies.push(match random.u8(0..10) {
            0 => Body::Enum(vec![None; random.usize(1..5)]),
            1 => Body::Enum(vec![None; random.usize(200..300)]),
            2..6 => {
                let variant = |random: &mut fastrand::Rng| random.u8(0..5).gt(&0).then(|| any(random, id, 3));
                let most = if random.bool() { 4 } else { 12 };
                Body::Enum((0..random.usize(1..=most)).map(|_| variant(random)).collect())
            }
            _ => Body::Struct(fields(random)),
        });
    }
    bodies
}

fn any(random: &mut fastrand::Rng, named: usize, depth: u32) -> Type {
    let inner = |random: &mut fastrand::Rng| Box::new(any(random, named, depth - 1));
    let compound = if depth > 0 { 13 } else { 0 };
    match random.u8(0..22 + compound) {
        0 => Type::Unit,
        16..22 if named > 0 => Type::Named(random.usize(0..named)),
        1 | 2 | 16..22 => Type::Bool,
        3..8 => Type::Int(Int { bits: 8 << random.u32(0..4), signed: random.bool() }),
        8 if random.bool() => Type::Number,
        8 => Type::Float,
        9 => Type::String,
        10 => Type::BoxStr,
        11 => Type::Value,
        12 => Type::Vec(Box::new(Type::Bool)),
        13 => Type::BoxSlice(Box::new(Type::Bool)),
        14 => Type::HashMap(Box::new(Type::Bool)),
        15 => Type::Box(Box::new(Type::Bool)),
        29 => Type::Tuple((0..random.usize(2..5)).map(|_| *inner(random)).collect()),
        30 => Type::Box(inner(random)),
        31 => Type::Sparse(inner(random)),
        32 => Type::Open(inner(random)),
        _ => Type::Option(inner(random)),
    }
}

#[test]
fn predicted_layouts_match_the_compiler() {
    let mut random = fastrand::Rng::with_seed(2);
    let bodies = bodies(&mut random, 1500);
    let name = |id| format!("T{id}");
    let mut source = String::from(
        "#![allow(dead_code)]\nuse dwell::Sparse;\nuse std::collections::HashMap;\nuse std::mem::{align_of, size_of};\n\
         enum OrOther<T> { Known(T), Other(Box<serde_json::Value>) }\n",
    );
    for (id, body) in bodies.iter().enumerate() {
        let fields = |fields: &[Type]| {
            let field = |(index, field): (usize, &Type)| format!("f{index}: {}, ", field.rust(&name));
            fields.iter().enumerate().map(field).collect::<Vec<_>>().concat()
        };
        let variant = |(index, field): (usize, &Option<Type>)| match field {
            Some(field) => format!("V{index}({}), ", field.rust(&name)),
            None => format!("V{index}, "),
        };
        let _ = match body {
            Body::Struct(body) => writeln!(source, "struct T{id} {{ {}}}", fields(body)),
            Body::Enum(variants) => {
                writeln!(source, "enum T{id} {{ {}}}", variants.iter().enumerate().map(variant).collect::<String>())
            }
        };
    }
    source.push_str("fn main() {\n");
    for id in 0..bodies.len() {
        let _ = writeln!(
            source,
            "println!(\"{{}} {{}} {{}}\", size_of::<T{id}>(), align_of::<T{id}>(), size_of::<Option<Option<T{id}>>>());"
        );
    }
    source.push_str("}\n");
    let printed = support::run("layouts", &[("main.rs", &source)], &[]);

    let mut layouts = Layouts::new(&bodies);
    let mut wrong = String::new();
    for (id, line) in printed.lines().enumerate() {
        let layout = layouts.named(id);
        let twice = layouts.size(&Type::Named(id).option().option());
        let expected = format!("{} {} {twice}", layout.size, layout.align);
        if line != expected {
            let _ = writeln!(wrong, "T{id} is {line}, predicted {expected}: {:?}", bodies[id]);
        }
    }
    assert_eq!(printed.lines().count(), bodies.len());
    assert!(wrong.is_empty(), "{}", wrong.lines().take(20).collect::<Vec<_>>().join("\n"));
}
