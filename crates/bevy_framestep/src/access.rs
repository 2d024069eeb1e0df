//! How scripts access the world: components, resources, commands.

use std::any::type_name;
use std::panic::Location;

use bevy_ecs::component::Mutable;
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use framestep::Coroutine;
use framestep::task::handle;

use crate::borrow::{Call, with, with_ref};
use crate::error::Missing;
use crate::executor::Shared;
use crate::query::EntityFn;
use crate::script::{name_of, of_entity};
use crate::scripts::{nobody, owner_of};
use crate::start::note;
use crate::wait::{ComponentChanged, ComponentUntil, Despawned, Events, NextEventOf};

/// What scripts can do with an entity.
///
/// All methods borrow the world for the length of the call, as [`with`](framestep::with())
/// does, and panic where `with` does: outside a script, and inside a closure that borrows the
/// world mutably. They also panic in a durable script, which would not record them.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::Missing;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// #[derive(Component)]
/// struct Health(u32);
///
/// #[derive(Component)]
/// struct Poisoned;
///
/// async fn poison(enemy: Entity) -> Result<(), Missing> {
///     enemy.insert(Poisoned)?;
///     while enemy.get(|health: &Health| health.0)? > 0 {
///         next_frame().await;
///         enemy.get_mut(|health: &mut Health| health.0 -= 1)?;
///     }
///     enemy.despawn()
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.world_mut().spawn(Health(2)).start_script(poison);
/// app.update();
/// app.update();
/// assert_eq!(app.world_mut().query::<&Health>().iter(app.world()).count(), 0);
/// ```
pub trait ScriptEntity: Copy {
    /// Calls `f` with a component.
    ///
    /// # Errors
    ///
    /// If the entity or its component does not exist.
    #[track_caller]
    fn get<C: Component, R>(self, f: impl FnOnce(&C) -> R) -> Result<R, Missing>;

    /// Calls `f` with a component, to change it. It always counts as changed: where a value is
    /// often the same, use [`set_if_neq`](Self::set_if_neq).
    ///
    /// # Errors
    ///
    /// If the entity or its component does not exist.
    #[track_caller]
    fn get_mut<C, R>(self, f: impl FnOnce(&mut C) -> R) -> Result<R, Missing>
    where
        C: Component<Mutability = Mutable>;

    /// Calls `f` with several components, to read or to change. Each argument is `&C`,
    /// `&mut C`, `Option<&C>`, `Option<&mut C>` or `Entity`. Components that are borrowed
    /// mutably always count as changed.
    ///
    /// # Errors
    ///
    /// If the entity or one of the components does not exist.
    ///
    /// # Panics
    ///
    /// If a component that is borrowed mutably occurs twice.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Position(f32);
    ///
    /// #[derive(Component)]
    /// struct Speed(f32);
    ///
    /// async fn walk(guard: Entity) -> Result<(), Missing> {
    ///     loop {
    ///         next_frame().await;
    ///         guard.with(|at: &mut Position, speed: &Speed| at.0 += speed.0 * delta_seconds())?;
    ///     }
    /// }
    /// ```
    #[track_caller]
    fn with<Args, R>(self, f: impl EntityFn<Args, R>) -> Result<R, Missing>;

    /// Replaces a component by another value, unless it is equal: then it does not count as
    /// changed. Returns whether it has changed. It is [`Mut::set_if_neq`] of Bevy.
    ///
    /// # Errors
    ///
    /// If the entity or its component does not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::Missing;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(Component, PartialEq)]
    /// struct Alert(bool);
    ///
    /// async fn watch(guard: Entity, intruders: fn() -> u32) -> Result<(), Missing> {
    ///     loop {
    ///         guard.set_if_neq(Alert(intruders() > 0))?;
    ///         next_frame().await;
    ///     }
    /// }
    /// ```
    #[track_caller]
    fn set_if_neq<C>(self, component: C) -> Result<bool, Missing>
    where
        C: Component<Mutability = Mutable> + PartialEq;

    /// Whether the entity has a component of this type.
    #[track_caller]
    fn has<C: Component>(self) -> bool;

    /// Whether the entity exists.
    #[track_caller]
    fn exists(self) -> bool;

    /// Adds components to the entity, or replaces those it has.
    ///
    /// # Errors
    ///
    /// If the entity does not exist.
    #[track_caller]
    fn insert(self, bundle: impl Bundle) -> Result<(), Missing>;

    /// Removes components of the entity, if it has them.
    ///
    /// # Errors
    ///
    /// If the entity does not exist.
    #[track_caller]
    fn remove<B: Bundle>(self) -> Result<(), Missing>;

    /// Despawns the entity, which ends its scripts. If the calling script is one of them, it
    /// continues to its next wait.
    ///
    /// # Errors
    ///
    /// If the entity does not exist.
    #[track_caller]
    fn despawn(self) -> Result<(), Missing>;

    /// Starts a script that ends with the entity, up to its first wait.
    ///
    /// If the entity does not exist, the script counts as stopped before it began. An error that
    /// nothing reads goes to Bevy's error handler, if its type [is known](crate::ScriptOutput).
    #[track_caller]
    fn start<F: Future + 'static>(self, script: F) -> Coroutine<F::Output>;

    /// Waits until the entity is despawned. Ready at once if it does not exist.
    ///
    /// # Resumes
    ///
    /// In the home phase of the script: later in the same run if a
    /// script of that phase despawned the entity, else in the next run of it. With
    /// [`in_phase`](Despawned::in_phase), in another phase.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::prelude::*;
    ///
    /// async fn hunt(prey: Entity) {
    ///     select! {
    ///         () = prey.despawned() => println!("somebody else was quicker"),
    ///         _ = wait_seconds(10) => println!("the hunter is tired"),
    ///     }
    /// }
    /// ```
    #[track_caller]
    fn despawned(self) -> Despawned;

    /// Waits for the next change of a component after this call, by Bevy's change
    /// detection.
    ///
    /// # Resumes
    ///
    /// In the home phase of the script, or in another one with
    /// [`in_phase`](ComponentChanged::in_phase). The component is checked when a run of that
    /// phase begins, from the next run on, like the condition of
    /// [`wait_until_world`](crate::wait_until_world): the script is not polled until it has
    /// changed.
    ///
    /// # Errors
    ///
    /// When the entity or its component does not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::Missing;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(u32);
    ///
    /// async fn health_bar(hero: Entity) -> Result<(), Missing> {
    ///     loop {
    ///         hero.get(|health: &Health| println!("{}", health.0))?;
    ///         hero.changed::<Health>().await?;
    ///     }
    /// }
    /// ```
    #[track_caller]
    fn changed<C: Component>(self) -> ComponentChanged<C>;

    /// Waits until a condition on a component holds.
    ///
    /// # Resumes
    ///
    /// As [`wait_until_world`](crate::wait_until_world) does: the script is not polled until the
    /// condition holds.
    ///
    /// # Errors
    ///
    /// When the entity or its component does not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(u32);
    ///
    /// async fn second_phase(boss: Entity) -> Result<(), Missing> {
    ///     boss.wait_until(|health: &Health| health.0 < 50).await?;
    ///     println!("the boss is angry");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// Use it for anything that Bevy keeps in components, such as the end of a sound:
    /// `sound.wait_until(|sink: &AudioSink| sink.empty())`.
    #[track_caller]
    fn wait_until<C: Component>(
        self,
        condition: impl FnMut(&C) -> bool + 'static,
    ) -> ComponentUntil;

    /// Waits until the entity has no component of this type. Ready in the next run if it has
    /// none.
    ///
    /// # Resumes
    ///
    /// As [`wait_until_world`](crate::wait_until_world) does.
    ///
    /// # Errors
    ///
    /// When the entity does not exist.
    #[track_caller]
    fn removed<C: Component>(self) -> ComponentUntil;

    /// Waits for the next event of this type on the entity, after this call.
    ///
    /// # Errors
    ///
    /// When the entity is despawned. If it does not exist when the wait is made: in the next
    /// run, so that a loop that ignores the error does not hang the frame.
    ///
    /// # Resumes
    ///
    /// As [`next_event`](crate::next_event) does.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::Missing;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(EntityEvent, Clone)]
    /// struct Clicked(Entity);
    ///
    /// async fn button(button: Entity) -> Result<(), Missing> {
    ///     loop {
    ///         button.next_event::<Clicked>().await?;
    ///         println!("click");
    ///     }
    /// }
    /// ```
    #[track_caller]
    fn next_event<E: EntityEvent + Clone>(self) -> NextEventOf<E>;

    /// A stream of all events of this type on the entity, after this call. It ends with the
    /// entity, at once if that does not exist.
    #[track_caller]
    fn events<E: EntityEvent + Clone>(self) -> Events<E>;
}

impl ScriptEntity for Entity {
    #[track_caller]
    fn get<C: Component, R>(self, f: impl FnOnce(&C) -> R) -> Result<R, Missing> {
        let missing = Missing::component::<C>(self);
        with_ref(GET, |world| {
            let entity = world.get_entity(self);
            let entity = entity.map_err(|_| missing.without_entity())?;
            entity.get::<C>().map(f).ok_or(missing)
        })
    }

    #[track_caller]
    fn get_mut<C, R>(self, f: impl FnOnce(&mut C) -> R) -> Result<R, Missing>
    where
        C: Component<Mutability = Mutable>,
    {
        let missing = Missing::component::<C>(self);
        with_entity(GET_MUT, self, |mut entity| match entity.get_mut::<C>() {
            Some(mut component) => Ok(f(&mut component)),
            None => Err(missing),
        })?
    }

    #[track_caller]
    fn set_if_neq<C>(self, component: C) -> Result<bool, Missing>
    where
        C: Component<Mutability = Mutable> + PartialEq,
    {
        let missing = Missing::component::<C>(self);
        with_entity(SET_IF_NEQ, self, |mut entity| match entity.get_mut::<C>() {
            Some(mut present) => Ok(present.set_if_neq(component)),
            None => Err(missing),
        })?
    }

    #[track_caller]
    fn with<Args, R>(self, f: impl EntityFn<Args, R>) -> Result<R, Missing> {
        let place = Location::caller();
        with(WITH, |world| f.call(world, self, place))
    }

    #[track_caller]
    fn has<C: Component>(self) -> bool {
        with_ref(HAS, |world| world.get::<C>(self).is_some())
    }

    #[track_caller]
    fn exists(self) -> bool {
        with_ref(EXISTS, |world| world.get_entity(self).is_ok())
    }

    #[track_caller]
    fn insert(self, bundle: impl Bundle) -> Result<(), Missing> {
        with_entity(INSERT, self, |mut entity| {
            entity.insert(bundle);
        })
    }

    #[track_caller]
    fn remove<B: Bundle>(self) -> Result<(), Missing> {
        with_entity(REMOVE, self, |mut entity| {
            entity.remove::<B>();
        })
    }

    #[track_caller]
    fn despawn(self) -> Result<(), Missing> {
        with_entity(DESPAWN, self, |entity| entity.despawn())
    }

    #[track_caller]
    fn start<F: Future + 'static>(self, script: F) -> Coroutine<F::Output> {
        let (owner, speeds, witness) = with(START, |world| {
            let shared = Shared::of(world);
            let owner = owner_of(world, &shared, self);
            (owner, shared.speeds(), shared.witness())
        });
        let owner = owner.ok().or_else(|| nobody(&handle()));
        let owner = owner.expect("a script runs in an executor");
        let name = name_of::<F>();
        let script = of_entity(|_| script, self, speeds, Some(witness));
        let started = owner.script(name).start(script);
        if !started.is_finished() {
            let id = started.id();
            with(START, |world| note(world, self, name, id, &handle()));
        }
        started
    }

    #[track_caller]
    fn despawned(self) -> Despawned {
        Despawned::new(self)
    }

    #[track_caller]
    fn changed<C: Component>(self) -> ComponentChanged<C> {
        ComponentChanged::new(self)
    }

    #[track_caller]
    fn wait_until<C: Component>(
        self,
        condition: impl FnMut(&C) -> bool + 'static,
    ) -> ComponentUntil {
        ComponentUntil::new(self, condition)
    }

    #[track_caller]
    fn removed<C: Component>(self) -> ComponentUntil {
        ComponentUntil::removed::<C>(self)
    }

    #[track_caller]
    fn next_event<E: EntityEvent + Clone>(self) -> NextEventOf<E> {
        NextEventOf::new(self)
    }

    #[track_caller]
    fn events<E: EntityEvent + Clone>(self) -> Events<E> {
        Events::of(self)
    }
}

const GET: Call = Call::new("get", "use a `Query<&C>`");
const GET_MUT: Call = Call::new("get_mut", "use a `Query<&mut C>`");
const SET_IF_NEQ: Call = Call::new("set_if_neq", "use a `Query<&mut C>`");
const WITH: Call = Call::new("with", "use a `Query`");
const HAS: Call = Call::new("has", "use a `Query<Has<C>>`");
const EXISTS: Call = Call::new("exists", "use a `Query<()>`");
const INSERT: Call = Call::new("insert", "use `commands.entity(..).insert(..)`");
const REMOVE: Call = Call::new("remove", "use `commands.entity(..).remove::<B>()`");
const DESPAWN: Call = Call::new("despawn", "use `commands.entity(..).despawn()`");
const START: Call = Call::new("start", "use `commands.entity(..).start_script(..)`");

#[track_caller]
fn with_entity<R>(
    call: Call,
    entity: Entity,
    f: impl FnOnce(EntityWorldMut<'_>) -> R,
) -> Result<R, Missing> {
    let missing = Missing::entity(entity);
    with(call, |world| match world.get_entity_mut(entity) {
        Ok(entity) => Ok(f(entity)),
        Err(_) => Err(missing),
    })
}

/// Calls `f` with a resource.
///
/// # Panics
///
/// If there is none of this type; and where [`with`](framestep::with()) does.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
///
/// #[derive(Resource)]
/// struct Score(u32);
///
/// async fn win() {
///     wait_until(|| resource(|score: &Score| score.0 >= 100)).await;
///     resource_mut(|score: &mut Score| score.0 = 0);
/// }
/// ```
#[track_caller]
pub fn resource<S: Resource, R>(f: impl FnOnce(&S) -> R) -> R {
    const CALL: Call = Call::new("resource", "take `Res<S>` as a parameter");
    match with_ref(CALL, |world| world.get_resource::<S>().map(f)) {
        Some(result) => result,
        None => no_resource(type_name::<S>()),
    }
}

/// Calls `f` with a resource, to change it. It always counts as changed.
///
/// # Panics
///
/// If there is none of this type; and where [`with`](framestep::with()) does.
#[track_caller]
pub fn resource_mut<S: Resource<Mutability = Mutable>, R>(f: impl FnOnce(&mut S) -> R) -> R {
    const CALL: Call = Call::new("resource_mut", "take `ResMut<S>` as a parameter");
    let found = with(CALL, |world| {
        let resource = world.get_resource_mut::<S>();
        resource.map(|mut resource| f(&mut resource))
    });
    match found {
        Some(result) => result,
        None => no_resource(type_name::<S>()),
    }
}

/// Panics in the line of the script.
#[cold]
#[track_caller]
pub(crate) fn no_resource(name: &str) -> ! {
    panic!(
        "the world has no resource `{name}`: insert it before the script needs it, with \
         `app.insert_resource(..)` or `app.init_resource::<..>()`, or add the plugin that does"
    )
}

/// Calls `f` with `Commands`, and applies them before it returns.
///
/// # Panics
///
/// Where [`with`](framestep::with()) does.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
///
/// #[derive(Component)]
/// struct Bullet;
///
/// async fn volley() {
///     for _ in 0..3 {
///         let bullet = commands(|commands| commands.spawn(Bullet).id());
///         wait_seconds(0.5).await;
///         bullet.despawn().unwrap();
///     }
/// }
/// ```
#[track_caller]
pub fn commands<R>(f: impl FnOnce(&mut Commands<'_, '_>) -> R) -> R {
    const CALL: Call = Call::new("commands", "take `Commands` as a parameter");
    with(CALL, |world| {
        let result = f(&mut world.commands());
        world.flush();
        result
    })
}

/// Writes a message.
///
/// # Panics
///
/// If the app has no messages of this type; and where [`with`](framestep::with()) does.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
///
/// #[derive(Message)]
/// struct DoorOpened(u32);
///
/// async fn open_door() {
///     wait_seconds(1).await;
///     write_message(DoorOpened(3));
/// }
/// ```
#[track_caller]
pub fn write_message<M: Message>(message: M) {
    const CALL: Call = Call::new("write_message", "take a `MessageWriter<M>` as a parameter");
    let written = with(CALL, |world| {
        let messages = world.get_resource_mut::<Messages<M>>();
        messages.map(|mut messages| _ = messages.write(message))
    });
    if written.is_none() {
        no_messages(type_name::<M>());
    }
}

/// Panics in the line of the script.
#[cold]
#[track_caller]
pub(crate) fn no_messages(name: &str) -> ! {
    panic!("the app has no messages of type `{name}`: call `app.add_message::<{name}>()`")
}

/// Triggers an event: its observers have run when this returns, and their commands are
/// applied.
///
/// # Panics
///
/// Where [`with`](framestep::with()) does.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
///
/// #[derive(EntityEvent)]
/// struct Explode(Entity);
///
/// async fn bomb(bomb: Entity) {
///     wait_seconds(3).await;
///     trigger(Explode(bomb));
/// }
/// ```
#[track_caller]
pub fn trigger<'a, E: Event<Trigger<'a>: Default>>(event: E) {
    const CALL: Call = Call::new("trigger", "use `commands.trigger(..)`");
    with(CALL, |world| {
        world.trigger(event);
        world.flush();
    });
}
