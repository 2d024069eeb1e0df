//! Permits: who has one, in which order, and when it is returned.

use framestep_durable::prelude::*;

use crate::twin::quiet;

const SEATS: Semaphore = semaphore("seats", 2);

type Log = Vec<String>;

fn log(what: String) {
    with(move |log: &mut Log| log.push(what));
}

#[durable]
async fn sits(name: u32, frames: u64) {
    let _seat = SEATS.acquire().await;
    log(format!("{name} sits in {}", time().frame));
    wait_frames(frames).await;
}

/// Waits for a seat, and for something else.
#[durable]
async fn impatient(frames: u64) -> bool {
    timeout(0.1 * frames as f64, SEATS.acquire()).await.is_ok()
}

#[durable]
async fn falls() {
    let _seat = SEATS.acquire().await;
    next_frame().await;
    panic!("from the seat");
}

/// Leaves its seat without a destructor.
#[durable]
async fn forgets(chapters: u32) -> Chapter {
    std::mem::forget(SEATS.acquire().await);
    wait_frames(2).await;
    match chapters {
        1 => Chapter::Done(()),
        left => Chapter::Next(forgets(left - 1)),
    }
}

#[durable]
async fn tries() -> [bool; 3] {
    let first = SEATS.try_acquire();
    let second = SEATS.try_acquire();
    let third = SEATS.try_acquire();
    wait_frames(2).await;
    [first, second, third].map(|seat| seat.is_some())
}

/// Other code than when it was saved: it waits elsewhere.
#[durable]
async fn changes() {
    let _seat = SEATS.acquire().await;
    if IS_CHANGED.get() {
        wait_seconds(9).await;
    } else {
        wait_frames(90).await;
    }
}

thread_local! {
    static IS_CHANGED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn registry() -> Registry {
    Registry::new()
        .script(sits)
        .script(impatient)
        .script(falls)
        .script(forgets)
        .script(tries)
        .script(changes)
}

fn blank() -> Runtime {
    quiet(registry())
}

fn reloaded(runtime: &Runtime) -> Runtime {
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let mut runtime = blank();
    runtime.restore(&save, Policy::Fail).unwrap();
    runtime
}

fn sit(runtime: &mut Runtime, log: &mut Log, name: u32, frames: u64) -> ScriptId {
    runtime.lend(log, |runtime| runtime.start(sits(name, frames)).id())
}

/// Runs frames, each from a file.
fn run(runtime: &mut Runtime, log: &mut Log, frames: u32) {
    for _ in 0..frames {
        *runtime = reloaded(runtime);
        runtime.run_frame_with(log, 0.1);
    }
}

#[test]
fn scripts_get_permits_in_the_order_in_which_they_began_to_wait() {
    let (mut runtime, mut log) = (blank(), Log::new());
    let sitting = [4, 3, 2, 1, 1].into_iter().zip(0..);
    let ids: Vec<_> = sitting
        .map(|(frames, name)| sit(&mut runtime, &mut log, name, frames))
        .collect();
    assert_eq!(runtime.named(&SEATS).available(), 0);
    assert_eq!(runtime.holders(&SEATS), ids[..2]);
    let text = runtime.save().unwrap().to_string();
    assert!(
        text.contains("permits `seats`: 2, held by #1, #2, 3 waits"),
        "{text}"
    );
    // A script that is paused keeps its place, and the permit that it is granted.
    runtime.enter(|| pause(ids[2]));
    run(&mut runtime, &mut log, 3);
    assert_eq!(runtime.holders(&SEATS), [ids[0], ids[2]]);
    run(&mut runtime, &mut log, 2);
    runtime.enter(|| resume(ids[2]));
    run(&mut runtime, &mut log, 5);
    let expected = [
        "0 sits in 0",
        "1 sits in 0",
        "3 sits in 4",
        "4 sits in 5",
        "2 sits in 6",
    ];
    assert_eq!(log, expected);
    assert_eq!(runtime.named(&SEATS).available(), 2);
    assert_eq!(runtime.save().unwrap().to_string().lines().count(), 1);
}

#[test]
fn a_wait_that_is_dropped_passes_its_permit_on() {
    for paused_frames in [0, 4] {
        let (mut runtime, mut log) = (blank(), Log::new());
        runtime.named(&SEATS).set_count(1);
        let first = sit(&mut runtime, &mut log, 1, 90);
        // It stops waiting before it has a permit, or after it was granted one.
        let second = runtime.start(impatient(2));
        let second_id = second.id();
        second.detach();
        let third = sit(&mut runtime, &mut log, 3, 90);
        if paused_frames > 0 {
            runtime.enter(|| pause(second_id));
            runtime.enter(|| stop(first));
            assert_eq!(runtime.holders(&SEATS), [second_id]);
            run(&mut runtime, &mut log, paused_frames);
            runtime.enter(|| stop(second_id));
        } else {
            run(&mut runtime, &mut log, 3);
            assert!(!runtime.is_alive(second_id));
            runtime.enter(|| stop(first));
        }
        assert_eq!(runtime.holders(&SEATS), [third]);
        run(&mut runtime, &mut log, 1);
        assert!(log.last().unwrap().starts_with("3 sits"), "{log:?}");
    }
}

#[test]
fn a_permit_is_returned_when_its_script_ends_in_any_way() {
    let (mut runtime, mut log) = (blank(), Log::new());
    runtime.start(falls()).detach();
    sit(&mut runtime, &mut log, 0, 9);
    let next = sit(&mut runtime, &mut log, 1, 9);
    run(&mut runtime, &mut log, 2);
    assert!(runtime.holders(&SEATS).contains(&next), "{log:?}");
    // Forgotten, it is returned at the end of the chapter.
    let mut runtime = blank();
    runtime.named(&SEATS).set_count(1);
    runtime.start(forgets(3)).detach();
    sit(&mut runtime, &mut log, 2, 1);
    run(&mut runtime, &mut log, 2);
    assert_eq!(runtime.named(&SEATS).available(), 0);
    run(&mut runtime, &mut log, 8);
    assert_eq!(runtime.named(&SEATS).available(), 1);
    assert!(runtime.scripts().is_empty());
}

#[test]
fn the_host_sets_how_many_there_are() {
    let (mut runtime, mut log) = (blank(), Log::new());
    let ids = [1, 2, 3, 4].map(|name| sit(&mut runtime, &mut log, name, 5));
    runtime.named(&SEATS).set_count(3);
    assert_eq!(runtime.holders(&SEATS), ids[..3]);
    runtime.named(&SEATS).set_count(1);
    assert_eq!(runtime.holders(&SEATS), ids[..3], "they keep theirs");
    let text = runtime.save().unwrap().to_string();
    assert!(text.contains("permits `seats`: 1, set, held by"), "{text}");
    runtime.enter(|| stop(ids[0]));
    runtime.enter(|| stop(ids[1]));
    assert_eq!(runtime.holders(&SEATS), [ids[2]]);
    runtime.enter(|| stop(ids[2]));
    assert_eq!(runtime.holders(&SEATS), [ids[3]]);
    run(&mut runtime, &mut log, 7);
    assert_eq!(log.len(), 3, "the third was stopped before it resumed");
    assert_eq!(runtime.named(&SEATS).available(), 1);
    let here = runtime.save().unwrap();
    runtime.named(&SEATS).set_count(2);
    let there = runtime.save().unwrap();
    let text = here.diff(&there)[0].to_string();
    let expected = "the permits `seats` are 1, set, held by no script, 0 waits; there missing";
    assert_eq!(text, expected);
    assert_ne!(here.checksum(), there.checksum());
}

#[test]
fn try_acquire_takes_what_is_there_and_is_recorded() {
    let mut runtime = blank();
    let script = runtime.start(tries());
    let mut runtime = {
        runtime.run_frame(0.1);
        assert_eq!(runtime.holders(&SEATS), [script.id(); 2]);
        reloaded(&runtime)
    };
    let script = runtime.enter(|| script.id().handle::<[bool; 3]>()).unwrap();
    runtime.run_frame(0.1);
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(script), Some(Ok([true, true, false])));
    assert_eq!(runtime.named(&SEATS).available(), 2);
}

#[test]
fn a_script_that_restarts_or_is_dropped_returns_its_permits() {
    for policy in [Policy::Restart, Policy::RestartAfterWait, Policy::Drop] {
        IS_CHANGED.set(false);
        let mut runtime = blank();
        let ids = [0, 1, 2].map(|_| runtime.start(changes()).id());
        runtime.run_frame(0.1);
        let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
        IS_CHANGED.set(true);
        let mut loaded = blank();
        loaded.restore(&save, policy).unwrap();
        loaded.run_frame(0.1);
        loaded.verify().unwrap();
        let holders = loaded.holders(&SEATS);
        let expected = match policy {
            // The third waited for a permit, as it does now.
            Policy::Restart => vec![ids[0], ids[2]],
            Policy::RestartAfterWait => vec![ids[0], ids[1]],
            _ => vec![ids[2]],
        };
        assert_eq!(holders, expected, "{policy:?}");
        for id in ids {
            loaded.enter(|| stop(id));
        }
        assert_eq!(loaded.named(&SEATS).available(), 2, "{policy:?}");
    }
}

#[durable]
async fn stands(frames: u64) {
    let _none = SEATS.acquire_many(0).await;
    wait_frames(frames).await;
}

#[test]
fn a_permit_of_none_has_no_holder() {
    let registry = || registry().script(stands);
    let mut runtime = Runtime::new(registry());
    runtime.start(stands(3)).detach();
    runtime.run_frame(0.1);
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let mut loaded = Runtime::new(registry());
    loaded.restore(&save, Policy::Fail).unwrap();
    for runtime in [&mut runtime, &mut loaded] {
        runtime.named(&SEATS).set_count(3);
        assert!(runtime.holders(&SEATS).is_empty());
    }
    for _ in 0..4 {
        assert_eq!(runtime.checksum(), loaded.checksum());
        runtime.run_frame(0.1);
        loaded.run_frame(0.1);
    }
    assert_eq!(runtime.named(&SEATS).available(), 3);
}
