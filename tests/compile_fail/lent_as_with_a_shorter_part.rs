//! A closure cannot put something into a lent context that may not live as long.

use framestep::lend::{Lend, with_as};

struct Frame<'a> {
    gold: &'a mut u32,
}

enum InFrame {}

impl Lend for InFrame {
    type Of<'a> = Frame<'a>;
}

fn main() {
    let mut gold = 5;
    with_as::<InFrame, _>(|frame| frame.gold = &mut gold);
}
