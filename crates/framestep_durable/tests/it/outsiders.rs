//! What is called while a script is polled, and is no part of it: hooks of the host, destructors, what it has given
//! away. A restored script does not do it again, so none of it may stand in the journal.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use framestep_durable::{RuntimeHandle, prelude::*};

use crate::sleeps::reread;

const HIT: Signal<u32> = signal_with_limit("hit", 2);
const LOST: Watch<u32> = watch("lost", Default::default);
const FREED: Watch<u32> = watch("freed", Default::default);
const SEATS: Semaphore = semaphore("seats", 3);

#[derive(Default)]
struct World {
    said: Vec<String>,
    tokens: Vec<Token>,
}

#[durable]
async fn reader() {
    let mut hits = HIT.subscribe();
    wait_seconds(1000).await;
    let _ = hits.next().await;
}

/// Emits more than the reader's subscription stores.
#[durable]
async fn emitter() {
    next_frame().await;
    for hit in 0..4 {
        HIT.emit(hit);
    }
    wait_seconds(0.5).await;
    with(|world: &mut World| world.said.push("went on".into()));
    wait_seconds(1000).await;
}

fn registry() -> Registry {
    let registry = Registry::new().script(reader).script(emitter);
    let registry = registry.script(sleeper).script(long).script(holder);
    let registry = registry.script(nested).script(giver).script(child);
    registry
        .script(asker)
        .script(enters)
        .script(asks_more)
        .script(loops)
        .script(speaks)
}

/// Saves after three frames, loads that, and returns what the scripts say in ten more.
#[track_caller]
fn said_after_a_load(runtime: &mut Runtime) -> Vec<String> {
    let mut world = World::default();
    for _ in 0..3 {
        runtime.run_frame_with(&mut world, 0.1);
    }
    let save = reread(runtime);
    let mut later = Runtime::new(registry());
    later.restore(&save, Policy::Fail).unwrap();
    for _ in 0..10 {
        later.run_frame_with(&mut world, 0.1);
    }
    world.tokens.drain(..).for_each(std::mem::forget);
    world.said
}

#[test]
fn what_a_hook_does_in_the_call_of_a_script_is_not_recorded_as_the_scripts() {
    type Set = fn(&mut Runtime);
    let hooks: [(&str, Set); 8] = [
        ("sets a watch", |runtime| runtime.on_loss(|_| LOST.set(1))),
        ("reads one", |runtime| {
            runtime.on_loss(|_| assert!(LOST.get() < 2));
        }),
        ("emits", |runtime| runtime.on_loss(|_| HIT.emit(7))),
        ("reads the time", |runtime| {
            runtime.on_loss(|_| assert!(time().frame > 0));
        }),
        ("enters the runtime", |runtime| {
            let host: RuntimeHandle = runtime.host().clone();
            runtime.on_loss(move |_| host.executor().enter(|| LOST.set(1)).unwrap());
        }),
        ("has a handle of a watch", |runtime| {
            let lost = runtime.named(&LOST);
            runtime.on_loss(move |_| lost.set(1));
        }),
        ("drops a plain coroutine", |runtime| {
            let sets = OnDrop(|| LOST.set(1));
            let waits = runtime.executor().spawn(async move {
                let _sets = sets;
                std::future::pending::<()>().await;
            });
            let waits = RefCell::new(Some(waits));
            runtime.on_loss(move |_| assert!(waits.take().is_none_or(|waits| waits.stop())));
        }),
        ("makes an owner", |runtime| {
            let host = runtime.host().clone();
            runtime.on_loss(move |_| assert_ne!(host.owner(), host.owner()));
        }),
    ];
    for (name, set) in hooks {
        let mut runtime = Runtime::new(registry());
        set(&mut runtime);
        runtime.start(reader()).detach();
        runtime.start(emitter()).detach();
        assert_eq!(
            said_after_a_load(&mut runtime),
            ["went on"],
            "a hook that {name}"
        );
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[durable]
async fn sleeper(number: u32) -> u32 {
    wait_seconds(0.01).await;
    number
}

/// Its thousandth entry is one of these starts.
#[durable]
async fn long() -> [u32; 3] {
    for _ in 0..998 {
        effect(|| ());
    }
    let sleepers = [7, 8, 9].map(|number| start(sleeper(number)));
    let mut numbers = [0; 3];
    for (number, sleeper) in numbers.iter_mut().zip(sleepers) {
        *number = sleeper.await.unwrap();
    }
    numbers
}

#[test]
fn a_script_that_the_hook_of_long_chapters_starts_has_a_number_of_its_own() {
    let mut runtime = Runtime::new(registry());
    let host = runtime.host().clone();
    runtime.on_long_chapter(move |_| host.spawn(sleeper(100)).detach());
    let long = runtime.start(long());
    for _ in 0..5 {
        runtime.run_frame(0.1);
    }
    assert_eq!(runtime.take(long), Some(Ok([7, 8, 9])));
}

#[durable]
async fn holder() {
    let _seats = [SEATS.acquire().await, SEATS.acquire().await];
    next_frame().await;
    SEATS.set_count(1);
    wait_seconds(10).await;
}

#[test]
fn fewer_permits_than_are_taken_are_reported_in_a_runtime_as_well() {
    let mut runtime = Runtime::new(registry());
    let reports = Rc::new(RefCell::new(Vec::new()));
    let noted = Rc::clone(&reports);
    let note =
        move |report: &framestep::inspect::Report| noted.borrow_mut().push(report.to_string());
    runtime.executor().on_report(note);
    runtime.start(holder()).detach();
    runtime.run_frame(0.1);
    let [report] = &reports.borrow()[..] else {
        panic!("{reports:?}");
    };
    assert!(
        report.contains("the permits of `seats` were set to 1 while 2 are taken"),
        "{report}"
    );
    assert!(report.contains("outsiders.rs"), "{report}");
}

/// Changes a watch inside of a change of it, in one of the ways.
#[durable]
async fn nested(way: u32) {
    LOST.update(|lost| {
        match way {
            0 => LOST.update(|inner| *inner += 10),
            1 => LOST.set(10),
            2 => *lost = LOST.get(),
            _ => drop(LOST.remove()),
        }
        *lost += 100;
    });
}

#[test]
fn a_change_inside_of_a_change_of_a_watch_is_refused_with_the_line_of_the_outer_one() {
    for way in 0..4 {
        let runtime = Runtime::new(registry());
        let script = runtime.start(nested(way));
        let why = runtime.take(script).unwrap().unwrap_err().to_string();
        assert!(
            why.contains("inside the closure of its own `update`"),
            "{why}"
        );
        assert!(why.contains("outsiders.rs"), "{why}");
        // It has changed nothing, and what comes after it may.
        runtime.enter(|| LOST.update(|lost| *lost += 1));
        assert_eq!(runtime.named(&LOST).get(), 1);
        let by_host = || runtime.enter(|| LOST.update(|_| LOST.set(50)));
        assert!(catch_unwind(AssertUnwindSafe(by_host)).is_err());
        assert_eq!(runtime.named(&LOST).get(), 1);
    }
}

thread_local! {
    static OTHER: RefCell<Option<RuntimeHandle>> = const { RefCell::new(None) };
}

/// Makes a call inside of another runtime, in one of the ways.
#[durable]
async fn enters(way: u32) {
    next_frame().await;
    let other = OTHER.with_borrow(Clone::clone).unwrap();
    effect(move || {
        other.executor().enter(|| match way {
            0 => start(reader()).detach(),
            1 => spawn(reader()).detach(),
            2 => owner().start(reader()).detach(),
            _ => drop(LOST.replace(7)),
        })
    });
    wait_seconds(0.5).await;
    with(|world: &mut World| world.said.push("went on".into()));
    wait_seconds(1000).await;
}

#[test]
fn a_call_inside_of_another_runtime_acts_in_that_one() {
    for way in 0..4 {
        let [mut one, other] = [(); 2].map(|()| Runtime::new(registry()));
        OTHER.set(Some(other.host().clone()));
        one.start(enters(way)).detach();
        assert_eq!(said_after_a_load(&mut one), ["went on"], "way {way}");
        assert_eq!(one.scripts().len(), 1);
        assert_eq!(other.scripts().len(), usize::from(way < 3));
        assert_eq!(other.named(&LOST).get(), if way < 3 { 0 } else { 7 });
        other.save().unwrap();
        OTHER.set(None);
    }
}

/// Its destructor has an effect.
#[derive(Clone, Serialize, Deserialize)]
struct Token(u32);

impl Drop for Token {
    fn drop(&mut self) {
        // A save makes one, too, to describe it: there is no executor then.
        let frees = || FREED.update(|freed| *freed += 1);
        let _ = catch_unwind(AssertUnwindSafe(frees));
    }
}

#[durable]
async fn child(token: Token) {
    wait_seconds(1000).await;
    drop(token);
}

#[derive(Serialize, Deserialize)]
struct Offer(Token);

impl Request for Offer {
    const NAME: &'static str = "offer";
    type Answer = u32;
}

/// Gives a token away, in one of the ways.
#[durable]
async fn giver(way: u32) {
    next_frame().await;
    let token = Token(1);
    match way {
        0 => with(move |world: &mut World| world.tokens.push(token)),
        1 => with_once("given", move |world: &mut World| world.tokens.push(token)),
        2 => effect(move || std::mem::forget(token)),
        3 => start(child(token)).detach(),
        4 => spawn(child(token)).detach(),
        _ => drop(token),
    }
    wait_seconds(0.5).await;
    with(|world: &mut World| world.said.push("went on".into()));
    wait_seconds(1000).await;
}

#[durable]
async fn asker() {
    next_frame().await;
    let token = Token(1);
    let answer = timeout(0.5, ask(move || Offer(token))).await.ok();
    with(move |world: &mut World| world.said.push(format!("{answer:?}")));
    wait_seconds(1000).await;
}

#[test]
fn what_a_script_has_given_away_is_not_dropped_by_it_after_a_load() {
    for way in 0..6 {
        let mut runtime = Runtime::new(registry());
        runtime.start(giver(way)).detach();
        assert_eq!(said_after_a_load(&mut runtime), ["went on"], "way {way}");
    }
    let mut runtime = Runtime::new(registry());
    runtime.start(asker()).detach();
    assert_eq!(said_after_a_load(&mut runtime), ["None"]);
}

const MOST: Watch<u32> = watch("most", || 100);
const HEALTH: Watch<u32> = watch("health", || MOST.get());
const HURT: Signal<Hurt> = signal("hurt");

/// Reads a watch while it is serialised.
#[derive(Clone, Deserialize)]
struct Hurt(u32);

impl Serialize for Hurt {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A save describes it where no executor is.
        let most = catch_unwind(|| MOST.get()).unwrap_or(100);
        most.min(self.0).serialize(serializer)
    }
}

/// Makes a call that calls code of the game, in one of the ways.
#[durable]
async fn asks_more(way: u32) {
    next_frame().await;
    let said = match way {
        0 => HEALTH.get(),
        1 => HEALTH.update(|health| *health),
        2 => HEALTH.with(|health| *health),
        3 => HEALTH.wait_for(|health| *health > 3).await,
        4 => HEALTH.replace(100),
        5 => with(|_: &mut World| Hurt(100)).0,
        _ => {
            HURT.emit(Hurt(3));
            100
        }
    };
    wait_seconds(0.5).await;
    with(move |world: &mut World| world.said.push(format!("{said} of {}", MOST.get())));
    wait_seconds(1000).await;
}

#[test]
fn what_a_call_of_a_script_asks_of_the_game_is_a_part_of_that_call() {
    for way in 0..7 {
        let mut runtime = Runtime::new(registry());
        runtime.start(asks_more(way)).detach();
        assert_eq!(said_after_a_load(&mut runtime), ["100 of 100"], "way {way}");
    }
}

static IS_NEW: AtomicBool = AtomicBool::new(false);

/// The code of another build does something else, in a loop that waits for nothing.
#[durable]
async fn loops() {
    next_frame().await;
    if IS_NEW.load(Ordering::Relaxed) {
        while !effect(|| true) {}
    }
    wait_seconds(1000).await;
}

#[test]
fn a_load_while_the_host_unwinds_ends() {
    let mut runtime = Runtime::new(registry());
    runtime.start(loops()).detach();
    runtime.run_frame(0.1);
    runtime.run_frame(0.1);
    let save = reread(&runtime);
    IS_NEW.store(true, Ordering::Relaxed);
    let refused = Cell::new(false);
    let load = || {
        let mut later = Runtime::new(registry());
        refused.set(later.restore(&save, Policy::Fail).is_err());
    };
    let unwinds = || {
        let _load = OnDrop(load);
        // Without a message on the terminal.
        resume_unwind(Box::new("the game panics"));
    };
    assert!(catch_unwind(AssertUnwindSafe(unwinds)).is_err());
    assert!(refused.get());
}

#[test]
fn a_handle_of_a_dropped_runtime_says_so() {
    let runtime = Runtime::new(registry());
    let host = runtime.host().clone();
    drop(runtime);
    let call = || {
        let _ = host.owner();
    };
    let why = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
    let why = why.downcast_ref::<String>().unwrap();
    let says = "`owner` was called on a handle of a runtime that has been dropped";
    assert!(why.starts_with(says), "{why}");
}

#[test]
fn a_hook_that_replaces_itself_is_dropped_where_its_destructor_may_set_another_one() {
    let runtime = Runtime::new(registry());
    let [host, by_drop] = [(); 2].map(|()| runtime.host().clone());
    let heard = Rc::new(Cell::new(0));
    let hears = Rc::clone(&heard);
    let sets = OnDrop(move || {
        let hears = Rc::clone(&hears);
        by_drop.on_loss(move |_| hears.set(hears.get() + 1));
    });
    runtime.on_loss(move |_| {
        let _own = &sets;
        host.on_loss(|_| panic!("its destructor has set another one"));
    });
    // Each of them loses an event.
    runtime.start(reader()).detach();
    runtime.start(reader()).detach();
    let hit = runtime.named(&HIT);
    for event in 0..3 {
        hit.emit(event);
    }
    assert_eq!(heard.get(), 1);
}

#[test]
fn hooks_are_dropped_with_their_runtime() {
    let dropped = Rc::new(Cell::new(0));
    let noted = || {
        let dropped = Rc::clone(&dropped);
        OnDrop(move || dropped.set(dropped.get() + 1))
    };
    let runtime = Runtime::new(registry());
    let own = || {
        let own = Rc::new((runtime.host().clone(), noted()));
        move || assert_eq!(Rc::strong_count(&own), 1)
    };
    let [of_losses, of_chapters] = [own(), own()];
    runtime.on_loss(move |_| of_losses());
    runtime.on_long_chapter(move |_| of_chapters());
    drop(runtime);
    assert_eq!(dropped.get(), 2);
}

const AS_NUMBER: Watch<u32> = watch("gate", Default::default);
const AS_TEXT: Watch<String> = watch("gate", Default::default);

static IS_TEXT: AtomicBool = AtomicBool::new(false);

#[durable]
async fn speaks() {
    if IS_TEXT.load(Ordering::Relaxed) {
        AS_TEXT.set("open".into());
    } else {
        AS_NUMBER.set(1);
    }
    wait_seconds(1000).await;
}

#[test]
fn a_load_that_fails_leaves_the_clocks_as_they_were() {
    let runtime = Runtime::new(registry());
    runtime.start(speaks()).detach();
    let save = reread(&runtime);
    IS_TEXT.store(true, Ordering::Relaxed);
    let mut game = Runtime::new(registry());
    let clock = game.enter(|| ClockId::GAME.child().child());
    game.run_frame(0.1);
    let before = game.checksum();
    assert!(game.restore(&save, Policy::Fail).is_err());
    assert_eq!(game.checksum(), before);
    game.enter(|| clock.clock().pause());
    game.save().unwrap();
}
