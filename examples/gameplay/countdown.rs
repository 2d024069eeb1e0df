//! A countdown that races against an event.

use framestep::prelude::*;
use futures::StreamExt;
use futures::channel::mpsc::UnboundedReceiver;

use crate::stage::say;

pub(crate) enum End {
    Cut,
    RanOut,
}

pub(crate) async fn countdown(seconds: u32, mut wire_cut: UnboundedReceiver<()>) -> End {
    for left in (1..=seconds).rev() {
        say("bomb", &format!("{left} ..."));
        // If both are ready in one poll, the upper branch wins, so a replay takes
        // the same branch.
        select! {
            Some(()) = wire_cut.next() => {
                say("bomb", "is defused");
                return End::Cut;
            }
            () = wait_seconds(1) => {}
        }
    }
    say("bomb", "goes off");
    End::RanOut
}
