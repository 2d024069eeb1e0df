//! A coroutine cannot take a part of a lent context with it.

use framestep::prelude::*;
use framestep::lend::{Lend, with_as};

struct Frame<'a> {
    gold: &'a mut u32,
}

enum InFrame {}

impl Lend for InFrame {
    type Of<'a> = Frame<'a>;
}

fn main() {
    with_as::<InFrame, _>(|frame| {
        let gold = &mut *frame.gold;
        spawn(async move { *gold += 1 });
    });
}
