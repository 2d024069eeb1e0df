//! The fight with the dragon: it continues without input, while a torch burns down.

use framestep_durable::prelude::*;

use crate::story::{ENTER, tell};

/// An exchange of blows.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Fight {
    dragon: u8,
    hearts: u8,
}

impl Fight {
    pub(crate) fn new() -> Self {
        Fight {
            dragon: 3,
            hearts: 2,
        }
    }
}

impl DurableScript for Fight {
    const NAME: &'static str = "fight";
    /// Whether the player has won.
    type Output = bool;

    async fn run(self) -> Chapter<Self> {
        let Fight { dragon, hearts } = self;
        // It gets angry.
        let haste = if dragon == 1 { 2.0 } else { 1.0 };
        wait_seconds(1.0 / haste).await;
        tell(format!("(you {hearts}, dragon {dragon}) It breathes in."));
        let dodges = timeout(1.5 / haste, ENTER.wait()).await.is_ok();
        tell(if dodges {
            "You jump aside."
        } else {
            "It burns!"
        });
        let hearts = if dodges { hearts } else { hearts - 1 };
        if hearts == 0 {
            return Chapter::Done(false);
        }
        wait_seconds(0.5).await;
        tell("Its belly is bare.");
        let hits = timeout(1.5 / haste, ENTER.wait()).await.is_ok();
        tell(if hits { "A hit!" } else { "It turns around." });
        match dragon - u8::from(hits) {
            0 => Chapter::Done(true),
            dragon => Chapter::Next(Fight { dragon, hearts }),
        }
    }
}

/// The torch: it announces the seconds that are left.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Torch {
    pub(crate) seconds: u32,
}

impl DurableScript for Torch {
    const NAME: &'static str = "torch";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_seconds(5).await;
        match self.seconds.saturating_sub(5) {
            0 => Chapter::Done(()),
            seconds => {
                tell(format!("The torch flickers: {seconds} seconds."));
                Chapter::Next(Torch { seconds })
            }
        }
    }
}
