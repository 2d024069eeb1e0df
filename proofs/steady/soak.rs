//! Long runs: memory returns to its level, whatever was added and dropped.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::rc::Rc;
use std::task::{Poll, Waker};

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::live_bytes;
use framestep_testkit::{Random, forever};

const DT: f64 = 1.0 / 64.0;

/// The shared state of the coroutines of a run.
struct Town {
    bell: Signal<u64>,
    sleepers: RefCell<Vec<Option<Waker>>>,
    resumed: Cell<u64>,
    dice: RefCell<Random>,
}

impl Town {
    fn below(&self, n: u64) -> u64 {
        self.dice.borrow_mut().below(n)
    }

    /// Mostly long, so that few of many are due in a frame.
    fn seconds(&self) -> f64 {
        f64::from(u32::try_from(1 + self.below(2_000)).expect("small")) / 64.0
    }
}

/// Waits in random ways until it is stopped.
async fn citizen(town: Rc<Town>, at: usize) {
    let mut stays = town.below(1_000);
    loop {
        match stays {
            // Few, since they are polled in every frame.
            0 => next_frame().await,
            1 => wait_until(|| town.resumed.get() % 8 == 0).await,
            2..=99 => wait_frames(100 + town.below(2_000)).await,
            100..=199 => {
                let _ = timeout(town.seconds(), town.bell.wait()).await;
            }
            200..=299 => {
                let child = start(wait_frames(100 + town.below(1_000)));
                let _ = child.await;
            }
            300..=399 => {
                let long = wait_seconds(town.seconds() + 100.0);
                let short = wait_frames(100 + town.below(1_000));
                futures::future::select(long, short).await;
            }
            400..=449 => {
                let owner = owner();
                owner.start(wait_seconds(500));
                wait_seconds(town.seconds()).await;
            }
            450..=499 => {
                let mut asleep = true;
                let sleeps = std::future::poll_fn(|cx| {
                    if std::mem::take(&mut asleep) {
                        town.sleepers.borrow_mut()[at] = Some(cx.waker().clone());
                        return Poll::Pending;
                    }
                    Poll::Ready(())
                });
                let _ = timeout(town.seconds(), sleeps).await;
            }
            500..=549 => {
                let wait = wait_seconds(town.seconds());
                wait.in_phase(Phase::FixedUpdate).await;
            }
            550..=599 => {
                let mut ticks = interval(town.seconds());
                ticks.tick().await;
                ticks.tick().await;
            }
            600 => {
                wait_seconds(town.seconds()).await;
                resume_unwind(Box::new("on purpose"));
            }
            601..=699 => wait_seconds_realtime(town.seconds()).await,
            _ => wait_seconds(town.seconds()).await,
        }
        town.resumed.set(town.resumed.get() + 1);
        stays = town.below(1_000);
    }
}

struct Run {
    executor: Executor,
    town: Rc<Town>,
    random: Random,
    citizens: Vec<Option<Coroutine<()>>>,
    owners: Vec<Owner>,
}

impl Run {
    fn new(population: usize) -> Self {
        let executor = Executor::new();
        executor.on_report(|_| ());
        let town = Town {
            bell: Signal::with_limit(4),
            sleepers: RefCell::new(vec![None; population]),
            resumed: Cell::new(0),
            dice: RefCell::new(Random(3)),
        };
        let slow = executor.clock().child();
        slow.set_scale(0.5);
        let owners = (0..8).map(|at| match at % 2 {
            0 => executor.owner(),
            _ => executor.owner_on(&slow),
        });
        Run {
            owners: owners.collect(),
            citizens: (0..population).map(|_| None).collect(),
            town: Rc::new(town),
            random: Random(1),
            executor,
        }
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.random.below(n as u64)).expect("small")
    }

    /// Some coroutines end, others start.
    fn replace(&mut self, at: usize) {
        let script = citizen(self.town.clone(), at);
        let owner = self.below(4 * self.owners.len());
        let next = match self.owners.get(owner) {
            Some(owner) => owner.start(script),
            None if owner % 2 == 0 => self.executor.start(script),
            None => self.executor.spawn(script),
        };
        let gone = self.citizens[at].replace(next);
        if let Some(gone) = gone {
            gone.stop();
        }
    }

    fn frame(&mut self) {
        let at = self.below(self.citizens.len());
        self.replace(at);
        let at = self.below(self.citizens.len());
        let asleep = self.town.sleepers.borrow_mut()[at].take();
        if let Some(waker) = asleep {
            waker.wake();
        }
        match self.random.below(4_000) {
            0 => self.town.bell.emit(1),
            1 => {
                let owner = self.below(self.owners.len());
                self.owners[owner].pause();
            }
            2..=3 => {
                let owner = self.below(self.owners.len());
                self.owners[owner].resume();
            }
            4 => {
                let paused = self.below(self.citizens.len());
                if let Some(citizen) = &self.citizens[paused] {
                    citizen.pause();
                }
            }
            5 => drop(self.executor.remote().spawn(|| async {})),
            6 => {
                let clock = self.executor.clock().child();
                clock.set_scale(2);
                self.executor
                    .start(async move { clock.wait_seconds(1).await });
            }
            _ => {}
        }
        self.executor.run_frame(DT);
    }

    /// Ends all coroutines; the live memory is then what the executor keeps.
    fn drain(&mut self) -> i64 {
        for at in 0..self.citizens.len() {
            if let Some(citizen) = self.citizens[at].take() {
                citizen.stop();
            }
        }
        self.town.sleepers.borrow_mut().fill(None);
        for owner in &self.owners {
            owner.resume();
            owner.stop_all();
        }
        // Children of coroutines that were stopped, and clocks that are kept for a while.
        for _ in 0..3_000 {
            self.executor.run_frame(DT);
        }
        assert!(self.executor.is_empty(), "{} are left", self.executor.len());
        live_bytes()
    }

    fn fill(&mut self) {
        for at in 0..self.citizens.len() {
            self.replace(at);
        }
    }
}

/// The results of a run.
#[derive(Debug)]
struct Figures {
    resumed: u64,
    baseline: i64,
    /// With all coroutines alive, at each tenth of the run.
    full: Vec<i64>,
    drained: i64,
}

fn soak(population: usize, warm_up: u64, frames: u64) -> Figures {
    let before = live_bytes();
    let mut run = Run::new(population);
    // At first there are twice as many as later, so that random peaks stay below the kept
    // memory.
    run.fill();
    let crowd: Vec<_> = (0..population)
        .map(|at| run.executor.start(citizen(run.town.clone(), at)))
        .collect();
    for _ in 0..warm_up {
        run.frame();
    }
    assert!(
        crowd
            .iter()
            .all(|citizen| citizen.stop() || citizen.is_finished())
    );
    drop(crowd);
    let baseline = run.drain() - before;
    run.fill();
    let mut full = Vec::with_capacity(10);
    for _ in 0..10 {
        for _ in 0..frames / 10 {
            run.frame();
        }
        full.push(live_bytes() - before);
    }
    let drained = run.drain() - before;
    let resumed = run.town.resumed.get();
    drop(run);
    let full_bytes = i64::try_from(full.capacity() * size_of::<i64>()).expect("small");
    let left = live_bytes() - before - full_bytes;
    assert_eq!(left, 0, "all is freed in the end");
    Figures {
        resumed,
        baseline,
        full,
        drained: drained - full_bytes,
    }
}

fn check(figures: &Figures) {
    println!("{figures:?}");
    assert!(figures.resumed > 10_000);
    // The executor keeps the memory of its fullest frame, which may be any frame. A leak
    // in each frame would be larger.
    let Figures {
        baseline, drained, ..
    } = *figures;
    assert!(drained <= baseline + baseline / 50, "{figures:?}");
    let most = figures.full.iter().max().unwrap();
    let first = figures.full[0];
    assert!(*most <= first + first / 20, "it grows: {figures:?}");
}

#[test]
fn memory_returns_to_the_baseline_after_frames_of_churn() {
    check(&soak(1_000, 4_000, 6_000));
}

/// A minute or two: `cargo test --release -p framestep-proofs --test steady soak -- --ignored --nocapture`.
#[test]
#[ignore = "long"]
fn memory_returns_to_the_baseline_after_ten_million_frames_of_churn() {
    check(&soak(10_000, 100_000, 10_000_000));
}

#[test]
fn a_coroutine_that_is_kept_is_noticed() {
    let mut run = Run::new(1);
    let before = live_bytes();
    let kept = run.executor.start(forever());
    assert!(live_bytes() > before);
    kept.stop();
    drop(kept);
    run.executor.run_frame(DT);
}
