//! Passes emissions on to scripts. It needs no engine.
//!
//! Godot owns the callable that is connected to a signal, and frees it with the signal's
//! object. The subscriber must notice that. So it cannot keep a copy of the callable, which
//! would keep it alive: it has another callable, which is equal.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ThreadId};

use framestep::sync::{Signal, Subscription};
use framestep::task::RemoteHandle;
use godot::builtin::RustCallable;
use godot::prelude::*;

use crate::host::Shared;

static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The events of the relays that are connected.
    static EVENTS: RefCell<HashMap<u64, Signal<Emission>>> = RefCell::default();
}

/// The arguments of an emission, in a cell of their type.
pub(super) type Emission = Rc<dyn Any>;

/// Who subscribes to what.
pub(super) struct Subscriber {
    /// Of the signal.
    pub(super) name: String,
    pub(super) caller: &'static Location<'static>,
    /// Converts arguments while the emitter calls: an object among them may be freed before a
    /// script runs. An error says which one is of another type.
    pub(super) convert: fn(&[&Variant]) -> Result<Emission, String>,
}

/// The callable of a subscription. All clones are equal.
#[derive(Clone)]
pub(super) struct Relay {
    route: Arc<Route>,
    /// Whether this is the one that is connected: its end is that of the subscription.
    is_connection: bool,
}

struct Route {
    id: u64,
    subscriber: Subscriber,
    thread: ThreadId,
    /// To the thread of the scripts.
    remote: Option<RemoteHandle>,
}

impl Relay {
    /// A relay that is not connected, and what its connection will pass on.
    pub(super) fn new(subscriber: Subscriber) -> (Self, Subscription<Emission>) {
        let remote = Shared::get().and_then(|shared| shared.handle.remote());
        Self::with(subscriber, remote)
    }

    fn with(
        subscriber: Subscriber,
        remote: Option<RemoteHandle>,
    ) -> (Self, Subscription<Emission>) {
        let events = Signal::new().named(subscriber.name.clone());
        let route = Route {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            subscriber,
            thread: thread::current().id(),
            remote,
        };
        let subscription = events.subscribe();
        EVENTS.with_borrow_mut(|all| all.insert(route.id, events));
        let relay = Relay {
            route: Arc::new(route),
            is_connection: false,
        };
        (relay, subscription)
    }

    /// The callable to connect, once.
    pub(super) fn connection(&self) -> Self {
        Relay {
            route: self.route.clone(),
            is_connection: true,
        }
    }

    /// Ends the subscription: nothing more will be emitted.
    pub(super) fn end(&self) {
        let id = self.route.id;
        self.on_own_thread(move || end(id));
    }

    fn pass_on(&self, arguments: &[&Variant]) {
        if self.is_on_own_thread() {
            self.route.emit(arguments);
            return;
        }
        let route = self.route.clone();
        if arguments.is_empty() {
            self.on_own_thread(move || route.emit(&[]));
        } else {
            self.on_own_thread(move || {
                let name = &route.subscriber.name;
                godot_error!(
                    "{name} was emitted on another thread, with arguments that scripts cannot \
                     have: emit it with `call_deferred(\"emit_signal\", ..)`"
                );
            });
        }
    }

    fn is_on_own_thread(&self) -> bool {
        thread::current().id() == self.route.thread
    }

    fn on_own_thread(&self, f: impl FnOnce() + Send + 'static) {
        if self.is_on_own_thread() {
            f();
        } else if let Some(remote) = &self.route.remote {
            remote.call(f);
        }
    }
}

fn end(id: u64) {
    // While the thread ends, the map may be gone.
    let events = EVENTS.try_with(|all| all.borrow_mut().remove(&id));
    // Wakes the script, which is not called here.
    drop(events);
}

impl Route {
    fn emit(&self, arguments: &[&Variant]) {
        let events = EVENTS.with_borrow(|all| all.get(&self.id).cloned());
        let Some(events) = events else {
            return;
        };
        match (self.subscriber.convert)(arguments) {
            Ok(emission) => events.emit(emission),
            Err(error) => {
                let Subscriber { name, caller, .. } = &self.subscriber;
                godot_error!(
                    "{caller}: {name} was emitted with other arguments than the script expects, \
                     which continues to wait: {error}"
                );
            }
        }
    }
}

impl RustCallable for Relay {
    fn invoke(&mut self, arguments: &[&Variant]) -> Variant {
        self.pass_on(arguments);
        Variant::nil()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        if self.is_connection {
            self.end();
        }
    }
}

impl PartialEq for Relay {
    fn eq(&self, other: &Self) -> bool {
        self.route.id == other.route.id
    }
}

impl Hash for Relay {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.route.id.hash(state);
    }
}

impl fmt::Display for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "framestep: {}", self.route.subscriber.name)
    }
}

#[cfg(test)]
mod tests;
