//! A parameter that cannot be saved.

use std::cell::Cell;
use std::rc::Rc;

use framestep_durable::prelude::*;

#[durable]
async fn counts(count: Rc<Cell<u32>>) {
    next_frame().await;
    count.set(1);
}

fn main() {}
