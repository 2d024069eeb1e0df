//! Nothing of a lent context can be put where it outlives the closure.

use framestep::lend::{Lend, with_as};

struct Frame<'a> {
    gold: &'a mut u32,
}

enum InFrame {}

impl Lend for InFrame {
    type Of<'a> = Frame<'a>;
}

fn main() {
    let mut kept: Option<&mut u32> = None;
    with_as::<InFrame, _>(|frame| kept = Some(&mut *frame.gold));
    *kept.unwrap() += 1;
}
