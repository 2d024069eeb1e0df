use std::time::Duration;

use framestep::prelude::*;

/// Like `yield return StartCoroutine(..)`: each `start(..).await` waits for a
/// nested script, and resumes in the frame in which that script ends.
pub(crate) async fn intro() -> Result<(), JoinError> {
    say("cutscene", "fades in");
    // Two scripts at the same time: both are started, then each is awaited.
    let camera = start(pan(Duration::from_millis(1500)));
    start(dialogue()).await?;
    camera.await?;
    say("cutscene", "fades out");
    Ok(())
}

async fn dialogue() {
    // A plain await is enough for a script that is not stopped or joined
    // separately.
    line("It has been quiet at the mill.", 1.0).await;
    line("Too quiet.", 0.75).await;
}

async fn line(text: &str, seconds: f32) {
    say("narrator", text);
    wait_seconds(seconds).await;
}

/// Moves the camera in the late update, after the objects that it shows have moved.
async fn pan(length: Duration) {
    say("camera", "pans over the valley");
    let mut panned = Duration::ZERO;
    while panned < length {
        next_frame().in_phase(Phase::LateUpdate).await;
        panned += time().delta;
    }
    say("camera", "rests on the mill");
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

pub(crate) type World = ();

pub(crate) fn begin((): &mut World) -> Executor {
    let executor = Executor::new();
    executor.spawn(intro());
    executor
}

pub(crate) fn frame(_: u32, executor: &mut Executor, (): &mut World) {
    executor.run_frame(0.125);
}

pub(crate) use crate::ported::harness::printed as shown;
