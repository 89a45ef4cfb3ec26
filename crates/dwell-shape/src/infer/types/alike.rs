//! Merges classes at different positions: by their names, their keys and types, and by nesting.

use super::{Form, Group, Slot, Types};
use crate::infer::arena::{Node, NodeId, ObjectId};
use crate::infer::{decide, names};
use foldhash::{HashSet, HashSetExt};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::rc::Rc;

/// The most types with one name that are compared with each other.
const MAX_CLUSTERS: usize = 64;

/// A class and its first position.
struct Met {
    class: ObjectId,
    name: String,
    /// The union, if this is a field of a variant.
    union: Option<ObjectId>,
    /// Whether the variants of the union have objects of different types under this key.
    is_content: bool,
    /// The map, if these are its values.
    map: Option<ObjectId>,
}

/// A position that is still to be visited, with what [`Met`] says about it.
struct Open {
    group: Group,
    name: String,
    union: Option<ObjectId>,
    is_content: bool,
    map: Option<ObjectId>,
}

/// Returns the slots of the keys that two records have in common. Both lists are in alphabetical order.
fn in_both<'s, 'a>(left: &'s [Slot<'a>], right: &'s [Slot<'a>]) -> impl Iterator<Item = (&'s Slot<'a>, &'s Slot<'a>)> {
    let mut rest = right.iter().peekable();
    left.iter().filter_map(move |slot| {
        while rest.next_if(|other| other.key < slot.key).is_some() {}
        Some((slot, rest.next_if(|other| other.key == slot.key)?))
    })
}

impl<'a> Types<'a> {
    /// Returns whether there are objects or arrays at a position.
    fn has_inner(&self, group: &[NodeId]) -> bool {
        group.iter().any(|&node| self.arena.object_of(node).is_some() || self.arena.node(node).array.is_some())
    }

    /// Returns the classes in breadth-first order, without the variants of unions.
    fn meet(&self) -> Vec<Met> {
        let mut seen = HashSet::new();
        let mut met = Vec::new();
        let root =
            Open { group: vec![self.arena.root], name: String::new(), union: None, is_content: false, map: None };
        let mut queue = VecDeque::from([root]);
        while let Some(Open { group, name, union, is_content, map }) = queue.pop_front() {
            let below = |group| Open { group, name: names::singular(&name), union, is_content, map };
            queue.extend(self.elements(&group).into_iter().map(below));
            let Some(class) = self.class_at(&group) else { continue };
            // Each map has a position of its own for its values.
            if self.form(class) == Form::Map {
                queue.push_back(Open { map: Some(class), ..below(self.values(self.objects_at(&group))) });
            }
            if !seen.insert(class) {
                continue;
            }
            let contents = self.contents(class);
            let mut fields = |class: ObjectId, union: Option<ObjectId>| {
                let slots = self.slots(class);
                // Most fields are scalars, below which there are no objects.
                let mut slots: Vec<&Slot> = slots.iter().filter(|slot| self.has_inner(&slot.group)).collect();
                slots.sort_by_key(|slot| (slot.first, slot.key));
                queue.extend(slots.into_iter().map(|slot| {
                    let is_content = union.is_some() && contents.contains(&slot.hash);
                    Open { group: slot.group.clone(), name: slot.key.to_owned(), union, is_content, map: None }
                }));
            };
            match self.form(class) {
                Form::Map => {}
                Form::Record => fields(class, None),
                Form::Union => {
                    self.variants(class).into_iter().for_each(|(_, variant)| fields(variant, Some(class)));
                    fields(class, Some(class));
                }
            }
            met.push(Met { class, name, union, is_content, map });
        }
        met
    }

    pub(super) fn by_name(&mut self) -> bool {
        let mut groups = BTreeMap::<String, Vec<Met>>::new();
        for met in self.meet() {
            groups.entry(met.name.clone()).or_default().push(met);
        }
        let mut changed = false;
        for mut group in groups.into_values() {
            let mut seen = HashSet::new();
            for met in &mut group {
                met.class = self.class(met.class);
            }
            group.retain(|met| seen.insert(met.class));
            // The largest first, since the others are compared with it. The rest of the key makes the result
            // independent of the order of visits.
            group.sort_by_cached_key(|met| {
                (Reverse(self.size(met.class)), Reverse(self.total(met.class)), self.keys(met.class))
            });
            let mut clusters: Vec<Vec<Met>> = Vec::new();
            for met in group {
                match clusters.iter_mut().take(MAX_CLUSTERS).find(|cluster| self.is_part(&met, &cluster[0])) {
                    Some(cluster) => cluster.push(met),
                    None => clusters.push(vec![met]),
                }
            }
            for cluster in clusters.iter().filter(|cluster| cluster.len() > 1) {
                let classes: Vec<ObjectId> = cluster.iter().map(|met| met.class).collect();
                if self.form(classes[0]) == Form::Map {
                    // The others are maps too, but each has its own type: values distinguish maps, keys do not.
                    for &class in &classes[1..] {
                        changed |= self.set_map(class);
                    }
                } else {
                    changed |= self.join_all(&classes);
                }
            }
        }
        changed
    }

    fn total(&self, class: ObjectId) -> u64 {
        self.members(class).iter().map(|&object| self.arena.object(object).instances).sum()
    }

    pub(super) fn keys(&self, class: ObjectId) -> Vec<&'a str> {
        match self.form(class) {
            Form::Record => self.slots(class).iter().map(|slot| slot.key).collect(),
            Form::Union => self.variants(class).into_iter().map(|(value, _)| value).collect(),
            Form::Map => Vec::new(),
        }
    }

    fn size(&self, class: ObjectId) -> usize {
        match self.form(class) {
            Form::Record => self.slots(class).len(),
            Form::Union => self.variants(class).len(),
            Form::Map => usize::MAX,
        }
    }

    /// Returns whether the larger class contains most keys or variants of the smaller.
    fn is_part(&self, small: &Met, large: &Met) -> bool {
        let siblings = small.union.is_some() && small.union == large.union;
        if siblings && small.is_content && large.is_content {
            return false;
        }
        match (self.form(small.class), self.form(large.class)) {
            (Form::Record, Form::Record) => {
                // Records without the tag are not variants of a tagged union.
                let tag = self.study_tag(large.class).or_else(|| self.study_tag(small.class));
                if tag.is_some_and(|tag| [small, large].iter().any(|met| !self.has_tag(met.class, tag))) {
                    return false;
                }
                let (small, large) = (self.slots(small.class), self.slots(large.class));
                let (mut common, mut clash) = (0, 0);
                for (left, right) in in_both(&small, &large) {
                    common += 1;
                    clash += usize::from(!self.are_compatible(&left.group, &right.group));
                }
                let least = small.len().min(large.len());
                // Under the same key of two variants, one clash is allowed if there are many keys.
                let little = usize::from(large.len() >= 8);
                // Six common keys with the same types are no coincidence, even if they are a smaller share.
                let enough = common * 2 >= least || (common >= 6 && common * 4 >= least);
                (enough && clash * 5 <= common) || (siblings && common > 0 && clash <= little)
            }
            (Form::Union, Form::Union) => {
                let (few, many) = (self.variants(small.class), self.variants(large.class));
                let common = few.iter().filter(|(value, _)| many.iter().any(|(other, _)| value == other)).count();
                self.tag(small.class) == self.tag(large.class) && common * 2 >= few.len().min(many.len())
            }
            // Values that have the name of their map, since it has no singular, are no maps for that reason.
            (Form::Record, Form::Map) if small.map.is_some_and(|map| self.class(map) == large.class) => false,
            (Form::Record, Form::Map) => {
                // There are too few objects to decide whether their keys are data, so the values decide.
                let slots = self.slots(small.class);
                let ((count, kinds), (_, others)) = (self.all_values(small.class), self.all_values(large.class));
                // A record with strings beside objects is none of a map of objects.
                let may_be = kinds & !others == 0 && count < 3 * slots.len() as u64;
                may_be && {
                    let nodes = slots.iter().flat_map(|slot| slot.group.iter().copied());
                    let values = self.values(self.members(large.class).iter().copied());
                    decide::are_alike(self.arena, &nodes.chain(values).collect::<Group>())
                }
            }
            _ => false,
        }
    }

    /// Returns whether the values of two positions could be those of one.
    fn are_compatible(&self, left: &[NodeId], right: &[NodeId]) -> bool {
        let (left, right) = (self.kinds(left), self.kinds(right));
        left == 0 || right == 0 || left & right != 0
    }

    /// Merges records with the same keys and types, at any position.
    pub(super) fn by_form(&mut self) -> bool {
        // The fields, and the values of the entries that are not fields: without these, a map with a name is no `{}`.
        let mut forms = BTreeMap::<(Vec<(&str, String)>, Option<String>), Vec<ObjectId>>::new();
        for Met { class, .. } in self.meet() {
            if self.form(class) == Form::Record {
                let fields = self.slots(class).iter().map(|slot| (slot.key, self.outline(&slot.group))).collect();
                let rest = self.rest(class);
                let rest = (!rest.is_empty()).then(|| self.outline(&rest));
                forms.entry((fields, rest)).or_default().push(class);
            }
        }
        let joined: Vec<Vec<ObjectId>> = forms.into_values().filter(|classes| classes.len() > 1).collect();
        let mut changed = false;
        for classes in joined {
            changed |= self.join_all(&classes);
        }
        changed
    }

    /// Returns the externally tagged unions, those with the most variants first.
    fn externals(&self) -> Vec<ObjectId> {
        let mut all: Vec<ObjectId> = self.classes().into_iter().filter(|&class| self.is_external(class)).collect();
        all.sort_by_key(|&class| (Reverse(self.slots(class).len()), class));
        all
    }

    /// Merges externally tagged unions that have most variants of the smaller one in common: the levels of a recursive
    /// type.
    pub(super) fn by_external(&mut self) -> bool {
        let (mut joined, mut firsts) = (Vec::new(), Vec::<(ObjectId, Rc<[Slot]>)>::new());
        for class in self.externals() {
            let slots = self.slots(class);
            let is_like = |(_, first): &&(ObjectId, Rc<[Slot]>)| {
                let common = in_both(first, &slots).count();
                common >= 2
                    && common * 2 >= slots.len()
                    && in_both(first, &slots).all(|(left, right)| self.are_compatible(&left.group, &right.group))
            };
            match firsts.iter().take(MAX_CLUSTERS).find(is_like) {
                Some(&(first, _)) => joined.push((first, class)),
                None => firsts.push((class, slots)),
            }
        }
        joined.into_iter().fold(false, |changed, (first, class)| self.join_alike(first, class) || changed)
    }

    /// Merges a record with one that it contains directly and that has nearly the same keys: a recursive type. Does the
    /// same for records under two keys of one record.
    pub(super) fn by_nesting(&mut self) -> bool {
        let mut joined = Vec::new();
        for class in self.classes() {
            if self.form(class) != Form::Record {
                continue;
            }
            let slots = self.slots(class);
            let inner = slots.iter().flat_map(|slot| self.classes_within(&slot.group));
            let is_record = |&inner: &ObjectId| inner != class && self.form(inner) == Form::Record;
            let mut inner: Vec<ObjectId> = inner.collect::<HashSet<_>>().into_iter().filter(is_record).collect();
            inner.sort_unstable();
            let mut firsts: Vec<(ObjectId, Rc<[Slot]>)> = Vec::new();
            for inner in inner {
                let theirs = self.slots(inner);
                if self.are_nearly_equal((class, &slots), (inner, &theirs)) {
                    joined.push((class, inner));
                }
                let first = firsts.iter().take(MAX_CLUSTERS);
                let mut known = first.map(|(first, slots)| (*first, &**slots));
                let known = known.find(|&known| self.are_nearly_equal(known, (inner, &theirs)));
                match known.map(|(first, _)| first) {
                    Some(first) => joined.push((first, inner)),
                    None => firsts.push((inner, theirs)),
                }
            }
        }
        joined.sort_unstable();
        let mut changed = false;
        for (class, inner) in joined {
            changed |= self.join_alike(class, inner);
        }
        changed
    }

    /// Returns whether two record classes have at least four common keys, few others, and the same types under the
    /// common keys.
    fn are_nearly_equal(&self, (one, slots): (ObjectId, &[Slot]), (other, theirs): (ObjectId, &[Slot])) -> bool {
        // A cheap test of the numbers of keys first.
        if slots.len().min(theirs.len()) < 4 || slots.len().min(theirs.len()) * 4 < slots.len().max(theirs.len()) * 3 {
            return false;
        }
        let common = in_both(slots, theirs).count();
        let all = slots.len() + theirs.len() - common;
        common >= 4
            && common * 4 >= all * 3
            && in_both(slots, theirs).all(|(left, right)| self.are_compatible(&left.group, &right.group))
            && self.study_tag(one) == self.study_tag(other)
    }

    /// Returns a short description of the type of a position, equal for equal types.
    fn outline(&self, group: &[NodeId]) -> String {
        let any = |is: fn(&Node) -> bool| group.iter().any(|&node| is(self.arena.node(node)));
        let floats = any(|node| node.floats > 0);
        let marks = [
            (any(|node| node.bools > 0), 'b'),
            (any(|node| node.integers > 0) && !floats, 'i'),
            (floats, 'f'),
            (any(|node| node.text_count() > 0), 's'),
            (any(|node| node.free.is_some()), '?'),
        ];
        let mut text: String = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect();
        // Writing to a string does not fail.
        for elements in self.elements(group) {
            let _ = write!(text, "[{}]", self.outline(&elements));
        }
        if let Some(class) = self.class_at(group) {
            let _ = match self.form(class) {
                Form::Map => write!(text, "{{{}}}", self.outline(&self.values(self.objects_at(group)))),
                _ => write!(text, "{class:?}"),
            };
        }
        text
    }
}
