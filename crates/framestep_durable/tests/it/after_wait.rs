//! `Policy::RestartAfterWait`: a script whose code has changed waits as it did, to the frame and the
//! phase, and restarts its chapter then.

use std::cell::Cell;

use framestep_durable::prelude::*;

use crate::sleeps::Riddle;
use crate::twin::{Log, log, quiet, what};

const BELL: Signal<u32> = signal("bell");
const NEVER: Signal<u32> = signal("never");
const STAGE: Watch<u32> = watch("stage", Default::default);

thread_local! {
    static IS_PATCHED: Cell<bool> = const { Cell::new(false) };
}

#[derive(Serialize, Deserialize)]
struct Kid;

impl DurableScript for Kid {
    const NAME: &'static str = "kid";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_frames(7).await;
        Chapter::Done(())
    }
}

/// The waits that the new code continues exactly as the old code did.
const WAITS: [&str; 15] = [
    "next_frame in a phase",
    "frames",
    "steps",
    "seconds",
    "seconds in a phase",
    "seconds of a clock",
    "realtime",
    "signal",
    "value",
    "question",
    "join",
    "interval",
    "animate",
    "timeout of a signal",
    "select",
];

#[derive(Clone, Serialize, Deserialize)]
struct Guard {
    wait: String,
    clock: ClockId,
}

impl Guard {
    async fn wait(&self) {
        match self.wait.as_str() {
            "next_frame in a phase" => next_frame().in_phase(Phase::LateUpdate).await,
            "frames" => wait_frames(7).await,
            "steps" => wait_steps(31).await,
            "seconds" => wait_seconds(0.75).await,
            "seconds in a phase" => wait_seconds(0.75).in_phase(Phase::FixedUpdate).await,
            "seconds of a clock" => self.clock.clock().wait_seconds(0.4).await,
            "realtime" => wait_seconds_realtime(0.65).await,
            "signal" => _ = BELL.wait().await,
            "value" => _ = STAGE.changed().await,
            "question" => _ = ask(|| Riddle).await,
            "join" => drop(start(Kid).await),
            "interval" => {
                interval(0.65).tick().await;
            }
            "animate" => animate(0.7, |_| with(|_: &mut Log| ())).await,
            "timeout of a signal" => {
                let _ = timeout(0.62, NEVER.wait()).await;
            }
            "select" => {
                select! {
                    _ = wait_seconds(0.8) => {}
                    _ = BELL.wait() => {}
                    _ = start(Kid) => {}
                }
            }
            other => panic!("no wait is named {other}"),
        }
    }
}

impl DurableScript for Guard {
    const NAME: &'static str = "guard";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        if IS_PATCHED.get() {
            log("goes on");
            wait_frames(1).await;
            log("walks");
            return Chapter::Done(());
        }
        self.wait().await;
        log("goes on");
        Chapter::Done(())
    }
}

fn blank() -> Runtime {
    quiet(Registry::new().with::<Guard>().with::<Kid>())
}

fn frame(frame: u32, runtime: &mut Runtime, log: &mut Log) {
    if frame == 6 {
        runtime.named(&BELL).emit(1);
        runtime.named(&STAGE).set(2);
        for (id, Riddle) in runtime.requests() {
            runtime.answer(id, &3);
        }
    }
    runtime.run_frame_with(log, 0.1);
}

fn begun(wait: &str) -> Runtime {
    let mut runtime = blank();
    let clock = runtime.enter(|| ClockId::GAME.child());
    runtime.enter(|| clock.clock()).set_scale(0.5);
    let wait = wait.to_owned();
    runtime.lend(&mut Log::new(), |runtime| {
        runtime.start(Guard { wait, clock }).detach();
    });
    runtime
}

fn reread(runtime: &Runtime) -> SaveState {
    SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap()
}

/// When the old code goes on, with the frame and the phase.
fn undisturbed(wait: &str) -> String {
    let (mut runtime, mut log) = (begun(wait), Log::new());
    (0..20).for_each(|at| frame(at, &mut runtime, &mut log));
    let [line] = &log[..] else {
        panic!("{wait}: {log:?}");
    };
    line.clone()
}

#[test]
fn the_chapter_restarts_in_the_frame_and_phase_in_which_the_wait_would_have_ended() {
    for wait in WAITS {
        let expected = undisturbed(wait);
        for at in 0..6 {
            let (mut runtime, mut log) = (begun(wait), Log::new());
            (0..at).for_each(|at| frame(at, &mut runtime, &mut log));
            if !log.is_empty() {
                break;
            }
            let save = reread(&runtime);
            IS_PATCHED.set(true);
            let mut runtime = blank();
            let restored = runtime.restore(&save, Policy::RestartAfterWait).unwrap();
            let waiting: Vec<&str> = restored.waiting.iter().map(|it| &*it.name).collect();
            assert_eq!(waiting, ["guard"], "{wait} {at}");
            (at..20).for_each(|at| frame(at, &mut runtime, &mut log));
            IS_PATCHED.set(false);
            assert_eq!(what(&log), ["goes on", "walks"], "{wait} {at}");
            assert_eq!(log[0], expected, "{wait} {at}");
            assert!(runtime.scripts().is_empty());
        }
    }
}

#[test]
fn while_it_waits_it_is_saved_verified_and_rolled_back() {
    for wait in WAITS {
        let mut log = Log::new();
        let save = reread(&begun(wait));
        IS_PATCHED.set(true);
        let mut runtime = blank();
        runtime.restore(&save, Policy::RestartAfterWait).unwrap();
        let mut past = Vec::new();
        for at in 0..20 {
            runtime.verify().unwrap();
            past.push((at, runtime.save_state().unwrap(), log.clone()));
            frame(at, &mut runtime, &mut log);
        }
        let end = runtime.save_state().unwrap().checksum();
        for &(at, ref save, ref then) in &past {
            // In place, and from a file, with the strictest policy: nothing is compared.
            let mut twin = blank();
            let file = SaveState::from_bytes(&save.to_bytes()).unwrap();
            twin.restore(&file, Policy::Fail).unwrap();
            runtime.rollback(save).unwrap();
            for runtime in [&mut twin, &mut runtime] {
                let mut again = then.clone();
                assert_eq!(runtime.save_state().unwrap().checksum(), save.checksum());
                (at..20).for_each(|at| frame(at, runtime, &mut again));
                assert_eq!(again, log, "{wait} {at}");
                assert_eq!(runtime.save_state().unwrap().checksum(), end, "{wait} {at}");
            }
        }
        IS_PATCHED.set(false);
    }
}

#[test]
fn a_save_shows_that_it_waits_for_what_and_at_which_line_of_the_old_code() {
    let save = reread(&begun("select"));
    IS_PATCHED.set(true);
    let mut runtime = blank();
    runtime.restore(&save, Policy::RestartAfterWait).unwrap();
    let (before, text) = (save.to_string(), runtime.save_state().unwrap().to_string());
    IS_PATCHED.set(false);
    let says =
        "    waits as earlier code did, then restarts its chapter\n    awaits `wait_seconds()` at ";
    assert!(text.contains(says), "{text}");
    let awaits = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("awaits"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(awaits(&text), awaits(&before));
    assert!(text.contains("`signal.wait()` for `bell`"), "{text}");
}

#[derive(Serialize, Deserialize)]
struct Asks;

impl DurableScript for Asks {
    const NAME: &'static str = "asks";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        if IS_PATCHED.get() {
            log("again");
        } else {
            wait_until(|| with_ref(|_: &Log| false)).await;
            log("never");
        }
        wait_frames(1).await;
        Chapter::Done(())
    }
}

#[test]
fn a_condition_of_the_old_code_counts_as_true_at_its_next_check() {
    let mut runtime = quiet(Registry::new().with::<Asks>());
    let mut log = Log::new();
    runtime.spawn(Asks).detach();
    (0..5).for_each(|_| runtime.run_frame_with(&mut log, 0.1));
    let save = reread(&runtime);
    IS_PATCHED.set(true);
    runtime.restore(&save, Policy::RestartAfterWait).unwrap();
    runtime.run_frame_with(&mut log, 0.1);
    IS_PATCHED.set(false);
    assert_eq!(log, ["again F6.Update 600ms"]);
}

/// The script of the second release, whose state is another one.
mod second {
    use framestep_durable::OldState;
    use framestep_durable::prelude::*;

    #[durable(version = 2, migrate = migrate, state = Asks)]
    pub(crate) async fn asks(guests: u32) {
        crate::twin::log(format!("{guests} guests"));
        wait_frames(1).await;
    }

    fn migrate(old: OldState<'_>) -> Option<Asks> {
        old.read().map(|()| asks(7))
    }
}

#[test]
fn a_script_of_another_version_waits_too_and_restarts_with_the_state_that_migrates() {
    let mut runtime = quiet(Registry::new().with::<Asks>());
    let mut log = Log::new();
    runtime.spawn(Asks).detach();
    runtime.run_frame_with(&mut log, 0.1);
    let not_begun = {
        let runtime = quiet(Registry::new().with::<Asks>());
        runtime.spawn(Asks).detach();
        reread(&runtime)
    };
    let save = reread(&runtime);
    let mut runtime = quiet(Registry::new().script(second::asks));
    // Without a wait, it restarts at once.
    let restored = runtime
        .restore(&not_begun, Policy::RestartAfterWait)
        .unwrap();
    assert_eq!((restored.restarted.len(), restored.waiting.len()), (1, 0));
    let restored = runtime.restore(&save, Policy::RestartAfterWait).unwrap();
    assert_eq!((restored.restarted.len(), restored.waiting.len()), (0, 1));
    // Saved again, it is a script of today.
    let again = reread(&runtime);
    let mut runtime = quiet(Registry::new().script(second::asks));
    runtime.restore(&again, Policy::Fail).unwrap();
    runtime.run_frame_with(&mut log, 0.1);
    assert_eq!(log, ["7 guests F2.Update 200ms"]);
}
