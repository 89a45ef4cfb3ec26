//! Generates three programs: routes of layered services, deeply nested async functions, and calls of an arena.

use anyhow::{Context, Result};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::{Boxes, DWELL, PROFILE, Program, calls, leaf_constant};

/// The leaf of the programs, which the innermost functions await.
const LEAF: &str = "
#[inline(never)]
pub async fn step(value: u64) -> u64 {
    std::future::ready(()).await;
    value.wrapping_mul(LEAF + 7).rotate_left(5)
}
";

/// The executor of the asynchronous programs, and their type of boxed futures.
const MAIN: &str = "
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
";

pub(super) fn write(folder: &Path, quick: bool) -> Result<Vec<Vec<Program>>> {
    let (routes, layers) = if quick { (8, 4) } else { (24, 6) };
    let (functions, depth) = if quick { (8, 6) } else { (24, 12) };
    let all = [Boxes::None, Boxes::Pinned, Boxes::Boxed, Boxes::OnceInside, Boxes::Once, Boxes::OncePooled];
    let services = all.map(|boxes| (boxes.name(), services(boxes, routes, layers)));
    let all = [Boxes::None, Boxes::Pinned, Boxes::Boxed, Boxes::Once, Boxes::OncePooled];
    let nested = all.map(|boxes| (boxes.name(), nested(boxes, functions, depth)));
    let calls = calls::SUBJECTS.map(|subject| (subject.name, calls::program(&subject)));
    let target = folder.join("target");
    let mut programs = Vec::new();
    for (name, workload, dependencies, texts) in [
        ("services", format!("{routes} routes x {layers} layers"), "", &services[..]),
        ("nested", format!("{functions} x {depth} async fns"), "", &nested[..]),
        ("calls", "900 calls of an arena".to_owned(), calls::DEPENDENCIES, &calls[..]),
    ] {
        let of_one = texts.iter().zip(0..).map(|((subject, text), number)| {
            let folder = folder.join(name).join(format!("{number}"));
            fs::create_dir_all(folder.join("src"))?;
            let manifest = format!(
                "[package]\nname = \"program\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
                 {PROFILE}[dependencies]\n{DWELL}\n{dependencies}"
            );
            fs::write(folder.join("Cargo.toml"), manifest)?;
            let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
            fs::copy(&lock, folder.join("Cargo.lock")).with_context(|| format!("cannot copy {}", lock.display()))?;
            fs::write(folder.join("src/main.rs"), text)?;
            let leaf = folder.join("src/leaf.rs");
            fs::write(&leaf, leaf_constant(0) + LEAF)?;
            let (workload, target) = (workload.clone(), target.clone());
            Ok(Program { workload, subject, folder, target, binary: "program", leaf })
        });
        programs.push(of_one.collect::<Result<_>>()?);
    }
    Ok(programs)
}

/// Returns the expression of a future at a layer.
fn at_layer(boxes: Boxes, future: &str) -> String {
    match boxes {
        Boxes::Pinned => format!("({future}).pinned()"),
        Boxes::Boxed => format!("boxed({future})"),
        Boxes::None | Boxes::OnceInside | Boxes::Once | Boxes::OncePooled => future.to_owned(),
    }
}

/// Returns the expression of a future at the boundary of a route.
fn at_boundary(boxes: Boxes, future: &str) -> String {
    match boxes {
        Boxes::Once => format!("boxed({future})"),
        Boxes::OncePooled => format!("({future}).pooled()"),
        Boxes::None | Boxes::Pinned | Boxes::Boxed | Boxes::OnceInside => future.to_owned(),
    }
}

const HEAD: &str = "#![allow(unused_imports, dead_code, private_interfaces)]
mod leaf;
use dwell::pin::{ErasedExt, PinExt, PoolFuture};
use std::pin::Pin;

fn boxed<'a, T, F: Future<Output = T> + Send + 'a>(future: F) -> BoxFuture<'a, T> {
    Box::pin(future)
}
";

/// Returns a program whose routes have different handlers under the same layers. A layer awaits before and after the
/// inner service and holds a text across the call, as a logging layer does.
fn services(boxes: Boxes, routes: usize, layers: usize) -> String {
    let mut text = format!("{HEAD}{MAIN}");
    text += "
pub struct Request { path: String, value: u64 }
#[derive(Debug)]
pub struct Failed(u64);

pub trait Service: Send + Sync {
    fn call(&self, request: Request) -> impl Future<Output = Result<u64, Failed>> + Send;
}

trait Erased: Send + Sync {
    fn call_erased(&self, request: Request) -> BoxFuture<'_, Result<u64, Failed>>;
}
impl<S: Service> Erased for S {
    fn call_erased(&self, request: Request) -> BoxFuture<'_, Result<u64, Failed>> { boxed(self.call(request)) }
}
pub struct Inside(Box<dyn Erased>);
impl Service for Inside {
    fn call(&self, request: Request) -> impl Future<Output = Result<u64, Failed>> + Send { self.0.call_erased(request) }
}
";
    for layer in 0..layers {
        let body = format!(
            "async move {{
            let name = format!(\"{layer}: {{}}\", request.path);
            let before = leaf::step(request.value ^ self.0).await;
            let value = self.1.call(Request {{ value: before, ..request }}).await?;
            let after = leaf::step(value ^ before).await;
            if after == {layer} {{ return Err(Failed(name.len() as u64)); }}
            Ok(after ^ name.len() as u64)
        }}"
        );
        let _ = write!(
            text,
            "
pub struct Layer{layer}<S>(u64, S);
impl<S: Service> Service for Layer{layer}<S> {{
    fn call(&self, request: Request) -> impl Future<Output = Result<u64, Failed>> + Send {{
        {}
    }}
}}
",
            at_layer(boxes, &body)
        );
    }
    for route in 0..routes {
        let body = format!(
            "async move {{
            let mut parts = vec![request.path.clone(), {route}.to_string()];
            let value = leaf::step(request.value + {route}).await;
            parts.push(value.to_string());
            let value = leaf::step(value).await;
            if parts.len() as u64 == value {{ return Err(Failed({route})); }}
            Ok(value ^ parts.concat().len() as u64)
        }}"
        );
        let _ = write!(
            text,
            "
pub struct Handler{route};
impl Service for Handler{route} {{
    fn call(&self, request: Request) -> impl Future<Output = Result<u64, Failed>> + Send {{
        {}
    }}
}}
",
            at_layer(boxes, &body)
        );
    }
    text += "\nasync fn dispatch(route: usize, request: Request) -> Result<u64, Failed> {\n    match route {\n";
    for route in 0..routes {
        let mut service = format!("Handler{route}");
        if boxes == Boxes::OnceInside {
            service = format!("Inside(Box::new({service}))");
        }
        for layer in 0..layers {
            service = format!("Layer{layer}({layer}, {service})");
        }
        let call = at_boundary(boxes, "service.call(request)");
        let _ = writeln!(text, "        {route} => {{ let service = {service}; {call}.await }}");
    }
    let _ = write!(
        text,
        "        _ => Err(Failed(0)),\n    }}\n}}

fn main() {{
    let route = std::env::args().count();
    let request = Request {{ path: String::from(\"/\"), value: 1 }};
    println!(\"{{:?}}\", block_on(dispatch(route, request)));
}}
"
    );
    text
}

/// Returns a program whose functions await the next one and the leaf.
fn nested(boxes: Boxes, functions: usize, depth: usize) -> String {
    let mut text = format!("{HEAD}{MAIN}");
    for function in 0..functions {
        let _ = writeln!(text, "async fn f{function}_0(value: u64) -> u64 {{ leaf::step(value + {function}).await }}");
        for level in 1..=depth {
            let call = at_layer(boxes, &format!("f{function}_{}(before)", level - 1));
            let _ = writeln!(
                text,
                "async fn f{function}_{level}(value: u64) -> u64 {{
    let name = value.to_string();
    let before = leaf::step(value).await;
    let inner = {call}.await;
    leaf::step(inner ^ name.len() as u64).await
}}"
            );
        }
    }
    text += "\nasync fn all(mut value: u64) -> u64 {\n";
    for function in 0..functions {
        let call = at_boundary(boxes, &format!("f{function}_{depth}(value)"));
        let _ = writeln!(text, "    value = {call}.await;");
    }
    text + "    value\n}\n\nfn main() {\n    println!(\"{}\", block_on(all(std::env::args().count() as u64)));\n}\n"
}
