//! Thousands of panics, in every kind of callback: the next frame always runs,
//! and every value is dropped once.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::task::{Context, Waker};

use futures::FutureExt;

use framestep::Executor;
use framestep::prelude::*;
use framestep::scene::Scene;

use framestep_testkit::actor::Actor;
use framestep_testkit::timeline::in_quarters;
use framestep_testkit::{Random, WakerCall as Act, forever, waker_that_tells};

thread_local! {
    static PANICS: Cell<u64> = const { Cell::new(0) };
    /// How many guards are alive, and how many were ever made.
    static ALIVE: Cell<i64> = const { Cell::new(0) };
    /// Which function of the foreign waker panics next, once.
    static WAKER_PANICS: Cell<Option<Act>> = const { Cell::new(None) };
}

/// Panics without calling the panic hook, which would print each.
fn boom() -> ! {
    PANICS.set(PANICS.get() + 1);
    resume_unwind(Box::new("on purpose"));
}

/// Counts itself.
struct Guard;

impl Guard {
    fn new() -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Guard
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

/// Panics when it is dropped, unless that would abort.
struct Bomb(Guard);

impl Bomb {
    fn new() -> Self {
        Bomb(Guard::new())
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        let _ = &self.0;
        if !std::thread::panicking() {
            boom();
        }
    }
}

fn waker_that_panics() -> Waker {
    fn act(which: Act) {
        if WAKER_PANICS.get() == Some(which) && !std::thread::panicking() {
            WAKER_PANICS.set(None);
            boom();
        }
    }
    waker_that_tells(act)
}

fn behind_a_waker_that_panics(executor: &Executor, act: Act) {
    executor.start(async move {
        let _guard = Guard::new();
        let mut wait = next_frame();
        WAKER_PANICS.set(Some(act));
        let (first, second) = (waker_that_panics(), waker_that_panics());
        let _ = wait.poll_unpin(&mut Context::from_waker(&first));
        poll_fn(|_| wait.poll_unpin(&mut Context::from_waker(&second))).await;
    });
}

struct World;

/// An event whose clone panics.
struct Event;

impl Clone for Event {
    fn clone(&self) -> Self {
        boom()
    }
}

type Inject = fn(&Scene);

/// One coroutine for each kind of callback: each panics in this frame or soon
/// after.
const CALLBACKS: [Inject; 32] = [
    |scene| drop(scene.executor().start(async { boom() })),
    |scene| drop(scene.executor().spawn(async { boom() })),
    |scene| {
        drop(scene.executor().start(async {
            let _guard = Guard::new();
            next_frame().await;
            boom()
        }));
    },
    |scene| {
        drop(scene.executor().start(async {
            let _guard = Guard::new();
            wait_seconds(0.5).await;
            boom()
        }));
    },
    |scene| {
        drop(scene.executor().start(async {
            let _guard = Guard::new();
            fixed_update().await;
            boom()
        }));
    },
    // Destructors of futures: stopped, ended, and with the owner.
    |scene| {
        let coroutine = scene.executor().start(async {
            let _bomb = Bomb::new();
            forever().await;
        });
        assert!(coroutine.stop());
    },
    |scene| {
        drop(scene.executor().start(async {
            let _bomb = Bomb::new();
            next_frame().await;
        }));
    },
    |scene| {
        drop(scene.executor().start(async {
            let _bomb = Bomb::new();
            stop(current());
            forever().await;
        }));
    },
    |scene| {
        let owner = scene.executor().owner();
        for _ in 0..2 {
            owner.start(async {
                let _bomb = Bomb::new();
                forever().await;
            });
        }
    },
    // Outputs that are never taken, and payloads.
    |scene| {
        drop(scene.executor().start(async {
            next_frame().await;
            Bomb::new()
        }));
    },
    |scene| {
        drop(scene.executor().start(async {
            next_frame().await;
            PANICS.set(PANICS.get() + 1);
            resume_unwind(Box::new(Bomb::new()));
        }));
    },
    |scene| {
        let child = scene.executor().start(async { boom() });
        drop(
            scene
                .executor()
                .start(child.map(Result::<(), _>::unwrap_or_default)),
        );
        let child = scene.executor().start(async {
            next_frame().await;
            PANICS.set(PANICS.get() + 1);
            resume_unwind(Box::new(Bomb::new()));
        });
        let finished = child.finished();
        drop(scene.executor().start(async move {
            finished.await;
            drop(child);
        }));
    },
    // Joiners.
    |scene| {
        let child = scene.executor().start(next_frame());
        drop(scene.executor().start(async move {
            let _guard = Guard::new();
            drop(child.await);
            boom()
        }));
    },
    // Closures: conditions, animations, borrows of lent state, calls from other
    // threads.
    |scene| drop(scene.executor().start(wait_until(|| boom()))),
    |scene| {
        let bomb = Bomb::new();
        drop(scene.executor().start(wait_while(move || {
            let _ = &bomb;
            false
        })));
    },
    |scene| {
        drop(scene.executor().start(animate(0.5, |share| {
            if share > 0.0 {
                boom()
            }
        })));
    },
    |scene| {
        drop(scene.executor().spawn(async {
            with(|_: &mut World| {
                start(async {
                    let _guard = Guard::new();
                    next_frame().await;
                });
                boom()
            })
        }));
    },
    |scene| {
        let sent = scene.executor().remote().spawn(|| {
            if PANICS.get() < u64::MAX {
                boom();
            }
            async {}
        });
        assert!(sent);
    },
    // Foreign wakers.
    |scene| behind_a_waker_that_panics(scene.executor(), Act::Clone),
    |scene| behind_a_waker_that_panics(scene.executor(), Act::Wake),
    |scene| behind_a_waker_that_panics(scene.executor(), Act::Drop),
    // Hooks.
    |scene| scene.executor().on_report(|_| boom()),
    |scene| {
        let bomb = Bomb::new();
        scene.executor().on_report(move |_| {
            let _ = &bomb;
        });
        let replaced = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            scene.executor().on_report(|_| boom());
        }));
        assert!(replaced.is_err());
    },
    // Events.
    |scene| {
        let signal = Signal::new();
        for _ in 0..2 {
            let signal = signal.clone();
            drop(scene.executor().start(async move {
                let _guard = Guard::new();
                signal.wait().await;
            }));
        }
        signal.emit(Event);
    },
    // Behaviours.
    |scene| drop(scene.add(actor("start"))),
    |scene| drop(scene.add(actor("fixed_update"))),
    |scene| drop(scene.add(actor("update"))),
    |scene| drop(scene.add(actor("late_update"))),
    |scene| drop(scene.add(actor("on_destroy"))),
    |scene| {
        let this = scene.add(actor("never"));
        drop(scene.executor().start(async move {
            next_frame().await;
            this.destroy();
            this.with(|_| boom())
        }));
    },
    // Combinators.
    |scene| {
        drop(scene.executor().start(async {
            let _guard = Guard::new();
            futures::join!(wait_frames(2), wait_seconds(9), async {
                end_of_frame().await;
                boom()
            });
        }));
    },
    |scene| {
        drop(scene.executor().start(async {
            let _guard = Guard::new();
            let children = [
                start(async { boom() }),
                start(async {
                    next_frame().await;
                    boom()
                }),
            ];
            for result in join_all::<Coroutine<()>>(children).await {
                assert!(result.unwrap_err().is_panic());
            }
        }));
    },
];

fn actor(panics_in: &'static str) -> Actor {
    let guard = Guard::new();
    Actor::new(panics_in, || boom()).with(Guard::new(), async move {
        let _guard = guard;
        forever().await;
    })
}

/// Injects panics until `panics` have happened.
fn inject(panics: u64) {
    PANICS.set(0);
    let executor = in_quarters();
    executor.on_report(|_| ());
    let mut scene = Scene::with_executor(executor);
    let frames = Rc::new(Cell::new(0));
    for phase in framestep_testkit::PHASES {
        let frames = frames.clone();
        scene.executor().start(async move {
            let _guard = Guard::new();
            loop {
                in_phase(phase).await;
                frames.set(frames.get() + 1);
            }
        });
    }
    let bystanders = ALIVE.get();
    let mut world = World;
    let mut random = Random(5);
    let mut frame = 0;
    while PANICS.get() < panics {
        for inject in &CALLBACKS {
            // Each frame in another combination.
            if random.below(4) > 0 {
                inject(&scene);
            }
        }
        scene.lend(&mut world, |scene| scene.run_frame(0.25));
        frame += 1;
        let runs = frame * framestep_testkit::PHASES.len();
        assert_eq!(frames.get(), runs, "every phase of the frame has run");
        // Only the coroutines of a few frames are alive.
        assert!(ALIVE.get() < 1_000, "{} alive", ALIVE.get());
    }
    for _ in 0..10 {
        scene.lend(&mut world, |scene| scene.run_frame(0.25));
        frame += 1;
    }
    assert_eq!(frames.get(), frame * framestep_testkit::PHASES.len());
    assert_eq!(ALIVE.get(), bystanders, "all else has been dropped, once");
    assert_eq!(scene.executor().len(), framestep_testkit::PHASES.len());
    drop(scene);
    assert_eq!(ALIVE.get(), 0);
}

#[test]
fn a_thousand_panics_in_every_callback_hold_up_no_frame_and_lose_nothing() {
    inject(32_000);
}

/// Half a minute: `cargo test --release --test errors everywhere -- --ignored`.
#[test]
#[ignore = "long"]
fn a_million_panics_in_every_callback_hold_up_no_frame_and_lose_nothing() {
    inject(1_000_000);
}

#[test]
fn each_callback_really_panics() {
    for (at, inject) in CALLBACKS.iter().enumerate() {
        PANICS.set(0);
        let mut scene = Scene::with_executor(in_quarters());
        scene.executor().on_report(|_| ());
        inject(&scene);
        let mut world = World;
        for dt in [0.25, 0.25, -1.0, 0.25, 0.25] {
            scene.lend(&mut world, |scene| scene.run_frame(dt));
        }
        assert!(PANICS.get() > 0, "callback {at}");
        drop(scene);
        assert_eq!(ALIVE.get(), 0, "callback {at}");
    }
}
