//! Code of the user that the runtime calls in passing may use the runtime: the reader of a value,
//! the destructor of a waker or of the payload of a panic.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use framestep_durable::{RuntimeHandle, prelude::*};

const KNOCK: Signal<u32> = signal("knock");
const STAGE: Watch<Uses> = watch("stage", Default::default);

thread_local! {
    static HOST: RefCell<Option<RuntimeHandle>> = const { RefCell::new(None) };
    static USED: Cell<u32> = const { Cell::new(0) };
}

/// Uses all of the runtime, once after each call of [`arm`].
fn use_runtime() {
    if let Some(host) = HOST.take() {
        host.executor().named(&KNOCK).unwrap().emit(7);
        for (id, Riddle) in host.requests() {
            host.answer(id, &5);
        }
        host.executor().named(&STAGE).unwrap().set(Uses(0));
        let (id, name) = host.scripts()[0];
        assert_eq!(name, "tries");
        let handle = host
            .executor()
            .enter(|| id.handle::<u32>())
            .flatten()
            .unwrap();
        assert_eq!(host.result(&handle), None);
        USED.set(USED.get() + 1);
    }
}

fn arm(runtime: &Runtime) {
    HOST.set(Some(runtime.host().clone()));
}

fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Tries>())
}

#[derive(Serialize, Deserialize)]
struct Riddle;

impl Request for Riddle {
    const NAME: &'static str = "riddle";
    type Answer = u32;
}

/// Uses the runtime when it is made, written or read.
#[derive(Clone, Debug, PartialEq)]
struct Uses(u32);

impl Default for Uses {
    fn default() -> Self {
        use_runtime();
        Uses(0)
    }
}

impl Serialize for Uses {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use_runtime();
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Uses {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use_runtime();
        u32::deserialize(deserializer).map(Uses)
    }
}

struct UsesOnDrop;

impl Drop for UsesOnDrop {
    fn drop(&mut self) {
        use_runtime();
    }
}

/// A waker of another library.
struct Foreign(Waker, UsesOnDrop);

impl Wake for Foreign {
    fn wake(self: Arc<Self>) {
        self.0.wake_by_ref();
    }
}

/// Polls with a new waker each time.
struct Rewaking<F>(F);

impl<F: Future + Unpin> Future for Rewaking<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let waker = Waker::from(Arc::new(Foreign(cx.waker().clone(), UsesOnDrop)));
        Pin::new(&mut self.0).poll(&mut Context::from_waker(&waker))
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Tries {
    Waits,
    Wakers(u32),
    Value,
    Output,
    Panics,
}

impl DurableScript for Tries {
    const NAME: &'static str = "tries";
    type Output = Uses;

    async fn run(self) -> Chapter<Self> {
        match self {
            Tries::Waits => wait_frames(99).await,
            Tries::Wakers(0) => drop(join!(KNOCK.wait(), Rewaking(wait_frames(9)), next_frame())),
            Tries::Wakers(1) => drop(join!(KNOCK.wait(), Rewaking(next_frame()))),
            Tries::Wakers(_) => select! {
                _ = KNOCK.wait() => {}
                _ = Rewaking(wait_seconds(9)) => {}
                _ = wait_frames(2) => {}
            },
            Tries::Value => drop(STAGE.get()),
            Tries::Output => {}
            Tries::Panics => panic_any(UsesOnDrop),
        }
        Chapter::Done(Uses(1))
    }
}

#[test]
fn the_destructor_of_a_waker_may_use_the_runtime() {
    for number in 0..3 {
        let mut runtime = blank();
        let script = runtime.start(Tries::Wakers(number));
        arm(&runtime);
        for _ in 0..3 {
            runtime.run_frame(0.1);
        }
        assert_eq!(USED.replace(0), 1, "{number}");
        let is_over = runtime.take(script).is_some();
        assert_eq!(is_over, number > 0, "{number}");
    }
}

#[test]
fn the_reader_of_a_value_or_of_a_result_may_use_the_runtime() {
    let runtime = blank();
    runtime.start(Tries::Waits).detach();
    arm(&runtime);
    runtime.named(&STAGE).get();
    runtime.named(&STAGE).set(Uses(1));
    arm(&runtime);
    assert_eq!(runtime.named(&STAGE).get(), Uses(1));
    let output = runtime.start(Tries::Output);
    arm(&runtime);
    assert_eq!(runtime.result(&output), Some(Ok(Uses(1))));
    let other = blank();
    other.start(Tries::Waits).detach();
    arm(&other);
    let value = other.start(Tries::Value);
    assert_eq!(other.take(value), Some(Ok(Uses(1))));
    assert_eq!(USED.take(), 4);
}

#[test]
fn the_destructor_of_the_payload_of_a_panic_may_use_the_runtime() {
    let runtime = blank();
    runtime.start(Tries::Waits).detach();
    let panics = runtime.start(Tries::Panics);
    arm(&runtime);
    assert!(runtime.result(&panics).is_some_and(|ended| ended.is_err()));
    assert_eq!(USED.take(), 1);
}
