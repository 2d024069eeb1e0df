//! What scripts return, and where their errors go.

use std::any::TypeId;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use bevy_ecs::error::{BevyError, ContextExt, ErrorContext};
use bevy_ecs::prelude::*;
use bevy_platform::hash::FixedHasher;
use bevy_utils::prelude::DebugName;
use framestep::Handle;
use framestep::lend::with_ref;
use framestep::task::{CoroutineId, current};

/// What a script can return that is started by a system or the host.
///
/// It is implemented for `()`, for numbers and other values that are not errors, and for
/// `Result<T, E>` where `E: Into<BevyError>`: any error that a system can return. An `Err`
/// that nothing reads goes to Bevy's error handler, like the error of a system.
///
/// | started with | an `Err` goes to |
/// |---|---|
/// | commands, or as part of a bundle | the error handler |
/// | `World`, `EntityWorldMut`, which return a handle | a join, or `take`, of the handle; if the handle is dropped, the error handler |
/// | [`start`](framestep::start()) in a script, `goblin.start(..)` | the same, if the type is known; else it is dropped with the handle |
///
/// Known are `Result<(), Missing>` and `Result<(), BevyError>`; the output of each script that a
/// system or the host has started, and `Result<(), E>` with its errors; and the types that the
/// plugin [was told](crate::FramestepPlugin::hear_errors_of).
///
/// The handler is the resource `FallbackErrorHandler`, which panics unless the app sets
/// another one. Its panic ends the script that failed, and is
/// [reported](crate::FramestepPlugin::on_report) under its name. The message names the script
/// and its entity. For a child, it names the entity only if the child was started on it, with
/// `goblin.start(..)`, and its handle was dropped before it failed.
///
/// The text of a [`Missing`](crate::Missing) has the line of the script. For the line of another
/// error, return a `BevyError`: with `RUST_BACKTRACE=1`, its backtrace goes through the `?` that
/// has made it. A backtrace of other errors begins after the script.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::error::{FallbackErrorHandler, warn};
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// async fn load(_level: Entity) -> Result<(), std::num::ParseIntError> {
///     next_frame().await;
///     let _width: u32 = "wide".parse()?;
///     Ok(())
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.insert_resource(FallbackErrorHandler(warn)); // to the log
/// app.world_mut().commands().spawn_empty().start_script(load);
/// app.update();
/// ```
///
/// Wrap a value of your own type in an `Option` or a `Box`. Only this crate can implement the
/// trait: other implementations would conflict with that for `!`, the output of a script that
/// never returns.
#[diagnostic::on_unimplemented(
    message = "a script cannot return `{Self}`",
    label = "this script returns `{Self}`",
    note = "scripts return `()`, a value, or `Result<T, E>` where `E: Into<BevyError>`",
    note = "wrap a value of your own type in an `Option` or a `Box`"
)]
pub trait ScriptOutput: Sized + 'static {
    /// Whether outputs of this type can be errors.
    const MAY_FAIL: bool = false;

    /// The output of scripts with the same errors that return nothing else.
    #[doc(hidden)]
    type Plain: ScriptOutput;

    /// The error, if it is one.
    ///
    /// # Errors
    ///
    /// The output of the script.
    fn into_result(self) -> Result<(), BevyError> {
        Ok(())
    }
}

impl<T: 'static, E: Into<BevyError> + 'static> ScriptOutput for Result<T, E> {
    const MAY_FAIL: bool = true;
    type Plain = Result<(), E>;

    fn into_result(self) -> Result<(), BevyError> {
        self.map(drop).map_err(Into::into)
    }
}

/// Names the type `!`, of a script that never returns, which stable Rust does not.
mod never {
    pub trait Return {
        type Output;
    }

    impl<T> Return for fn() -> T {
        type Output = T;
    }

    pub(super) type Never = <fn() -> ! as Return>::Output;
}

macro_rules! values {
    ($($value:ty),*) => {
        $(impl ScriptOutput for $value { type Plain = (); })*
    };
}

values!(
    (),
    never::Never,
    bool,
    char,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    f32,
    f64,
    String,
    &'static str,
    Duration,
    Entity,
    framestep::Time
);

impl<T: 'static> ScriptOutput for Option<T> {
    type Plain = ();
}
impl<T: 'static> ScriptOutput for Vec<T> {
    type Plain = ();
}
impl<T: 'static> ScriptOutput for Box<T> {
    type Plain = ();
}
impl<T: 'static> ScriptOutput for Rc<T> {
    type Plain = ();
}
impl<A: 'static, B: 'static> ScriptOutput for (A, B) {
    type Plain = ();
}
impl<A: 'static, B: 'static, C: 'static> ScriptOutput for (A, B, C) {
    type Plain = ();
}

/// The errors that go to Bevy's handler even if a handle was returned.
#[derive(Default)]
pub(crate) struct Unobserved {
    /// The types of outputs that have a hook.
    heard: RefCell<HashSet<TypeId, FixedHasher>>,
    latest: Witness,
}

impl Unobserved {
    /// Reports errors of this type that nothing can read any more.
    pub(crate) fn hear<T: ScriptOutput>(&self, handle: &Handle) {
        if !T::MAY_FAIL || !self.heard.borrow_mut().insert(TypeId::of::<T>()) {
            return;
        }
        let executor = handle.clone();
        let latest = self.latest.clone();
        handle.on_unobserved(move |output: T, by| {
            let Err(error) = output.into_result() else {
                return;
            };
            let entity = latest.entity_of(by.id());
            let name = by.into_name();
            // In a script, so that a panic of the handler is reported under its name.
            executor
                .script(name.clone())
                .spawn(async move { report(error, name, entity) });
        });
        self.hear::<T::Plain>(handle);
    }

    pub(crate) fn witness(&self) -> Witness {
        self.latest.clone()
    }
}

/// Records which script of an entity has returned last, for the hook. The hook is called right
/// after the script if its handle was dropped.
#[derive(Clone, Default)]
pub(crate) struct Witness(Rc<Cell<Option<(CoroutineId, Entity)>>>);

impl Witness {
    /// The calling script is about to return.
    pub(crate) fn returns(&self, entity: Entity) {
        self.0.set(Some((current(), entity)));
    }

    fn entity_of(&self, script: CoroutineId) -> Option<Entity> {
        let (latest, entity) = self.0.get()?;
        (latest == script).then_some(entity)
    }
}

/// Passes an error of what a command does to Bevy's handler.
#[cold]
pub(crate) fn hand_over(world: &World, error: BevyError, command: &'static str) {
    let name = DebugName::borrowed(command);
    world.fallback_error_handler()(error, ErrorContext::Command { name });
}

/// Passes the error of a script to Bevy's handler, from within a script.
#[cold]
pub(crate) fn report(error: BevyError, name: Cow<'static, str>, entity: Option<Entity>) {
    let (handler, entity, last_run) = with_ref(|world: &World| {
        let entity = entity.map(|entity| match world.get::<Name>(entity) {
            Some(name) => format!("{name} ({entity})"),
            None => format!("entity {entity}"),
        });
        let tick = world.last_change_tick();
        (world.fallback_error_handler(), entity, tick)
    });
    // Bevy's names are empty without its feature `debug`.
    let script = match entity {
        Some(entity) => format!("script `{name}` of {entity}"),
        None => format!("script `{name}`"),
    };
    let Err(error) = Err::<(), _>(error).context(script) else {
        return;
    };
    let name = match name {
        Cow::Borrowed(name) => DebugName::borrowed(name),
        Cow::Owned(name) => DebugName::owned(name),
    };
    handler(error, ErrorContext::System { name, last_run });
}
