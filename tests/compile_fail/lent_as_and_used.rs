//! The host cannot use what a lent context borrows before the lending is over.

use framestep::Executor;
use framestep::lend::Lend;

struct Frame<'a> {
    gold: &'a mut u32,
}

enum InFrame {}

impl Lend for InFrame {
    type Of<'a> = Frame<'a>;
}

fn main() {
    let mut gold = 5;
    let mut frame = Frame { gold: &mut gold };
    Executor::new().lend_as::<InFrame, _>(&mut frame, |executor| {
        executor.run_frame(0.25);
        gold += 1;
    });
    *frame.gold += 1;
}
