//! A wait that is not awaited is no wait.

#![deny(unused_must_use)]

use framestep::prelude::*;

async fn script() {
    next_frame();
    wait_frames(2);
    wait_seconds(1);
    wait_seconds_realtime(1);
    wait_until(|| true);
    timeout(1, next_frame());
    animate(1, |_| ());
    interval(1);
    frames();
    wait_while(|| true);
    fixed_update();
    end_of_frame();
    in_phase(Phase::LateUpdate);
}

fn main() {
    drop(script());
}
