//! W2: everyone sleeps, a few are due.

use crate::actor::{UNITS_PER_FRAME, Waits};
use crate::random::Random;
use crate::systems::{System, World};
use crate::workloads::{Steps, Workload};

/// N coroutines that sleep for 0.5 to 5 s again and again; a step is a frame.
pub(crate) struct Asleep;

impl Workload for Asleep {
    fn id(&self) -> &'static str {
        "W2"
    }

    fn title(&self) -> &'static str {
        "Asleep for 0.5 to 5 seconds"
    }

    fn item(&self) -> &'static str {
        "fire"
    }

    fn sizes(&self) -> &'static [usize] {
        &[10_000, 100_000, 1_000_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.asleep(size, Waits::Seconds)
    }

    /// Longer than the longest wait: no one is still in the first.
    fn warm_up(&self) -> u64 {
        6 * 64
    }

    fn sample(&self, size: usize) -> u64 {
        match size {
            0..=20_000 => 256,
            20_001..=200_000 => 64,
            _ => 16,
        }
    }

    /// Follows every coroutine through its waits: each is over in the first
    /// frame at or past its deadline, and the next begins there.
    fn items(&self, size: usize, longest: u64) -> Box<dyn Fn(u64) -> u64> {
        let mut fires = vec![0; longest as usize + 1];
        for index in 0..size {
            let mut random = Random::new(index as u64);
            let mut frame = 0;
            loop {
                let deadline = frame * UNITS_PER_FRAME + Waits::Seconds.draw(&mut random);
                frame = deadline.div_ceil(UNITS_PER_FRAME);
                match fires.get_mut(frame as usize) {
                    Some(fires) => *fires += 1,
                    None => break,
                }
            }
        }
        let mut sum = 0;
        for fires in &mut fires {
            sum += *fires;
            *fires = sum;
        }
        Box::new(move |steps| fires[steps as usize])
    }
}

/// N coroutines that sleep for weeks; a step is a frame in which none is due.
pub(crate) struct Idle;

impl Workload for Idle {
    fn id(&self) -> &'static str {
        "W2-idle"
    }

    fn title(&self) -> &'static str {
        "All asleep, none due"
    }

    fn item(&self) -> &'static str {
        "frame"
    }

    fn sizes(&self) -> &'static [usize] {
        &[1_000_000]
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.asleep(size, Waits::Weeks)
    }

    fn sample(&self, _size: usize) -> u64 {
        1
    }

    fn steps(&self) -> Steps {
        Steps::Calibrated
    }

    fn items(&self, _size: usize, _longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(|steps| steps)
    }

    fn resumes(&self, _size: usize, _items: u64) -> u64 {
        0
    }
}
