//! Panics in scripts, effects, guards and conditions, and their joins before and after a save.

use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep_durable::prelude::*;
use futures::FutureExt;

use crate::twin::{Game, Log, log, quiet, what};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Place {
    Script,
    With,
    Guard,
    Condition,
    Animation,
    NoText,
}

const ALL: [Place; 6] = [
    Place::Script,
    Place::With,
    Place::Guard,
    Place::Condition,
    Place::Animation,
    Place::NoText,
];

#[derive(Serialize, Deserialize)]
struct Panics {
    place: Place,
}

impl DurableScript for Panics {
    const NAME: &'static str = "panics";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        let place = self.place;
        let _outer = defer(move |log: &mut Log| {
            log.push("outer guard".into());
            assert!(!matches!(place, Place::Guard), "in a guard");
        });
        let _inner = defer(|log: &mut Log| log.push("inner guard".into()));
        wait_frames(2).await;
        match place {
            Place::Script => panic!("in a script"),
            Place::With => with(|log: &mut Log| {
                log.push("half of a with".into());
                panic!("in a with");
            }),
            Place::Guard => {}
            Place::Condition => wait_until(|| with_ref(|_: &Log| panic!("in a condition"))).await,
            Place::Animation => {
                let apply =
                    |share: f32| with(|_: &mut Log| assert!(share < 0.4, "in an animation"));
                animate(0.2, apply).await;
            }
            Place::NoText => std::panic::panic_any(5_u32),
        }
        Chapter::Done(1)
    }
}

/// Joins scripts that panic: at once, late, all together, and after stopping them.
#[derive(Serialize, Deserialize)]
struct Watches;

impl DurableScript for Watches {
    const NAME: &'static str = "watches";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        for place in ALL {
            let child = start(Panics { place });
            let id = child.id();
            let end = timeout(0.15, child).await;
            log(format!("at once {place:?} {end:?} {}", stop(id)));
        }
        let children = ALL.map(|place| spawn(Panics { place }));
        wait_frames(5).await;
        for (place, child) in ALL.into_iter().zip(children) {
            log(format!("late {place:?} {:?}", child.await));
        }
        let children = ALL.map(|place| start(Panics { place }));
        next_frame().await;
        for child in &children {
            log(format!("stops {}", stop(child.id())));
        }
        log(format!("stopped {:?}", join_all(children).await));
        Chapter::Done(())
    }
}

#[test]
fn joins_return_panics_of_all_places_alike_before_and_after_a_save() {
    let game = Game {
        blank: || quiet(Registry::new().with::<Panics>().with::<Watches>()),
        begin: |runtime, log| runtime.lend(log, |runtime| runtime.start(Watches).detach()),
        frame: |_, runtime, log: &mut Log| runtime.run_frame_with(log, 0.1),
        frames: 24,
    };
    let log = game.assert_like_its_twin();
    let texts = [
        "in a script",
        "in a with",
        "Ok(1)", // a report, and no panic of the script,
        "in a condition",
        "in an animation",
    ];
    let late: Vec<&str> = what(&log)
        .into_iter()
        .filter(|line| line.starts_with("late"))
        .collect();
    assert_eq!(late.len(), 6);
    for (line, text) in late.iter().zip(texts) {
        assert!(line.contains(text), "{line}");
    }
    let stopped = what(&log).pop().unwrap();
    assert_eq!(
        stopped
            .matches("Err(Stopped { by: Some(\"watches\"), .. })")
            .count(),
        6,
        "{stopped}"
    );
}

#[derive(Serialize, Deserialize)]
struct Falls;

impl DurableScript for Falls {
    const NAME: &'static str = "falls";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        next_frame().await;
        panic!("as planned")
    }
}

#[test]
fn a_rollback_passes_no_panic_on_whose_handle_the_host_holds() {
    let builder = framestep::Executor::builder().propagate_panics(true);
    let mut runtime = Runtime::with(builder, Registry::new().with::<Falls>());
    let falls = runtime.start(Falls);
    let before = runtime.save_state().unwrap();
    for _ in 0..2 {
        runtime.run_frame(0.1);
        assert!(!runtime.is_alive(falls.id()));
        runtime.rollback(&before).unwrap();
        assert!(runtime.is_alive(falls.id()));
    }
    runtime.run_frame(0.1);
    let message = "as planned".to_owned();
    assert_eq!(runtime.take(falls), Some(Err(JoinError::Panicked(message))));
}

/// What panics in a script that catches the panic and goes on.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Caught {
    Condition,
    ConditionOfAWaitThatIsKept,
    Animation,
    Question,
    Start,
    With,
}

#[derive(Serialize, Deserialize)]
struct Catches {
    caught: Caught,
}

#[derive(Serialize, Deserialize)]
struct Riddle;

impl Request for Riddle {
    const NAME: &'static str = "riddle";
    type Answer = u32;
}

fn fails() -> bool {
    panic!("caught")
}

impl DurableScript for Catches {
    const NAME: &'static str = "catches";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let mut kept = std::pin::pin!(wait_until(fails));
        let caught = match self.caught {
            Caught::Condition => AssertUnwindSafe(wait_until(fails)).catch_unwind().await,
            Caught::ConditionOfAWaitThatIsKept => {
                AssertUnwindSafe(kept.as_mut()).catch_unwind().await
            }
            Caught::Animation => {
                let animation = animate(1, |_| with(|_: &mut Log| panic!("caught")));
                AssertUnwindSafe(animation).catch_unwind().await
            }
            Caught::Question => {
                let question = AssertUnwindSafe(ask(|| -> Riddle { panic!("caught") }));
                question.catch_unwind().await.map(drop)
            }
            // It is in no registry.
            Caught::Start => catch_unwind(|| start(Falls).detach()),
            Caught::With => catch_unwind(|| with(|_: &mut Log| assert!(fails()))),
        };
        log(format!("caught {}", caught.is_err()));
        wait_frames(3).await;
        log("goes on");
        Chapter::Done(())
    }
}

#[test]
fn a_script_that_catches_a_panic_of_a_wait_or_an_effect_is_saved_and_restored() {
    let game = Game {
        blank: || quiet(Registry::new().with::<Catches>()),
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                for caught in [
                    Caught::Condition,
                    Caught::ConditionOfAWaitThatIsKept,
                    Caught::Animation,
                    Caught::Question,
                    Caught::Start,
                    Caught::With,
                ] {
                    runtime.start(Catches { caught }).detach();
                }
            });
        },
        frame: |_, runtime, log: &mut Log| runtime.run_frame_with(log, 0.1),
        frames: 6,
    };
    let log = game.assert_like_its_twin();
    let all = what(&log);
    let count = |line: &str| all.iter().filter(|&&found| found == line).count();
    assert_eq!((count("caught true"), count("goes on")), (6, 6), "{all:?}");
}

#[durable]
async fn breaks(in_a_with: bool) {
    wait_frames(2).await;
    if in_a_with {
        with(|number: &mut u32| assert!(*number > 0, "in a with"));
    }
    panic!("after a wait");
}
/// The line of its wait.
const WAIT: u32 = line!() - 7;

#[durable]
async fn breaks_at_once() {
    panic!("before anything");
}

#[test]
fn the_host_finds_the_line_of_the_last_call_before_a_panic() {
    use std::cell::RefCell;
    use std::rc::Rc;

    let registry = Registry::new().script(breaks).script(breaks_at_once);
    let mut runtime = Runtime::new(registry);
    let panicked = Rc::new(RefCell::new(Vec::new()));
    let hook = panicked.clone();
    runtime.executor().on_report(move |report| {
        if let framestep::inspect::Report::CoroutinePanicked { id, .. } = report {
            hook.borrow_mut().push(*id);
        }
    });
    runtime.spawn(breaks(false)).detach();
    runtime.spawn(breaks(true)).detach();
    runtime.spawn(breaks_at_once()).detach();
    for _ in 0..4 {
        runtime.run_frame_with(&mut 0_u32, 0.1);
    }
    let places: Vec<_> = panicked
        .borrow()
        .iter()
        .map(|id| runtime.panicked_after(*id))
        .collect();
    let line = |line: u32| Some(format!("{}:{line}", file!()));
    assert_eq!(places, [None, line(WAIT), line(WAIT + 2)]);
}
