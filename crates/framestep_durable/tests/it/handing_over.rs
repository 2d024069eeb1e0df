//! Several permits at once, another number of permits, and events for one script: beside the plain
//! ones, and saved, rolled back and replayed in the middle.

use framestep_durable::prelude::*;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet, what};

const TOKENS: Semaphore = semaphore("tokens", 2);
const JOBS: Signal<u32> = signal("jobs");
const BEST: Watch<u32> = watch("best", Default::default);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Role {
    /// Takes so many tokens, for so many frames.
    Takes(usize, u64),
    /// Gives up after so many milliseconds.
    Impatient(usize, u32),
    /// Changes how many there are.
    Counts,
    /// Does so many jobs.
    Works(u32),
    /// Does one job that it likes.
    Picks(u32),
    /// Reads jobs from a subscription, and does something else in between.
    Reads(u32),
    /// Is stopped when it has been given a job.
    Leaves,
    /// Emits jobs for one script each.
    Bosses,
    /// Changes a value in place.
    Scores,
    /// Waits for a better score.
    Watches,
}

impl Role {
    /// The same in a plain script and in a durable one.
    async fn play(self) {
        let name = format!("{self:?}");
        match self {
            Role::Takes(count, frames) => {
                let tokens = TOKENS.acquire_many(count).await;
                log(format!("{name} begins, {} free", TOKENS.available()));
                wait_frames(frames).await;
                drop(tokens);
            }
            Role::Impatient(count, ms) => {
                let limit = f64::from(ms) / 1_000.0;
                let taken = timeout(limit, TOKENS.acquire_many(count)).await;
                log(format!("{name} {:?}", taken.is_ok()));
            }
            Role::Counts => {
                log(format!("{} of {}", TOKENS.available(), TOKENS.count()));
                wait_frames(3).await;
                TOKENS.add(2);
                log(format!("{} of {}", TOKENS.available(), TOKENS.count()));
                wait_frames(2).await;
                TOKENS.set_count(1);
                log(format!("{} of {}", TOKENS.available(), TOKENS.count()));
                wait_frames(4).await;
                TOKENS.set_count(3);
                let one = TOKENS.try_acquire();
                log(format!(
                    "{one:?} {} of {}",
                    TOKENS.available(),
                    TOKENS.count()
                ));
                TOKENS.set_count(2);
                log(format!("{} of {}", TOKENS.available(), TOKENS.count()));
            }
            Role::Works(jobs) => {
                for _ in 0..jobs {
                    log(format!("{name} {}", JOBS.wait().await));
                }
            }
            Role::Picks(likes) => {
                let job = JOBS.wait_for(|job| job % likes == 0).await;
                log(format!("{name} {job}"));
            }
            Role::Reads(jobs) => {
                let mut all = JOBS.subscribe();
                for _ in 0..jobs {
                    log(format!("{name} {}", all.next().await.unwrap()));
                    next_frame().await;
                }
            }
            Role::Leaves => {
                select! {
                    job = JOBS.wait() => log(format!("{name} {job}")),
                    () = in_phase(Phase::LateUpdate) => log("left"),
                }
            }
            Role::Bosses => {
                wait_frames(2).await;
                for job in 1..8 {
                    // In LateUpdate, so that scripts resume in the next frame.
                    in_phase(Phase::LateUpdate).await;
                    let left = JOBS.emit_one(job);
                    log(format!(
                        "gave {job} {left:?}, {:?}",
                        JOBS.emit_one(10 * job)
                    ));
                    if job == 4 {
                        JOBS.emit(100);
                    }
                    next_frame().await;
                }
            }
            Role::Scores => {
                for score in [3, 2, 7] {
                    next_frame().await;
                    let beaten = BEST.update_if(|best| {
                        let is_better = score > *best;
                        *best = score.max(*best);
                        is_better
                    });
                    log(format!("{score} {beaten} {}", BEST.get()));
                }
                log(format!("replaced {}", BEST.replace(1)));
            }
            Role::Watches => {
                for _ in 0..3 {
                    log(format!("best {}", BEST.changed().await));
                }
            }
        }
        log(format!("{name} ends"));
    }
}

fn roles() -> Vec<Role> {
    vec![
        Role::Takes(1, 4),
        Role::Takes(2, 2),
        Role::Takes(1, 3),
        Role::Impatient(4, 250),
        Role::Takes(0, 1),
        Role::Takes(3, 1),
        Role::Takes(1, 1),
        Role::Counts,
        Role::Leaves,
        Role::Picks(5),
        Role::Works(2),
        Role::Reads(2),
        Role::Picks(7),
        Role::Works(3),
        Role::Bosses,
        Role::Watches,
        Role::Scores,
    ]
}

#[derive(Serialize, Deserialize)]
struct Plays(Role);

impl DurableScript for Plays {
    const NAME: &'static str = "plays";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        self.0.play().await;
        Chapter::Done(())
    }
}

fn blank() -> Runtime {
    quiet(Registry::new().with::<Plays>())
}

fn begin(runtime: &mut Runtime, log: &mut Log) {
    runtime.lend(log, |runtime| {
        for role in roles() {
            runtime.start(Plays(role)).detach();
        }
    });
}

#[test]
fn permits_and_events_are_handed_over_as_in_plain_scripts() {
    let (mut runtime, mut durable) = (blank(), Log::new());
    begin(&mut runtime, &mut durable);
    let builder = framestep::Executor::builder().fixed_delta(0.04);
    let (mut executor, mut plain) = (builder.build(), Log::new());
    executor.on_report(|_| ());
    executor.lend(&mut plain, |executor| {
        for role in roles() {
            drop(executor.start(role.play()));
        }
    });
    for _ in 0..40 {
        runtime.run_frame_with(&mut durable, 0.1);
        executor.run_frame_with(&mut plain, 0.1);
    }
    assert_eq!(durable, plain);
    let lines = what(&plain);
    for expected in [
        "0 of 2",
        "0 of 4",
        "0 of 1",
        "None 0 of 3",
        "Impatient(4, 250) false",
        "Picks(5) 100",
        "Works(3) 100",
        "Picks(7) 7",
        "Reads(2) 3",
        "3 true 3",
        "2 false 3",
        "best 1",
    ] {
        assert!(lines.contains(&expected), "{expected}: {plain:#?}");
    }
    assert!(
        lines.iter().any(|line| line.starts_with("gave 7")),
        "{plain:#?}"
    );
}

#[test]
fn permits_and_events_are_handed_over_alike_after_each_save() {
    let game = Game {
        blank,
        begin,
        frame: moment,
        frames: 20 * MOMENTS,
    };
    game.assert_like_its_twin();
}

#[test]
fn an_event_for_one_goes_on_if_its_script_ends_or_refuses_it() {
    #[durable]
    async fn works(name: String) {
        let job = JOBS.wait().await;
        with(move |log: &mut Log| log.push(format!("{name} {job}")));
    }

    #[durable]
    async fn picks(name: String) {
        let job = JOBS.wait_for(|job| *job > 5).await;
        with(move |log: &mut Log| log.push(format!("{name} {job}")));
    }

    #[durable]
    async fn reads(name: String) {
        let mut jobs = JOBS.subscribe();
        let job = jobs.next().await.unwrap();
        with(move |log: &mut Log| log.push(format!("{name} {job}")));
    }

    fn registry() -> Registry {
        Registry::new().script(works).script(picks).script(reads)
    }

    let mut log = Log::new();
    for saves in [false, true] {
        log.clear();
        let mut runtime = Runtime::new(registry());
        let reload = |runtime: &mut Runtime| {
            if saves {
                let save = runtime.save().unwrap();
                *runtime = Runtime::new(registry());
                let save = SaveState::from_bytes(&save.to_bytes()).unwrap();
                runtime.restore(&save, Policy::Fail).unwrap();
            }
        };
        let first = runtime.start(works("a".into())).id();
        let second = runtime.start(reads("b".into())).id();
        runtime.start(picks("c".into())).detach();
        runtime.start(works("d".into())).detach();
        assert_eq!(runtime.named(&JOBS).emit_one(3), None);
        runtime.start(works("late".into())).detach();
        reload(&mut runtime);
        runtime.enter(|| stop(first)); // to the subscription
        reload(&mut runtime);
        runtime.enter(|| stop(second)); // to the one that refuses it, which passes it on
        reload(&mut runtime);
        runtime.run_frame_with(&mut log, 0.1);
        reload(&mut runtime);
        runtime.run_frame_with(&mut log, 0.1);
        assert_eq!(log, ["d 3"]);
        // The one that has refused waits behind the late one now.
        assert_eq!(runtime.named(&JOBS).emit_one(7), None);
        reload(&mut runtime);
        assert_eq!(runtime.named(&JOBS).emit_one(8), None);
        assert_eq!(runtime.named(&JOBS).emit_one(9), Some(9));
        runtime.run_frame_with(&mut log, 0.1);
        assert_eq!(log, ["d 3", "late 7", "c 8"]);
    }
}

#[test]
fn more_permits_than_can_be_counted_are_refused() {
    let runtime = blank();
    runtime.named(&TOKENS).add(usize::MAX - 2);
    assert_eq!(runtime.named(&TOKENS).available(), usize::MAX);
    let add = std::panic::AssertUnwindSafe(|| runtime.named(&TOKENS).add(1));
    assert!(std::panic::catch_unwind(add).is_err());
    runtime.named(&TOKENS).set_count(2);
    assert_eq!(runtime.named(&TOKENS).available(), 2);
}
