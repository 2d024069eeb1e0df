//! Stops nest 100 deep, and deeper ones go onto a list that the outermost stop
//! works through: docs/contract.md#rule-10-depth

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::task::CoroutineId;
use framestep::{Executor, Handle};

use super::{forever, in_small_thread, unclamped};
use framestep_testkit::result_of;

/// How deep stops nest.
const DEPTH: usize = 100;

/// A chain of coroutines, each of which stops the next one when it is dropped.
#[derive(Clone, Default)]
struct Chain(Rc<Links>);

type AfterStop = Box<dyn Fn(usize)>;

#[derive(Default)]
struct Links {
    /// Where each link can be stopped.
    links: RefCell<Vec<(Handle, CoroutineId)>>,
    /// The links that have begun to drop, in order.
    begun: RefCell<Vec<usize>>,
    /// The links that have been dropped, in order.
    over: RefCell<Vec<usize>>,
    /// For each link that has stopped the next: whether the next was dropped at
    /// once.
    nested: RefCell<Vec<bool>>,
    polls: Cell<u32>,
    /// Called in each drop, after the stop.
    after_stop: RefCell<Option<AfterStop>>,
}

/// Stops the next link when it is dropped.
struct Link(Chain, usize);

impl Drop for Link {
    fn drop(&mut self) {
        let Link(Chain(chain), at) = self;
        chain.begun.borrow_mut().push(*at);
        let next = chain.links.borrow().get(*at + 1).cloned();
        if let Some((handle, id)) = next {
            assert!(handle.stop(id), "it is there to be stopped");
            assert!(!handle.is_alive(id), "it is as good as gone");
            assert!(!handle.stop(id), "and is stopped once");
            let is_over = chain.over.borrow().contains(&(*at + 1));
            chain.nested.borrow_mut().push(is_over);
        }
        if let Some(f) = &*chain.after_stop.borrow() {
            f(*at);
        }
        chain.over.borrow_mut().push(*at);
    }
}

impl Chain {
    /// Links in turn on `executors`.
    fn of(length: usize, executors: &[&Executor]) -> Chain {
        let chain = Chain::default();
        for at in 0..length {
            let executor = executors[at % executors.len()];
            let (link, polled) = (Link(chain.clone(), at), chain.clone());
            let coroutine = executor.start(async move {
                let _link = link;
                loop {
                    next_frame().await;
                    polled.0.polls.set(polled.0.polls.get() + 1);
                }
            });
            let link = (executor.handle(), coroutine.id());
            chain.0.links.borrow_mut().push(link);
        }
        chain
    }

    fn first(&self) -> CoroutineId {
        self.0.links.borrow()[0].1
    }

    /// All of `length` have been dropped, the outer ones first.
    #[track_caller]
    fn check_gone(&self, length: usize) {
        assert!(self.0.begun.borrow().iter().copied().eq(0..length));
        assert_eq!(self.0.over.borrow().len(), length);
    }
}

#[test]
fn down_to_a_hundred_deep_each_is_dropped_before_its_stop_returns() {
    for length in [1, 2, 50, DEPTH] {
        let executor = unclamped();
        let chain = Chain::of(length, &[&executor]);
        assert!(executor.stop(chain.first()));
        chain.check_gone(length);
        assert_eq!(*chain.0.nested.borrow(), vec![true; length - 1]);
        assert!(chain.0.over.borrow().iter().copied().eq((0..length).rev()));
        executor.assert_empty();
    }
}

#[test]
fn the_hundred_and_first_is_dropped_after_its_stop_has_returned() {
    let executor = unclamped();
    let chain = Chain::of(DEPTH + 1, &[&executor]);
    assert!(executor.stop(chain.first()));
    chain.check_gone(DEPTH + 1);
    let nested = chain.0.nested.borrow();
    // The innermost stop is the first to return.
    assert!(!nested[0], "the list");
    assert!(nested[1..].iter().all(|&nested| nested));
    executor.assert_empty();
}

// docs/contract.md#rule-10-depth
#[test]
fn if_no_other_stop_of_its_executor_is_under_way_it_is_dropped_in_the_next_run() {
    let (outer, mut inner) = (unclamped(), unclamped());
    let mut executors = vec![&outer; DEPTH];
    executors.push(&inner);
    let chain = Chain::of(DEPTH + 1, &executors);
    assert!(outer.stop(chain.first()));
    assert_eq!(chain.0.over.borrow().len(), DEPTH);
    assert!(outer.is_empty() && inner.is_empty() && inner.has_ready());
    inner.begin_frame(0.25);
    inner.run_phase(Phase::LateUpdate);
    chain.check_gone(DEPTH + 1);
    assert!(!inner.has_ready());
    assert_eq!(chain.0.polls.get(), 0);
}

// docs/contract.md#rule-10-executors
#[test]
fn the_output_of_an_executor_that_is_gone_is_dropped_before_the_outermost_stop_returns() {
    let (executor, gone) = (unclamped(), unclamped());
    let output = Rc::new(());
    let value = output.clone();
    let handle = RefCell::new(Some(gone.start(async move { value })));
    drop(gone);
    let chain = Chain::of(DEPTH, &[&executor]);
    let kept = output.clone();
    chain.0.after_stop.replace(Some(Box::new(move |at| {
        if at == DEPTH - 1 {
            drop(handle.take());
            assert_eq!(Rc::strong_count(&kept), 3, "too deep");
        }
    })));
    assert!(executor.stop(chain.first()));
    assert_eq!(Rc::strong_count(&output), 2);
}

#[test]
fn the_outermost_stop_works_off_the_list_before_it_returns() {
    for length in [150, 300, 1_000, 5_000] {
        let mut executor = unclamped();
        let chain = Chain::of(length, &[&executor]);
        assert!(executor.stop(chain.first()));
        chain.check_gone(length);
        let at_once = chain.0.nested.borrow().iter().filter(|&&n| n).count();
        assert!(at_once < length - 1, "{at_once} of {length}");
        executor.run_frame(0.25);
        assert_eq!(chain.0.polls.get(), 0);
        executor.assert_empty();
    }
}

#[test]
fn in_a_run_the_outermost_stop_is_that_of_the_script() {
    let mut executor = unclamped();
    let chain = Chain::of(1_000, &[&executor]);
    let (first, seen) = (chain.first(), chain.clone());
    let script = executor.spawn(async move {
        assert!(stop(first));
        seen.check_gone(1_000);
    });
    executor.run_frame(0.25);
    result_of(&executor, script).unwrap();
    assert_eq!(chain.0.polls.get(), 0);
}

#[test]
fn joiners_of_coroutines_on_the_list_get_an_error() {
    struct StopsNext(Handle, Rc<RefCell<Vec<CoroutineId>>>, usize);
    impl Drop for StopsNext {
        fn drop(&mut self) {
            let next = self.1.borrow().get(self.2 + 1).copied();
            assert!(next.is_none_or(|next| self.0.stop(next)));
        }
    }
    let mut executor = unclamped();
    let links: Rc<RefCell<Vec<CoroutineId>>> = Rc::default();
    let mut joiners = Vec::new();
    for at in 0..300 {
        let guard = StopsNext(executor.handle(), links.clone(), at);
        let link = executor.start(async move {
            let _guard = guard;
            forever().await;
        });
        links.borrow_mut().push(link.id());
        joiners.push(executor.start(async move { link.await.unwrap_err().is_stopped() }));
    }
    let first = links.borrow()[0];
    assert!(executor.stop(first));
    executor.run_frame(0.25);
    for joiner in joiners {
        assert!(result_of(&executor, joiner).unwrap());
    }
}

#[test]
fn one_on_the_list_is_not_polled_any_more() {
    let game = Rc::new(RefCell::new(unclamped()));
    let chain = Chain::of(DEPTH + 50, &[&game.borrow()]);
    // Deep in the stack, a destructor that the host has caused runs a frame:
    // links that are not stopped yet continue, the one on the list does not.
    let polled = Rc::new(Cell::new(None));
    let (shared, note, links) = (game.clone(), polled.clone(), Rc::downgrade(&chain.0));
    chain.0.after_stop.replace(Some(Box::new(move |at| {
        if at == DEPTH - 1 {
            let chain = links.upgrade().expect("it is there");
            let before = chain.polls.get();
            shared.borrow_mut().run_frame(0.25);
            note.set(Some(chain.polls.get() - before));
        }
    })));
    let (first, handle) = (chain.first(), game.borrow().handle());
    assert!(handle.stop(first));
    assert_eq!(polled.get(), Some(49), "all but the one on the list");
    chain.check_gone(DEPTH + 50);
    assert!(game.borrow().is_empty());
}

#[test]
fn a_hundred_thousand_fit_on_a_small_stack() {
    in_small_thread(|| {
        let executor = unclamped();
        let chain = Long::of(100_000, &[&executor]);
        assert!(executor.stop(chain.first));
        assert_eq!(chain.drops.get(), 100_000);
        executor.assert_empty();
    });
}

#[test]
fn across_executors_too_all_are_gone_when_the_first_stop_returns() {
    let executors = [(); 3].map(|()| unclamped());
    for count in [2, 3] {
        let executors: Vec<&Executor> = executors[..count].iter().collect();
        for length in [DEPTH, 150, 1_000] {
            let chain = Chain::of(length, &executors);
            assert!(executors[0].stop(chain.first()));
            chain.check_gone(length);
            // Their stops count together.
            let nested = chain.0.nested.borrow();
            assert_eq!(nested.iter().all(|&nested| nested), length <= DEPTH);
            drop(nested);
            assert!(executors.iter().all(|executor| executor.is_empty()));
        }
    }
}

#[test]
fn a_hundred_thousand_across_executors_fit_on_a_small_stack() {
    for count in [3, 64] {
        in_small_thread(move || {
            let executors: Vec<_> = (0..count).map(|_| unclamped()).collect();
            let chain = Long::of(100_000, &executors.iter().collect::<Vec<_>>());
            assert!(executors[0].stop(chain.first));
            assert_eq!(chain.drops.get(), 100_000);
            assert!(executors.iter().all(Executor::is_empty));
        });
    }
}

// docs/contract.md#rule-10-executors
#[test]
fn stops_and_ends_of_executors_in_turn_count_together_and_fit_on_a_small_stack() {
    struct StopsNext(Handle, Rc<RefCell<Vec<CoroutineId>>>);
    impl Drop for StopsNext {
        fn drop(&mut self) {
            let next = self.1.borrow_mut().pop();
            assert!(next.is_none_or(|next| self.0.stop(next)));
        }
    }
    in_small_thread(|| {
        let executor = unclamped();
        let links = Rc::new(RefCell::new(Vec::new()));
        for _ in 0..20_000 {
            let guard = StopsNext(executor.handle(), links.clone());
            let inner = unclamped();
            inner.start(async move {
                let _guard = guard;
                forever().await;
            });
            let link = executor.start(async move {
                let _inner = inner;
                forever().await;
            });
            links.borrow_mut().push(link.id());
        }
        let first = links.borrow_mut().pop().unwrap();
        assert!(executor.stop(first));
        assert!(executor.is_empty() && links.borrow().is_empty());
    });
}

#[test]
fn the_end_of_an_executor_works_off_the_list_as_well() {
    in_small_thread(|| {
        let executor = unclamped();
        let chain = Long::of(100_000, &[&executor]);
        drop(executor);
        assert_eq!(chain.drops.get(), 100_000);
        // Two that hold one another's coroutines end one after the other.
        let executors = [(); 2].map(|()| unclamped());
        let chain = Long::of(100_000, &executors.each_ref());
        drop(executors);
        assert_eq!(chain.drops.get(), 100_000);
    });
}

#[test]
fn a_hundred_thousand_owners_in_one_anothers_coroutines_fit_on_a_small_stack() {
    struct Counts(Rc<Cell<u32>>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let ends: [fn(Owner); 2] = [drop, |owner| owner.stop_all()];
    for end in ends {
        in_small_thread(move || {
            let executor = unclamped();
            let drops = Rc::new(Cell::new(0));
            let mut outermost = None;
            for _ in 0..100_000 {
                let owner = executor.owner();
                let (counts, inner) = (Counts(drops.clone()), outermost.take());
                owner.start(async move {
                    let _both = (counts, inner);
                    forever().await;
                });
                outermost = Some(owner);
            }
            end(outermost.expect("there are some"));
            assert_eq!(drops.get(), 100_000);
            executor.assert_empty();
        });
    }
}

/// A chain that keeps no record, for great lengths.
struct Long {
    first: CoroutineId,
    drops: Rc<Cell<u32>>,
}

struct LongLink {
    next: Option<(Handle, CoroutineId)>,
    drops: Rc<Cell<u32>>,
}

impl Drop for LongLink {
    fn drop(&mut self) {
        if let Some((handle, id)) = &self.next {
            handle.stop(*id);
        }
        self.drops.set(self.drops.get() + 1);
    }
}

impl Long {
    /// Links on `executors` in turn, beginning with the first executor.
    fn of(length: usize, executors: &[&Executor]) -> Long {
        let drops = Rc::new(Cell::new(0));
        let mut next = None;
        for at in (0..length).rev() {
            let executor = executors[at % executors.len()];
            let link = LongLink {
                next: next.take(),
                drops: drops.clone(),
            };
            let coroutine = executor.start(async move {
                let _link = link;
                forever().await;
            });
            next = Some((executor.handle(), coroutine.id()));
        }
        let (_, first) = next.expect("it is not empty");
        Long { first, drops }
    }
}

/// Spawns another like itself when it is dropped, and stops it.
struct Respawns(Rc<Counts>);

struct Counts {
    drops: Cell<u64>,
    until: Cell<u64>,
}

impl Counts {
    fn until(until: u64) -> Rc<Self> {
        let (drops, until) = (Cell::new(0), Cell::new(until));
        Rc::new(Counts { drops, until })
    }
}

impl Drop for Respawns {
    fn drop(&mut self) {
        let counts = &self.0;
        counts.drops.set(counts.drops.get() + 1);
        if counts.drops.get() < counts.until.get() {
            let next = spawn(respawning(counts));
            assert!(next.stop() && !next.stop());
        }
    }
}

fn respawning(counts: &Rc<Counts>) -> impl Future<Output = ()> + use<> {
    let respawns = Respawns(counts.clone());
    async move {
        let _respawns = respawns;
        unreachable!("it is stopped before its first poll");
    }
}

// docs/contract.md#rule-10-bounds
#[test]
fn stops_without_end_are_put_off_to_the_next_run_and_reported() {
    const MOST: u64 = 100 * 10;
    let mut executor = Executor::builder().max_polls_per_run(10).build();
    let reports = Rc::new(Cell::new(0));
    let heard = reports.clone();
    executor.on_report(move |report| {
        assert!(matches!(report, Report::Runaway { .. }));
        heard.set(heard.get() + 1);
    });
    let counts = Counts::until(u64::MAX);
    assert!(executor.spawn(respawning(&counts)).stop());
    let first = counts.drops.get();
    assert!(first > MOST / 2 && first < 2 * MOST, "{first}");
    assert_eq!(reports.get(), 1);
    // None of them is alive, but work is due.
    assert!(executor.is_empty() && executor.has_ready());
    // The next run, of any phase, continues the drops and also ends.
    executor.begin_frame(0.1);
    executor.run_phase(Phase::LateUpdate);
    let second = counts.drops.get();
    assert!(second > first && second < 4 * MOST, "{second}");
    executor.assert_empty();
    // The end of the executor drops the last one.
    counts.until.set(0);
    drop(executor);
    assert_eq!(counts.drops.get(), second + 1);
    assert_eq!(Rc::strong_count(&counts), 1);
}

// docs/contract.md#rule-10-bounds
#[test]
fn stops_that_come_to_an_end_beyond_the_limit_are_done_within_the_next_runs() {
    let mut executor = Executor::builder().max_polls_per_run(10).build();
    executor.on_report(|_| ());
    let counts = Counts::until(3_000);
    executor.spawn(respawning(&counts)).stop();
    assert!(counts.drops.get() < 3_000);
    executor.run_frame(0.1);
    assert_eq!(counts.drops.get(), 3_000);
    assert!(!executor.has_ready());
}

#[test]
fn a_stop_finds_any_number_of_coroutines() {
    let executor = Executor::builder().max_polls_per_run(10).build();
    executor.on_report(|report| panic!("{report}"));
    let chain = Long::of(50_000, &[&executor]);
    assert!(executor.stop(chain.first));
    assert_eq!(chain.drops.get(), 50_000);
}
