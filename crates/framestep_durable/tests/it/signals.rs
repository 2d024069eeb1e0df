//! Signals and values: which scripts receive them, in which order, and what they return.

use std::cell::RefCell;
use std::rc::Rc;

use framestep_durable::{RuntimeHandle, prelude::*};

const KNOCK: Signal<u32> = signal("knock");
const STAGE: Watch<u32> = watch("stage", Default::default);

type Log = Vec<String>;

fn log(what: String) {
    with(move |log: &mut Log| log.push(what));
}

/// Waits for three knocks, then for a change of the stage, then for stage 5.
#[derive(Serialize, Deserialize)]
struct Listener {
    name: String,
}

impl DurableScript for Listener {
    const NAME: &'static str = "listener";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let name = &self.name;
        next_frame().await;
        for _ in 0..3 {
            let knock = KNOCK.wait().await;
            log(format!("{name} knock {knock}"));
        }
        log(format!("{name} stage {}", STAGE.changed().await));
        log(format!(
            "{name} stage {}",
            STAGE.wait_for(|stage| *stage >= 5).await
        ));
        log(format!("{name} reads {}", STAGE.get()));
        Chapter::Done(())
    }
}

/// Knocks from a script.
#[derive(Serialize, Deserialize)]
struct Guest;

impl DurableScript for Guest {
    const NAME: &'static str = "guest";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_frames(2).await;
        KNOCK.emit(70);
        STAGE.set(2);
        Chapter::Done(())
    }
}

fn runtime() -> (Runtime, Log) {
    let runtime = Runtime::new(Registry::new().with::<Listener>().with::<Guest>());
    for name in ["a", "b"] {
        let name = name.to_owned();
        runtime.start(Listener { name }).detach();
    }
    (runtime, Log::new())
}

fn frame(runtime: &mut Runtime, log: &mut Log) {
    runtime.run_frame_with(log, 0.1);
    // The same from a file, after each frame.
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    runtime.restore(&save, Policy::Fail).unwrap();
}

#[test]
fn each_waiting_script_gets_each_event_in_the_order_in_which_they_began_to_wait() {
    let (mut runtime, mut log) = runtime();
    runtime.named(&KNOCK).emit(1); // no script waits for it yet
    frame(&mut runtime, &mut log);
    runtime.start(Guest).detach();
    runtime.named(&KNOCK).emit(2);
    runtime.named(&KNOCK).emit(3); // both have heard the first
    frame(&mut runtime, &mut log);
    assert_eq!(log, ["a knock 2", "b knock 2"]);
    frame(&mut runtime, &mut log); // the guest knocks and sets, and the scripts that wait for a knock get it
    assert_eq!(log[2..], ["a knock 70", "b knock 70"]);
    runtime.named(&KNOCK).emit(4);
    frame(&mut runtime, &mut log);
    assert_eq!(log[4..], ["a knock 4", "b knock 4"]);
    for stage in [3, 4, 5] {
        runtime.named(&STAGE).set(stage);
        assert_eq!(runtime.named(&STAGE).get(), stage);
        frame(&mut runtime, &mut log);
    }
    let expected = [
        "a stage 3",
        "b stage 3",
        "a stage 5",
        "a reads 5",
        "b stage 5",
        "b reads 5",
    ];
    assert_eq!(log[6..], expected);
    assert!(runtime.scripts().is_empty());
}

#[test]
fn a_value_that_was_never_set_is_the_default_and_a_condition_that_holds_at_once_does_not_wait() {
    #[derive(Serialize, Deserialize)]
    struct AtOnce;

    impl DurableScript for AtOnce {
        const NAME: &'static str = "at once";
        type Output = u32;

        async fn run(self) -> Chapter<Self> {
            Chapter::Done(STAGE.wait_for(|stage| *stage == 0).await)
        }
    }
    let runtime = Runtime::new(Registry::new().with::<AtOnce>());
    assert_eq!(runtime.named(&STAGE).get(), 0);
    let handle = runtime.start(AtOnce);
    assert_eq!(runtime.take(handle), Some(Ok(0)));
}

#[test]
fn waits_that_are_dropped_do_not_pile_up() {
    #[derive(Serialize, Deserialize)]
    struct Impatient {
        rounds: u32,
    }

    impl DurableScript for Impatient {
        const NAME: &'static str = "impatient";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            for _ in 0..10 {
                select! {
                    _ = KNOCK.wait() => {}
                    _ = STAGE.changed() => {}
                    _ = next_frame() => {}
                }
            }
            let rounds = self.rounds + 1;
            Chapter::Next(Impatient { rounds })
        }
    }
    let mut runtime = Runtime::new(Registry::new().with::<Impatient>());
    runtime.start(Impatient { rounds: 0 }).detach();
    let mut largest = 0;
    for frame in 0..2_000 {
        runtime.run_frame(0.1);
        if frame % 100 == 0 {
            largest = largest.max(runtime.save_state().unwrap().to_bytes().len());
        }
    }
    assert!(largest < 600, "{largest} bytes");
    assert_eq!(ScriptId::from_raw(1).to_string(), "#1");
    assert_eq!(ScriptId::from_raw(7).number(), 7);
}

#[test]
fn a_guard_that_was_dropped_before_the_save_acts_once() {
    #[derive(Serialize, Deserialize)]
    struct Locks;

    impl DurableScript for Locks {
        const NAME: &'static str = "locks";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            {
                let _lock = defer(|log: &mut Log| log.push("unlocked".into()));
                next_frame().await;
            }
            let _lock = defer(|log: &mut Log| log.push("left".into()));
            wait_frames(3).await;
            Chapter::Done(())
        }
    }
    let mut runtime = Runtime::new(Registry::new().with::<Locks>());
    let mut log = Log::new();
    runtime.start(Locks).detach();
    for _ in 0..3 {
        frame(&mut runtime, &mut log);
        let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
        runtime.lend(&mut log, |runtime| {
            runtime.restore(&save, Policy::Fail).unwrap()
        });
    }
    assert_eq!(log, ["unlocked"]);
    frame(&mut runtime, &mut log);
    assert_eq!(log, ["unlocked", "left"]);
}

#[test]
fn a_condition_that_changes_its_value_is_called_again() {
    thread_local! {
        static NEXT: RefCell<Option<RuntimeHandle>> = const { RefCell::new(None) };
    }

    #[derive(Serialize, Deserialize)]
    struct Climbs;

    impl DurableScript for Climbs {
        const NAME: &'static str = "climbs";
        type Output = u32;

        async fn run(self) -> Chapter<Self> {
            let climbs = |stage: &u32| {
                if let Some(host) = NEXT.take() {
                    host.executor().named(&STAGE).unwrap().set(3);
                }
                *stage == 3
            };
            Chapter::Done(STAGE.wait_for(climbs).await)
        }
    }
    for is_first_poll in [true, false] {
        let mut runtime = Runtime::new(Registry::new().with::<Climbs>());
        let host = runtime.host().clone();
        let script = if is_first_poll {
            NEXT.set(Some(host));
            runtime.start(Climbs)
        } else {
            let script = runtime.start(Climbs);
            NEXT.set(Some(host));
            runtime.named(&STAGE).set(1);
            script
        };
        for _ in 0..2 {
            let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
            runtime.rollback(&save).unwrap();
            runtime.run_frame(0.1);
        }
        assert_eq!(runtime.take(script), Some(Ok(3)), "{is_first_poll}");
    }
}

thread_local! {
    static HOST: RefCell<Option<RuntimeHandle>> = const { RefCell::new(None) };
}

/// Waits for stage 9, which does not come.
#[derive(Serialize, Deserialize)]
struct WaitsForNine;

impl DurableScript for WaitsForNine {
    const NAME: &'static str = "waits for nine";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        STAGE.wait_for(|stage| *stage == 9).await;
        Chapter::Done(())
    }
}

/// Waits for stage 2. At stage 1, it starts 40 others that wait for the same value.
#[derive(Serialize, Deserialize)]
struct StartsOthers;

impl DurableScript for StartsOthers {
    const NAME: &'static str = "starts others";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        let stage = STAGE.wait_for(|&stage| {
            if stage == 1 {
                let host = HOST.with_borrow(|host| host.clone().unwrap());
                (0..40).for_each(|_| host.start(WaitsForNine).detach());
            }
            stage == 2
        });
        Chapter::Done(stage.await)
    }
}

#[test]
fn a_condition_that_starts_others_that_wait_for_the_value_is_still_asked() {
    for is_at_once in [true, false] {
        let registry = Registry::new().with::<StartsOthers>();
        let mut runtime = Runtime::new(registry.with::<WaitsForNine>());
        HOST.set(Some(runtime.host().clone()));
        if is_at_once {
            // Then the first poll asks, before the wait is in its place.
            runtime.named(&STAGE).set(1);
        }
        let script = runtime.start(StartsOthers);
        runtime.named(&STAGE).set(1);
        runtime.run_frame(0.1);
        runtime.named(&STAGE).set(2);
        runtime.run_frame(0.1);
        HOST.set(None);
        assert_eq!(runtime.take(script), Some(Ok(2)), "{is_at_once}");
    }
}

const SCORE: Watch<u32> = watch("score", Default::default);

/// Shows changes while it also does something else.
#[durable]
async fn shows() {
    let mut scores = SCORE.keyed("hero").subscribe();
    loop {
        let score = scores.next().await.expect("it does not end");
        let frame = time().frame;
        with(move |log: &mut Vec<(u64, u32)>| log.push((frame, score)));
        if score % 2 == 1 {
            wait_frames(2).await;
        }
    }
}

#[durable]
async fn scores() {
    wait_frames(1).await;
    SCORE.keyed("hero").set(2); // read in this run
    wait_frames(1).await;
    SCORE.keyed("hero").set(3);
    wait_frames(1).await;
    SCORE.keyed("hero").set(4); // skipped
    SCORE.keyed("hero").set(6);
}

#[test]
fn a_subscription_to_a_value_misses_no_change_and_is_not_late() {
    for loads in [false, true] {
        let registry = || Registry::new().script(shows).script(scores);
        let mut runtime = Runtime::builder(registry());
        if !loads {
            runtime = runtime.sync_test::<Vec<(u64, u32)>>();
        }
        let mut runtime = runtime.build();
        let mut log: Vec<(u64, u32)> = Vec::new();
        runtime.named(&SCORE.keyed("hero")).set(1);
        // The one that reads begins before the one that sets, and resumes after it.
        runtime.start(shows()).detach();
        runtime.start(scores()).detach();
        for _ in 0..6 {
            if loads {
                let save = runtime.save().unwrap();
                let save = SaveState::from_bytes(&save.to_bytes()).unwrap();
                runtime = Runtime::new(registry());
                runtime.restore(&save, Policy::Fail).unwrap();
            }
            runtime.run_frame_with(&mut log, 0.1);
        }
        assert_eq!(log, [(1, 2), (2, 3), (4, 6)], "{loads}");
    }
}

#[test]
fn a_watch_that_two_lines_declare_is_reported_once() {
    const EARLY: Watch<u32> = watch("stage", || 1);
    const LATE: Watch<u32> = watch("stage", || 2);

    let runtime = Runtime::new(Registry::new());
    let told = Rc::new(RefCell::new(Vec::new()));
    let log = told.clone();
    runtime
        .executor()
        .on_report(move |report| log.borrow_mut().push(report.to_string()));
    assert_eq!(runtime.named(&EARLY).get(), 1);
    assert!(told.borrow().is_empty(), "{told:?}");
    // Each line reads the start value that it has itself, as long as nothing sets the watch.
    for _ in 0..2 {
        assert_eq!(runtime.named(&LATE).get(), 2);
    }
    let told = told.borrow();
    let [only] = told.as_slice() else {
        panic!("{told:#?}");
    };
    for part in [
        "the watch `stage` is declared at",
        file!(),
        "Declare one constant",
    ] {
        assert!(only.contains(part), "{only}");
    }
}
