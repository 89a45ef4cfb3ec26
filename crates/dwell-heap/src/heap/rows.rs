//! The rows of a heap as JSON: blocks by owner and type, fields, enums, strings, call stacks. `docs/json-output.md` names the
//! fields.

use serde::{Deserialize, Serialize};

/// Blocks of one owner and type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Blocks {
    /// The type and field that own the blocks, `Shape.members`; or `(stack)`, `(static NAME)`, `(cycle)`,
    /// `(leaked)`.
    pub owner: String,
    /// `field`, `static`, `weak` (a raw pointer or a reference), `stack`, `cycle`, `leak` or `unknown`.
    pub by: String,
    /// The type that holds the blocks: `Vec<Member>`.
    pub content: String,
    /// The type of the blocks' contents: `Member`.
    pub element: String,
    /// The size of an element in bytes.
    pub element_size: u64,
    /// The number of blocks.
    pub blocks: u64,
    /// The number of requested bytes.
    pub bytes: u64,
    /// The number of elements in use; `None` if unknown for at least one block.
    pub len: Option<u64>,
    /// The capacity in elements; the number of buckets for a hash table.
    pub capacity: u64,
    /// The number of bytes that hold no elements.
    pub unused_bytes: u64,
    /// The number of bytes that no code can free, as `Rc`s or `Arc`s hold each other.
    #[serde(skip_serializing_if = "is_zero")]
    pub leaked_bytes: u64,
    /// All fields that share the values of an `Rc` or `Arc`, most references first, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_by: Vec<Sharer>,
    /// The number of collections by length, unless all have length 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<Bin>,
    /// The call sites that allocated the blocks, most bytes first.
    pub sites: Vec<CallSite>,
    /// The bytes that live since earlier snapshots of the run, the earliest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ages: Vec<Age>,
}

/// Blocks that live since an earlier snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Age {
    /// The first snapshot that has them, as in the snapshot's `at`.
    pub since: String,
    /// The number of their bytes.
    pub bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What would be freed without a static, a local variable or a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retained {
    /// The owner, as in [`Blocks::owner`].
    pub owner: String,
    /// `static`, `local`, `thread-local`, `field`, `stack`, or `shared`: several fields keep the bytes together, and none alone.
    pub by: String,
    /// The type that the owner has there, for blocks without an owning field.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// The call site that allocated such blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The number of bytes that only this owner keeps.
    pub bytes: u64,
    /// The number of blocks with these bytes.
    pub blocks: u64,
    /// The keys of a map whose entries keep the most bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<RetainedKey>,
}

/// What would be freed without an entry of a map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetainedKey {
    /// The key as text, if it is a text or a number.
    pub key: String,
    /// The number of bytes that only its entry keeps, without its place in the map.
    pub bytes: u64,
}

/// A field with references to the values of an `Rc` or `Arc`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sharer {
    /// The owner, as in [`Blocks::owner`]; `(elsewhere)` for references that the walk did not find: in local variables,
    /// in registers, behind raw pointers.
    pub owner: String,
    /// The number of references.
    pub references: u64,
}

/// A bin of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bin {
    /// The lowest number of the bin.
    pub from: u64,
    /// The highest number of the bin.
    pub to: u64,
    /// The count.
    pub count: u64,
}

/// A histogram with a bin for each power of two: 0, 1, 2 to 3, 4 to 7, and so on.
#[derive(Clone, Debug)]
pub(crate) struct Histogram([u64; 65]);

impl Default for Histogram {
    fn default() -> Self {
        Self([0; 65])
    }
}

impl Histogram {
    /// Counts a number `times` times.
    pub(crate) fn add(&mut self, number: u64, times: u64) {
        let bin = &mut self.0[(u64::BITS - number.leading_zeros()) as usize];
        *bin = bin.saturating_add(times);
    }

    /// Adds another histogram.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (bin, more) in self.0.iter_mut().zip(other.0) {
            *bin = bin.saturating_add(more);
        }
    }

    /// Returns the bins that are not empty.
    pub(crate) fn bins(&self) -> Vec<Bin> {
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
    /// File and line, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The function.
    pub function: String,
    /// The number of blocks.
    pub blocks: u64,
    /// The number of bytes of these blocks.
    pub bytes: u64,
    /// The number of these bytes that hold no elements.
    #[serde(skip_serializing_if = "is_zero")]
    pub unused_bytes: u64,
}

/// Statistics of a field's values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Field {
    /// The struct, `Shape`, or the variant, `Kind::B`.
    #[serde(rename = "type")]
    pub owner: String,
    /// The field.
    pub field: String,
    /// The short name of its type.
    pub field_type: String,
    /// The size of a value in bytes.
    pub size: u64,
    /// The number of values.
    pub instances: u64,
    /// The number of values that are not empty. Empty are zero, `None`, and collections without elements.
    pub filled: u64,
    /// The number of values of each variant, for an enum.
    pub variants: Vec<Variant>,
    /// The number of bits that hold all values with their sign, for an integer of at least two bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<u32>,
    /// Whether any of these values is zero.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_zero: bool,
}

/// Statistics of an enum's values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Enum {
    /// The enum; for a future `{async fn Server::run}`.
    #[serde(rename = "type")]
    pub name: String,
    /// The size of a value in bytes.
    pub size: u64,
    /// The number of values.
    pub instances: u64,
    /// The number of values of each variant, or in each state.
    pub variants: Vec<Variant>,
}

/// A variant of an enum, a state of a future.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The number of values.
    pub count: u64,
}

/// Statistics of one owner's strings that are not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Strings {
    /// The owner, as in [`Blocks::owner`].
    pub owner: String,
    /// The number of strings.
    pub count: u64,
    /// The sum of their lengths in bytes.
    pub bytes: u64,
    /// The number of distinct strings.
    pub distinct: u64,
    /// The number of bytes of strings that are equal to an earlier one.
    pub duplicate_bytes: u64,
}

/// A call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stack {
    /// Indices into the snapshot's `frames`, innermost first.
    pub frames: Vec<u32>,
    /// The number of live blocks that the stack allocated.
    pub blocks: u64,
    /// The number of bytes of these blocks.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_bins_are_powers_of_two() {
        let mut histogram = Histogram::default();
        for number in [0, 1, 1, 2, 3, 4, 7, 8, u64::MAX] {
            histogram.add(number, 1);
        }
        let bins: Vec<_> = histogram.bins().iter().map(|bin| (bin.from, bin.to, bin.count)).collect();
        assert_eq!(bins, [(0, 0, 1), (1, 1, 2), (2, 3, 2), (4, 7, 2), (8, 15, 1), (1 << 63, u64::MAX, 1)]);
    }
}
