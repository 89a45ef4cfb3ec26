//! Which strings are an enum, and which enums are one.

use super::super::names::{common, singular, type_name};
use super::super::text::ExactSet;
use super::{Builder, Wish};
use crate::schema::Kind;
use foldhash::HashSet;
use std::collections::BTreeMap;

/// The most strings of a closed set.
pub(super) const MAX_KEYWORDS: usize = 64;
/// The longest string of a closed set, in bytes.
const MAX_KEYWORD: usize = 48;
/// The least average count of the strings of a closed set.
const TIMES: u64 = 8;
/// The least count of the string of a closed set with only one string.
const ONLY: u64 = 64;
/// The same if it remains an enum of its own, which is odd to read, so it must save much.
const ALONE: u64 = 1024;
/// The fewest strings that differ in numbers only, and are names of numbered things then.
const NUMBERED: usize = 4;
/// The fewest enums of strings of one record that become one.
const LIKE: usize = 3;

/// Returns whether strings that occur `count` times are a closed set.
pub(super) fn are_closed(count: u64, words: &ExactSet) -> bool {
    (1..=MAX_KEYWORDS).contains(&words.len())
        && count >= if words.len() == 1 { ONLY } else { TIMES * words.len() as u64 }
        && words.iter().all(|(word, count)| count >= 2 && is_keyword(word))
        // Versions, dates, numbers and hashes are open sets: later data has new ones.
        && words.iter().filter(|(word, _)| is_name(word)).count() * 2 > words.len()
        && !are_numbered(words)
}

/// Returns whether most strings differ from another in numbers only: `image_0`, `image_1`. There may be more of them.
fn are_numbered(words: &ExactSet) -> bool {
    let stem = |word: &str| word.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let stems: HashSet<String> = words.iter().map(|(word, _)| stem(word)).collect();
    words.len() >= NUMBERED && stems.len() * 3 <= words.len()
}

impl Builder<'_, '_> {
    /// Makes the enums of a record one if one of them has the strings of all: the levels of several permissions.
    pub(super) fn join_enums(&mut self) {
        for record in 0..self.schema.records.len() {
            let fields = &self.schema.records[record].fields;
            let enums: Vec<(usize, String)> = fields
                .iter()
                .filter_map(|field| match field.slot.kind {
                    Kind::Keyword { id, .. } => Some((id, type_name(&field.key))),
                    _ => None,
                })
                .collect();
            let size = |id: usize| self.schema.keywords[id].values.len();
            let Some(most) = enums.iter().map(|&(id, _)| id).max_by_key(|&id| (size(id), std::cmp::Reverse(id))) else {
                continue;
            };
            let all = &self.schema.keywords[most].values;
            let is_part = |entry: &&(usize, String)| {
                self.schema.keywords[entry.0].values.keys().all(|word| all.contains_key(word))
            };
            let (mut ids, names): (Vec<usize>, Vec<String>) = enums.iter().filter(is_part).cloned().unzip();
            ids.sort_unstable();
            ids.dedup();
            if ids.len() < LIKE || all.len() < 2 {
                continue;
            }
            let parent = type_name(&self.record_wishes[record].name);
            let one = singular(&parent);
            let name = common(&names).unwrap_or(if one == parent { parent + "Value" } else { one });
            self.keyword_wishes[most] = Wish::new(name, self.record_wishes[record].parent);
            self.merge_enums(most, &ids);
        }
    }

    /// Makes enums of the same strings one, wherever they are.
    pub(super) fn join_equal_enums(&mut self) {
        let mut equal = BTreeMap::<Vec<String>, Vec<usize>>::new();
        for (id, keywords) in self.schema.keywords.iter().enumerate().filter(|(_, set)| set.values.len() > 1) {
            equal.entry(keywords.values.keys().cloned().collect()).or_default().push(id);
        }
        let mut equal: Vec<Vec<usize>> = equal.into_values().filter(|ids| ids.len() > 1).collect();
        while let Some(ids) = equal.pop() {
            let count = |id: usize| self.schema.keywords[id].values.values().sum::<u64>();
            let Some(&most) = ids.iter().max_by_key(|&&id| (count(id), std::cmp::Reverse(id))) else { continue };
            let names: Vec<String> = ids.iter().map(|&id| type_name(&self.keyword_wishes[id].name)).collect();
            if let Some(name) = common(&names) {
                self.keyword_wishes[most].name = name;
            }
            self.merge_enums(most, &ids);
            let gone = |id: usize| ids.iter().filter(|&&other| other != most && other < id).count();
            equal.iter_mut().flatten().for_each(|id| *id -= gone(*id));
        }
    }

    /// Makes enums of one string text.
    pub(super) fn drop_single_enums(&mut self) {
        let is_single = |id: usize| {
            let values = &self.schema.keywords[id].values;
            values.len() == 1 && values.values().all(|&count| count < ALONE)
        };
        let single: HashSet<usize> = (0..self.schema.keywords.len()).filter(|&id| is_single(id)).collect();
        let mut index = 0..;
        self.keyword_wishes.retain(|_| index.next().is_some_and(|id| !single.contains(&id)));
        self.schema.drop_keywords(&single);
    }

    fn merge_enums(&mut self, into: usize, ids: &[usize]) {
        let mut index = 0..;
        self.keyword_wishes.retain(|_| index.next().is_some_and(|id| id == into || !ids.contains(&id)));
        self.schema.merge_keywords(into, ids);
    }
}

/// Returns whether a string is a word, and not a number, a version, a date, a hash or an address.
pub(super) fn is_name(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    word.starts_with(char::is_alphabetic) && digits * 3 <= word.chars().count() && !word.contains("://")
}

/// Returns whether a string can be a variant's name.
pub(super) fn is_keyword(word: &str) -> bool {
    word.len() <= MAX_KEYWORD
        && word.contains(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(|c| c.is_alphanumeric() || "-_.:/#+@$ ".contains(c))
        && word.split(' ').count() <= 4
}
