//! The parts of two lent contexts cannot be swapped: their lifetimes may differ.

use framestep::lend::{Lend, with_as};

struct Frame<'a> {
    gold: &'a mut u32,
}

enum InFrame {}

impl Lend for InFrame {
    type Of<'a> = Frame<'a>;
}

enum InOther {}

impl Lend for InOther {
    type Of<'a> = Frame<'a>;
}

fn main() {
    with_as::<InFrame, _>(|frame| {
        with_as::<InOther, _>(|other| std::mem::swap(frame, other));
    });
}
