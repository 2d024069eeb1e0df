//! Wraps a script that a system or the host starts: its clock, its errors.

use std::any::type_name;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bevy_ecs::prelude::*;
use framestep::time::Clock;
use framestep::wait::on_clock;

use crate::executor::Shared;
use crate::output::{ScriptOutput, Witness, report};

/// A function or closure that makes a script: `|| poison(3)`.
///
/// Every `FnOnce() -> F` is one. The trait is there for the messages of the compiler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that makes a script",
    label = "not a function without arguments",
    note = "pass the function itself, `intro`, or a closure, `|| intro(3)`: \
            `intro()` is the script already"
)]
pub trait ScriptFn<F>: FnOnce() -> F {}

impl<S: FnOnce() -> F, F> ScriptFn<F> for S {}

/// A function or closure that makes a script of an entity: `|goblin| poison(goblin, 3)`.
///
/// Every `FnOnce(Entity) -> F` is one. The trait is there for the messages of the compiler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that makes a script of an entity",
    label = "not a function of an `Entity`",
    note = "pass the function itself, `poison`, or a closure, `|goblin| poison(goblin, 3)`: \
            `poison(goblin)` is the script already"
)]
pub trait EntityScriptFn<F>: FnOnce(Entity) -> F {}

impl<S: FnOnce(Entity) -> F, F> EntityScriptFn<F> for S {}

/// The clocks of entities whose running scripts were slowed down.
///
/// An owner keeps the clock that it was made with, so the clock is switched around each poll
/// of its scripts.
#[derive(Default)]
pub(crate) struct Speeds {
    /// Checked in each poll of a script of an entity.
    any: Cell<bool>,
    clocks: RefCell<HashMap<Entity, Clock>>,
    /// The entities that have their own clock.
    own: RefCell<HashSet<Entity>>,
}

impl Speeds {
    #[inline]
    fn of(&self, entity: Entity) -> Option<Clock> {
        if !self.any.get() {
            return None;
        }
        self.clocks.borrow().get(&entity).cloned()
    }

    /// Makes the scripts of an entity count on its own clock, below `base`.
    pub(crate) fn set_speed(
        &self,
        entity: Entity,
        base: impl FnOnce() -> Option<Clock>,
        speed: f64,
    ) {
        let known = self
            .of(entity)
            .filter(|_| self.own.borrow().contains(&entity));
        let clock = known.or_else(|| Some(base()?.child()));
        if let Some(clock) = clock {
            clock.set_scale(speed);
            self.set(entity, clock);
            self.own.borrow_mut().insert(entity);
        }
    }

    #[inline]
    fn poll<F: Future>(
        &self,
        entity: Entity,
        mut script: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<F::Output> {
        match self.of(entity) {
            None => script.poll(cx),
            Some(clock) => {
                let poll = |cx: &mut Context<'_>| script.as_mut().poll(cx);
                pin!(on_clock(&clock, poll_fn(poll))).poll(cx)
            }
        }
    }

    pub(crate) fn set(&self, entity: Entity, clock: Clock) {
        let before = self.clocks.borrow_mut().insert(entity, clock);
        drop(before);
        self.own.borrow_mut().remove(&entity);
        self.any.set(true);
    }

    pub(crate) fn forget(&self, entity: Entity) {
        if !self.any.get() {
            return;
        }
        self.own.borrow_mut().remove(&entity);
        let before = self.clocks.borrow_mut().remove(&entity);
        drop(before);
        self.any.set(!self.clocks.borrow().is_empty());
    }
}

thread_local! {
    static CLOCKS: RefCell<HashMap<u64, Clock>> = RefCell::default();
}

/// Names a clock that a component counts on: the clock itself stays on its thread.
pub(crate) struct ClockKey(u64);

impl ClockKey {
    pub(crate) fn new(clock: &Clock) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let key = NEXT.fetch_add(1, Ordering::Relaxed);
        _ = CLOCKS.try_with(|clocks| clocks.borrow_mut().insert(key, clock.clone()));
        ClockKey(key)
    }

    /// `None` on another thread, and while the thread ends.
    pub(crate) fn get(&self) -> Option<Clock> {
        let clock = CLOCKS.try_with(|clocks| clocks.borrow().get(&self.0).cloned());
        clock.ok().flatten()
    }
}

impl Drop for ClockKey {
    fn drop(&mut self) {
        // They do not exist any more while the thread ends.
        let clock = CLOCKS.try_with(|clocks| clocks.borrow_mut().remove(&self.0));
        drop(clock);
    }
}

/// The name of a script in snapshots and reports: for an `async fn`, its path. The type of
/// the wrapper future would not say which script it is.
pub(crate) fn name_of<F>() -> &'static str {
    let name = type_name::<F>();
    name.strip_suffix("::{{closure}}").unwrap_or(name)
}

/// A script of an entity, whose output the handle returns. It is made inside, where the free
/// functions work.
pub(crate) async fn of_entity<S, F>(
    script: S,
    entity: Entity,
    speeds: Rc<Speeds>,
    witness: Option<Witness>,
) -> F::Output
where
    S: EntityScriptFn<F>,
    F: Future,
{
    let mut script = pin!(script(entity));
    let output = poll_fn(move |cx| speeds.poll(entity, script.as_mut(), cx)).await;
    if let Some(witness) = witness {
        witness.returns(entity);
    }
    output
}

/// A script whose output nothing reads. The errors of the scripts that it starts are heard,
/// too.
pub(crate) fn unobserved<F>(
    shared: &Shared,
    script: F,
    name: &'static str,
    entity: Option<Entity>,
) -> impl Future<Output = ()> + use<F>
where
    F: Future<Output: ScriptOutput>,
{
    shared.hear::<F::Output>();
    async move {
        if let Err(error) = script.await.into_result() {
            report(error, name.into(), entity);
        }
    }
}
