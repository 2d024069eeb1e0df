//! The stream of every n-th frame.

use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::{DurableWait, Stream, next_item};
use framestep::wait::NextItem;
use framestep::{Phase, Time};

use crate::bytes::Bytes;
use crate::journal::Call;
use crate::script::effect::{time_now, time_of};
use crate::script::{Numbered, ScriptCell, Slot, context, expect_read};

/// Returns a stream with an item in every `count`-th frame, counted from the frame of the first poll.
/// 0 counts as 1. See [`framestep::wait::every_frames`].
///
/// The items do not drift: if a script awaits the stream too late, the frames in between have no item.
/// The stream does not end.
///
/// # Resumes
///
/// Like [`wait_frames`](crate::wait_frames): in the home phase of the frame, or in another phase with
/// [`in_phase`](EveryFrames::in_phase).
///
/// # Output
///
/// The clocks as they read in each frame.
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing.
///
/// # Panics
///
/// If polled outside of an executor, or inside of a [`with`](crate::with()).
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn looks() -> Vec<u64> {
///     let (mut looks, mut looked) = (every_frames(3), Vec::new());
///     while looked.len() < 3 {
///         looked.extend(looks.next().await.map(|time| time.frame));
///         wait_frames(looked.len() as u64).await;
///     }
///     looked
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Looks>());
/// let looks = runtime.start(looks());
/// for _ in 0..12 {
///     runtime.run_frame(0.1);
/// }
/// assert_eq!(runtime.take(looks), Some(Ok(vec![3, 6, 9])));
/// ```
///
/// # Source
///
/// [`framestep::wait::every_frames`].
pub fn every_frames(count: u64) -> EveryFrames {
    EveryFrames {
        count: count.max(1),
        phase: None,
        first: None,
        numbered: Numbered::default(),
    }
}

/// The stream of [`every_frames`].
#[derive(Debug)]
#[must_use = "streams do nothing unless they are polled"]
pub struct EveryFrames {
    count: u64,
    /// The phase, unless it is the home of the script.
    phase: Option<Phase>,
    /// The frame of the first poll.
    first: Option<u64>,
    numbered: Numbered,
}

impl EveryFrames {
    /// Yields the items in `phase`.
    ///
    /// # Panics
    ///
    /// If the stream has been polled.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            self.first.is_none(),
            "`in_phase` was called on an `every_frames()` that has begun: call it before the first \
             item is awaited"
        );
        self.phase = Some(phase);
        self
    }

    /// Waits for the next item. Dropping the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        next_item(self)
    }

    /// The frame of the first poll. It is recorded.
    #[track_caller]
    fn begin(&mut self) -> u64 {
        if let Some(first) = self.first {
            return first;
        }
        let caller = Call::new("every_frames()", "");
        let now = || framestep::time().frame;
        let first = match context::find_outside_of_closures("every_frames()") {
            Some(cell) => {
                let first = cell.effect(caller, || Bytes::of(&now()));
                first.map_or(0, |first| expect_read(&first))
            }
            None => now(),
        };
        self.first = Some(first);
        first
    }
}

impl Stream for EveryFrames {
    type Item = Time;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Time>> {
        let first = self.begin();
        let EveryFrames {
            count,
            phase,
            numbered,
            ..
        } = &mut *self;
        let begin = |_: Option<&ScriptCell>| {
            let passed = framestep::time().frame.saturating_sub(first);
            // To the next multiple.
            Slot::Plain(DurableWait::frames(*count - passed % *count, *phase))
        };
        let kind = "every_frames()";
        let polled = numbered.poll_anywhere(kind, begin, |_, slot| match slot {
            Slot::Plain(wait) => wait.poll(cx, kind).map(|()| time_now()),
            _ => Poll::Pending,
        });
        polled.map(|time| {
            *numbered = Numbered::default();
            Some(time_of(Some(&time)))
        })
    }
}
