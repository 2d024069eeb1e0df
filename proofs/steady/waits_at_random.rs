//! Waits begun, dropped, leaked and stopped at random, against a naive model of
//! when each is due.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::FutureExt;

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::CoroutineId;

use framestep_testkit::phases;
use framestep_testkit::timeline::unclamped;

/// This phase is rare in every other game.
const RARE: Phase = Phase::Custom(7);
const PHASES: [Phase; phases::RUNS] = phases::with_custom(7);

/// A wait, and its state in the model.
struct Held {
    wait: Pin<Box<dyn Future<Output = ()>>>,
    began: u64,
    phase: usize,
    due: Due,
    /// Two frames or more: it comes after the others.
    counts: bool,
}

#[derive(Clone, Copy, Debug)]
enum Due {
    /// In the first run of its phase from this frame on.
    Frame(u64),
    /// In the first run of its phase with this number.
    Run(u64),
}

/// What one coroutine waits for.
struct Actor {
    id: Cell<Option<CoroutineId>>,
    alive: Cell<bool>,
    waits: RefCell<Vec<Held>>,
}

struct World {
    random: Cell<u64>,
    clock: Cell<u64>,
    /// The latest run of each phase: its frame and number.
    runs: [Cell<(u64, u64)>; PHASES.len()],
    actors: RefCell<Vec<Rc<Actor>>>,
    polls: Cell<u64>,
    handle: framestep::Handle,
}

impl World {
    fn random(&self, below: u64) -> u64 {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        (x >> 11) % below
    }

    fn chance(&self, percent: u64) -> bool {
        self.random(100) < percent
    }

    fn is_due(&self, held: &Held) -> bool {
        let (frame, run) = self.runs[held.phase].get();
        match held.due {
            Due::Frame(due) => frame >= due,
            Due::Run(due) => run >= due,
        }
    }

    /// The order of waits that are due in one run.
    fn place(held: &Held) -> (bool, u64, u64) {
        match held.due {
            Due::Frame(due) if held.counts => (true, due, held.began),
            _ => (false, 0, held.began),
        }
    }

    /// The coroutine whose wait comes first: it is polled next.
    fn next_due(&self) -> Option<Rc<Actor>> {
        let actors = self.actors.borrow();
        let alive = actors.iter().filter(|actor| actor.alive.get());
        let first = alive.filter_map(|actor| {
            let waits = actor.waits.borrow();
            let due = waits.iter().filter(|held| self.is_due(held));
            Some((due.map(Self::place).min()?, actor))
        });
        first
            .min_by_key(|(place, _)| *place)
            .map(|(_, actor)| actor.clone())
    }

    fn begin_wait(&self, actor: &Actor, cx: &mut Context<'_>) {
        let at = usize::try_from(self.random(PHASES.len() as u64)).unwrap();
        let (phase, frame) = (PHASES[at], time().frame);
        let frames = self.random(3) + 1;
        let kind = self.random(3);
        let (mut wait, due): (Pin<Box<dyn Future<Output = ()>>>, _) = match kind {
            0 => (
                Box::pin(next_frame().in_phase(phase).map(|()| ())),
                Due::Frame(frame + 1),
            ),
            1 => (
                Box::pin(wait_frames(frames).in_phase(phase).map(|()| ())),
                Due::Frame(frame + frames),
            ),
            _ => (
                Box::pin(in_phase(phase).map(|()| ())),
                Due::Run(self.runs[at].get().1 + 1),
            ),
        };
        assert!(wait.as_mut().poll(cx).is_pending());
        self.clock.set(self.clock.get() + 1);
        actor.waits.borrow_mut().push(Held {
            wait,
            began: self.clock.get(),
            phase: at,
            due,
            counts: kind == 1 && frames >= 2,
        });
    }

    fn drop_some(&self, actor: &Actor, percent: u64) {
        let waits = actor.waits.take();
        let (gone, kept) = waits.into_iter().partition(|_| self.chance(percent));
        actor.waits.replace(kept);
        let gone: Vec<Held> = gone;
        drop(gone);
    }

    fn someone(&self) -> Option<Rc<Actor>> {
        let actors = self.actors.borrow();
        let at = self.random(actors.len().max(1) as u64);
        actors.get(usize::try_from(at).unwrap()).cloned()
    }

    /// Stops a coroutine, or drops waits of one.
    fn disturb(&self, percent: u64) {
        let Some(other) = self.someone() else { return };
        if self.chance(percent) {
            self.drop_some(&other, 50);
        }
        if self.chance(percent) {
            let stopped = self.handle.stop(other.id.get().expect("it was started"));
            assert_eq!(stopped, other.alive.replace(false));
        }
    }

    /// Starts a coroutine with random waits, until it ends in some way.
    fn start_one(self: &Rc<Self>) {
        let actor = Rc::new(Actor {
            id: Cell::new(None),
            alive: Cell::new(true),
            waits: RefCell::default(),
        });
        let (world, own) = (self.clone(), actor.clone());
        // One half of them leak their waits.
        let tidy = self.chance(50).then(|| Tidy(actor.clone()));
        let coroutine = self.handle.start(async move {
            let _tidy = tidy;
            poll_fn(|cx| world.poll_one(&own, cx)).await;
        });
        if self.chance(20) {
            std::mem::forget(coroutine);
        }
    }

    fn poll_one(self: &Rc<Self>, actor: &Rc<Actor>, cx: &mut Context<'_>) -> Poll<()> {
        self.polls.set(self.polls.get() + 1);
        if actor.id.replace(Some(current())).is_none() {
            self.actors.borrow_mut().push(actor.clone());
        } else {
            let next = self.next_due().expect("nobody is polled who is not due");
            assert_eq!(
                next.id.get(),
                actor.id.get(),
                "the wait that comes first is next"
            );
        }
        let mut waits = actor.waits.take();
        waits.retain_mut(|held| {
            let due = self.is_due(held);
            assert_eq!(
                held.wait.as_mut().poll(cx).is_ready(),
                due,
                "{:?}",
                held.due
            );
            !due
        });
        actor.waits.replace(waits);

        self.drop_some(actor, 20);
        for _ in 0..self.random(4) {
            self.begin_wait(actor, cx);
        }
        self.drop_some(actor, 10);
        if self.chance(8) {
            self.start_one();
        }
        // The coroutine may stop itself: then it is gone after this poll.
        self.disturb(6);
        match self.random(40) {
            0 => {
                actor.alive.set(false);
                resume_unwind(Box::new("on purpose"));
            }
            1 => {
                actor.alive.set(false);
                Poll::Ready(())
            }
            _ => Poll::Pending,
        }
    }

    fn run(self: &Rc<Self>, executor: &mut Executor, phase: usize) {
        let (_, number) = self.runs[phase].get();
        self.runs[phase].set((executor.time().frame, number + 1));
        executor.run_phase(PHASES[phase]);
        assert!(
            self.next_due().is_none(),
            "all who are due have been polled"
        );
    }
}

/// Drops the waits of an actor with its coroutine.
struct Tidy(Rc<Actor>);

impl Drop for Tidy {
    fn drop(&mut self) {
        drop(self.0.waits.take());
    }
}

fn play(seed: u64, frames: u64) -> u64 {
    let mut executor = unclamped();
    let world = Rc::new(World {
        random: Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        clock: Cell::new(0),
        runs: Default::default(),
        actors: RefCell::default(),
        polls: Cell::new(0),
        handle: executor.handle(),
    });
    for _ in 0..frames {
        executor.begin_frame(0.25);
        for _ in 0..world.random(4) {
            world.start_one();
        }
        for (at, &phase) in PHASES.iter().enumerate() {
            // The entries of a rare phase pile up; sometimes a phase is skipped, or run
            // twice.
            let is_rare = phase == RARE && seed % 2 == 0;
            if is_rare && executor.time().frame % 40 != 0 {
                continue;
            }
            for _ in 0..[0, 1, 1, 1, 2][usize::try_from(world.random(5)).unwrap()] {
                world.run(&mut executor, at);
            }
            world.disturb(40);
        }
        let alive = world
            .actors
            .borrow()
            .iter()
            .filter(|a| a.alive.get())
            .count();
        assert_eq!(executor.len(), alive);
        if world.chance(30) {
            world.actors.borrow_mut().retain(|actor| actor.alive.get());
        }
    }
    world.polls.get()
}

#[test]
fn waits_that_come_and_go_at_random_resume_when_and_in_the_order_they_should() {
    let polls: u64 = (0..60).map(|seed| play(seed, 100)).sum();
    assert!(polls > 10_000, "{polls}");
}
