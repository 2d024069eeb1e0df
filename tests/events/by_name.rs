//! Signals, watches and semaphores that scripts find by their names, in the executor that runs them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use framestep::prelude::*;
use framestep::sync::Key;

use framestep_testkit::timeline::{Timeline, unclamped};
use framestep_testkit::{OnDrop, panic_of, place_of_panic};

const HIT: Signal<u32> = signal("hit");
const GOLD: Watch<u32> = watch("gold", || 3);
const TOKENS: Semaphore = semaphore("attack tokens", 1);

/// docs/contract.md#decided-by-name
#[test]
fn scripts_that_share_a_name_resume_as_if_they_shared_a_handle() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("early", |mark| async move {
        mark.hit();
        HIT.wait().await;
        mark.hit();
    });
    timeline.row("boss", |mark| async move {
        wait_frames(2).await;
        mark.hit();
        HIT.emit(7);
    });
    timeline.row("late", |mark| async move {
        in_phase(Phase::LateUpdate).await;
        mark.hit();
        HIT.wait().await;
        mark.hit();
    });
    timeline.row("misses", |mark| async move {
        wait_frames(3).await;
        mark.hit();
        HIT.wait().await;
        mark.hit();
    });
    timeline.check(
        "
        frame  0    1    2    3    4
        time   0.00 0.25 0.50 0.75 1.00
        early  *    -    *
        boss   -    -    *
        late   -    L    *
        misses -    -    -    *    -
        ",
    );
}

/// docs/contract.md#decided-by-name
#[test]
fn each_executor_has_its_own_of_a_name() {
    let (mut one, mut other) = (unclamped(), unclamped());
    let script = || async { (HIT.wait().await, GOLD.get(), TOKENS.available()) };
    let (of_one, of_other) = (one.start(script()), other.start(script()));
    one.enter(|| GOLD.set(50));
    let token = one.enter(|| TOKENS.try_acquire());
    one.named(&HIT).emit(1);
    one.run_frame(0.25);
    other.run_frame(0.25);
    assert_eq!(of_one.take_output().unwrap().unwrap(), (1, 50, 0));
    assert!(!of_other.is_finished());
    // A script that steps another executor is inside of that one meanwhile.
    one.enter(|| other.enter(|| HIT.emit(2)));
    other.run_frame(0.25);
    assert_eq!(of_other.take_output().unwrap().unwrap(), (2, 3, 1));
    drop(token);
}

#[test]
fn a_helper_takes_a_handle_whichever_kind_it_is() {
    async fn total(hits: &Signal<u32>, of: usize) -> u32 {
        let mut stream = hits.subscribe();
        let mut total = 0;
        for _ in 0..of {
            total += stream.next().await.unwrap_or(0);
        }
        total
    }
    let mut executor = unclamped();
    let own = Signal::new();
    let totals = executor.start({
        let own = own.clone();
        async move { (total(&HIT, 2).await, total(&own, 2).await) }
    });
    for hit in [1, 2] {
        executor.named(&HIT).emit(hit);
    }
    executor.run_frame(0.25);
    for hit in [10, 20] {
        own.emit(hit);
    }
    assert_eq!(executor.run_until(totals, 0.25).unwrap(), (3, 30));
}

#[test]
fn outside_of_an_executor_each_call_panics_in_the_line_of_the_caller_and_says_what_to_do() {
    let calls: [(u32, &str, &dyn Fn()); 9] = [
        (line!(), "emit", &|| HIT.emit(1)),
        (line!(), "emit_one", &|| assert!(HIT.emit_one(1).is_none())),
        (line!(), "wait", &|| drop(HIT.wait())),
        (line!(), "wait_for", &|| drop(HIT.wait_for(|_| true))),
        (line!(), "subscribe", &|| drop(HIT.subscribe())),
        (line!(), "get", &|| assert_eq!(GOLD.get(), 3)),
        (line!(), "changed", &|| drop(GOLD.changed())),
        (line!(), "acquire", &|| drop(TOKENS.acquire())),
        (line!(), "set_count", &|| TOKENS.set_count(2)),
    ];
    for (line, name, call) in calls {
        assert_eq!(place_of_panic(call), format!("{}:{line}", file!()));
        let message = panic_of(call);
        let part = format!("::{name}` was called outside of an executor on ");
        assert!(message.contains(&part), "{message}");
        assert!(message.contains("`Executor::enter`"), "{message}");
    }
}

/// docs/contract.md#decided-by-name
#[test]
fn a_watch_that_two_lines_declare_is_reported_once_for_each_line_after_the_first() {
    const LATE: Watch<u32> = watch("gold", || 5);
    const LINE: u32 = line!() - 1;
    let executor = unclamped();
    let told = Rc::new(RefCell::new(Vec::new()));
    let log = told.clone();
    executor.on_report(move |report| log.borrow_mut().push(report.to_string()));
    executor.enter(|| {
        assert_eq!([GOLD.get(), GOLD.get()], [3, 3]);
        assert!(told.borrow().is_empty(), "{told:?}");
        assert_eq!([LATE.get(), LATE.get(), GOLD.get()], [3, 3, 3]);
        assert_eq!(LATE.keyed(1).get(), 5);
    });
    let told = told.borrow();
    let [only] = told.as_slice() else {
        panic!("{told:#?}");
    };
    let lines = [line_of_gold(), LINE].map(|line| format!("at {}:{line}:", file!()));
    for part in [
        "the watch `gold` is declared",
        &lines[0],
        &lines[1],
        "Declare one constant",
    ] {
        assert!(only.contains(part), "{only}");
    }
}

/// The line of the constant at the top.
fn line_of_gold() -> u32 {
    let source = include_str!("by_name.rs");
    let at = source
        .lines()
        .position(|line| line.starts_with("const GOLD"));
    u32::try_from(at.unwrap()).unwrap() + 1
}

#[test]
fn one_name_for_two_types_panics_and_names_both_declarations() {
    const OTHER: Signal<String> = signal("hit");
    const THERE: u32 = line!() - 1;
    const SHORT: Signal<u32> = signal_with_limit("hit", 4);
    const MANY: Semaphore = semaphore("attack tokens", 2);
    let executor = unclamped();
    executor.enter(|| {
        HIT.emit(1);
        drop(TOKENS.acquire());
    });
    let message = panic_of(|| executor.enter(|| OTHER.emit(String::new())));
    let [here, there] = [12, THERE].map(|line| format!("at {}:{line}:", file!()));
    assert!(
        message.starts_with("the name `hit` stands for a `Signal<u32>` at "),
        "{message}"
    );
    assert!(message.contains("for a `Signal<alloc::string::String>` at"));
    assert!(
        message.contains(&here) && message.contains(&there),
        "{message}"
    );
    // In other executors, and of another kind, the name is free.
    unclamped().enter(|| OTHER.emit(String::new()));
    executor.enter(|| watch("hit", || 0).set(1));

    let message = panic_of(|| drop(executor.named(&SHORT)));
    assert!(message.contains("with a limit of 4"), "{message}");
    let message = panic_of(|| drop(executor.named(&MANY)));
    assert!(message.contains("a `Semaphore` of 1 at"), "{message}");
    let line = line!() + 1;
    let place = place_of_panic(|| drop(executor.named(&OTHER)));
    assert_eq!(place, format!("{}:{line}", file!()));
}

#[test]
fn a_key_is_its_text_and_another_key_is_another_signal() {
    struct Door(u32);

    impl Key for Door {
        fn write(&self, text: &mut dyn std::fmt::Write) -> std::fmt::Result {
            self.0.write(text)
        }
    }

    let executor = unclamped();
    let text = |signal: &Signal<u32>| format!("{signal:?}");
    let shown = |key: &str| format!("Signal {{ name: \"hit[{key}]\", .. }}");
    assert_eq!(text(&HIT.keyed(3_u8)), shown("3"));
    assert_eq!(text(&HIT.keyed(Door(3))), shown("3"));
    assert_eq!(text(&HIT.keyed("a")), shown("\\\"a\\\""));
    assert_eq!(text(&HIT.keyed((1, 'x', true))), shown("(1, 'x', true)"));
    assert_eq!(text(&HIT.keyed([1, 2].as_slice())), shown("[1, 2]"));
    assert_eq!(text(&HIT.keyed(Some(-1_i64))), shown("Some(-1)"));
    assert_eq!(text(&HIT.keyed(())), shown("()"));
    let (mut three, mut four, mut all) = executor.enter(|| {
        let of = |key: u32| HIT.keyed(key).subscribe();
        (of(3), of(4), HIT.subscribe())
    });
    executor.enter(|| HIT.keyed(Door(3)).emit(1));
    assert!(!three.is_empty() && four.is_empty() && all.is_empty());
    drop((three.next(), four.next(), all.next()));
}

#[test]
fn a_snapshot_shows_the_name_with_its_key_and_the_line_of_the_declaration() {
    const SPOKEN: Signal<()> = signal("spoken");
    let line = line!() - 1;
    let executor = unclamped();
    executor.start(async { SPOKEN.keyed("Anna").wait().await });
    let snapshot = executor.snapshot();
    let wait = snapshot
        .iter()
        .next()
        .unwrap()
        .waits()
        .next()
        .unwrap()
        .clone();
    assert_eq!(wait.to_string(), "signal spoken[\"Anna\"]");
    let named_at = wait.source().and_then(framestep::inspect::Source::named_at);
    assert_eq!(named_at.map(std::panic::Location::line), Some(line));
}

thread_local! {
    static ALIVE: Cell<usize> = const { Cell::new(0) };
}

struct Counted;

impl Counted {
    fn new() -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

#[test]
fn keys_that_are_used_no_more_are_removed_and_values_that_were_set_are_kept() {
    const SEEN: Watch<Counted> = watch("seen", Counted::new);
    let executor = unclamped();
    executor.enter(|| {
        let _changes = SEEN.keyed("kept").subscribe();
        for key in 0..10_000 {
            SEEN.keyed(key).with(|_| ());
        }
        assert!(ALIVE.get() < 100, "{}", ALIVE.get());
        for key in 0..1_000 {
            SEEN.keyed(key).set(Counted::new());
        }
        assert!(ALIVE.get() >= 1_000, "{}", ALIVE.get());
        for key in 0..1_000 {
            assert!(SEEN.keyed(key).remove());
        }
        for key in 1_000..10_000 {
            SEEN.keyed(key).with(|_| ());
        }
        assert!(ALIVE.get() < 2_100, "{}", ALIVE.get());
    });
    drop(executor);
    assert_eq!(ALIVE.get(), 0);
}

#[test]
fn a_removed_watch_has_its_start_value_and_that_is_a_change() {
    let mut executor = unclamped();
    let changes = executor.start(async {
        let mut changes = GOLD.subscribe();
        [changes.next().await, changes.next().await]
    });
    let gold = executor.named(&GOLD);
    assert!(!executor.enter(|| GOLD.remove()));
    gold.set(8);
    executor.run_frame(0.25);
    assert!(executor.enter(|| GOLD.remove()));
    executor.run_frame(0.25);
    assert_eq!(changes.take_output().unwrap().unwrap(), [Some(8), Some(3)]);
    assert!(panic_of(|| Watch::new(1).remove()).starts_with("`remove` was called on a watch "));
}

#[test]
fn a_start_value_may_use_other_names_of_its_executor() {
    const BASE: Watch<u32> = watch("base", || GOLD.get() * 2);
    const SUM: Watch<u32> = watch("sum", || BASE.keyed(1).get() + BASE.keyed(2).get());
    let executor = unclamped();
    assert_eq!(executor.enter(|| SUM.get()), 12);
}

#[test]
fn they_end_with_their_executor() {
    let mut other = unclamped();
    let executor = unclamped();
    let mut hits = executor.named(&HIT).subscribe();
    let mut gold = executor.named(&GOLD).subscribe();
    let handle = executor.handle();
    // A destructor finds them until the end.
    let last = OnDrop(|| HIT.emit(9));
    executor.start(async move {
        let _last = last;
        std::future::pending::<()>().await;
    });
    drop(executor);
    let heard = async move { (hits.next().await, hits.next().await, gold.next().await) };
    assert_eq!(other.run_until(heard, 0.25), (Some(9), None, None));
    assert!(handle.named(&HIT).is_none());
}

#[test]
fn a_handle_of_its_own_has_no_key_and_one_that_is_found_gets_no_second_name() {
    let message = panic_of(|| drop(Signal::<()>::new().keyed(1)));
    assert!(
        message.contains("without a name by which it is found"),
        "{message}"
    );
    let host = Executor::new();
    let message = panic_of(|| drop(host.named(&HIT).keyed(1)));
    assert!(
        message.contains("`executor.named(&KNOCK.keyed(1))`"),
        "{message}"
    );
    let line = line!() + 1;
    let named = || drop(TOKENS.named("tokens"));
    assert_eq!(place_of_panic(named), format!("{}:{line}", file!()));
    assert!(panic_of(named).contains("found by its name, `attack tokens`"));
}

/// Uses the same name, and another key of it, in its destructor.
#[derive(Clone)]
struct Noisy;

thread_local! {
    static NEXT_KEY: Cell<Option<u32>> = const { Cell::new(None) };
}

impl Drop for Noisy {
    fn drop(&mut self) {
        if let Some(next) = NEXT_KEY.take() {
            NOISY.keyed(next).with(|_| ());
            NEXT_KEY.set(Some(next + 1));
        }
    }
}

const NOISY: Watch<Noisy> = watch("noisy", || Noisy);

#[test]
fn the_destructor_of_a_value_that_is_removed_may_use_the_same_name() {
    let executor = Executor::new();
    executor.enter(|| {
        NEXT_KEY.set(Some(1_000));
        for key in 0..200 {
            NOISY.keyed(key).with(|_| ());
        }
        NEXT_KEY.set(None);
    });
}

const NUMBER: Watch<u32> = watch("same", || {
    TEXT.keyed(1).with(|_| ());
    1
});
const TEXT: Watch<String> = watch("same", String::new);

#[test]
fn a_start_value_that_uses_the_same_name_as_another_type_is_refused_and_the_other_type_stays() {
    let executor = Executor::new();
    executor.enter(|| {
        let why = panic_of(|| NUMBER.keyed(1).with(|_| ()));
        assert!(why.contains("the name `same` stands for"), "{why}");
        assert_eq!(TEXT.keyed(1).get(), "");
        assert_eq!(TEXT.keyed(2).get(), "");
    });
}

#[test]
fn a_name_with_a_bracket_is_refused_because_a_key_begins_with_one() {
    let why = panic_of(|| drop(signal::<u32>("door[3]")));
    assert!(why.contains("has a `[`, which begins a key"), "{why}");
}
