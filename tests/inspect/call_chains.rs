//! The call chain of a wait: through which `async fn`s its script has come there.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use framestep::inspect::{Call, CallChain};
use framestep::prelude::*;

fn noting() -> Executor {
    Executor::builder()
        .max_delta(f32::INFINITY)
        .call_chains(true)
        .build()
}

/// The call chains of a coroutine, as the last parts of their functions.
fn chains_of<T>(executor: &Executor, script: &Coroutine<T>) -> Vec<Vec<String>> {
    let snapshot = executor.snapshot();
    let info = snapshot.get(script.id()).unwrap();
    let names = |chain: Option<&CallChain>| {
        let calls = chain.expect("a chain").calls().iter();
        calls.filter_map(name_of).collect()
    };
    info.call_chains().map(names).collect()
}

/// The last part of the function. With tables of lines alone, a function is `{async_fn#0}`, and an `async` block
/// has a line of its own: there the place says which one it is.
fn name_of(call: &Call) -> Option<String> {
    let name = call.function.rsplit("::").next().unwrap();
    if name.starts_with("{async_block") {
        return None;
    }
    if !name.starts_with('{') {
        return Some(name.to_owned());
    }
    let (file, line) = call.at.as_ref()?.rsplit_once(':').unwrap();
    assert!(file.ends_with("inspect/call_chains.rs"), "{file}");
    let lines = include_str!("call_chains.rs").lines();
    let before = lines.take(line.parse().unwrap());
    let declared = before.filter_map(|line| line.trim().strip_prefix("async fn "));
    let (name, _) = declared.last()?.split_once('(')?;
    Some(name.to_owned())
}

async fn breathe() {
    wait_seconds(1).await;
}

async fn sleep() {
    breathe().await;
}

async fn dragon(bell: Signal<()>) {
    sleep().await;
    join!(sleep(), async { wait_until(|| time().frame > 5).await });
    bell.wait().await;
}

#[test]
fn each_wait_has_the_functions_that_led_to_it_and_nothing_of_the_host() {
    let mut executor = noting();
    let bell = Signal::new();
    let script = executor.start(dragon(bell.clone()));
    assert_eq!(
        chains_of(&executor, &script),
        [["breathe", "sleep", "dragon"]]
    );
    executor.run_frame(1);
    let mut both = chains_of(&executor, &script);
    both.sort();
    assert_eq!(both, [vec!["breathe", "sleep", "dragon"], vec!["dragon"]]);
    executor.run_frames(5, 1);
    assert_eq!(chains_of(&executor, &script), [["dragon"]], "of an event");
}

async fn outer(kept: Rc<RefCell<Option<Coroutine<()>>>>) {
    next_frame().await;
    kept.replace(Some(start(sleep())));
    next_frame().await;
}

#[test]
fn a_script_inside_another_ends_its_own_chain_and_a_moved_wait_has_its_latest() {
    let mut executor = noting();
    let inner = Rc::new(RefCell::new(None));
    let kept = inner.clone();
    let outer = executor.start(outer(kept));
    executor.run_frame(0.25);
    let inner = inner.take().unwrap();
    assert_eq!(chains_of(&executor, &inner), [["breathe", "sleep"]]);
    assert_eq!(chains_of(&executor, &outer), [["outer"]]);
}

/// As deep as an `async fn` that calls itself.
fn deep(levels: u32) -> Pin<Box<dyn Future<Output = ()>>> {
    async fn level(levels: u32) {
        match levels {
            1 => wait_seconds(1).await,
            _ => deep(levels - 1).await,
        }
    }
    Box::pin(level(levels))
}

#[test]
fn a_chain_may_be_a_thousand_deep() {
    let test = || {
        let executor = noting();
        let script = executor.start(deep(1_000));
        let chains = chains_of(&executor, &script);
        let is_level = |name: &String| name == "level";
        assert_eq!(
            chains[0].iter().filter(|name| is_level(name)).count(),
            1_000
        );
        let printed = executor.snapshot().to_string();
        assert_eq!(printed.lines().count(), 3 + 24 + 1, "{printed}");
        assert!(printed.contains(" more\n"));
    };
    // Deep polls need more than the stack of a test.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(test);
    thread.unwrap().join().unwrap();
}

#[test]
fn a_snapshot_prints_the_chain_below_its_coroutine_and_is_equal_to_its_clone() {
    let executor = noting();
    executor.start(sleep()).named("dragon");
    executor.start(wait_seconds(1)).named("plain wait");
    let snapshot = executor.snapshot();
    let lines: Vec<String> = snapshot.to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 6, "{snapshot}");
    assert!(
        lines[2].contains("dragon") && lines[5].contains("plain wait"),
        "{snapshot}"
    );
    let names = |line: &str, function: &str| {
        line.trim_start().starts_with("in ")
            && (line.contains(function) || line.contains("{async_fn#0} at "))
    };
    assert!(names(&lines[3], "::breathe"), "{snapshot}");
    assert!(names(&lines[4], "::sleep"), "{snapshot}");
    assert_eq!(snapshot, snapshot.clone());
    assert_eq!(snapshot, executor.snapshot());
}

#[test]
fn without_the_setting_and_for_what_this_crate_does_not_know_there_is_none() {
    let executor = Executor::builder().inspect(true).build();
    let script = executor.start(sleep());
    let snapshot = executor.snapshot();
    assert!(
        snapshot
            .get(script.id())
            .unwrap()
            .call_chains()
            .all(|chain| chain.is_none())
    );

    let executor = noting();
    let (_answer, answered) = futures::channel::oneshot::channel::<()>();
    let script = executor.start(answered);
    let snapshot = executor.snapshot();
    let chains: Vec<_> = snapshot.get(script.id()).unwrap().call_chains().collect();
    assert_eq!(chains, [None]);
}
