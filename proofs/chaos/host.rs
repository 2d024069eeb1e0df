//! The host: executors with bystanders, frames phase by phase, and the end.

use std::cell::{Cell, RefCell};

use std::rc::Rc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use framestep::Executor;
use framestep::inspect::TraceEvent;
use framestep::prelude::*;

use framestep_testkit::waits::Given;
use framestep_testkit::watched::{fault, watched};

use super::grenade::survive;
use super::operations::{Counts, Site, occasionally, perform};
use super::world::{Mood, RUNS, SLOTS, World};

/// Coroutines that no operation touches, and the runs that they must have seen.
#[derive(Default)]
struct Bystanders {
    runs: [Rc<Cell<u64>>; RUNS.len()],
    seen: [Rc<Cell<u64>>; RUNS.len()],
    frames: Rc<Cell<u64>>,
    /// A bystander that counts frames, and one behind a combinator.
    counted: [Rc<Cell<u64>>; 2],
}

impl Bystanders {
    fn new(executor: &Executor) -> Self {
        let all = Bystanders::default();
        for (phase, seen) in RUNS.into_iter().zip(&all.seen) {
            let seen = seen.clone();
            executor.start(watched(async move {
                loop {
                    in_phase(phase).await;
                    seen.set(seen.get() + 1);
                }
            }));
        }
        let [counts, combined] = all.counted.clone();
        executor.start(watched(async move {
            loop {
                next_frame().await;
                counts.set(counts.get() + 1);
            }
        }));
        executor.start(watched(async move {
            loop {
                let mut waits: FuturesUnordered<_> = (0..3).map(|_| next_frame()).collect();
                while waits.next().await.is_some() {}
                combined.set(combined.get() + 1);
            }
        }));
        all
    }

    fn check(&self) {
        for ((phase, runs), seen) in RUNS.iter().zip(&self.runs).zip(&self.seen) {
            if runs.get() != seen.get() {
                let (runs, seen) = (runs.get(), seen.get());
                fault(format!(
                    "a bystander has seen {seen} of {runs} runs of {phase}"
                ));
            }
        }
        for counted in &self.counted {
            if counted.get() != self.frames.get() {
                let (counted, frames) = (counted.get(), self.frames.get());
                fault(format!(
                    "a bystander has counted {counted} of {frames} frames"
                ));
            }
        }
    }
}

thread_local! {
    /// The bystanders of the executor in each slot.
    static BYSTANDERS: RefCell<[Option<Rc<Bystanders>>; SLOTS]> =
        const { RefCell::new([const { None }; SLOTS]) };
}

/// Puts a new executor into an empty slot.
pub(super) fn fill(world: &Rc<World>, at: usize) {
    let executor = Executor::builder()
        .max_polls_per_run(30)
        .fixed_delta(0.0625)
        .slow_poll(if world.one_in(2) { 0 } else { 1_000_000 })
        .build();
    executor.on_report(|_| occasionally(8, Site::Report));
    if world.mood == Mood::Deep || world.one_in(2) {
        let act = |_: &TraceEvent| occasionally(12, Site::Trace);
        if world.one_in(2) {
            executor.on_full_trace(act);
        } else {
            executor.on_trace(act);
        }
    }
    let slot = &world.slots[at];
    slot.generation.set(slot.generation.get() + 1);
    // Bystanders of the previous executor may still be in their poll.
    slot.polling.take();
    slot.handle.replace(Some(executor.handle()));
    slot.remote.replace(Some(executor.remote()));
    let clock = executor.clock();
    slot.clocks
        .replace(vec![clock.child(), clock.child().child()]);
    let given = Given::new(&executor.handle());
    slot.given.replace(Some(given));
    let bystanders = Rc::new(Bystanders::new(&executor));
    BYSTANDERS.with_borrow_mut(|all| all[at] = Some(bystanders));
    slot.executor.replace(Some(executor));
}

/// Drops the executor in a slot, unless it is borrowed, and makes another one.
pub(super) fn replace(world: &Rc<World>, at: usize) {
    let slot = &world.slots[at];
    let Ok(ended) = slot.executor.try_borrow_mut().map(|mut slot| slot.take()) else {
        return;
    };
    let Some(executor) = ended else { return };
    survive(|| drop(executor));
    // Its destructors may have done the same.
    if slot.executor.borrow().is_none() {
        fill(world, at);
    }
}

/// Runs a frame of the executor in a slot, if it is not borrowed. Must panic and
/// change nothing while one of its coroutines is being polled.
pub(super) fn run_frame(world: &Rc<World>, at: usize) {
    let slot = &world.slots[at];
    let Ok(mut borrowed) = slot.executor.try_borrow_mut() else {
        return;
    };
    let Some(executor) = borrowed.as_mut() else {
        return;
    };
    let bystanders = BYSTANDERS
        .with_borrow(|all| all[at].clone())
        .expect("filled");
    let refused = slot.polling.borrow().get() > 0;
    let dt = [0.0, 0.0625, 0.09375, 0.25][world.index(4)];
    let before = executor.time().frame;
    let begun = survive(|| executor.begin_frame(dt)).is_some();
    if begun && refused {
        fault("an executor begins a frame inside a poll of its own");
    }
    // This includes the executor's work around a poll.
    if !begun && world.depth.get() == 0 {
        fault("an executor does not begin a frame");
    }
    if !begun {
        if executor.time().frame != before {
            fault("a frame that was refused has begun");
        }
        for phase in RUNS {
            if survive(|| executor.run_phase(phase)).is_some() {
                fault("a phase is run where a frame is refused");
            }
        }
        return;
    }
    bystanders.frames.set(bystanders.frames.get() + 1);
    let mut lent: Vec<u64> = Vec::new();
    for (phase, runs) in RUNS.into_iter().zip(&bystanders.runs) {
        let times = if phase == Phase::FixedUpdate { 8 } else { 1 };
        for _ in 0..times {
            // A panic here comes from outside coroutines; the run completes
            // anyway.
            let run = survive(|| {
                if phase == Phase::FixedUpdate && !executor.begin_fixed_step() {
                    return false;
                }
                runs.set(runs.get() + 1);
                executor.lend(&mut lent, |executor| executor.run_phase(phase));
                true
            });
            if run == Some(false) {
                break;
            }
        }
    }
    bystanders.check();
}

pub(super) struct Host(Rc<World>);

impl Host {
    pub(super) fn new(world: Rc<World>) -> Self {
        for slot in 0..SLOTS {
            fill(&world, slot);
        }
        Host(world)
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.0.counts
    }

    pub(super) fn frame(&self) {
        let world = &self.0;
        world.left.set(250);
        for _ in 0..6 {
            survive(|| perform(world, Site::Host));
        }
        for slot in 0..SLOTS {
            run_frame(world, slot);
        }
        self.thin_out();
    }

    /// Limits the number of stored objects.
    fn thin_out(&self) {
        fn cut<T>(world: &World, list: &RefCell<Vec<T>>, most: usize) {
            while list.borrow().len() > most {
                let gone = world.take(list);
                survive(|| drop(gone));
            }
        }
        let world = &self.0;
        cut(world, &world.coroutines, 60);
        cut(world, &world.finished, 30);
        cut(world, &world.owners, 8);
        cut(world, &world.wakers, 60);
        cut(world, &world.waits, 10);
    }

    /// Drops the executors and everything else, in some order.
    pub(super) fn end(self) {
        fn clear<T>(list: &RefCell<Vec<T>>) {
            loop {
                let gone = list.borrow_mut().pop();
                if gone.is_none() {
                    return;
                }
                survive(|| drop(gone));
            }
        }
        let world = self.0;
        world.left.set(200);
        let executors_first = world.one_in(2);
        for half in [executors_first, !executors_first] {
            if half {
                for slot in &world.slots {
                    let executor = slot.executor.take();
                    survive(|| drop(executor));
                }
            }
            // Destructors may add other objects.
            for _ in 0..10 {
                clear(&world.coroutines);
                clear(&world.finished);
                clear(&world.owners);
                clear(&world.waits);
                clear(&world.wakers);
            }
            world.left.set(if half { 0 } else { 100 });
        }
        // An executor that was made in the meantime.
        world.left.set(0);
        for slot in &world.slots {
            drop(slot.executor.take());
            slot.handle.take();
            slot.remote.take();
            slot.clocks.take();
            slot.given.take();
        }
        for _ in 0..3 {
            clear(&world.coroutines);
            clear(&world.finished);
            clear(&world.owners);
            clear(&world.waits);
            clear(&world.wakers);
        }
        BYSTANDERS.with_borrow_mut(|all| all.fill(None));

        World::leave();
        if Rc::strong_count(&world) != 1 {
            fault("something keeps the world");
        }
        // Finally the signal, with its unread events.
        drop(world);
    }
}
