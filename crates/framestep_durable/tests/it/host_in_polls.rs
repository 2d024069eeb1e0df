//! What the host does in the middle of a poll of a script is no part of the script: its hooks, its waker, and what a
//! source begins with.

use std::cell::Cell;
use std::rc::Rc;

use framestep_durable::{RuntimeHandle, prelude::*};

const HITS: Signal<u32> = signal_with_limit("hits", 1);
const BELL: Signal<u32> = signal("bell");
const SEEN: Watch<u32> = watch("seen", Default::default);
/// Begins with a reading of the clock, in whatever uses it first.
const OPENED: Watch<u64> = watch("opened", || time().frame + 7);

#[durable]
async fn sleeper() {
    wait_seconds(60).await;
}

/// Loses two events, and goes on.
#[durable]
async fn loses() -> u32 {
    wait_frames(1).await;
    let mut hits = HITS.subscribe();
    for hit in [1, 2, 3] {
        HITS.emit(hit);
    }
    wait_frames(2).await;
    hits.next().await.unwrap_or(0)
}

/// Has a chapter of more than 1,000 entries.
#[durable]
async fn tells() {
    for _ in 0..1_001 {
        effect(|| ());
    }
    wait_frames(2).await;
}

/// All that the host can do in a runtime, and that a script would record.
fn acts(host: &RuntimeHandle) {
    let act = || {
        let frame = time().frame;
        BELL.emit(3);
        SEEN.update(|seen| *seen += 1);
        clock().set_scale(1.0);
        let level = owner();
        level.start(sleeper()).detach();
        level.pause();
        effect(|| ());
        level.remove();
        frame
    };
    host.executor().enter(act).unwrap();
}

fn blank() -> Runtime {
    let registry = Registry::new()
        .script(sleeper)
        .script(loses)
        .script(tells)
        .script(opens);
    Runtime::new(registry)
}

/// Each script replays as it was recorded, at each moment.
#[track_caller]
fn runs_on(runtime: &mut Runtime) {
    for _ in 0..6 {
        runtime.verify().unwrap();
        let file = runtime.save().unwrap().to_bytes();
        let save = SaveState::from_bytes(&file).unwrap();
        blank().restore(&save, Policy::Fail).unwrap();
        runtime.run_frame(0.25);
    }
    assert_eq!(runtime.scripts(), []);
}

/// How often a hook was called, and a call of it that is not one of its own.
fn counted(runtime: &Runtime) -> (Rc<Cell<u32>>, impl FnMut() + 'static) {
    let (host, calls) = (runtime.host().clone(), Rc::new(Cell::new(0)));
    let (counts, is_inside) = (Rc::clone(&calls), Cell::new(false));
    let call = move || {
        if !is_inside.replace(true) {
            counts.set(counts.get() + 1);
            acts(&host);
            is_inside.set(false);
        }
    };
    (calls, call)
}

#[test]
fn what_a_hook_for_losses_does_is_not_in_the_journal_of_the_script() {
    let mut runtime = blank();
    let (calls, mut call) = counted(&runtime);
    runtime.on_loss(move |_| call());
    let script = runtime.start(loses());
    runs_on(&mut runtime);
    assert_eq!(runtime.take(script), Some(Ok(3)));
    assert_eq!(calls.get(), 1, "it is told once until the script reads");
}

#[test]
fn what_a_hook_for_long_chapters_does_is_not_in_the_journal_of_the_script() {
    let mut runtime = blank();
    let (calls, mut call) = counted(&runtime);
    runtime.on_long_chapter(move |_| call());
    runtime.start(tells()).detach();
    assert_eq!(calls.get(), 1);
    runs_on(&mut runtime);
}

#[test]
fn what_a_trace_hook_does_is_not_in_the_journal_of_the_script() {
    let mut runtime = blank();
    let (calls, mut call) = counted(&runtime);
    let hook = runtime.executor().on_full_trace(move |_| call());
    let script = runtime.start(loses());
    runs_on(&mut runtime);
    assert!(calls.get() > 3);
    assert_eq!(runtime.take(script), Some(Ok(3)));
    drop(hook);
}

#[durable]
async fn opens() -> u64 {
    wait_frames(1).await;
    let opened = OPENED.get();
    SEEN.set(1);
    wait_frames(2).await;
    opened
}

#[test]
fn what_a_source_begins_with_is_not_in_the_journal_of_its_first_user() {
    let mut runtime = blank();
    let script = runtime.start(opens());
    runs_on(&mut runtime);
    assert_eq!(runtime.take(script), Some(Ok(8)));
}

thread_local! {
    /// The frames that the waker of the host has read.
    static WOKEN: Cell<u64> = const { Cell::new(0) };
}

#[test]
fn what_the_waker_of_the_host_reads_is_not_in_the_journal_of_the_script() {
    #[durable]
    async fn hears() {
        BELL.wait().await;
        wait_frames(1).await;
    }
    #[durable]
    async fn rings() {
        BELL.emit(1);
        wait_frames(2).await;
    }
    let mut runtime = Runtime::new(Registry::new().script(hears).script(rings));
    runtime.start(hears()).detach();
    runtime
        .executor()
        .on_wake(|| WOKEN.set(framestep::time().frame + 1));
    runtime.start(rings()).detach();
    assert_eq!(WOKEN.get(), 1);
    for _ in 0..4 {
        runtime.verify().unwrap();
        runtime.run_frame(0.25);
    }
    assert_eq!(runtime.scripts(), []);
}

#[test]
fn a_handle_of_another_runtime_that_a_script_drops_stops_nothing_after_its_restore() {
    struct World {
        other: Runtime,
        handle: Option<ScriptHandle<()>>,
    }
    #[durable]
    async fn drops() {
        wait_frames(1).await;
        effect(|| ());
        with(|world: &mut World| world.handle = None);
    }
    let mut other = blank();
    let handle = other.start(sleeper()).stop_on_drop();
    let save = other.save().unwrap();
    other.restore(&save, Policy::Fail).unwrap();
    let mut world = World {
        other,
        handle: Some(handle),
    };
    let mut runtime = Runtime::new(Registry::new().script(drops));
    runtime.start(drops()).detach();
    for _ in 0..3 {
        runtime.run_frame_with(&mut world, 0.25);
    }
    assert!(world.handle.is_none());
    assert_eq!(world.other.scripts().len(), 1);
}
