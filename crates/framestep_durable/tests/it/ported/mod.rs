//! Plain scripts of the guide and the examples, and the same scripts durable.
//!
//! Each folder has a script as it stands in the project, `plain.rs`, and its port, `durable.rs`.
//! Below the line `// The host.` is the code that drives it. A test plays both, and compares what
//! is to be seen after each frame; and saves, loads and rolls back the port at every frame. The
//! other tests have most waits alone; here are those that meet only in a whole game.

#![allow(
    clippy::float_cmp,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_semicolon,
    clippy::unused_self,
    reason = "the originals stay as they are"
)]

/// Scripts that print are tested by what they print.
macro_rules! println {
    ($($text:tt)*) => {
        $crate::ported::harness::keep(format!($($text)*))
    };
}

mod harness;

harness::ports! {
    // A state that grows by the lengths of fixed steps, in a local variable that helpers borrow.
    guard: 30;
    // A host with a loop of its own, two states that it lends, and a phase of its own.
    own_loop: 70;
    // Conditions that read the lent world, and a start in the middle of a `with`.
    shared_world: 20;
    // Waits on three clocks, while a script holds guards of two of them.
    slow_motion: 36;
    // A race of handles that stop the losers, a join of handles, and the text of a timeout.
    timeouts: 40;
    // A filter of a signal that reads the lent world.
    turn_queue: 15;
}
