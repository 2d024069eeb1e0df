//! What is done, how much of it a step is, and what must have been counted.

pub(crate) mod asleep;
pub(crate) mod awake;
pub(crate) mod footprint;

mod chain;
mod churn;
mod join;
mod nested;
mod phases;
mod snapshot;
mod spawn;
mod together;
mod wake;

use crate::systems::{System, World};

/// How many steps a sample takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// As many as the workload says, the same for all systems.
    Prescribed,
    /// As many as it takes to be timed: a step is worth the same whichever
    /// it is, but one system does in hours what another does in seconds.
    Calibrated,
}

/// The same work for every system, cut into steps.
pub(crate) trait Workload {
    /// Its name on the command line and in the table.
    fn id(&self) -> &'static str;

    /// What it is about, in the chart.
    fn title(&self) -> &'static str;

    /// What is counted, in one word.
    fn item(&self) -> &'static str;

    /// The usual sizes, ascending.
    fn sizes(&self) -> &'static [usize];

    /// Puts `system` to work, up to where the first step can begin.
    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>>;

    /// Steps before the first that is timed.
    fn warm_up(&self) -> u64 {
        2
    }

    /// Steps in a sample.
    fn sample(&self, size: usize) -> u64;

    /// Whether all systems make the same number of steps.
    fn steps(&self) -> Steps {
        Steps::Prescribed
    }

    /// How many items the first n steps have, for any n up to `longest`.
    fn items(&self, size: usize, longest: u64) -> Box<dyn Fn(u64) -> u64>;

    /// How many resumes the actors must have counted after so many items.
    fn resumes(&self, _size: usize, items: u64) -> u64 {
        items
    }
}

/// All workloads, in the order of the table.
pub(crate) fn all() -> Vec<Box<dyn Workload>> {
    vec![
        Box::new(awake::Awake::IN_ORDER),
        Box::new(awake::Awake::AGED),
        Box::new(churn::Churn),
        Box::new(asleep::Asleep),
        Box::new(asleep::Idle),
        Box::new(spawn::Spawn),
        Box::new(join::Join),
        Box::new(nested::Nested),
        Box::new(chain::Chain),
        Box::new(phases::Phases),
        Box::new(wake::Wake),
        Box::new(together::Together),
        Box::new(snapshot::Snapshot),
    ]
}

/// The workload of that name.
pub(crate) fn named(id: &str) -> Option<Box<dyn Workload>> {
    all().into_iter().find(|workload| workload.id() == id)
}
