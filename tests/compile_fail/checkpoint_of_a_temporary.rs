//! A checkpoint borrows its budget, which a chain of calls does not keep.

use framestep::prelude::*;

async fn search() {
    let turn = Budget::new(0.002).checkpoint();
    turn.await;
}

fn main() {
    drop(search());
}
