//! A countdown that races against an event.

use framestep::prelude::*;
use futures::channel::mpsc::UnboundedReceiver;
use futures::{StreamExt, select_biased};

use crate::stage::say;

pub(crate) enum End {
    Cut,
    RanOut,
}

pub(crate) async fn countdown(seconds: u32, mut wire_cut: UnboundedReceiver<()>) -> End {
    for left in (1..=seconds).rev() {
        say("bomb", &format!("{left} ..."));
        // The plain `select!` tosses a coin when both are ready. This one goes by
        // the order of the lines, so that every replay ends the same way.
        select_biased! {
            () = wire_cut.select_next_some() => {
                say("bomb", "is defused");
                return End::Cut;
            }
            () = wait_seconds(1) => {}
        }
    }
    say("bomb", "goes off");
    End::RanOut
}
