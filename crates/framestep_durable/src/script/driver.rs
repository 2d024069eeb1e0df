//! The coroutine that runs a script.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::thread;

use crate::bytes::{dispose, message_of};
use crate::script::{ChapterEnd, JoinError, ScriptCell, context};

/// Polls the future of a script, chapter after chapter.
pub(crate) struct Driver {
    cell: Rc<ScriptCell>,
}

/// How many chapters of a script may follow one another in one poll.
const MOST_CHAPTERS: u32 = 1_000;

impl Driver {
    pub(crate) fn new(cell: Rc<ScriptCell>) -> Self {
        Driver { cell }
    }

    #[inline(always)]
    fn poll_chapters(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self.poll_chapter(cx) {
            Some(end) => self.poll_next(end, cx),
            None => Poll::Pending,
        }
    }

    /// Polls what follows on a chapter that has ended.
    #[inline(never)]
    fn poll_next(&self, mut end: ChapterEnd, cx: &mut Context<'_>) -> Poll<()> {
        let mut chapters = 1;
        loop {
            let ended = self.cell.future().take();
            drop(ended);
            match end {
                ChapterEnd::Done(output) => {
                    self.cell.shared().end(&self.cell, Ok(output));
                    return Poll::Ready(());
                }
                ChapterEnd::Next(begun) => self.cell.begin_chapter(begun),
            }
            assert!(
                chapters < MOST_CHAPTERS,
                "the script `{}` began {MOST_CHAPTERS} chapters without waiting: a chapter has to \
                 await something before it returns `Chapter::Next`",
                self.cell.name()
            );
            chapters += 1;
            match self.poll_chapter(cx) {
                Some(next) => end = next,
                None => return Poll::Pending,
            }
        }
    }

    #[inline(always)]
    fn poll_chapter(&self, cx: &mut Context<'_>) -> Option<ChapterEnd> {
        self.cell.begin_poll();
        let mut future = self.cell.future().borrow_mut();
        match future.as_mut()?.as_mut().poll(cx) {
            Poll::Ready(end) => Some(end),
            Poll::Pending => None,
        }
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let polled = context::polling(&self.cell, |cx| {
            catch_unwind(AssertUnwindSafe(|| self.poll_chapters(cx)))
        });
        match polled {
            Ok(Poll::Pending) if self.cell.length.is_too_long() => {
                self.end_early(JoinError::ChapterTooLong);
                Poll::Ready(())
            }
            Ok(polled) => polled,
            Err(payload) => {
                // A panic of a destructor in this future comes second.
                if let Err(second) = self.drop_future() {
                    dispose(second);
                }
                self.end_by_panic(payload)
            }
        }
    }
}

impl Driver {
    /// Drops the future as the current script, so that its destructors find the runtime. Returns
    /// the panic of a destructor.
    fn drop_future(&self) -> thread::Result<()> {
        let future = self.cell.take_future();
        context::within(&self.cell, || {
            catch_unwind(AssertUnwindSafe(|| drop(future)))
        })
    }

    /// Drops the future, and records why the script has ended.
    fn end_early(&self, why: JoinError) {
        match self.drop_future() {
            Ok(()) => self.cell.shared().end(&self.cell, Err(why)),
            Err(payload) => self.end_by_panic(payload),
        }
    }

    /// Records that the script has panicked, and passes the panic on.
    fn end_by_panic(&self, payload: Box<dyn Any + Send>) -> ! {
        let text = message_of(&*payload);
        self.cell.shared().note_panic(&self.cell, &text);
        let panicked = JoinError::Panicked(text);
        self.cell.shared().end(&self.cell, Err(panicked));
        resume_unwind(payload)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // A restore takes all scripts: it keeps this one, or drops it itself.
        if self.cell.shared().scripts.is_known(&self.cell) {
            self.end_early(self.cell.shared().stopped(&self.cell));
        }
    }
}
