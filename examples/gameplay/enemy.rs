//! An enemy whose script is stopped, and a crow that joins the script.

use framestep::prelude::*;

use crate::stage::say;

pub(crate) async fn ogre() {
    let _club = Club::raise();
    loop {
        wait_seconds(0.5).await;
        say("ogre", "swings");
    }
}

/// A guard: its destructor runs wherever the script is stopped.
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

/// Joins the ogre's script. The join returns an error if that script is stopped.
pub(crate) async fn crow(ogre: Coroutine<()>) {
    match ogre.await {
        Ok(()) => say("crow", "saw the ogre leave"),
        Err(error) => say("crow", &format!("caws: {error}")),
    }
}
