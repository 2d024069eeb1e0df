use std::time::Duration;

use framestep_durable::prelude::*;

use crate::ported::harness::note;

/// Like `yield return StartCoroutine(..)`: each `start(..).await` waits for a
/// nested script, and resumes in the frame in which that script ends.
#[durable]
pub(crate) async fn intro() -> Result<(), JoinError> {
    say("cutscene", "fades in");
    // Two scripts at the same time: both are started, then each is awaited.
    let camera = start(pan(Duration::from_millis(1500)));
    start(dialogue()).await?;
    camera.await?;
    say("cutscene", "fades out");
    Ok(())
}

#[durable]
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
#[durable]
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
    note!("{seconds:>7.3}s  F{frame:04}  {phase:<12}{who:<10}{what}");
}

// The host.

pub(crate) use crate::twin::Log as World;

pub(crate) fn blank() -> Runtime {
    Runtime::new(
        Registry::new()
            .with::<Intro>()
            .with::<Dialogue>()
            .with::<Pan>(),
    )
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(intro()).detach();
}

pub(crate) fn frame(_: u32, runtime: &mut Runtime, world: &mut World) {
    runtime.run_frame_with(world, 0.125);
}

pub(crate) use crate::ported::harness::lines as shown;
