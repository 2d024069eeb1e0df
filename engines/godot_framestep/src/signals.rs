//! Waits for Godot's signals.

use std::fmt;

use framestep::Subscription;
use godot::prelude::*;

/// All emissions of a signal of Godot since [`emissions`] was called.
///
/// A script that waits for something else in between misses none, up to 1,024 of them.
/// Dropping it disconnects it from the signal.
pub struct Emissions {
    emitted: Subscription<Vec<Variant>>,
    signal: Signal,
    callable: Callable,
}

/// Subscribes to a signal of Godot, from this call on. The signal may have any
/// arguments.
///
/// ```no_run
/// use godot::prelude::*;
/// use godot_framestep::prelude::*;
///
/// async fn count_hits(target: Gd<Node3D>) {
///     let mut hits = emissions(&Signal::from_object_signal(&target, "hit"));
///     while let Some(arguments) = hits.next().await {
///         godot_print!("hit: {arguments:?}");
///         wait_seconds(0.5).await; // no hit is missed during this
///     }
///     godot_print!("the target is gone");
/// }
/// ```
///
/// A typed signal has its own futures, which work in scripts:
/// `target.signals().hit().to_fallible_future().await`.
pub fn emissions(signal: &Signal) -> Emissions {
    let (mut emit, emitted) = relay();
    let callable = Callable::from_fn("framestep", move |arguments: &[&Variant]| {
        emit(arguments.iter().copied().cloned().collect());
        Variant::nil()
    });
    signal.connect(&callable);
    Emissions {
        emitted,
        signal: signal.clone(),
        callable,
    }
}

/// Waits for the next emission after this call. Returns `None` if the object is freed
/// first.
///
/// # Resumes
///
/// In the home phase of the script: later in the same run if a script of that phase
/// emits the signal, else in the next run of that phase.
pub fn emitted(signal: &Signal) -> impl Future<Output = Option<Vec<Variant>>> + use<> {
    let mut emissions = emissions(signal);
    async move { emissions.next().await }
}

/// The callable emits into it, and scripts read it. When the callable is freed, for
/// example with the object of its signal, the subscription ends.
fn relay<T>() -> (impl FnMut(T), Subscription<T>) {
    let events = framestep::Signal::new();
    let subscription = events.subscribe();
    (move |event| events.emit(event), subscription)
}

impl Emissions {
    /// Waits for the next emission, and returns its arguments. Returns `None` if the
    /// object of the signal was freed, and all emissions are read.
    ///
    /// Dropping the wait loses nothing.
    #[expect(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> impl Future<Output = Option<Vec<Variant>>> {
        self.emitted.next()
    }
}

impl Drop for Emissions {
    fn drop(&mut self) {
        // The object may have been freed, and the connection with it.
        let Some(mut object) = self.signal.object() else {
            return;
        };
        let name = self.signal.name();
        if object.is_connected(&name, &self.callable) {
            object.disconnect(&name, &self.callable);
        }
    }
}

impl fmt::Debug for Emissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emissions")
            .field("signal", &self.signal)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use framestep::prelude::*;

    use super::relay;

    #[test]
    fn a_script_reads_all_that_was_emitted_and_hears_of_the_end() {
        let mut executor = Executor::new();
        let (mut emit, mut emitted) = relay();
        let sum = executor.start(async move {
            let mut sum = 0;
            while let Some(points) = emitted.next().await {
                sum += points;
                wait_seconds(1).await;
            }
            (sum, time().frame)
        });
        (1..4).for_each(&mut emit);
        for _ in 0..8 {
            executor.run_frame(0.25);
        }
        assert!(!sum.is_finished());
        // As when Godot frees the object, and its callables with it.
        drop(emit);
        // Read in frames 1, 5 and 9; the end is read in frame 13.
        assert_eq!(executor.run_until(sum, 0.25).unwrap(), (6, 13));
    }
}
