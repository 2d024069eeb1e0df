use framestep_durable::prelude::*;

use crate::ported::harness::note;

const WIRE_CUT: Signal<()> = Signal::new("wire cut");

#[derive(Serialize, Deserialize)]
pub(crate) enum End {
    Cut,
    RanOut,
}

#[durable]
pub(crate) async fn countdown(seconds: u32) -> End {
    for left in (1..=seconds).rev() {
        say("bomb", &format!("{left} ..."));
        // If both are ready in one poll, the upper branch wins, so a replay takes
        // the same branch.
        select! {
            () = WIRE_CUT.wait() => {
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
    note!("{seconds:>7.3}s  F{frame:04}  {phase:<12}{who:<10}{what}");
}

// The host.

pub(crate) use crate::twin::Log as World;

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Countdown>())
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    for seconds in [3, 4] {
        runtime.spawn(countdown(seconds)).detach();
    }
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    if frame == 14 {
        runtime.emit(&WIRE_CUT, ());
    }
    runtime.run_frame_with(world, 0.25);
}

pub(crate) use crate::ported::harness::lines as shown;
