//! When a node saves, and which saves are of this log.

use std::time::Duration;

use super::{Command, Fold, Role, Rules, Settings};
use crate::event::ServerEvent;

/// What a role knows of the saves of its shard.
#[derive(Debug, Default)]
pub(super) struct Saving {
    /// The entry of the save that is being stored.
    under_way: Option<u64>,
    /// A save of an entry that was not read yet, and how often the log had nothing more since.
    beyond: Option<(u64, u8)>,
    saved_at: Duration,
    /// The entry of the last save, 0 for none.
    saved: u64,
    /// Saves of this entry or later ones are not of this log.
    not_of_this_log: Option<u64>,
    /// A save was asked for.
    is_wanted: bool,
}

impl Saving {
    /// A state was loaded, from a save at an entry or without one.
    pub(super) fn begin(&mut self, now: Duration, saved: u64) {
        self.beyond = None;
        self.under_way = None;
        self.saved = saved;
        self.saved_at = now;
    }

    /// Whether the state after an entry is saved.
    pub(super) fn has(&self, at: u64) -> bool {
        self.under_way.is_none() && self.saved == at
    }

    /// Whether a save was stored since it was asked for.
    pub(super) fn has_saved(&self) -> bool {
        !self.is_wanted && self.under_way.is_none() && self.saved > 0
    }

    pub(super) fn ask(&mut self) {
        self.is_wanted = true;
    }

    /// The save at this entry is not of this log.
    pub(super) fn reject(&mut self, at: u64) {
        self.not_of_this_log = Some(at);
    }

    /// A tick was taken. From here on, saves of this log are of later entries than a wrong one, and
    /// replace it anyway.
    pub(super) fn passed(&mut self, at: u64) {
        if self.not_of_this_log.is_some_and(|seq| at > seq) {
            self.not_of_this_log = None;
        }
    }

    /// The log has nothing more. A save of a later entry is of a log that was cut back. The first time
    /// does not count: what is said then may be older than the save.
    pub(super) fn look_beyond(&mut self, now: Duration, read: u64, settings: &Settings) {
        match &mut self.beyond {
            Some((newest, _)) if *newest <= read => self.beyond = None,
            Some((newest, times)) => {
                *times += 1;
                if *times > 1 {
                    self.not_of_this_log = Some(*newest);
                    self.beyond = None;
                    self.again(now, settings);
                }
            }
            None => {}
        }
    }

    /// The last save was not stored. The next one is due soon.
    fn again(&mut self, now: Duration, settings: &Settings) {
        self.saved = 0;
        let wait = settings
            .snapshot_interval
            .saturating_sub(settings.failover_timeout);
        self.saved_at = now.saturating_sub(wait);
    }
}

impl<R: Rules> Role<R> {
    /// A save was stored, or there is a newer one.
    pub(super) fn stored(
        &mut self,
        at: u64,
        needed: Option<u64>,
        newest: u64,
        out: &mut Vec<Command>,
    ) {
        if self.saving.under_way != Some(at) {
            return;
        }
        self.saving.under_way = None;
        self.saving.beyond = (newest > self.follow.read.max(at)).then_some((newest, 0));
        // Only now does a save exist that needs none of the entries before it.
        if let Some(before) = self.rules.trims(needed) {
            out.push(Command::Trim { before });
        }
    }

    pub(super) fn not_stored(&mut self, now: Duration, at: u64) {
        if self.saving.under_way == Some(at) {
            self.saving.under_way = None;
            self.saving.again(now, &self.settings);
        }
    }

    /// Whether it is time for this node to save the state after the last tick.
    fn is_to_save(&self, now: Duration, rank: Option<usize>) -> bool {
        let (saving, settings) = (&self.saving, &self.settings);
        let is_new = saving.under_way.is_none() && self.at.seq > saving.saved;
        if !self.has_state || self.follow.is_checking() || !is_new {
            return false;
        }
        let is_time = saving.is_wanted || now >= saving.saved_at + settings.snapshot_interval;
        let is_regular = self.ticked_last() && is_time;
        // The build that comes needs it; another standby stores it if the owner does not.
        let wait = settings.failover_timeout * u32::try_from(rank.unwrap_or(0)).unwrap_or(8).min(8);
        let is_silent = now >= self.ticking.heard_at + settings.failover_timeout + wait;
        let is_last =
            self.at.hands_over && self.at.build == self.build && (self.ticked_last() || is_silent);
        // It leaves, and may be the last one.
        let is_pause_over =
            self.ticking.is_finishing || now >= saving.saved_at + settings.failover_timeout;
        let is_leaving = self.ticked_last() && rank.is_none() && is_pause_over;
        is_regular || is_last || is_leaving
    }

    /// Saves, if it is time for this node to do that.
    pub(super) fn save(
        &mut self,
        now: Duration,
        rank: Option<usize>,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        // A save is of the state after `at`: if that frame trails, it is tried and computed first.
        if !self.is_to_save(now, rank) || !self.settle(now, fold, out) {
            return;
        }
        self.saving.saved_at = now;
        match fold.save() {
            Ok(state) => {
                self.saving.under_way = Some(self.at.seq);
                self.saving.is_wanted = false;
                self.saving.saved = self.at.seq;
                if let Some(before) = self.rules.trims_early(self.at.seq) {
                    out.push(Command::Trim { before });
                }
                out.push(Command::Save {
                    at: self.at.clone(),
                    state,
                    not_of_this_log: self.saving.not_of_this_log,
                });
            }
            Err(why) => out.push(Command::Note(ServerEvent::NotSaved {
                frame: self.at.frame,
                why,
            })),
        }
    }
}
