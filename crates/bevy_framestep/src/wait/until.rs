//! Waits for conditions on the world.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bevy_ecs::prelude::*;
use framestep::inspect::WaitNote;
use framestep::{Phase, time};
use futures::future::FusedFuture;

use super::conditions::Ask;
use super::turn::Turn;
use crate::borrow::{Call, refused, with_condition, with_ref};
use crate::executor::Shared;

const CONDITION: Call = Call::wait("wait_until_world");

/// A condition and the script that waits for it.
pub(crate) struct Condition<A: ?Sized = dyn Ask> {
    pub(super) state: Cell<State>,
    waker: RefCell<Option<Waker>>,
    /// Its panic, which becomes one of the script.
    pub(super) panic: Cell<Option<Box<dyn Any + Send>>>,
    pub(super) ask: RefCell<A>,
}

/// A closure, which exists as long as the future.
impl<P: FnMut(&World) -> bool + 'static> Ask for Option<P> {
    #[inline]
    fn holds(&mut self, world: &World) -> bool {
        self.as_mut().is_some_and(|condition| condition(world))
    }

    fn forget(&mut self) {
        *self = None;
    }

    fn name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a condition on the world")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    New,
    /// It is in the list of this phase. It is removed from other lists.
    Listed(Phase),
    /// It held when a run began, and has left the list.
    Held,
    Done,
}

/// In its own words.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ask.try_borrow() {
            Ok(ask) => ask.name(f),
            Err(_) => f.write_str("a condition"),
        }
    }
}

impl Condition {
    /// Whether it holds now, in the turn of the script.
    #[track_caller]
    fn holds(&self) -> bool {
        match with_condition(|world| self.ask.borrow_mut().holds(world)) {
            Ok(holds) => holds,
            Err(error) => refused(CONDITION, error),
        }
    }

    /// Wakes the script, if it still waits for this list.
    pub(super) fn leave(&self, phase: Phase) {
        if self.state.get() == State::Listed(phase) {
            self.state.set(State::Held);
            let waker = self.waker.take();
            waker.inspect(Waker::wake_by_ref);
        }
    }
}

/// The future of [`wait_until_world`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitUntilWorld {
    condition: Rc<Condition>,
    turn: Turn,
    note: Option<WaitNote>,
}

impl WaitUntilWorld {
    pub(crate) fn of(ask: impl Ask) -> Self {
        WaitUntilWorld {
            condition: Rc::new(Condition {
                state: Cell::new(State::New),
                waker: RefCell::new(None),
                panic: Cell::new(None),
                ask: RefCell::new(ask),
            }),
            turn: Turn::default(),
            note: None,
        }
    }

    /// Waits for a call of the condition's waker, from now on that of `cx`.
    #[track_caller]
    fn wait(&mut self, cx: &Context<'_>) {
        let waker = &self.condition.waker;
        let is_known = |known: &Waker| known.will_wake(cx.waker());
        if waker.borrow().as_ref().is_some_and(is_known) {
            return;
        }
        let before = waker.replace(Some(cx.waker().clone()));
        drop(before);
        self.note = Some(WaitNote::begin(&self.condition));
    }

    /// The list is for waits in the home phase. In another phase, the script checks by
    /// itself.
    #[track_caller]
    fn poll_elsewhere(&mut self, phase: Phase, cx: &mut Context<'_>) -> Poll<()> {
        let condition = &self.condition;
        assert!(
            condition.state.get() != State::Done,
            "`wait_until_world` was polled after it had ended"
        );
        condition.state.set(State::New);
        // From the next run on.
        let is_due = self.turn.has_begun() && time().phase == Some(phase);
        if is_due && condition.holds() {
            return self.end();
        }
        self.turn.wait(cx, phase);
        if self.note.is_none() {
            self.note = Some(WaitNote::begin(&self.condition));
        }
        Poll::Pending
    }

    fn end(&mut self) -> Poll<()> {
        self.condition.state.set(State::Done);
        self.note = None;
        Poll::Ready(())
    }

    /// Checks in the runs of `phase`, and resumes there.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            self.condition.state.get() == State::New,
            "`in_phase` was called on a wait that has begun"
        );
        self.turn.set(phase);
        self
    }
}

/// Waits until a condition on the world holds.
///
/// It does what [`wait_until`](framestep::wait_until) does, but costs less: conditions are
/// checked one after the other when a run begins, and a script is polled only when its
/// condition holds. The condition owns what it captures.
///
/// # Resumes
///
/// In the home phase of the script, or in another one with
/// [`in_phase`](WaitUntilWorld::in_phase). The condition is checked when a run of that phase
/// begins, from the next run on. If it holds, it is checked again when the script's turn
/// comes, so it still holds when the script resumes, even if other scripts of that run have
/// changed the world.
///
/// # Cancel safety
///
/// Dropping it removes the condition; nothing is lost.
///
/// # Panics
///
/// When polled, where [`with_ref`](framestep::lend::with_ref) does. A panic of the condition becomes a panic of the
/// script.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// #[derive(Resource)]
/// struct Gold(u32);
///
/// async fn merchant() {
///     wait_until_world(|world| world.resource::<Gold>().0 >= 30).await;
///     resource_mut(|gold: &mut Gold| gold.0 -= 25);
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.insert_resource(Gold(20));
/// app.world_mut().start_script(merchant);
/// app.update();
/// app.world_mut().resource_mut::<Gold>().0 += 10;
/// app.update();
/// assert_eq!(app.world().resource::<Gold>().0, 5);
/// ```
pub fn wait_until_world(condition: impl FnMut(&World) -> bool + 'static) -> WaitUntilWorld {
    WaitUntilWorld::of(Some(condition))
}

impl Future for WaitUntilWorld {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Some(phase) = this.turn.elsewhere() {
            return this.poll_elsewhere(phase, cx);
        }
        let condition = &this.condition;
        let phase = framestep::task::home();
        match condition.state.get() {
            State::Done => panic!("`wait_until_world` was polled after it had ended"),
            State::Held => {
                if let Some(panic) = condition.panic.take() {
                    condition.state.set(State::Done);
                    resume_unwind(panic);
                }
                if condition.holds() {
                    return this.end();
                }
            }
            State::Listed(of) if of == phase => {
                this.wait(cx);
                return Poll::Pending;
            }
            State::New | State::Listed(_) => {}
        }
        condition.state.set(State::Listed(phase));
        let shared = with_ref(CONDITION, Shared::of);
        shared.add_condition(phase, condition.clone());
        this.wait(cx);
        Poll::Pending
    }
}

impl FusedFuture for WaitUntilWorld {
    fn is_terminated(&self) -> bool {
        self.condition.state.get() == State::Done
    }
}

impl Drop for WaitUntilWorld {
    fn drop(&mut self) {
        self.condition.state.set(State::Done);
        // It is borrowed only if the condition stops its own script.
        if let Ok(mut ask) = self.condition.ask.try_borrow_mut() {
            ask.forget();
        }
    }
}

impl fmt::Debug for WaitUntilWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitUntilWorld")
            .field("state", &self.condition.state)
            .finish_non_exhaustive()
    }
}
