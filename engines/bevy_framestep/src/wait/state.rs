//! Waits for states of the app.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bevy_ecs::prelude::*;
use bevy_state::state::{State, StateTransitionEvent, States};
use framestep::{Phase, with_ref};
use futures::StreamExt;
use futures::future::FusedFuture;

use super::{Messages, NextMessage, messages, next_message};

/// Waits for the next transition of the state `S` after this call, including a transition
/// from a state to itself.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app does not have the state; and where [`with_ref`] does.
#[track_caller]
pub fn next_transition<S: States>() -> NextMessage<StateTransitionEvent<S>> {
    next_message()
}

/// Waits until the app next enters `state`, from another one.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app does not have the state; and where [`with_ref`] does.
#[track_caller]
pub fn state_entered<S: States>(state: S) -> WaitForState<S> {
    WaitForState::new(state, Side::Entered)
}

/// Waits until the app next leaves `state`, for another one.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app does not have the state; and where [`with_ref`] does.
#[track_caller]
pub fn state_exited<S: States>(state: S) -> WaitForState<S> {
    WaitForState::new(state, Side::Exited)
}

/// Waits until the app is in `state`. Ready at once if it is.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app does not have the state; and where [`with_ref`] does.
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
    let is_in = with_ref(|world: &World| {
        let current = world.get_resource::<State<S>>();
        current.is_some_and(|current| *current.get() == state)
    });
    let mut wait = state_entered(state);
    wait.is_in = is_in;
    wait
}

/// The future of [`wait_for_state`], [`state_entered`] and [`state_exited`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitForState<S: States> {
    /// `None` once it has been ready.
    transitions: Option<Messages<StateTransitionEvent<S>>>,
    state: S,
    side: Side,
    is_in: bool,
}

#[derive(Clone, Copy)]
enum Side {
    Entered,
    Exited,
}

impl<S: States> WaitForState<S> {
    #[track_caller]
    fn new(state: S, side: Side) -> Self {
        WaitForState {
            transitions: Some(messages()),
            state,
            side,
            is_in: false,
        }
    }

    /// Resumes in the first run of `phase` after the transition, instead of the home phase.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        let transitions = self.transitions.take();
        self.transitions = transitions.map(|transitions| transitions.in_phase(phase));
        self
    }

    fn is_it(&self, event: &StateTransitionEvent<S>) -> bool {
        let state = match self.side {
            Side::Entered => &event.entered,
            Side::Exited => &event.exited,
        };
        event.exited != event.entered && state.as_ref() == Some(&self.state)
    }
}

// The state is never pinned.
impl<S: States> Unpin for WaitForState<S> {}

impl<S: States> Future for WaitForState<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        loop {
            let Some(transitions) = &mut this.transitions else {
                panic!("a wait for a state was polled after it had ended");
            };
            if !this.is_in {
                match transitions.poll_next_unpin(cx) {
                    Poll::Ready(Some(event)) if !this.is_it(&event) => continue,
                    Poll::Ready(Some(_)) => {}
                    // The stream ends only with the world.
                    Poll::Ready(None) | Poll::Pending => return Poll::Pending,
                }
            }
            this.transitions = None;
            return Poll::Ready(());
        }
    }
}

impl<S: States> FusedFuture for WaitForState<S> {
    fn is_terminated(&self) -> bool {
        self.transitions.is_none()
    }
}

impl<S: States> fmt::Debug for WaitForState<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitForState")
            .field("state", &self.state)
            .field("done", &self.transitions.is_none())
            .finish_non_exhaustive()
    }
}
