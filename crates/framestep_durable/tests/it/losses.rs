//! Everything that is stored for a script or for the host: what bounds it, and how its owner hears of what
//! is lost.

use std::cell::RefCell;
use std::rc::Rc;

use framestep_durable::Loss;
use framestep_durable::prelude::*;

use crate::twin::{Log, quiet};

const HIT: Signal<u32> = signal("hit");
const TAP: Signal<u32> = signal_with_limit("tap", 2);
const STAGE: Watch<u32> = watch("stage", Default::default);

fn log(what: impl Into<String>) {
    let what = what.into();
    with(move |log: &mut Log| log.push(what));
}

type Heard = Rc<RefCell<Vec<Loss>>>;

/// A runtime that notes its losses.
fn heard_in(runtime: &Runtime) -> Heard {
    let heard = Heard::default();
    let to = Rc::clone(&heard);
    runtime.on_loss(move |loss| to.borrow_mut().push(loss.clone()));
    heard
}

fn taken(heard: &Heard) -> Vec<String> {
    let taken = heard.take();
    taken.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn assert_begin(heard: &Heard, expected: &[&str]) {
    let texts = taken(heard);
    assert_eq!(texts.len(), expected.len(), "{texts:?}");
    for (text, expected) in texts.iter().zip(expected) {
        assert!(text.starts_with(expected), "{text}");
    }
}

#[durable]
async fn subscribes(frames: u64) -> u32 {
    let mut hits = HIT.subscribe();
    let mut taps = TAP.subscribe();
    wait_frames(frames).await;
    hits.next().await.unwrap() + taps.next().await.unwrap()
}

#[durable]
async fn waits() -> u32 {
    HIT.wait().await
}

#[durable]
async fn waits_for_seven() -> u32 {
    HIT.wait_for(|hit| *hit == 7).await
}

#[durable]
async fn subscribes_anew(round: u32) -> Chapter<u32> {
    let mut hits = HIT.subscribe();
    let hit = hits.next().await.unwrap();
    match hit {
        9 => Chapter::Done(round),
        _ => Chapter::Next(subscribes_anew(round + 1)),
    }
}

#[durable]
async fn never_reads(mut hits: Unread<u32>, round: u32) -> Chapter {
    if round == 0 {
        hits.next().await;
    }
    wait_frames(2).await;
    Chapter::Next(never_reads(Unread::of(&TAP), round + 1))
}

#[derive(Serialize, Deserialize)]
struct Door;

impl Request for Door {
    const NAME: &'static str = "door";
    type Answer = u32;
}

/// A knock comes before an answer.
#[durable]
async fn asks() {
    loop {
        select! {
            hit = HIT.wait() => log(format!("hit {hit}")),
            answer = ask(|| Door) => log(format!("answer {answer}")),
        }
    }
}

#[durable]
async fn asks_and_gives_up() {
    let _ = timeout(0.1, ask(|| Door)).await;
}

#[durable]
async fn promises() {
    let (resolver, menu) = promise::<u32>("menu");
    with(move |resolvers: &mut Vec<PromiseId<u32>>| resolvers.push(resolver));
    select! {
        hit = HIT.wait() => effect(|| assert_eq!(hit, 1)),
        _ = menu => {}
    }
    wait_frames(9).await;
}

#[durable]
async fn stage() -> u32 {
    STAGE.changed().await
}

#[durable]
async fn ticks() -> u64 {
    let mut every = interval(0.1).missed_ticks(MissedTicks::Skip);
    wait_frames(1).await;
    every.tick().await.skipped
}

#[durable]
async fn long() {
    loop {
        next_frame().await;
    }
}

#[durable]
async fn debounced() -> u32 {
    let mut last = debounce(0.5, HIT.subscribe());
    last.next().await.unwrap_or_default()
}

#[durable]
async fn debounced_by_key() -> Vec<u32> {
    let mut last = debounce_by_key(0.5, HIT.subscribe(), |hit| *hit).with_limit(2);
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.extend(last.next().await);
    }
    seen
}

#[durable]
async fn panics() {
    wait_frames(1).await;
    panic!("on purpose");
}

#[durable]
async fn chapters_without_end(round: u32) -> Chapter {
    Chapter::Next(chapters_without_end(round + 1))
}

#[durable]
async fn does_once() -> Chapter {
    with_once("reward", |log: &mut Log| log.push("reward".into()));
    wait_frames(1).await;
    Chapter::Next(does_once())
}

fn registry() -> Registry {
    Registry::new()
        .script(subscribes)
        .script(waits)
        .script(waits_for_seven)
        .script(subscribes_anew)
        .script(never_reads)
        .script(asks)
        .script(asks_and_gives_up)
        .script(promises)
        .script(stage)
        .script(ticks)
        .script(long)
        .script(debounced)
        .script(debounced_by_key)
        .script(panics)
        .script(chapters_without_end)
        .script(does_once)
}

fn runtime() -> (Runtime, Heard) {
    let runtime = Runtime::new(registry());
    let heard = heard_in(&runtime);
    (runtime, heard)
}

fn reloaded(runtime: &Runtime) -> (Runtime, Heard) {
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let (mut runtime, heard) = self::runtime();
    runtime.restore(&save, Policy::Fail).unwrap();
    (runtime, heard)
}

/// The rows of the table in the guide, each with its test.
const ROWS: [(&str, fn()); 19] = [
    (
        "the event of a `signal.wait()`",
        a_wait_keeps_its_first_event,
    ),
    (
        "the events of a `signal.wait_for(..)`",
        a_filter_reads_all_events_however_long_it_was_paused,
    ),
    (
        "the events of a subscription",
        a_subscription_at_its_limit_says_so,
    ),
    (
        "the same when a chapter ends",
        a_chapter_that_ends_with_unread_events_says_so,
    ),
    (
        "the same when a script restarts in code that reads another type",
        crate::together::a_restart_drops_the_events_that_its_code_cannot_read,
    ),
    (
        "an event of `emit_one`",
        an_event_for_one_that_is_not_taken_is_reported,
    ),
    ("a value", a_value_keeps_the_latest),
    (
        "the value of a promise",
        a_promise_that_is_dropped_with_its_value_is_reported,
    ),
    ("an answer", an_answer_that_is_not_read_is_reported),
    ("open questions", open_questions_are_returned_once),
    (
        "withdrawn questions",
        withdrawn_questions_that_are_forgotten_are_reported,
    ),
    ("the ticks of an interval", missed_ticks_are_counted),
    (
        "the item of a `debounce`, `sample` or `throttle`",
        a_debounce_keeps_the_latest,
    ),
    (
        "the items of a `debounce_by_key`",
        a_key_beyond_the_limit_pushes_the_oldest_item_out,
    ),
    (
        "the journal of a chapter",
        a_chapter_that_is_too_long_is_stopped,
    ),
    ("chapters in one poll", chapters_without_a_wait_end),
    ("what is done once", what_is_done_once_is_kept),
    ("results of scripts", results_without_a_handle_are_dropped),
    ("places of panics", the_places_of_the_last_panics_are_kept),
];

#[test]
fn each_buffer_is_in_the_table_of_the_guide_and_behaves_as_it_says() {
    let guide = include_str!("../../../../docs/guide/saving.md");
    let (_, section) = guide.split_once("### Nothing is lost in silence").unwrap();
    let (section, _) = section.split_once("\n#").unwrap();
    let table = section.split("\n|").skip(3);
    let names = table.map(|row| row.split(" | ").next().unwrap().trim());
    let expected: Vec<&str> = ROWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.collect::<Vec<_>>(), expected);
    for (_, test) in ROWS {
        test();
    }
}

fn a_wait_keeps_its_first_event() {
    let (mut runtime, heard) = runtime();
    let waits = runtime.start(waits());
    waits.pause();
    for hit in 0..1_500 {
        runtime.named(&HIT).emit(hit);
    }
    runtime.run_frame(0.1);
    waits.resume();
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(waits), Some(Ok(0)));
    assert_begin(&heard, &[]);
}

fn a_filter_reads_all_events_however_long_it_was_paused() {
    for loads in [false, true] {
        let (mut runtime, mut heard) = runtime();
        let id = runtime.start(waits_for_seven()).id();
        runtime.start(subscribes(99)).detach(); // it does not change how many the filter keeps
        runtime.enter(|| pause(id));
        runtime.named(&HIT).emit(7);
        for hit in 0..1_500 {
            runtime.named(&HIT).emit(100 + hit % 50);
        }
        assert_begin(
            &heard,
            &[
                "the script `waits_for_seven` (#1) keeps 1000 events of the signal `hit`",
                "the script `subscribes` (#2) has missed 1 events",
                "the script `subscribes` (#2) has missed 10 events",
                "the script `subscribes` (#2) has missed 100 events",
            ],
        );
        runtime.run_frame(0.1);
        if loads {
            (runtime, heard) = reloaded(&runtime);
        }
        let waits = runtime.enter(|| id.handle::<u32>()).unwrap();
        runtime.enter(|| resume(id));
        runtime.run_frame(0.1);
        assert_eq!(runtime.take(waits), Some(Ok(7)));
        assert_begin(&heard, &[]);
    }
}

fn a_subscription_at_its_limit_says_so() {
    let runtime = Runtime::builder(registry()).max_events(4).build();
    let heard = heard_in(&runtime);
    let mut runtime = runtime;
    let script = runtime.start(subscribes(1));
    for event in 1..=16 {
        runtime.named(&HIT).emit(event);
        if event < 4 {
            runtime.named(&TAP).emit(event);
        }
    }
    let expected = [
        "the script `subscribes` (#1) has missed 1 events of the signal `tap`: its subscription stores 2",
        "the script `subscribes` (#1) has missed 1 events of the signal `hit`: its subscription stores 4",
        "the script `subscribes` (#1) has missed 10 events of the signal `hit`",
    ];
    assert_begin(&heard, &expected);
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(script), Some(Ok(13 + 2)));
}

fn a_chapter_that_ends_with_unread_events_says_so() {
    let (mut runtime, heard) = runtime();
    let script = runtime.start(subscribes_anew(0));
    for hit in 0..3 {
        runtime.named(&HIT).emit(hit);
    }
    runtime.run_frame(0.1);
    assert_begin(
        &heard,
        &[
            "the script `subscribes_anew` (#1) has begun another chapter before it had read 2 events of the \
           signal `hit`",
        ],
    );
    // The end of a script is no loss.
    for hit in [9, 10, 11] {
        runtime.named(&HIT).emit(hit);
    }
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(script), Some(Ok(1)));
    // A subscription that the state had, and that the next one does not have.
    let script = runtime.start(never_reads(Unread::of(&TAP), 0)).id();
    runtime.named(&TAP).emit(1);
    runtime.run_frame(0.1);
    runtime.named(&TAP).emit(2);
    for _ in 0..4 {
        runtime.run_frame(0.1);
    }
    runtime.enter(|| stop(script));
    let expected = "the script `never_reads` (#2) has begun another chapter before it had read 1 events of \
                    the signal `tap`";
    assert_begin(&heard, &[expected]);
}

fn an_event_for_one_that_is_not_taken_is_reported() {
    for loads in [false, true] {
        let (mut runtime, mut heard) = runtime();
        let [first, second] = [waits(), waits()].map(|script| runtime.start(script).id());
        assert_eq!(runtime.named(&HIT).emit_one(5), None);
        runtime.enter(|| stop(first)); // to the second one
        if loads {
            assert_begin(&heard, &[]);
            (runtime, heard) = reloaded(&runtime);
        }
        runtime.enter(|| stop(second));
        let expected = "an event that `emit_one` had given to a script that waited for the signal `hit` was \
                        taken by none";
        assert_begin(&heard, &[expected]);
        runtime.start(waits_for_seven()).detach();
        assert_eq!(runtime.named(&HIT).emit_one(6), None);
        runtime.run_frame(0.1);
        assert_begin(&heard, &[expected]);
    }
}

fn a_value_keeps_the_latest() {
    let (mut runtime, heard) = runtime();
    let stage = runtime.start(stage());
    for stage in 1..2_000 {
        runtime.named(&STAGE).set(stage);
    }
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(stage), Some(Ok(1_999)));
    assert_begin(&heard, &[]);
}

fn a_promise_that_is_dropped_with_its_value_is_reported() {
    let (mut runtime, heard) = runtime();
    let mut resolvers: Vec<PromiseId<u32>> = Vec::new();
    runtime.lend(&mut resolvers, |runtime| {
        runtime.start(promises()).detach();
    });
    runtime.named(&HIT).emit(1);
    assert!(runtime.enter(|| resolvers[0].send(7).is_ok()));
    runtime.run_frame(0.1);
    let expected =
        "the script `promises` (#1) has dropped the promise `menu` before it read the value";
    assert_begin(&heard, &[expected]);
    assert!(!runtime.enter(|| resolvers[0].send(8).is_ok()));
}

fn an_answer_that_is_not_read_is_reported() {
    let (mut runtime, heard) = runtime();
    let script = runtime.start(asks()).id();
    let mut log = Log::new();
    let (id, _) = runtime.requests::<Door>().pop().unwrap();
    assert!(runtime.answer(id, &3));
    runtime.named(&HIT).emit(1);
    runtime.run_frame_with(&mut log, 0.1);
    let expected =
        "the script `asks` (#1) has dropped its question `door` before it read the answer";
    assert_begin(&heard, &[expected]);
    assert!(!runtime.answer(id, &3));
    // Those that a stop ends are not reported.
    let (id, _) = runtime.requests::<Door>().pop().unwrap();
    assert!(runtime.answer(id, &4));
    runtime.enter(|| stop(script));
    assert_begin(&heard, &[]);
    assert_eq!(log, ["hit 1"]);
}

fn open_questions_are_returned_once() {
    let (runtime, heard) = runtime();
    for _ in 0..2_000 {
        runtime.start(asks()).detach();
    }
    assert_eq!(runtime.requests::<Door>().len(), 2_000);
    assert_eq!(runtime.requests::<Door>().len(), 0);
    assert_begin(&heard, &[]);
}

fn withdrawn_questions_that_are_forgotten_are_reported() {
    let (mut runtime, heard) = runtime();
    for _ in 0..1_034 {
        runtime.start(asks_and_gives_up()).detach();
    }
    assert_eq!(runtime.requests::<Door>().len(), 1_034);
    runtime.run_frame(0.1);
    assert_eq!(runtime.withdrawn::<Door>().len(), 1_024);
    assert_begin(&heard, &["10 withdrawn questions are forgotten"]);
}

fn missed_ticks_are_counted() {
    let (mut runtime, heard) = runtime();
    let ticks = runtime.start(ticks());
    runtime.run_frame(0.1);
    runtime.executor().on_report(|_| ());
    for _ in 0..4 {
        runtime.run_frame(0.25);
    }
    assert_eq!(runtime.take(ticks), Some(Ok(1)));
    assert_begin(&heard, &[]);
}

fn a_debounce_keeps_the_latest() {
    let (mut runtime, heard) = runtime();
    let debounced = runtime.start(debounced());
    for hit in 0..50 {
        runtime.named(&HIT).emit(hit);
    }
    for _ in 0..7 {
        runtime.run_frame(0.1);
    }
    assert_eq!(runtime.take(debounced), Some(Ok(49)));
    assert_begin(&heard, &[]);
}

fn a_key_beyond_the_limit_pushes_the_oldest_item_out() {
    let (mut runtime, heard) = runtime();
    let debounced = runtime.start(debounced_by_key());
    for hit in 0..4 {
        runtime.named(&HIT).emit(hit);
    }
    for _ in 0..7 {
        runtime.run_frame(0.1);
    }
    assert_eq!(runtime.take(debounced), Some(Ok(vec![0, 1, 2, 3])));
    assert_begin(&heard, &[]);
}

fn a_chapter_that_is_too_long_is_stopped() {
    let mut runtime = Runtime::builder(registry()).max_entries(5).build();
    let heard = Rc::new(RefCell::new(0));
    let to = Rc::clone(&heard);
    runtime.on_long_chapter(move |_| *to.borrow_mut() += 1);
    let long = runtime.start(long());
    for _ in 0..9 {
        runtime.run_frame(0.1);
    }
    assert_eq!(runtime.take(long), Some(Err(JoinError::ChapterTooLong)));
    assert_eq!(*heard.borrow(), 1);
}

fn chapters_without_a_wait_end() {
    let runtime = quiet(registry());
    let script = runtime.start(chapters_without_end(0));
    let Some(Err(JoinError::Panicked(why))) = runtime.take(script) else {
        panic!("it goes on");
    };
    assert!(why.contains("1000 chapters without waiting"), "{why}");
}

fn what_is_done_once_is_kept() {
    let (mut runtime, _) = runtime();
    let mut log = Log::new();
    runtime.spawn(does_once()).detach();
    for _ in 0..5 {
        runtime.run_frame_with(&mut log, 0.1);
        runtime = reloaded(&runtime).0;
    }
    assert_eq!(log, ["reward"]);
}

fn results_without_a_handle_are_dropped() {
    let (mut runtime, _) = runtime();
    let kept = runtime.start(waits());
    let dropped = runtime.start(waits()).id();
    runtime.named(&HIT).emit(1);
    runtime.run_frame(0.1);
    assert!(runtime.enter(|| dropped.handle::<u32>()).is_none());
    let (mut runtime, _) = reloaded(&runtime);
    assert!(runtime.enter(|| kept.id().handle::<u32>()).is_some());
    runtime.run_frame(0.1);
    assert!(runtime.enter(|| kept.id().handle::<u32>()).is_none());
}

fn the_places_of_the_last_panics_are_kept() {
    let mut runtime = quiet(registry());
    let all: Vec<_> = (0..17).map(|_| runtime.spawn(panics())).collect();
    let ids: Vec<_> = all.iter().map(|it| runtime.coroutine(it.id())).collect();
    runtime.run_frame(0.1);
    runtime.run_frame(0.1);
    let places = ids.into_iter().flatten();
    let places = places.map(|id| runtime.panicked_after(id).is_some());
    let places: Vec<bool> = places.collect();
    assert!(!places[0]);
    assert!(places[1..].iter().all(|is| *is));
}

#[test]
fn a_hook_for_losses_may_use_the_runtime_and_its_panic_is_reported() {
    let runtime = quiet(registry());
    let reports = Rc::new(RefCell::new(Vec::new()));
    let to = Rc::clone(&reports);
    runtime
        .executor()
        .on_report(move |report| to.borrow_mut().push(report.to_string()));
    let host = runtime.host().clone();
    runtime.on_loss(move |_| {
        // Such as a game that starts another script then. A loss of this call is printed.
        host.executor().named(&TAP).unwrap().emit(9);
        host.start(stage()).detach();
        panic!("a hook");
    });
    runtime.start(subscribes(9)).detach();
    for tap in 1..=3 {
        runtime.named(&TAP).emit(tap);
    }
    assert_eq!(runtime.scripts().len(), 2);
    let reports = reports.borrow();
    assert!(reports[0].contains("on_loss"), "{reports:?}");
}

#[test]
fn losses_of_a_run_that_is_rolled_back_are_reported_again_and_not_saved() {
    let (mut runtime, heard) = runtime();
    runtime.start(subscribes_anew(0)).detach();
    runtime.named(&HIT).emit(1);
    runtime.named(&HIT).emit(2);
    let save = runtime.save().unwrap();
    for _ in 0..2 {
        runtime.run_frame(0.1);
        assert_eq!(heard.take().len(), 1);
        runtime.rollback(&save).unwrap();
        assert_eq!(heard.take(), []);
        assert_eq!(runtime.save().unwrap().to_bytes(), save.to_bytes());
    }
}

#[test]
fn a_runtime_that_is_dropped_reports_nothing() {
    let (runtime, heard) = runtime();
    runtime.start(waits()).detach();
    assert_eq!(runtime.named(&HIT).emit_one(5), None);
    drop(runtime);
    assert_begin(&heard, &[]);
}
