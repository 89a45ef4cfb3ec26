//! The plan for a schema: naive and lean types, their memory, and the suggestions that lead from one to the other.

use super::advice::{self, Repeats, Suggestion};
use super::lean;
use super::model::{At, Choices, Heap, Model};
use super::positions::Positions;
use super::rust;
use super::schema::Schema;
use dwell_output::units::{bytes, count, percent};

/// The types that `--rust` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Set {
    /// Naive and lean types, each in a module
    #[default]
    Both,
    /// Types that take the least memory
    Lean,
    /// Types that take less memory, with serde and std only
    Std,
    /// First-draft types: `String`, `Vec`, `HashMap`, 64-bit integers
    Naive,
}

/// The doc comment of the module with the naive types.
const NAIVE: &str = "First-draft types: `String`, `Vec`, `HashMap`, 64-bit integers.";

/// The first line of a file whose comments have no counts.
const PLAIN: &str = "//! Types for JSON, written by `cargo dwell shape --rust`.\n";

/// The result of `cargo dwell shape` for a schema.
#[derive(Debug)]
pub struct Plan<'s> {
    /// The schema's positions and their names.
    pub positions: Positions<'s>,
    /// The naive types.
    pub naive: Choices,
    /// The lean types.
    pub lean: Choices,
}

impl<'s> Plan<'s> {
    /// Chooses the lean types for a schema.
    pub fn new(schema: &'s Schema) -> Self {
        let positions = Positions::new(schema);
        let (naive, lean) = (Choices::naive(&positions), lean::choose(&positions));
        Self { positions, naive, lean }
    }

    /// Returns the types of `choices`, which are [`naive`](Self::naive) or [`lean`](Self::lean).
    pub fn model<'p>(&'p self, choices: &'p Choices) -> Model<'p, 's> {
        Model::new(&self.positions, choices)
    }

    /// Returns the memory of the documents in the naive types, loaded by `serde_json::from_slice` into one vector.
    pub fn naive_heap(&self) -> Heap {
        self.model(&self.naive).total()
    }

    /// Returns the memory of the documents in the lean types, loaded in the same way.
    pub fn lean_heap(&self) -> Heap {
        self.model(&self.lean).total()
    }

    /// Returns the suggestions that lead from the naive types to the lean ones, largest saving first.
    pub fn suggestions(&self) -> Vec<Suggestion> {
        advice::suggestions(&self.positions, &self.lean)
    }

    /// Returns the positions whose strings repeat, largest saving first.
    pub fn repeats(&self) -> Vec<Repeats> {
        advice::repeats(&self.positions)
    }

    /// Returns a Rust source file with these types.
    pub fn rust(&self, set: Set) -> String {
        if set == Set::Both {
            return self.both();
        }
        let standard = self.standard();
        let (choices, name, about) = match set {
            Set::Naive => (&self.naive, "naive", NAIVE),
            Set::Std => (&standard, "std_only", "Types that take less memory, with serde and std only."),
            _ => (&self.lean, "lean", "Types that take less memory and read the same JSON."),
        };
        let model = self.model(choices);
        let heap = model.total();
        let documents = self.positions.schema.documents;
        let s = if documents == 1 { "" } else { "s" };
        if self.positions.schema.style.plain {
            return format!("{PLAIN}{}\n", rust::dependencies(&[&model]))
                + &rust::module(&self.positions, &model, name, about);
        }
        let comment = format!(
            "//! Types for {} JSON document{s}, written by `cargo dwell shape --rust`.\n//!\n\
             //! Loaded, they take {} in {} allocations.\n{}\n",
            count(documents),
            bytes(heap.bytes),
            count(heap.allocations),
            rust::dependencies(&[&model]),
        );
        comment + &rust::module(&self.positions, &model, name, about)
    }

    /// Returns the lean choices with std's types only, which show how much of the saving needs Dwell.
    pub fn standard(&self) -> Choices {
        lean::standard(&self.lean)
    }

    /// Returns a Rust source file with both sets of types, in the modules `naive` and `lean`.
    fn both(&self) -> String {
        let (naive, lean) = (self.model(&self.naive), self.model(&self.lean));
        let (naive_heap, lean_heap) = (naive.total(), lean.total());
        let documents = self.positions.schema.documents;
        let s = if documents == 1 { "" } else { "s" };
        let takes = |heap: Heap| format!("{} in {} allocations", bytes(heap.bytes), count(heap.allocations));
        let mut out = if self.positions.schema.style.plain {
            format!("{PLAIN}{}\n", rust::dependencies(&[&naive, &lean]))
        } else {
            format!(
                "//! Types for {} JSON document{s}, written by `cargo dwell shape --rust`.\n//!\n\
             //! Loaded, they take {} as `naive` types and {} ({}) as `lean` ones.\n{}\n",
                count(documents),
                takes(naive_heap),
                takes(lean_heap),
                percent(lean_heap.bytes, naive_heap.bytes),
                rust::dependencies(&[&naive, &lean]),
            )
        };
        out.push_str(&rust::module(&self.positions, &naive, "naive", NAIVE));
        out.push('\n');
        out.push_str(&rust::module(
            &self.positions,
            &lean,
            "lean",
            "Types that take less memory and read the same JSON.",
        ));
        out
    }

    /// Returns the heap blocks by owner, for `choices`.
    pub fn heap(&self, choices: &Choices) -> std::collections::BTreeMap<At, Heap> {
        self.model(choices).heap()
    }
}
