//! Animations of durable scripts, which a recorder keeps.

use std::task::{Context, Poll};
use std::time::Duration;

use crate::core::scope::Scope;
use crate::durable::{Asks, DurableWait, Progress};
use crate::time::PhaseIndex;
use crate::wait::{PhaseWait, polled, wait_seconds};

/// An animation that a recorder has.
#[derive(Debug)]
pub(crate) struct KeptAnimation {
    /// `None` if it never ends.
    length_ns: Option<u64>,
    /// The phase, until it has begun.
    phase: PhaseIndex,
    elapsed_ns: u64,
    /// The next call and the last one, once it has begun.
    waits: Option<(DurableWait, Option<DurableWait>)>,
}

impl KeptAnimation {
    /// One that has not begun.
    pub(super) fn new(length_ns: Option<u64>, phase: PhaseIndex) -> Self {
        KeptAnimation {
            length_ns,
            phase,
            elapsed_ns: 0,
            waits: None,
        }
    }

    /// One from an image, with what [`progress`](Self::progress) has returned.
    pub(crate) fn loaded(next: DurableWait, end: Option<DurableWait>, progress: Progress) -> Self {
        KeptAnimation {
            length_ns: end.is_some().then_some(progress.length_ns),
            phase: PhaseIndex::new(next.phase()),
            elapsed_ns: progress.elapsed_ns,
            waits: Some((next, end)),
        }
    }

    /// How far it is.
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            elapsed_ns: self.elapsed_ns,
            shown_ns: None,
            length_ns: self.length_ns.unwrap_or(0),
        }
    }

    /// How far it is in a call after another one, which had shown `shown_ns`.
    fn progress_after(&self, shown_ns: u64) -> Progress {
        Progress {
            shown_ns: Some(shown_ns),
            ..self.progress()
        }
    }

    /// The wait for the next call, and that for the last one, if it has begun.
    pub(crate) fn waits(&self) -> Option<(&DurableWait, Option<&DurableWait>)> {
        let (next, end) = self.waits.as_ref()?;
        Some((next, end.as_ref()))
    }

    /// Polls it as [`Animation`](super::Animation) is polled outside of a recorder.
    #[track_caller]
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        name: &'static str,
        asks: Asks<'_>,
    ) -> Poll<()> {
        if self.waits.is_none() {
            self.begin(name);
            asks(self.progress());
        }
        loop {
            let Some((next, end)) = &mut self.waits else {
                return Poll::Pending;
            };
            let is_next = next.poll(cx, name).is_ready();
            if let Some(end) = end {
                if end.poll(cx, name).is_ready() {
                    let shown_ns = std::mem::replace(&mut self.elapsed_ns, Progress::END);
                    asks(self.progress_after(shown_ns));
                    return Poll::Ready(());
                }
            }
            if !is_next {
                return Poll::Pending;
            }
            let shown_ns = self.elapsed_ns;
            if let Some(end) = end {
                let length_ns = self.length_ns.unwrap_or(0);
                let elapsed_ns = length_ns.saturating_sub(end.left_ns());
                self.elapsed_ns = self.elapsed_ns.max(elapsed_ns);
            }
            *next = PhaseWait::later(self.phase).into();
            asks(self.progress_after(shown_ns));
        }
    }

    #[track_caller]
    fn begin(&mut self, name: &'static str) {
        if self.phase == PhaseIndex::HOME {
            self.phase = polled(name, |scope: &Scope<'_>| scope.home());
        }
        let phase = self.phase.phase();
        let end =
            |ns| DurableWait::from(wait_seconds(Duration::from_nanos(ns)).in_phase(phase).timer);
        let next = PhaseWait::later(self.phase).into();
        self.waits = Some((next, self.length_ns.map(end)));
    }
}
