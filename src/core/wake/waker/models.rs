//! Events between threads, in every order that loom generates.
//!
//! The executor's thread is the model's main thread. The other threads do what
//! wakers and remotes allow. All types are the real ones, on loom's primitives;
//! loom also reports leaks. `scripts/proofs/loom` runs the models.

#![expect(unsafe_code, reason = "makes wakers for the models")]

use crate::core::base::key::TaskKey;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ptr;
use std::rc::Rc;
use std::task::{Poll, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

use crate::executor::Executor;
use crate::task::coroutine::{Coroutine, CoroutineId};
use crate::time::Phase;

use super::{InjectionQueue, Message, remote_waker};

/// An event on one thread that wakes another thread.
///
/// Only the wake makes the event visible to the other thread: the accesses are
/// relaxed.
#[derive(Clone)]
struct Event(Arc<AtomicBool>);

impl Event {
    fn new() -> Self {
        Event(Arc::new(AtomicBool::new(false)))
    }

    fn happen(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn has_happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts its drops. Panics if it is dropped on another thread than the one that made it.
struct Resident {
    home: thread::ThreadId,
    dropped: Rc<Cell<u32>>,
}

impl Resident {
    fn new(dropped: &Rc<Cell<u32>>) -> Self {
        Resident {
            home: thread::current().id(),
            dropped: dropped.clone(),
        }
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        assert_eq!(self.home, thread::current().id());
        self.dropped.set(self.dropped.get() + 1);
    }
}

/// A coroutine that waits for all of its events, with the values that a test observes.
struct Sleeper {
    coroutine: Coroutine<()>,
    waker: Waker,
    polls: Rc<Cell<u32>>,
    dropped: Rc<Cell<u32>>,
}

impl Sleeper {
    /// Starts the coroutine, which is polled once and then waits.
    fn new(executor: &Executor, events: &[&Event]) -> Self {
        let events: Vec<Event> = events.iter().copied().cloned().collect();
        let waker: Rc<Cell<Option<Waker>>> = Rc::default();
        let polls: Rc<Cell<u32>> = Rc::default();
        let dropped: Rc<Cell<u32>> = Rc::default();
        let (seen, counted, resident) = (waker.clone(), polls.clone(), Resident::new(&dropped));
        let coroutine = executor.start(async move {
            let _resident = resident;
            poll_fn(move |cx| {
                counted.set(counted.get() + 1);
                seen.set(Some(cx.waker().clone()));
                if events.iter().all(Event::has_happened) {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        });
        let waker = waker.take().expect("started, so polled");
        Sleeper {
            coroutine,
            waker,
            polls,
            dropped,
        }
    }

    fn has_woken_up(&self) -> bool {
        self.coroutine.is_finished()
    }
}

/// Runs Update. A model needs no other phase, and each run multiplies the
/// orders that loom tries.
fn run(executor: &mut Executor) {
    executor.run_phase(Phase::Update);
}

/// Counts its calls.
fn bell(rung: &Arc<AtomicUsize>) -> impl Fn() + Send + Sync + use<> {
    let rung = rung.clone();
    move || {
        rung.fetch_add(1, Ordering::Relaxed);
    }
}

fn rings(rung: &Arc<AtomicUsize>) -> usize {
    rung.load(Ordering::Relaxed)
}

// wakes and runs

#[test]
fn of_two_wakes_from_two_threads_neither_is_lost() {
    loom::model(|| {
        let mut executor = Executor::new();
        let (left, right) = (Event::new(), Event::new());
        let sleeper = Sleeper::new(&executor, &[&left, &right]);
        let threads = [left, right].map(|event| {
            let waker = sleeper.waker.clone();
            thread::spawn(move || {
                event.happen();
                waker.wake();
            })
        });
        run(&mut executor);
        for thread in threads {
            thread.join().unwrap();
        }
        run(&mut executor);
        assert!(sleeper.has_woken_up());
    });
}

#[test]
fn a_wake_while_the_one_before_is_taken_over_is_not_lost() {
    loom::model(|| {
        let mut executor = Executor::new();
        let (first, second) = (Event::new(), Event::new());
        let sleeper = Sleeper::new(&executor, &[&first, &second]);
        let waker = sleeper.waker.clone();
        let thread = thread::spawn(move || {
            first.happen();
            waker.wake_by_ref();
            second.happen();
            waker.wake();
        });
        run(&mut executor);
        thread.join().unwrap();
        run(&mut executor);
        assert!(sleeper.has_woken_up());
        assert!(sleeper.polls.get() <= 3);
    });
}

#[test]
fn a_wake_of_when_each_while_the_one_before_is_served_is_not_lost() {
    loom::model(|| {
        let mut executor = Executor::new();
        let event = Event::new();
        let waker: Rc<Cell<Option<Waker>>> = Rc::default();
        let (seen, happened) = (waker.clone(), event.clone());
        let sleeps = poll_fn(move |cx| {
            seen.set(Some(cx.waker().clone()));
            if happened.has_happened() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        executor.spawn(async move {
            crate::combine::when_each([sleeps]).next().await;
        });
        run(&mut executor);
        let waker = waker.take().expect("it has been polled");
        waker.wake_by_ref();
        let thread = thread::spawn(move || {
            event.happen();
            waker.wake();
        });
        run(&mut executor);
        thread.join().unwrap();
        run(&mut executor);
        assert!(executor.is_empty());
    });
}

#[test]
fn a_wake_during_the_poll_that_cloned_the_waker_is_not_lost() {
    loom::model(|| {
        let mut executor = Executor::new();
        let event = Event::new();
        let thread: Rc<Cell<Option<thread::JoinHandle<()>>>> = Rc::default();
        let started = thread.clone();
        let mut is_first = true;
        let coroutine = executor.spawn(poll_fn(move |cx| {
            if is_first {
                is_first = false;
                let (event, waker) = (event.clone(), cx.waker().clone());
                started.set(Some(thread::spawn(move || {
                    event.happen();
                    waker.wake();
                })));
            }
            if event.has_happened() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
        run(&mut executor);
        thread.take().expect("it was polled").join().unwrap();
        run(&mut executor);
        assert!(coroutine.is_finished());
    });
}

#[test]
fn a_borrowed_waker_may_be_used_on_another_thread_while_the_poll_lasts() {
    loom::model(|| {
        let mut executor = Executor::new();
        let event = Event::new();
        let mut is_first = true;
        let coroutine = executor.spawn(poll_fn(move |cx| {
            if !is_first {
                assert!(event.has_happened());
                return Poll::Ready(());
            }
            is_first = false;
            // SAFETY: the borrow lives until the poll returns. The thread that uses it
            // is joined before that, like a scoped thread. Loom has no scoped threads.
            let borrowed: &'static Waker = unsafe { &*ptr::from_ref(cx.waker()) };
            let here = cx.waker().clone();
            let scoped = thread::spawn({
                let event = event.clone();
                move || {
                    let owned = borrowed.clone();
                    event.happen();
                    borrowed.wake_by_ref();
                    owned
                }
            });
            // This thread may drop a waker meanwhile.
            drop(here);
            drop(scoped.join().unwrap());
            Poll::Pending
        }));
        run(&mut executor);
        run(&mut executor);
        assert!(coroutine.is_finished());
    });
}

#[test]
fn copies_of_a_waker_come_and_go_on_other_threads_while_the_executor_runs() {
    loom::model(|| {
        let mut executor = Executor::new();
        let event = Event::new();
        let sleeper = Sleeper::new(&executor, &[&event]);
        let Sleeper {
            coroutine, waker, ..
        } = sleeper;
        let copied = waker.clone();
        let copying = thread::spawn(move || {
            let copy = copied.clone();
            drop(copied);
            event.happen();
            copy.wake();
        });
        let dropping = thread::spawn(move || drop(waker));
        run(&mut executor);
        copying.join().unwrap();
        dropping.join().unwrap();
        run(&mut executor);
        assert!(coroutine.is_finished());
    });
}

#[test]
fn wakes_of_one_thread_keep_their_order() {
    loom::model(|| {
        let mut executor = Executor::new();
        let order: Rc<RefCell<Vec<u32>>> = Rc::default();
        let wakers = [1, 2].map(|name| {
            let waker: Rc<Cell<Option<Waker>>> = Rc::default();
            let (seen, order) = (waker.clone(), order.clone());
            let mut is_first = true;
            drop(executor.start(poll_fn(move |cx| {
                if is_first {
                    is_first = false;
                    seen.set(Some(cx.waker().clone()));
                    return Poll::Pending;
                }
                order.borrow_mut().push(name);
                Poll::Ready(())
            })));
            waker.take().expect("started, so polled")
        });
        let thread = thread::spawn(move || {
            for waker in wakers {
                waker.wake();
            }
        });
        run(&mut executor);
        thread.join().unwrap();
        run(&mut executor);
        assert_eq!(*order.borrow(), [1, 2]);
    });
}

#[test]
fn many_wakes_make_one_message() {
    loom::model(|| {
        let injected = Arc::new(InjectionQueue::default());
        let key = TaskKey {
            index: 0,
            generation: 1,
        };
        let waker = remote_waker(injected.clone(), key);
        let threads = [(); 2].map(|()| {
            let waker = waker.clone();
            thread::spawn(move || {
                waker.wake_by_ref();
                waker.wake();
            })
        });
        waker.wake();
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(injected.has_messages());
        let mut messages = Vec::new();
        injected.take(&mut messages);
        assert_eq!(messages.len(), 1);
        assert!(!injected.has_messages());
    });
}

#[test]
fn a_wake_after_its_message_was_taken_makes_another() {
    loom::model(|| {
        let injected = Arc::new(InjectionQueue::default());
        let key = TaskKey {
            index: 0,
            generation: 1,
        };
        let waker = remote_waker(injected.clone(), key);
        let thread = thread::spawn(move || {
            waker.wake_by_ref();
            waker.wake();
        });
        let take = || {
            let mut messages = Vec::new();
            injected.take(&mut messages);
            for message in &messages {
                let Message::Wake(wake) = message else {
                    unreachable!("nobody spawned");
                };
                wake.taken();
            }
            messages.len()
        };
        let first = take();
        thread.join().unwrap();
        let are_more = injected.has_messages();
        let second = take();
        assert_eq!(are_more, second > 0);
        assert!((1..=2).contains(&(first + second)));
        assert!(!injected.has_messages());
    });
}

// ends

#[test]
fn a_wake_races_the_end_of_the_executor() {
    loom::model(|| {
        let executor = Executor::new();
        let event = Event::new();
        let Sleeper { waker, dropped, .. } = Sleeper::new(&executor, &[&event]);
        let thread = thread::spawn(move || {
            event.happen();
            waker.wake_by_ref();
            waker
        });
        drop(executor);
        assert_eq!(dropped.get(), 1);
        // A wake after the end, too.
        thread.join().unwrap().wake();
        assert_eq!(dropped.get(), 1);
    });
}

#[test]
fn two_wakes_race_the_end_of_an_executor_that_runs() {
    loom::model(|| {
        let mut executor = Executor::new();
        let event = Event::new();
        let Sleeper { waker, dropped, .. } = Sleeper::new(&executor, &[&event]);
        let threads = [waker.clone(), waker].map(|waker| thread::spawn(move || waker.wake()));
        run(&mut executor);
        drop(executor);
        assert_eq!(dropped.get(), 1);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn the_last_waker_is_dropped_while_the_executor_ends() {
    loom::model(|| {
        let executor = Executor::new();
        let event = Event::new();
        let Sleeper { waker, dropped, .. } = Sleeper::new(&executor, &[&event]);
        waker.wake_by_ref();
        let thread = thread::spawn(move || drop(waker));
        drop(executor);
        assert_eq!(dropped.get(), 1);
        thread.join().unwrap();
    });
}

#[test]
fn a_coroutine_ends_while_its_wakers_are_dropped_here_and_there() {
    loom::model(|| {
        let executor = Executor::new();
        let never = Event::new();
        let Sleeper {
            coroutine,
            waker,
            dropped,
            ..
        } = Sleeper::new(&executor, &[&never]);
        // All clones are counted at home, and two of them are dropped elsewhere.
        // Their state holds the injection queue. So loom reports if no thread frees the
        // state, or two threads do.
        let threads = [waker.clone(), waker.clone()].map(|waker| thread::spawn(|| drop(waker)));
        drop(waker.clone());
        coroutine.stop();
        assert_eq!(dropped.get(), 1);
        drop(waker);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn wakers_are_copied_and_called_elsewhere_while_their_coroutine_ends() {
    loom::model(|| {
        let executor = Executor::new();
        let never = Event::new();
        let sleeper = Sleeper::new(&executor, &[&never]);
        let kept = sleeper.waker.clone();
        let waker = sleeper.waker;
        let thread = thread::spawn(move || {
            let copy = waker.clone();
            waker.wake();
            copy
        });
        sleeper.coroutine.stop();
        assert_eq!(sleeper.dropped.get(), 1);
        drop(kept);
        thread.join().unwrap().wake();
        assert_eq!((sleeper.polls.get(), sleeper.dropped.get()), (1, 1));
    });
}

#[test]
fn a_late_wake_does_not_reach_the_next_coroutine_in_the_slot() {
    loom::model(|| {
        let mut executor = Executor::new();
        let (event, never) = (Event::new(), Event::new());
        let gone = Sleeper::new(&executor, &[&event]);
        let waker = gone.waker.clone();
        let slot = gone.coroutine.id();
        let thread = thread::spawn(move || {
            event.happen();
            waker.wake();
        });
        run(&mut executor);
        gone.coroutine.stop();
        assert_eq!(gone.dropped.get(), 1);
        drop(gone);
        let next = Sleeper::new(&executor, &[&never]);
        assert_eq!(index(next.coroutine.id()), index(slot));
        run(&mut executor);
        thread.join().unwrap();
        run(&mut executor);
        assert_eq!(next.polls.get(), 1);
    });
}

/// The slot of an id: the part before the `v` in its text.
fn index(id: CoroutineId) -> String {
    let id = id.to_string();
    id.split_once('v')
        .expect("slot and generation")
        .0
        .to_owned()
}

// remotes

#[test]
fn a_remote_spawn_during_a_run_is_polled_once() {
    loom::model(|| {
        let mut executor = Executor::new();
        let (made, polled) = (Event::new(), Event::new());
        let remote = executor.remote();
        let home = thread::current().id();
        let thread = thread::spawn({
            let (made, polled) = (made.clone(), polled.clone());
            move || {
                remote.spawn(move || {
                    assert_eq!(thread::current().id(), home);
                    assert!(!made.has_happened());
                    made.happen();
                    async move {
                        assert!(!polled.has_happened());
                        polled.happen();
                    }
                })
            }
        });
        run(&mut executor);
        assert!(thread.join().unwrap());
        run(&mut executor);
        assert!(made.has_happened() && polled.has_happened());
        assert!(executor.is_empty());
    });
}

/// Counts its drops, on any thread.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_spawn_that_races_the_end_of_the_executor_is_dropped_once() {
    loom::model(|| {
        let executor = Executor::new();
        let remote = executor.remote();
        let dropped = Arc::new(AtomicUsize::new(0));
        let counted = Counted(dropped.clone());
        let thread = thread::spawn(move || {
            let accepted = remote.clone().spawn(move || {
                let _counted = counted;
                async { unreachable!("no executor runs it") }
            });
            assert!(!remote.spawn(|| async {}) || accepted);
        });
        drop(executor);
        thread.join().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn spawns_of_two_remotes_all_arrive() {
    loom::model(|| {
        let mut executor = Executor::new();
        let count: Arc<AtomicUsize> = Arc::new(AtomicUsize::new(0));
        let threads = [(); 2].map(|()| {
            let (remote, count) = (executor.remote(), count.clone());
            thread::spawn(move || {
                remote.spawn(move || async move {
                    count.fetch_add(1, Ordering::Relaxed);
                })
            })
        });
        run(&mut executor);
        for thread in threads {
            assert!(thread.join().unwrap());
        }
        run(&mut executor);
        assert_eq!(count.load(Ordering::Relaxed), 2);
    });
}

// the host

#[test]
fn a_sleeping_host_is_notified_of_what_the_run_did_not_see() {
    loom::model(|| {
        let mut executor = Executor::new();
        let rung = Arc::new(AtomicUsize::new(0));
        executor.on_wake(bell(&rung));
        let (event, never) = (Event::new(), Event::new());
        let [sleeper, other] = [&event, &never].map(|event| Sleeper::new(&executor, &[event]));
        let waker = sleeper.waker.clone();
        // The host is notified of this wake. After the spawn, the injection queue is
        // empty.
        other.waker.wake();
        assert_eq!(rings(&rung), 1);
        drop(executor.spawn(async {}));
        let thread = thread::spawn(move || {
            event.happen();
            waker.wake();
        });
        run(&mut executor);
        thread.join().unwrap();
        assert!(sleeper.has_woken_up() || rings(&rung) == 2);
        run(&mut executor);
        assert!(sleeper.has_woken_up());
    });
}

#[test]
fn a_host_is_notified_once_of_two_wakes_until_it_runs() {
    loom::model(|| {
        let executor = Executor::new();
        let rung = Arc::new(AtomicUsize::new(0));
        executor.on_wake(bell(&rung));
        let event = Event::new();
        let sleepers = [(); 2].map(|()| Sleeper::new(&executor, &[&event]));
        let threads = sleepers.map(|sleeper| {
            let waker = sleeper.waker.clone();
            thread::spawn(move || waker.wake())
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(rings(&rung), 1);
        assert!(executor.has_ready());
    });
}

#[test]
fn a_notified_host_finds_something_to_do() {
    loom::model(|| {
        let executor = Executor::new();
        let notified = Arc::new(AtomicBool::new(false));
        let notify = notified.clone();
        executor.on_wake(move || notify.store(true, Ordering::Release));
        let event = Event::new();
        let sleeper = Sleeper::new(&executor, &[&event]);
        let waker = sleeper.waker.clone();
        let thread = thread::spawn(move || waker.wake());
        if notified.load(Ordering::Acquire) {
            assert!(executor.has_ready());
        }
        thread.join().unwrap();
        assert!(executor.has_ready());
    });
}

#[test]
fn one_of_two_host_wakers_is_called_for_a_wake_that_races_the_change() {
    loom::model(|| {
        let executor = Executor::new();
        let (before, after) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        executor.on_wake(bell(&before));
        let event = Event::new();
        let sleeper = Sleeper::new(&executor, &[&event]);
        let waker = sleeper.waker.clone();
        let thread = thread::spawn(move || waker.wake());
        executor.on_wake(bell(&after));
        thread.join().unwrap();
        assert_eq!(rings(&before) + rings(&after), 1);
    });
}

#[test]
fn a_host_is_notified_at_most_once_of_a_wake_that_races_the_end() {
    loom::model(|| {
        let executor = Executor::new();
        let rung = Arc::new(AtomicUsize::new(0));
        executor.on_wake(bell(&rung));
        let event = Event::new();
        let sleeper = Sleeper::new(&executor, &[&event]);
        let waker = sleeper.waker.clone();
        let thread = thread::spawn(move || waker.wake());
        drop(executor);
        thread.join().unwrap();
        assert!(rings(&rung) <= 1);
    });
}

// several executors

#[test]
fn a_coroutine_wakes_one_of_an_executor_on_another_thread() {
    loom::model(|| {
        let mut executor = Executor::new();
        let event = Event::new();
        let sleeper = Sleeper::new(&executor, &[&event]);
        let waker = sleeper.waker.clone();
        let thread = thread::spawn(move || {
            let mut other = Executor::new();
            other.spawn(async move {
                event.happen();
                waker.wake();
            });
            run(&mut other);
            assert!(other.is_empty());
        });
        run(&mut executor);
        thread.join().unwrap();
        run(&mut executor);
        assert!(sleeper.has_woken_up());
    });
}

#[test]
fn two_executors_of_a_thread_get_their_own_wakes() {
    loom::model(|| {
        let mut executors = [Executor::new(), Executor::new()];
        let event = Event::new();
        let sleepers = [0, 1].map(|i| Sleeper::new(&executors[i], &[&event]));
        let wakers = [0, 1].map(|i| sleepers[i].waker.clone());
        let thread = thread::spawn(move || {
            event.happen();
            for waker in wakers {
                waker.wake();
            }
        });
        run(&mut executors[1]);
        run(&mut executors[0]);
        thread.join().unwrap();
        for (executor, sleeper) in executors.iter_mut().zip(&sleepers) {
            run(executor);
            assert!(sleeper.has_woken_up());
        }
    });
}
