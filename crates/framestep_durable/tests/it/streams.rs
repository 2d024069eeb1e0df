//! Streams of durable scripts, beside the plain ones and with those of `futures`: saved, rolled back
//! and replayed in the middle.

use framestep_durable::prelude::*;
use futures::{Stream, StreamExt};

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet};

const HIT: Signal<u32> = signal("hit");

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Plays {
    Changes,
    Frames,
    Debounced,
    Throttled,
    ByKey,
    Sampled,
    Combined,
    Selected,
}

const ALL: [Plays; 8] = [
    Plays::Changes,
    Plays::Frames,
    Plays::Debounced,
    Plays::Throttled,
    Plays::ByKey,
    Plays::Sampled,
    Plays::Combined,
    Plays::Selected,
];

fn lines() -> usize {
    with_ref(|log: &Log| log.len() / 5)
}

async fn show<S: Stream + Unpin>(mut stream: S, items: usize, name: &str)
where
    S::Item: std::fmt::Debug,
{
    for _ in 0..items {
        log(format!("{name} {:?}", stream.next().await));
    }
}

impl DurableScript for Plays {
    const NAME: &'static str = "plays";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        match self {
            Plays::Changes => {
                let steps = changes_of(lines).in_phase(Phase::FixedUpdate);
                show(steps.with_present(), 4, "step").await;
                show(changes_of(lines), 3, "change").await;
            }
            Plays::Frames => {
                let mut frames = every_frames(2);
                for pause in [0, 1, 3, 0] {
                    log(format!("{:?}", frames.next().await.map(|time| time.frame)));
                    wait_frames(pause).await;
                }
            }
            Plays::Debounced => {
                let settled = debounce(0.15, HIT.subscribe());
                show(settled, 2, "settled").await;
                let hits = HIT
                    .subscribe()
                    .filter(|hit| std::future::ready(hit % 2 == 0));
                show(debounce(0.0, Box::pin(hits)), 1, "even").await;
            }
            Plays::Throttled => {
                show(throttle(0.25, HIT.subscribe()), 4, "first").await;
                show(throttle(0.2, interval(0.05)), 2, "tick").await;
            }
            Plays::ByKey => {
                let settled = debounce_by_key(0.15, HIT.subscribe(), |hit| hit % 3);
                show(settled.with_limit(2), 4, "of its key").await;
                // Keys without end.
                let numbers = frames().map(|time| time.frame);
                show(
                    debounce_by_key(9, numbers, |number| *number).with_limit(3),
                    4,
                    "pushed out",
                )
                .await;
            }
            Plays::Sampled => {
                show(sample(0.25, HIT.subscribe()), 3, "latest").await;
                show(sample(0.1, frames().map(|time| time.frame)), 3, "frame").await;
            }
            Plays::Combined => {
                let hits = HIT.subscribe().map(u64::from);
                let frames = every_frames(3).map(|time| 1_000 + time.frame);
                show(futures::stream::select(hits, frames).take(5), 6, "either").await;
            }
            Plays::Selected => {
                // What loses a `select!` keeps its place.
                let mut ticks = interval(0.25).first_after(0.3);
                let mut frames = every_frames(4);
                let mut hits = HIT.subscribe();
                for _ in 0..9 {
                    select! {
                        tick = ticks.tick() => log(format!("{tick:?}")),
                        time = frames.next() => log(format!("{:?}", time.map(|time| time.frame))),
                        hit = hits.next() => log(format!("hit {}", hit.unwrap())),
                    }
                }
            }
        }
        Chapter::Done(())
    }
}

fn frame(at: u32, runtime: &mut Runtime, log: &mut Log) {
    if at % MOMENTS == 0 && (at / MOMENTS) % 3 != 2 {
        runtime.named(&HIT).emit(at / MOMENTS);
    }
    moment(at, runtime, log);
}

#[test]
fn streams_are_saved_in_the_middle() {
    let game = Game {
        blank: || quiet(Registry::new().with::<Plays>()),
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                for plays in ALL {
                    runtime.start(plays).detach();
                }
            });
        },
        frame,
        frames: 18 * MOMENTS,
    };
    let end = game.assert_like_its_twin();
    for name in [
        "step",
        "change",
        "settled",
        "even",
        "first",
        "tick",
        "of its key",
        "pushed out",
        "latest",
        "frame",
        "either None",
    ] {
        assert!(
            end.iter().any(|line| line.starts_with(name)),
            "{name}: {end:#?}"
        );
    }
    assert!(game.play().0.scripts().is_empty(), "{end:#?}");
}

/// Each stream in a plain executor, and in a runtime, beside framestep's own.
#[test]
fn streams_yield_in_the_same_frames_as_the_plain_ones() {
    type Seen = Vec<(u64, String)>;

    async fn see(name: &str, stream: impl Stream<Item = impl std::fmt::Debug>) {
        let mut stream = std::pin::pin!(stream);
        while let Some(item) = stream.next().await {
            let (item, frame) = (format!("{name} {item:?}"), time().frame);
            with(move |seen: &mut Seen| seen.push((frame, item)));
        }
    }

    fn level() -> u64 {
        // One more in each third frame.
        with_ref(|seen: &Seen| seen.len() as u64 / 4)
    }

    async fn ours() {
        let frames = every_frames(3).map(|time| time.frame).take(3);
        let ticks = interval(0.5).first_after(0.25);
        let ticks = ticks.map(|tick| tick.late).take(3);
        let quick = throttle(0.5, interval(0.25))
            .map(|tick| tick.skipped)
            .take(3);
        let late = debounce(0.25, interval(0.5)).map(|tick| tick.late).take(2);
        let levels = changes_of(level).take(2);
        join!(
            see("frames", frames),
            see("ticks", ticks),
            see("quick", quick),
            see("late", late),
            see("levels", levels),
        );
    }

    #[durable]
    async fn durable() {
        ours().await;
    }

    async fn plain() {
        let frames = framestep::wait::every_frames(3)
            .map(|time| time.frame)
            .take(3);
        let ticks = framestep::interval(0.5).first_after(0.25);
        let ticks = ticks.map(|tick| tick.late).take(3);
        let quick = framestep::wait::throttle(0.5, framestep::interval(0.25));
        let quick = quick.map(|tick| tick.skipped).take(3);
        let late = framestep::wait::debounce(0.25, framestep::interval(0.5));
        let late = late.map(|tick| tick.late).take(2);
        let levels = framestep::wait::changes_of(level).take(2);
        join!(
            see("frames", frames),
            see("ticks", ticks),
            see("quick", quick),
            see("late", late),
            see("levels", levels),
        );
    }

    let mut seen = [Seen::new(), Seen::new(), Seen::new()];
    let mut runtime = Runtime::new(Registry::new().script(durable));
    runtime.spawn(durable()).detach();
    let mut executors = [framestep::Executor::new(), framestep::Executor::new()];
    drop(executors[0].spawn(plain()));
    drop(executors[1].spawn(ours()));
    for _ in 0..16 {
        let [of_runtime, of_plain, of_ours] = &mut seen;
        runtime.run_frame_with(of_runtime, 0.125);
        executors[0].run_frame_with(of_plain, 0.125);
        executors[1].run_frame_with(of_ours, 0.125);
    }
    let [durable, plain, outside] = seen;
    assert!(plain.len() > 10, "{plain:?}");
    assert_eq!(outside, plain);
    assert_eq!(durable, plain);
}
