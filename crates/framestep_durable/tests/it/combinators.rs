//! Combinators of framestep and of `futures`, nested, and handles that move.

use framestep_durable::prelude::*;
use futures::StreamExt;
use futures::future::{Either, FutureExt};

use crate::twin::{Game, Log, log, quiet};

const BELL: Signal<u32> = signal("bell");

#[derive(Serialize, Deserialize)]
struct Job {
    frames: u64,
    panics: bool,
}

fn job(frames: u64) -> Job {
    let panics = false;
    Job { frames, panics }
}

impl DurableScript for Job {
    const NAME: &'static str = "job";
    type Output = u64;

    async fn run(self) -> Chapter<Self> {
        wait_frames(self.frames).await;
        assert!(!self.panics, "in frame {}", self.frames);
        Chapter::Done(self.frames)
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Plays {
    Handles,
    Nested,
    Futures,
    Recursion,
    Streams,
}

const ALL: [Plays; 5] = [
    Plays::Handles,
    Plays::Nested,
    Plays::Futures,
    Plays::Recursion,
    Plays::Streams,
];

impl DurableScript for Plays {
    const NAME: &'static str = "plays";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        match self {
            Plays::Handles => handles().await,
            Plays::Nested => nested().await,
            Plays::Futures => of_futures().await,
            Plays::Recursion => log(format!("{}", recursion(4).await)),
            Plays::Streams => streams().await,
        }
        Chapter::Done(())
    }
}

struct Holder {
    many: Vec<ScriptHandle<u64>>,
    one: Option<ScriptHandle<u64>>,
}

async fn handles() {
    let many = (0..100).map(|number| {
        let (frames, panics) = (number % 5 + 1, number % 17 == 3);
        start(Job { frames, panics })
    });
    let mut holder = Holder {
        many: many.collect(),
        one: Some(spawn(job(12))),
    };
    next_frame().await;
    let ended = join_all(std::mem::take(&mut holder.many)).await;
    let panicked = ended.iter().filter(|end| end.is_err()).count();
    log(format!("{} ended, {panicked} panicked", ended.len()));
    let mut moved = Box::new(holder).one.unwrap();
    let early = timeout(0.15, &mut moved).await;
    log(format!("{early:?}"));
    let again = vec![moved];
    for handle in again {
        log(format!("{:?}", handle.await));
    }
    let mut given_up = start(job(3));
    select! {
        _ = &mut given_up => log("never"),
        _ = next_frame() => log("gave up"),
    }
    drop(given_up);
    let all = (0..20).map(|number| {
        let (frames, panics) = (number % 4, number == 13);
        start(Job { frames, panics })
    });
    log(format!("{:?}", try_join_all(all).await));
    let first = race((0..10).map(|number| start(job(9 - number)))).await;
    log(format!("{first:?}"));
    log(format!("{}", stop(ScriptId::from_raw(99_999))));
}

async fn nested() {
    let four = timeout(0.4, timeout(0.3, timeout(0.2, wait_seconds(9)))).await;
    log(format!("{four:?}"));
    let same = timeout(0.2, timeout(0.2, wait_seconds(0.2))).await;
    log(format!("{same:?}"));
    log(format!("{:?}", timeout(0, async { 5 }).await));
    log(format!("{:?}", timeout(0, next_frame()).await));
    let mut ticks = interval(0.1);
    for _ in 0..2 {
        // Both are due at the same deadline.
        select! {
            _ = ticks.tick() => log("tick"),
            _ = wait_seconds(0.1) => log("time"),
        }
        select! {
            biased;
            _ = wait_seconds(0.1) => log("time"),
            _ = ticks.tick() => log("tick"),
        }
    }
    let share = |share: f32| with(|log: &mut Log| log.push(format!("{share}")));
    select! {
        _ = animate(0.5, share) => log("animated"),
        bell = BELL.wait() => log(format!("{bell}")),
    }
    wait_seconds(0).await;
    wait_seconds(-1).await;
    wait_frames(0).await;
    wait_steps(0).await;
    log("lengths of zero");
}

async fn of_futures() {
    for _ in 0..3 {
        let bell = Box::pin(BELL.wait());
        match futures::future::select(bell, Box::pin(wait_seconds(0.2))).await {
            Either::Left((bell, rest)) => {
                log(format!("{bell}"));
                rest.await;
            }
            Either::Right(_) => log("time"),
        }
    }
    let (frames, seconds) = (wait_frames(2).fuse(), wait_seconds(0.05).fuse());
    futures::pin_mut!(frames, seconds);
    for _ in 0..2 {
        futures::select_biased! {
            () = frames => log("frames"),
            () = seconds => log("seconds"),
        }
    }
    let both = futures::join!(wait_frames(1), wait_frames(2).map(|()| 3));
    log(format!("{both:?}"));
    let waits = (2..5).map(|frames| Box::pin(wait_frames(frames)));
    let ((), first, left) = futures::future::select_all(waits).await;
    log(format!("{first}, {} left", left.len()));
    let few = futures::future::join_all((0..5).map(wait_frames)).await;
    log(format!("{}", few.len()));
}

fn recursion(depth: u64) -> futures::future::LocalBoxFuture<'static, u64> {
    Box::pin(async move {
        if depth == 0 {
            next_frame().await;
            return 0;
        }
        let (below, ()) = join!(recursion(depth - 1), wait_frames(depth));
        below + 1
    })
}

async fn streams() {
    let next = |number: u32| async move {
        wait_seconds(0.1).await;
        (number < 4).then_some((number, number + 1))
    };
    let mut counts = Box::pin(futures::stream::unfold(0, next));
    while let Some(number) = counts.next().await {
        log(format!("{number}"));
    }
    let mut frames = Box::pin(futures::stream::iter(1..4).then(wait_frames));
    let mut bells = Box::pin(futures::stream::once(BELL.wait()).chain(futures::stream::pending()));
    loop {
        select! {
            frame = frames.next() => {
                log(format!("{frame:?}"));
                if frame.is_none() {
                    break;
                }
            }
            bell = bells.next() => log(format!("{bell:?}")),
        }
    }
}

#[test]
fn combinators_of_all_kinds_go_on_where_they_were() {
    let game = Game {
        blank: || quiet(Registry::new().with::<Plays>().with::<Job>()),
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                for home in [Phase::Update, Phase::FixedUpdate] {
                    for plays in ALL {
                        runtime.enter(|| start_in(home, plays)).detach();
                    }
                }
            });
        },
        frame: |at, runtime, log: &mut Log| {
            if at % 3 == 1 {
                runtime.named(&BELL).emit(at);
            }
            runtime.run_frame_with(log, [0.1, 0.04, 0.0, 0.3, 0.05][at as usize % 5]);
        },
        frames: 34,
    };
    let (runtime, _) = game.play();
    assert!(runtime.scripts().is_empty(), "{:?}", runtime.scripts());
    assert!(game.assert_like_its_twin().len() > 60);
}
