//! Whether the game stands still in new code: looked at by the worker, with its clock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use framestep_durable::__private::{Running, Watched};

/// What the loop of the game does, as the worker sees it.
#[derive(Debug)]
pub(crate) struct Pulse {
    /// How often an update has begun.
    updates: AtomicU64,
    /// The update in which code was exchanged last. 0 if none was.
    exchange: AtomicU64,
    is_in_exchange: AtomicBool,
    takes_over: AtomicBool,
    scripts: &'static Watched,
}

impl Pulse {
    /// That of a loop on this thread.
    pub(crate) fn of_this_thread() -> Self {
        Pulse {
            updates: AtomicU64::new(0),
            exchange: AtomicU64::new(0),
            is_in_exchange: AtomicBool::new(false),
            takes_over: AtomicBool::new(false),
            scripts: framestep_durable::__private::watch_this_thread(),
        }
    }

    /// An update begins.
    pub(crate) fn update(&self) {
        self.updates.fetch_add(1, Ordering::Relaxed);
    }

    /// New code is about to be loaded or run; or this process takes over the game of an earlier one.
    pub(crate) fn begin_exchange(&self, takes_over: bool) {
        let now = self.updates.load(Ordering::Relaxed);
        self.exchange.store(now, Ordering::Relaxed);
        self.takes_over.store(takes_over, Ordering::Relaxed);
        self.is_in_exchange.store(true, Ordering::Relaxed);
    }

    pub(crate) fn end_exchange(&self) {
        self.is_in_exchange.store(false, Ordering::Relaxed);
    }

    pub(crate) fn look(&self) -> Look {
        Look {
            updates: self.updates.load(Ordering::Relaxed),
            exchange: self.exchange.load(Ordering::Relaxed),
            is_in_exchange: self.is_in_exchange.load(Ordering::Relaxed),
            takes_over: self.takes_over.load(Ordering::Relaxed),
            running: self.scripts.running(),
        }
    }
}

/// What is seen at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) updates: u64,
    pub(crate) exchange: u64,
    pub(crate) is_in_exchange: bool,
    /// Whether that was no exchange: the code is that of the program.
    pub(crate) takes_over: bool,
    pub(crate) running: Option<Running>,
}

impl Look {
    /// Whether code of scripts runs, as far as can be seen. What the game itself does may last.
    fn is_in_scripts(&self) -> bool {
        self.exchange > 0 && (self.is_in_exchange || self.running.is_some())
    }

    /// Whether the loop has come no further in between, and the same poll lasts.
    fn is_still(&self, earlier: &Look) -> bool {
        let poll = |of: &Look| of.running.as_ref().map(|it| it.entered);
        let all = |of: &Look| (of.updates, of.exchange, of.is_in_exchange, poll(of));
        all(self) == all(earlier)
    }
}

/// New code that does not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hang {
    /// `None` if no script runs: the registry is made, or a destructor runs.
    pub(crate) running: Option<Running>,
    pub(crate) lasts: Duration,
    /// Whether no update has begun since an exchange: going back to before it loses nothing.
    pub(crate) is_first: bool,
    /// Whether the code is that of the program.
    pub(crate) is_of_program: bool,
}

/// Decides whether the game stands still. All times are counted from the same moment.
#[derive(Debug)]
pub(crate) struct Watchdog {
    limit: Duration,
    /// What was seen first, and when, while the same poll lasts.
    still: Option<(Look, Duration)>,
    hangs: bool,
}

/// What has changed since the look before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Hangs(Hang),
    /// The poll has ended after all, such as behind a breakpoint.
    GoesOn,
}

impl Watchdog {
    pub(crate) fn new(limit: Duration) -> Self {
        Watchdog {
            limit,
            still: None,
            hangs: false,
        }
    }

    /// Whether the game stands still.
    pub(crate) fn hangs(&self) -> bool {
        self.hangs
    }

    /// How long to wait from one look to the next.
    pub(crate) fn interval(&self) -> Duration {
        (self.limit / 4).max(Duration::from_millis(1))
    }

    pub(crate) fn look(&mut self, look: Look, now: Duration) -> Option<News> {
        let is_still = (self.still.as_ref()).is_some_and(|(earlier, _)| look.is_still(earlier));
        if !is_still {
            self.still = look.is_in_scripts().then_some((look, now));
            return std::mem::take(&mut self.hangs).then_some(News::GoesOn);
        }
        let (_, since) = self.still.as_ref()?;
        let lasts = now.saturating_sub(*since);
        if self.hangs || lasts < self.limit {
            return None;
        }
        self.hangs = true;
        Some(News::Hangs(Hang {
            is_first: look.updates <= look.exchange && !look.takes_over,
            is_of_program: look.takes_over,
            // The statement of now: the loop is somewhere in it.
            running: look.running,
            lasts,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use framestep_durable::__private::Running;

    use super::{Look, News, Watchdog};

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// In this update, an exchange was in the one before it; and in this poll.
    fn look(updates: u64, exchange: u64, poll: Option<u64>) -> Look {
        let running = |entered| Running {
            entered,
            script: "`clerk` (#1)".to_owned(),
            place: Some("src/lib.rs:9".to_owned()),
        };
        Look {
            updates,
            exchange,
            is_in_exchange: false,
            takes_over: false,
            running: poll.map(running),
        }
    }

    /// Which looks bring news, of these, one every 100 ms, with a limit of 300 ms.
    fn news(looks: Vec<Look>) -> Vec<(usize, News)> {
        let mut watchdog = Watchdog::new(at(300));
        let mut news = Vec::new();
        for (count, look) in looks.into_iter().enumerate() {
            let heard = watchdog.look(look, at(100 * u64::try_from(count).unwrap()));
            news.extend(heard.map(|heard| (count, heard)));
        }
        news
    }

    #[test]
    fn a_poll_that_lasts_after_an_exchange_hangs_once() {
        let mut looks = vec![look(7, 7, None)];
        looks.extend((0..8).map(|_| look(7, 7, Some(50))));
        looks.push(look(8, 7, Some(51)));
        let news = news(looks);
        let [(4, News::Hangs(hang)), (9, News::GoesOn)] = &*news else {
            panic!("{news:?}");
        };
        assert!(hang.is_first);
        assert_eq!(hang.lasts, at(300));
        assert_eq!(hang.running.as_ref().unwrap().script, "`clerk` (#1)");
    }

    #[test]
    fn a_poll_that_lasts_in_a_later_frame_is_not_the_first() {
        let news = news(vec![look(99, 7, Some(50)); 5]);
        let [(3, News::Hangs(hang))] = &*news else {
            panic!("{news:?}");
        };
        assert!(!hang.is_first);
    }

    #[test]
    fn a_program_that_takes_over_has_no_earlier_code() {
        let taking_over = Look {
            takes_over: true,
            ..look(1, 1, Some(50))
        };
        let news = news(vec![taking_over; 5]);
        let [(3, News::Hangs(hang))] = &*news else {
            panic!("{news:?}");
        };
        assert!(hang.is_of_program && !hang.is_first);
    }

    #[test]
    fn a_game_that_waits_outside_of_scripts_does_not_hang() {
        assert_eq!(news(vec![look(7, 7, None); 90]), []);
        // Before any exchange, a long poll is the game's own affair.
        assert_eq!(news(vec![look(7, 0, Some(50)); 90]), []);
    }

    #[test]
    fn many_short_polls_in_one_update_are_no_hang() {
        let looks = (0..90).map(|poll| look(7, 7, Some(poll)));
        assert_eq!(news(looks.collect()), []);
    }

    #[test]
    fn an_exchange_that_lasts_without_a_script_hangs() {
        let in_exchange = Look {
            is_in_exchange: true,
            ..look(7, 7, None)
        };
        let news = news(vec![in_exchange; 5]);
        assert!(matches!(&*news, [(3, News::Hangs(hang))] if hang.running.is_none()));
    }
}
