//! A wait stays on the thread of its executor, where dropping it cancels it.

use framestep::prelude::*;

fn on_another_thread<W: Send>(_wait: W) {}

fn main() {
    on_another_thread(next_frame());
}
