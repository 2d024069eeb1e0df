//! The hook for outputs that no join returns.
//! docs/contract.md#decided-unobserved

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use framestep::Executor;
use framestep::combine::race;
use framestep::inspect::Report;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, panic_of, result_of};

type Script = Result<(), String>;

/// Notes the unobserved outputs of type `T`.
fn notes<T: Debug + 'static>(executor: &Executor) -> Log {
    let log = Log::new();
    let note = log.clone();
    executor.on_unobserved(move |output: T, _| note.note(format!("{output:?}")));
    log
}

async fn fails(text: &'static str) -> Script {
    next_frame().await;
    Err(text.into())
}

mod hears {
    use super::*;

    #[test]
    fn what_a_detached_coroutine_returns_in_the_run_in_which_it_does() {
        let mut executor = unclamped();
        let log = notes::<Script>(&executor);
        executor.start(fails("detached"));
        let say = log.clone();
        executor.start(async move {
            next_frame().await;
            say.note("queued");
        });
        executor.run_phase(Phase::Update);
        log.check(&[]);
        executor.run_frame(0.25);
        log.check(&["Err(\"detached\")", "queued"]);
        executor.assert_empty();
    }

    #[test]
    fn what_a_detached_coroutine_returns_in_its_start() {
        let executor = unclamped();
        let log = notes::<Script>(&executor);
        executor.start(async { Script::Err("at once".into()) });
        log.check(&["Err(\"at once\")"]);
    }

    #[test]
    fn what_is_left_when_a_handle_is_dropped_after_the_end() {
        let mut executor = unclamped();
        let log = notes::<Script>(&executor);
        let kept = executor.start(fails("kept"));
        executor.run_frame(0.25);
        assert!(kept.is_finished());
        log.check(&[]);
        drop(kept);
        log.check(&["Err(\"kept\")"]);
    }

    #[test]
    fn what_losers_of_race_and_select_return() {
        let mut executor = unclamped();
        let log = notes::<Script>(&executor);
        executor.run_until(
            async {
                let both = [start(fails("first")), start(fails("second"))];
                let (index, first) = race(both).await;
                assert_eq!((index, first.unwrap()), (0, Err("first".into())));
                let third = start(fails("third"));
                select! {
                    _ = third => unreachable!("the upper branch of two that are ready"),
                    () = async {} => {}
                }
                wait_frames(2).await;
            },
            0.25,
        );
        log.check(&["Err(\"second\")", "Err(\"third\")"]);
    }

    #[test]
    fn what_a_stopped_script_has_not_joined() {
        let executor = unclamped();
        let log = notes::<Script>(&executor);
        let child = executor.start(async { Script::Err("child".into()) });
        let parent = executor.start(async move {
            forever().await;
            child.await.unwrap()
        });
        log.check(&[]);
        parent.stop();
        log.check(&["Err(\"child\")"]);
    }

    #[test]
    fn what_is_left_when_the_executor_is_dropped() {
        let executor = unclamped();
        let log = notes::<Script>(&executor);
        let child = executor.start(async { Script::Err("child".into()) });
        executor.start(async move { (forever().await, child) });
        drop(executor);
        log.check(&["Err(\"child\")"]);
    }

    #[test]
    fn what_a_script_from_another_thread_returns() {
        let mut executor = unclamped();
        let log = notes::<Script>(&executor);
        executor.remote().spawn(|| fails("remote"));
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        log.check(&["Err(\"remote\")"]);
    }

    #[test]
    fn values_without_a_destructor_and_values_that_are_not_send() {
        let executor = unclamped();
        let (numbers, units) = (notes::<u8>(&executor), notes::<()>(&executor));
        let shared = notes::<Rc<u8>>(&executor);
        executor.start(async { 5_u8 });
        drop(executor.start(async {}));
        executor.start(async { Rc::new(7_u8) });
        numbers.check(&["5"]);
        units.check(&["()"]);
        shared.check(&["7"]);
    }

    #[test]
    fn what_was_on_its_way_when_its_handle_was_dropped_a_hundred_stops_deep() {
        let executor = unclamped();
        let log = notes::<Rc<u32>>(&executor);
        let mut inner = executor.start(async { Rc::new(0) });
        // Each output holds the handle of the coroutine before.
        for depth in 1..300_u32 {
            inner = executor.start(async move {
                let held = inner.stop_on_drop();
                forever().await;
                drop(held);
                Rc::new(depth)
            });
        }
        drop(inner.stop_on_drop());
        log.check(&["0"]);
        executor.assert_empty();
    }
}

mod does_not_hear {
    use super::*;

    #[test]
    fn what_a_join_or_a_host_has_taken() {
        let mut executor = unclamped();
        let log = notes::<Script>(&executor);
        let child = executor.start(fails("joined"));
        let parent = executor.start(async move { drop(child.await) });
        let taken = executor.start(fails("taken"));
        executor.run_until(parent, 0.25).unwrap();
        assert!(taken.take_output().unwrap().is_ok());
        drop(taken);
        let output = executor.run_until(fails("run until"), 0.25);
        assert!(output.is_err());
        log.check(&[]);
    }

    #[test]
    fn other_types_stops_and_panics() {
        let executor = unclamped();
        executor.on_report(|_: &Report| ());
        let log = notes::<Script>(&executor);
        executor.start(async { Err::<(), u8>(1) });
        let asleep = executor.start(fails("asleep"));
        asleep.stop();
        drop(asleep);
        executor.start(async {
            assert_ne!(time().frame, 0, "on purpose");
            Script::Ok(())
        });
        log.check(&[]);
    }

    #[test]
    fn what_is_dropped_after_the_executor() {
        let executor = unclamped();
        let log = notes::<Script>(&executor);
        let kept = executor.start(async { Script::Err("kept".into()) });
        let handle = executor.handle();
        drop(executor);
        drop(kept);
        handle.start(fails("refused"));
        log.check(&[]);
        // A hook set after the end is dropped.
        let token = log.on_drop("hook dropped");
        handle.on_unobserved(move |_: Script, _| {
            let _ = &token;
        });
        log.check(&["hook dropped"]);
    }
}

mod the_hook {
    use super::*;

    #[test]
    fn is_outside_of_the_coroutine_and_its_owner_on_the_game_clock() {
        let mut executor = unclamped();
        let slow = executor.clock().child();
        slow.set_scale(0.5);
        let owner = executor.owner_on(&slow);
        let hooked = Rc::new(Cell::new(false));
        let done = hooked.clone();
        executor.on_unobserved(move |_: Script, _| {
            assert!(panic_of(current).contains("outside of a coroutine"));
            assert_eq!(time().elapsed.as_millis(), 250);
            spawn(forever());
            done.set(true);
        });
        owner.start(fails("owned"));
        executor.run_frame(0.25);
        assert!(hooked.get());
        drop(owner);
        assert_eq!(executor.len(), 1, "what the hook spawns has no owner");
    }

    #[test]
    fn borrows_lent_state() {
        let mut executor = unclamped();
        executor.on_unobserved(|output: Script, _| {
            with(|errors: &mut Vec<String>| errors.push(output.unwrap_err()));
        });
        executor.start(fails("lost"));
        let mut errors = Vec::<String>::new();
        executor.lend(&mut errors, |executor| executor.run_frame(0.25));
        assert_eq!(errors, ["lost"]);
    }

    #[test]
    fn is_called_after_the_closure_that_borrows() {
        let mut executor = unclamped();
        executor.on_unobserved(|output: Script, _| {
            with(|errors: &mut Vec<String>| errors.push(output.unwrap_err()));
        });
        let kept = executor.start(async { Script::Err("kept".into()) });
        executor.start(async move {
            next_frame().await;
            with(|errors: &mut Vec<String>| {
                errors.push("before".into());
                drop(kept);
                errors.push("after".into());
            });
        });
        let mut errors = Vec::<String>::new();
        executor.lend(&mut errors, |executor| executor.run_frame(0.25));
        assert_eq!(errors, ["before", "after", "kept"]);
    }

    #[test]
    fn is_called_after_the_callback_of_a_behaviour() {
        struct Door(Log, Option<Coroutine<Script>>);
        impl framestep::scene::Behaviour for Door {
            fn update(&mut self, _: &framestep::scene::SceneContext<'_, Self>) {
                self.0.note("begin");
                self.1 = None;
                self.0.note("end");
            }
        }
        let mut scene = framestep::scene::Scene::new();
        let log = notes::<Script>(scene.executor());
        let kept = scene.executor().start(async { Script::Ok(()) });
        scene.add(Door(log.clone(), Some(kept)));
        scene.run_frame(0.25);
        log.check(&["begin", "end", "Ok(())"]);
    }

    #[test]
    fn of_each_type_is_its_own_and_the_later_one_counts() {
        let executor = unclamped();
        let first = notes::<u8>(&executor);
        let words = notes::<&str>(&executor);
        executor.start(async { 1_u8 });
        let second = notes::<u8>(&executor);
        executor.start(async { 2_u8 });
        executor.start(async { "word" });
        first.check(&["1"]);
        second.check(&["2"]);
        words.check(&["\"word\""]);
    }

    #[test]
    fn may_set_another_one_while_it_is_called() {
        let executor = unclamped();
        let log = Log::new();
        let (note, handle) = (log.clone(), executor.handle());
        let token = log.on_drop("first dropped");
        executor.on_unobserved(move |output: u8, _| {
            let _ = &token;
            note.note(format!("first {output}"));
            let note = note.clone();
            handle.on_unobserved(move |output: u8, _| note.note(format!("second {output}")));
            handle.start(async { 2_u8 });
            handle.start(async { 3_u8 });
        });
        executor.start(async { 1_u8 });
        log.check(&["first 1", "first dropped", "second 2", "second 3"]);
    }

    #[test]
    fn that_makes_outputs_unobserved_is_called_with_them_afterwards() {
        let executor = unclamped();
        let log = Log::new();
        let (note, handle) = (log.clone(), executor.handle());
        executor.on_unobserved(move |left: u32, _| {
            note.note(format!("begin {left}"));
            if left > 0 {
                handle.start(async move { left - 1 });
            }
            note.note(format!("end {left}"));
        });
        executor.start(async { 2_u32 });
        log.check(&["begin 2", "end 2", "begin 1", "end 1", "begin 0", "end 0"]);
    }

    #[test]
    fn that_makes_outputs_unobserved_without_end_does_not_block_a_frame() {
        let mut executor = Executor::builder().max_polls_per_run(2).build();
        let (calls, reports) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())));
        let (count, handle) = (calls.clone(), executor.handle());
        executor.on_unobserved(move |(): (), _| {
            count.set(count.get() + 1);
            handle.start(async {});
        });
        let log = reports.clone();
        executor.on_report(move |report| log.borrow_mut().push(report.clone()));
        executor.start(async {});
        let first = calls.get();
        assert!(first >= 200, "{first} calls");
        assert!(matches!(reports.borrow()[..], [Report::Runaway { .. }]));
        executor.run_frame(0.25);
        assert!(calls.get() > first, "the rest is kept");
    }

    #[test]
    fn that_panics_is_called_again() {
        let mut executor = unclamped();
        let log = Log::new();
        let note = log.clone();
        executor.on_unobserved(move |output: Script, _| {
            note.note(output.unwrap_err());
            panic!("by the hook");
        });
        executor.start(fails("first"));
        executor.start(fails("second"));
        executor.run_frame(0.25);
        log.check(&["first", "second"]);
    }

    #[test]
    fn may_drop_the_executor() {
        let executor = unclamped();
        let handle = executor.handle();
        let log = Log::new();
        let (note, slot) = (log.clone(), Rc::new(RefCell::new(None)));
        let place = slot.clone();
        executor.on_unobserved(move |output: u8, _| {
            note.note(format!("{output}"));
            drop(place.take());
        });
        let (first, second) = (
            executor.start(async { 1_u8 }),
            executor.start(async { 2_u8 }),
        );
        slot.replace(Some(executor));
        drop(first);
        drop(second);
        log.check(&["1"]);
        assert!(handle.time().is_none());
    }

    #[test]
    fn is_called_while_the_stack_unwinds() {
        let executor = unclamped();
        let log = notes::<Script>(&executor);
        let kept = executor.start(async { Script::Err("kept".into()) });
        let text = panic_of(move || {
            let _kept = kept;
            panic!("the host's own");
        });
        assert_eq!(text, "the host's own");
        log.check(&["Err(\"kept\")"]);
    }

    #[test]
    fn leaves_the_outcome_and_the_joins_of_others_as_they_are() {
        let mut executor = unclamped();
        let log = notes::<Script>(&executor);
        let detached = executor.start(fails("detached"));
        let ends = detached.finished();
        drop(detached);
        let outcome = executor.run_until(ends, 0.25);
        assert_eq!(outcome, framestep::task::Outcome::Finished);
        log.check(&["Err(\"detached\")"]);
        let joined = executor.start(poll_fn(|_| Poll::Ready(Script::Ok(()))));
        assert_eq!(result_of(&executor, joined).unwrap(), Ok(()));
        log.check(&[]);
    }
}
