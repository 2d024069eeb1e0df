//! A host and its scripts, all of whose doings are read from the input: nobody
//! goes on twice in a run, or early, or is forgotten; the executor counts its
//! coroutines right; in the end every future has been dropped, once.

#![no_main]

mod acts;
mod script;
mod waits;
mod world;

use std::rc::Rc;

use framestep::prelude::*;
use framestep_testkit::phases;
use libfuzzer_sys::fuzz_target;

use world::{PHASES, World};

/// Times a frame may take; the last ones are not what a host should give.
const STEPS: [f64; 12] = [
    0.25,
    1.0 / 60.0,
    0.02,
    0.1,
    0.0,
    1e-9,
    1.0,
    0.333,
    -0.0,
    -1.0,
    f64::NAN,
    f64::INFINITY,
];

struct Host {
    executor: Executor,
    world: Rc<World>,
}

impl Host {
    fn begin_frame(&mut self) {
        let dt = STEPS[self.world.below(STEPS.len())];
        self.executor.begin_frame(dt);
        let time = self.executor.time();
        self.world.frame_began(time.frame, time.elapsed);
    }

    fn run(&mut self, phase: Phase) {
        self.world.run_begins(phase);
        let mut lent = 0_u64;
        if self.world.below(4) == 0 {
            self.executor
                .lend(&mut lent, |executor| executor.run_phase(phase));
        } else {
            self.executor.run_phase(phase);
        }
        if phase == Phase::Update {
            self.world.check_nobody_was_forgotten();
        }
    }

    fn fixed_step(&mut self) -> bool {
        let begun = self.executor.begin_fixed_step();
        if begun {
            self.run(Phase::FixedUpdate);
        }
        begun
    }

    fn frame(&mut self) {
        self.begin_frame();
        for phase in phases::PHASES {
            if phase == Phase::FixedUpdate {
                while self.fixed_step() {}
            } else {
                self.run(phase);
            }
        }
    }

    fn step(&mut self, choice: u8) {
        match choice % 16 {
            0..=5 => self.frame(),
            6 => self.begin_frame(),
            7 | 8 => {
                let phase = PHASES[self.world.below(PHASES.len())];
                self.run(phase);
            }
            9 => {
                self.fixed_step();
            }
            10 => {
                let world = self.world.clone();
                self.executor.enter(|| acts::act(&world, true, false));
            }
            _ => acts::act(&self.world, false, false),
        }
        let living = self.world.living()..=self.world.living() + self.world.of_remotes();
        assert!(
            living.contains(&self.executor.len()),
            "{living:?} are alive"
        );
        let _ = (self.executor.has_ready(), self.executor.next_deadline());
    }
}

fuzz_target!(|data: &[u8]| {
    let executor = Executor::new();
    executor.on_report(|_| ());
    let world = World::new(&executor, data);
    let mut host = Host { executor, world };
    while let Some(choice) = host.world.byte() {
        host.step(choice);
    }
    let Host { executor, world } = host;
    drop(executor);
    assert_eq!((world.living(), world.of_remotes()), (0, 0), "all dropped");
    world.outlive_the_executor();
    assert_eq!(world.living(), 0, "nothing new");
});
