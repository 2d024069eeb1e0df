//! A cutscene of nested scripts.

use std::time::Duration;

use framestep::prelude::*;

use crate::stage::say;

/// Like `yield return StartCoroutine(..)`: each `start(..).await` waits for a
/// script within a script, and goes on in the frame in which that ends.
pub(crate) async fn intro() -> Result<(), JoinError> {
    say("cutscene", "fades in");
    // Two at the same time: started together, awaited one after the other.
    let camera = start(pan(Duration::from_millis(1500)));
    start(dialogue()).await?;
    camera.await?;
    say("cutscene", "fades out");
    Ok(())
}

async fn dialogue() {
    // A plain call is enough for what nobody has to stop or to watch.
    line("It has been quiet at the mill.", 1.0).await;
    line("Too quiet.", 0.75).await;
}

async fn line(text: &str, seconds: f32) {
    say("narrator", text);
    wait_seconds(seconds).await;
}

/// Moves the camera in the late update: after all that it looks at has moved.
async fn pan(length: Duration) {
    say("camera", "pans over the valley");
    let mut panned = Duration::ZERO;
    while panned < length {
        next_frame().in_phase(Phase::LateUpdate).await;
        panned += time().delta;
    }
    say("camera", "rests on the mill");
}
