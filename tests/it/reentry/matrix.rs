//! Every operation from every callback: whatever calls out to user code, anything
//! may be done from there, and nobody else notices.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep::prelude::*;
use framestep::{
    Behaviour, CoroutineId, Executor, Handle, Outcome, Remote, Scene, SceneContext, This,
};

use crate::support::{forever, panic_text};
use crate::timeline::UNLIMITED;

const FRAMES: u64 = 8;

/// What the host lends in every frame.
struct World(u32);

/// Counts those that are alive.
struct Alive(Rc<Cell<i32>>);

impl Alive {
    fn new(count: &Rc<Cell<i32>>) -> Self {
        count.set(count.get() + 1);
        Alive(count.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// What the operations work on.
struct Stage {
    handle: Handle,
    remote: Remote,
    clock: Clock,
    signal: Signal<u32>,
    alive: Rc<Cell<i32>>,
    victim: RefCell<Option<Coroutine<()>>>,
    sleeper: Waker,
    woken: Rc<Cell<u32>>,
    heard: Rc<Cell<u32>>,
    owner: RefCell<Option<Owner>>,
    owned: CoroutineId,
    /// Owns the coroutine in which the callback is, if there is one.
    own_owner: RefCell<Option<Owner>>,
    own: Cell<Option<CoroutineId>>,
    /// Set by what was spawned or started.
    ran: Rc<Cell<u32>>,
    failure: RefCell<Option<String>>,
}

impl Stage {
    fn new(executor: &Executor) -> Stage {
        let alive = Rc::new(Cell::new(0));
        let (woken, heard) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let signal = Signal::new();
        let (events, hear, life) = (signal.clone(), heard.clone(), Alive::new(&alive));
        executor.start(async move {
            let _life = life;
            loop {
                let value = events.wait().await;
                hear.set(hear.get() + value);
            }
        });
        let kept = Rc::new(Cell::new(None));
        let (keep, count, life) = (kept.clone(), woken.clone(), Alive::new(&alive));
        executor.start(poll_fn(move |cx| {
            let _ = &life;
            keep.set(Some(cx.waker().clone()));
            count.set(count.get() + 1);
            Poll::<()>::Pending
        }));
        woken.set(0);
        let owner = executor.owner();
        let (life, below) = (Alive::new(&alive), owner.child());
        let owned = owner.start(async move {
            let (_life, _below) = (life, below);
            forever().await;
        });
        let life = Alive::new(&alive);
        let victim = executor.start(async move {
            let _life = life;
            wait_frames(1_000).await;
        });
        Stage {
            handle: executor.handle(),
            remote: executor.remote(),
            clock: executor.clock(),
            signal,
            alive,
            victim: RefCell::new(Some(victim)),
            sleeper: kept.take().expect("polled"),
            woken,
            heard,
            own_owner: RefCell::new(Some(executor.owner())),
            owner: RefCell::new(Some(owner)),
            owned: owned.id(),
            own: Cell::new(None),
            ran: Rc::default(),
            failure: RefCell::default(),
        }
    }

    fn victim(&self) -> CoroutineId {
        self.victim.borrow().as_ref().expect("it is kept").id()
    }

    /// Says that it ran, over two frames.
    fn news(&self) -> impl Future<Output = ()> + 'static {
        let (ran, life) = (self.ran.clone(), Alive::new(&self.alive));
        async move {
            let _life = life;
            next_frame().await;
            ran.set(ran.get() + 1);
        }
    }
}

/// Something to do, and what has come of it some frames later.
struct Operation {
    name: &'static str,
    perform: fn(&Stage),
    check: fn(&Stage),
    /// Whether the coroutine with the callback in it may be stopped by it.
    stops_own: bool,
}

fn operation(name: &'static str, perform: fn(&Stage), check: fn(&Stage)) -> Operation {
    Operation {
        name,
        perform,
        check,
        stops_own: false,
    }
}

fn operations() -> Vec<Operation> {
    vec![
        operation(
            "spawn",
            |stage| drop(stage.handle.spawn(stage.news())),
            |stage| assert_eq!(stage.ran.get(), 1),
        ),
        operation(
            "spawn in a phase",
            |stage| drop(stage.handle.spawn_in(Phase::LateUpdate, stage.news())),
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
                victim.stop_on_drop();
                drop(victim);
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
                stage.sleeper.clone().wake();
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

thread_local! {
    /// What the next callback is to do. Callbacks that have to be `Send` find it
    /// by their thread.
    static ARMED: RefCell<Option<(Rc<Stage>, fn(&Stage))>> = const { RefCell::new(None) };
    /// Which function of the foreign waker is the callback.
    static WAKER_ACTS: Cell<Act> = const { Cell::new(Act::Nothing) };
}

#[derive(Clone, Copy, PartialEq)]
enum Act {
    Nothing,
    Clone,
    Wake,
    Drop,
}

/// The callback: does once what there is to do.
fn callback() {
    let armed = ARMED.take();
    if let Some((stage, perform)) = armed {
        let survived = catch_unwind(AssertUnwindSafe(|| perform(&stage)));
        if let Err(payload) = survived {
            *stage.failure.borrow_mut() = Some(panic_text(&*payload));
        }
    }
}

struct OnDrop;

impl Drop for OnDrop {
    fn drop(&mut self) {
        callback();
    }
}

fn foreign_waker() -> Waker {
    fn act(which: Act) {
        if WAKER_ACTS.get() == which {
            callback();
        }
    }
    fn clone(_: *const ()) -> RawWaker {
        act(Act::Clone);
        RawWaker::new(std::ptr::null(), &VTABLE)
    }
    fn wake(_: *const ()) {
        act(Act::Wake);
    }
    fn drop_raw(_: *const ()) {
        act(Act::Drop);
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop_raw);
    // SAFETY: the functions use no data, and may be called on any thread.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) }
}

/// Waits behind a foreign waker, one of whose functions is the callback.
async fn behind_a_waker_that_acts(act: Act) {
    next_frame().await;
    WAKER_ACTS.set(act);
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
            // Where the foreign waker leads to nobody, this one does.
            cx.waker().wake_by_ref();
            wait.as_mut().poll(&mut Context::from_waker(&second))
        })
        .await;
    }
    WAKER_ACTS.set(Act::Nothing);
}

/// A behaviour, one of whose callbacks is the callback.
struct Actor {
    acts_in: &'static str,
}

impl Actor {
    fn act(&self, name: &str) {
        if self.acts_in == name {
            callback();
        }
    }
}

impl Behaviour for Actor {
    fn start(&mut self, _: &SceneContext<'_, Self>) {
        self.act("start");
    }

    fn fixed_update(&mut self, _: &SceneContext<'_, Self>) {
        self.act("fixed_update");
    }

    fn update(&mut self, context: &SceneContext<'_, Self>) {
        self.act("update");
        if self.acts_in == "on_destroy" {
            context.destroy_self();
        }
    }

    fn late_update(&mut self, _: &SceneContext<'_, Self>) {
        self.act("late_update");
    }

    fn on_destroy(&mut self, _: &SceneContext<'_, Self>) {
        self.act("on_destroy");
    }
}

/// A place from which user code is called.
struct Site {
    name: &'static str,
    /// Has the callback come, with luck, in one of the next frames. Gives the
    /// coroutine that it is part of.
    install: fn(&mut Scene, &Rc<Stage>) -> Option<Coroutine<()>>,
    outcome: Outcome,
}

fn site(name: &'static str, install: fn(&mut Scene, &Rc<Stage>) -> Option<Coroutine<()>>) -> Site {
    Site {
        name,
        install,
        outcome: Outcome::Finished,
    }
}

/// Spawns a coroutine on the owner that may be destroyed.
fn own<F: Future<Output = ()> + 'static>(stage: &Rc<Stage>, future: F) -> Option<Coroutine<()>> {
    let own = stage.clone();
    let owner = stage.own_owner.borrow();
    Some(owner.as_ref().unwrap().spawn(async move {
        own.own.set(Some(current()));
        future.await;
    }))
}

fn behaviour(scene: &mut Scene, acts_in: &'static str) -> Option<Coroutine<()>> {
    let _: This<Actor> = scene.add(Actor { acts_in });
    None
}

fn sites() -> Vec<Site> {
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
                    pending().await
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
            scene.executor().on_wake(waker_fn::waker_fn(callback));
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
            let actor = scene.add(Actor { acts_in: "nothing" });
            own(stage, async move {
                next_frame().await;
                actor.with(|_| callback());
            })
        }),
    ]
}

/// Those who wait in every way there is, and must not miss a frame.
fn bystanders(executor: &Executor, alive: &Rc<Cell<i32>>) -> Vec<Rc<Cell<u64>>> {
    fn each<F: Future + 'static>(
        executor: &Executor,
        alive: &Rc<Cell<i32>>,
        wait: impl Fn() -> F + 'static,
    ) -> Rc<Cell<u64>> {
        let frames = Rc::new(Cell::new(0));
        let (count, life) = (frames.clone(), Alive::new(alive));
        executor.start(async move {
            let _life = life;
            loop {
                wait().await;
                count.set(count.get() + 1);
            }
        });
        frames
    }
    vec![
        each(executor, alive, next_frame),
        each(executor, alive, end_of_frame),
        each(executor, alive, || wait_frames(1)),
        each(executor, alive, || wait_until(|| true)),
        each(executor, alive, || wait_seconds_realtime(0)),
        each(executor, alive, || {
            wait_seconds(0).in_phase(Phase::EarlyUpdate)
        }),
        each(executor, alive, || start(next_frame())),
        each(executor, alive, || async {
            futures::join!(next_frame(), wait_seconds(0), in_phase(Phase::LateUpdate));
        }),
    ]
}

fn check_cell(operation: &Operation, site: &Site) {
    let executor = Executor::builder()
        .max_delta(UNLIMITED)
        .fixed_delta(0.25)
        .build();
    executor.on_report(|_| ());
    let mut scene = Scene::with_executor(executor);
    let stage = Rc::new(Stage::new(scene.executor()));
    let bystanders = bystanders(scene.executor(), &stage.alive);
    ARMED.set(Some((stage.clone(), operation.perform)));
    let coroutine = (site.install)(&mut scene, &stage);
    let outcome = coroutine.map(|coroutine| {
        let finished = coroutine.finished();
        scene.executor().start(finished)
    });
    let mut world = World(0);
    for _ in 0..FRAMES {
        scene.lend(&mut world, |scene| scene.run_frame(0.25));
    }
    assert!(ARMED.take().is_none(), "there was no callback");
    assert_eq!(*stage.failure.borrow(), None);
    (operation.check)(&stage);
    let frames = scene.executor().time().frame;
    for (at, bystander) in bystanders.iter().enumerate() {
        assert_eq!(bystander.get(), frames, "frames of bystander {at}");
    }
    let outcome = outcome.map(|outcome| scene.run_until(outcome, 0.25).unwrap());
    assert!(
        outcome
            .is_none_or(|outcome| outcome == site.outcome
                || operation.stops_own && outcome == Outcome::Stopped),
        "{outcome:?}"
    );
    drop(scene);
    assert_eq!(stage.alive.get(), 0, "alive after the end");
    let (owner, own_owner) = (stage.owner.take(), stage.own_owner.take());
    drop((owner, own_owner));
}

#[test]
fn every_operation_from_every_callback() {
    let (operations, sites) = (operations(), sites());
    let mut failures = Vec::new();
    for site in &sites {
        for operation in &operations {
            let survived = catch_unwind(AssertUnwindSafe(|| check_cell(operation, site)));
            if let Err(payload) = survived {
                let text = panic_text(&*payload);
                failures.push(format!("{} from {}: {text}", operation.name, site.name));
            }
            ARMED.take();
            WAKER_ACTS.set(Act::Nothing);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
