//! Numbers of a node, for the facade `metrics`. Without the feature, nothing is counted.
//!
//! | name | kind | labels | what |
//! |---|---|---|---|
//! | `rooms_shards` | gauge | `part`: `runs`, `follows` | shards of this node |
//! | `rooms_open` | gauge | `shard` | rooms of a shard that this node runs |
//! | `rooms_players_here` | gauge | `shard` | players who watch |
//! | `rooms_frames_total` | counter | `shard` | frames computed, as owner or standby |
//! | `rooms_frame_seconds` | histogram | `shard` | the time of a frame, the mean of a second |
//! | `rooms_gap_seconds` | histogram | `shard` | the longest time between two frames, each second |
//! | `rooms_inputs_total` | counter | `shard` | inputs that had an effect |
//! | `rooms_refused_total` | counter | `shard`, `reason` | inputs and openings that had none |
//! | `rooms_log_seconds` | histogram | `shard` | from a tick to its reading: the lag of the log |
//! | `rooms_events_total` | counter | `event` | what the operator was told |

use std::time::Duration;

use crate::driver::ShardStatus;
use crate::shard::Refused;

/// What was counted of a shard before.
#[derive(Debug, Default)]
pub(crate) struct Metered {
    #[cfg_attr(not(feature = "metrics"), expect(dead_code, reason = "for metrics"))]
    refused: Refused,
}

impl Metered {
    /// A status of a second.
    #[cfg(feature = "metrics")]
    pub(crate) fn status(&mut self, status: &ShardStatus, inputs: u64) {
        use metrics::{counter, gauge, histogram};
        let shard = status.shard.to_string();
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let number = |number: usize| number as f64;
        counter!("rooms_frames_total", "shard" => shard.clone()).increment(status.frames);
        if status.frames > 0 {
            histogram!("rooms_frame_seconds", "shard" => shard.clone()).record(status.busy / 1e6);
            histogram!("rooms_gap_seconds", "shard" => shard.clone()).record(status.gap / 1e3);
        }
        let is_own = status.owns;
        let open = if is_own { status.rooms.len() } else { 0 };
        let here: usize = status.rooms.iter().map(|room| room.here).sum();
        gauge!("rooms_open", "shard" => shard.clone()).set(number(open));
        gauge!("rooms_players_here", "shard" => shard.clone()).set(if is_own {
            number(here)
        } else {
            0.0
        });
        let before = std::mem::replace(&mut self.refused, status.refused);
        if !is_own {
            return;
        }
        counter!("rooms_inputs_total", "shard" => shard.clone()).increment(inputs);
        for ((reason, now), (_, then)) in status
            .refused
            .by_reason()
            .into_iter()
            .zip(before.by_reason())
        {
            // A state that was loaded counts from its save on.
            let by = now.saturating_sub(then);
            counter!("rooms_refused_total", "shard" => shard.clone(), "reason" => reason)
                .increment(by);
        }
    }

    #[cfg(not(feature = "metrics"))]
    #[expect(clippy::unused_self, reason = "it is with metrics")]
    pub(crate) fn status(&mut self, _: &ShardStatus, _: u64) {}
}

/// A tick of this node was read, so long after it was appended.
pub(crate) fn log_lag(shard: u32, lag: Duration) {
    #[cfg(feature = "metrics")]
    metrics::histogram!("rooms_log_seconds", "shard" => shard.to_string())
        .record(lag.as_secs_f64());
    #[cfg(not(feature = "metrics"))]
    let _ = (shard, lag);
}

/// How many shards this node runs and follows.
pub(crate) fn parts(runs: usize, follows: usize) {
    #[cfg(feature = "metrics")]
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    {
        metrics::gauge!("rooms_shards", "part" => "runs").set(runs as f64);
        metrics::gauge!("rooms_shards", "part" => "follows").set(follows as f64);
    }
    #[cfg(not(feature = "metrics"))]
    let _ = (runs, follows);
}
