//! Who does the work: a file a system.

mod async_executor;
mod async_task;
mod bare;
mod cosync;
#[cfg(cpp)]
mod cpp;
#[cfg(feature = "framestep")]
mod framestep;
mod koryto;
mod local_pool;
#[cfg(feature = "bevy")]
mod malek;
mod moirai;
mod simple_async_local_executor;
mod state_machines;
mod tokio;
mod tokio_self_wake;
mod waker_list;
mod woken;

use futures::executor::LocalPool;

use crate::actor::Waits;
use crate::systems::woken::OnWakers;

/// How the order of allocation and the order of the queue relate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// They are the same, as right after loading a scene.
    Allocated,
    /// They have nothing to do with each other, as after an hour of play.
    Aged,
}

/// A system set up with coroutines. Dropping it drops their actors.
pub(crate) trait World {
    /// Sets up the next step, if there is anything to set up each time, and
    /// says so. This is not timed.
    fn prepare(&mut self) -> bool {
        false
    }

    /// Does `count` steps of the workload.
    fn steps(&mut self, count: u64);
}

/// One of those compared. The clock of a world stands at zero and its
/// coroutines have begun their first wait when it is handed out. Of one
/// system there is only one world at a time. What a system has no notion of
/// it leaves out.
pub(crate) trait System {
    /// Its name on the command line and in the table.
    fn name(&self) -> &'static str;

    /// The size of a coroutine of W1.
    fn future_bytes(&self) -> usize;

    /// By which share its counts may be off: 0 with an exact clock.
    fn tolerance(&self, _workload: &str) -> f64 {
        0.0
    }

    /// Whether its blocks are aligned to more than the allocator's grain. The
    /// gaps in between are handed out to the next allocations, and scatter
    /// what would have been a row of boxes: such a system is built last.
    fn leaves_gaps(&self) -> bool {
        false
    }

    /// Whether its memory comes from the allocator that counts calls and bytes.
    fn is_counted(&self) -> bool {
        true
    }

    /// `size` coroutines: `loop { next_frame().await; count }`.
    fn awake(&self, _size: usize, _order: Order) -> Option<Box<dyn World>> {
        None
    }

    /// Like `awake`, in the order of allocation; the first coroutine and every
    /// ten-thousandth after it start a child `{ next_frame().await; count }`
    /// in every other frame. The child begins to wait in the frame in which
    /// it is started.
    fn churning(&self, _size: usize) -> Option<Box<dyn World>> {
        None
    }

    /// `size` coroutines: `loop { wait_seconds(random).await; count }`.
    fn asleep(&self, _size: usize, _waits: Waits) -> Option<Box<dyn World>> {
        None
    }

    /// A step: spawn `size` coroutines `{ next_frame().await; count }`, one
    /// frame for their first poll, one for their second.
    fn spawning(&self, _size: usize) -> Option<Box<dyn World>> {
        None
    }

    /// A coroutine: `loop { size times: count += start(child).await; next_frame().await }`.
    fn joining(&self, _size: usize) -> Option<Box<dyn World>> {
        None
    }

    /// A coroutine that awaits another, and so on, as plain futures.
    fn nested(&self, _levels: usize) -> Option<Box<dyn World>> {
        None
    }

    /// Coroutines of which each has spawned and joins another, `depth` of
    /// them: made when a step is prepared, ended by the step.
    fn chained(&self, _depth: usize) -> Option<Box<dyn World>> {
        None
    }

    /// Like `awake`, in four phases, a quarter of the coroutines in each.
    fn phased(&self, _size: usize) -> Option<Box<dyn World>> {
        None
    }

    /// Pairs of coroutines that wake each other through their wakers, so and
    /// so often in a frame.
    fn waking(&self, _pairs: usize) -> Option<Box<dyn World>> {
        None
    }

    /// Coroutines that join 64 waits for the next frame with `join_all`.
    fn joining_frames(&self, _size: usize) -> Option<Box<dyn World>> {
        None
    }

    /// Coroutines in all kinds of waits; a step tells what each waits for.
    fn inspected(&self, _size: usize) -> Option<Box<dyn World>> {
        None
    }
}

/// The systems that are compared unless others are named.
pub(crate) fn usual() -> Vec<Box<dyn System>> {
    vec![
        Box::new(bare::Bare),
        Box::new(state_machines::StateMachines),
        #[cfg(cpp)]
        Box::new(cpp::Cpp),
        Box::new(koryto::OfKoryto),
        Box::new(simple_async_local_executor::SimpleAsyncLocalExecutor),
        Box::new(cosync::OfCosync),
        Box::new(OnWakers::<async_task::Queue>::new()),
        Box::new(OnWakers::<async_executor::Local>::new()),
        Box::new(OnWakers::<LocalPool>::new()),
        Box::new(tokio::WAKERS),
        #[cfg(feature = "framestep")]
        Box::new(framestep::Framestep),
        #[cfg(feature = "framestep")]
        Box::new(framestep::OwnJoinAll),
    ]
}

/// Those of them that a run in a hurry compares.
pub(crate) fn quick() -> Vec<Box<dyn System>> {
    let names = [
        "bare",
        "state-machines",
        "c++20",
        "tokio",
        "framestep",
        "framestep-join-all",
    ];
    let mut systems = usual();
    systems.retain(|system| names.contains(&system.name()));
    systems
}

/// The system of that name.
pub(crate) fn named(name: &str) -> Option<Box<dyn System>> {
    let on_request: Vec<Box<dyn System>> = vec![
        Box::new(bare::BareInAllPhases),
        #[cfg(feature = "bevy")]
        Box::new(malek::OfMalek),
        Box::new(moirai::OfMoirai),
        Box::new(tokio::NOTIFY),
        Box::new(tokio::YIELD),
        Box::new(tokio_self_wake::TokioSelfWake),
        #[cfg(feature = "framestep")]
        Box::new(framestep::Observed::Inspect),
        #[cfg(feature = "framestep")]
        Box::new(framestep::Observed::Profile),
        #[cfg(feature = "framestep")]
        Box::new(framestep::Observed::Trace),
        #[cfg(feature = "framestep")]
        Box::new(framestep::Observed::FullTrace),
        #[cfg(feature = "framestep")]
        Box::new(framestep::Observed::RemovedTrace),
    ];
    usual()
        .into_iter()
        .chain(on_request)
        .find(|system| system.name() == name)
}
