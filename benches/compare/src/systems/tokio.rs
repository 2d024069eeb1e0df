//! A `LocalSet` on tokio's `current_thread` runtime, its clock paused and
//! advanced by the length of a frame: as one would use tokio for a game.
//!
//! Tokio has no frames, so `next_frame` is up to its user. Three ways were
//! measured and the fastest that keeps the order of the coroutines stands
//! for tokio; the others can be asked for.
//!
//! - `tokio`: a list of wakers. `next_frame` pushes a clone of its waker, and
//!   a ticker task wakes the whole list at the beginning of a frame. It does
//!   so from inside the `LocalSet`, where a wake is a push to a local queue;
//!   from outside each wake would touch the set's own waker, too.
//! - `tokio-notify`: `Notify::notified` and `notify_waiters`, what one finds
//!   in tokio's own box.
//! - `tokio-yield`: `yield_now`, which the runtime holds back until it has
//!   looked at its timers. It resumes the coroutines in reverse order every
//!   other frame and everything that yields elsewhere shares that frame.
//!
//! `tokio-self-wake` shows what the scheduler alone costs.
//!
//! In favour of tokio, too:
//!
//! - A frame is over when the `LocalSet` has nothing more to do, which is
//!   found by polling it with a flag for a waker: `run_until` would go round
//!   through the runtime after every 61 tasks.
//! - A sample of many frames is one `block_on`.
//! - Short-lived coroutines are spawned by a task of the set, which is
//!   cheaper than from outside.
//! - No driver but that of time is enabled, and only W2 turns it.
//!
//! Its wheel counts in milliseconds and rounds deadlines up, so that now and
//! then a sleeper is due a frame later than by an exact clock; the fires of
//! W2 may therefore differ by a thousandth.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

use ::tokio::runtime::{Builder, Runtime};
use ::tokio::sync::Notify;
use ::tokio::task::{LocalSet, spawn_local, yield_now};
use ::tokio::time::{advance, sleep};

use crate::actor::{Actor, FRAME, Waits, child};
use crate::scripts::{self, Ball, CHURN_ONE_IN};
use crate::systems::waker_list::{Lists, PHASES};
use crate::systems::{Order, System, World};

/// A way to wait for the next frame.
pub(crate) trait Frames: 'static {
    const NAME: &'static str;

    /// Whether the runtime has to be yielded to after a frame: what it holds
    /// back when `block_on` returns is lost.
    const YIELDS: bool = false;

    fn next_frame() -> impl Future<Output = ()>;

    /// Wakes all who wait; called by a task of the set.
    fn begin();

    /// Shuffles those who wait, if it can be done.
    fn shuffle() -> bool {
        false
    }

    /// Forgets the tasks that still wait when a world ends.
    fn clear() {}
}

pub(crate) struct Wakers;

impl Frames for Wakers {
    const NAME: &'static str = "tokio";

    fn next_frame() -> impl Future<Output = ()> {
        Lists::Tokio.next_frame()
    }

    fn begin() {
        Lists::Tokio.begin(0);
    }

    fn shuffle() -> bool {
        Lists::Tokio.shuffle();
        true
    }

    fn clear() {
        Lists::Tokio.clear();
    }
}

pub(crate) struct Notified;

static FRAME_BEGINS: Notify = Notify::const_new();

impl Frames for Notified {
    const NAME: &'static str = "tokio-notify";

    fn next_frame() -> impl Future<Output = ()> {
        FRAME_BEGINS.notified()
    }

    fn begin() {
        FRAME_BEGINS.notify_waiters();
    }
}

pub(crate) struct Yielding;

impl Frames for Yielding {
    const NAME: &'static str = "tokio-yield";
    const YIELDS: bool = true;

    fn next_frame() -> impl Future<Output = ()> {
        yield_now()
    }

    /// The runtime has woken them.
    fn begin() {}
}

fn asleep(index: usize, waits: Waits) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        loop {
            sleep(actor.next_wait(waits)).await;
            actor.resumed();
        }
    }
}

fn parent<F: Frames>(children: usize) -> impl Future<Output = ()> {
    let mut actor = Actor::new(0);
    async move {
        loop {
            for index in 0..children {
                actor.add(spawn_local(child(index)).await.expect("ends by itself"));
            }
            F::next_frame().await;
        }
    }
}

/// Whether the set asked to be polled again.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

/// The parts of a world, dropped in this order: the set with its tasks, the lists
/// that still hold their wakers, the runtime.
struct Host<F: Frames> {
    set: LocalSet,
    _wakers: Clear<F>,
    runtime: Runtime,
    /// The waker of the ticker while it waits for the next frame.
    ticker: Rc<Cell<Option<Waker>>>,
    flag: Arc<Flag>,
    waker: Waker,
    /// Whether the clock matters: turning the driver of time is not free.
    timed: bool,
    frames_per_step: u64,
    /// How deep the chains are that every step ends, if it does.
    chain: Option<usize>,
}

struct Clear<F: Frames>(PhantomData<F>);

impl<F: Frames> Drop for Clear<F> {
    fn drop(&mut self) {
        F::clear();
    }
}

impl<F: Frames> Host<F> {
    fn new() -> Self {
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        Self {
            set: LocalSet::new(),
            _wakers: Clear(PhantomData),
            runtime: Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .expect("a runtime without I/O"),
            ticker: Rc::default(),
            waker: Waker::from(Arc::clone(&flag)),
            flag,
            timed: false,
            frames_per_step: 1,
            chain: None,
        }
    }

    /// Spawns the task that wakes who waits, and then calls `then`.
    fn spawn_ticker(&self, mut then: impl FnMut() + 'static) {
        self.spawn_ticker_with(move || {
            F::begin();
            then();
        });
    }

    /// Spawns the task that calls `begin` when a frame begins.
    fn spawn_ticker_with(&self, mut begin: impl FnMut() + 'static) {
        let slot = Rc::clone(&self.ticker);
        self.set.spawn_local(async move {
            loop {
                let mut parked = false;
                poll_fn(|cx| {
                    if parked {
                        return Poll::Ready(());
                    }
                    parked = true;
                    slot.set(Some(cx.waker().clone()));
                    Poll::Pending
                })
                .await;
                begin();
            }
        });
    }

    /// Runs whatever is ready until nothing is.
    fn run_until_quiet(&mut self) {
        let host = &mut *self;
        host.runtime.block_on(async {
            run_until_quiet::<F>(&mut host.set, &host.flag, &host.waker).await;
        });
    }
}

async fn run_until_quiet<F: Frames>(set: &mut LocalSet, flag: &Flag, waker: &Waker) {
    let mut cx = Context::from_waker(waker);
    loop {
        flag.0.store(false, Relaxed);
        let _ = Pin::new(&mut *set).poll(&mut cx);
        if !flag.0.load(Relaxed) {
            break;
        }
    }
    if F::YIELDS {
        yield_now().await;
    }
}

impl<F: Frames> World for Host<F> {
    fn prepare(&mut self) -> bool {
        let Some(depth) = self.chain else {
            return false;
        };
        let mut below = self.set.spawn_local(async {
            F::next_frame().await;
            1
        });
        for _level in 2..depth {
            let link = async move { below.await.expect("ends by itself") + 1 };
            below = self.set.spawn_local(link);
        }
        let mut actor = Actor::new(0);
        self.set
            .spawn_local(async move { actor.add(below.await.expect("ends by itself") + 1) });
        self.run_until_quiet();
        true
    }

    fn steps(&mut self, count: u64) {
        let host = &mut *self;
        host.runtime.block_on(async {
            for _frame in 0..count * host.frames_per_step {
                if host.timed {
                    // Yields, whereupon the runtime looks at its timers.
                    advance(FRAME).await;
                }
                if let Some(ticker) = host.ticker.take() {
                    ticker.wake();
                }
                run_until_quiet::<F>(&mut host.set, &host.flag, &host.waker).await;
            }
        });
    }
}

pub(crate) struct Tokio<F>(PhantomData<F>);

pub(crate) const WAKERS: Tokio<Wakers> = Tokio(PhantomData);
pub(crate) const NOTIFY: Tokio<Notified> = Tokio(PhantomData);
pub(crate) const YIELD: Tokio<Yielding> = Tokio(PhantomData);

impl<F: Frames> System for Tokio<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn future_bytes(&self) -> usize {
        size_of_val(&scripts::awake(0, F::next_frame))
    }

    /// Its tasks are aligned to cache lines, in pairs.
    fn leaves_gaps(&self) -> bool {
        true
    }

    fn tolerance(&self, workload: &str) -> f64 {
        if workload == "W2" { 0.001 } else { 0.0 }
    }

    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        let mut host = Host::<F>::new();
        host.spawn_ticker(|| ());
        for index in 0..size {
            host.set.spawn_local(scripts::awake(index, F::next_frame));
        }
        host.run_until_quiet();
        if order == Order::Aged && !F::shuffle() {
            return None;
        }
        Some(Box::new(host))
    }

    fn churning(&self, size: usize) -> Option<Box<dyn World>> {
        let start = |index| drop(spawn_local(scripts::short_lived(index, F::next_frame)));
        let mut host = Host::<F>::new();
        host.spawn_ticker(|| ());
        for index in 0..size {
            if index % CHURN_ONE_IN == 0 {
                let script = scripts::churning(index, F::next_frame, start);
                host.set.spawn_local(script);
            } else {
                host.set.spawn_local(scripts::awake(index, F::next_frame));
            }
        }
        host.run_until_quiet();
        Some(Box::new(host))
    }

    /// Frames have no part in it: one of the ways will do.
    fn asleep(&self, size: usize, waits: Waits) -> Option<Box<dyn World>> {
        if F::NAME != Wakers::NAME {
            return None;
        }
        let mut host = Host::<F>::new();
        host.timed = true;
        for index in 0..size {
            host.set.spawn_local(asleep(index, waits));
        }
        host.run_until_quiet();
        Some(Box::new(host))
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        let mut host = Host::<F>::new();
        host.frames_per_step = 2;
        let mut spawns = false;
        host.spawn_ticker(move || {
            spawns = !spawns;
            for index in 0..if spawns { size } else { 0 } {
                spawn_local(scripts::short_lived(index, F::next_frame));
            }
        });
        host.run_until_quiet();
        Some(Box::new(host))
    }

    fn joining(&self, size: usize) -> Option<Box<dyn World>> {
        let mut host = Host::<F>::new();
        host.spawn_ticker(|| ());
        // The first joins belong to the first step.
        host.set.spawn_local(async move {
            F::next_frame().await;
            parent::<F>(size).await;
        });
        host.run_until_quiet();
        Some(Box::new(host))
    }

    fn nested(&self, levels: usize) -> Option<Box<dyn World>> {
        let mut host = Host::<F>::new();
        host.spawn_ticker(|| ());
        host.set.spawn_local(scripts::nested(levels, F::next_frame));
        host.run_until_quiet();
        Some(Box::new(host))
    }

    fn chained(&self, depth: usize) -> Option<Box<dyn World>> {
        let mut host = Host::<F>::new();
        host.spawn_ticker(|| ());
        host.chain = Some(depth);
        host.run_until_quiet();
        Some(Box::new(host))
    }

    /// A frame has as many turns of the ticker as there are phases.
    fn phased(&self, size: usize) -> Option<Box<dyn World>> {
        if F::NAME != Wakers::NAME {
            return None;
        }
        let mut host = Host::<F>::new();
        host.frames_per_step = PHASES as u64;
        let mut phases = (0..PHASES).cycle();
        host.spawn_ticker_with(move || Lists::Tokio.begin(phases.next().expect("a cycle")));
        for index in 0..size {
            let phase = (index % PHASES) as u8;
            let next_run = move || Lists::Tokio.next_run_of(phase);
            host.set.spawn_local(scripts::awake(index, next_run));
        }
        host.run_until_quiet();
        Some(Box::new(host))
    }

    fn waking(&self, pairs: usize) -> Option<Box<dyn World>> {
        let mut host = Host::<F>::new();
        host.spawn_ticker(|| ());
        for _pair in 0..pairs {
            let ball = Rc::<Ball>::default();
            for me in 0..2 {
                let player = scripts::player(Rc::clone(&ball), me, F::next_frame);
                // The first passes belong to the first step.
                host.set.spawn_local(async move {
                    F::next_frame().await;
                    player.await;
                });
            }
        }
        host.run_until_quiet();
        Some(Box::new(host))
    }

    fn joining_frames(&self, size: usize) -> Option<Box<dyn World>> {
        let mut host = Host::<F>::new();
        host.spawn_ticker(|| ());
        for index in 0..size {
            host.set
                .spawn_local(scripts::joining_frames(index, F::next_frame));
        }
        host.run_until_quiet();
        Some(Box::new(host))
    }
}
