//! What executors have in common that poll the tasks that were woken, and know no
//! frames and no clock: frames are a list of wakers, called from outside.
//! They leave out W2.

use std::pin::Pin;
use std::rc::Rc;

use crate::actor::{Actor, child};
use crate::scripts::{self, Ball, CHURN_ONE_IN};
use crate::systems::waker_list::{Lists, NextFrame, PHASES};
use crate::systems::{Order, System, World};

/// A task that can be waited for, and is not stopped before that.
pub(crate) type Join = Pin<Box<dyn Future<Output = u64>>>;

/// An executor that runs until no future is ready.
pub(crate) trait Woken: Sized + 'static {
    const NAME: &'static str;
    const LISTS: Lists;

    fn new() -> Self;

    /// Something to spawn with from inside a task.
    type Spawner: 'static;

    fn spawner(&self) -> Self::Spawner;

    /// Spawns a task that nobody waits for.
    fn spawn(spawner: &Self::Spawner, future: impl Future<Output = ()> + 'static);

    /// Spawns a task that ends with its world, even if it owns its own waker.
    fn spawn_until_end(spawner: &Self::Spawner, future: impl Future<Output = ()> + 'static) {
        Self::spawn(spawner, future);
    }

    /// Spawns a task and awaits its end.
    fn join(
        spawner: &Self::Spawner,
        future: impl Future<Output = u64> + 'static,
    ) -> impl Future<Output = u64> + 'static;

    /// Polls the tasks that are ready, until none is.
    fn run(&mut self);
}

fn next_frame<W: Woken>() -> NextFrame {
    W::LISTS.next_frame()
}

/// The parts of a world, dropped in this order: the executor with its tasks, the
/// lists that still hold their wakers.
struct Host<W> {
    executor: W,
    _wakers: Clear,
    kind: Kind,
}

enum Kind {
    /// A step is a frame.
    Frames,
    /// A step is a frame of all phases.
    Phases,
    /// A step spawns so many, and is two frames.
    Spawning(usize),
    /// A step ends chains of that depth.
    Chains(usize),
}

struct Clear(Lists);

impl Drop for Clear {
    fn drop(&mut self) {
        self.0.clear();
    }
}

impl<W: Woken> Host<W> {
    fn new(kind: Kind) -> Self {
        Self {
            executor: W::new(),
            _wakers: Clear(W::LISTS),
            kind,
        }
    }

    fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        W::spawn(&self.executor.spawner(), future);
    }

    /// Runs up to the first wait.
    fn begun(mut self) -> Box<dyn World> {
        self.executor.run();
        Box::new(self)
    }

    fn run_phase(&mut self, phase: usize) {
        W::LISTS.begin(phase);
        self.executor.run();
    }
}

impl<W: Woken> World for Host<W> {
    fn prepare(&mut self) -> bool {
        let Kind::Chains(depth) = self.kind else {
            return false;
        };
        let spawner = self.executor.spawner();
        let mut below: Join = Box::pin(W::join(&spawner, async {
            next_frame::<W>().await;
            1
        }));
        for _level in 2..depth {
            below = Box::pin(W::join(&spawner, async move { below.await + 1 }));
        }
        W::spawn(&spawner, async move {
            let mut actor = Actor::new(0);
            actor.add(below.await + 1);
        });
        self.executor.run();
        true
    }

    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            match self.kind {
                Kind::Frames | Kind::Chains(_) => self.run_phase(0),
                Kind::Phases => (0..PHASES).for_each(|phase| self.run_phase(phase)),
                Kind::Spawning(size) => {
                    let spawner = self.executor.spawner();
                    for index in 0..size {
                        W::spawn(&spawner, scripts::short_lived(index, next_frame::<W>));
                    }
                    self.run_phase(0);
                    self.run_phase(0);
                }
            }
        }
    }
}

/// The system made of such an executor.
pub(crate) struct OnWakers<W>(std::marker::PhantomData<W>);

impl<W> OnWakers<W> {
    pub(crate) const fn new() -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<W: Woken> System for OnWakers<W> {
    fn name(&self) -> &'static str {
        W::NAME
    }

    fn future_bytes(&self) -> usize {
        size_of_val(&scripts::awake(0, next_frame::<W>))
    }

    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        let host = Host::<W>::new(Kind::Frames);
        for index in 0..size {
            host.spawn(scripts::awake(index, next_frame::<W>));
        }
        let mut host = host;
        host.executor.run();
        if order == Order::Aged {
            W::LISTS.shuffle();
        }
        Some(Box::new(host))
    }

    fn churning(&self, size: usize) -> Option<Box<dyn World>> {
        let host = Host::<W>::new(Kind::Frames);
        for index in 0..size {
            if index % CHURN_ONE_IN == 0 {
                let spawner = host.executor.spawner();
                let start = move |index| {
                    W::spawn(&spawner, scripts::short_lived(index, next_frame::<W>));
                };
                host.spawn(scripts::churning(index, next_frame::<W>, start));
            } else {
                host.spawn(scripts::awake(index, next_frame::<W>));
            }
        }
        Some(host.begun())
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        Some(Host::<W>::new(Kind::Spawning(size)).begun())
    }

    fn joining(&self, size: usize) -> Option<Box<dyn World>> {
        let host = Host::<W>::new(Kind::Frames);
        let spawner = host.executor.spawner();
        let mut actor = Actor::new(0);
        host.spawn(async move {
            loop {
                next_frame::<W>().await;
                for index in 0..size {
                    actor.add(W::join(&spawner, child(index)).await);
                }
            }
        });
        Some(host.begun())
    }

    fn nested(&self, levels: usize) -> Option<Box<dyn World>> {
        let host = Host::<W>::new(Kind::Frames);
        host.spawn(scripts::nested(levels, next_frame::<W>));
        Some(host.begun())
    }

    fn chained(&self, depth: usize) -> Option<Box<dyn World>> {
        Some(Box::new(Host::<W>::new(Kind::Chains(depth))))
    }

    fn phased(&self, size: usize) -> Option<Box<dyn World>> {
        let host = Host::<W>::new(Kind::Phases);
        for index in 0..size {
            let phase = (index % PHASES) as u8;
            host.spawn(scripts::awake(index, move || W::LISTS.next_run_of(phase)));
        }
        Some(host.begun())
    }

    fn waking(&self, pairs: usize) -> Option<Box<dyn World>> {
        let host = Host::<W>::new(Kind::Frames);
        for _pair in 0..pairs {
            let ball = Rc::<Ball>::default();
            for me in 0..2 {
                let player = scripts::player(Rc::clone(&ball), me, next_frame::<W>);
                host.spawn(async move {
                    next_frame::<W>().await;
                    player.await;
                });
            }
        }
        Some(host.begun())
    }

    fn joining_frames(&self, size: usize) -> Option<Box<dyn World>> {
        let host = Host::<W>::new(Kind::Frames);
        for index in 0..size {
            let script = scripts::joining_frames(index, next_frame::<W>);
            W::spawn_until_end(&host.executor.spawner(), script);
        }
        Some(host.begun())
    }
}
