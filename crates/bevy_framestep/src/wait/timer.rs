//! Timers of Bevy.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bevy_time::{Timer, TimerMode};
use framestep::wait::WaitSeconds;
use framestep::{Phase, time, wait_seconds};
use futures::future::FusedFuture;

/// Waits until a timer of Bevy finishes, and ticks it on the clock of the script. A repeating
/// timer is ticked up to its next end, and can be waited for again.
///
/// No system must tick the timer as well. For a timer in a component that a system ticks, use
/// [`wait_until`](crate::ScriptEntity::wait_until):
/// `gun.wait_until(|cooldown: &Cooldown| cooldown.0.is_finished())`.
///
/// It returns at once if the timer does not repeat and has finished. It never returns while
/// the timer is paused.
///
/// # Resumes
///
/// In the home phase of the script, in the first later frame at or past the end of the timer.
/// With [`in_phase`](WaitForTimer::in_phase), in another phase.
///
/// # Cancel safety
///
/// Dropping it leaves the timer as it was.
///
/// # Examples
///
/// ```
/// use bevy_framestep::prelude::*;
/// use bevy_time::{Timer, TimerMode};
///
/// async fn shoot() {
///     let mut cooldown = Timer::from_seconds(0.25, TimerMode::Repeating);
///     loop {
///         wait_for_timer(&mut cooldown).await;
///         println!("{} shots", cooldown.times_finished_this_tick());
///     }
/// }
/// ```
pub fn wait_for_timer(timer: &mut Timer) -> WaitForTimer<'_> {
    WaitForTimer {
        timer,
        phase: None,
        state: State::New,
    }
}

/// The future of [`wait_for_timer`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitForTimer<'a> {
    timer: &'a mut Timer,
    /// `None`: the home phase.
    phase: Option<Phase>,
    state: State,
}

enum State {
    New,
    /// The timer was paused when the wait began.
    Never,
    Waits {
        /// When that was, on the clock of the script.
        begun: Duration,
        wait: WaitSeconds,
    },
    Done,
}

impl WaitForTimer<'_> {
    /// Resumes in `phase`, as [`WaitSeconds::in_phase`] says.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            matches!(self.state, State::New),
            "`in_phase` was called on a wait that has begun"
        );
        self.phase = Some(phase);
        self
    }

    fn begin(&self) -> State {
        if self.timer.mode() == TimerMode::Once && self.timer.is_finished() {
            return State::Done;
        }
        if self.timer.is_paused() {
            return State::Never;
        }
        let wait = wait_seconds(self.timer.remaining());
        State::Waits {
            begun: time().elapsed,
            wait: match self.phase {
                Some(phase) => wait.in_phase(phase),
                None => wait,
            },
        }
    }
}

impl Future for WaitForTimer<'_> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let State::New = this.state {
            this.state = this.begin();
            if let State::Done = this.state {
                return Poll::Ready(());
            }
        }
        match &mut this.state {
            State::Waits { begun, wait } => {
                ready!(Pin::new(wait).poll(cx));
                let passed = time().elapsed.saturating_sub(*begun);
                // Fixed steps have their own time, which can be behind.
                this.timer.tick(passed.max(this.timer.remaining()));
                this.state = State::Done;
                Poll::Ready(())
            }
            State::New | State::Never => Poll::Pending,
            State::Done => panic!("`wait_for_timer` was polled after it had ended"),
        }
    }
}

impl FusedFuture for WaitForTimer<'_> {
    fn is_terminated(&self) -> bool {
        matches!(self.state, State::Done)
    }
}

impl fmt::Debug for WaitForTimer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitForTimer")
            .field("timer", &self.timer)
            .field("done", &self.is_terminated())
            .finish_non_exhaustive()
    }
}
