//! Nor can one be run while somebody holds on to the executor.

use framestep::{Executor, Phase};

fn main() {
    let mut executor = Executor::new();
    let borrowed = &executor;
    executor.run_phase(Phase::Update);
    borrowed.spawn(async {});
}
