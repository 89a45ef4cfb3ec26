//! Blocks without an owner: their call stack tells what they contain.

use super::{Owner, Start, Use, Walk};
use crate::debuginfo::Text;
use crate::heap::walk::{BlockType, Opaque, Schema, SiteId, Slots};
use dwell_model::Edge;
use foldhash::HashMap;
use std::rc::Rc;

/// What stands for the owner of blocks without one.
#[derive(Default)]
pub(super) struct Unowned {
    /// The sites of blocks whose type is known from their call stack, by that type and their container.
    pub(super) roots: HashMap<BlockType, Vec<(String, SiteId)>>,
    /// The functions that allocated blocks of an unknown type.
    allocators: Vec<String>,
    /// The number of the function for each call stack.
    allocator_of: HashMap<u32, u32>,
}

impl Walk<'_, '_> {
    /// Returns the type that holds a block, from its call stack: `Vec<Node>`.
    pub(super) fn content_of(&self, block: usize) -> String {
        if let Some((_, content)) = self.hints.types.get(&block) {
            return content.clone();
        }
        let origin = self.origins.get(self.snapshot.blocks[block].stack as usize);
        origin.map_or_else(String::new, |origin| origin.content.clone())
    }

    /// Returns the site of blocks with the contents `ty` in a container `content` that have no owning field.
    pub(super) fn root(&mut self, ty: BlockType, content: &str) -> SiteId {
        let known = self.unowned.roots.get(&ty).into_iter().flatten().find(|(container, _)| container == content);
        if let Some(&(_, site)) = known {
            return site;
        }
        let schema = &mut self.schema;
        let opaque = |schema: &mut Schema<'_>, name: &str| schema.made(name, name, |_, _| Rc::new(Opaque));
        let site = match ty {
            BlockType::Value(value) => {
                let name = Text::clone(&schema.get(value).name);
                schema.root(value, &name)
            }
            BlockType::Slots(element) => {
                let stride = schema.get(element).size;
                schema.made(content, content, |schema, site| {
                    Rc::new(Slots { element: schema.part(element, site, Edge::Element), stride })
                })
            }
            BlockType::Own(name, element, _) => match schema.blocks(name) {
                Some(blocks) => (blocks.site)(schema, element, content),
                None => opaque(schema, content),
            },
            BlockType::Chunk(arena) => opaque(schema, &format!("chunk of {arena}")),
        };
        self.unowned.roots.entry(ty).or_default().push((content.to_owned(), site));
        site
    }

    /// Decodes a block as the type from its call stack.
    pub(super) fn start(&mut self, block: usize, owner: Owner) {
        let Some(ty) = self.type_of(block) else { return };
        let content = self.content_of(block);
        let site = self.root(ty, &content);
        self.start_as(block, ty, Start { owner, site, content });
    }

    pub(super) fn start_as(&mut self, block: usize, ty: BlockType, start: Start) {
        let variant = match ty {
            BlockType::Value(_) => return self.start_value(block, start),
            BlockType::Own(_, _, variant) => variant,
            BlockType::Slots(_) | BlockType::Chunk(_) => 0,
        };
        let decoder = Rc::clone(&self.schema.sites[start.site].decoder);
        decoder.start(self, block, variant, start);
    }

    fn start_value(&mut self, block: usize, start: Start) {
        let (name, size) = self.schema.element(start.site);
        let Some(unused) = self.snapshot.blocks[block].size.checked_sub(size) else {
            return self.start_unknown(block, start, size);
        };
        let site = start.site;
        if self.claim_start(block, start, (name, size), Use { len: 1, capacity: 1, unused, is_unknown: false }) {
            self.is_requested(block, size);
            self.run(block, site, 0, size, 1);
        }
    }

    /// Returns the number of elements in a block, if something other than its owner shows it.
    pub(in crate::heap) fn known_len(&self, block: usize) -> Option<u64> {
        self.hints.lengths.get(&block).copied()
    }

    /// Returns `true` if a block needs no owner: it is a task.
    pub(super) fn is_root(&self, block: usize) -> bool {
        if let Some((ty, _)) = self.hints.types.get(&block) {
            return self.schema.families.iter().any(|family| (family.is_root)(&self.schema, *ty));
        }
        let stack = self.snapshot.blocks[block].stack;
        self.origins.get(stack as usize).is_some_and(|origin| origin.is_root)
    }

    /// Returns `true` if the call stack of a block shows no Rust function.
    pub(super) fn is_foreign(&self, block: usize) -> bool {
        if self.is_from_outside() {
            return false;
        }
        let stack = self.snapshot.blocks[block].stack;
        self.origins.get(stack as usize).is_none_or(|origin| origin.is_foreign)
    }

    pub(super) fn untyped(&mut self, block: usize) {
        let is_foreign = self.is_foreign(block);
        let content = if is_foreign { "block of C code" } else { "?" };
        let number = self.allocator_of(self.snapshot.blocks[block].stack);
        let owner = Owner::Untyped(number);
        let used = Use { is_unknown: true, ..Use::default() };
        self.claim_as(block, owner, usize::from(is_foreign), None, |_| (content.into(), "?".into(), 0), used);
    }

    /// Returns the number of the function that allocates with a call stack.
    fn allocator_of(&mut self, stack: u32) -> u32 {
        if let Some(&known) = self.unowned.allocator_of.get(&stack) {
            return known;
        }
        let function = self.origins.get(stack as usize).map_or("", |origin| &*origin.function);
        let known = self.unowned.allocators.iter().position(|known| known == function);
        let number = known.unwrap_or_else(|| {
            self.unowned.allocators.push(function.to_owned());
            self.unowned.allocators.len() - 1
        });
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        self.unowned.allocator_of.insert(stack, number);
        number
    }

    /// Returns the name of the owner of blocks whose type is unknown: the function that allocated them.
    pub(crate) fn allocator(&self, number: u32) -> String {
        match self.unowned.allocators.get(number as usize).map(String::as_str) {
            None | Some("") => "(stack)".to_owned(),
            Some(function) => format!("(allocated by {function})"),
        }
    }
}
