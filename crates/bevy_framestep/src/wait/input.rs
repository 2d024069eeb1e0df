//! Waits for buttons and keys.

use std::any::type_name;
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::panic::Location;

use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;

use super::WaitUntilWorld;
use super::conditions::Ask;

/// Waits until a key or a button is pressed: a `KeyCode`, a `MouseButton`, or any type for
/// which the app has a `ButtonInput`.
///
/// # Resumes
///
/// In the home phase of the script, in the next run in which the button is just pressed. If
/// the home phase is Update, that is the frame of the press. A press in the frame in which
/// the wait begins counts if the home phase has not run in that frame yet.
///
/// # Panics
///
/// If the app does not have the input. `InputPlugin`, which is part of `DefaultPlugins`, adds
/// keys and mouse buttons.
///
/// # Examples
///
/// ```
/// use bevy_framestep::prelude::*;
/// use bevy_input::keyboard::KeyCode;
///
/// async fn jump() {
///     loop {
///         just_pressed(KeyCode::Space).await;
///         println!("up");
///         wait_seconds(0.5).await;
///     }
/// }
/// ```
#[track_caller]
pub fn just_pressed<B>(button: B) -> WaitUntilWorld
where
    B: Copy + Debug + Eq + Hash + Send + Sync + 'static,
{
    WaitUntilWorld::of(Just {
        button,
        is: ButtonInput::just_pressed,
        what: "press",
        place: Location::caller(),
    })
}

/// Waits until a key or a button is released. See [`just_pressed`].
///
/// # Panics
///
/// See [`just_pressed`].
#[track_caller]
pub fn just_released<B>(button: B) -> WaitUntilWorld
where
    B: Copy + Debug + Eq + Hash + Send + Sync + 'static,
{
    WaitUntilWorld::of(Just {
        button,
        is: ButtonInput::just_released,
        what: "release",
        place: Location::caller(),
    })
}

/// What just happens to a button.
struct Just<B: Copy + Eq + Hash + Send + Sync + 'static> {
    button: B,
    is: fn(&ButtonInput<B>, B) -> bool,
    what: &'static str,
    /// The line of the call.
    place: &'static Location<'static>,
}

impl<B: Copy + Debug + Eq + Hash + Send + Sync + 'static> Ask for Just<B> {
    fn holds(&mut self, world: &World) -> bool {
        let Some(input) = world.get_resource() else {
            no_input(self.place, type_name::<B>());
        };
        (self.is)(input, self.button)
    }

    fn name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} of {:?}", self.what, self.button)
    }
}

/// When a run begins, not in a line of the script.
#[cold]
fn no_input(place: &Location<'_>, button: &str) -> ! {
    panic!(
        "the wait for a button at {place}: the app has no `ButtonInput<{button}>`: add \
         `InputPlugin`, which is part of `DefaultPlugins`"
    )
}
