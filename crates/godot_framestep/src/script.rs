//! A script as an object of Godot, which other languages can await, stop and pause.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use framestep::task::CoroutineId;
use framestep::{Coroutine, Handle, JoinError};
use godot::prelude::*;

use crate::host::{Shared, with_shared};
use crate::scripts::shared;

/// Makes an object of a script, to return it to `GDScript`.
pub trait ForGodot {
    /// An object for this script, with a signal for its end: see [`FramestepScript`].
    ///
    /// # Panics
    ///
    /// If no [`FramestepHost`](crate::FramestepHost) is in the tree.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use godot::prelude::*;
    /// use godot_framestep::prelude::*;
    ///
    /// #[derive(GodotClass)]
    /// #[class(base = Node, init)]
    /// struct Quest {
    ///     base: Base<Node>,
    /// }
    ///
    /// #[godot_api]
    /// impl Quest {
    ///     /// In `GDScript`: `var coins: int = await quest.search(3).join()`.
    ///     #[func]
    ///     fn search(&self, chests: u32) -> Gd<FramestepScript> {
    ///         self.to_gd().spawn_script(search(chests)).for_godot()
    ///     }
    /// }
    ///
    /// async fn search(chests: u32) -> u32 {
    ///     wait_seconds(chests).await;
    ///     10 * chests
    /// }
    /// ```
    #[track_caller]
    fn for_godot(self) -> Gd<FramestepScript>;
}

impl<T: ToGodot + 'static> ForGodot for Coroutine<T> {
    fn for_godot(mut self) -> Gd<FramestepScript> {
        let id = self.id();
        let poll = move |cx: &mut Context<'_>| {
            let result = Pin::new(&mut self).poll(cx);
            result.map(|result| result.map(|value| value.to_variant()))
        };
        FramestepScript::new(&shared(), id, Box::new(poll))
    }
}

/// A script as an object, for `GDScript` and other languages of Godot. [`ForGodot::for_godot`]
/// makes it of any script whose output Godot knows.
///
/// | `GDScript` | what it does |
/// |---|---|
/// | `var coins = await quest.join()` | waits for the end and returns the result, at once if it has ended |
/// | `quest.finished.connect(..)` | the signal of the end, with the result |
/// | `quest.stop()`, `quest.pause()`, `quest.resume()` | the same as in Rust: see [`Coroutine`] |
/// | `quest.is_running()`, `quest.is_paused()` | its state |
/// | `quest.result()` | what it returned, or `null` |
/// | `quest.error()` | why there is no result: it was stopped, or it panicked; else `""` |
/// | `quest.waits_for()` | what a snapshot shows of it |
///
/// `finished` is emitted once, with the result. It is also emitted, with `null`, if the script is
/// stopped or panics: a function that awaits it resumes. It is emitted in the run in which
/// the script ends. If the script ends outside a run, it is emitted in the next run of
/// `Update`, even in a pause. If the script has ended when this object is made, it is emitted as
/// well, so there is time to connect to it.
///
/// If the [`FramestepHost`](crate::FramestepHost) leaves the tree, all scripts end, and the signal
/// is not emitted.
///
/// The object may be dropped: the script continues. A panic is shown as an error in any case.
#[derive(GodotClass)]
#[class(base = RefCounted, no_init)]
pub struct FramestepScript {
    id: CoroutineId,
    executor: Handle,
    state: RefCell<State>,
    base: Base<RefCounted>,
}

type Ended = Result<Variant, JoinError>;
type PollEnd = Box<dyn FnMut(&mut Context<'_>) -> Poll<Ended>>;

enum State {
    Running(PollEnd),
    /// Its end is about to be announced, unless it has been.
    Ended(Ended),
    /// While it is polled.
    Polled,
}

/// Announces the end of the script, which has called it.
struct Announcer(InstanceId);

impl Wake for Announcer {
    fn wake(self: Arc<Self>) {
        // On the thread of the executor, because joins are woken there.
        with_shared(|shared| announce_soon(shared, self.0));
    }
}

/// Announces the end later in this run, or else in the next run of `Update`.
fn announce_soon(shared: &Shared, script: InstanceId) {
    let announce = async move {
        let object = Shared::get().and_then(|shared| shared.awaited.borrow_mut().remove(&script));
        if let Some(object) = object {
            FramestepScript::announce(object);
        }
    };
    drop(shared.watchers.spawn(announce).named("announce"));
}

impl FramestepScript {
    fn new(shared: &Shared, id: CoroutineId, poll: PollEnd) -> Gd<Self> {
        let object = Gd::from_init_fn(|base| FramestepScript {
            id,
            executor: shared.handle.clone(),
            state: RefCell::new(State::Running(poll)),
            base,
        });
        // Until then a reference is kept: GDScript may await the signal of an object that
        // it does not keep.
        let script = object.instance_id();
        shared.awaited.borrow_mut().insert(script, object.clone());
        if object.bind().has_ended(script) {
            announce_soon(shared, script);
        }
        object
    }

    /// Whether the script has ended. If not, its end will be announced.
    fn has_ended(&self, script: InstanceId) -> bool {
        let mut state = self.state.replace(State::Polled);
        if let State::Running(poll) = &mut state {
            let waker = Waker::from(Arc::new(Announcer(script)));
            if let Poll::Ready(end) = poll(&mut Context::from_waker(&waker)) {
                state = State::Ended(end);
            }
        }
        let has_ended = matches!(state, State::Ended(_));
        self.state.replace(state);
        has_ended
    }

    fn announce(object: Gd<Self>) {
        let (result, panic) = {
            let this = object.bind();
            if !this.has_ended(object.instance_id()) {
                return;
            }
            let panic = this.with_end(|end| match end {
                Err(error) if error.is_panic() => Some(error.to_string()),
                _ => None,
            });
            (this.result(), panic.flatten())
        };
        // A script that is joined is not reported elsewhere, and GDScript has no panics.
        if let Some(panic) = panic {
            godot_error!("{panic}");
        }
        object.signals().finished().emit(&result);
    }

    fn with_end<R>(&self, f: impl FnOnce(&Ended) -> R) -> Option<R> {
        match &*self.state.borrow() {
            State::Ended(end) => Some(f(end)),
            State::Running(_) | State::Polled => None,
        }
    }
}

#[godot_api]
impl FramestepScript {
    /// The script has ended, with this result; `null` if it was stopped or panicked.
    #[signal]
    pub fn finished(result: Variant);

    /// The signal `finished`, or the result if that has been emitted: `await script.join()`.
    #[func(gd_self)]
    fn join(this: Gd<Self>) -> Variant {
        if is_awaited(this.instance_id()) {
            Signal::from_object_signal(&this, "finished").to_variant()
        } else {
            this.bind().result()
        }
    }

    /// Stops the script. Returns whether it was alive.
    #[func]
    fn stop(&self) -> bool {
        let was_alive = self.executor.stop(self.id);
        with_shared(Shared::clean_up);
        was_alive
    }

    /// Pauses the script, until `resume`. Returns whether it was alive.
    #[func]
    fn pause(&self) -> bool {
        self.executor.pause(self.id)
    }

    /// Ends a `pause`. The script stays paused while its node is.
    #[func]
    fn resume(&self) -> bool {
        self.executor.resume(self.id)
    }

    /// Whether it is paused, by itself or with its node.
    #[func]
    fn is_paused(&self) -> bool {
        self.executor.is_paused(self.id)
    }

    /// Whether it has not ended.
    #[func]
    fn is_running(&self) -> bool {
        self.executor.is_alive(self.id)
    }

    /// What it returned; `null` if it has not ended, was stopped, or panicked.
    #[func]
    fn result(&self) -> Variant {
        let result = self.with_end(|end| end.as_ref().ok().cloned());
        result.flatten().unwrap_or_default()
    }

    /// Why it has no result: it was stopped, or it panicked. Empty if it has one, or has not
    /// ended.
    #[func]
    fn error(&self) -> GString {
        let error = self.with_end(|end| end.as_ref().err().map(ToString::to_string));
        GString::from(&error.flatten().unwrap_or_default())
    }

    /// What it waits for, as in a snapshot. Empty if it has ended.
    #[func]
    fn waits_for(&self) -> GString {
        let snapshot = self.executor.snapshot();
        let waits = snapshot.and_then(|snapshot| {
            let waits: Vec<_> = snapshot
                .get(self.id)?
                .waits()
                .map(ToString::to_string)
                .collect();
            Some(waits.join(" | "))
        });
        GString::from(&waits.unwrap_or_default())
    }
}

fn is_awaited(script: InstanceId) -> bool {
    Shared::get().is_some_and(|shared| shared.awaited.borrow().contains_key(&script))
}

impl fmt::Debug for FramestepScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FramestepScript")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
