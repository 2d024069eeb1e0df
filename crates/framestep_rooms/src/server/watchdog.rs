//! The watchdog: ends the process if a room hangs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::node::{Node, lock};
use crate::event::ServerEvent;

/// What a thread runs, for the watchdog.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    /// Whether anything runs.
    runs: AtomicBool,
    /// How many frames of rooms were begun.
    frames: AtomicU64,
    what: Mutex<(u32, u64, String)>,
}

impl Alarm {
    pub(crate) fn begin(&self) {
        self.runs.store(true, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.runs.store(false, Ordering::Relaxed);
    }

    /// A room is run next.
    pub(crate) fn name(&self, shard: u32, frame: u64, room: &str) {
        self.frames.fetch_add(1, Ordering::Relaxed);
        let mut what = lock(&self.what);
        (what.0, what.1) = (shard, frame);
        what.2.clear();
        what.2.push_str(room);
    }
}

/// Ends the process if a room hangs.
pub(super) struct Watchdog {
    _ends: std::sync::mpsc::Sender<()>,
}

impl Watchdog {
    pub(super) fn start(node: &Arc<Node>) -> std::io::Result<Self> {
        let (sender, ends) = std::sync::mpsc::channel::<()>();
        let node = node.clone();
        let pause = (node.options.watchdog_timeout / 4).max(Duration::from_millis(10));
        thread::Builder::new()
            .name("rooms-watchdog".to_owned())
            .spawn(move || {
                // Of each thread: the room that it was running, and since when.
                let mut seen = vec![(0, Instant::now()); node.alarms.len()];
                while ends.recv_timeout(pause) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                    for (alarm, seen) in node.alarms.iter().zip(&mut seen) {
                        let frames = alarm.frames.load(Ordering::Relaxed);
                        let is_idle = !alarm.runs.load(Ordering::Relaxed);
                        if is_idle || frames != seen.0 {
                            *seen = (frames, Instant::now());
                        } else if seen.1.elapsed() >= node.options.watchdog_timeout {
                            let (shard, frame, room) = lock(&alarm.what).clone();
                            node.tell_of_room(shard, &room, ServerEvent::RoomHangs { frame });
                            std::process::abort();
                        }
                    }
                }
            })?;
        Ok(Watchdog { _ends: sender })
    }
}
