//! Scripts whose code has changed, with each policy, while they are paused, joined or ask the
//! host.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep_durable::prelude::*;

use crate::sleeps::{Riddle, reread};
use crate::twin::{Log, log, quiet, what};

/// What the script does: stands for its code in a build.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Code {
    OfTheSave,
    EndsAtOnce,
    BeginsAChapter,
    BeginsChaptersForEver,
    Panics,
    DoesMore,
}

thread_local! {
    static CODE: Cell<Code> = const { Cell::new(Code::OfTheSave) };
}

#[derive(Serialize, Deserialize)]
struct Kid;

impl DurableScript for Kid {
    const NAME: &'static str = "kid";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_frames(8).await;
        log("kid");
        Chapter::Done(())
    }
}

#[derive(Serialize, Deserialize)]
struct Quest {
    chapter: u32,
}

impl DurableScript for Quest {
    const NAME: &'static str = "quest";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        match CODE.get() {
            Code::EndsAtOnce => return Chapter::Done(9),
            Code::BeginsAChapter if self.chapter == 0 => {
                return Chapter::Next(Quest { chapter: 1 });
            }
            Code::BeginsChaptersForEver => return Chapter::Next(self),
            Code::Panics => panic!("the new code"),
            Code::DoesMore => log("more"),
            Code::OfTheSave | Code::BeginsAChapter => {}
        }
        let _guard = defer(|log: &mut Log| log.push("guard".into()));
        start(Kid).detach();
        wait_frames(2).await;
        log("quest");
        Chapter::Done(ask(|| Riddle).await)
    }
}

#[derive(Serialize, Deserialize)]
struct Town;

impl DurableScript for Town {
    const NAME: &'static str = "town";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let end = start(Quest { chapter: 0 }).await;
        log(format!("{end:?}"));
        Chapter::Done(())
    }
}

fn blank() -> Runtime {
    quiet(Registry::new().with::<Town>().with::<Quest>().with::<Kid>())
}

const QUEST: ScriptId = ScriptId::from_raw(2);

fn saved(is_paused: bool) -> (SaveState, Log) {
    CODE.set(Code::OfTheSave);
    let (mut runtime, mut log) = (blank(), Log::new());
    runtime.spawn(Town).detach();
    for _ in 0..4 {
        runtime.run_frame_with(&mut log, 0.1);
    }
    assert!(!is_paused || runtime.enter(|| pause(QUEST)));
    let file = runtime.save().unwrap().to_bytes();
    (SaveState::from_bytes(&file).unwrap(), log)
}

/// Loads the save in a build with other code, and plays ten frames. Returns what is logged.
fn played(code: Code, policy: Policy, is_paused: bool) -> Log {
    let (save, before) = saved(is_paused);
    CODE.set(code);
    let mut runtime = blank();
    let mut log = before.clone();
    let restored = runtime.lend(&mut log, |runtime| runtime.restore(&save, policy));
    assert_eq!(log, before, "a restore does not touch the world");
    let restored = restored.unwrap();
    let named: Vec<&str> = restored
        .restarted
        .iter()
        .chain(&restored.dropped)
        .chain(&restored.waiting)
        .map(|divergence| divergence.name.as_str())
        .collect();
    assert_eq!(named, ["quest"]);
    // The result of a policy can be saved, too.
    let again = runtime.save().unwrap().to_bytes();
    let mut twin = blank();
    let again = SaveState::from_bytes(&again).unwrap();
    twin.restore(&again, Policy::Fail).unwrap();
    let mut logs = [log.clone(), log];
    for (runtime, log) in [runtime, twin].iter_mut().zip(&mut logs) {
        for frame in 0..10 {
            if frame == 5 {
                runtime.enter(|| resume(QUEST));
            }
            for (id, _) in runtime.requests::<Riddle>() {
                runtime.answer(id, &42);
            }
            runtime.run_frame_with(log, 0.1);
        }
    }
    let [log, of_twin] = logs;
    assert_eq!(of_twin, log);
    log[before.len()..].to_vec()
}

const CHANGED: [Code; 5] = [
    Code::EndsAtOnce,
    Code::BeginsAChapter,
    Code::BeginsChaptersForEver,
    Code::Panics,
    Code::DoesMore,
];

#[test]
fn a_script_restarts_its_chapter_in_its_phase_or_when_it_is_resumed() {
    for (is_paused, frame) in [(false, 5), (true, 10)] {
        for code in CHANGED {
            let log = played(code, Policy::Restart, is_paused);
            let (end, later) = match code {
                Code::EndsAtOnce => ("Ok(9)", 0),
                Code::BeginsAChapter | Code::DoesMore => ("Ok(42)", 3),
                Code::BeginsChaptersForEver => ("without waiting", 0),
                Code::Panics => ("the new code", 0),
                Code::OfTheSave => unreachable!(),
            };
            let line = log.iter().find(|line| line.contains(end));
            let at = format!(" F{}.Update", frame + later);
            assert!(
                line.is_some_and(|line| line.contains(&at)),
                "{code:?} {log:?}"
            );
            // The child of the old chapter continues, beside that of the new chapter.
            assert!(what(&log).contains(&"kid"), "{log:?}");
        }
    }
}

#[test]
fn a_script_that_restarts_after_its_wait_does_so_when_its_question_is_answered() {
    for is_paused in [false, true] {
        for code in CHANGED {
            let log = played(code, Policy::RestartAfterWait, is_paused);
            let (end, frame) = match code {
                Code::EndsAtOnce => ("Ok(9)", 5),
                // Its new chapter asks again, two frames later.
                Code::BeginsAChapter | Code::DoesMore => ("Ok(42)", 8),
                Code::BeginsChaptersForEver => ("without waiting", 5),
                Code::Panics => ("the new code", 5),
                Code::OfTheSave => unreachable!(),
            };
            let frame = if is_paused { frame + 5 } else { frame };
            let line = log.iter().find(|line| line.contains(end));
            let at = format!(" F{frame}.Update");
            assert!(
                line.is_some_and(|line| line.contains(&at)),
                "{code:?} {is_paused} {log:?}"
            );
            assert!(what(&log).contains(&"kid"), "{log:?}");
        }
    }
}

#[test]
fn a_join_of_a_dropped_script_returns_stopped_and_its_guards_do_not_run() {
    for is_paused in [false, true] {
        for code in CHANGED {
            let log = played(code, Policy::Drop, is_paused);
            assert_eq!(
                what(&log),
                ["Err(Stopped { by: None, .. })", "kid"],
                "{code:?}"
            );
            assert!(log[0].contains(" F5.Update"), "{log:?}");
        }
    }
}

#[test]
fn a_restore_that_fails_leaves_the_runtime_as_it_was() {
    for code in CHANGED {
        let (save, mut log) = saved(false);
        CODE.set(code);
        let mut runtime = blank();
        let empty = runtime.save_state().unwrap().checksum();
        let error = runtime.lend(&mut log, |runtime| {
            runtime.restore(&save, Policy::Fail).unwrap_err()
        });
        assert!(error.to_string().contains("`quest` (#2)"), "{error}");
        assert_eq!(runtime.save_state().unwrap().checksum(), empty);
        assert!(!log.contains(&"guard".to_owned()));
    }
}

thread_local! {
    static IS_STRICT: Cell<bool> = const { Cell::new(false) };
}

/// A state whose reader may panic.
#[derive(Serialize)]
struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        assert!(!IS_STRICT.get(), "the reader panics");
        <()>::deserialize(reader).map(|()| Strict)
    }
}

impl DurableScript for Strict {
    const NAME: &'static str = "strict";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        if IS_STRICT.get() {
            wait_frames(2).await;
        }
        next_frame().await;
        Chapter::Done(())
    }
}

#[test]
fn a_restore_that_a_reader_or_a_policy_leaves_by_a_panic_invalidates_no_handles() {
    for policy_panics in [false, true] {
        let mut runtime = Runtime::new(Registry::new().with::<Kid>().with::<Strict>());
        runtime.start(Strict).detach();
        let save = reread(&runtime);
        let kid = runtime.start(Kid);
        IS_STRICT.set(true);
        let restored = catch_unwind(AssertUnwindSafe(|| {
            let policy = |_: &_| {
                assert!(!policy_panics, "the policy panics");
                Policy::Fail
            };
            runtime.restore_with(&save, policy).is_ok()
        }));
        IS_STRICT.set(false);
        assert!(restored.is_err());
        runtime.lend(&mut Log::default(), |runtime| {
            for _ in 0..8 {
                runtime.run_frame(0.1);
            }
        });
        assert_eq!(runtime.take(kid), Some(Ok(())));
    }
}
