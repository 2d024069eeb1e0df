//! No callback holds a borrow: every operation is allowed in every call of user
//! code.

mod matrix;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::panic_any;
use std::rc::Rc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use futures::FutureExt;

use framestep::prelude::*;
use framestep::task::CoroutineId;
use framestep::{Executor, Handle};

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, poll_once, result_of};

/// Everything that a callback may do to its executor.
#[derive(Clone)]
struct Everything {
    handle: Handle,
    log: Log,
    victims: Rc<RefCell<Vec<Coroutine<()>>>>,
    wakers: Rc<RefCell<Vec<Waker>>>,
}

impl Everything {
    fn new(executor: &Executor) -> Self {
        let everything = Everything {
            handle: executor.handle(),
            log: Log::new(),
            victims: Rc::default(),
            wakers: Rc::default(),
        };
        // Something to stop, to drop and to wake.
        for _ in 0..16 {
            let wakers = everything.wakers.clone();
            let victim = executor.start(poll_fn(move |cx| {
                wakers.borrow_mut().push(cx.waker().clone());
                Poll::Pending
            }));
            everything.victims.borrow_mut().push(victim);
        }
        everything
    }

    /// Does all of it.
    fn run(&self, name: &str) {
        let handle = &self.handle;
        if handle.time().is_none() {
            return; // the executor is going, and a test is over
        }
        drop(handle.spawn(forever()));
        drop(
            handle
                .script("")
                .in_phase(Phase::LateUpdate)
                .spawn(forever()),
        );
        let log = self.log.clone();
        let text = format!("{name}: started");
        let started = handle.start(async move {
            log.note(text);
            wait_seconds(1_000).await;
        });
        assert!(handle.is_alive(started.id()));
        assert!(handle.stop(started.id()));
        let woken: Vec<Waker> = self.wakers.take();
        for waker in &woken {
            waker.wake_by_ref();
        }
        self.wakers.borrow_mut().extend(woken);
        let victim = self.victims.borrow_mut().pop();
        if let Some(victim) = victim {
            assert!(victim.stop());
        }
        let victim = self.victims.borrow_mut().pop();
        if let Some(victim) = victim {
            let victim = victim.stop_on_drop();
            drop(victim);
        }
        let log = self.log.clone();
        let text = format!("{name}: spawned");
        handle.spawn(async move { log.note(text) });
    }

    /// A value that does all of it when it is dropped.
    fn on_drop(&self, name: &'static str) -> DoesEverything {
        DoesEverything(self.clone(), name)
    }

    #[track_caller]
    fn check(&self, executor: &mut Executor, name: &str) {
        executor.run_frame(0.25);
        self.log
            .check(&[&format!("{name}: started"), &format!("{name}: spawned")]);
        executor.run_frame(0.25);
        self.log.check(&[]);
    }
}

struct DoesEverything(Everything, &'static str);

impl Drop for DoesEverything {
    fn drop(&mut self) {
        self.0.run(self.1);
    }
}

#[test]
fn everything_may_be_done_while_a_coroutine_is_polled() {
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    let all = everything.clone();
    executor.start(async move {
        next_frame().await;
        all.run("poll");
    });
    everything.check(&mut executor, "poll");
}

#[test]
fn everything_may_be_done_in_a_destructor_when_a_coroutine_is_stopped() {
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    let guard = everything.on_drop("stop");
    let coroutine = executor.start(async move {
        let _guard = guard;
        forever().await;
    });
    assert!(coroutine.stop());
    everything.check(&mut executor, "stop");
}

#[test]
fn everything_may_be_done_in_a_destructor_when_a_coroutine_ends() {
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    let guard = everything.on_drop("end");
    executor.start(async move {
        let _guard = guard;
        next_frame().await;
    });
    everything.check(&mut executor, "end");
}

#[test]
fn everything_may_be_done_in_a_destructor_while_a_panic_unwinds() {
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    let guard = everything.on_drop("panic");
    executor.start(async move {
        let _guard = guard;
        next_frame().await;
        panic!("on purpose");
    });
    everything.check(&mut executor, "panic");
}

#[test]
fn everything_may_be_done_in_the_destructor_of_a_detached_output() {
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    let guard = everything.on_drop("output");
    drop(executor.start(async move {
        next_frame().await;
        guard
    }));
    everything.check(&mut executor, "output");
}

#[test]
fn everything_may_be_done_in_the_destructor_of_a_kept_output() {
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    let guard = everything.on_drop("output");
    let coroutine = executor.start(async move { guard });
    drop(coroutine);
    everything.check(&mut executor, "output");
}

#[test]
fn everything_may_be_done_in_a_condition() {
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    let all = everything.clone();
    executor.start(wait_until(move || {
        all.run("condition");
        true
    }));
    everything.check(&mut executor, "condition");
}

#[test]
fn everything_may_be_done_in_the_destructor_of_a_condition() {
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    let guard = everything.on_drop("condition");
    executor.start(wait_until(move || {
        let _ = &guard;
        true
    }));
    everything.check(&mut executor, "condition");
}

#[test]
fn everything_may_be_done_in_a_report() {
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    let all = everything.clone();
    let mut once = true;
    executor.on_report(move |_| {
        if std::mem::take(&mut once) {
            all.run("report");
        }
    });
    executor.begin_frame(-1);
    everything.check(&mut executor, "report");
}

#[test]
fn a_report_from_within_a_report_does_not_panic() {
    // Greedy coroutines are reported during a run; here the hook makes one.
    let mut executor = Executor::builder().max_polls_per_run(3).build();
    let reports = Rc::new(Cell::new(0));
    let (count, handle) = (reports.clone(), executor.handle());
    executor.on_report(move |_| {
        count.set(count.get() + 1);
        if count.get() == 1 {
            greedy(&handle);
        }
    });
    greedy(&executor.handle());
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert!(reports.get() > 1);
}

/// Two coroutines that wake each other without end.
fn greedy(handle: &Handle) {
    let (to_b, from_a) = async_channel::unbounded::<()>();
    let (to_a, from_b) = async_channel::unbounded::<()>();
    to_b.try_send(()).unwrap();
    for (receiver, sender) in [(from_a, to_a), (from_b, to_b)] {
        handle.spawn(async move {
            loop {
                receiver.recv().await.unwrap();
                sender.send(()).await.unwrap();
            }
        });
    }
}

#[test]
fn everything_may_be_done_in_on_wake() {
    thread_local! {
        static EVERYTHING: RefCell<Option<Everything>> = const { RefCell::new(None) };
    }
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    EVERYTHING.set(Some(everything.clone()));
    executor.on_wake(|| {
        // Once, because its operations wake again.
        if let Some(everything) = EVERYTHING.take() {
            everything.run("on_wake");
        }
    });
    let wake = everything.wakers.borrow()[0].clone();
    wake.wake();
    assert!(EVERYTHING.take().is_none(), "on_wake was called");
    everything.check(&mut executor, "on_wake");
}

#[test]
fn the_destructor_of_a_report_hook_finds_its_executor_gone() {
    struct Asks(Handle, Log);
    impl Drop for Asks {
        fn drop(&mut self) {
            let spawned = self.0.spawn(async {});
            let started = self.0.start(async {});
            self.1.note(format_args!(
                "{} {} {}",
                self.0.time().is_none(),
                spawned.is_finished(),
                started.is_finished(),
            ));
        }
    }
    let executor = unclamped();
    let log = Log::new();
    let guard = Asks(executor.handle(), log.clone());
    executor.on_report(move |_| {
        let _ = &guard;
    });
    log.check(&[]);
    drop(executor);
    log.check(&["true true true"]);
}

/// A foreign waker that does everything whenever it is cloned, woken or
/// dropped.
fn waker_that_does(everything: &Rc<Everything>) -> Waker {
    unsafe fn clone(data: *const ()) -> RawWaker {
        // SAFETY: `data` is a counted pointer, as made below.
        let everything = unsafe { borrowed(data) };
        everything.run("clone");
        RawWaker::new(Rc::into_raw(everything).cast(), &VTABLE)
    }
    unsafe fn wake(data: *const ()) {
        // SAFETY: as in `clone`; waking by value gives up this count.
        let everything = unsafe { Rc::from_raw(data.cast::<Everything>()) };
        everything.run("wake");
    }
    unsafe fn wake_by_ref(data: *const ()) {
        // SAFETY: as in `clone`.
        unsafe { borrowed(data) }.run("wake");
    }
    unsafe fn drop_raw(data: *const ()) {
        // SAFETY: as in `wake`.
        let everything = unsafe { Rc::from_raw(data.cast::<Everything>()) };
        everything.run("drop");
    }
    /// A separate count.
    unsafe fn borrowed(data: *const ()) -> Rc<Everything> {
        // SAFETY: the caller's pointer is counted, and remains counted.
        unsafe {
            Rc::increment_strong_count(data.cast::<Everything>());
            Rc::from_raw(data.cast())
        }
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_raw);
    let data = Rc::into_raw(everything.clone()).cast();
    // SAFETY: the functions keep the count; the waker stays on this thread,
    // with the executor that receives it.
    unsafe { Waker::from_raw(RawWaker::new(data, &VTABLE)) }
}

#[test]
fn everything_may_be_done_in_a_foreign_waker() {
    let mut executor = unclamped();
    let everything = Rc::new(Everything::new(&executor));
    let all = everything.clone();
    let ended = executor.start(async move {
        let waits: [futures::future::LocalBoxFuture<'static, ()>; 6] = [
            next_frame().map(drop).boxed_local(),
            wait_frames(2).map(drop).boxed_local(),
            wait_seconds(0.5).map(drop).boxed_local(),
            end_of_frame().map(drop).boxed_local(),
            wait_until(|| time().frame >= 2).map(drop).boxed_local(),
            async { drop(start(wait_frames(2)).await) }.boxed_local(),
        ];
        for mut wait in waits {
            let (first, second) = (waker_that_does(&all), waker_that_does(&all));
            for waker in [&first, &second] {
                let poll = wait.as_mut().poll(&mut Context::from_waker(waker));
                assert!(poll.is_pending());
            }
            poll_fn(|_| wait.as_mut().poll(&mut Context::from_waker(&second))).await;
        }
    });
    for _ in 0..20 {
        executor.run_frame(0.25);
    }
    assert!(ended.is_finished());
    result_of(&executor, ended).unwrap();
    let trace = everything.log.take();
    for callback in ["clone", "wake", "drop"] {
        assert!(
            trace.contains(&format!("{callback}: spawned")),
            "no {callback}"
        );
    }
}

#[test]
fn a_foreign_waker_that_panics_ends_at_most_the_coroutine_that_gave_it() {
    unsafe fn clone(_: *const ()) -> RawWaker {
        RawWaker::new(std::ptr::null(), &VTABLE)
    }
    unsafe fn wake(_: *const ()) {
        panic!("the waker panics");
    }
    unsafe fn drop_raw(_: *const ()) {}
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop_raw);
    let mut executor = unclamped();
    let log = Log::new();
    executor.start(async {
        // SAFETY: the functions use no data.
        let waker = unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) };
        let mut wait = next_frame();
        poll_fn(|_| wait.poll_unpin(&mut Context::from_waker(&waker))).await;
    });
    let say = log.clone();
    executor.start(async move {
        loop {
            next_frame().await;
            say.say("sibling");
        }
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: sibling", "F2: sibling"]);
}

#[test]
fn a_coroutine_may_drop_the_last_handle_of_itself() {
    let mut executor = unclamped();
    let log = Log::new();
    let slot: Rc<RefCell<Option<Coroutine<()>>>> = Rc::default();
    let (take, say) = (slot.clone(), log.clone());
    let own = executor.spawn(async move {
        drop(take.take());
        next_frame().await;
        say.say("goes on");
    });
    slot.replace(Some(own));
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F2: goes on"]);
}

#[test]
fn a_coroutine_that_drops_its_own_stop_on_drop_handle_stops_itself() {
    let mut executor = unclamped();
    let log = Log::new();
    let slot: Rc<RefCell<Option<Coroutine<()>>>> = Rc::default();
    let (take, say) = (slot.clone(), log.clone());
    let own = executor
        .spawn(async move {
            drop(take.take());
            say.say("until the next wait");
            next_frame().await;
            say.say("never");
        })
        .stop_on_drop();
    slot.replace(Some(own));
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: until the next wait"]);
    executor.assert_empty();
}

#[test]
fn a_wait_may_be_dropped_by_another_coroutine_in_the_run_in_which_it_is_due() {
    let mut executor = unclamped();
    let log = Log::new();
    let wait = Rc::new(RefCell::new(Some(next_frame())));
    let thief = wait.clone();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        drop(thief.take());
        say.say("has dropped it");
    });
    let say = log.clone();
    executor.start(poll_fn(move |cx| {
        let mut taken = wait.take();
        let Some(own) = taken.as_mut() else {
            say.say("it is gone");
            return Poll::Ready(());
        };
        let poll = own.poll_unpin(cx).map(drop);
        *wait.borrow_mut() = taken;
        poll
    }));
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    let trace = log.take();
    assert_eq!(trace[0], "F1: has dropped it");
    // Due or not, the dropped wait has not resumed it.
    assert!(trace.len() == 1 || trace[1..] == ["F1: it is gone"]);
}

#[test]
fn a_panic_payload_may_do_everything_when_it_is_dropped() {
    // Payloads must be `Send`; this one finds its data in a thread-local.
    thread_local! {
        static EVERYTHING: RefCell<Option<Everything>> = const { RefCell::new(None) };
    }
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            let everything = EVERYTHING.take().expect("dropped once");
            everything.run("payload");
        }
    }
    let mut executor = unclamped();
    let everything = Everything::new(&executor);
    EVERYTHING.set(Some(everything.clone()));
    drop(executor.start(async {
        next_frame().await;
        panic_any(Payload);
    }));
    everything.check(&mut executor, "payload");
}

#[test]
fn stopping_in_every_order_within_a_run_leaves_the_rest() {
    // Each coroutine stops one of the others, in each possible pattern.
    for pattern in 0..27_usize {
        let targets = [pattern % 3, pattern / 3 % 3, pattern / 9];
        let mut executor = unclamped();
        let ids: Rc<Cell<[Option<CoroutineId>; 3]>> = Rc::default();
        let log = Log::new();
        let handles = [0, 1, 2].map(|i| {
            let (ids, log) = (ids.clone(), log.clone());
            executor.start(async move {
                next_frame().await;
                log.note(i);
                stop(ids.get()[targets[i]].unwrap());
                next_frame().await;
                log.note(i + 10);
            })
        });
        ids.set(handles.each_ref().map(|handle| Some(handle.id())));
        for _ in 0..3 {
            executor.run_frame(0.25);
        }
        // A simple model of it.
        let mut alive = [true; 3];
        let mut expected = Vec::new();
        for i in 0..3 {
            if alive[i] {
                expected.push(i.to_string());
                alive[targets[i]] = false;
            }
        }
        for i in (0..3).filter(|&i| alive[i]) {
            expected.push((i + 10).to_string());
        }
        assert_eq!(log.take(), expected, "targets {targets:?}");
        executor.assert_empty();
    }
}

#[test]
fn a_wait_that_was_looked_at_in_vain_is_no_trouble_afterwards() {
    let mut executor = unclamped();
    let done = executor.start(async {
        let mut waits: Vec<_> = (0..100).map(wait_frames).collect();
        for wait in &mut waits {
            assert!(poll_once(wait).await.is_pending());
        }
        next_frame().await;
    });
    for _ in 0..5 {
        executor.run_frame(0.25);
    }
    assert!(done.is_finished());
}
