//! A coroutine cannot hold the executor that runs it.

use framestep::Executor;

fn main() {
    let mut executor = Executor::new();
    executor.handle().spawn(async {
        executor.run_frame(0.25);
    });
}
