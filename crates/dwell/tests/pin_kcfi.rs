//! Indirect calls have the type of their function: a program under control-flow integrity (`-Zsanitizer=kcfi`), which ends
//! with an illegal instruction if they have not. std is not built with it, so the program prints nothing.
//!
//! The flag is unstable: `RUSTC_BOOTSTRAP=1` enables it in the build of the program only. The test is skipped where that
//! does not work.

use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r"
use dwell::pin::{ErasedExt, InlineBox, InlineFuture, ReusableFuture};
use dwell::slab::Pooled;
use dwell::small::CallOnce;
use dwell::{SmallBox, pooled, small_box};
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

struct Dropped(u64);

impl Drop for Dropped {
    fn drop(&mut self) {
        black_box(self.0);
    }
}

async fn number(of: Dropped) -> u64 {
    black_box(of.0) + 1
}

trait Object {
    fn number(&self) -> u64;
}

impl Object for Dropped {
    fn number(&self) -> u64 {
        self.0
    }
}

impl Object for [Dropped; 8] {
    fn number(&self) -> u64 {
        self[0].0
    }
}

fn poll(mut future: Pin<&mut (impl Future<Output = u64> + ?Sized)>) {
    let mut context = Context::from_waker(Waker::noop());
    if !matches!(black_box(&mut future).as_mut().poll(&mut context), Poll::Ready(2)) {
        std::process::abort();
    }
}

dwell::slab! {
    mod numbers: Dropped;
}

fn main() {
    let inline: InlineFuture<u64, 8> = number(Dropped(1)).inline();
    poll(std::pin::pin!(inline));
    drop(black_box(number(Dropped(1)).inline::<8>()));
    poll(number(Dropped(1)).pooled().as_mut());
    poll(std::pin::pin!(number(Dropped(1)).small::<8>()));
    let mut reusable = ReusableFuture::new();
    for _ in 0..2 {
        reusable.set(number(Dropped(1)));
        poll(Pin::new(&mut reusable));
    }
    let small: SmallBox<dyn Object> = small_box!(Dropped(2));
    black_box(&small).number();
    let spilled: SmallBox<dyn Object> = small_box!([(); 8].map(|()| Dropped(2)));
    black_box(&spilled).number();
    let slot: Pooled<dyn Object> = pooled!(Dropped(2));
    black_box(&slot).number();
    let inline = InlineBox::<dyn Object, 2>::new_coerced(Dropped(2), |value| value);
    black_box(&inline).number();
    let call: SmallBox<dyn CallOnce<(u8,), Output = u8>> = small_box!(|x: u8| x + 1);
    black_box(call).call_once((1,));
    drop((small, spilled, slot, inline));
    std::thread::spawn(|| _ = numbers::insert(Dropped(3)).leak()).join().unwrap();
}
";

#[test]
fn indirect_calls_have_the_type_of_their_function() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) || cfg!(miri) {
        println!("skipped: the sanitizer is for x86-64 Linux");
        return;
    }
    let name = "pin-kcfi";
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(directory.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n[dependencies]\ndwell = {{ path = {:?}, \
         default-features = false, features = [\"std\", \"pin\"] }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(directory.join("src/main.rs"), PROGRAM).unwrap();
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    if lock.exists() {
        std::fs::copy(lock, directory.join("Cargo.lock")).unwrap();
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = "x86_64-unknown-linux-gnu";
    let built = Command::new(cargo)
        .args(["build", "--offline", "--release", "--target", target])
        .current_dir(&directory)
        .env("CARGO_TARGET_DIR", directory.join("target"))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=kcfi -Cpanic=abort -Cunsafe-allow-abi-mismatch=sanitizer")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output();
    match built {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!errors.contains("error[E"), "the program is wrong:\n{errors}");
            println!("skipped: the program was not built:\n{errors}");
            return;
        }
        Err(error) => {
            println!("skipped: cargo cannot be run: {error}");
            return;
        }
    }
    let program = directory.join("target").join(target).join("release").join(name);
    let status = Command::new(program).status().unwrap();
    assert!(status.success(), "{status}");
}
