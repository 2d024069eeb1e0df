//! Waits for conditions on a resource.

use std::any::{Any, type_name};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use framestep::Phase;

use super::WaitUntilWorld;
use super::conditions::{Ask, Gate, Run};
use super::scan::is_old;
use crate::access::no_resource;
use crate::borrow::{Call, with_ref};
use crate::executor::Shared;
use crate::name::short_name;

/// Knows when a resource has changed.
pub(crate) struct Watch<R> {
    /// For each phase, the time of its latest run.
    checked: RefCell<Vec<(Phase, Tick)>>,
    resource: PhantomData<fn() -> R>,
}

impl<R> Default for Watch<R> {
    fn default() -> Self {
        Watch {
            checked: RefCell::default(),
            resource: PhantomData,
        }
    }
}

impl<R: Resource> Gate for Watch<R> {
    fn may_hold(&self, world: &World, run: &Run<'_>) -> bool {
        let now = world.read_change_tick();
        // A later change can have the present tick.
        let at = Tick::new(now.get().wrapping_sub(1));
        let mut checked = self.checked.borrow_mut();
        let Some((_, known)) = checked.iter_mut().find(|(phase, _)| *phase == run.phase) else {
            checked.push((run.phase, at));
            return true;
        };
        let since = std::mem::replace(known, at);
        let changed = world.get_resource_change_ticks::<R>();
        changed.is_none_or(|ticks| is_old(since, now) || ticks.is_changed(since, now))
    }

    fn subject<'w>(&self, world: &'w World) -> Option<&'w dyn Any> {
        world
            .get_resource::<R>()
            .map(|resource| resource as &dyn Any)
    }
}

/// A condition on a resource. The closure exists as long as the future.
struct OfResource<R, P> {
    holds: Option<P>,
    watch: Rc<Watch<R>>,
}

impl<R: Resource, P: FnMut(&R) -> bool + 'static> Ask for OfResource<R, P> {
    fn holds(&mut self, world: &World) -> bool {
        let Some(holds) = &mut self.holds else {
            return false;
        };
        match world.get_resource::<R>() {
            Some(resource) => holds(resource),
            None => no_resource(type_name::<R>()),
        }
    }

    fn holds_in(&mut self, world: &World, run: &Run<'_>) -> bool {
        let resource = run.subject.and_then(<dyn Any>::downcast_ref);
        match (&mut self.holds, resource) {
            (Some(holds), Some(resource)) => holds(resource),
            _ => self.holds(world),
        }
    }

    fn gate(&self) -> Option<Rc<dyn Gate>> {
        Some(self.watch.clone())
    }

    fn forget(&mut self) {
        self.holds = None;
    }

    fn name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a condition on {}", short_name::<R>())
    }
}

/// Waits until a condition on a resource holds.
///
/// It is for conditions on nothing but the resource: it is checked when the wait begins and whenever
/// the resource has changed, by Bevy's change detection. A script that waits for a resource that does
/// not change costs nothing. For a condition on anything else as well, or on a resource that changes
/// through a shared reference, such as a `Mutex`, use [`wait_until_world`](crate::wait_until_world).
///
/// # Resumes
///
/// As [`wait_until_world`](crate::wait_until_world) does: the condition is checked when a run of the home
/// phase begins, from the next run on.
///
/// # Cancel safety
///
/// Dropping it removes the condition; nothing is lost.
///
/// # Panics
///
/// The script panics if the world does not have the resource when the condition is checked, or if the
/// condition does; and where [`with_ref`](framestep::lend::with_ref) does.
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
///     wait_until_resource(|gold: &Gold| gold.0 >= 30).await;
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
#[track_caller]
pub fn wait_until_resource<R: Resource>(
    condition: impl FnMut(&R) -> bool + 'static,
) -> WaitUntilWorld {
    const CALL: Call = Call::wait("wait_until_resource");
    let watch = with_ref(CALL, |world| Shared::of(world).watch::<R>());
    WaitUntilWorld::of(OfResource {
        holds: Some(condition),
        watch,
    })
}
