//! A closure cannot take a lent context for one that lives as long as it likes.

use framestep::lend::{Lend, with_as};

struct Frame<'a> {
    gold: &'a mut u32,
}

enum InFrame {}

impl Lend for InFrame {
    type Of<'a> = Frame<'a>;
}

fn keep(_: &mut Frame<'static>) {}

fn main() {
    with_as::<InFrame, _>(|frame| keep(frame));
}
