//! An enemy that is stopped in the middle of its script, and one who hears of it.

use framestep::prelude::*;

use crate::stage::say;

pub(crate) async fn ogre() {
    let _club = Club::raise();
    loop {
        wait_seconds(0.5).await;
        say("ogre", "swings");
    }
}

/// The cleanup of the script: a destructor runs wherever the script is stopped.
struct Club;

impl Club {
    fn raise() -> Self {
        say("ogre", "raises its club");
        Club
    }
}

impl Drop for Club {
    fn drop(&mut self) {
        say("ogre", "drops its club");
    }
}

/// Waits for the end of the ogre: it is told when there is no result to come.
pub(crate) async fn crow(ogre: Coroutine<()>) {
    match ogre.await {
        Ok(()) => say("crow", "saw the ogre leave"),
        Err(error) => say("crow", &format!("caws: {error}")),
    }
}
