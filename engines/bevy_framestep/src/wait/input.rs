//! Waits for buttons and keys.

use std::any::type_name;
use std::hash::Hash;

use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;

use super::{WaitUntilWorld, wait_until_world};

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
pub fn just_pressed<B>(button: B) -> WaitUntilWorld
where
    B: Copy + Eq + Hash + Send + Sync + 'static,
{
    wait_until_world(move |world| input(world).just_pressed(button))
}

/// Waits until a key or a button is released. See [`just_pressed`].
///
/// # Panics
///
/// See [`just_pressed`].
pub fn just_released<B>(button: B) -> WaitUntilWorld
where
    B: Copy + Eq + Hash + Send + Sync + 'static,
{
    wait_until_world(move |world| input(world).just_released(button))
}

fn input<B>(world: &World) -> &ButtonInput<B>
where
    B: Copy + Eq + Hash + Send + Sync + 'static,
{
    match world.get_resource() {
        Some(input) => input,
        None => panic!(
            "the app has no `ButtonInput<{}>`: add `InputPlugin`, which is part of `DefaultPlugins`",
            type_name::<B>()
        ),
    }
}
