//! W1c: a world in which something is started all the time.

use crate::scripts::CHURN_ONE_IN;
use crate::systems::{System, World};
use crate::workloads::Workload;
use crate::workloads::awake::Awake;

/// As W1, but some of the N coroutines, one in [`CHURN_ONE_IN`], start a child
/// in every other frame, the first among them; the child ends in the frame
/// after that. A step is a frame. The items are the resumes of the N: what the
/// children cost is shared out among them.
pub(crate) struct Churn;

impl Workload for Churn {
    fn id(&self) -> &'static str {
        "W1c"
    }

    fn title(&self) -> &'static str {
        "Awake, a few start children"
    }

    fn item(&self) -> &'static str {
        Awake::IN_ORDER.item()
    }

    fn sizes(&self) -> &'static [usize] {
        Awake::IN_ORDER.sizes()
    }

    fn build(&self, system: &dyn System, size: usize) -> Option<Box<dyn World>> {
        system.churning(size)
    }

    /// Frames with starts and frames with ends alternate: as many of both.
    fn sample(&self, size: usize) -> u64 {
        Awake::IN_ORDER.sample(size).next_multiple_of(2)
    }

    fn items(&self, size: usize, longest: u64) -> Box<dyn Fn(u64) -> u64> {
        Awake::IN_ORDER.items(size, longest)
    }

    /// The children resume, too: those of the first frame in the second, and
    /// so on.
    fn resumes(&self, size: usize, items: u64) -> u64 {
        let frames = items / size as u64;
        let starting = size.div_ceil(CHURN_ONE_IN) as u64;
        items + starting * (frames / 2)
    }
}
