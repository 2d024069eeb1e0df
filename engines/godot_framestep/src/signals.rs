//! Waits for Godot's signals and for functions that await, such as those of `GDScript`.

mod relay;

use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::Subscription;
use godot::builtin::Callable;
use godot::global::Error;
use godot::prelude::*;

use relay::Relay;

/// All emissions of a signal of Godot since [`emissions`] was called.
///
/// A script that waits for something else in between misses none, up to 1,024 of them.
/// Dropping it disconnects it from the signal.
pub struct Emissions {
    emitted: Subscription<Vec<Variant>>,
    /// `None` if it could not be connected.
    signal: Option<Signal>,
    relay: Relay,
}

/// Subscribes to a signal of Godot, from this call on. The signal may have any
/// arguments. In a snapshot, the wait has the name of the object and of the signal.
///
/// A typed signal of the crate godot is passed as
/// `&target.signals().hit().to_untyped()`.
///
/// # Errors
///
/// If the signal's object is freed, or if its class has no such signal, the stream has
/// ended. For a signal that does not exist, Godot's output also shows an error with the
/// line of this call.
///
/// # Other threads
///
/// Emit on the main thread, with `call_deferred("emit_signal", ..)` on others. The crate godot
/// shows an error for an emission there, unless its feature `experimental-threads` is
/// enabled. Without arguments, it arrives in the next run of `Update`; one with arguments is
/// lost, because they belong to that thread, and an error says so.
///
/// # Examples
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
#[track_caller]
pub fn emissions(signal: &Signal) -> Emissions {
    subscribe(signal, &name_of(signal), Location::caller())
}

fn subscribe(signal: &Signal, name: &str, caller: &Location<'_>) -> Emissions {
    let (relay, emitted) = Relay::new(name);
    let signal = connect(signal, &relay, caller).then(|| signal.clone());
    if signal.is_none() {
        relay.end();
    }
    Emissions {
        emitted,
        signal,
        relay,
    }
}

fn connect(signal: &Signal, relay: &Relay, caller: &Location<'_>) -> bool {
    let Some(mut object) = signal.object() else {
        return false;
    };
    let name = signal.name();
    if !object.has_signal(&name) {
        godot_error!("{caller}: there is no signal {}", name_of(signal));
        return false;
    }
    object.connect(&name, &Callable::from_custom(relay.connection())) == Error::OK
}

/// The name of the node, or of the class of another object, and of the signal.
fn name_of(signal: &Signal) -> String {
    let of = match signal.object().map(Gd::try_cast::<Node>) {
        Some(Ok(node)) => node.get_name().to_string(),
        Some(Err(object)) => object.get_class().to_string(),
        None => "freed".to_owned(),
    };
    format!("{of}.{}", signal.name())
}

/// Waits for the next emission after this call. Returns its arguments, or `None` if the
/// object is freed first.
///
/// # Resumes
///
/// In the home phase of the script: later in the same run if a script of that phase
/// emits the signal, else in the next run of that phase.
///
/// # Cancel safety
///
/// Dropping the future disconnects it. An emission that it has not returned is lost; with
/// [`emissions`] none is.
///
/// # Errors
///
/// Those of [`emissions`].
///
/// # Examples
///
/// ```no_run
/// use godot::classes::Button;
/// use godot::prelude::*;
/// use godot_framestep::prelude::*;
///
/// async fn wait_for_start(button: Gd<Button>) {
///     let pressed = Signal::from_object_signal(&button, "pressed");
///     if emitted(&pressed).await.is_some() {
///         godot_print!("the game begins");
///     }
/// }
/// ```
#[track_caller]
pub fn emitted(signal: &Signal) -> impl Future<Output = Option<Vec<Variant>>> + use<> {
    Emitted(emissions(signal))
}

/// Not an `async` block: a snapshot shows the line at which this is awaited.
struct Emitted(Emissions);

impl Future for Emitted {
    type Output = Option<Vec<Variant>>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0.emitted.next()).poll(cx)
    }
}

/// Calls a function of any language of Godot, and waits for its end if it is a function
/// of `GDScript` that awaits. Returns what it returns.
///
/// The call is made at once; this future need not be awaited. A function that never awaits
/// has ended when this returns.
///
/// # Output
///
/// `None` if the function cannot end any more: it is a method of an object that is freed.
///
/// # Resumes
///
/// Without a wait if the function has ended. Else in the home phase of the script, like
/// [`emitted`].
///
/// # Cancel safety
///
/// Dropping the future does not stop the function: nothing stops a function of `GDScript`
/// but the end of its object.
///
/// # Errors
///
/// If the callable's object is freed, the output is `None`. Errors in the function are
/// shown by Godot; it then returns nil.
///
/// # Panics
///
/// If the object is alive and has no method of that name.
///
/// # Examples
///
/// ```no_run
/// use godot::prelude::*;
/// use godot_framestep::prelude::*;
///
/// /// In `GDScript`: `func talk(line: String) -> bool: ..`, with an `await` in it.
/// async fn quest(guard: Gd<Node>) {
///     let answer = called(&guard.callable("talk"), vslice!["Who goes there?"]).await;
///     let Some(answer) = answer else {
///         return; // the guard is gone
///     };
///     if answer.to::<bool>() {
///         godot_print!("you may pass");
///     }
/// }
/// ```
#[track_caller]
pub fn called(
    callable: &Callable,
    arguments: &[Variant],
) -> impl Future<Output = Option<Variant>> + use<> {
    call(callable, arguments, Location::caller())
}

enum Called {
    /// Until it is taken.
    Returned(Variant),
    Awaits(Emitted),
    Never,
}

impl Future for Called {
    type Output = Option<Variant>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Called::Returned(value) => Poll::Ready(Some(mem::take(value))),
            Called::Never => Poll::Ready(None),
            Called::Awaits(ended) => {
                let arguments = Pin::new(ended).poll(cx);
                arguments.map(|arguments| arguments?.into_iter().next())
            }
        }
    }
}

fn call(callable: &Callable, arguments: &[Variant], caller: &'static Location<'static>) -> Called {
    if !callable.is_valid() {
        let method = callable.method_name().unwrap_or_default();
        match callable.object() {
            Some(object) => panic!("{caller}: {object} has no method {method}"),
            None => return Called::Never,
        }
    }
    let name = callable.method_name().unwrap_or_default();
    let returned = callable.callv(&arguments.iter().cloned().collect::<VarArray>());
    // What a function returns that awaits. Its own waits keep it alive. A reference from here
    // would do so even after the end of its object, and it would never end.
    let Ok(state) = returned.try_to::<Gd<Object>>() else {
        return Called::Returned(returned);
    };
    if !state.is_class("GDScriptFunctionState") {
        return Called::Returned(returned);
    }
    let signal = Signal::from_object_signal(&state, "completed");
    let ended = subscribe(&signal, &format!("the end of {name}"), caller);
    Called::Awaits(Emitted(ended))
}

impl Emissions {
    /// Waits for the next emission, and returns its arguments. Returns `None` if the
    /// object of the signal was freed, and all emissions are read.
    ///
    /// # Resumes
    ///
    /// Like [`emitted`].
    ///
    /// # Cancel safety
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
        let Some(signal) = &self.signal else {
            return;
        };
        let Some(mut object) = signal.object() else {
            return;
        };
        let name = signal.name();
        let callable = Callable::from_custom(self.relay.clone());
        if object.is_connected(&name, &callable) {
            object.disconnect(&name, &callable);
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
