//! What the attribute is not for.
#[dwell::erased]
fn not_async() {}

#[dwell::erased]
struct Struct;

#[dwell::erased(Send)]
async fn argument() {}

#[dwell::erased(?Sync)]
async fn other_argument() {}

fn main() {}
