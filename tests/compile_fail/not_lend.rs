//! A context with lifetimes is lent and borrowed by the name that implements `Lend`.

use framestep::Executor;

struct Frame<'a> {
    gold: &'a mut u32,
}

fn main() {
    let mut gold = 0;
    let mut frame = Frame { gold: &mut gold };
    Executor::new().lend_as::<Frame<'static>, _>(&mut frame, |executor| executor.run_frame(0.25));
}
