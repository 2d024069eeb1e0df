//! Where user code is called from.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::task::{Context, Waker};

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep::prelude::*;
use framestep::scene::{BehaviourHandle, Scene};
use framestep::task::Outcome;

use framestep_testkit::actor::Actor;
use framestep_testkit::{WakerCall as Act, forever, panic_text, waker_that_tells};

use super::{Stage, World};

/// The operation of the callback, and its objects.
type Armed = (Rc<Stage>, fn(&Stage));

thread_local! {
    /// The operation of the next callback. Callbacks that must be `Send` find it
    /// in a thread-local.
    pub(super) static ARMED: RefCell<Option<Armed>> = const { RefCell::new(None) };
    /// The function of the foreign waker that is the callback.
    pub(super) static WAKER_ACTS: Cell<Option<Act>> = const { Cell::new(None) };
}

/// The callback: performs the operation once.
pub(super) fn callback() {
    let armed = ARMED.take();
    if let Some((stage, perform)) = armed {
        let survived = catch_unwind(AssertUnwindSafe(|| perform(&stage)));
        if let Err(payload) = survived {
            *stage.failure.borrow_mut() = Some(panic_text(&*payload));
        }
    }
}

pub(super) struct OnDrop;

impl Drop for OnDrop {
    fn drop(&mut self) {
        callback();
    }
}

fn foreign_waker() -> Waker {
    fn act(which: Act) {
        if WAKER_ACTS.get() == Some(which) {
            callback();
        }
    }
    waker_that_tells(act)
}

/// Waits behind a foreign waker, one of whose functions is the callback.
pub(super) async fn behind_a_waker_that_acts(act: Act) {
    next_frame().await;
    WAKER_ACTS.set(Some(act));
    let waits: [fn() -> LocalBoxFuture<'static, ()>; 4] = [
        || next_frame().map(drop).boxed_local(),
        || wait_seconds(0.25).map(drop).boxed_local(),
        || wait_until(|| true).map(drop).boxed_local(),
        || start(next_frame().map(drop)).map(drop).boxed_local(),
    ];
    for make in waits {
        let mut wait = make();
        let (first, second) = (foreign_waker(), foreign_waker());
        let poll = wait.as_mut().poll(&mut Context::from_waker(&first));
        assert!(poll.is_pending());
        poll_fn(|cx| {
            // The foreign waker wakes no coroutine, this one does.
            cx.waker().wake_by_ref();
            wait.as_mut().poll(&mut Context::from_waker(&second))
        })
        .await;
    }
    WAKER_ACTS.set(None);
}

/// A place from which user code is called.
pub(super) struct Site {
    pub(super) name: &'static str,
    /// Causes the callback, usually in one of the next frames. Returns the
    /// coroutine that it is part of.
    pub(super) install: Install,
    pub(super) outcome: Outcome,
}

type Install = fn(&mut Scene, &Rc<Stage>) -> Installed;
type Installed = Option<Coroutine<()>>;

fn site(name: &'static str, install: Install) -> Site {
    Site {
        name,
        install,
        outcome: Outcome::Finished,
    }
}

/// Spawns a coroutine on the owner that may be destroyed.
#[expect(clippy::unnecessary_wraps, reason = "as every site gives it")]
fn own<F: Future<Output = ()> + 'static>(stage: &Rc<Stage>, future: F) -> Installed {
    let own = stage.clone();
    let owner = stage.own_owner.borrow();
    Some(owner.as_ref().unwrap().spawn(async move {
        own.own.set(Some(current()));
        future.await;
    }))
}

fn behaviour(scene: &mut Scene, acts_in: &'static str) -> Installed {
    let _: BehaviourHandle<Actor> = scene.add(Actor::new(acts_in, callback));
    None
}

#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) fn sites() -> Vec<Site> {
    let stopped = |site: Site| Site {
        outcome: Outcome::Stopped,
        ..site
    };
    let panicked = |site: Site| Site {
        outcome: Outcome::Panicked,
        ..site
    };
    vec![
        site("a poll", |_, stage| {
            own(stage, async {
                next_frame().await;
                callback();
                next_frame().await;
            })
        }),
        site("a poll in a fixed step", |_, stage| {
            own(stage, async {
                fixed_update().await;
                callback();
                next_frame().await;
            })
        }),
        site("the first poll of a start", |_, stage| {
            own(stage, async {
                drop(start(async { callback() }));
                next_frame().await;
            })
        }),
        stopped(site(
            "the drop of a future that is stopped",
            |scene, stage| {
                let coroutine = own(stage, async {
                    let _act = OnDrop;
                    forever().await;
                });
                scene.run_frame(0.25);
                scene.executor().stop(coroutine.as_ref().unwrap().id());
                coroutine
            },
        )),
        stopped(site(
            "the drop of a future that stops itself",
            |_, stage| {
                own(stage, async {
                    let _act = OnDrop;
                    stop(current());
                    pending::<()>().await;
                })
            },
        )),
        site("the drop of a future that ends", |_, stage| {
            own(stage, async {
                let _act = OnDrop;
                next_frame().await;
            })
        }),
        panicked(site("the drop of a future that unwinds", |_, stage| {
            own(stage, async {
                let _act = OnDrop;
                next_frame().await;
                resume_unwind(Box::new("on purpose"));
            })
        })),
        site("the drop of an output", |_, stage| {
            own(stage, async {
                drop(spawn(async {
                    next_frame().await;
                    OnDrop
                }));
                wait_frames(3).await;
            })
        }),
        site("the drop of an output that nobody took", |_, stage| {
            own(stage, async {
                let child = start(async { OnDrop });
                next_frame().await;
                drop(child);
            })
        }),
        site("the clone of a foreign waker", |_, stage| {
            own(stage, behind_a_waker_that_acts(Act::Clone))
        }),
        site("the wake of a foreign waker", |_, stage| {
            own(stage, behind_a_waker_that_acts(Act::Wake))
        }),
        site("the drop of a foreign waker", |_, stage| {
            own(stage, behind_a_waker_that_acts(Act::Drop))
        }),
        site("a condition", |_, stage| {
            own(stage, async {
                wait_until(|| {
                    callback();
                    true
                })
                .await;
            })
        }),
        site("the drop of a condition", |_, stage| {
            own(stage, async {
                let act = OnDrop;
                wait_while(move || {
                    let _ = &act;
                    false
                })
                .await;
            })
        }),
        site("a closure that animates", |_, stage| {
            own(stage, async {
                animate(0.5, |_| callback()).await;
            })
        }),
        site("on_wake", |scene, stage| {
            scene.run_frame(0.25);
            scene.executor().on_wake(callback);
            stage.sleeper.wake_by_ref();
            None
        }),
        site("a closure that something is lent to", |_, stage| {
            own(stage, async {
                next_frame().await;
                with(|world: &mut World| {
                    world.0 += 1;
                    callback();
                });
            })
        }),
        site("a report", |scene, _| {
            scene.executor().on_report(|_| callback());
            scene.run_frame(-1);
            None
        }),
        site("the drop of a report hook", |scene, _| {
            let act = OnDrop;
            scene.executor().on_report(move |_| {
                let _ = &act;
            });
            scene.executor().on_report(|_| ());
            None
        }),
        site("a closure from afar", |scene, _| {
            scene.executor().remote().spawn(|| {
                callback();
                async {}
            });
            None
        }),
        site("the clone of an event", |_, stage| {
            struct Event;
            impl Clone for Event {
                fn clone(&self) -> Self {
                    callback();
                    Event
                }
            }
            let signal = Signal::new();
            let (first, second) = (signal.clone(), signal.clone());
            let coroutine = own(stage, async move {
                first.wait().await;
            });
            drop(stage.handle.spawn(async move {
                second.wait().await;
            }));
            drop(stage.handle.spawn(async move {
                wait_frames(2).await;
                signal.emit(Event);
            }));
            coroutine
        }),
        site("the drop of a panic's payload", |_, stage| {
            own(stage, async {
                drop(start(async {
                    next_frame().await;
                    resume_unwind(Box::new(OnDrop));
                }));
                wait_frames(3).await;
            })
        }),
        site("start of a behaviour", |scene, _| behaviour(scene, "start")),
        site("fixed_update of a behaviour", |scene, _| {
            behaviour(scene, "fixed_update")
        }),
        site("update of a behaviour", |scene, _| {
            behaviour(scene, "update")
        }),
        site("late_update of a behaviour", |scene, _| {
            behaviour(scene, "late_update")
        }),
        site("on_destroy of a behaviour", |scene, _| {
            behaviour(scene, "on_destroy")
        }),
        site("a closure that has a behaviour", |scene, stage| {
            let actor = scene.add(Actor::new("nothing", callback));
            own(stage, async move {
                next_frame().await;
                actor.with(|_| callback());
            })
        }),
    ]
}
