//! The argument of `small_box!`, `pooled!` and `small_box_const!` is evaluated before the macro has any memory for the
//! value: `.await`, `?`, `return` and `break` in it, panics, and calls of the same macro.

#![forbid(unsafe_code)]
#![expect(clippy::needless_pass_by_value, reason = "boxes that are passed and dropped by their functions")]

use dwell::slab::Pooled;
use dwell::{SmallBox, pooled, small_box, small_box_const};
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::future::{poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// Is pending once.
async fn yield_now() {
    let mut polled = false;
    poll_fn(|_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

async fn words() -> [u64; 64] {
    yield_now().await;
    [1; 64]
}

trait Object {
    fn size(&self) -> usize;
}

impl<T> Object for T {
    fn size(&self) -> usize {
        size_of::<T>()
    }
}

async fn in_box() -> usize {
    let object: Box<dyn Object> = Box::new(words().await);
    (*object).size()
}

async fn in_small_box() -> usize {
    let object: SmallBox<dyn Object> = small_box!(words().await);
    (*object).size()
}

async fn in_pool() -> usize {
    let object: Pooled<dyn Object> = pooled!(words().await);
    (*object).size()
}

#[test]
fn value_takes_no_space_in_the_future() {
    let size = size_of_val(&in_box());
    assert_eq!((size_of_val(&in_small_box()), size_of_val(&in_pool())), (size, size));
    assert_eq!((block_on(in_small_box()), block_on(in_pool()), block_on(in_box())), (512, 512, 512));
}

async fn number() -> u8 {
    yield_now().await;
    1
}

fn assert_send<F: Send>(future: F) -> F {
    future
}

/// Closures that are not `Send` are made after an await and dropped before the next one.
#[test]
fn futures_that_await_in_the_argument_are_send() {
    async fn small() -> u8 {
        let sum = {
            let call: SmallBox<dyn Fn() -> u8> = small_box!({
                let n = number().await;
                let count = Rc::new(Cell::new(n));
                move || count.get()
            });
            call()
        };
        number().await + sum
    }
    async fn in_pool() -> u8 {
        let sum = {
            let call: Pooled<dyn Fn() -> u8> = pooled!({
                let n = number().await;
                let count = Rc::new(Cell::new(n));
                move || count.get()
            });
            call()
        };
        number().await + sum
    }
    assert_eq!(block_on(assert_send(small())) + block_on(assert_send(in_pool())), 4);
}

/// The memory of the macro lives to the end of the statement. It is empty, so the future stays `Send`.
#[test]
fn futures_that_await_later_in_the_statement_are_send() {
    fn call(with: SmallBox<dyn Fn() -> u8>) -> u8 {
        with()
    }
    fn call_pooled(with: Pooled<dyn Fn() -> u8>) -> u8 {
        with()
    }
    async fn later() -> u8 {
        let count = 3;
        call(small_box!({
            let count = Rc::new(Cell::new(count));
            move || count.get()
        })) + call_pooled(pooled!({
            let count = Rc::new(Cell::new(count));
            move || count.get()
        })) + number().await
    }
    assert_eq!(block_on(assert_send(later())), 7);
}

/// Several in one expression, as elements and as arguments.
#[test]
fn many_in_one_expression() {
    async fn all() -> usize {
        let small: Vec<SmallBox<dyn Object + Send>> =
            vec![small_box!(words().await), small_box!(number().await), small_box!(words().await)];
        let pooled: [Pooled<dyn Object + Send>; 2] = [pooled!(number().await), pooled!(words().await)];
        small.iter().map(|object| (**object).size()).sum::<usize>()
            + pooled.iter().map(|object| (**object).size()).sum::<usize>()
    }
    assert_eq!(block_on(assert_send(all())), 3 * 512 + 2);
}

#[test]
fn argument_may_leave_the_function_or_loop() {
    fn parse(text: &str) -> Result<SmallBox<dyn Debug>, std::num::ParseIntError> {
        Ok(small_box!(text.parse::<u8>()?))
    }
    fn parse_pooled(text: &str) -> Option<Pooled<dyn Debug>> {
        Some(pooled!(text.parse::<u8>().ok()?))
    }
    fn early(early: bool) -> SmallBox<dyn Debug> {
        small_box!(if early { return small_box!("early") } else { 7 })
    }
    assert_eq!((format!("{:?}", parse("7")), parse("x").is_err()), ("Ok(7)".into(), true));
    assert_eq!((format!("{:?}", parse_pooled("7")), parse_pooled("x").is_none()), ("Some(7)".into(), true));
    assert_eq!(format!("{:?} {:?}", early(true), early(false)), "\"early\" 7");
    let mut made = Vec::new();
    for n in 0..9 {
        let even: SmallBox<dyn Debug> = small_box!(if n % 2 == 0 { n } else { continue });
        made.push(even);
        let small: Pooled<dyn Debug> = pooled!(if n < 4 { n } else { break });
        drop(small);
    }
    assert_eq!(format!("{made:?}"), "[0, 2, 4]");
}

/// A value that counts its drops.
#[derive(Debug)]
struct Spy<'a>(&'a Cell<u32>, #[expect(dead_code, reason = "its size")] [u64; 3]);

impl Drop for Spy<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn argument_may_panic() {
    let drops = Cell::new(0);
    for _ in 0..3 {
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _object: SmallBox<dyn Debug + '_> =
                small_box!((Spy(&drops, [0; 3]), if std::hint::black_box(true) { panic!("no value") } else { 1 }));
        }));
        assert!(result.is_err());
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _object: Pooled<dyn Debug + '_> =
                pooled!((Spy(&drops, [0; 3]), if std::hint::black_box(true) { panic!("no value") } else { 1 }));
        }));
        assert!(result.is_err());
    }
    assert_eq!(drops.get(), 6);
}

#[test]
fn argument_may_use_the_same_pool() {
    let log = RefCell::new(Vec::new());
    let outer: Pooled<dyn Debug + '_> = pooled!({
        let inner: Pooled<dyn Debug> = pooled!({
            let innermost: Pooled<dyn Debug> = pooled!([1_u64; 3]);
            log.borrow_mut().push(format!("{innermost:?}"));
            [2_u64; 3]
        });
        let kept: Pooled<dyn Debug> = pooled!([3_u64; 3]);
        drop(inner);
        (kept, &log)
    });
    assert_eq!(format!("{outer:?}"), r#"([3, 3, 3], RefCell { value: ["[1, 1, 1]"] })"#);
}

/// A future that is dropped at each await of the argument drops what there is, once.
#[test]
fn future_may_be_dropped_in_the_argument() {
    for polls in 0..4 {
        let (drops, made) = (Cell::new(0), Cell::new(0));
        let spy = || {
            made.set(made.get() + 1);
            Spy(&drops, [7; 3])
        };
        let mut future = Box::pin(async {
            let small: SmallBox<dyn Debug + '_> = small_box!({
                let first = spy();
                yield_now().await;
                (first, spy())
            });
            let pooled: Pooled<dyn Debug + '_> = pooled!({
                let first = spy();
                yield_now().await;
                (first, spy())
            });
            yield_now().await;
            drop((small, pooled));
        });
        let mut context = Context::from_waker(Waker::noop());
        for poll in 0..polls {
            assert_eq!(future.as_mut().poll(&mut context).is_ready(), poll == 3);
        }
        drop(future);
        assert_eq!(drops.get(), made.get(), "after {polls} polls");
    }
}

#[test]
fn argument_of_any_size_and_alignment() {
    #[derive(Debug)]
    #[repr(align(4096))]
    struct Page;
    #[derive(Debug)]
    #[repr(align(256))]
    struct Aligned(#[expect(dead_code, reason = "printed")] u8);
    fn aligned<T: ?Sized>(value: &T) -> bool {
        (&raw const *value).addr().is_multiple_of(align_of_val(value))
    }

    async fn any() {
        let page: SmallBox<dyn Debug> = small_box!({
            yield_now().await;
            Page
        });
        let byte: SmallBox<dyn Debug> = small_box!(Aligned(ready(7).await));
        let pooled_page: Pooled<dyn Debug> = pooled!({
            yield_now().await;
            Page
        });
        let pooled_byte: Pooled<dyn Debug> = pooled!(Aligned(ready(7).await));
        assert!(aligned(&*page) && aligned(&*byte) && aligned(&*pooled_page) && aligned(&*pooled_byte));
        assert_eq!(format!("{page:?} {byte:?} {pooled_page:?} {pooled_byte:?}"), "Page Aligned(7) Page Aligned(7)");
    }
    block_on(any());
}

/// A value whose slot is forgotten, and one that is dropped after its thread has ended.
#[test]
fn slots_may_be_forgotten_and_outlive_their_thread() {
    let (kept, forgotten) = std::thread::spawn(|| {
        let kept: Pooled<dyn Debug + Send> = pooled!(vec![1, 2]);
        let forgotten: Pooled<dyn Debug + Send> = pooled!([3_u64; 3]);
        (kept, forgotten)
    })
    .join()
    .unwrap();
    assert_eq!(format!("{kept:?} {forgotten:?}"), "[1, 2] [3, 3, 3]");
    drop(kept);
    // A static is never dropped, and checks for leaks find what it holds.
    static FORGOTTEN: std::sync::Mutex<Option<Pooled<dyn Debug + Send>>> = std::sync::Mutex::new(None);
    *FORGOTTEN.lock().unwrap() = Some(forgotten);
}

/// A temporary in the argument lives to the end of the statement, as in an argument of `Box::new`.
#[test]
fn temporaries_live_to_the_end_of_the_statement() {
    fn show(value: SmallBox<dyn Debug + '_>, pooled: Pooled<dyn Debug + '_>) -> String {
        format!("{value:?} {pooled:?}")
    }
    let text = String::from("text");
    assert_eq!(show(small_box!(text.trim().to_owned().as_str()), pooled!(&*String::from("x"))), "\"text\" \"x\"");
}

/// `small_box_const!` outside of constants.
#[test]
fn const_macro_at_run_time() {
    fn adder(by: u8) -> SmallBox<dyn Fn(u8) -> u8> {
        small_box_const!(move |x| x + by)
    }
    fn parse(text: &str) -> Option<SmallBox<dyn Debug>> {
        Some(small_box_const!(text.parse::<u8>().ok()?))
    }
    assert_eq!(adder(1)(2), 3);
    assert!(parse("x").is_none());
    assert_eq!(format!("{:?}", parse("7").unwrap()), "7");
    let drops = Cell::new(0);
    let small: SmallBox<dyn Debug + '_, 4> = small_box_const!(Spy(&drops, [0; 3]));
    drop(small);
    assert_eq!(drops.get(), 1);
}

/// The memory of the macros is `Send` for every value, because nothing can reach a value that is in it already.
#[test]
fn full_storage_may_be_sent() {
    use dwell::small::{Incoming, IncomingStorage, fill};
    use std::marker::PhantomData;

    #[derive(Debug)]
    struct Local(#[expect(dead_code, reason = "printed")] u8, PhantomData<*const u8>);

    let mut storage = IncomingStorage::new();
    let _: &mut Incoming<Local, Local> = fill(Local(1, PhantomData), &mut storage);
    let sent = assert_send(async move {
        let mut storage = storage;
        yield_now().await;
        let boxed: SmallBox<dyn Debug> = SmallBox::from_incoming(fill(Local(2, PhantomData), &mut storage));
        format!("{boxed:?}")
    });
    let text = std::thread::spawn(|| block_on(sent)).join().unwrap();
    assert_eq!(text, "Local(2, PhantomData<*const u8>)");
}
