//! Durable waits and effects outside of durable scripts: they are the plain ones. So one helper
//! serves both kinds of scripts.

use std::cell::RefCell;
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
    ClockId::GAME.wait_seconds(0.25).await;
    ClockId::REALTIME.wait_until(9).await;
    say_time("clocks");
    say(&format!(
        "{} after {} s",
        current_name().is_empty(),
        delta_seconds()
    ));
    with(|world: &mut World| world.gold = 0);
    start(Miner).detach();
    wait_until(|world: &World| world.gold > 2).await;
    say_time("gold");
    wait_while(|world: &World| world.gold < 4).await;
    animate(0.5, |world: &mut World, share| {
        world.log.push(format!("{share}"));
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
        static SHARED: RefCell<Option<framestep_durable::Wait>> = const { RefCell::new(None) };
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
    assert!(
        why.contains("was begun outside of a durable script"),
        "{why}"
    );
}

#[test]
fn what_belongs_to_a_runtime_says_so_elsewhere() {
    let mut executor = framestep::Executor::new();
    let start = || drop(start_on(Runtime::new(Registry::new()).owner(), Miner));
    let joined = executor.start(async move { start() });
    executor.run_frame(0.25);
    let error = joined.take().unwrap().unwrap_err();
    let text = error.to_string();
    let says = "`start_on` and `spawn_on` were called outside of a durable script";
    assert!(text.contains(says), "{text}");
}

#[test]
fn a_script_knows_its_number_its_name_and_the_length_of_its_frame() {
    #[durable]
    async fn child(number: u64) -> (bool, String, f32) {
        next_frame().await;
        let is_this = ScriptId::of(number) == current();
        (is_this, current_name().into_owned(), delta_seconds())
    }

    #[durable]
    async fn parent(stage: OwnerId) -> Vec<(bool, String, f32)> {
        let mut all = Vec::new();
        for child in [spawn(child(2)), spawn_on(stage, child(2))] {
            all.push(child.await.unwrap());
        }
        all
    }

    let registry = || Registry::new().with::<Child>().with::<Parent>();
    let mut runtime = Runtime::new(registry());
    let stage = runtime.owner();
    let script = runtime.spawn(parent(stage));
    assert_eq!(script.id(), ScriptId::of(1));
    runtime.run_frame(0.25);
    // The children are numbers 2 and 3, before and after a load.
    let save = runtime.save().unwrap();
    let mut runtime = Runtime::new(registry());
    runtime.restore(&save, Policy::Fail).unwrap();
    let script = runtime
        .handle::<Vec<(bool, String, f32)>>(script.id())
        .unwrap();
    runtime.run_frame(0.125);
    let expected = |is| (is, "child".to_owned(), 0.125);
    assert_eq!(
        runtime.take(script),
        Some(Ok(vec![expected(true), expected(false)]))
    );
}
