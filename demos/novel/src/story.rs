//! The story. A scene is a chapter, so the journal is emptied after each scene.

use std::time::Duration;

use framestep_durable::prelude::*;

use crate::stage::Stage;

/// The player pressed Enter.
pub(crate) const ENTER: Signal<()> = signal("enter");

/// A question to the player. The answer is the number of an option, from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Choice {
    pub(crate) options: Vec<String>,
}

impl Request for Choice {
    const NAME: &'static str = "choice";
    type Answer = usize;
}

/// The scenes.
#[durable(name = "story")]
pub(crate) mod scenes {
    use framestep_durable::prelude::*;

    use super::{choose, say, tell};
    use crate::fight::{fight, torch};
    use crate::stage::Stage;

    #[chapter]
    pub(crate) async fn gate() -> Chapter {
        say("It rains. The gate of the castle is closed, and somebody sings behind it.").await;
        let is_guest = choose(["Knock", "Climb over the wall"]).await == 0;
        if is_guest {
            say("Ann: Who is there? Nobody comes here in the rain.").await;
            say("She opens. She has a lamp, and no fear at all.").await;
        } else {
            say("The wall is wet. You fall into a bed of roses.").await;
            say("Ann: These were the last ones.").await;
        }
        Chapter::Next(hall(is_guest))
    }

    #[chapter]
    async fn hall(is_guest: bool) -> Chapter {
        say("Ann: There is a dragon in our cave. It sleeps for an hour at most.").await;
        if !is_guest {
            say("Ann: You owe me roses. Here is a torch.").await;
            return Chapter::Next(cave(false));
        }
        say("Ann: Take this torch. And a rope, if you want one; it is heavy.").await;
        let has_rope = choose(["Take the rope", "Leave it"]).await == 0;
        Chapter::Next(cave(has_rope))
    }

    #[chapter]
    async fn cave(has_rope: bool) {
        say("The dragon wakes. Press Enter when it breathes in, and when its belly is bare.").await;
        let torch = start(torch(20));
        let fight = start(fight(3, 2));
        let (torch_id, fight_id) = (torch.id(), fight.id());
        let is_won = select! {
            won = fight => won.unwrap_or(false),
            _ = torch => {
                tell("The torch is out. You see nothing but two eyes.");
                false
            }
        };
        stop(torch_id);
        stop(fight_id);
        match (is_won, has_rope) {
            (true, true) => say("You tie it up, and it follows you home. The End.").await,
            (true, false) => say("It flies away, and leaves a rose. The End.").await,
            (false, _) => say("You run. Ann has left the gate open. The End.").await,
        }
        with(|stage: &mut Stage| stage.is_over = true);
    }
}

/// Types a line, then waits for Enter. Enter before the end shows the rest.
pub(crate) async fn say(line: &'static str) {
    let (from, to) = with(move |stage: &mut Stage| stage.add(line));
    // Only the end of an animation is recorded. A loop with a wait for each letter would add an
    // entry to the journal for each.
    let typing = animate(seconds_of(line), move |share| {
        with(|stage: &mut Stage| {
            stage.type_share(from, to, share);
        });
    });
    select! {
        _ = typing => {}
        _ = ENTER.wait() => with(move |stage: &mut Stage| stage.visible = to),
    }
    ENTER.wait().await;
}

/// How long the typing of a line takes.
fn seconds_of(line: &str) -> Duration {
    line.chars().map(|_| Duration::from_millis(30)).sum()
}

/// Shows a line at once, without a wait.
pub(crate) fn tell(line: impl Into<String>) {
    let line = line.into();
    with(move |stage: &mut Stage| stage.visible = stage.add(&line).1);
}

pub(crate) async fn choose<const N: usize>(options: [&'static str; N]) -> usize {
    ask(move || Choice {
        options: options.map(str::to_owned).to_vec(),
    })
    .await
}
