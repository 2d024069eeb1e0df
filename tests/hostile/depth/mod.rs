//! Neither long nor endless chains overflow the stack or block a frame.

mod stops;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::{Executor, Handle};

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, unclamped};

type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;

/// Runs `f` in a thread with a stack of 2 MiB.
fn in_small_thread(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(f).unwrap().join().unwrap();
}

/// Starts `depth` coroutines inside one another; the last one does `last`.
fn nested_starts(depth: u32, last: fn() -> Boxed<()>) -> Boxed<u32> {
    Box::pin(async move {
        if depth == 0 {
            last().await;
            0
        } else {
            start(nested_starts(depth - 1, last)).await.unwrap() + 1
        }
    })
}

#[test]
fn a_hundred_thousand_nested_starts_fit_on_a_small_stack() {
    in_small_thread(|| {
        let mut executor = unclamped();
        let at_once = executor.start(nested_starts(100_000, || Box::pin(async {})));
        assert_eq!(executor.run_until(at_once, 0.25).unwrap(), 100_000);
        let waits = executor.start(nested_starts(100_000, || {
            Box::pin(async {
                next_frame().await;
            })
        }));
        assert_eq!(executor.len(), 100_001, "all have come to their first wait");
        assert_eq!(executor.run_until(waits, 0.25).unwrap(), 100_000);
    });
}

/// Starts the next of its kind in the executor whose turn it is.
fn starts_in_turn(executors: Rc<[Handle]>, left: usize, begun: Rc<Cell<usize>>) -> Boxed<()> {
    Box::pin(async move {
        begun.set(begun.get() + 1);
        if left > 1 {
            let next = starts_in_turn(executors.clone(), left - 1, begun);
            executors[left % executors.len()].start(next);
        }
    })
}

// docs/contract.md#rule-9-bounds
#[test]
fn a_hundred_thousand_starts_round_many_executors_fit_on_a_small_stack() {
    for count in [2, 64] {
        in_small_thread(move || {
            let executors: Vec<_> = (0..count).map(|_| unclamped()).collect();
            let handles: Rc<[_]> = executors.iter().map(Executor::handle).collect();
            for executor in &executors {
                executor.on_report(|_| ());
            }
            let begun = Rc::new(Cell::new(0));
            executors[0].start(starts_in_turn(handles, 100_000, begun.clone()));
            assert_eq!(begun.get(), 100_000);
            assert!(executors.iter().all(Executor::is_empty));
        });
    }
}

/// A coroutine that holds the next one, and stops it with itself.
fn held_chain(length: u32) -> Boxed<()> {
    Box::pin(async move {
        if length == 0 {
            forever().await;
        } else {
            let next = spawn(held_chain(length - 1)).stop_on_drop();
            drop(next.await);
        }
    })
}

#[test]
fn stopping_the_first_of_a_hundred_thousand_that_hold_one_another_stops_all() {
    in_small_thread(|| {
        let mut executor = unclamped();
        let first = executor.start(held_chain(100_000));
        executor.run_frame(0.25);
        assert_eq!(executor.len(), 100_001);
        assert!(first.stop());
        executor.assert_empty();

        executor.start(held_chain(100_000));
        executor.run_frame(0.25);
        drop(executor);
    });
}

/// Spawns another of its kind when it is dropped.
struct Phoenix(Handle);

impl Drop for Phoenix {
    fn drop(&mut self) {
        let next = Phoenix(self.0.clone());
        self.0.spawn(async move {
            let _next = next;
            forever().await;
        });
    }
}

// docs/contract.md#decided-dropped-executor
#[test]
fn a_destructor_that_respawns_without_end_cannot_hold_the_executors_end() {
    let executor = unclamped();
    let phoenix = Phoenix(executor.handle());
    executor.start(async move {
        let _phoenix = phoenix;
        forever().await;
    });
    drop(executor);
}

fn endless_spawns() -> Boxed<()> {
    Box::pin(async {
        spawn(endless_spawns());
    })
}

// docs/contract.md#decided-budget-of-a-run
#[test]
fn endless_spawns_and_joins_continue_in_the_next_frame_and_are_reported() {
    let endless: [fn() -> Boxed<()>; 2] = [endless_spawns, || {
        Box::pin(async {
            loop {
                spawn(async {}).await.unwrap();
            }
        })
    }];
    for endless in endless {
        let mut executor = Executor::builder().max_polls_per_run(1).build();
        let reports = Rc::new(RefCell::new(Vec::new()));
        let heard = reports.clone();
        executor.on_report(move |report| heard.borrow_mut().push(report.clone()));
        executor.spawn(endless());
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        let in_update = |report: &Report| match report {
            Report::Runaway {
                id: Some(_),
                name: Some(_),
                frame,
                phase: Some(Phase::Update),
                polls: Some(100),
            } => *frame,
            report => panic!("{report:?}"),
        };
        let frames: Vec<_> = reports.borrow().iter().map(in_update).collect();
        assert_eq!(frames, [1, 2]);
        assert!(!executor.is_empty());
    }
}

#[test]
fn many_that_wake_one_another_less_than_the_limit_are_all_polled_in_one_run() {
    const MESSAGES: u32 = 900;
    const PAIRS: u32 = 200;
    let mut executor = unclamped();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let heard = reports.clone();
    executor.on_report(move |report| heard.borrow_mut().push(report.clone()));
    for _ in 0..PAIRS {
        let (ping, pinged) = async_channel::unbounded();
        let (pong, ponged) = async_channel::unbounded();
        executor.start(async move {
            next_frame().await;
            for _ in 0..MESSAGES {
                ping.send(()).await.unwrap();
                ponged.recv().await.unwrap();
            }
        });
        executor.start(async move {
            while pinged.recv().await.is_ok() && pong.send(()).await.is_ok() {}
        });
    }
    executor.run_frame(0.25);
    executor.assert_empty();
    assert_eq!(*reports.borrow(), []);
}

/// Starts a coroutine when it is dropped, and then drops its value.
struct StartsAndDrops {
    log: Log,
    handle: Handle,
    /// Dropped after this.
    _next: Option<Coroutine<()>>,
}

impl Drop for StartsAndDrops {
    fn drop(&mut self) {
        let log = self.log.clone();
        self.handle.start(async move { log.note("started") });
    }
}

#[test]
fn what_destructors_start_far_down_the_stack_begins_before_the_stop_returns() {
    const LENGTH: usize = 250;
    let executor = unclamped();
    let log = Log::new();
    let mut first: Option<Coroutine<()>> = None;
    for _ in 0..LENGTH {
        let held = StartsAndDrops {
            log: log.clone(),
            handle: executor.handle(),
            _next: first.take(),
        };
        let coroutine = executor
            .start(async move {
                let _held = held;
                forever().await;
            })
            .stop_on_drop();
        first = Some(coroutine);
    }
    assert!(first.unwrap().stop());
    assert_eq!(log.take().len(), LENGTH);
    executor.assert_empty();
}

/// Enters two executors in turn, so often: to enter the one that runs the caller changes
/// nothing.
fn enter_often(executors: [&Executor; 2], times: u32, f: &mut dyn FnMut()) {
    let [this, other] = executors;
    if times == 0 {
        f();
    } else {
        this.enter(|| enter_often([other, this], times - 1, f));
    }
}

// docs/contract.md#decided-deep-starts
#[test]
fn a_start_too_deep_to_begin_at_once_begins_with_the_next_frame() {
    let (mut executor, other) = (unclamped(), unclamped());
    let log = Log::new();
    enter_often([&other, &executor], 400, &mut || {
        let log = log.clone();
        start(async move { log.note(format_args!("frame {}", time().frame)) });
    });
    executor.run_frame(0.25);
    log.check(&["frame 1"]);
    executor.assert_empty();
}

#[test]
fn a_million_coroutines_are_dropped_with_their_executor_on_a_small_stack() {
    struct Counts(Rc<Cell<u32>>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    in_small_thread(|| {
        let drops = Rc::new(Cell::new(0));
        let mut executor = unclamped();
        for i in 0..1_000_000_u64 {
            let counts = Counts(drops.clone());
            executor.spawn(async move {
                let _counts = counts;
                wait_frames(1 + i % 3).await;
                forever().await;
            });
        }
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        assert_eq!(drops.get(), 0);
        drop(executor);
        assert_eq!(drops.get(), 1_000_000);
    });
}

#[test]
fn a_hundred_thousand_joins_of_one_another_by_the_end_of_an_owner_fit_on_a_small_stack() {
    in_small_thread(|| {
        let mut executor = unclamped();
        let owner = executor.owner();
        let mut last = owner.start(forever());
        for _ in 0..100_000 {
            let previous = last;
            last = executor.start(async move { drop(previous.await) });
        }
        drop(owner);
        executor.run_frame(0.25);
        assert!(last.is_finished());
        executor.assert_empty();
    });
}

#[test]
fn a_hundred_thousand_starts_from_destructors_fit_on_a_small_stack() {
    struct StartsAnother(Handle, u32);
    impl Drop for StartsAnother {
        fn drop(&mut self) {
            if self.1 > 0 {
                let next = StartsAnother(self.0.clone(), self.1 - 1);
                self.0.start(async move { drop(next) });
            }
        }
    }
    in_small_thread(|| {
        let mut executor = unclamped();
        drop(StartsAnother(executor.handle(), 100_000));
        executor.run_frame(0.25);
        executor.assert_empty();
    });
}

/// Starts the next of its kind in its first poll, `left` times.
fn endless_starts(left: u32, begun: Rc<Cell<u32>>) -> Boxed<()> {
    Box::pin(async move {
        begun.set(begun.get() + 1);
        if left > 0 {
            start(endless_starts(left - 1, begun));
        }
    })
}

// docs/contract.md#rule-9-bounds
#[test]
fn endless_starts_continue_in_the_next_frame_and_are_reported() {
    /// Far more than a frame has time for: represents an endless chain.
    const ENDLESS: u32 = 2_000_000;
    let mut executor = Executor::builder().max_polls_per_run(1).build();
    let runaways = Rc::new(Cell::new(0));
    let count = runaways.clone();
    executor.on_report(move |report| {
        assert!(matches!(report, Report::Runaway { .. }), "{report:?}");
        count.set(count.get() + 1);
    });
    let begun = Rc::new(Cell::new(0));
    executor.spawn(endless_starts(ENDLESS, begun.clone()));
    let mut before = 0;
    for frame in 1..=3 {
        executor.begin_frame(0.25);
        executor.run_phase(Phase::Update);
        assert!(begun.get() > before, "it goes on in frame {frame}");
        assert!(begun.get() < ENDLESS / 4, "{} starts", begun.get());
        assert_eq!(runaways.get(), frame);
        before = begun.get();
    }
}

#[test]
fn endless_starts_by_the_host_continue_in_the_next_frame() {
    const ENDLESS: u32 = 2_000_000;
    let mut executor = unclamped();
    executor.on_report(|_| ());
    let begun = Rc::new(Cell::new(0));
    executor.start(endless_starts(ENDLESS, begun.clone()));
    let before = begun.get();
    assert!((1..=ENDLESS).contains(&before), "{before} starts");
    executor.run_frame(0.25);
    assert!(begun.get() > before, "it goes on");
}

#[test]
fn a_hundred_thousand_payloads_that_own_the_next_handle_fit_on_a_small_stack() {
    thread_local! {
        static CHAIN: RefCell<Vec<Coroutine<()>>> = const { RefCell::new(Vec::new()) };
    }
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            let next = CHAIN.with_borrow_mut(Vec::pop);
            drop(next);
        }
    }
    in_small_thread(|| {
        let executor = unclamped();
        let reports = Rc::new(Cell::new(0));
        let heard = reports.clone();
        executor.on_report(move |report| {
            assert!(matches!(report, Report::CoroutinePanicked { .. }));
            heard.set(heard.get() + 1);
        });
        for _ in 0..100_000 {
            let panicked = executor.start(async { std::panic::resume_unwind(Box::new(Payload)) });
            CHAIN.with_borrow_mut(|chain| chain.push(panicked));
        }
        let first = CHAIN.with_borrow_mut(Vec::pop);
        drop(first);
        assert_eq!(CHAIN.with_borrow(Vec::len), 0);
        assert_eq!(reports.get(), 100_000);
    });
}

/// Makes executors, each of them owned by a script of the next.
fn nested_executors(count: usize, log: &Log) -> Executor {
    let first = unclamped();
    (0..count).fold(first, |inner, number| {
        let outer = unclamped();
        let dropped = log.on_drop(number);
        outer.start(async move {
            let _owned = (inner, dropped);
            forever().await;
        });
        outer
    })
}

// docs/contract.md#rule-10-executors
#[test]
fn executors_in_one_anothers_scripts_end_before_the_outermost_has_ended() {
    let log = Log::new();
    let outermost = nested_executors(100, &log);
    let last = outermost.handle();
    drop(outermost);
    let mut ended: Vec<usize> = log.take().iter().map(|n| n.parse().unwrap()).collect();
    ended.sort_unstable();
    assert!(ended.into_iter().eq(0..100));
    assert!(last.spawn(forever()).is_finished());
}

#[test]
fn twenty_thousand_executors_in_one_anothers_scripts_fit_on_a_small_stack() {
    in_small_thread(|| {
        let log = Log::new();
        drop(nested_executors(20_000, &log));
        assert_eq!(log.take().len(), 20_000);
    });
}
