//! Parameters of systems in scripts, and scripts that run as systems.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;
use std::rc::Rc;

use bevy_ecs::prelude::*;
use bevy_ecs::system::{SystemParam, SystemParamItem, SystemState};
use bevy_platform::hash::FixedHasher;
use framestep::Phase;

use crate::borrow::{Call, Place, with};
use crate::executor::{Shared, run_scripts};

/// A closure that is called with parameters of a system: `|query: Query<&Health>, time: Res<Time>| ..`.
///
/// Unlike a system, it may be called once only, and it may borrow the local variables of the script.
#[diagnostic::on_unimplemented(
    message = "this closure cannot be called with parameters of a system",
    note = "its arguments have types: `|health: Query<&mut Health>, time: Res<Time>| ..`",
    note = "they are parameters of systems, six at most: several can be in a tuple"
)]
pub trait SystemFn<Args, R> {
    #[doc(hidden)]
    fn call(self, world: &mut World, states: &Systems, place: Place) -> R;
}

/// What the calls of [`system`] keep from one time to the next, by line and parameters.
#[derive(Default)]
pub struct Systems(RefCell<States>);

type States = HashMap<(Place, TypeId), Rc<dyn Any>, FixedHasher>;

type State<P> = Rc<RefCell<SystemState<P>>>;

impl Systems {
    fn state<P: SystemParam + 'static>(&self, world: &mut World, place: Place) -> State<P> {
        let key = (place, TypeId::of::<P>());
        let known = self.0.borrow().get(&key).cloned();
        let state = known.unwrap_or_else(|| {
            let made: Rc<dyn Any> = Rc::new(RefCell::new(SystemState::<P>::new(world)));
            self.0.borrow_mut().insert(key, made.clone());
            made
        });
        state.downcast().expect("it was made for these parameters")
    }
}

macro_rules! system_fn {
    ($($param:ident $item:ident),*) => {
        impl<F, R, $($param),*> SystemFn<($($param,)*), R> for F
        where
            $($param: SystemParam + 'static,)*
            F: FnOnce($($param),*) -> R,
            F: for<'w, 's> FnOnce($(SystemParamItem<'w, 's, $param>),*) -> R,
        {
            fn call(self, world: &mut World, states: &Systems, place: Place) -> R {
                // Only in here is it clear which of the two signatures is called.
                fn call<$($item,)* R>(f: impl FnOnce($($item),*) -> R, $($item: $item),*) -> R {
                    f($($item),*)
                }

                let state = states.state::<($($param,)*)>(world, place);
                let mut state = state.borrow_mut();
                let result = match state.get_mut(world) {
                    Ok(($($item,)*)) => call(self, $($item),*),
                    Err(error) => panic!("`system` at {place}: {error}"),
                };
                state.apply(world);
                result
            }
        }
    };
}

#[allow(non_camel_case_types, reason = "a macro names types as their values")]
mod functions {
    use super::{Place, SystemFn, SystemParam, SystemParamItem, Systems, World};

    system_fn!(A a);
    system_fn!(A a, B b);
    system_fn!(A a, B b, C c);
    system_fn!(A a, B b, C c, D d);
    system_fn!(A a, B b, C c, D d, E e);
    system_fn!(A a, B b, C c, D d, E e, G g);
}

/// Calls `f` with the parameters of a system, once and now: `Query`, `Res`, `ResMut`, `Commands`,
/// `MessageWriter`, `ParamSet`, and those of your own. Commands are applied before it returns.
///
/// `f` may borrow and change the local variables of the script. It cannot keep what it borrows of the
/// world.
///
/// What a system keeps from one run to the next belongs to the line of the call, in all scripts: the
/// values of `Local`, the position of a `MessageReader`, and since when `Changed` and `Added` count.
/// The first call in a line finds everything changed, as a system does. For changes since a script has
/// last looked, use a [`query`](crate::query) of its own.
///
/// # Panics
///
/// If a parameter is not valid, such as a `Res` that the world does not have, or if two of them
/// conflict; and where [`with`](framestep::with()) does, such as in a durable script.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_framestep::system;
/// use bevy_time::{Time, TimePlugin};
///
/// #[derive(Component)]
/// struct Position(f32);
///
/// async fn conveyor() {
///     let mut moved = 0;
///     while moved < 3 {
///         next_frame().await;
///         system(|mut all: Query<&mut Position>, time: Res<Time>| {
///             for mut position in &mut all {
///                 position.0 += time.delta_secs();
///                 moved += 1;
///             }
///         });
///     }
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.world_mut().spawn_batch([Position(0.0), Position(1.0)]);
/// let conveyor = app.world_mut().start_script(conveyor);
/// app.update();
/// app.update();
/// assert!(conveyor.is_finished());
/// ```
#[track_caller]
pub fn system<Args, R>(f: impl SystemFn<Args, R>) -> R {
    const CALL: Call = Call::new("system", "take the parameters of the closure");
    let place = Location::caller();
    with(CALL, |world| {
        let shared = Shared::of(world);
        let result = f.call(world, shared.systems(), place);
        world.flush();
        result
    })
}

/// A system that runs the scripts of `phase`, for any schedule: ordered before or after other
/// systems, with run conditions, and several times in a frame if need be.
///
/// For a phase of your own, such as [`Phase::Custom`]. Those that the plugin runs already run a
/// second time.
///
/// # Panics
///
/// When it runs, where [`run_scripts`] does.
///
/// # Examples
///
/// Scripts between the systems that move everything and those that look for collisions:
///
/// ```
/// use bevy_app::{App, FixedUpdate};
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_framestep::scripts_of;
/// use bevy_time::TimePlugin;
///
/// const STEERING: Phase = Phase::Custom(0);
///
/// fn move_all() {}
/// fn collide() {}
///
/// async fn steer() {
///     loop {
///         in_phase(STEERING).await;
///     }
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.add_systems(FixedUpdate, (move_all, scripts_of(STEERING), collide).chain());
/// app.world_mut().start_script(steer);
/// app.update();
/// ```
pub fn scripts_of(phase: Phase) -> impl FnMut(&mut World) + Clone {
    move |world| run_scripts(world, phase)
}

impl std::fmt::Debug for Systems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Systems").finish_non_exhaustive()
    }
}
