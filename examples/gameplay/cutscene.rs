//! A cutscene of nested scripts.

use std::time::Duration;

use framestep::prelude::*;

use crate::stage::say;

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
