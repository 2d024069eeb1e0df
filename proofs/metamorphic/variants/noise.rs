//! Scripts that do not know those of the program.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::rc::Rc;

use framestep::prelude::*;
use framestep::{Executor, Handle};
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep_testkit::Random;

/// How many scripts it begins.
const MOST: u32 = 40;
/// How deep its acts are in one another.
const DEEPEST: u32 = 4;

pub(super) struct Noise {
    handle: Handle,
    random: RefCell<Random>,
    owner: Owner,
    clock: Clock,
    signal: Signal<()>,
    value: Watch<u64>,
    scripts: RefCell<Vec<CoroutineId>>,
    begun: Cell<u32>,
    depth: Cell<u32>,
}

/// A local variable of a script.
struct ActsWhenDropped(Rc<Noise>);

impl Drop for ActsWhenDropped {
    fn drop(&mut self) {
        self.0.act();
    }
}

impl Noise {
    pub(super) fn new(executor: &Executor) -> Rc<Self> {
        let clock = executor.clock().child();
        let noise = Rc::new(Noise {
            handle: executor.handle(),
            random: RefCell::new(Random(1)),
            owner: executor.owner_on(&clock),
            clock,
            signal: Signal::new(),
            value: Watch::new(0),
            scripts: RefCell::default(),
            begun: Cell::new(0),
            depth: Cell::new(0),
        });
        for _ in 0..4 {
            noise.begin();
        }
        noise
    }

    fn below(&self, n: u64) -> u64 {
        self.random.borrow_mut().below(n)
    }

    fn phase(&self) -> Phase {
        let phases = framestep_testkit::PHASES;
        phases[usize::try_from(self.below(5)).expect("small")]
    }

    fn begin(self: &Rc<Self>) {
        if self.begun.get() >= MOST {
            return;
        }
        self.begun.set(self.begun.get() + 1);
        let noise = self.clone();
        let turns = self.below(8);
        let script = async move {
            let _acts = ActsWhenDropped(noise.clone());
            for _ in 0..turns {
                noise.act();
                noise.wait().await;
            }
            if turns == 3 {
                resume_unwind(Box::new("noise"));
            }
        };
        let phase = self.phase();
        let script = match self.below(5) {
            0 => self.handle.start(script),
            1 => self.handle.spawn(script),
            2 => self.handle.script("").in_phase(phase).spawn(script),
            3 => self.owner.script("").in_phase(phase).start(script),
            _ => self.owner.spawn(script),
        };
        self.scripts.borrow_mut().push(script.id());
    }

    fn any(&self) -> CoroutineId {
        let scripts = self.scripts.borrow();
        let at = self.below(scripts.len() as u64);
        scripts[usize::try_from(at).expect("small")]
    }

    /// Acts upon its own scripts.
    pub(super) fn act(self: &Rc<Self>) {
        if self.depth.get() >= DEEPEST || self.scripts.borrow().is_empty() {
            return;
        }
        self.depth.set(self.depth.get() + 1);
        match self.below(16) {
            0..=2 => self.begin(),
            3 => _ = self.handle.pause(self.any()),
            4 | 5 => _ = self.handle.resume(self.any()),
            6 => _ = self.handle.stop(self.any()),
            7 => _ = self.owner.pause(),
            8 => _ = self.owner.resume(),
            9 => self.signal.emit(()),
            10 => self.value.update(|value| *value += 1),
            11 => _ = self.clock.pause(),
            12 => _ = self.clock.resume(),
            13 => self.clock.set_scale(2),
            _ => {}
        }
        self.depth.set(self.depth.get() - 1);
    }

    fn wait(&self) -> LocalBoxFuture<'static, ()> {
        let phase = self.phase();
        let seconds = f64::from(u32::try_from(self.below(8)).expect("small")) / 8.0;
        match self.below(10) {
            0 => next_frame().in_phase(phase).boxed_local(),
            1 => wait_frames(self.below(4)).boxed_local(),
            2 => wait_seconds(seconds).in_phase(phase).boxed_local(),
            3 => self.clock.wait_seconds(seconds).boxed_local(),
            4 => wait_steps(self.below(4)).boxed_local(),
            5 => self.signal.wait().boxed_local(),
            6 => self.value.changed().map(drop).boxed_local(),
            7 => framestep::wait::yield_now().boxed_local(),
            8 => timeout(seconds, self.signal.wait()).map(drop).boxed_local(),
            _ => in_phase(phase).boxed_local(),
        }
    }
}
