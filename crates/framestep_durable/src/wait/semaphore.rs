//! Semaphores of a runtime: they limit how many scripts do something at the same time.

use std::panic::Location;
use std::rc::Rc;

use framestep::durable::{
    Refused, RuntimeAcquire, RuntimePermit, RuntimeSemaphores, SemaphoresOf, SourceName,
    report_excess, semaphore_for,
};
use framestep::sync::Semaphore;

use crate::bytes::{Bytes, SourceTopic};
use crate::journal::Call;
use crate::script::caller::{Here, in_runtime, in_script_of};
use crate::wait::permit::{Acquires, HeldPermit};
use crate::wait::signal::expect_script;

/// Declares `count` permits that scripts find by their name: durable ones in their runtime, others in their executor.
///
/// It is a [`framestep::sync::Semaphore`] of which a runtime keeps, and saves, which scripts have a permit. Permits of
/// the same name must have the same number. Without any, each wait lasts until it is stopped, or another number is
/// [set](Semaphore::set_count); that is kept, and saved, until it is set to the number of the code again. Nothing is
/// kept for permits that no script has.
///
/// A permit that a script still has when its chapter ends is returned then, even if it was forgotten or is kept
/// elsewhere. [`Runtime::holders`](crate::RuntimeHandle::holders) returns the scripts that have one.
///
/// # Panics
///
/// As those of a [`signal`](crate::signal()).
///
/// # Examples
///
/// Two attack tokens for three goblins:
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const TOKENS: Semaphore = semaphore("attack tokens", 2);
///
/// #[durable]
/// async fn attack() -> u64 {
///     let _token = TOKENS.acquire().await;
///     let began = time().frame;
///     wait_seconds(1).await;
///     began
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(attack));
/// let goblins = [0, 1, 2].map(|_| runtime.start(attack()));
/// assert_eq!(runtime.named(&TOKENS).available(), 0);
/// for _ in 0..8 {
///     runtime.run_frame(0.25);
/// }
/// let began = goblins.map(|goblin| runtime.take(goblin).unwrap().unwrap());
/// assert_eq!(began, [0, 0, 4]);
/// ```
///
/// # Source
///
/// [`framestep::sync::semaphore`].
#[track_caller]
pub const fn semaphore(name: &'static str, count: usize) -> Semaphore {
    semaphore_for::<Here>(name, count)
}

impl SemaphoresOf for Here {
    fn semaphores() -> Box<dyn RuntimeSemaphores> {
        Box::new(Here)
    }
}

fn as_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

impl RuntimeSemaphores for Here {
    fn acquire(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        wanted: usize,
    ) -> Result<Box<dyn RuntimeAcquire>, Refused> {
        expect_script("permits.acquire()")?;
        let name = SourceTopic::of(semaphore);
        Ok(Box::new(Acquires::new(
            name,
            declared as u64,
            wanted as u64,
        )))
    }

    fn try_acquire(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        at: &'static Location<'static>,
    ) -> Result<Option<RuntimePermit>, Refused> {
        let cell = in_script_of("try_acquire")?;
        let events = cell.events();
        let taken = cell.effect(Call::at("try_acquire", semaphore.base, at), || {
            Bytes::of(&events.take_permits(cell.id, semaphore.full, declared as u64, 1))
        });
        let taken: Option<Option<u64>> = taken.and_then(|taken| taken.read());
        let permit = |number| -> RuntimePermit {
            let cell = Rc::downgrade(&cell);
            Box::new(HeldPermit::new(semaphore.base, cell, number))
        };
        Ok(taken.flatten().map(permit))
    }

    fn available(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        at: &'static Location<'static>,
    ) -> Result<usize, Refused> {
        let call = Call::at("available", semaphore.base, at);
        let free = in_runtime(call, |events| {
            events.free_permits(semaphore.full, declared as u64)
        });
        free.map(as_usize)
    }

    fn count(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        at: &'static Location<'static>,
    ) -> Result<usize, Refused> {
        let call = Call::at("count", semaphore.base, at);
        let count = in_runtime(call, |events| {
            events.permit_count(semaphore.full, declared as u64)
        });
        count.map(as_usize)
    }

    fn add(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        at: &'static Location<'static>,
        more: usize,
    ) -> Result<(), Refused> {
        let call = Call::at("add", semaphore.base, at);
        in_runtime(call, |events| {
            let added = events.add_permits(semaphore.full, declared as u64, more as u64);
            assert!(
                added.is_some(),
                "`add` at {at} got {more} permits, which are too many to count"
            );
        })
    }

    fn set_count(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        at: &'static Location<'static>,
        count: usize,
    ) -> Result<(), Refused> {
        let call = Call::at("set_count", semaphore.base, at);
        let mut taken = 0;
        in_runtime(call, |events| {
            events.set_permits(semaphore.full, declared as u64, count as u64);
            taken = as_usize(events.taken_permits(semaphore.full));
        })?;
        // In a replay, none are counted.
        if let Some(excess) = taken.checked_sub(count).filter(|&excess| excess > 0) {
            let of = format!(" of `{}`", semaphore.full);
            report_excess(&of, [count, taken, excess], at);
        }
        Ok(())
    }
}
