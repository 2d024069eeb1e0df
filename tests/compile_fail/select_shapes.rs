//! What `select!` says to branches of another shape.

use framestep::prelude::*;

async fn script() {
    select! {}
    select! {
        _ = next_frame(),
        _ = wait_seconds(1) => {}
    }
    select! {
        _ = next_frame() => {}
        complete => {}
    }
    select! {
        else => {}
        _ = next_frame() => {}
    }
    select! {
        _ = next_frame(), if 1 => {}
    }
}

fn main() {
    drop(script());
}
