//! A census as JSON: what `--save` and `--format json` write. `docs/census.md` names the fields.

use serde::{Deserialize, Serialize};

/// The version of the schema. It changes when a field changes its meaning or is gone, not when one is added.
pub const VERSION: u32 = 1;

/// All snapshots of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// [`VERSION`]
    pub version: u32,
    /// The program.
    pub program: Program,
    /// In the order in which they were taken.
    pub snapshots: Vec<Snapshot>,
}

/// The program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    /// The executable.
    pub file: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The build id in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The version of rustc.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rustc: Option<String>,
    /// Milliseconds that it ran.
    pub millis: u64,
    /// The mean number of bytes between two recorded allocations, if not all were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
}

/// The heap at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// `peak`, `exit`, `signal`, or a time such as `30s`.
    pub at: String,
    /// Milliseconds since the program began.
    pub millis: u64,
    /// Bytes that the live blocks were asked for with.
    pub live_bytes: u64,
    /// How many they are.
    pub live_blocks: u64,
    /// The most live bytes until then.
    pub peak_bytes: u64,
    /// Bytes of blocks whose type is known.
    pub typed_bytes: u64,
    /// Bytes of blocks that a field, a static, a raw pointer or a reference points to.
    pub owned_bytes: u64,
    /// Bytes of blocks that are known by their type and call site only.
    pub root_bytes: u64,
    /// The standard error of `live_bytes`, if not all allocations were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<u64>,
    /// How many blocks have so many bytes.
    pub sizes: Vec<Bin>,
    /// The blocks by owner and type, the most bytes first.
    pub blocks: Vec<Blocks>,
    /// The fields of structs and of enums' variants.
    pub fields: Vec<Field>,
    /// Whole enums, futures among them.
    pub enums: Vec<Enum>,
    /// The texts by owner.
    pub strings: Vec<Strings>,
    /// What to change, the most worth first.
    pub findings: Vec<Finding>,
    /// The functions of `stacks`.
    pub frames: Vec<String>,
    /// The call stacks that allocated live blocks.
    pub stacks: Vec<Stack>,
}

/// Blocks of one owner and type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Blocks {
    /// Type and field path that points to them, `Shape.members`; `(stack)`, `(static NAME)`, `(cycle)`.
    pub owner: String,
    /// `field`, `static`, `weak` (a raw pointer or a reference), `stack`, `cycle` or `unknown`.
    pub by: String,
    /// What holds them, as a person writes it: `Vec<Member>`.
    pub content: String,
    /// The type of their contents: `Member`.
    pub element: String,
    /// Bytes of one.
    pub element_size: u64,
    /// How many blocks.
    pub blocks: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Elements in use; none if that is not known of one of the blocks.
    pub len: Option<u64>,
    /// Elements there is memory for; of a hash table its buckets.
    pub capacity: u64,
    /// Bytes in which no element is.
    pub unused_bytes: u64,
    /// How many collections have so many elements, if any has another number than 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<Bin>,
    /// Where they were allocated, the most bytes first.
    pub sites: Vec<CallSite>,
}

/// A part of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bin {
    /// The least number that counts here.
    pub from: u64,
    /// The greatest.
    pub to: u64,
    /// How many there are.
    pub count: u64,
}

/// Numbers by their order of magnitude: 0, 1, 2 to 3, 4 to 7, and so on.
#[derive(Clone, Debug)]
pub(super) struct Histogram([u64; 65]);

impl Default for Histogram {
    fn default() -> Self {
        Self([0; 65])
    }
}

impl Histogram {
    /// Counts a number `times` times.
    pub(super) fn add(&mut self, number: u64, times: u64) {
        let bin = &mut self.0[(u64::BITS - number.leading_zeros()) as usize];
        *bin = bin.saturating_add(times);
    }

    /// Adds what another one counted.
    pub(super) fn merge(&mut self, other: &Self) {
        for (bin, more) in self.0.iter_mut().zip(other.0) {
            *bin = bin.saturating_add(more);
        }
    }

    /// The parts that are not empty.
    pub(super) fn bins(&self) -> Vec<Bin> {
        let bins = (0_u32..).zip(self.0).filter(|(_, count)| *count > 0);
        bins.map(|(bits, count)| match bits {
            0 => Bin { from: 0, to: 0, count },
            _ => Bin { from: 1 << (bits - 1), to: u64::MAX >> (u64::BITS - bits), count },
        })
        .collect()
    }
}

/// A line of the program that allocates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallSite {
    /// File and line, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The function.
    pub function: String,
    /// Blocks from there.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What the values of a field are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Field {
    /// The struct, `Shape`, or the variant, `Kind::B`.
    #[serde(rename = "type")]
    pub of: String,
    /// The field.
    pub field: String,
    /// Its type as a person writes it.
    pub field_type: String,
    /// Bytes of one.
    pub size: u64,
    /// How many values there are.
    pub instances: u64,
    /// How many of them have something in them: are not zero, `None`, or a collection without elements.
    pub filled: u64,
    /// Of an enum: how many are of each variant.
    pub variants: Vec<Variant>,
}

/// What the values of an enum are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Enum {
    /// The enum; for a future `{async fn Server::run}`.
    #[serde(rename = "type")]
    pub of: String,
    /// Bytes of one.
    pub size: u64,
    /// How many values there are.
    pub instances: u64,
    /// How many of them are of each variant, or in each state.
    pub variants: Vec<Variant>,
}

/// A variant of an enum, a state of a future.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// How many values.
    pub count: u64,
}

/// The texts of one owner that are not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Strings {
    /// As [`Blocks::owner`].
    pub owner: String,
    /// How many.
    pub count: u64,
    /// Their lengths together.
    pub bytes: u64,
    /// How many different ones.
    pub distinct: u64,
    /// Bytes of those that are equal to another.
    pub duplicate_bytes: u64,
}

/// What to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// `box`, `sparse`, `exact`, `thin`, `sorted`, `variant`, `reorder`, `niche`, `narrow`, `padding`, `empty`, `shrink`, `short`,
    /// `intern`, `duplicate`, `slab`, `rounding`, `inline`, `unshared` or `future`.
    pub kind: String,
    /// The field, variant or type.
    #[serde(rename = "where")]
    pub location: String,
    /// Each field, if they are several.
    pub fields: Vec<String>,
    /// How many values it is about.
    pub count: u64,
    /// Bytes that they take now, inline and in blocks.
    pub bytes: u64,
    /// Bytes that are saved when this is done after the findings before it, but for those that are `instead_of` others.
    pub saves: u64,
    /// What it costs besides.
    pub costs: String,
    /// Why, in words.
    pub why: String,
    /// What to make of it.
    pub how: String,
    /// Whether the bytes are those that the changed program takes, and not an estimate.
    pub exact: bool,
    /// Where most of the bytes were allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The fields whose findings this one replaces: `saves` is what it saves instead of them, after the findings before them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead_of: Vec<String>,
}

/// A call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stack {
    /// Indices of [`Snapshot::frames`], innermost first.
    pub frames: Vec<u32>,
    /// Live blocks that it allocated.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_by_their_magnitude() {
        let mut histogram = Histogram::default();
        for number in [0, 1, 1, 2, 3, 4, 7, 8, u64::MAX] {
            histogram.add(number, 1);
        }
        let bins: Vec<_> = histogram.bins().iter().map(|bin| (bin.from, bin.to, bin.count)).collect();
        assert_eq!(bins, [(0, 0, 1), (1, 1, 2), (2, 3, 2), (4, 7, 2), (8, 15, 1), (1 << 63, u64::MAX, 1)]);
    }
}
