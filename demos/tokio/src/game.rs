//! The script of a match.

use framestep::prelude::*;

use crate::world::{Report, Side, State};

pub(crate) const WARM_UP: f64 = 0.5;
pub(crate) const LENGTH: f64 = 1.5;
/// How long the ball takes to return to the middle.
const KICK_OFF: f64 = 0.05;

/// Counts goals until the match times out. Kicks that arrive before the whistle do not
/// count.
pub(crate) async fn play(kicks: Signal<Side>, report: Watch<Report>) {
    wait_seconds(WARM_UP).await;
    report.update(|report| report.state = State::Playing);
    let mut kicks = kicks.subscribe();
    let goals = async {
        while let Some(side) = kicks.next().await {
            report.update(|report| match side {
                Side::Left => report.left += 1,
                Side::Right => report.right += 1,
            });
            wait_seconds(KICK_OFF).await; // no kick is missed during this
        }
    };
    // It always times out, because the room keeps the signal.
    let _ = timeout(LENGTH, goals).await;
    report.update(|report| report.state = State::Over);
}
