//! What a callback may do.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::FutureExt;

use framestep::Executor;
use framestep::prelude::*;

use super::{Stage, World};

/// An operation, and the check of its effect some frames later.
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) perform: fn(&Stage),
    pub(super) check: fn(&Stage),
    /// Whether the coroutine with the callback in it may be stopped by it.
    pub(super) stops_own: bool,
}

fn operation(name: &'static str, perform: fn(&Stage), check: fn(&Stage)) -> Operation {
    Operation {
        name,
        perform,
        check,
        stops_own: false,
    }
}

#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) fn operations() -> Vec<Operation> {
    vec![
        operation(
            "spawn",
            |stage| drop(stage.handle.spawn(stage.news())),
            |stage| assert_eq!(stage.ran.get(), 1),
        ),
        operation(
            "spawn in a phase",
            |stage| {
                drop(
                    stage
                        .handle
                        .script("")
                        .in_phase(Phase::LateUpdate)
                        .spawn(stage.news()),
                );
            },
            |stage| assert_eq!(stage.ran.get(), 1),
        ),
        operation(
            "start",
            |stage| drop(stage.handle.start(stage.news())),
            |stage| assert_eq!(stage.ran.get(), 1),
        ),
        operation(
            "start one that starts another",
            |stage| {
                let news = stage.news();
                drop(stage.handle.start(async move {
                    start(news).await.unwrap();
                }));
            },
            |stage| assert_eq!(stage.ran.get(), 1),
        ),
        Operation {
            stops_own: true,
            ..operation(
                "stop itself",
                |stage| {
                    if let Some(own) = stage.own.get() {
                        stage.handle.stop(own);
                    }
                },
                |stage| {
                    let own = stage.own.get();
                    assert!(own.is_none_or(|own| !stage.handle.is_alive(own)));
                },
            )
        },
        operation(
            "stop another",
            |stage| {
                let victim = stage.victim();
                assert!(stage.handle.stop(victim));
                assert!(!stage.handle.is_alive(victim));
            },
            |stage| assert!(!stage.handle.is_alive(stage.victim())),
        ),
        operation(
            "pause",
            |stage| assert!(stage.handle.pause(stage.victim())),
            |stage| assert!(stage.victim.borrow().as_ref().unwrap().is_paused()),
        ),
        operation(
            "pause and resume",
            |stage| {
                assert!(stage.handle.pause(stage.victim()));
                assert!(stage.handle.resume(stage.victim()));
            },
            |stage| assert!(!stage.victim.borrow().as_ref().unwrap().is_paused()),
        ),
        Operation {
            stops_own: true,
            ..operation(
                "pause and resume itself",
                |stage| {
                    if let Some(own) = stage.own.get() {
                        stage.handle.pause(own);
                        stage.handle.resume(own);
                    }
                },
                |_| (),
            )
        },
        operation(
            "destroy an owner",
            |stage| {
                let owner = stage.owner.take();
                drop(owner);
                assert!(!stage.handle.is_alive(stage.owned));
            },
            |stage| assert!(!stage.handle.is_alive(stage.owned)),
        ),
        Operation {
            stops_own: true,
            ..operation(
                "destroy its own owner",
                |stage| {
                    let owner = stage.own_owner.take();
                    drop(owner);
                },
                |stage| {
                    let own = stage.own.get();
                    assert!(own.is_none_or(|own| !stage.handle.is_alive(own)));
                },
            )
        },
        operation(
            "pause an owner and set it inactive",
            |stage| {
                let owner = stage.owner.take().unwrap();
                assert!(owner.pause());
                owner.set_active(false);
                *stage.owner.borrow_mut() = Some(owner);
            },
            |stage| assert!(!stage.handle.is_alive(stage.owned)),
        ),
        operation(
            "drop a handle that stops",
            |stage| {
                let victim = stage.victim.take().unwrap();
                let id = victim.id();
                drop(victim.stop_on_drop());
                assert!(!stage.handle.is_alive(id));
            },
            |_| (),
        ),
        operation(
            "drop a handle",
            |stage| {
                let victim = stage.victim.take().unwrap();
                let id = victim.id();
                drop(victim);
                assert!(stage.handle.is_alive(id));
            },
            |_| (),
        ),
        operation(
            "wake",
            |stage| {
                stage.sleeper.wake_by_ref();
                drop(stage.sleeper.clone());
                stage.sleeper.wake_by_ref();
            },
            |stage| assert!((1..=2).contains(&stage.woken.get())),
        ),
        operation(
            "borrow what is lent",
            |_| {
                let _ = try_with(|world: &mut World| world.0 += 1);
            },
            |_| (),
        ),
        operation(
            "run an executor that lends",
            |stage| {
                let mut inner = Executor::new();
                let news = stage.news();
                let mut other = 0_u8;
                let ran = inner.lend(&mut other, |inner| {
                    inner.run_until(
                        async move {
                            news.await;
                            with(|other: &mut u8| *other += 1);
                            true
                        },
                        0.25,
                    )
                });
                assert!(ran && other == 1);
            },
            |stage| assert_eq!(stage.ran.get(), 1),
        ),
        operation(
            "spawn from afar",
            |stage| {
                thread_local! {
                    static RAN: RefCell<Option<Rc<Cell<u32>>>> = const { RefCell::new(None) };
                }
                RAN.set(Some(stage.ran.clone()));
                assert!(stage.remote.spawn(|| async {
                    let ran = RAN.take().expect("kept by this thread");
                    ran.set(ran.get() + 1);
                }));
            },
            |stage| assert_eq!(stage.ran.get(), 1),
        ),
        operation(
            "change clocks",
            |stage| {
                let child = stage.clock.child();
                child.set_scale(0.5);
                stage.clock.set_scale(2);
                stage.clock.pause();
                stage.clock.resume();
                let _ = (child.now(), stage.clock.delta());
            },
            |stage| assert!((stage.clock.scale() - 2.0).abs() < f64::EPSILON),
        ),
        operation(
            "emit",
            |stage| stage.signal.emit(5),
            |stage| assert_eq!(stage.heard.get(), 5),
        ),
        operation(
            "join what ends",
            |stage| {
                let child = stage.handle.start(next_frame().map(drop));
                let (news, finished) = (stage.news(), child.finished());
                stage.handle.start(async move {
                    child.await.unwrap();
                    finished.await;
                    news.await;
                });
            },
            |stage| assert_eq!(stage.ran.get(), 1),
        ),
    ]
}
