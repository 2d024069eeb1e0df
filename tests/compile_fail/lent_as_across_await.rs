//! A part of a lent context cannot be kept across an await.

use framestep::prelude::*;
use framestep::lend::{Lend, with_as};

struct Frame<'a> {
    gold: &'a mut u32,
}

enum InFrame {}

impl Lend for InFrame {
    type Of<'a> = Frame<'a>;
}

async fn dig() {
    let gold = with_as::<InFrame, _>(|frame| &mut *frame.gold);
    next_frame().await;
    *gold += 1;
}

fn main() {
    Executor::new().spawn(dig());
}
