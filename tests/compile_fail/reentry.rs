//! A frame cannot be run from inside the executor: `run_frame` needs it alone.

use framestep::Executor;

fn main() {
    let mut executor = Executor::new();
    executor.enter(|| executor.run_frame(0.25));
}
