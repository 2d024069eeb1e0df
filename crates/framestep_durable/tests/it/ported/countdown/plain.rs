use framestep::prelude::*;
use futures::StreamExt;
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};

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

fn say(who: &str, what: &str) {
    let now = time();
    let seconds = now.elapsed.as_secs_f64();
    let frame = now.frame;
    // Before the first frame, there is no phase.
    let phase = now.phase.map_or("-".to_owned(), |phase| phase.to_string());
    println!("{seconds:>7.3}s  F{frame:04}  {phase:<12}{who:<10}{what}");
}

// The host.

#[derive(Default)]
pub(crate) struct World {
    wires: Vec<UnboundedSender<()>>,
}

pub(crate) fn begin(world: &mut World) -> Executor {
    let executor = Executor::new();
    for seconds in [3, 4] {
        let (wire, wire_cut) = mpsc::unbounded();
        world.wires.push(wire);
        executor.spawn(countdown(seconds, wire_cut));
    }
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    if frame == 14 {
        for wire in &world.wires {
            let _ = wire.unbounded_send(());
        }
    }
    executor.run_frame(0.25);
}

pub(crate) fn shown(_: &World) -> String {
    crate::ported::harness::printed(&())
}
