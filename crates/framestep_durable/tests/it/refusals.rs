//! What cannot be saved, or is not meant, is refused where it is done, with what to do instead.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use framestep_durable::prelude::*;

thread_local! {
    static RUNG: RefCell<bool> = const { RefCell::new(false) };
    /// What the outside has of scripts. It keeps a waker until it calls it.
    static WAKERS: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
}

/// Something of another crate: pending until the world outside rings. It is no matter to that whether somebody waits.
struct Outside;

impl Future for Outside {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if RUNG.replace(false) {
            return Poll::Ready(());
        }
        WAKERS.with_borrow_mut(|wakers| {
            if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
                wakers.push(cx.waker().clone());
            }
        });
        Poll::Pending
    }
}

fn ring() {
    RUNG.set(true);
    wake_all();
}

fn wake_all() {
    WAKERS.take().into_iter().for_each(Waker::wake);
}

/// As the `yield_now` of other crates.
#[derive(Default)]
struct Yields {
    is_over: bool,
}

impl Future for Yields {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_over {
            return Poll::Ready(());
        }
        self.is_over = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct World {
    log: Vec<String>,
}

fn log(text: &'static str) {
    with(move |world: &mut World| world.log.push(text.to_owned()));
}

#[durable]
async fn yields() {
    log("begins");
    for _ in 0..2 {
        Yields::default().await;
    }
    wait_seconds(0.2).await;
    log("ends");
}

#[durable]
async fn listens(is_over: bool) -> Chapter<()> {
    if is_over {
        wait_seconds(0.2).await;
        log("ends");
        return Chapter::Done(());
    }
    log("begins");
    Outside.await;
    log("hears");
    wait_seconds(0.2).await;
    Chapter::Next(listens(true))
}

#[durable]
async fn loses() {
    log("begins");
    select! {
        () = Outside => log("hears"),
        () = wait_seconds(0.2) => log("is over"),
    }
    for _ in 0..3 {
        wait_seconds(0.1).await;
        log("ticks");
    }
}

#[durable]
async fn waits_for_ever() {
    log("begins");
    std::future::pending::<()>().await;
}

#[durable]
async fn lamp() {
    let _off = defer(|world: &mut World| world.log.push("off".to_owned()));
    wait_seconds(60).await;
}

fn registry() -> Registry {
    Registry::new()
        .script(yields)
        .script(listens)
        .script(loses)
        .script(waits_for_ever)
        .script(lamp)
}

struct Game {
    runtime: Runtime,
    world: World,
}

impl Game {
    fn new() -> Self {
        RUNG.set(false);
        WAKERS.take();
        Game {
            runtime: Runtime::new(registry()),
            world: World::default(),
        }
    }

    fn frames(&mut self, frames: u32) {
        for _ in 0..frames {
            self.runtime.run_frame_with(&mut self.world, 0.1);
        }
    }

    /// What the scripts do from here on, for a second.
    fn rest(&mut self) -> Vec<String> {
        let before = self.world.log.len();
        self.frames(10);
        self.world.log.split_off(before)
    }

    fn refusal(&self) -> String {
        let errors = [
            self.runtime.save_state().err(),
            self.runtime.save().err(),
            self.runtime.checksum().err(),
        ];
        let texts = errors.map(|error| error.expect("it cannot be saved").to_string());
        texts[0].clone()
    }

    /// Another game, which goes on from a file of this one.
    #[track_caller]
    fn loaded(&self) -> Game {
        let save = self.runtime.save_state().expect("it can be saved");
        self.runtime.verify().expect("it can be restored");
        let file = save.to_bytes_with(&self.world);
        let (save, world) = SaveState::from_bytes_with(&file).expect("as it was written");
        let mut runtime = Runtime::new(registry());
        runtime.restore(&save, Policy::Fail).expect("the same code");
        Game { runtime, world }
    }
}

#[track_caller]
fn expect_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

const HERE: &str = concat!(" at ", file!(), ":");

#[test]
fn a_script_that_a_future_resumes_which_is_not_recorded_is_not_saved_in_that_chapter() {
    let mut game = Game::new();
    game.runtime.spawn(yields()).detach();
    // |             | frame 1 | 2      | 3     | 4    | 5    |
    // | `yields`    | begins, | yields | waits |      | ends |
    // |             | yields  |        |       |      |      |
    // | can be saved| no      | no     | no    | no   | yes  |
    for _ in 0..4 {
        game.frames(1);
        let text = game.refusal();
        expect_parts(&text, &["`yields` (#1)", "not recorded", "`ask`", "`with`"]);
        expect_parts(&text, &[HERE]);
    }
    game.frames(1);
    assert_eq!(game.world.log, ["begins", "ends"]);
    game.loaded();
}

#[test]
fn it_is_saved_again_in_its_next_chapter() {
    let mut game = Game::new();
    game.runtime.spawn(listens(false)).detach();
    game.frames(1);
    let text = game.refusal();
    expect_parts(
        &text,
        &["`listens` (#1)", "awaits", "not recorded", "`ask`", HERE],
    );
    ring();
    game.frames(1);
    assert_eq!(game.world.log, ["begins", "hears"]);
    for _ in 0..2 {
        let text = game.refusal();
        let parts = [
            "`listens` (#1)",
            "has gone on because of what is not recorded",
        ];
        expect_parts(&text, &parts);
        expect_parts(&text, &["`ask`", "next chapter", HERE]);
        game.frames(1);
    }
    let mut loaded = game.loaded();
    assert_eq!(loaded.rest(), ["ends"]);
    assert_eq!(game.rest(), ["ends"]);
}

#[test]
fn what_is_dropped_and_still_has_a_waker_does_not_keep_a_script_from_being_saved() {
    let mut game = Game::new();
    game.runtime.spawn(loses()).detach();
    game.frames(1);
    expect_parts(&game.refusal(), &["`loses` (#1)", "not recorded"]);
    game.frames(3);
    assert_eq!(game.world.log, ["begins", "is over", "ticks"]);
    assert!(WAKERS.with_borrow(|wakers| !wakers.is_empty()));
    let mut loaded = game.loaded();
    // It is polled once more than others, and does nothing in that.
    wake_all();
    game.frames(0);
    let mut woken = game.loaded();
    for game in [&mut game, &mut loaded, &mut woken] {
        assert_eq!(game.rest(), ["ticks", "ticks"]);
    }
}

#[test]
fn a_script_that_nothing_can_resume_is_saved() {
    let mut game = Game::new();
    game.runtime.spawn(waits_for_ever()).detach();
    game.frames(2);
    let loaded = game.loaded();
    assert_eq!(loaded.runtime.scripts().len(), 1);
}

#[test]
fn a_closure_that_waits_for_the_world_is_not_saved_until_it_is_called() {
    type Helps = fn(&mut Game);
    let helps: [Helps; 3] = [
        |game| game.frames(1),
        |game| game.runtime.lend(&mut game.world, |_| ()),
        |game| {
            let scripts = game.runtime.executor().handle();
            scripts.clean_up(&mut game.world);
        },
    ];
    for help in helps {
        let mut game = Game::new();
        let lamp = game.runtime.spawn(lamp());
        game.frames(1);
        game.runtime.enter(|| stop(lamp.id()));
        let text = game.refusal();
        expect_parts(&text, &["`defer`", HERE, "World`", "`lend`", "clean_up"]);
        help(&mut game);
        assert_eq!(game.world.log, ["off"]);
        game.loaded();
    }
}

#[test]
fn a_closure_that_waits_for_the_world_is_not_called_in_an_earlier_time() {
    let mut game = Game::new();
    let lamp = game.runtime.spawn(lamp());
    game.frames(1);
    let save = game.runtime.save_state().unwrap();
    game.runtime.enter(|| stop(lamp.id()));
    game.runtime.rollback(&save).unwrap();
    game.frames(1);
    assert!(game.world.log.is_empty(), "the lamp is on");
    game.loaded();
    game.runtime.enter(|| stop(lamp.id()));
    game.frames(1);
    assert_eq!(game.world.log, ["off"]);
}

mod names {
    use super::*;

    const NUMBER: Signal<u32> = signal("bell");
    const TEXT: Signal<String> = signal("bell");
    const SHORT: Signal<u32> = framestep_durable::signal_with_limit("bell", 4);
    const LEVEL: Watch<u32> = watch("level", || 1);
    const TITLE: Watch<String> = watch("level", String::new);
    const THREE: Semaphore = semaphore("seats", 3);
    const FIVE: Semaphore = semaphore("seats", 5);

    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    enum Other {
        Emits,
        Waits,
        Subscribes,
        Sets,
        Reads,
        Takes,
    }

    const ALL: [Other; 6] = [
        Other::Emits,
        Other::Waits,
        Other::Subscribes,
        Other::Sets,
        Other::Reads,
        Other::Takes,
    ];

    #[durable]
    async fn hears() -> u32 {
        assert_eq!(LEVEL.get(), 1);
        let _seat = THREE.acquire().await;
        NUMBER.wait().await
    }

    #[durable]
    async fn uses(other: Other) {
        use_other(other).await;
    }

    async fn use_other(other: Other) {
        match other {
            Other::Emits => TEXT.emit(String::new()),
            Other::Waits => drop(TEXT.wait().await),
            Other::Subscribes => drop(SHORT.subscribe()),
            Other::Sets => TITLE.set(String::new()),
            Other::Reads => drop(TITLE.get()),
            Other::Takes => drop(FIVE.acquire().await),
        }
    }

    #[test]
    fn a_name_that_stands_for_two_things_is_refused_with_both_lines_and_no_other_script_suffers() {
        for other in ALL {
            let mut runtime = Runtime::new(Registry::new().script(hears).script(uses));
            let hears = runtime.start(hears());
            let uses = runtime.start(uses(other));
            let Some(Err(JoinError::Panicked(why))) = runtime.take(uses) else {
                panic!("{other:?} is not refused");
            };
            assert_eq!(why.matches(file!()).count(), 2, "{other:?}: {why}");
            expect_parts(&why, &["stands for", "another name"]);
            runtime.named(&NUMBER).emit(7);
            runtime.run_frame(0.1);
            assert_eq!(runtime.take(hears), Some(Ok(7)), "{other:?}");
        }
    }

    #[test]
    fn the_host_is_refused_in_the_same_way() {
        let runtime = Runtime::new(Registry::new());
        runtime.enter(|| NUMBER.emit(1));
        let refused = std::panic::AssertUnwindSafe(|| runtime.enter(|| TEXT.emit(String::new())));
        let why = std::panic::catch_unwind(refused).expect_err("another type");
        let why = why.downcast_ref::<String>().expect("a text");
        assert_eq!(why.matches(file!()).count(), 2, "{why}");
    }

    #[test]
    fn another_runtime_may_use_the_name_for_something_else() {
        let (one, other) = (Runtime::new(Registry::new()), Runtime::new(Registry::new()));
        one.enter(|| NUMBER.emit(1));
        other.enter(|| TEXT.emit(String::new()));
        one.enter(|| NUMBER.keyed(1).emit(1));
    }
}

mod strangers {
    use super::*;
    use framestep::inspect::{Report, SpawnError};
    use std::rc::Rc;

    thread_local! {
        static HANDLE: RefCell<Option<ScriptHandle<u32>>> = const { RefCell::new(None) };
    }

    #[durable]
    async fn gives(number: u32) -> u32 {
        wait_seconds(0.1).await;
        number
    }

    #[durable]
    async fn joins_stranger() -> u32 {
        let stranger = HANDLE.take().expect("the host has put it there");
        stranger.await.unwrap_or_default()
    }

    #[durable]
    async fn starts_on(owner: OwnerId, is_child: bool) {
        let owner = if is_child { owner.child() } else { owner };
        owner.start(gives(1)).detach();
        owner.spawn(gives(2)).detach();
    }

    fn runtime() -> Runtime {
        Runtime::new(
            Registry::new()
                .script(gives)
                .script(joins_stranger)
                .script(starts_on),
        )
    }

    #[test]
    fn a_script_does_not_await_a_script_of_another_runtime() {
        let (one, other) = (runtime(), runtime());
        one.start(gives(1)).detach();
        HANDLE.set(Some(other.start(gives(2))));
        let joins = one.start(joins_stranger());
        let Some(Err(JoinError::Panicked(why))) = one.take(joins) else {
            panic!("it is not refused");
        };
        expect_parts(&why, &["`joins_stranger`", "another runtime", "`ask`"]);
    }

    /// The reports of a runtime in which a script starts others on an owner.
    fn reports(owner: impl FnOnce(&Runtime) -> OwnerId, is_child: bool) -> Vec<Report> {
        let runtime = runtime();
        let reports = Rc::new(RefCell::new(Vec::new()));
        let hears = Rc::clone(&reports);
        runtime
            .executor()
            .on_report(move |report| hears.borrow_mut().push(report.clone()));
        let owner = owner(&runtime);
        runtime.start(starts_on(owner, is_child)).detach();
        assert!(runtime.scripts().is_empty());
        reports.take()
    }

    #[test]
    fn a_start_on_an_owner_that_refuses_it_is_reported_with_its_line() {
        type Owns = fn(&Runtime) -> OwnerId;
        let removed: Owns = |runtime| {
            let owner = runtime.owner();
            runtime.enter(|| owner.remove());
            owner
        };
        let foreign: Owns = |_| {
            let other = runtime();
            other.owner();
            other.owner()
        };
        for (owner, is_child) in [(removed, false), (foreign, false), (removed, true)] {
            let mut reports = reports(owner, is_child);
            if is_child {
                let Report::SuspiciousCall { place, text } = reports.remove(0) else {
                    panic!("the child is not reported");
                };
                assert_eq!(place.file(), file!());
                expect_parts(&text, &["`child`", "dropped"]);
            }
            assert_eq!(reports.len(), 2);
            for report in reports {
                let Report::Refused {
                    name,
                    place,
                    reason,
                } = report
                else {
                    panic!("{report}");
                };
                assert_eq!((&*name, reason), ("gives", SpawnError::OwnerGone));
                assert_eq!(place.file(), file!());
            }
        }
    }
}
