//! Durable waits and effects outside of durable scripts: they are the plain ones. So one helper
//! serves both kinds of scripts.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use framestep_durable::prelude::*;

#[derive(Default)]
struct World {
    log: Vec<String>,
    gold: u32,
}

fn say(words: &str) {
    let words = words.to_owned();
    with(move |world: &mut World| world.log.push(words));
}

/// A helper, as any script may call it.
async fn walk() {
    let say_time = |what: &str| say(&format!("{what} at {:?}", time().elapsed));
    next_frame().await;
    say_time("a frame");
    wait_seconds(0.5).await;
    say_time("seconds");
    wait_frames(2).await;
    say_time("frames");
    end_of_frame().await;
    say_time("the end of a frame");
    in_phase(Phase::LateUpdate).await;
    say_time("late");
    fixed_update().await;
    wait_steps(2).await;
    say_time("steps");
    wait_seconds_realtime(0.5).await;
    ClockId::GAME.clock().wait_seconds(0.25).await;
    ClockId::REALTIME.clock().wait_until(9).await;
    say_time("clocks");
    say(&format!(
        "{} after {} s",
        current_name().is_empty(),
        delta_seconds()
    ));
    with(|world: &mut World| world.gold = 0);
    start(Miner).detach();
    wait_until(|| with_ref(|world: &World| world.gold > 2)).await;
    say_time("gold");
    wait_while(|| with_ref(|world: &World| world.gold < 4)).await;
    animate(0.5, |share| {
        with(|world: &mut World| {
            world.log.push(format!("{share}"));
        });
    })
    .await;
    say_time("an animation");
    let mut ticks = interval(0.5).in_phase(Phase::FixedUpdate);
    for _ in 0..2 {
        let tick = ticks.tick().await;
        say_time(&format!("a tick, {:?} late", tick.late));
    }
    let slow = timeout(0.5, wait_seconds(9)).await;
    say_time(&format!("{slow:?}"));
    let (first, ()) = join!(timeout(9, wait_seconds(0.5)), wait_frames(2));
    say_time(&format!("{first:?}"));
    say(&format!("{:?}", start(Counts(3)).await));
    say(&format!(
        "{:?}",
        spawn_in(Phase::LateUpdate, Counts(2)).await
    ));
    say_time("the end");
}

#[derive(Serialize, Deserialize)]
struct Walks;

impl DurableScript for Walks {
    const NAME: &'static str = "walks";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        walk().await;
        Chapter::Done(())
    }
}

#[derive(Serialize, Deserialize)]
struct Miner;

impl DurableScript for Miner {
    const NAME: &'static str = "miner";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        for _ in 0..4 {
            next_frame().await;
            with(|world: &mut World| world.gold += 1);
        }
        Chapter::Done(())
    }
}

/// Counts down, a chapter for each number.
#[derive(Serialize, Deserialize)]
struct Counts(u32);

impl DurableScript for Counts {
    const NAME: &'static str = "counts";
    type Output = String;

    async fn run(self) -> Chapter<Self> {
        next_frame().await;
        match self.0 {
            0 => Chapter::Done("counted".to_owned()),
            left => Chapter::Next(Counts(left - 1)),
        }
    }
}

const FRAMES: u32 = 90;

/// What the helper does in a script of framestep.
fn plain_log() -> Vec<String> {
    let mut executor = framestep::Executor::new();
    let mut world = World::default();
    let script = executor.spawn(walk());
    for _ in 0..FRAMES {
        executor.run_frame_with(&mut world, 0.25);
    }
    assert!(script.is_finished());
    world.log
}

#[test]
fn a_helper_does_the_same_in_a_plain_script_as_in_a_durable_one() {
    let registry = Registry::new()
        .with::<Walks>()
        .with::<Miner>()
        .with::<Counts>();
    let mut runtime = Runtime::new(registry);
    let mut world = World::default();
    let script = runtime.spawn(Walks);
    for _ in 0..FRAMES {
        runtime.run_frame_with(&mut world, 0.25);
    }
    assert_eq!(runtime.take(script), Some(Ok(())));
    assert_eq!(world.log, plain_log());
    assert!(world.log.len() > 15, "{:?}", world.log);
}

/// The functions and macros of the prelude that do the same in both kinds of scripts.
const IN_BOTH: &[&str] = &[
    "animate",
    "changes_of",
    "clock",
    "current_name",
    "debounce",
    "debounce_by_key",
    "defer",
    "defer_call",
    "delta_seconds",
    "effect",
    "effect_once_per_frame",
    "end_of_frame",
    "every_frames",
    "fixed_update",
    "frames",
    "group",
    "in_phase",
    "interval",
    "is_resimulated",
    "is_stop_requested",
    "join",
    "join_all",
    "labelled",
    "next_frame",
    "on_clock",
    "on_error",
    "promise",
    "race",
    "realtime",
    "sample",
    "select",
    "semaphore",
    "signal",
    "signal_with_limit",
    "spawn",
    "spawn_in",
    "start",
    "start_in",
    "stop_requested",
    "throttle",
    "time",
    "timeout",
    "timeout_at",
    "try_join_all",
    "wait_frames",
    "wait_seconds",
    "wait_seconds_realtime",
    "wait_steps",
    "wait_until",
    "wait_while",
    "watch",
    "when_each",
    "with",
    "with_deferred",
    "with_ref",
    "yield_now",
];

/// Those that belong to a runtime, and the attributes.
const OF_A_RUNTIME: &[&str] = &[
    "ask",
    "request_stop",
    "chapter",
    "current",
    "durable",
    "owner",
    "owner_on",
    "pause",
    "resume",
    "stop",
    "with_once",
];

/// Does one of them, and says what it returns and when.
///
/// No wait is for a fixed step while the clock is held: there is none.
#[expect(clippy::too_many_lines, reason = "a table")]
async fn does(name: &str) {
    let share = |share: f32| with(|world: &mut World| world.log.push(format!("{share}")));
    let failing = || async {
        wait_frames(2).await;
        Err::<(), _>("no way")
    };
    match name {
        "animate" => animate(0.5, share).await,
        "changes_of" => {
            let mut gold = changes_of(|| with_ref(|world: &World| world.gold)).with_present();
            for _ in 0..3 {
                say(&format!("{:?}", gold.next().await));
            }
        }
        "debounce" => {
            let mut settled = debounce(0.5, interval(0.75).first_after(0.25));
            say(&format!("{:?}", settled.next().await));
        }
        "debounce_by_key" => {
            let ticks = interval(0.25).first_after(0.25);
            let mut settled = debounce_by_key(0.5, ticks, |tick| tick.late.is_zero());
            say(&format!("{:?}", timeout(1, settled.next()).await));
        }
        "sample" => {
            let mut ticks = sample(0.5, interval(0.25));
            for _ in 0..2 {
                say(&format!("{:?}", ticks.next().await));
            }
        }
        "frames" => {
            let mut each = frames();
            for pause in [0, 2] {
                wait_frames(pause).await;
                say(&format!("{:?}", each.next().await.map(|time| time.frame)));
            }
        }
        "every_frames" => {
            let mut frames = every_frames(2);
            for pause in [0, 1, 0] {
                wait_frames(pause).await;
                say(&format!("{:?}", frames.next().await.map(|time| time.frame)));
            }
        }
        "group" => {
            let mut counts = group();
            for number in [2, 1] {
                counts.start(Counts(number));
            }
            counts.spawn(Counts(0));
            say(&format!("{:?}", counts.join().await));
        }
        "labelled" => {
            for (number, text) in labelled([(1, "one"), (2, "two")], |item| item.0) {
                wait_frames(number).await;
                say(text);
            }
        }
        "is_resimulated" => say(&format!("{}", effect(is_resimulated))),
        "is_stop_requested" => say(&format!("{}", is_stop_requested())),
        "stop_requested" => say(&format!("{:?}", timeout(0.5, stop_requested()).await)),
        "throttle" => {
            let mut ticks = throttle(0.5, interval(0.25));
            for _ in 0..2 {
                say(&format!("{:?}", ticks.next().await));
            }
        }
        "timeout_at" => say(&format!("{:?}", timeout_at(0.5, wait_seconds(9)).await)),
        "watch" => {
            let gold = watch("gold", || 3_u32);
            say(&format!("{}", gold.get()));
            gold.update(|gold| *gold += 4);
            say(&format!("{}", gold.wait_for(|gold| *gold > 5).await));
            say(&format!("{} {}", gold.remove(), gold.get()));
        }
        "when_each" => {
            let mut each = when_each([2, 0, 1].map(|number| start(Counts(number))));
            while let Some(end) = each.next().await {
                say(&format!("{end:?}"));
            }
        }
        "clock" => {
            assert!(clock().pause() && !clock().pause() && clock().is_paused());
            wait_seconds_realtime(0.5).in_phase(Phase::Update).await;
            assert!(clock().resume());
            clock().set_scale(0.5);
            let scales = (clock().scale(), clock().effective_scale());
            say(&format!(
                "{:?} {:?} {scales:?}",
                clock().now(),
                clock().delta()
            ));
            let guards = (clock().scaled(0.5), clock().pause_guard());
            wait_seconds_realtime(0.5).in_phase(Phase::Update).await;
            drop(guards);
            clock().set_scale(1);
            clock().wait_seconds(0.25).await;
            clock().wait_until(2).await;
        }
        "current_name" => say(&format!("{}", current_name().is_empty())),
        "defer" => {
            defer(|world: &mut World| world.log.push("cancelled".into())).cancel();
            let _left = defer(|world: &mut World| world.log.push("left".into()));
            next_frame().await;
        }
        "defer_call" => {
            let called = Rc::new(RefCell::new(0));
            let count = || {
                let called = called.clone();
                move || *called.borrow_mut() += 1
            };
            defer_call(count()).cancel();
            drop(defer_call(count()));
            say(&format!("{}", called.take()));
        }
        "delta_seconds" => say(&format!("{}", delta_seconds())),
        "effect" => say(&format!("{}", effect(|| 3))),
        "effect_once_per_frame" => {
            effect_once_per_frame("hit", || {
                framestep::with(|world: &mut World| world.gold += 1);
            });
        }
        "end_of_frame" => end_of_frame().await,
        "fixed_update" => fixed_update().await,
        "in_phase" => in_phase(Phase::LateUpdate).await,
        "interval" => {
            let mut all = interval(0.1);
            for _ in 0..3 {
                say(&format!("{}", all.ticks().await));
            }
            let mut ticks = interval(0.3).missed_ticks(MissedTicks::Skip);
            for _ in 0..3 {
                say(&format!("{:?}", ticks.tick().await));
            }
        }
        "join" => {
            let joined = join!(wait_frames(1), timeout(0.5, wait_frames(9)));
            say(&format!("{joined:?} {:?}", join(start(Counts(1))).await));
        }
        "join_all" => drop(join_all((1..4).map(wait_frames)).await),
        "next_frame" => next_frame().in_phase(Phase::EarlyUpdate).await,
        "on_clock" => {
            let _held = clock().pause_guard();
            on_clock(realtime(), wait_seconds(0.5).in_phase(Phase::Update)).await;
            on_clock(clock(), next_frame().in_phase(Phase::Update)).await;
        }
        "on_error" => {
            let failed = on_error(failing(), |why| say(&format!("because {why}"))).await;
            say(&format!("{failed:?}"));
        }
        "promise" => {
            let (resolver, mut answer) = promise::<u32>("answer");
            let late = timeout(0.5, &mut answer).await;
            let sent = (resolver.send(3), resolver.send(4), resolver.is_canceled());
            say(&format!("{late:?} {sent:?} {:?}", answer.await));
            let (resolver, answer) = promise::<u32>("another");
            say(&format!("{} {:?}", resolver.cancel(), answer.await));
            next_frame().await;
        }
        "race" => drop(race([wait_frames(3), wait_frames(2)]).await),
        "realtime" => {
            realtime().wait_seconds(0.5).await;
            let scales = (
                realtime().scale(),
                realtime().is_paused(),
                realtime().resume(),
            );
            say(&format!(
                "{:?} {:?} {scales:?}",
                realtime().now(),
                realtime().delta()
            ));
        }
        "select" => {
            let first = select! {
                () = wait_frames(3) => 3,
                () = wait_frames(2) => 2,
            };
            say(&format!("{first}"));
        }
        "semaphore" => {
            let tokens = semaphore("tokens", 2);
            let token = tokens.acquire().await;
            say(&format!("{}", tokens.available()));
            drop(token);
            say(&format!("{}", tokens.available()));
        }
        "signal" | "signal_with_limit" => {
            let calls = match name {
                "signal" => signal("calls"),
                _ => signal_with_limit("few calls", 1),
            };
            let mut heard = calls.subscribe();
            for call in [1_u32, 2] {
                calls.emit(call);
            }
            say(&format!("{}", heard.next().await.unwrap()));
        }
        "spawn" => say(&format!("{:?}", spawn(Counts(1)).await)),
        "spawn_in" => say(&format!(
            "{:?}",
            spawn_in(Phase::LateUpdate, Counts(1)).await
        )),
        "start" => say(&format!("{:?}", start(Counts(1)).await)),
        "start_in" => say(&format!(
            "{:?}",
            start_in(Phase::LateUpdate, Counts(1)).await
        )),
        "time" => say(&format!("{:?}", time())),
        "timeout" => say(&format!("{:?}", timeout(0.5, wait_seconds(9)).await)),
        "try_join_all" => say(&format!("{:?}", try_join_all([failing(), failing()]).await)),
        "wait_frames" => wait_frames(2).await,
        "wait_seconds" => wait_seconds(0.5).in_phase(Phase::FixedUpdate).await,
        "wait_seconds_realtime" => wait_seconds_realtime(0.5).await,
        "wait_steps" => wait_steps(3).await,
        "wait_until" => wait_until(|| with_ref(|world: &World| world.gold > 0)).await,
        "wait_while" => wait_while(|| with_ref(|world: &World| world.gold == 0)).await,
        "with" => {
            let gold = with(|world: &mut World| {
                world.gold += 5;
                world.gold
            });
            say(&format!("{gold}"));
        }
        "with_deferred" => {
            let is_kept = with_deferred(|world: &mut World| world.log.push("deferred".into()));
            say(&format!("{is_kept}"));
        }
        "with_ref" => say(&format!("{}", with_ref(|world: &World| world.gold))),
        "yield_now" => {
            yield_now().await;
            say("yielded");
            next_frame().await;
            yield_now().await;
        }
        other => panic!("nothing does `{other}`"),
    }
    let now = time();
    say(&format!(
        "{name} at {:?} in {:?}",
        now.unscaled_elapsed, now.phase
    ));
}

#[durable]
async fn does_in_a_durable_script(name: String) {
    does(&name).await;
}

fn names_in(file: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("//"));
    let code: String = lines.collect::<Vec<_>>().join(" ");
    let uses = code.split("pub use ").skip(1);
    let uses = uses.map(|list| list.split(';').next().unwrap());
    let names = uses.flat_map(|list| list.rsplit("::").next().unwrap().split(','));
    let names = names.map(|name| name.trim_matches(['{', '}', ' ', '*']).to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_table_has_all_functions_and_macros_of_the_prelude() {
    let names = names_in("src/prelude.rs");
    let functions = names
        .iter()
        .filter(|name| name.starts_with(char::is_lowercase));
    let functions: BTreeSet<&str> = functions.map(String::as_str).collect();
    let table = IN_BOTH.iter().chain(OF_A_RUNTIME).copied();
    assert_eq!(functions, table.collect());
}

#[test]
fn each_function_of_the_prelude_does_the_same_in_a_plain_script_as_in_a_durable_one() {
    for home in [Phase::Update, Phase::FixedUpdate] {
        for &name in IN_BOTH {
            let mut executor = framestep::Executor::new();
            let mut world = World::default();
            let script = executor.script("").in_phase(home).spawn(does(name));
            for frame in 0..20 {
                world.gold = frame / 4;
                executor.run_frame_with(&mut world, 0.25);
            }
            assert!(script.is_finished(), "{name}: {:?}", world.log);
            let plain = world.log;

            let registry = Registry::new()
                .script(does_in_a_durable_script)
                .with::<Counts>();
            let mut runtime = Runtime::new(registry);
            let mut world = World::default();
            let script = runtime.enter(|| spawn_in(home, does_in_a_durable_script(name.into())));
            for frame in 0..20 {
                world.gold = frame / 4;
                runtime.run_frame_with(&mut world, 0.25);
                runtime.verify().unwrap();
            }
            assert_eq!(runtime.take(script), Some(Ok(())), "{name}");
            assert_eq!(world.log, plain, "{name} at home in {home}");
        }
    }
}

/// A name of framestep's prelude is in this one, too, or the guide says what to use instead.
#[test]
fn the_guide_says_what_to_use_for_names_that_only_the_prelude_of_framestep_has() {
    let (plain, durable) = (names_in("../../src/prelude.rs"), names_in("src/prelude.rs"));
    assert!(plain.contains("wait_seconds") && plain.contains("Budget"));
    let missing: BTreeSet<String> = plain.difference(&durable).cloned().collect();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/porting.md");
    let guide = fs::read_to_string(guide).unwrap();
    let (_, table) = guide.split_once("| plain | durable |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let rows: Vec<&str> = table.lines().skip(2).collect();
    assert!(
        rows.len() <= 20,
        "two vocabularies are short: {}",
        rows.len()
    );
    let code = rows
        .iter()
        .flat_map(|row| row.split(" | ").next().unwrap().split('`'));
    let named: BTreeSet<&str> = code.collect();
    let unsaid = missing.iter().filter(|name| !named.contains(name.as_str()));
    assert_eq!(unsaid.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn errors_of_joins_are_those_of_durable_scripts() {
    #[derive(Serialize, Deserialize)]
    struct Falls;

    impl DurableScript for Falls {
        const NAME: &'static str = "falls";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            next_frame().await;
            panic!("over a stone")
        }
    }

    let mut executor = framestep::Executor::new();
    let joined = executor.run_until(async { start(Falls).await }, 0.25);
    assert_eq!(joined, Err(JoinError::Panicked("over a stone".to_owned())));
}

#[test]
fn a_wait_that_has_begun_outside_does_not_move_into_a_durable_script() {
    thread_local! {
        static SHARED: RefCell<Option<framestep_durable::WaitSeconds>> = const { RefCell::new(None) };
    }

    #[derive(Serialize, Deserialize)]
    struct Takes;

    impl DurableScript for Takes {
        const NAME: &'static str = "takes";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            let wait = SHARED.take().unwrap();
            wait.await;
            Chapter::Done(())
        }
    }

    let executor = framestep::Executor::new();
    let begins = Rc::new(RefCell::new(Some(wait_seconds(1))));
    let outside = begins.clone();
    executor
        .start(std::future::poll_fn(move |cx| {
            use std::pin::Pin;
            let mut wait = outside.take().unwrap();
            assert!(Pin::new(&mut wait).poll(cx).is_pending());
            SHARED.set(Some(wait));
            std::task::Poll::Ready(())
        }))
        .stop();
    let runtime = Runtime::new(Registry::new().with::<Takes>());
    let script = runtime.start(Takes);
    let Some(Err(JoinError::Panicked(why))) = runtime.take(script) else {
        panic!("it has not panicked");
    };
    assert!(why.contains("durable scripts cannot share waits"), "{why}");
}

#[test]
fn what_belongs_to_a_runtime_says_so_elsewhere() {
    let mut executor = framestep::Executor::new();
    let start = || drop(Runtime::new(Registry::new()).owner().start(Miner));
    let joined = executor.start(async move { start() });
    executor.run_frame(0.25);
    let error = joined.take_output().unwrap().unwrap_err();
    let text = error.to_string();
    let says = "`OwnerId::start` was called outside of a runtime";
    assert!(text.contains(says), "{text}");
}

#[test]
fn a_script_knows_its_number_its_name_and_the_length_of_its_frame() {
    #[durable]
    async fn child(number: u64) -> (bool, String, f32) {
        next_frame().await;
        let is_this = ScriptId::from_raw(number) == current();
        (is_this, current_name().into_owned(), delta_seconds())
    }

    #[durable]
    async fn parent(stage: OwnerId) -> Vec<(bool, String, f32)> {
        let mut all = Vec::new();
        for child in [spawn(child(2)), stage.spawn(child(2))] {
            all.push(child.await.unwrap());
        }
        all
    }

    let registry = || Registry::new().script(child).script(parent);
    let mut runtime = Runtime::new(registry());
    let stage = runtime.owner();
    let script = runtime.spawn(parent(stage));
    assert_eq!(script.id(), ScriptId::from_raw(1));
    runtime.run_frame(0.25);
    // The children are numbers 2 and 3, before and after a load.
    let save = runtime.save().unwrap();
    let mut runtime = Runtime::new(registry());
    runtime.restore(&save, Policy::Fail).unwrap();
    let script = runtime
        .enter(|| script.id().handle::<Vec<(bool, String, f32)>>())
        .unwrap();
    runtime.run_frame(0.125);
    let expected = |is| (is, "child".to_owned(), 0.125);
    assert_eq!(
        runtime.take(script),
        Some(Ok(vec![expected(true), expected(false)]))
    );
}
