//! Waits for Godot's signals and for functions that await, such as those of `GDScript`.

mod arguments;
mod relay;

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::next_frame;
use framestep::sync::Subscription;
use framestep::wait::NextFrame;
use godot::builtin::Callable;
use godot::global::Error;
use godot::prelude::*;

pub use arguments::SignalArguments;
use relay::{Emission, Relay, Subscriber};

/// Waits for a signal of Godot.
///
/// The signal is a typed one of the crate godot, whose arguments are a tuple, such as
/// `(Gd<Node3D>,)` for `body_entered`. Or it is a [`Signal`], whose arguments are a `Vec<Variant>`.
pub trait SignalWaits {
    /// What an emission returns.
    type Arguments: SignalArguments;

    /// The same signal, without the types of its arguments.
    fn to_signal(&self) -> Signal;

    /// Waits for the next emission after this call. Returns its arguments, or `None` if the
    /// object is freed first.
    ///
    /// # Resumes
    ///
    /// In the home phase of the script: later in the same run if a script of that phase
    /// emits the signal, else in the next run of that phase. If the object is freed already, in the
    /// next frame, so that a loop does not stop the game.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future disconnects it. An emission that it has not returned is lost; with
    /// [`emissions`](Self::emissions) none is.
    ///
    /// # Errors
    ///
    /// Those of [`emissions`](Self::emissions).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use godot::classes::{Area3D, Button};
    /// use godot::prelude::*;
    /// use godot_framestep::prelude::*;
    ///
    /// async fn wait_for_start(button: Gd<Button>) {
    ///     if button.signals().pressed().emitted().await.is_some() {
    ///         godot_print!("the game begins");
    ///     }
    /// }
    ///
    /// async fn greet(doorway: Gd<Area3D>) {
    ///     let entered = doorway.signals().body_entered().emitted();
    ///     if let Some((guest,)) = entered.await {
    ///         godot_print!("welcome, {}", guest.get_name());
    ///     }
    /// }
    /// ```
    #[track_caller]
    fn emitted(&self) -> Emitted<Self::Arguments> {
        Emitted::new(self.emissions())
    }

    /// Subscribes to a signal of Godot, from this call on. In a snapshot, the wait has the name of
    /// the object and of the signal.
    ///
    /// # Errors
    ///
    /// If the signal's object is freed, or if its class has no such signal, the stream has
    /// ended. For a signal that does not exist, Godot's output also shows an error with the
    /// line of this call.
    ///
    /// A typed signal that is emitted with other arguments, which `GDScript` can do, is an error in
    /// Godot's output, with the line of this call. That emission is left out.
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
    /// use godot::classes::Area3D;
    /// use godot::prelude::*;
    /// use godot_framestep::prelude::*;
    ///
    /// async fn count_guests(doorway: Gd<Area3D>) {
    ///     let mut guests = doorway.signals().body_entered().emissions();
    ///     while let Some((guest,)) = guests.next().await {
    ///         godot_print!("welcome, {}", guest.get_name());
    ///         wait_seconds(0.5).await; // no guest is missed during this
    ///     }
    ///     godot_print!("the doorway is gone");
    /// }
    ///
    /// /// A signal of `GDScript`.
    /// async fn count_hits(target: Gd<Node3D>) {
    ///     let mut hits = Signal::from_object_signal(&target, "hit").emissions();
    ///     while let Some(arguments) = hits.next().await {
    ///         godot_print!("hit: {arguments:?}");
    ///     }
    /// }
    /// ```
    #[track_caller]
    fn emissions(&self) -> Emissions<Self::Arguments> {
        let signal = self.to_signal();
        let name = name_of(&signal);
        subscribe(&signal, name, Location::caller())
    }
}

impl SignalWaits for Signal {
    type Arguments = Vec<Variant>;

    fn to_signal(&self) -> Signal {
        self.clone()
    }
}

/// All emissions of a signal of Godot since [`emissions`](SignalWaits::emissions) was called.
///
/// A script that waits for something else in between misses none, up to 1,024 of them.
/// Dropping it disconnects it from the signal.
pub struct Emissions<A = Vec<Variant>> {
    connection: Connection,
    arguments: PhantomData<fn() -> A>,
}

/// Not generic, as all that can be.
struct Connection {
    emitted: Subscription<Emission>,
    /// `None` if it could not be connected.
    signal: Option<Signal>,
    relay: Relay,
}

fn subscribe<A: SignalArguments>(
    signal: &Signal,
    name: String,
    caller: &'static Location<'static>,
) -> Emissions<A> {
    let subscriber = Subscriber {
        name,
        caller,
        convert: A::to_emission,
    };
    Emissions {
        connection: Connection::new(signal, subscriber),
        arguments: PhantomData,
    }
}

impl Connection {
    fn new(signal: &Signal, subscriber: Subscriber) -> Self {
        let caller = subscriber.caller;
        let (relay, emitted) = Relay::new(subscriber);
        let signal = connect(signal, &relay, caller).then(|| signal.clone());
        if signal.is_none() {
            relay.end();
        }
        Connection {
            emitted,
            signal,
            relay,
        }
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

/// The future of [`emitted`](SignalWaits::emitted).
// Not an `async` block: a snapshot shows the line at which this is awaited.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Emitted<A = Vec<Variant>> {
    emissions: Emissions<A>,
    /// If the signal could not be connected.
    gone: Option<NextFrame>,
}

impl<A: SignalArguments> Emitted<A> {
    fn new(emissions: Emissions<A>) -> Self {
        let is_gone = emissions.connection.signal.is_none();
        Emitted {
            emissions,
            gone: is_gone.then(next_frame),
        }
    }
}

impl<A: SignalArguments> Future for Emitted<A> {
    type Output = Option<A>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(gone) = &mut self.gone {
            return Pin::new(gone).poll(cx).map(|()| None);
        }
        let next = Pin::new(&mut self.emissions.connection.emitted.next()).poll(cx);
        next.map(|emission| emission.map(arguments_of))
    }
}

impl<A> fmt::Debug for Emitted<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Emitted").field(&self.emissions).finish()
    }
}

fn arguments_of<A: SignalArguments>(emission: Emission) -> A {
    let cell = emission.downcast_ref::<Cell<Option<A>>>();
    match cell.and_then(Cell::take) {
        Some(arguments) => arguments,
        None => unreachable!("a subscription has one reader, of the type that it converts to"),
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
/// [`emitted`](SignalWaits::emitted).
///
/// # Cancel safety
///
/// Dropping the future does not stop the function: nothing stops a function of `GDScript`
/// but the end of its object.
///
/// # Errors
///
/// If the callable's object is freed, the output is `None`, in the next frame. Errors in the function are
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
    Never(NextFrame),
}

impl Future for Called {
    type Output = Option<Variant>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Called::Returned(value) => Poll::Ready(Some(mem::take(value))),
            Called::Never(next) => Pin::new(next).poll(cx).map(|()| None),
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
            None => return Called::Never(next_frame()),
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
    let ended = subscribe(&signal, format!("the end of {name}"), caller);
    Called::Awaits(Emitted::new(ended))
}

impl<A: SignalArguments> Emissions<A> {
    /// Waits for the next emission, and returns its arguments. Returns `None` if the
    /// object of the signal was freed, and all emissions are read.
    ///
    /// # Resumes
    ///
    /// Like [`emitted`](SignalWaits::emitted).
    ///
    /// # Cancel safety
    ///
    /// Dropping the wait loses nothing.
    #[expect(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> impl Future<Output = Option<A>> {
        Next {
            emitted: &mut self.connection.emitted,
            arguments: PhantomData,
        }
    }
}

struct Next<'a, A> {
    emitted: &'a mut Subscription<Emission>,
    arguments: PhantomData<fn() -> A>,
}

impl<A: SignalArguments> Future for Next<'_, A> {
    type Output = Option<A>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let next = Pin::new(&mut self.emitted.next()).poll(cx);
        next.map(|emission| emission.map(arguments_of))
    }
}

impl Drop for Connection {
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

impl<A> fmt::Debug for Emissions<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emissions")
            .field("signal", &self.connection.signal)
            .finish_non_exhaustive()
    }
}
