//! Every operation from every callback: user code may do anything wherever it is
//! called, without an effect on other coroutines.

mod operations;
mod sites;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Poll, Waker};

use framestep::prelude::*;
use framestep::scene::Scene;
use framestep::task::{CoroutineId, Outcome, RemoteHandle};
use framestep::{Executor, Handle};

use framestep_testkit::timeline::in_quarters;
use framestep_testkit::{forever, panic_text};

use operations::{Operation, operations};
use sites::{ARMED, Site, WAKER_ACTS, sites};

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
    remote: RemoteHandle,
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
    /// Set by the coroutine that was spawned or started.
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

/// One coroutine for each kind of wait. None may miss a frame.
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
    let executor = in_quarters();
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
            WAKER_ACTS.set(None);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
