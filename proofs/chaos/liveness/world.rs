//! The shared state of a seed's scripts: executors, events, and the end of all
//! pauses.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::Waker;

use futures::channel::oneshot;

use framestep::prelude::*;
use framestep::task::{CoroutineId, Finished};
use framestep::{Executor, Handle};

use framestep_testkit::Random;
use framestep_testkit::phases;
use framestep_testkit::waits::Given;

use super::PATIENCE;
use super::operations::{Held, act, perform};
use super::share::Shared;
use crate::grenade::survive;

/// How many executors there are.
pub(super) const SEATS: usize = 2;
/// The maximum number of scripts of a seed.
const MOST_SCRIPTS: u64 = 40;

/// The runs of a frame, in order.
const RUNS: [Phase; phases::RUNS] = phases::with_custom(3);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mood {
    /// Each wait is polled by one script.
    Plain,
    /// Scripts share waits.
    Shared,
    /// Scripts share waits, and anything panics sometimes.
    Panics,
}

/// A script, which may have ended.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) id: CoroutineId,
    /// It waits for no other script, and others may wait for it.
    pub(super) is_leaf: bool,
}

/// An executor and what belongs to it.
pub(super) struct Seat {
    executor: RefCell<Executor>,
    pub(super) handle: Handle,
    pub(super) clocks: Vec<Clock>,
    /// What waits of the table are made from, with the events of the world.
    pub(super) given: Given,
    pub(super) owners: RefCell<Vec<Rc<Owner>>>,
    /// All scripts that were made.
    pub(super) scripts: RefCell<Vec<Known>>,
    /// Waits that any script of the executor may await.
    pub(super) shared: RefCell<Vec<Shared>>,
}

pub(super) struct World {
    pub(super) mood: Mood,
    random: RefCell<Random>,
    pub(super) seats: [Seat; SEATS],
    pub(super) signal: Signal<u64>,
    pub(super) value: Watch<u64>,
    pub(super) letters: RefCell<Vec<oneshot::Sender<()>>>,
    /// Wakers that scripts were polled with.
    pub(super) wakers: RefCell<Vec<Waker>>,
    /// Handles of leaves: scripts that wait for no other one.
    pub(super) leaves: RefCell<Vec<Coroutine<Held>>>,
    pub(super) ends: RefCell<Vec<Finished>>,
    made: Cell<u64>,
    /// The parts of the wait that is being made, and the latest wait of each script.
    pub(super) said: RefCell<Vec<String>>,
    latest: RefCell<BTreeMap<(usize, CoroutineId), String>>,
    /// All conditions hold, and no operation is performed any more.
    pub(super) lifted: Cell<bool>,
    /// How deep operations are in one another, and how many are left.
    pub(super) depth: Cell<u32>,
    pub(super) left: Cell<u32>,
    /// How many locks of other crates are held: then user code is restricted.
    pub(super) locks: Cell<u32>,
}

thread_local! {
    static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

impl Seat {
    fn new(random: &mut Random, signal: &Signal<u64>, value: &Watch<u64>) -> Self {
        let executor = Executor::builder()
            .max_polls_per_run(20)
            .fixed_delta(0.0625)
            .build();
        executor.on_report(|_| _ = survive(|| act(8)));
        if random.below(2) == 0 {
            executor.on_full_trace(|_| _ = survive(|| act(12)));
        }
        if random.below(4) == 0 {
            executor.on_wake(|| _ = survive(|| act(8)));
        }
        let clock = executor.clock();
        let below = clock.child();
        let clocks = vec![below.child(), below, clock];
        let owners = [
            executor.owner(),
            executor.owner_on(&clocks[0]),
            executor.owner(),
        ];
        let child = owners[0].child();
        let mut given = Given::new(&executor.handle());
        (given.signal, given.watch) = (signal.clone(), value.clone());
        Seat {
            handle: executor.handle(),
            given,
            executor: RefCell::new(executor),
            clocks,
            owners: RefCell::new(owners.into_iter().chain([child]).map(Rc::new).collect()),
            scripts: RefCell::default(),
            shared: RefCell::default(),
        }
    }
}

impl World {
    pub(super) fn new(seed: u64, mood: Mood) -> Rc<World> {
        let mut random = Random(seed);
        let (signal, value) = (Signal::with_limit(4), Watch::new(0));
        let seats = std::array::from_fn(|_| Seat::new(&mut random, &signal, &value));
        let world = Rc::new(World {
            mood,
            random: RefCell::new(random),
            seats,
            signal,
            value,
            letters: RefCell::default(),
            wakers: RefCell::default(),
            leaves: RefCell::default(),
            ends: RefCell::default(),
            made: Cell::new(0),
            said: RefCell::default(),
            latest: RefCell::default(),
            lifted: Cell::new(false),
            depth: Cell::new(0),
            left: Cell::new(0),
            locks: Cell::new(0),
        });
        WORLD.set(Some(world.clone()));
        world
    }

    /// The world of this thread, if there is one.
    pub(super) fn find() -> Option<Rc<World>> {
        let world = WORLD.try_with(|world| world.borrow().clone());
        world.ok().flatten()
    }

    /// Drops the executors, with their remaining scripts.
    pub(super) fn end(world: Rc<World>) {
        WORLD.take();
        drop(world);
    }

    pub(super) fn below(&self, n: u64) -> u64 {
        self.random.borrow_mut().below(n)
    }

    pub(super) fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A random index into a list of that length.
    pub(super) fn place(&self, length: usize) -> Option<usize> {
        let length = u64::try_from(length).expect("small");
        (length > 0).then(|| usize::try_from(self.below(length)).expect("small"))
    }

    /// A random item, removed from `list`.
    pub(super) fn take<T>(&self, list: &RefCell<Vec<T>>) -> Option<T> {
        let mut list = list.borrow_mut();
        let at = self.place(list.len())?;
        Some(list.swap_remove(at))
    }

    /// A random item, which stays in `list`.
    pub(super) fn look_at<T: Clone>(&self, list: &RefCell<Vec<T>>) -> Option<T> {
        let list = list.borrow();
        let at = self.place(list.len())?;
        Some(list[at].clone())
    }

    pub(super) fn seat(&self) -> usize {
        self.place(SEATS).expect("there are some")
    }

    pub(super) fn clock(&self, seat: usize) -> Clock {
        let clocks = &self.seats[seat].clocks;
        clocks[self.place(clocks.len()).expect("there are some")].clone()
    }

    pub(super) fn phase(&self) -> Phase {
        match self.below(10) {
            0..=3 => Phase::Update,
            4 => Phase::FixedUpdate,
            _ => RUNS[self.place(RUNS.len()).expect("there are some")],
        }
    }

    /// Notes a part of the wait that is being made.
    pub(super) fn say(&self, part: impl Into<String>) {
        self.said.borrow_mut().push(part.into());
    }

    /// A script begins to wait for the wait that was made.
    pub(super) fn begins(&self, seat: usize, id: CoroutineId) {
        let said = self.said.take().join(", ");
        self.latest.borrow_mut().insert((seat, id), said);
    }

    /// Whether one more script may be made.
    pub(super) fn has_room(&self) -> bool {
        let made = self.made.get();
        self.made.set(made + 1);
        made < MOST_SCRIPTS && !self.lifted.get()
    }

    /// The host's random operations between two frames.
    pub(super) fn disturb(self: &Rc<Self>) {
        self.left.set(40);
        for _ in 0..6 {
            survive(|| perform(self));
        }
    }

    pub(super) fn frame(self: &Rc<Self>) {
        for seat in 0..SEATS {
            self.run_frame(seat);
        }
    }

    /// Runs a frame of an executor, unless it is running.
    pub(super) fn run_frame(&self, seat: usize) {
        let Ok(mut executor) = self.seats[seat].executor.try_borrow_mut() else {
            return;
        };
        // If one of its scripts is in a poll, it refuses.
        if survive(|| executor.begin_frame(0.0625)).is_none() {
            return;
        }
        for phase in RUNS {
            if !self.lifted.get() && self.one_in(12) {
                continue;
            }
            survive(|| {
                if phase != Phase::FixedUpdate {
                    return executor.run_phase(phase);
                }
                while executor.begin_fixed_step() {
                    executor.run_phase(phase);
                }
            });
        }
    }

    /// Ends all pauses, except those of a few scripts for which no other one waits.
    pub(super) fn lift(&self) -> Vec<(usize, CoroutineId)> {
        self.lifted.set(true);
        let mut frozen = Vec::new();
        for (at, seat) in self.seats.iter().enumerate() {
            for clock in &seat.clocks {
                clock.set_scale(1);
                clock.resume();
            }
            for owner in seat.owners.borrow().iter() {
                owner.resume();
            }
            for &Known { id, is_leaf } in seat.scripts.borrow().iter() {
                if !is_leaf && self.one_in(4) {
                    seat.handle.pause(id);
                    frozen.push((at, id));
                } else {
                    seat.handle.resume(id);
                }
            }
        }
        frozen
    }

    pub(super) fn thaw(&self, frozen: &[(usize, CoroutineId)]) {
        for &(seat, id) in frozen {
            self.seats[seat].handle.resume(id);
        }
    }

    /// Runs frames until all scripts have ended except those of `frozen`, and
    /// returns those that do not end.
    pub(super) fn run_out(
        self: &Rc<Self>,
        when: &str,
        frozen: &[(usize, CoroutineId)],
    ) -> Vec<String> {
        for _ in 0..PATIENCE {
            if self.asleep(frozen).is_empty() {
                return Vec::new();
            }
            self.send_all();
            self.frame();
        }
        let asleep = self.asleep(frozen);
        let mut faults: Vec<String> = (asleep.iter())
            .map(|&one| {
                let latest = self.latest.borrow();
                let wait = latest.get(&one).map_or("its first poll", String::as_str);
                format!(
                    "while {when}, {} of executor {} waits for {wait}",
                    one.1, one.0
                )
            })
            .collect();
        if let Some((seat, _)) = asleep.first() {
            let snapshot = self.seats[*seat].handle.snapshot();
            faults.extend(snapshot.map(|snapshot| snapshot.to_string()));
        }
        faults
    }

    /// The live scripts, except the frozen ones.
    fn asleep(&self, frozen: &[(usize, CoroutineId)]) -> Vec<(usize, CoroutineId)> {
        let mut asleep = Vec::new();
        for (at, seat) in self.seats.iter().enumerate() {
            let scripts = seat.scripts.borrow();
            let alive = scripts
                .iter()
                .filter(|known| seat.handle.is_alive(known.id));
            let alive = alive.map(|known| (at, known.id));
            asleep.extend(alive.filter(|one| !frozen.contains(one)));
        }
        asleep
    }

    /// Sends every kind of event. Values that a script waits for do not change.
    fn send_all(&self) {
        self.signal.emit(0);
        self.value.update(|value| *value += 1_000_000);
        for seat in &self.seats {
            seat.given.release();
        }
        for letter in self.letters.take() {
            _ = letter.send(());
        }
        for waker in self.wakers.take() {
            waker.wake();
        }
    }

    /// Drops everything outside the executors.
    pub(super) fn let_go(&self) {
        for _ in 0..3 {
            drop(self.letters.take());
            drop(self.wakers.take());
            drop(self.leaves.take());
            drop(self.ends.take());
            for seat in &self.seats {
                drop(seat.shared.take());
            }
        }
    }
}
