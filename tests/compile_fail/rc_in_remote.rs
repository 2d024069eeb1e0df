//! The closure of `RemoteHandle::spawn` goes to another thread.

use std::cell::Cell;
use std::rc::Rc;

use framestep::prelude::*;

fn main() {
    let remote = Executor::new().remote();
    let gold = Rc::new(Cell::new(0));
    remote.spawn(move || async move {
        wait_seconds(1).await;
        gold.set(gold.get() + 10);
    });
}
