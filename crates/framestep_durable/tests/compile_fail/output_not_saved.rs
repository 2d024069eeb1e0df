//! An output that cannot be saved.

use std::cell::Cell;
use std::rc::Rc;

use framestep_durable::prelude::*;

#[durable]
async fn counts() -> Rc<Cell<u32>> {
    next_frame().await;
    Rc::default()
}

fn main() {}
