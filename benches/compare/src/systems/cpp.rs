//! C++20 coroutines, see `cpp/coroutines.cpp`: what an engine in C++ would
//! have, built with the C++ compiler at -O2.
//!
//! Their memory comes from `operator new`, past the counting allocator and
//! past mimalloc. There are no wakers (no W7, no W8), and no await of a plain
//! future within a coroutine that is not one of its own (no W4b).

use crate::actor::{Waits, add_to_tally};
use crate::scripts::CHURN_ONE_IN;
use crate::systems::{Order, System, World};

unsafe extern "C" {
    safe fn cpp_begin();
    safe fn cpp_end();
    safe fn cpp_take_tally() -> u64;
    safe fn cpp_awake(size: u64, aged: bool);
    safe fn cpp_churning(size: u64, one_in: u64);
    safe fn cpp_asleep(size: u64, weeks: bool);
    safe fn cpp_spawn(size: u64);
    safe fn cpp_join(children: u64);
    safe fn cpp_chain(depth: u64);
    safe fn cpp_phased(size: u64);
    safe fn cpp_frames(count: u64);
    safe fn cpp_frames_of_phases(count: u64);
}

enum Kind {
    /// A step is a frame.
    Frames,
    /// A step is a frame of all phases.
    Phases,
    /// A step spawns so many, and is two frames.
    Spawning(u64),
    /// A step ends chains of that depth.
    Chains(u64),
}

struct Scheduler(Kind);

impl Scheduler {
    fn new(kind: Kind) -> Self {
        cpp_begin();
        Self(kind)
    }
}

impl World for Scheduler {
    fn prepare(&mut self) -> bool {
        let Kind::Chains(depth) = self.0 else {
            return false;
        };
        cpp_chain(depth);
        true
    }

    fn steps(&mut self, count: u64) {
        match self.0 {
            Kind::Frames | Kind::Chains(_) => cpp_frames(count),
            Kind::Phases => cpp_frames_of_phases(count),
            Kind::Spawning(size) => {
                for _ in 0..count {
                    cpp_spawn(size);
                    cpp_frames(2);
                }
            }
        }
        add_to_tally(cpp_take_tally());
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        cpp_end();
        add_to_tally(cpp_take_tally());
    }
}

pub(crate) struct Cpp;

impl System for Cpp {
    fn name(&self) -> &'static str {
        "c++20"
    }

    /// Not told by the language: the locals are those of the others.
    fn future_bytes(&self) -> usize {
        0
    }

    fn is_counted(&self) -> bool {
        false
    }

    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        let scheduler = Scheduler::new(Kind::Frames);
        cpp_awake(size as u64, order == Order::Aged);
        Some(Box::new(scheduler))
    }

    fn churning(&self, size: usize) -> Option<Box<dyn World>> {
        let scheduler = Scheduler::new(Kind::Frames);
        cpp_churning(size as u64, CHURN_ONE_IN as u64);
        Some(Box::new(scheduler))
    }

    fn asleep(&self, size: usize, waits: Waits) -> Option<Box<dyn World>> {
        let scheduler = Scheduler::new(Kind::Frames);
        cpp_asleep(size as u64, matches!(waits, Waits::Weeks));
        Some(Box::new(scheduler))
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        Some(Box::new(Scheduler::new(Kind::Spawning(size as u64))))
    }

    fn joining(&self, size: usize) -> Option<Box<dyn World>> {
        let scheduler = Scheduler::new(Kind::Frames);
        cpp_join(size as u64);
        Some(Box::new(scheduler))
    }

    fn chained(&self, depth: usize) -> Option<Box<dyn World>> {
        Some(Box::new(Scheduler::new(Kind::Chains(depth as u64))))
    }

    fn phased(&self, size: usize) -> Option<Box<dyn World>> {
        let scheduler = Scheduler::new(Kind::Phases);
        cpp_phased(size as u64);
        Some(Box::new(scheduler))
    }
}
