//! Watches of a runtime: named state that scripts share, and whose changes they can await.

use std::panic::Location;

use framestep::durable::{
    Refused, RuntimeChanges, RuntimeWatches, SourceName, WatchesOf, being_changed, name_of,
    watch_for,
};
use framestep::sync::Watch;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, SourceTopic, Type};
use crate::events::Changing;
use crate::journal::Call;
use crate::script::caller::{Caller, Here, caller, in_runtime};
use crate::script::{Registry, unreadable};
use crate::wait::changed::{Waits, call_of};
use crate::wait::removal::Removed;
use crate::wait::signal::expect_script;

/// Declares a watch that scripts find by its name: durable ones in their runtime, which saves it, others in their
/// executor.
///
/// It is a [`framestep::sync::Watch`] whose value a runtime can save. Watches of the same name must have the same type.
///
/// Before it is set, it is what `start` returns. In a runtime, that is called again each time: it must always return
/// the same. A save has no value that was not set, so another start value holds for earlier saves, too.
///
/// In a durable script, [`update`](Watch::update), [`update_if`](Watch::update_if) and [`replace`](Watch::replace) are
/// [`get`](Watch::get) and [`set`](Watch::set): when the script is restored, their closures are called again with the
/// recorded value. A wait counts from its first poll.
///
/// # Memory
///
/// A value that is set is kept, and saved, until it is [removed](Watch::remove): do that when its entity is gone.
/// Nothing is kept for a watch that is not set, and for which no script waits.
///
/// # Panics
///
/// As those of a [`signal`](crate::signal()).
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const STAGE: Watch<u32> = watch("stage", || 0);
///
/// #[durable]
/// async fn reward(quest: String) -> u32 {
///     let stage = STAGE.keyed(&quest).wait_for(|stage| *stage > 1).await;
///     STAGE.keyed(&quest).remove(); // the quest is over
///     stage
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(reward));
/// let reward = runtime.start(reward("dragon".into()));
/// let stage = runtime.named(&STAGE.keyed("dragon"));
/// stage.set(2);
/// runtime.run_frame(0.1);
/// assert_eq!(runtime.take(reward), Some(Ok(2)));
/// assert_eq!(stage.get(), 0);
/// ```
///
/// # Source
///
/// [`framestep::sync::watch`].
#[track_caller]
pub const fn watch<T>(name: &'static str, start: fn() -> T) -> Watch<T>
where
    T: Serialize + DeserializeOwned + 'static,
{
    watch_for::<T, Here>(name, start)
}

impl<T: Serialize + DeserializeOwned + 'static> WatchesOf<T> for Here {
    fn watches() -> Box<dyn RuntimeWatches<T>> {
        Box::new(Here)
    }
}

impl<T: Serialize + DeserializeOwned + 'static> RuntimeWatches<T> for Here {
    fn get(
        &self,
        watch: SourceName<'_>,
        start: fn() -> T,
        at: &'static Location<'static>,
    ) -> Result<T, Refused> {
        expect_unchanging(watch)?;
        let value = match caller() {
            Some(Caller::Script(cell)) => {
                let call = Call::at("get", watch.base, at).giving::<T>().about::<T>();
                let value = || cell.events().value(watch.full).1;
                cell.effect(call, || value().unwrap_or_else(|| Bytes::of(&start())))
            }
            Some(Caller::Host(shared)) => shared.events.value(watch.full).1,
            None => None,
        };
        Ok(value.map_or_else(start, |value| read(watch.full, &value)))
    }

    fn set(
        &self,
        watch: SourceName<'_>,
        at: &'static Location<'static>,
        value: T,
    ) -> Result<(), Refused> {
        expect_unchanging(watch)?;
        let call = Call::at("set", watch.base, at).about::<T>();
        in_runtime(call, |events| {
            events.set(watch.full, Some(Bytes::of(&value)));
        })
    }

    fn change(
        &self,
        watch: SourceName<'_>,
        start: fn() -> T,
        at: &'static Location<'static>,
        change: &mut dyn FnMut(&mut T) -> bool,
    ) -> Result<(), Refused> {
        let mut value = self.get(watch, start, at)?;
        let is_changed = {
            let _changing = caller().map(|place| Changing::begin(place.events(), watch.full, at));
            change(&mut value)
        };
        if is_changed {
            self.set(watch, at, value)?;
        }
        Ok(())
    }

    fn remove(
        &self,
        watch: SourceName<'_>,
        at: &'static Location<'static>,
    ) -> Result<bool, Refused> {
        expect_unchanging(watch)?;
        let call = Call::at("remove", watch.base, at);
        in_runtime(call, |events| {
            Removed::Watch.tell(watch.full, events);
            events.set(watch.full, None)
        })
    }

    fn wait(
        &self,
        watch: SourceName<'_>,
        start: fn() -> T,
        skips_present: bool,
    ) -> Result<Box<dyn RuntimeChanges<T>>, Refused> {
        expect_script(call_of(skips_present))?;
        let name = SourceTopic::of(watch);
        Ok(Box::new(Waits::new(name, start, skips_present)))
    }

    fn subscribe(
        &self,
        watch: SourceName<'_>,
        start: fn() -> T,
        at: &'static Location<'static>,
    ) -> Result<Box<dyn RuntimeChanges<T>>, Refused> {
        let name = SourceTopic::of(watch);
        Ok(Box::new(Waits::new(name, start, true).into_stream(at)?))
    }
}

/// # Errors
///
/// If a closure changes the watch.
fn expect_unchanging(watch: SourceName<'_>) -> Result<(), Refused> {
    let changed_at = caller().and_then(|place| place.events().changed_at(watch.full));
    match changed_at {
        Some(at) => Err(being_changed(at)),
        None => Ok(()),
    }
}

pub(super) fn read<T: DeserializeOwned>(name: &str, value: &Bytes) -> T {
    value.read().unwrap_or_else(|| {
        unreadable::<T>(format_args!(
            "the value `{name}` is not a `{}`: another value has the same name",
            std::any::type_name::<T>()
        ))
    })
}

impl Registry {
    /// Adds a value, also for all its [keys](Watch::keyed), whose type the registry must know to
    /// [describe](crate::SaveState::described) it, and to find out when a file is loaded or
    /// [checked](Self::check) that it is of another type now.
    ///
    /// # Panics
    ///
    /// If another type has the same name, or the watch has none.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const STAGE: Watch<u32> = watch("stage", Default::default);
    ///
    /// let registry = Registry::new().with_watch(&STAGE);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_watch<T>(mut self, watch: &Watch<T>) -> Self
    where
        T: Serialize + DeserializeOwned + 'static,
    {
        let Some(name) = name_of(watch) else {
            panic!(
                "`with_watch` got a watch without a name by which it is found: declare it as a constant, with \
                 `framestep_durable::watch`"
            )
        };
        self.add_value(name.base, Type::of::<T>());
        self
    }
}
