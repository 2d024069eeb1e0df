//! Which signal, watch or semaphore a name stands for, and what becomes of events and permits.

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::{Snapshot, Source, SourceKind, TraceKind, Wait};
use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;

/// What scripts wait for, by name.
fn source_of(snapshot: &Snapshot, script: &str) -> Source {
    let script = snapshot.iter().find(|it| it.name() == script);
    let wait = script.expect("it is alive").waits().next();
    wait.and_then(Wait::source).expect("a source").clone()
}

/// The events that are not polls, waits or runs.
fn log(executor: &Executor) -> Rc<RefCell<Vec<String>>> {
    let lines = Rc::new(RefCell::new(Vec::new()));
    let log = lines.clone();
    executor.on_full_trace(move |event| {
        let line = match &event.kind {
            TraceKind::Emitted { listeners, .. } => format!("{}, {listeners} listen", event.kind),
            TraceKind::Acquired { at, .. } => format!("{} at {}", event.kind, at.line()),
            TraceKind::Released { .. } | TraceKind::Ended(_) => event.kind.to_string(),
            _ => return,
        };
        let script = event.short_name();
        log.borrow_mut()
            .push(format!("{} {script}: {line}", event.frame));
    });
    lines
}

#[test]
fn two_signals_of_one_name_are_two_sources_and_clones_are_one() {
    let executor = unclamped();
    let line = line!() + 1;
    let supper = Signal::<()>::new().named("supper");
    let (one, two) = (supper.clone(), supper);
    let other = Signal::<()>::new().named("supper");
    executor.start(async move { one.wait().await }).named("one");
    executor.start(async move { two.wait().await }).named("two");
    executor
        .start(async move { other.wait().await })
        .named("other");
    let snapshot = executor.snapshot();
    let [one, two, other] = ["one", "two", "other"].map(|it| source_of(&snapshot, it));
    assert_eq!(one, two);
    assert_ne!(one, other);
    assert_eq!((one.kind(), one.name()), (SourceKind::Signal, "supper"));
    assert_eq!((one.number(), other.number()), (1, 2));
    assert_eq!(one.named_at().map(Location::line), Some(line));
    // No executor ran code.
    assert_eq!((one.named_in(), one.named_by()), (None, None));
}

#[test]
fn a_source_knows_the_frame_and_the_script_in_which_it_was_named() {
    for inspects in [false, true] {
        let mut executor = Executor::builder().inspect(inspects).build();
        let cook = executor.start(async {
            next_frame().await;
            let soup = Watch::new(0).named("soup");
            soup.wait_for(|&soup| soup > 0).await;
        });
        let cook = cook.named("cook");
        executor.run_frame(0.25);
        let soup = source_of(&executor.snapshot(), "cook");
        let expected = if inspects {
            (Some(1), Some(cook.id()))
        } else {
            (None, None)
        };
        assert_eq!((soup.named_in(), soup.named_by()), expected);
    }
}

#[test]
fn an_emission_says_how_many_listen() {
    let mut executor = unclamped();
    let log = log(&executor);
    let bell = Signal::<u32>::new().named("bell");
    let (ring, heard) = (bell.clone(), bell.clone());
    executor.script("monk").start(async move {
        // A subscription listens, even while its script waits for something else.
        let _later = heard.subscribe();
        heard.wait().await;
    });
    drop(bell);
    executor.script("ringer").start(async move {
        for _ in 0..2 {
            next_frame().await;
            ring.emit(1);
        }
    });
    executor.run_frames(2, 0.25);
    assert_eq!(
        log.take(),
        [
            "1 ringer: emitted bell, 2 listen",
            "1 monk: finished",
            "2 ringer: emitted bell, 0 listen",
            "2 ringer: finished",
        ]
    );
}

#[test]
fn permits_say_which_script_has_got_and_dropped_them_at_which_line() {
    let mut executor = unclamped();
    let log = log(&executor);
    let oven = Semaphore::new(2).named("oven");
    let [first, second, host] = [oven.clone(), oven.clone(), oven];
    let line = line!();
    executor.script("baker").start(async move {
        let _both = first.acquire_many(2).await;
        next_frame().await;
    });
    let cook = executor.script("cook").start(async move {
        let _one = second.acquire().await;
        wait_frames(9).await;
    });
    executor.run_frame(0.25);
    // In a destructor of the script, when it is stopped.
    cook.stop();
    // The host's own, outside of the executor.
    drop(host.try_acquire());
    executor.run_frame(0.25);
    let (both, one) = (line + 2, line + 6);
    assert_eq!(
        log.take(),
        [
            format!("0 baker: acquired 2 permits of oven at {both}"),
            "1 baker: released 2 permits of oven".to_owned(),
            "1 baker: finished".to_owned(),
            format!("1 cook: acquired a permit of oven at {one}"),
            "1 cook: released a permit of oven".to_owned(),
            "1 cook: stopped".to_owned(),
        ]
    );
}

#[test]
fn a_watch_shows_its_values_if_it_is_told_to() {
    let mut executor = unclamped();
    let log = log(&executor);
    let gold = Watch::new(vec![1]).named("gold").shown();
    let plain = Watch::new(1).named("plain");
    let (earn, plainly) = (gold.clone(), plain.clone());
    executor
        .script("thief")
        .start(async move { gold.wait_for(|gold| gold.len() > 3).await });
    assert_eq!(
        source_of(&executor.snapshot(), "thief").value().as_deref(),
        Some("[1]")
    );
    executor.script("miner").start(async move {
        next_frame().await;
        earn.set(vec![1, 2]);
        earn.update(|gold| gold.push(3));
        plainly.set(2);
    });
    executor.run_frame(0.25);
    assert_eq!(
        log.take(),
        [
            "1 miner: emitted gold: [1, 2], 1 listen",
            "1 miner: emitted gold: [1, 2, 3], 1 listen",
            "1 miner: emitted plain, 0 listen",
            "1 miner: finished",
        ]
    );
    let thief = source_of(&executor.snapshot(), "thief");
    assert_eq!(thief.value().as_deref(), Some("[1, 2, 3]"));
}

/// Says that it was printed, or panics.
#[derive(Clone)]
struct Printed(Rc<RefCell<u32>>, bool);

impl fmt::Debug for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        *self.0.borrow_mut() += 1;
        assert!(self.1, "a value that cannot be printed");
        f.write_str(&"x".repeat(200))
    }
}

#[test]
fn a_value_is_printed_only_while_it_is_observed_and_then_briefly() {
    for (inspects, can) in [(false, true), (true, true), (true, false)] {
        let printed = Rc::new(RefCell::new(0));
        let mut executor = Executor::builder().inspect(inspects).build();
        let value = Watch::new(Printed(printed.clone(), can)).named("v").shown();
        executor
            .start(async move { value.wait_for(|_| false).await })
            .named("waits");
        executor.run_frame(0.25);
        let source = source_of(&executor.snapshot(), "waits");
        assert_eq!(*printed.borrow(), u32::from(inspects));
        let expected = (inspects && can).then(|| "x".repeat(120) + "…");
        assert_eq!(source.value().as_deref(), expected.as_deref());
    }
}
