//! Records frames within a memory limit.

use std::time::Duration;

use framestep::{Executor, Handle};

use super::Panel;
use super::control::Command;
use crate::model::frame::Frame;
use crate::model::warning::Slow;

/// The most changes of scripts in all frames together. Each takes about 300 bytes.
const CHANGES: usize = 300_000;
/// The most scripts in all frames together. Each takes a pointer.
const POINTERS: usize = 6_000_000;
/// After how many frames a slow poll is forgotten.
const REMEMBERED: u64 = 1800;
/// How many slow scripts are remembered.
const SLOW: usize = 256;

impl Panel {
    /// Carries out the commands of the user, and records the frame. Does nothing while the
    /// panel is closed. Call it once a frame, outside a run, even while the game is paused.
    ///
    /// An executor that has run fewer frames than the one before is a new run. The panel
    /// then reports the first frame and script in which the two runs differ.
    pub fn look(&mut self, executor: &Executor) {
        if self.is_open {
            self.look_through(&executor.handle());
        }
    }

    /// Like [`look`](Panel::look), with a handle. If the executor has been dropped, the
    /// panel keeps showing its last frames, and says so.
    pub fn look_through(&mut self, handle: &Handle) {
        if !self.is_open {
            return;
        }
        let has_orders = !self.orders.is_empty();
        for order in std::mem::take(&mut self.orders) {
            match order {
                Command::Stop(id) => handle.stop(id),
                Command::Pause(id) => handle.pause(id),
                Command::Resume(id) => handle.resume(id),
            };
        }
        if !has_orders && self.may_skip(handle) {
            self.skipped += 1;
            return;
        }
        self.skipped = 0;
        let snapshot = handle.snapshot();
        self.has_ended = snapshot.is_none();
        let Some(snapshot) = snapshot else { return };
        self.looks += 1;

        let time = snapshot.time();
        let is_new_run = self.frames.back().is_some_and(|last| {
            last.number() > time.frame || last.time.unscaled_elapsed > time.unscaled_elapsed
        });
        if is_new_run {
            self.begin_run();
        }
        let last = self.frames.back();
        let since = last.map_or(0, Frame::number);
        let mut frame = Frame::new(&snapshot, last);
        let is_again = last.is_some_and(|last| last.number() == frame.number());
        self.note_slow(&frame);
        if is_again {
            // The game stands still, or the panel looks twice. The marks of this frame
            // distinguish it from the one before.
            let last = self.frames.pop_back();
            frame.spent += last.map_or(Duration::ZERO, |last| last.spent);
        } else {
            self.runs.note(&frame, since);
        }
        self.frames.push_back(frame);
        self.listener.note_look();
        self.limit();
    }

    /// Whether this frame is left out because there are many scripts. A frame in which the
    /// game stands still is never left out.
    fn may_skip(&self, handle: &Handle) -> bool {
        let (Some(last), Some(time)) = (self.frames.back(), handle.time()) else {
            return false;
        };
        let stands = self.pace.paused && last.number() != time.frame;
        let is_new_run = time.frame < last.number();
        let enough = last.scripts.len() / self.crowd;
        !stands && !is_new_run && self.skipped < enough
    }

    fn begin_run(&mut self) {
        self.frames.clear();
        self.shown = None;
        self.slow.clear();
        self.listener.begin_run();
        self.selected = None;
        self.rows.0 = None;
        self.runs.begin();
    }

    fn note_slow(&mut self, frame: &Frame) {
        let now = frame.number();
        let before = self.frames.back();
        for &at in &frame.changed {
            let script = &frame.scripts[at as usize];
            let Some(profile) = script.profile.filter(|p| p.longest >= self.slow_limit) else {
                continue;
            };
            let was = before.and_then(|before| before.script(script.id())?.profile);
            let took = profile
                .total
                .saturating_sub(was.map_or(Duration::ZERO, |was| was.total));
            let is_new = was.is_some() || script.who.born == now;
            if took < self.slow_limit || !is_new {
                continue;
            }
            let times = self.slow.get(&script.id()).map_or(0, |slow| slow.times);
            let mut slow = Slow::new(script, now, took);
            slow.times += times;
            self.slow.insert(script.id(), slow);
        }
        if self.slow.len() > SLOW || now % 60 == 0 {
            self.slow.retain(|_, slow| slow.frame + REMEMBERED > now);
        }
        while self.slow.len() > SLOW {
            self.slow.pop_first();
        }
    }

    /// Drops the oldest frames.
    fn limit(&mut self) {
        let (mut changes, mut pointers) = (0, 0);
        let mut kept = 0;
        for frame in self.frames.iter().rev() {
            changes += frame.changed.len();
            pointers += frame.scripts.len();
            if kept > 1 && (changes > CHANGES || pointers > POINTERS) {
                break;
            }
            kept += 1;
        }
        let kept = kept.min(self.keep);
        self.frames.drain(..self.frames.len() - kept);
        let oldest = self.frames.front().map(Frame::number);
        if let (Some(shown), Some(oldest)) = (&mut self.shown, oldest) {
            *shown = oldest.max(*shown);
        }
    }

    /// Sets how many frames are kept, 600 by default. The panel keeps fewer if many
    /// scripts change in each.
    pub fn keep_frames(&mut self, count: usize) {
        self.keep = count.max(2);
    }

    /// Sets the number of scripts from which only every second frame is recorded, 2500 by
    /// default. From twice as many, it is every third frame, and so on: a look takes about
    /// half a millisecond for each thousand scripts.
    pub fn crowd(&mut self, scripts: usize) {
        self.crowd = scripts.max(1);
    }

    /// Sets the time from which a poll is slow: 4 ms by default.
    pub fn slow_limit(&mut self, limit: Duration) {
        self.slow_limit = limit;
    }

    /// Sets the time that the polls of a frame should take at most: 16.7 ms by default, a frame
    /// at 60 a second. The bar of the frames has a line there, at half of its height.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use framestep_panel::Panel;
    ///
    /// let mut panel = Panel::new();
    /// panel.set_budget(Duration::from_millis(2));
    /// assert_eq!(panel.budget(), Duration::from_millis(2));
    /// ```
    pub fn set_budget(&mut self, budget: Duration) {
        self.budget = budget.max(Duration::from_nanos(1));
    }

    /// The time that the polls of a frame should take at most.
    pub fn budget(&self) -> Duration {
        self.budget
    }

    /// The height of a frame's bar, from 0 to 1. The scale is fixed: the
    /// [budget](Panel::budget) is at a half, and twice the budget or more at the top.
    pub(crate) fn height_of(&self, spent: Duration) -> f32 {
        (spent.as_secs_f32() / self.budget.as_secs_f32() / 2.0).min(1.0)
    }

    /// Sets the time on the game clock after which the panel warns of a pause, or of a wait
    /// for an event: 10 s by default.
    pub fn patience(&mut self, patience: Duration) {
        self.patience = patience;
    }
}
