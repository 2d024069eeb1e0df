//! The table: every wait, and the run that ends it.

use std::cell::RefCell;
use std::fmt::Debug;
use std::future::poll_fn;
use std::mem::forget;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::future::{LocalBoxFuture, pending};
use futures::{FutureExt, Stream};

use framestep::prelude::*;
use framestep::{Executor, Handle, Interval, Subscription};

use crate::support::timeline::UNLIMITED;
use crate::support::{place_of_panic, poll_once};

/// The phases of a frame of [`Stage`], in order.
pub(super) const PHASES: [Phase; 6] = [
    Phase::EarlyUpdate,
    Phase::FixedUpdate,
    Phase::Update,
    Phase::Custom(7),
    Phase::LateUpdate,
    Phase::EndOfFrame,
];

/// A frame, and a phase in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct When(pub(super) u64, pub(super) Phase);

/// The sources of the waits. Frames and fixed steps are a quarter of a second long.
#[derive(Clone)]
pub(crate) struct Stage {
    handle: Handle,
    /// At half the speed of the game clock.
    slow: Clock,
    /// In frame 2, between fixed steps and `Update`, the host emits 2, sets 2 and
    /// returns all permits.
    signal: Signal<u64>,
    watch: Watch<u64>,
    permits: Permits,
    taken: Rc<RefCell<Vec<Permit>>>,
}

impl Stage {
    pub(super) fn new() -> (Executor, Stage) {
        let builder = Executor::builder().max_delta(UNLIMITED);
        let executor = builder.fixed_delta(0.25).build();
        let stage = Stage::of(&executor.handle());
        (executor, stage)
    }

    /// The stage of another executor.
    pub(crate) fn of(handle: &Handle) -> Self {
        let slow = handle.clock().expect("it is there").child();
        slow.set_scale(0.5);
        let permits = Permits::new(100);
        let taken = std::iter::from_fn(|| permits.try_acquire()).collect();
        Stage {
            handle: handle.clone(),
            slow,
            signal: Signal::new(),
            watch: Watch::new(0),
            permits,
            taken: Rc::new(RefCell::new(taken)),
        }
    }

    /// Runs a frame; `beside` is called before each of its runs.
    pub(super) fn frame(&self, executor: &mut Executor, mut beside: impl FnMut(Phase)) {
        executor.begin_frame(0.25);
        for phase in PHASES {
            if phase == Phase::FixedUpdate && !executor.begin_fixed_step() {
                continue;
            }
            if phase == Phase::Update && executor.time().frame == 2 {
                self.signal.emit(2);
                self.watch.set(2);
                self.taken.take();
            }
            beside(phase);
            executor.run_phase(phase);
        }
    }

    /// A script that ends in `LateUpdate` of frame 1.
    fn script(&self) -> Coroutine<()> {
        self.handle.start(async {
            next_frame().in_phase(Phase::LateUpdate).await;
        })
    }
}

/// A wait of any type.
pub(super) trait Wait {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()>;
    fn print(&self) -> String;
}

impl<F: Future + Debug> Wait for F {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Future::poll(self, cx).map(drop)
    }

    fn print(&self) -> String {
        format!("{self:?}")
    }
}

/// The next item of a stream.
struct Item<S>(S);

impl<S: Stream + Debug + Unpin> Wait for Item<S> {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.get_mut().0).poll_next(cx).map(drop)
    }

    fn print(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A tick of an interval.
struct Ticks(RefCell<Interval>);

impl Wait for Ticks {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.borrow_mut().tick().poll_unpin(cx).map(drop)
    }

    fn print(&self) -> String {
        format!("{:?}", self.0.borrow_mut().tick())
    }
}

/// An event of a subscription.
struct Events(RefCell<Subscription<u64>>);

impl Wait for Events {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.borrow_mut().next().poll_unpin(cx).map(drop)
    }

    fn print(&self) -> String {
        format!("{:?}", self.0.borrow_mut().next())
    }
}

/// Something that can be awaited, and is polled directly.
pub(super) struct Boxed(pub(super) Pin<Box<dyn Wait>>);

impl Future for Boxed {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl Debug for Boxed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.print())
    }
}

/// A checkpoint, and the budget that it has spent: its job waits.
struct Spent {
    budget: Budget,
    wait: LocalBoxFuture<'static, ()>,
}

impl Spent {
    fn new(phase: Option<Phase>) -> Self {
        let budget = Budget::of_units(1);
        let job = budget.clone();
        let wait = async move {
            let checkpoint = job.checkpoint_cost(2);
            match phase {
                Some(phase) => checkpoint.in_phase(phase).await,
                None => checkpoint.await,
            }
        };
        let wait = wait.boxed_local();
        Spent { budget, wait }
    }
}

/// `in_phase` on a checkpoint that has begun.
async fn begun_checkpoint() {
    let budget = Budget::of_units(1);
    let mut wait = budget.checkpoint_cost(2);
    assert!(poll_once(&mut wait).await.is_pending());
    let place = place_of_panic(|| wait.in_phase(Phase::LateUpdate));
    assert_eq!(place, format!("{}:{}", file!(), line!() - 1));
}

impl Wait for Spent {
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wait.as_mut().poll(cx)
    }

    fn print(&self) -> String {
        format!("{:?}", self.budget.checkpoint())
    }
}

/// Properties of a wait, besides its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// It names no phase, or its phase is home.
    AtHome,
    /// It names a phase, and may have named another one.
    InPhase,
    /// It waits for an act of a script or the host, outside the table of
    /// docs/contract.md#frame: its waker resumes the script, at home.
    Foreign,
    /// It is a join: it continues in the run that ends the other coroutine.
    Join,
}

pub(crate) struct Row {
    /// The name of its type, as printed.
    pub(super) of: &'static str,
    /// Makes it.
    pub(crate) call: &'static str,
    pub(super) make: fn(&Stage) -> Boxed,
    pub(super) kind: Kind,
    /// Awaited in frame 0, it ends in this run.
    pub(super) due: When,
    /// It is checked in each run of its phase until then.
    pub(super) asks: bool,
    /// It counts the time of a clock, and stands still in a pause.
    pub(super) counts_time: bool,
    /// Begins it, calls `in_phase`, and fails unless that panics at the caller's line.
    pub(super) begun: Option<fn(Stage) -> Check>,
    /// Forgets it, begun and not, in place and behind a pointer.
    pub(crate) forget: fn(Stage) -> Check,
}

pub(crate) type Check = Pin<Box<dyn Future<Output = ()>>>;

impl Row {
    fn asks(self) -> Self {
        Row { asks: true, ..self }
    }

    fn counts_time(self) -> Self {
        Row {
            counts_time: true,
            ..self
        }
    }

    /// The run that ends it in a script with home `home`, which is polled in no other
    /// phase.
    pub(super) fn due_at(&self, home: Phase) -> When {
        match self.kind {
            Kind::AtHome | Kind::Foreign => When(self.due.0, home),
            Kind::InPhase | Kind::Join => self.due,
        }
    }

    /// It is in the table of docs/contract.md#frame: it resumes its script by itself.
    pub(super) fn is_of_the_table(&self) -> bool {
        self.kind != Kind::Foreign
    }
}

macro_rules! row {
    ($of:literal, $call:literal, $kind:ident, F $frame:literal $phase:expr, |$stage:ident| $make:expr) => {
        Row {
            of: $of,
            call: $call,
            make: |$stage| {
                let _ = $stage;
                Boxed(Box::pin($make))
            },
            kind: Kind::$kind,
            due: When($frame, $phase),
            asks: false,
            counts_time: false,
            begun: None,
            forget: |stage| {
                Box::pin(forget_all(move || {
                    let $stage = &stage;
                    let _ = $stage;
                    $make
                }))
            },
        }
    };
}

async fn forget_all<W: Wait + Unpin>(make: impl Fn() -> W) {
    forget(make());
    forget(Box::new(make()));
    for boxed in [false, true] {
        let mut begun = make();
        let poll = poll_fn(|cx| Poll::Ready(Pin::new(&mut begun).poll(cx))).await;
        assert!(poll.is_pending());
        if boxed {
            forget(Box::new(begun));
        } else {
            forget(begun);
        }
    }
}

/// Three rows: of a wait at home, and of the same in other phases.
macro_rules! rows {
    ($of:literal, $call:literal, F $frame:literal, |$stage:ident| $make:expr) => {{
        let make = row!($of, $call, AtHome, F $frame Update, |$stage| $make);
        let begun: fn(Stage) -> Check = |stage| {
            Box::pin(async move {
                let $stage = &stage;
                let _ = $stage;
                let mut wait = $make;
                assert!(poll_once(&mut wait).await.is_pending());
                let place = place_of_panic(|| wait.in_phase(Phase::LateUpdate));
                assert_eq!(place, format!("{}:{}", file!(), line!()), "{}", $call);
            })
        };
        let late = row!($of, $call, InPhase, F $frame LateUpdate, |$stage| {
            $make.in_phase(Phase::EarlyUpdate).in_phase(Phase::LateUpdate)
        });
        let fixed = row!($of, $call, InPhase, F $frame FixedUpdate, |$stage| {
            $make.in_phase(Phase::FixedUpdate)
        });
        [Row { begun: Some(begun), ..make }, late, fixed]
    }};
}

use Phase::{Custom, EndOfFrame, FixedUpdate, LateUpdate, Update};

/// Waits that never end, for tests of waits that have begun.
pub(super) fn endless() -> Vec<Row> {
    let rows = [
        rows!("WaitSeconds", "endless wait_seconds", F 0, |stage| wait_seconds(f64::INFINITY)),
        rows!("WaitFrames", "endless wait_frames", F 0, |stage| wait_frames(u64::MAX)),
        rows!("Timeout", "endless timeout", F 0, |stage| {
            timeout(f64::INFINITY, pending::<()>())
        }),
        rows!("Animate", "endless animate", F 0, |stage| animate(f64::INFINITY, |_| ())),
    ];
    rows.into_iter().flatten().collect()
}

/// All waits.
pub(crate) fn table() -> Vec<Row> {
    let at_home = [
        rows!("NextFrame", "next_frame", F 1, |stage| next_frame()),
        rows!("WaitFrames", "wait_frames", F 1, |stage| wait_frames(0)),
        rows!("WaitFrames", "wait_frames", F 3, |stage| wait_frames(3)),
        rows!("WaitSeconds", "wait_seconds", F 2, |stage| wait_seconds(0.5)).map(Row::counts_time),
        rows!("WaitSeconds", "wait_seconds", F 2, |stage| stage.slow.wait_seconds(0.25))
            .map(Row::counts_time),
        rows!("WaitSecondsRealtime", "wait_seconds_realtime", F 2, |stage| {
            wait_seconds_realtime(0.3)
        })
        .map(Row::counts_time),
        rows!("WaitSeconds", "wait_seconds", F 1, |stage| wait_seconds(0)).map(Row::counts_time),
        rows!("WaitSeconds", "wait_seconds", F 1, |stage| wait_seconds(-1)).map(Row::counts_time),
        rows!("WaitUntil", "wait_until", F 1, |stage| wait_until(|| true)).map(Row::asks),
        rows!("WaitWhile", "wait_while", F 1, |stage| wait_while(|| false)).map(Row::asks),
        rows!("WaitUntil", "wait_until", F 2, |stage| wait_until(|| time().frame >= 2))
            .map(Row::asks),
        rows!("WaitWhile", "wait_while", F 2, |stage| wait_while(|| time().frame < 2))
            .map(Row::asks),
        rows!("Timeout", "timeout", F 2, |stage| timeout(0.5, pending::<()>()))
            .map(Row::counts_time),
        rows!("Animate", "animate", F 2, |stage| animate(0.5, |_| ()))
            .map(|row| row.asks().counts_time()),
    ];
    let mut rows: Vec<Row> = at_home.into_iter().flatten().collect();
    rows.extend([
        row!("WaitSecondsRealtime", "wait_seconds_realtime", AtHome, F 1 Update, |stage| {
            wait_seconds_realtime(0)
        })
        .counts_time(),
        row!("WaitSteps", "wait_steps", InPhase, F 1 FixedUpdate, |stage| wait_steps(0)),
        row!("WaitSteps", "wait_steps", InPhase, F 3 FixedUpdate, |stage| wait_steps(3)),
        row!("InPhase", "fixed_update", InPhase, F 1 FixedUpdate, |stage| fixed_update()),
        row!("InPhase", "end_of_frame", InPhase, F 1 EndOfFrame, |stage| end_of_frame()),
        row!("InPhase", "in_phase", InPhase, F 1 Custom(7), |stage| in_phase(Custom(7))),
        row!("Interval", "interval", AtHome, F 2 Update, |stage| Item(interval(0.5))).counts_time(),
        row!("Interval", "interval", InPhase, F 2 FixedUpdate, |stage| {
            Item(interval(0.5).in_phase(FixedUpdate))
        })
        .counts_time(),
        row!("NextTick", "tick", AtHome, F 2 Update, |stage| {
            Ticks(RefCell::new(interval(0.5)))
        })
        .counts_time(),
        row!("Frames", "frames", AtHome, F 1 Update, |stage| Item(frames())),
        row!("Frames", "frames", InPhase, F 1 LateUpdate, |stage| {
            Item(frames().in_phase(LateUpdate))
        }),
        row!("Timeout", "timeout", InPhase, F 1 LateUpdate, |stage| {
            timeout(9, next_frame().in_phase(LateUpdate))
        }),
        Row {
            begun: Some(|_| Box::pin(begun_checkpoint())),
            ..row!("Checkpoint", "checkpoint", AtHome, F 1 Update, |stage| Spent::new(None))
        },
        row!("Checkpoint", "checkpoint_cost", InPhase, F 1 LateUpdate, |stage| {
            Spent::new(Some(LateUpdate))
        }),
        row!("JoinAll", "join_all", InPhase, F 1 LateUpdate, |stage| {
            join_all([in_phase(LateUpdate), in_phase(LateUpdate)])
        }),
        row!("TryJoinAll", "try_join_all", Join, F 1 LateUpdate, |stage| {
            try_join_all([stage.script()])
        }),
        row!("Race", "race", InPhase, F 1 FixedUpdate, |stage| {
            race([in_phase(LateUpdate), in_phase(FixedUpdate)])
        }),
        row!("Coroutine", "join", Join, F 1 LateUpdate, |stage| join(stage.script())),
        row!("Coroutine", "start", Join, F 1 LateUpdate, |stage| {
            stage.script().stop_on_drop()
        }),
        row!("Finished", "finished", Join, F 1 LateUpdate, |stage| {
            let script = stage.script();
            script.finished()
        }),
        row!("WaitSignal", "wait", Foreign, F 2 Update, |stage| stage.signal.wait()),
        row!("WaitSignalFor", "wait_for", Foreign, F 2 Update, |stage| {
            stage.signal.wait_for(|&event| event == 2)
        }),
        row!("Subscription", "subscribe", Foreign, F 2 Update, |stage| {
            Item(stage.signal.subscribe())
        }),
        row!("NextItem", "next", Foreign, F 2 Update, |stage| {
            Events(RefCell::new(stage.signal.subscribe()))
        }),
        row!("Changed", "changed", Foreign, F 2 Update, |stage| stage.watch.changed()),
        row!("WaitWatch", "wait_for", Foreign, F 2 Update, |stage| {
            stage.watch.wait_for(|&value| value == 2)
        }),
        row!("Changes", "subscribe", Foreign, F 2 Update, |stage| {
            let mut changes = stage.watch.subscribe();
            let _ = changes.next().now_or_never();
            Item(changes)
        }),
        row!("YieldNow", "yield_now", AtHome, F 1 Update, |stage| yield_now()),
        row!("On", "on", AtHome, F 2 Update, |stage| on(&stage.slow, wait_seconds(0.25)))
            .counts_time(),
        row!("Acquire", "acquire", Foreign, F 2 Update, |stage| stage.permits.acquire()),
    ]);
    rows
}
