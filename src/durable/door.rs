//! What can be read and replaced in an executor between two runs.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::cold::Cold;
use crate::core::life::end;
use crate::core::life::end::requests::{self, Then};
use crate::core::life::start::{self, Home};
use crate::core::observe;
use crate::core::owners::{NextEnd, OwnerKey};
use crate::core::report::{self, panics};
use crate::core::scope::named;
use crate::core::task::{MoveIn, Moved, Moving, move_in};
use crate::core::view::{Script, View};
use crate::core::{Core, run, wake};
use crate::executor::Executor;
use crate::image::{ClockNames, Damaged, Reader, Writer};
use crate::inspect::{Hook, Line, Report, SpawnError};
use crate::lend::{self, Dismissed, LendError, Origin};
use crate::task::coroutine::{Coroutine, CoroutineId, Finished};
use crate::task::owner::Owner;
use crate::time::{Clock, ClockGuard, FrameClock, Phase, PhaseIndex, Time};
use crate::wait::polled;

use super::clock::SavedGuard;
use super::image::{self, Unsavable};
use super::names::Names;
use super::wait::{DurableWait, EndOf};

/// A request to stop the coroutines of an owner.
#[derive(Clone, Copy, Debug)]
pub struct OwnerStop {
    owner: OwnerKey,
    end: NextEnd,
}

/// Access to the state of an executor.
#[derive(Clone)]
pub struct Door {
    core: Rc<Core>,
}

impl Executor {
    /// Gives the crate `framestep_durable` access to an executor.
    #[doc(hidden)]
    #[must_use]
    pub fn durable(&self) -> Door {
        Door {
            core: Rc::clone(self.core()),
        }
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").finish_non_exhaustive()
    }
}

impl Door {
    pub(super) fn core(&self) -> &Core {
        &self.core
    }

    /// Panics at the caller's line if a run is under way, or a coroutine is being polled.
    #[track_caller]
    pub fn assert_idle(&self, call: &str) {
        run::assert_idle(&self.core, call);
    }

    /// Forgets what code has said of the names of signals, watches and semaphores: other code takes its place.
    pub fn forget_declared(&self) {
        self.core.sources.forget_declared();
    }

    /// The names of the types that are lent, the innermost first.
    #[must_use]
    pub fn names_of_lent(&self) -> Vec<&'static str> {
        self.core.lent.names()
    }

    /// Stops a coroutine, and says that the call at `place` does. Returns `false` if it has ended.
    pub fn stop(&self, id: CoroutineId, place: Option<Line>) -> bool {
        let key = self.core.key_of(id);
        key.is_some_and(|key| end::stop(&self.core, key, place))
    }

    /// Stops the coroutines of an owner and of those below it, and says that the call at `place` does.
    pub fn stop_all(&self, owner: &Owner, place: Option<Line>) {
        end::stop_owned(&self.core, owner.key(), place);
    }

    /// Activates an owner, or deactivates it and stops its coroutines, and says that the call at
    /// `place` does.
    pub fn set_active(&self, owner: &Owner, active: bool, place: Option<Line>) {
        owner.set_active_at(active, place);
    }

    /// What has stopped a coroutine that has a handle and whose future is being dropped: the name of
    /// the coroutine that made the call, and the line of that, as far as they are known.
    #[must_use]
    pub fn stopper(&self, id: CoroutineId) -> (Option<Cow<'static, str>>, Option<Line>) {
        let task = self
            .core
            .key_of(id)
            .and_then(|key| self.core.tasks.get(key));
        let read = |cold: &mut Cold| {
            let stopper = cold.stopper.as_ref()?;
            Some((stopper.by.clone(), stopper.place))
        };
        let stopper = task.and_then(|task| self.core.colds.of(task, read));
        stopper.flatten().unwrap_or_default()
    }

    /// Whether a run is under way.
    #[must_use]
    pub fn is_in_run(&self) -> bool {
        self.core.runs.phase().is_some()
    }

    /// A wait for the end of a coroutine, which may have no handle. `None` if it is gone.
    #[must_use]
    pub fn end_of(&self, id: CoroutineId) -> Option<DurableWait> {
        let task = self.core.tasks.get(self.core.key_of(id)?)?;
        let task = self.core.tasks.refer(task);
        Some(DurableWait::end(Finished::of_task(self.core.clone(), task)))
    }

    /// Adds a waiting coroutine. It is not polled before its waits are restored.
    #[track_caller]
    pub fn insert<F>(
        &self,
        future: F,
        home: Phase,
        owner: Option<&Owner>,
        name: Cow<'static, str>,
    ) -> Coroutine<()>
    where
        F: Future<Output = ()> + 'static,
    {
        let script = Restored {
            core: &self.core,
            home: Home::named(home),
            owner: owner.map(Owner::key),
            name,
        };
        match move_in(future, script) {
            Some(((), task)) => Coroutine::made(Some((self.core.clone(), task))),
            None => Coroutine::default(),
        }
    }

    /// Adds a request to stop to an owner whose coroutines the caller asks itself: after `length_ns`,
    /// `call` is called, which stops what is left. `number` names the request in images.
    pub fn stop_within(
        &self,
        owner: &Owner,
        length_ns: Option<u64>,
        number: u64,
        call: Rc<dyn Fn()>,
    ) -> OwnerStop {
        let then = Then::Call { number, call };
        OwnerStop {
            owner: owner.key(),
            end: requests::add(&self.core, owner.key(), length_ns, then),
        }
    }

    /// The same for a request that is read from an image, whose owner has its coroutines.
    #[must_use]
    pub fn loaded_stop(&self, owner: &Owner) -> OwnerStop {
        let owner = owner.key();
        let end = self.core.owners.borrow().next_end(owner);
        OwnerStop { owner, end }
    }

    /// Whether a request is over, because its owner has ended.
    #[must_use]
    pub fn is_over(&self, stop: &OwnerStop) -> bool {
        self.core.owners.borrow().has_come(stop.owner, stop.end)
    }

    /// Wakes coroutines, like calls of their wakers. The host is notified after the last one: its
    /// waker may call any function, so it must not see that only some have been woken. A panic
    /// of it is discarded.
    pub fn wake_all(&self, coroutines: &[CoroutineId]) {
        let core = &self.core;
        wake::take_messages_between_runs(core);
        core.host.silenced(|| {
            let keys = coroutines.iter().filter_map(|&id| core.key_of(id));
            keys.for_each(|key| wake::wake(core, key));
        });
        observe::settle(core);
    }

    /// Calls `f`, which replaces the state of the executor. Trace hooks and the waker of the host
    /// are called after it: they may call any function, which must not find half of a state.
    pub fn replace<R>(&self, f: impl FnOnce() -> R) -> R {
        let replaced = self.core.host.silenced(f);
        observe::settle(&self.core);
        replaced
    }

    /// Calls a hook of the host, as no part of the coroutine being polled. Its panic is reported,
    /// or passed on by the run. Returns whether there is one that is not being called already.
    pub fn call_hook<E>(&self, name: &'static str, hook: &Hook<E>, event: &E) -> bool {
        match report::as_host(&self.core, || hook.call(event)) {
            Ok(is_set) => is_set,
            Err(payload) => {
                panics::hook_panicked(&self.core, name, payload);
                true
            }
        }
    }

    /// The number of runs so far, of all phases.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.core.runs.serial()
    }

    /// Whether these coroutines, and no others, can be saved now.
    ///
    /// # Errors
    ///
    /// If they cannot.
    pub fn check(&self, coroutines: &[CoroutineId]) -> Result<(), Unsavable> {
        let keys = self.keys(coroutines)?;
        wake::take_messages_between_runs(&self.core);
        image::check(View::new(&self.core), &keys)?;
        match self.core.lent.first_deferred() {
            Some(Origin {
                function,
                state,
                place,
            }) => Err(Unsavable::Deferred {
                function,
                state,
                place,
            }),
            None => Ok(()),
        }
    }

    /// Takes the closures that wait for lent state, for the caller to drop: what replaces the state of the executor is of
    /// another time.
    #[must_use = "dropping it calls user code"]
    pub fn dismiss_deferred(&self) -> Dismissed {
        self.core.lent.dismiss()
    }

    /// Whether something has a waker of a coroutine.
    #[must_use]
    pub fn is_waker_held(&self, id: CoroutineId) -> bool {
        let key = self.core.key_of(id);
        let script = key.and_then(|key| View::new(&self.core).get(key));
        script.is_some_and(Script::is_waker_held)
    }

    fn keys(&self, coroutines: &[CoroutineId]) -> Result<Vec<TaskKey>, Unsavable> {
        let mut keys = Vec::with_capacity(coroutines.len());
        for &id in coroutines {
            let other = || Unsavable::OtherCoroutines(id.to_string());
            keys.push(self.core.key_of(id).ok_or_else(other)?);
        }
        Ok(keys)
    }

    /// The settings that images of clocks depend on: the length of fixed steps, and that of
    /// the longest frame.
    #[must_use]
    pub fn settings(&self) -> [Duration; 2] {
        [self.core.clock.fixed_delta(), self.core.clock.max_delta()]
    }

    /// Numbers clocks that were made by `child`, parents before children.
    #[must_use]
    pub fn name_clocks(&self, clocks: &[Clock]) -> ClockNames {
        let states = clocks.iter().map(|clock| Rc::clone(clock.state()));
        ClockNames::new(states.collect())
    }

    /// Writes the executor's own clocks and `clocks`. `guards` is how many guards of these the
    /// caller saves itself.
    ///
    /// # Errors
    ///
    /// If other guards hold or scale one of them.
    pub fn save_clocks(
        &self,
        clocks: &ClockNames,
        guards: usize,
        out: &mut Writer,
    ) -> Result<(), Unsavable> {
        image::save_clocks(&self.core, clocks, guards, out)
    }

    /// Reads what [`save_clocks`](Self::save_clocks) has written, in an executor with the same
    /// [settings](Self::settings), whose clocks have no guards. Returns the guards of the image.
    ///
    /// # Errors
    ///
    /// If the image is damaged, or the guards do not fit their clocks.
    pub fn load_clocks(
        &self,
        clocks: &ClockNames,
        guards: &[SavedGuard],
        image: &mut Reader<'_>,
    ) -> Result<Vec<ClockGuard>, Damaged> {
        let asked = guards.iter().map(SavedGuard::asks);
        let asked: Vec<_> = asked.collect::<Result<_, _>>()?;
        image::load_clocks(&self.core, clocks, &asked, image)?;
        let guards = guards.iter().zip(asked);
        let restored = guards.map(|(of, (_, asks))| ClockGuard::restored(&of.clock, asks));
        Ok(restored.collect())
    }

    /// Writes a wait that has begun.
    ///
    /// # Errors
    ///
    /// If the wait counts on an unknown clock.
    pub fn save_wait(
        &self,
        wait: &DurableWait,
        clocks: &ClockNames,
        out: &mut Writer,
    ) -> Result<(), Unsavable> {
        wait.save(&self.core, clocks, out)
    }

    /// Makes a wait of an [inserted](Self::insert) coroutine from what
    /// [`save_wait`](Self::save_wait) has written. `end_of` is what the wait awaits the end of.
    ///
    /// # Errors
    ///
    /// If the image is damaged.
    pub fn load_wait(
        &self,
        id: CoroutineId,
        end_of: EndOf<'_>,
        clocks: &ClockNames,
        image: &mut Reader<'_>,
    ) -> Result<DurableWait, Damaged> {
        let key = self.core.key_of(id).ok_or(Damaged)?;
        let task = self.core.tasks.get(key).ok_or(Damaged)?;
        DurableWait::load(&self.core, task, end_of, clocks, image)
    }

    /// Writes which waits and coroutines are in which lists of the executor. Their positions in
    /// the slices identify them, and those of the owners whose ends are awaited.
    ///
    /// # Errors
    ///
    /// If a coroutine is not one of this executor, or has registered a wait that is not in the
    /// slice.
    pub fn save_lists(
        &self,
        coroutines: &[CoroutineId],
        waits: &[&DurableWait],
        owners: &[&Owner],
        clocks: &ClockNames,
        out: &mut Writer,
    ) -> Result<(), Unsavable> {
        let (tasks, waits) = (self.keys(coroutines)?, keys_of(&self.core, waits));
        let names = Names::new(&tasks, &waits, clocks);
        let view = View::new(&self.core);
        image::check_waits(view, &names)?;
        image::save_lists(view, &names, out);
        image::save_owner_ends(view, owners, &names, out);
        requests::save(&self.core, owners, clocks, out);
        Ok(())
    }

    /// Reads what [`save_lists`](Self::save_lists) has written. `stops` makes what a [request to
    /// stop](Self::stop_within) of a number calls; `None` if there is none of that number.
    ///
    /// # Errors
    ///
    /// If the image is damaged.
    pub fn load_lists(
        &self,
        coroutines: &[CoroutineId],
        waits: &[&DurableWait],
        owners: &[&Owner],
        clocks: &ClockNames,
        stops: &mut dyn FnMut(u64) -> Option<Rc<dyn Fn()>>,
        image: &mut Reader<'_>,
    ) -> Result<(), Damaged> {
        let tasks = self.keys(coroutines).map_err(|_| Damaged)?;
        let keys = keys_of(&self.core, waits);
        let names = Names::new(&tasks, &keys, clocks);
        image::load_lists(&self.core, &names, waits, image)?;
        image::load_owner_ends(&self.core, owners, &names, waits, image)?;
        requests::load(&self.core, owners, clocks, image, stops)
    }

    /// Reports that a coroutine is refused whose owner is not there any more, or is of another executor.
    pub fn report_refused(&self, name: &'static str, place: Line) {
        let report = Report::Refused {
            name: name.into(),
            place,
            reason: SpawnError::OwnerGone,
        };
        report::refused(Some(&self.core), &report);
    }

    /// Reports a call that has no use.
    pub fn report_suspicious(&self, text: String, place: Line) {
        report::refused(Some(&self.core), &Report::SuspiciousCall { place, text });
    }

    /// Reports that no script of an owner has read the request to stop that `place` has made, and
    /// that `scripts` of them are stopped.
    pub fn report_stop_ignored(
        &self,
        owner: &Owner,
        place: &'static Location<'static>,
        scripts: usize,
    ) {
        let owner = self.core.owners.borrow().label(owner.key());
        let report = Report::StopIgnored {
            owner,
            place,
            scripts,
        };
        report::send(&self.core, &report);
    }
}

/// The keys of waits. `NONE` for waits that are not registered any more: another wait may have
/// taken their place.
fn keys_of(core: &Core, waits: &[&DurableWait]) -> Vec<WaitKey> {
    let keys = waits.iter().map(|wait| wait.key());
    let live = |key| {
        if core.waits().is_live(key) {
            key
        } else {
            WaitKey::NONE
        }
    };
    keys.map(live).collect()
}

/// Calls `f` with lent state, for a script that records the result itself.
///
/// # Errors
///
/// As [`try_with`](crate::lend::try_with).
#[track_caller]
pub fn borrow_mut<S: 'static, R>(f: impl FnOnce(&mut S) -> R) -> Result<R, LendError> {
    lend::borrow_mut_here(f)
}

/// The same with a shared reference.
///
/// # Errors
///
/// As [`try_with_ref`](crate::lend::try_with_ref).
#[track_caller]
pub fn borrow<S: 'static, R>(f: impl FnOnce(&S) -> R) -> Result<R, LendError> {
    lend::borrow_here(f)
}

/// The time, which is not recorded here.
///
/// # Panics
///
/// Outside of an executor.
#[must_use]
#[track_caller]
pub fn time_now() -> Time {
    polled("time()", named::time)
}

/// Writes a reading of the clocks.
pub fn save_time(time: &Time, out: &mut Writer) {
    out.put(time.frame);
    let lengths = [
        time.delta,
        time.elapsed,
        time.unscaled_delta,
        time.unscaled_elapsed,
        time.fixed_delta,
        time.fixed_elapsed,
    ];
    for length in lengths {
        // The clocks count in as many nanoseconds.
        out.put(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX));
    }
    out.put(time.scale.to_bits());
    let phase = time.phase.map(|phase| PhaseIndex::new(phase).as_usize());
    out.put_len(phase.map_or(0, |phase| phase + 1));
}

/// Reads what [`save_time`] has written.
///
/// # Errors
///
/// If the image is damaged.
pub fn load_time(image: &mut Reader<'_>) -> Result<Time, Damaged> {
    let frame = image.take()?;
    let mut length = || image.take().map(Duration::from_nanos);
    Ok(Time {
        frame,
        delta: length()?,
        elapsed: length()?,
        unscaled_delta: length()?,
        unscaled_elapsed: length()?,
        fixed_delta: length()?,
        fixed_elapsed: length()?,
        scale: f64::from_bits(image.take()?),
        phase: match image.take()? {
            0 => None,
            phase => Some(PhaseIndex::from_number(phase - 1).ok_or(Damaged)?.phase()),
        },
    })
}

/// The number of a phase, for files.
#[must_use]
pub fn phase_number(phase: Phase) -> u64 {
    PhaseIndex::new(phase).as_usize() as u64
}

/// The phase of a number.
///
/// # Errors
///
/// If there is none.
pub fn phase_of(number: u64) -> Result<Phase, Damaged> {
    let index = PhaseIndex::from_number(number).ok_or(Damaged)?;
    Ok(index.phase())
}

/// Stores a coroutine whose waits are restored later.
struct Restored<'c> {
    core: &'c Core,
    home: Home,
    owner: Option<OwnerKey>,
    name: Cow<'static, str>,
}

impl MoveIn for Restored<'_> {
    type Beside = ();

    #[track_caller]
    fn move_in(self, future: Moving<'_>) -> Option<((), Moved<'_>)> {
        let Restored {
            core,
            home,
            owner,
            name,
        } = self;
        let (task, moved) = start::store(core, Some(name), future, home, owner);
        if core.instruments.is_on() {
            observe::spawned(core, task, Location::caller());
        }
        Some(((), moved))
    }
}

/// The frame and the time of the game clock in an image of the clocks.
#[must_use]
pub fn saved_time(clocks: &[u64]) -> Option<(u64, Duration)> {
    let (frame, game_ns) = FrameClock::skim(clocks)?;
    Some((frame, Duration::from_nanos(game_ns)))
}
