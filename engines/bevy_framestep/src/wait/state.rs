//! Waits for states of the app.

use bevy_ecs::prelude::*;
use bevy_state::state::{State, StateTransitionEvent, States};
use framestep::with_ref;
use futures::StreamExt;

use super::{messages, next_message};

/// Waits for the next transition of the state `S` after this call: also for one from a
/// state to the same.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app has no such state; and where [`with_ref`] does.
#[track_caller]
pub fn next_transition<S: States>() -> impl Future<Output = StateTransitionEvent<S>> + use<S> {
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
/// If the app has no such state; and where [`with_ref`] does.
#[track_caller]
pub fn state_entered<S: States>(state: S) -> impl Future<Output = ()> + use<S> {
    until(move |event: &StateTransitionEvent<S>| event.entered.as_ref() == Some(&state))
}

/// Waits until the app next leaves `state`, for another one.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app has no such state; and where [`with_ref`] does.
#[track_caller]
pub fn state_exited<S: States>(state: S) -> impl Future<Output = ()> + use<S> {
    until(move |event: &StateTransitionEvent<S>| event.exited.as_ref() == Some(&state))
}

/// Waits until the app is in `state`. Ready at once if it is.
///
/// # Resumes
///
/// See [`next_message`].
///
/// # Panics
///
/// If the app has no such state; and where [`with_ref`] does.
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
pub fn wait_for_state<S: States>(state: S) -> impl Future<Output = ()> + use<S> {
    let is_in = with_ref(|world: &World| {
        let current = world.get_resource::<State<S>>();
        current.is_some_and(|current| *current.get() == state)
    });
    let entered = state_entered(state);
    async move {
        if !is_in {
            entered.await;
        }
    }
}

/// Waits for a transition to another state that `accept` accepts.
#[track_caller]
fn until<S: States, A>(accept: A) -> impl Future<Output = ()> + use<S, A>
where
    A: Fn(&StateTransitionEvent<S>) -> bool,
{
    let mut transitions = messages::<StateTransitionEvent<S>>();
    async move {
        while let Some(event) = transitions.next().await {
            if event.exited != event.entered && accept(&event) {
                return;
            }
        }
    }
}
