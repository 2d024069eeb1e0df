//! What waits are made from: their arguments, and the sources of events.

use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

use futures::stream;
use futures::{FutureExt, Stream, StreamExt};

use framestep::Handle;
use framestep::prelude::*;
use framestep::task::OwnerHandle;

/// A length of time, as an argument.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    Seconds(f64),
    Exact(Duration),
}

impl From<f64> for Length {
    fn from(seconds: f64) -> Self {
        Length::Seconds(seconds)
    }
}

impl From<Duration> for Length {
    fn from(duration: Duration) -> Self {
        Length::Exact(duration)
    }
}

/// The argument with which a wait is due in a certain frame.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    None,
    Count(u64),
    /// In seconds.
    Length(f64),
    /// The condition.
    Holds(fn() -> bool),
    /// The phase, of a wait that must name one.
    Phase(Phase),
}

/// What a wait is made from. Each wait takes what it needs.
#[derive(Clone)]
pub struct Given {
    handle: Handle,
    /// The phase that the wait names, if it can.
    pub phase: Option<Phase>,
    pub count: u64,
    pub length: Length,
    pub condition: Rc<dyn Fn() -> bool>,
    /// Takes the values of an animation.
    pub apply: Rc<dyn Fn(f32)>,
    /// Whether an event or a value is one that the wait waits for.
    pub accepts: fn(u64) -> bool,
    pub clock: Clock,
    /// Of one unit for each frame.
    pub budget: Budget,
    pub signal: Signal<u64>,
    pub watch: Watch<u64>,
    /// All of them are taken.
    pub permits: Semaphore,
    taken: Rc<RefCell<Vec<Permit>>>,
    /// What lives as long as the stage.
    owners: Rc<RefCell<Vec<Owner>>>,
}

impl Given {
    /// Sources in an executor, with a clock at half the speed of the game clock.
    pub fn new(handle: &Handle) -> Self {
        let clock = handle.clock().expect("it is there").child();
        clock.set_scale(0.5);
        let permits = Semaphore::new(100);
        let taken = std::iter::from_fn(|| permits.try_acquire()).collect();
        Given {
            handle: handle.clone(),
            phase: None,
            count: 3,
            length: Length::Seconds(1.0),
            condition: Rc::new(|| false),
            apply: Rc::new(|_| ()),
            accepts: |number| number == 2,
            clock,
            budget: Budget::of_units(1),
            signal: Signal::new(),
            watch: Watch::new(0),
            permits,
            taken: Rc::new(RefCell::new(taken)),
            owners: Rc::default(),
        }
    }

    /// The same, with sources that have names.
    pub fn named(mut self) -> Self {
        self.signal = self.signal.named("bell");
        self.watch = self.watch.named("health");
        self.permits = self.permits.named("tokens");
        self
    }

    /// The same with another argument.
    pub fn with(mut self, arg: Arg) -> Self {
        match arg {
            Arg::None => {}
            Arg::Count(count) => self.count = count,
            Arg::Length(seconds) => self.length = Length::Seconds(seconds),
            Arg::Holds(condition) => self.condition = Rc::new(condition),
            Arg::Phase(phase) => self.phase = Some(phase),
        }
        self
    }

    /// Emits a number, sets the value to it, and returns all permits.
    pub fn send(&self, number: u64) {
        self.signal.emit(number);
        self.watch.set(number);
        self.release();
    }

    /// Returns all permits.
    pub fn release(&self) {
        let taken = self.taken.take();
        drop(taken);
    }

    /// The reading of the clock that is `length` away.
    pub fn point(&self) -> Duration {
        self.clock.now().saturating_add(self.span())
    }

    /// The reading of the game clock that is `length` away.
    pub fn game_point(&self) -> Duration {
        let now = self
            .handle
            .time()
            .map_or(Duration::ZERO, |time| time.elapsed);
        now.saturating_add(self.span())
    }

    fn span(&self) -> Duration {
        match self.length {
            Length::Seconds(seconds) => {
                Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
            }
            Length::Exact(length) => length,
        }
    }

    /// The condition as a function.
    pub fn asked(&self) -> impl Fn() -> bool + use<> {
        let condition = self.condition.clone();
        move || condition()
    }

    /// The function of an animation.
    pub fn applied(&self) -> impl Fn(f32) + use<> {
        let apply = self.apply.clone();
        move |share| apply(share)
    }

    /// A script that ends in `LateUpdate` of the next frame.
    pub fn script(&self) -> Coroutine<()> {
        self.handle.start(async {
            next_frame().in_phase(Phase::LateUpdate).await;
        })
    }

    /// An owner of such a script.
    pub fn crowd(&self) -> OwnerHandle {
        let owner = self.handle.owner();
        // The executor may be gone.
        let owner = owner.unwrap_or_else(|| Executor::new().owner());
        let owner = owner.named("crowd");
        owner.start(async {
            next_frame().in_phase(Phase::LateUpdate).await;
        });
        let handle = owner.handle();
        self.owners.borrow_mut().push(owner);
        handle
    }

    /// A group of such a script.
    pub fn group<T: 'static>(&self, output: impl FnOnce() -> T + 'static) -> Group<T> {
        let script = self.handle.start(async {
            next_frame().in_phase(Phase::LateUpdate).await;
            output()
        });
        let group_here = self.handle.enter(group);
        let mut group = group_here.unwrap_or_else(|| Executor::new().enter(group));
        group.add(script);
        group
    }

    /// The changes of the value, without the present one.
    pub fn changes(&self) -> Changes<u64> {
        let mut changes = self.watch.subscribe();
        let _present = changes.next().now_or_never();
        changes
    }
}

/// A stream of one item that does not end.
pub(super) fn once() -> impl Stream<Item = ()> + Unpin + Debug {
    stream::iter([()]).chain(stream::pending())
}
