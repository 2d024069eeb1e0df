//! When the clean-up of a script runs under a loop of its own: one test for each row of the table
//! in docs/guide/hosts.md.

use framestep::prelude::*;
use framestep::{Executor, Owner};

use framestep_testkit::timeline::{Log, unclamped};

struct World(Log);

/// Notes that it is dropped.
struct Noted(Log);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.note("drop");
    }
}

/// The guards of a script: `drop`, then `defer` with the world.
fn guards(log: &Log) -> (impl Sized + use<>, Noted) {
    let clean = defer(|world: &mut World| world.0.note("defer"));
    (clean, Noted(log.clone()))
}

/// A script that ends only from outside, after a frame.
fn running(executor: &mut Executor, log: &Log) -> Coroutine<()> {
    let script = executor.spawn(endless(log.clone()));
    executor.run_frame_with(&mut World(log.clone()), 0.25);
    script
}

async fn endless(log: Log) {
    let (_clean, _noted) = guards(&log);
    std::future::pending::<()>().await;
}

#[test]
fn a_script_returns() {
    let (mut executor, log) = (unclamped(), Log::new());
    let note = log.clone();
    executor.spawn(async move {
        let (_clean, _noted) = guards(&note);
        note.note("ends");
    });
    executor.run_frame_with(&mut World(log.clone()), 0.25);
    log.check(&["ends", "drop", "defer"]);
}

#[test]
fn a_script_panics() {
    let (mut executor, log) = (unclamped(), Log::new());
    executor.on_report(|_| ());
    let note = log.clone();
    executor.spawn(async move {
        let (_clean, _noted) = guards(&note);
        with(|_: &mut World| panic!("in a borrow"));
    });
    executor.run_frame_with(&mut World(log.clone()), 0.25);
    log.check(&["drop", "defer"]);
}

#[test]
fn another_script_stops_it() {
    let (mut executor, log) = (unclamped(), Log::new());
    let script = running(&mut executor, &log);
    let note = log.clone();
    executor.spawn(async move {
        script.stop();
        note.note("stopped");
    });
    executor.run_frame_with(&mut World(log.clone()), 0.25);
    log.check(&["drop", "defer", "stopped"]);
}

#[test]
fn another_script_stops_it_while_it_borrows_the_state() {
    let (mut executor, log) = (unclamped(), Log::new());
    let script = running(&mut executor, &log);
    executor.spawn(async move {
        with(|world: &mut World| {
            script.stop();
            world.0.note("the borrow ends");
        });
    });
    executor.run_frame_with(&mut World(log.clone()), 0.25);
    log.check(&["drop", "the borrow ends", "defer"]);
}

#[test]
fn the_host_stops_it_in_a_lend() {
    let (mut executor, log) = (unclamped(), Log::new());
    let script = running(&mut executor, &log);
    executor.lend(&mut World(log.clone()), |_| script.stop());
    log.check(&["drop", "defer"]);
}

/// What the host does meanwhile does not see the clean-up.
#[test]
fn the_host_stops_it_outside_of_a_lend() {
    let (mut executor, log) = (unclamped(), Log::new());
    let script = running(&mut executor, &log);
    script.stop();
    log.note("the next level loads");
    executor.lend(&mut World(log.clone()), |_| log.note("lent"));
    log.check(&["drop", "the next level loads", "defer", "lent"]);
}

#[test]
fn the_host_cleans_up_at_once() {
    let (mut executor, log) = (unclamped(), Log::new());
    let script = running(&mut executor, &log);
    script.stop();
    executor.handle().clean_up(&mut World(log.clone()));
    log.note("the next level loads");
    log.check(&["drop", "defer", "the next level loads"]);
}

#[test]
fn its_owner_is_dropped() {
    struct Level(Owner);

    let (mut executor, log) = (unclamped(), Log::new());
    let level = Level(executor.owner());
    level.0.start(endless(log.clone()));
    drop(level);
    log.note("the next level loads");
    executor.run_frame_with(&mut World(log.clone()), 0.25);
    log.check(&["drop", "the next level loads", "defer"]);
}

#[test]
fn another_thread_stops_it() {
    let (mut executor, log) = (unclamped(), Log::new());
    let script = running(&mut executor, &log);
    executor.remote().stop(script.id());
    log.note("the frame begins");
    executor.run_frame_with(&mut World(log.clone()), 0.25);
    log.check(&["the frame begins", "drop", "defer"]);
}

#[test]
fn the_executor_is_dropped_in_a_lend() {
    let (mut executor, log) = (unclamped(), Log::new());
    drop(running(&mut executor, &log));
    let scripts = executor.handle();
    scripts.lend(&mut World(log.clone()), |_| drop(executor));
    log.check(&["drop", "defer"]);
}

#[test]
fn the_executor_is_dropped_outside_of_a_lend() {
    let (mut executor, log) = (unclamped(), Log::new());
    drop(running(&mut executor, &log));
    drop(executor);
    log.check(&["drop"]);
}

/// Each row of the table names the test that shows it.
#[test]
fn the_table_of_the_guide_names_a_test_in_each_row() {
    let guide = include_str!("../../docs/guide/hosts.md");
    let tests = include_str!("clean_up.rs");
    let section = guide
        .split("\n## ")
        .find(|section| section.starts_with("What ends a script"));
    let section = section.expect("the guide says what ends a script");
    let rows = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1);
    let mut named = 0;
    for row in rows {
        let test = row.trim_end_matches(" |").rsplit("| ").next().unwrap();
        let test = format!("fn {}()", test.trim_matches('`'));
        assert!(tests.contains(&test), "no `{test}`: {row}");
        named += 1;
    }
    assert!(named >= 10, "{named} rows");
}
