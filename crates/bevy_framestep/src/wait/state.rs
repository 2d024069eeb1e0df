//! Waits for states of the app.

use std::any::{Any, TypeId, type_name};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bevy_ecs::message::{MessageCursor, Messages};
use bevy_ecs::prelude::*;
use bevy_state::state::{State, StateTransitionEvent, States};
use framestep::Phase;
use framestep::sync::{Signal, Subscription};
use futures::future::FusedFuture;

use super::message::Feed;
use super::turn::Turn;
use super::{NextMessage, next_message};
use crate::borrow::{Call, with_ref};
use crate::executor::Shared;
use crate::name::short_name;

const STATES: Call = Call::new("wait_for_state", "take `Res<State<S>>` as a parameter");

/// Waits for the next transition of the state `S` after this call, including a transition
/// from a state to itself.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app does not have the state; and where [`with_ref`](framestep::lend::with_ref) does.
#[track_caller]
pub fn next_transition<S: States>() -> NextMessage<StateTransitionEvent<S>> {
    let has_states = with_ref(STATES, |world| {
        world.contains_resource::<Messages<StateTransitionEvent<S>>>()
    });
    if !has_states {
        no_states::<S>();
    }
    next_message()
}

/// Panics in the line of the script. The messages alone, without the state, would never come.
#[cold]
#[track_caller]
fn no_states<S: States>() -> ! {
    let states = type_name::<S>();
    panic!(
        "the app has no states of type `{states}`: call `app.init_state::<{states}>()`, or \
         `add_sub_state` or `add_computed_state`"
    )
}

/// Waits until the app next enters `state`, from another one.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app does not have the state; and where [`with_ref`](framestep::lend::with_ref) does.
#[track_caller]
pub fn state_entered<S: States>(state: S) -> WaitForState<S> {
    wait(state, Side::Entered)
}

/// Waits until the app next leaves `state`, for another one.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app does not have the state; and where [`with_ref`](framestep::lend::with_ref) does.
#[track_caller]
pub fn state_exited<S: States>(state: S) -> WaitForState<S> {
    wait(state, Side::Exited)
}

/// Waits until the app is in `state`. Ready at once if it is.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app does not have the state; and where [`with_ref`](framestep::lend::with_ref) does.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_framestep::wait_for_state;
/// use bevy_state::app::{AppExtStates, StatesPlugin};
/// use bevy_state::prelude::*;
/// use bevy_time::TimePlugin;
///
/// #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
/// enum Screen {
///     #[default]
///     Menu,
///     Game,
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, StatesPlugin, FramestepPlugin::default()));
/// app.init_state::<Screen>();
/// let script = app.world_mut().start_script(|| wait_for_state(Screen::Game));
/// app.update();
/// assert!(!script.is_finished());
/// app.world_mut().resource_mut::<NextState<Screen>>().set(Screen::Game);
/// app.update();
/// assert!(script.is_finished());
/// ```
#[track_caller]
pub fn wait_for_state<S: States>(state: S) -> WaitForState<S> {
    let is_in = with_ref(STATES, |world| {
        let current = world.get_resource::<State<S>>();
        current.is_some_and(|current| *current.get() == state)
    });
    let mut wait = state_entered(state);
    wait.is_in = is_in;
    wait
}

/// Passes on the transitions of one type of states, to the scripts that wait for a state.
struct StateFeed<S: States> {
    cursor: RefCell<MessageCursor<StateTransitionEvent<S>>>,
    /// Those that scripts have waited for since the latest transition.
    doors: RefCell<Vec<Door<S>>>,
}

/// The one way into or out of a state.
struct Door<S> {
    state: S,
    side: Side,
    passed: Signal<()>,
    /// The number of waits plus one.
    waits: Rc<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Entered,
    Exited,
}

impl<S: States> StateFeed<S> {
    fn new(cursor: MessageCursor<StateTransitionEvent<S>>) -> Self {
        StateFeed {
            cursor: RefCell::new(cursor),
            doors: RefCell::default(),
        }
    }

    fn wait(&self, state: S, side: Side) -> WaitForState<S> {
        let mut doors = self.doors.borrow_mut();
        let is_it = |door: &Door<S>| door.side == side && door.state == state;
        let index = doors.iter().position(is_it).unwrap_or_else(|| {
            doors.push(Door::new(state, side));
            doors.len() - 1
        });
        let door = &doors[index];
        WaitForState {
            passed: Some(door.passed.subscribe()),
            turn: Turn::default(),
            is_in: false,
            _waits: door.waits.clone(),
            states: PhantomData,
        }
    }

    /// This calls wakers, which can begin other waits.
    fn pass(&self, state: Option<&S>, side: Side) {
        let doors = self.doors.borrow();
        let is_it = |door: &&Door<S>| door.side == side && Some(&door.state) == state;
        let passed = doors.iter().find(is_it).map(|door| door.passed.clone());
        drop(doors);
        if let Some(passed) = passed {
            passed.emit(());
        }
    }
}

impl<S: States> Door<S> {
    fn new(state: S, side: Side) -> Self {
        let states = short_name::<S>();
        let passed = match side {
            Side::Entered => format!("{states}::{state:?} entered"),
            Side::Exited => format!("{states}::{state:?} left"),
        };
        Door {
            state,
            side,
            passed: Signal::new().named(passed),
            waits: Rc::new(()),
        }
    }

    fn has_waits(&self) -> bool {
        Rc::strong_count(&self.waits) > 1
    }
}

impl<S: States> Feed for StateFeed<S> {
    fn pass_on(&self, world: &World) {
        let transitions = world.get_resource::<Messages<StateTransitionEvent<S>>>();
        // A waker can use states.
        let (Some(transitions), Ok(mut cursor)) = (transitions, self.cursor.try_borrow_mut())
        else {
            return;
        };
        if cursor.is_empty(transitions) {
            return;
        }
        for event in cursor.read(transitions) {
            if event.exited != event.entered {
                self.pass(event.exited.as_ref(), Side::Exited);
                self.pass(event.entered.as_ref(), Side::Entered);
            }
        }
        drop(cursor);
        // They are dropped after the borrow has ended.
        let mut doors = self.doors.borrow_mut();
        let unused: Vec<_> = doors.extract_if(.., |door| !door.has_waits()).collect();
        drop(doors);
        drop(unused);
    }

    fn has_news(&self, world: &World) -> bool {
        let transitions = world.get_resource::<Messages<StateTransitionEvent<S>>>();
        let cursor = self.cursor.try_borrow();
        let (Some(transitions), Ok(cursor)) = (transitions, cursor) else {
            return false;
        };
        !cursor.is_empty(transitions) && self.doors.borrow().iter().any(Door::has_waits)
    }
}

#[track_caller]
fn wait<S: States>(state: S, side: Side) -> WaitForState<S> {
    let made = with_ref(STATES, |world| {
        let transitions = world.get_resource::<Messages<StateTransitionEvent<S>>>()?;
        let feed = Shared::of(world).feed(TypeId::of::<StateFeed<S>>(), || {
            Rc::new(StateFeed::<S>::new(transitions.get_cursor_current()))
        });
        // Transitions from before this call are only for the waits that exist already.
        feed.pass_on(world);
        let feed: &dyn Any = &*feed;
        let feed = feed.downcast_ref::<StateFeed<S>>();
        Some(feed.expect("it was made for this type").wait(state, side))
    });
    match made {
        Some(wait) => wait,
        None => no_states::<S>(),
    }
}

/// The future of [`wait_for_state`], [`state_entered`] and [`state_exited`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitForState<S: States> {
    /// `None` once it has been ready.
    passed: Option<Subscription<()>>,
    turn: Turn,
    is_in: bool,
    _waits: Rc<()>,
    states: PhantomData<fn() -> S>,
}

impl<S: States> WaitForState<S> {
    /// Resumes in the first run of `phase` after the transition, instead of the home phase.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.turn.set(phase);
        self
    }
}

impl<S: States> Future for WaitForState<S> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let Some(passed) = &mut this.passed else {
            panic!("a wait for a state was polled after it had ended");
        };
        if !this.is_in {
            // The stream ends only with the world.
            let polled = this.turn.poll_next(passed, cx);
            if !matches!(polled, Poll::Ready(Some(()))) {
                return Poll::Pending;
            }
        }
        this.passed = None;
        Poll::Ready(())
    }
}

impl<S: States> FusedFuture for WaitForState<S> {
    fn is_terminated(&self) -> bool {
        self.passed.is_none()
    }
}

impl<S: States> fmt::Debug for WaitForState<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitForState")
            .field("states", &type_name::<S>())
            .field("done", &self.passed.is_none())
            .finish_non_exhaustive()
    }
}
