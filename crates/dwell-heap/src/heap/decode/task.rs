//! Tasks of tokio: one block with the future, the scheduler and the result. The runtime frees it when the task has ended and
//! no handle is left. Only raw pointers lead to it, from the runtime's lists, from wakers and from handles.

use crate::heap::walk::{BlockType, CallStack, Family, Schema, head};

pub(super) const FAMILY: Family = Family { content, is_root, ..Family::new(&[]) };

const CELL: &str = "tokio::runtime::task::core::Cell";

fn content(ty: BlockType, stack: &CallStack<'_, '_>) -> Option<String> {
    let BlockType::Value(cell) = ty else { return None };
    let future = stack.schema.param(cell, "T").filter(|_| is_root(stack.schema, ty))?;
    Some(format!("task {}", stack.schema.get(future).name))
}

fn is_root(schema: &Schema<'_>, ty: BlockType) -> bool {
    matches!(ty, BlockType::Value(cell) if head(&schema.get(cell).path) == CELL)
}
