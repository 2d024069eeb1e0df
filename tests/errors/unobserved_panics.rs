//! Panics that no join returns: reported, or passed on to the host.
//! docs/contract.md#decided-unobserved-panics

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::task::Outcome;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{Bomb, forever, panic_of, result_of};

type Reports = Rc<RefCell<Vec<Report>>>;

fn reports_of(executor: &Executor) -> Reports {
    let reports = Reports::default();
    let log = reports.clone();
    executor.on_report(move |report| log.borrow_mut().push(report.clone()));
    reports
}

/// Takes the reports, as text.
fn texts(reports: &Reports) -> Vec<String> {
    reports.take().iter().map(ToString::to_string).collect()
}

/// Panics in the next frame.
async fn panics() {
    next_frame().await;
    panic!("on purpose");
}

mod reported {
    use super::*;

    #[test]
    fn with_id_name_frame_phase_and_message_in_the_run_in_which_it_panics() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let coroutine = executor.start(async {
            end_of_frame().await;
            panic!("on purpose");
        });
        let id = coroutine.named("door").id();
        executor.run_frame(0.25);
        let reports = reports.take();
        let [
            Report::CoroutinePanicked {
                id: of,
                name,
                frame: 1,
                phase: Some(Phase::EndOfFrame),
                message: Some(message),
                ..
            },
        ] = &*reports
        else {
            panic!("{reports:?}");
        };
        assert_eq!((*of, &**name, &**message), (id, "door", "on purpose"));
        assert_eq!(
            reports[0].to_string(),
            "frame 1, EndOfFrame: coroutine 0v1 (door) panicked: on purpose"
        );
    }

    #[test]
    fn when_the_handle_is_dropped_afterwards_with_the_moment_of_the_panic() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let coroutine = executor.start(panics());
        for _ in 0..3 {
            executor.run_frame(0.25);
        }
        assert!(reports.borrow().is_empty(), "a join could still return it");
        drop(coroutine);
        let texts = texts(&reports);
        assert!(texts[0].starts_with("frame 1, Update: "), "{texts:?}");
        assert_eq!(texts.len(), 1);
    }

    /// Also for a script that a script of the owner has started.
    #[test]
    fn with_the_name_of_its_owner() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let goblin = executor.owner().named("Goblin");
        goblin.script("patrol").start(async {
            drop(start(panics()).named("step"));
            wait_frames(2).await;
            panic!("on purpose");
        });
        executor.owner().script("nameless").start(panics());
        let part = goblin.child();
        part.script("arm").start(panics());
        for _ in 0..2 {
            executor.run_frame(0.25);
        }
        let texts = texts(&reports);
        let says = |text: &str| texts.iter().any(|said| said.ends_with(text));
        assert!(says("(step) of Goblin panicked: on purpose"), "{texts:?}");
        assert!(says("(patrol) of Goblin panicked: on purpose"), "{texts:?}");
        assert!(
            texts.iter().any(|said| said.contains("(arm) of Goblin/#")),
            "{texts:?}"
        );
    }

    #[test]
    fn unless_a_join_has_returned_it() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let joined = executor.start(panics());
        let parent = executor.start(async move { joined.await.unwrap_err().is_panic() });
        executor.run_frame(0.25);
        assert!(result_of(&executor, parent).unwrap());
        assert!(reports.borrow().is_empty());
    }

    #[test]
    fn also_if_a_coroutine_waits_for_the_end_without_the_result() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let finished = executor.start(panics()).finished();
        let outcome = executor.run_until(finished, 0.25);
        assert_eq!(outcome, Outcome::Panicked);
        assert_eq!(reports.borrow().len(), 1);
    }

    #[test]
    fn outside_of_a_run_without_a_phase() {
        let executor = unclamped();
        let reports = reports_of(&executor);
        executor.start(async { panic!("on purpose") });
        let texts = texts(&reports);
        assert!(texts[0].starts_with("frame 0: coroutine 0v1"), "{texts:?}");
    }

    #[test]
    fn without_a_text_if_it_was_raised_with_none() {
        let executor = unclamped();
        let reports = reports_of(&executor);
        executor.start(async { panic_any(5) });
        let texts = texts(&reports);
        assert!(texts[0].contains("panicked: (no text)"), "{texts:?}");
    }

    #[test]
    fn of_a_destructor_that_runs_at_a_stop() {
        let executor = unclamped();
        let reports = reports_of(&executor);
        let bomb = Bomb;
        let id = executor.start(async move { (forever().await, bomb) }).id();
        assert!(executor.stop(id));
        assert!(texts(&reports)[0].contains("panicked: the destructor panics"));
    }

    #[test]
    fn of_each_of_many_in_one_run() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let log = Log::new();
        for _ in 0..100 {
            executor.start(panics());
        }
        let say = log.clone();
        executor.start(async move {
            next_frame().await;
            say.say("sibling");
        });
        executor.run_frame(0.25);
        assert_eq!(reports.borrow().len(), 100);
        log.check(&["F1: sibling"]);
    }

    #[test]
    fn of_what_ends_with_its_executor() {
        let executor = unclamped();
        let reports = reports_of(&executor);
        let bomb = Bomb;
        executor.start(async move { (forever().await, bomb) });
        drop(executor);
        assert!(texts(&reports)[0].contains("panicked: the destructor panics"));
    }

    #[test]
    fn of_a_race_that_others_have_lost() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        executor.run_until(
            async {
                let slow = spawn(async {
                    wait_frames(2).await;
                    panic!("on purpose");
                });
                let (_, first) = race([slow, spawn(async {})]).await;
                assert!(first.is_ok());
                wait_frames(3).await;
            },
            0.25,
        );
        assert_eq!(texts(&reports).len(), 1);
    }

    #[test]
    fn of_an_output_whose_handle_was_dropped_before_the_end() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        drop(executor.spawn(async { Bomb }).named("early"));
        executor.run_frame(0.25);
        assert_eq!(
            texts(&reports),
            ["frame 1, Update: coroutine 0v1 (early) panicked: the destructor panics"]
        );
    }

    // docs/contract.md#decided-unobserved-panics
    #[test]
    fn of_an_output_and_the_code_that_drops_the_handle_goes_on() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let by_the_host = executor.start(async { Bomb }).named("host's");
        drop(by_the_host);
        let innocent = executor.start(async {
            let child = start(async { Bomb }).named("child");
            next_frame().await;
            drop(child);
            "goes on"
        });
        executor.run_frame(0.25);
        assert_eq!(innocent.take_output().unwrap().ok(), Some("goes on"));
        assert_eq!(
            texts(&reports),
            [
                "frame 0: coroutine 0v1 (host's) panicked: the destructor panics",
                "frame 1, Update: coroutine 0v2 (child) panicked: the destructor panics"
            ]
        );
    }

    #[test]
    fn of_the_output_of_a_loser_and_the_race_goes_on() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let racer = executor.start(async {
            let loser = start(async { Some(Bomb) });
            next_frame().await;
            race([start(async { None }), loser]).await.0
        });
        executor.run_frame(0.25);
        assert_eq!(racer.take_output().unwrap().ok(), Some(0));
        assert_eq!(texts(&reports).len(), 1);
    }

    #[test]
    fn of_an_output_whose_handle_is_dropped_while_the_stack_unwinds() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let late = executor.spawn(async { Bomb }).named("late");
        executor.run_frame(0.25);
        panic_of(AssertUnwindSafe(move || {
            let _late = late;
            panic!("on purpose");
        }));
        assert_eq!(
            texts(&reports),
            ["frame 1: coroutine 0v1 (late) panicked: the destructor panics"]
        );
    }

    #[test]
    fn to_a_hook_that_spawns_stops_and_panics() {
        let mut executor = unclamped();
        let (handle, log) = (executor.handle(), Log::new());
        let say = log.clone();
        executor.on_report(move |report| {
            let Report::CoroutinePanicked { id, .. } = report else {
                return;
            };
            assert!(!handle.is_alive(*id) && !handle.stop(*id));
            let say = say.clone();
            handle.spawn(async move { say.say("spawned by the hook") });
            panic!("by the hook");
        });
        executor.start(panics());
        executor.run_frame(0.25);
        log.check(&["F1: spawned by the hook"]);
    }
}

mod let_through {
    use super::*;

    fn propagating() -> Executor {
        Executor::builder().propagate_panics(true).build()
    }

    #[test]
    fn after_the_run_in_which_all_others_are_polled() {
        let mut executor = propagating();
        let log = Log::new();
        executor.start(panics());
        let say = log.clone();
        executor.start(async move {
            next_frame().await;
            say.say("sibling");
            end_of_frame().await;
            say.say("end");
        });
        let text = panic_of(|| executor.run_frame(0.25));
        assert_eq!(text, "on purpose");
        log.check(&["F1: sibling"]);
        // The run is over, and waits for later phases are still pending.
        executor.run_phase(Phase::EndOfFrame);
        log.check(&["F1.EndOfFrame: end"]);
        executor.run_frame(0.25);
    }

    #[test]
    fn with_its_payload() {
        let mut executor = propagating();
        executor.spawn(async { panic_any(5_u8) });
        let caught = catch_unwind(AssertUnwindSafe(|| executor.run_frame(0.25)));
        assert_eq!(*caught.unwrap_err().downcast::<u8>().unwrap(), 5);
    }

    #[test]
    fn the_first_one_and_the_others_are_reported() {
        let mut executor = propagating();
        let reports = reports_of(&executor);
        for text in ["first", "second", "third"] {
            executor.spawn(async move { panic!("{text}") });
        }
        assert_eq!(panic_of(|| executor.run_frame(0.25)), "first");
        let texts = texts(&reports);
        assert!(texts[0].contains("second") && texts[1].contains("third"));
        assert_eq!(texts.len(), 2);
        executor.run_frame(0.25);
    }

    #[test]
    fn from_the_next_run_if_the_handle_is_dropped_between_two() {
        let mut executor = propagating();
        let coroutine = executor.start(panics());
        executor.run_frame(0.25);
        drop(coroutine);
        assert_eq!(
            panic_of(|| executor.run_phase(Phase::Custom(0))),
            "on purpose"
        );
    }

    #[test]
    fn not_if_a_join_returns_it() {
        let mut executor = propagating();
        let panics = executor.start(panics());
        let joined = executor.start(async move { panics.await.is_err() });
        assert!(executor.run_until(joined, 0.25).unwrap());
    }

    #[test]
    fn not_into_a_panic_that_unwinds_already() {
        struct Runs(Executor);
        impl Drop for Runs {
            fn drop(&mut self) {
                self.0.run_frame(0.25);
            }
        }
        let runs = Runs(propagating());
        let reports = reports_of(&runs.0);
        runs.0.start(panics());
        let text = panic_of(move || {
            let _runs = runs;
            panic!("the host's own");
        });
        assert_eq!(text, "the host's own");
        assert_eq!(texts(&reports).len(), 1);
    }

    #[test]
    fn out_of_a_lend_that_is_then_over() {
        let mut executor = propagating();
        executor.spawn(async { with(|_: &mut u8| panic!("on purpose")) });
        let text = panic_of(|| executor.lend(&mut 5_u8, |executor| executor.run_frame(0.25)));
        assert_eq!(text, "on purpose");
        assert!(executor.enter(|| try_with(|_: &mut u8| ()).is_err()));
    }

    #[test]
    fn or_reported_if_the_executor_ends_before() {
        let executor = propagating();
        let reports = reports_of(&executor);
        executor.start(async { panic!("on purpose") });
        assert!(reports.borrow().is_empty());
        drop(executor);
        assert!(texts(&reports)[0].contains("on purpose"));
    }
}

// docs/contract.md#decided-strict
mod strict {
    use super::*;

    fn strict() -> Executor {
        Executor::builder().strict(true).build()
    }

    /// Runs a frame, which must pass on a panic.
    #[track_caller]
    fn panic_in_frame(executor: &mut Executor) -> String {
        panic_of(|| executor.run_frame(0.25))
    }

    #[test]
    fn lets_a_panic_through_that_a_join_has_returned() {
        let mut executor = strict();
        let log = Log::new();
        let (child, say) = (executor.start(panics()), log.clone());
        executor.start(async move {
            let error = child.await.unwrap_err();
            assert!(error.is_panic());
            say.say(&error);
            let payload = error.into_panic().downcast::<String>();
            assert_eq!(*payload.unwrap(), "on purpose");
            end_of_frame().await;
            say.say("goes on");
        });
        assert_eq!(panic_in_frame(&mut executor), "on purpose");
        log.check(&[&format!(
            "F1: coroutine 0v1 ({}) panicked: on purpose",
            type_name_of(&panics())
        )]);
        executor.run_phase(Phase::EndOfFrame);
        log.check(&["F1.EndOfFrame: goes on"]);
        executor.run_frame(0.25);
    }

    fn type_name_of<F>(_: &F) -> String {
        let name = std::any::type_name::<F>();
        name.trim_end_matches("::{{closure}}").to_owned()
    }

    #[test]
    fn lets_a_panic_through_that_a_combinator_has_returned() {
        async fn all() {
            join_all([spawn(panics()), spawn(forever())]).await;
        }
        async fn both() {
            drop(join!(spawn(panics()), spawn(async {})));
        }
        async fn first() {
            drop(race([spawn(panics()), spawn(forever())]).await);
        }
        async fn selected() {
            select! {
                _ = spawn(panics()) => {}
                () = wait_seconds(9) => {}
            }
        }
        for at in 0..4 {
            let mut executor = strict();
            match at {
                0 => executor.spawn(all()),
                1 => executor.spawn(both()),
                2 => executor.spawn(first()),
                _ => executor.spawn(selected()),
            };
            executor.run_frame(0.25);
            assert_eq!(panic_in_frame(&mut executor), "on purpose", "{at}");
        }
    }

    #[test]
    fn lets_a_panic_through_while_a_handle_could_return_it() {
        let mut executor = strict();
        let kept = executor.start(panics());
        assert_eq!(panic_in_frame(&mut executor), "on purpose");
        assert!(kept.take_output().unwrap().unwrap_err().is_panic());
        drop(kept);
        executor.run_frame(0.25);
    }

    #[test]
    fn passes_on_the_payload_and_the_join_returns_the_text() {
        let mut executor = strict();
        let kept = executor.spawn(async { panic_any(5_u8) });
        let caught = catch_unwind(AssertUnwindSafe(|| executor.run_frame(0.25)));
        assert_eq!(*caught.unwrap_err().downcast::<u8>().unwrap(), 5);
        let payload = kept.take_output().unwrap().unwrap_err().into_panic();
        assert_eq!(
            *payload.downcast::<String>().unwrap(),
            "a panic without a text"
        );
    }

    #[test]
    fn passes_on_the_panic_of_the_child_before_that_of_its_parent() {
        let mut executor = strict();
        let reports = reports_of(&executor);
        let child = executor.start(panics());
        executor
            .start(async move { child.await.unwrap() })
            .named("parent");
        assert_eq!(panic_in_frame(&mut executor), "on purpose");
        let texts = texts(&reports);
        assert!(texts[0].contains("(parent) panicked: "), "{texts:?}");
        assert_eq!(texts.len(), 1);
    }

    #[test]
    fn raises_what_is_left_when_the_executor_is_dropped() {
        let executor = strict();
        drop(executor.start(async { panic!("in the start") }));
        assert_eq!(panic_of(move || drop(executor)), "in the start");

        let (executor, bomb) = (strict(), Bomb);
        let kept = executor.start(async move { (forever().await, bomb) });
        assert_eq!(panic_of(move || drop(executor)), "the destructor panics");
        assert!(kept.take_output().unwrap().unwrap_err().is_panic());
    }

    #[test]
    fn reports_what_is_left_if_the_thread_unwinds_already() {
        let executor = strict();
        let reports = reports_of(&executor);
        executor.start(async { panic!("in the start") });
        let text = panic_of(move || {
            let _executor = executor;
            panic!("the host's own");
        });
        assert_eq!(text, "the host's own");
        assert!(texts(&reports)[0].contains("in the start"));
    }

    #[test]
    fn run_until_raises_a_panic_once() {
        let mut executor = strict();
        executor.start(async { panic!("beside it") });
        let text = panic_of(|| executor.run_until(async { 5 }, 0.25));
        assert_eq!(text, "beside it");
        let caught = catch_unwind(AssertUnwindSafe(|| {
            executor.run_until(async { panic_any(5_u8) }, 0.25);
        }));
        assert_eq!(*caught.unwrap_err().downcast::<u8>().unwrap(), 5);
        assert_eq!(executor.run_until(async { 5 }, 0.25), 5);
        drop(executor);
    }

    #[test]
    fn lets_panics_of_behaviours_and_of_with_deferred_through() {
        let mut executor = strict();
        executor.enter(|| with_deferred(|_: &mut u8| panic!("soon")));
        let text = panic_of(|| executor.lend(&mut 5_u8, |executor| executor.run_frame(0.25)));
        assert_eq!(text, "soon");
    }

    #[test]
    fn lets_a_panic_of_an_unobserved_output_through() {
        let mut executor = strict();
        drop(executor.spawn(async { Bomb }));
        assert_eq!(panic_in_frame(&mut executor), "the destructor panics");
    }

    #[test]
    fn changes_nothing_if_nothing_panics() {
        let mut executor = strict();
        let stopped = executor.start(forever());
        stopped.stop();
        assert!(result_of(&executor, stopped).unwrap_err().is_stopped());
        executor.run_frame(0.25);
    }
}

mod started_outside_of_a_lend {
    use super::*;

    struct World;

    async fn borrows() {
        with(|_: &mut World| ());
        next_frame().await;
    }

    #[test]
    fn the_message_names_the_type_the_call_and_what_to_do() {
        let executor = unclamped();
        let line = line!() + 1;
        let coroutine = executor.start(borrows());
        let error = result_of(&executor, coroutine).unwrap_err().to_string();
        let place = format!("{}:{line}:", file!());
        for part in ["World`", &place, "outside of `lend`: use `spawn`"] {
            assert!(error.contains(part), "{part} is not in: {error}");
        }
    }

    #[test]
    fn the_call_is_the_outermost_one_by_the_host() {
        let executor = unclamped();
        let line = line!() + 1;
        let coroutine = executor.owner().start(async { start(borrows()).await });
        let Err(error) = result_of(&executor, coroutine).unwrap() else {
            panic!("it has borrowed what is not lent");
        };
        let place = format!("{}:{line}:", file!());
        assert!(error.to_string().contains(&place), "{error}");
    }

    #[test]
    fn a_coroutine_in_a_run_and_a_host_in_enter_get_the_usual_words() {
        let mut executor = unclamped();
        let started = executor.start(async {
            next_frame().await;
            start(borrows()).await
        });
        executor.run_frame(0.25);
        let error = result_of(&executor, started).unwrap().unwrap_err();
        let host = executor.enter(|| try_with(|_: &mut World| ()).unwrap_err());
        for text in [error.to_string(), host.to_string()] {
            assert!(text.contains("must run the executor inside"), "{text}");
        }
    }
}
