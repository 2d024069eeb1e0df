//! What is told at once, and while it lasts once in a while.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// How often an operator is told what lasts.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// When each of some things was told last.
#[derive(Debug)]
pub(crate) struct Reminders<K> {
    pause: Duration,
    told: BTreeMap<K, Instant>,
    /// With so many, those are dropped that are due anyway.
    clean_at: usize,
}

impl<K: Ord> Reminders<K> {
    pub(crate) fn every(pause: Duration) -> Self {
        Reminders {
            pause,
            told: BTreeMap::new(),
            clean_at: 16,
        }
    }

    /// Whether it is to be told now. What is not due keeps its time: it is told again once that is over,
    /// however often it was asked for.
    pub(crate) fn is_due(&mut self, what: K) -> bool {
        let pause = self.pause;
        if self.told.get(&what).is_some_and(|at| at.elapsed() < pause) {
            return false;
        }
        if self.told.len() >= self.clean_at {
            self.told.retain(|_, at| at.elapsed() < pause);
            self.clean_at = self.told.len() * 2 + 16;
        }
        self.told.insert(what, Instant::now());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn what_lasts_is_told_at_once_and_then_once_in_each_pause_however_often_it_happens() {
        let mut reminders = Reminders::every(MINUTE);
        let mut told = Vec::new();
        for second in 0..200 {
            if reminders.is_due("a view") {
                told.push(second);
            }
            assert_eq!(reminders.is_due("another"), second % 60 == 0);
            advance(Duration::from_secs(1)).await;
        }
        assert_eq!(told, [0, 60, 120, 180]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_due_again_is_not_kept() {
        let mut reminders = Reminders::every(MINUTE);
        for number in 0..10_000 {
            assert!(reminders.is_due(number));
            advance(Duration::from_secs(1)).await;
        }
        assert!(reminders.told.len() < 150, "{}", reminders.told.len());
    }
}
