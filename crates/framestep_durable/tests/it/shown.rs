//! What the executor's snapshots say about durable scripts, before a save and after it.

use framestep_durable::prelude::*;

#[derive(Serialize, Deserialize)]
struct Choice;

impl Request for Choice {
    const NAME: &'static str = "choice";
    type Answer = u32;
}

const KNOCK: Signal<u32> = signal("knock");
const GOLD: Watch<u32> = watch("gold", Default::default);

#[derive(Serialize, Deserialize)]
struct Hero;

impl DurableScript for Hero {
    const NAME: &'static str = "hero";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        select! {
            _ = KNOCK.wait() => {}
            _ = GOLD.changed() => {}
            _ = ask(|| Choice) => {}
            _ = wait_seconds(9) => {}
        }
        KNOCK.wait().await;
        Chapter::Done(())
    }
}

/// What the hero waits for, sorted.
fn waits(runtime: &Runtime) -> Vec<String> {
    let snapshot = runtime.executor().snapshot();
    let hero = snapshot.iter().find(|it| it.name() == "hero");
    let waits = hero.expect("it is alive").waits();
    let mut waits: Vec<String> = waits.map(ToString::to_string).collect();
    waits.sort();
    waits
}

#[test]
fn waits_for_signals_values_and_answers_have_their_names() {
    let registry = || Registry::new().with::<Hero>();
    let runtime = Runtime::new(registry());
    runtime.start(Hero).detach();
    let expected = [
        "9s, until 9s",
        "an answer to choice",
        "signal knock",
        "watch gold",
    ];
    assert_eq!(waits(&runtime), expected);

    let save = runtime.save().unwrap();
    let mut other = Runtime::new(registry());
    other.restore(&save, Policy::Fail).unwrap();
    assert_eq!(waits(&other), expected);
    other.rollback(&save).unwrap();
    assert_eq!(waits(&other), expected);

    other.named(&GOLD).set(1);
    other.run_frame(0.25);
    assert_eq!(waits(&other), ["signal knock"]);
}

#[durable]
async fn child() {
    wait_seconds(9).await;
}

#[durable]
async fn joiner() {
    let _ = start(child()).await;
}

#[durable]
async fn framer() {
    next_frame().await;
    wait_frames(9).await;
}

/// The lines of the waits of a script, with its own file as `_`.
fn lines(runtime: &Runtime, name: &str) -> Vec<String> {
    let snapshot = runtime.executor().snapshot();
    let script = snapshot.iter().find(|it| it.name() == name);
    let waits = script.expect("it is alive").waits_at();
    waits
        .map(|(wait, at)| {
            let at = at.expect("an observed wait has a line");
            let file = at.file().replace(file!(), "_");
            let mut lines = include_str!("shown.rs").lines();
            let line = lines.nth(at.line() as usize - 1).unwrap().trim();
            format!("{wait}: {file} {line}")
        })
        .collect()
}

#[test]
fn a_snapshot_has_the_line_of_each_await_even_while_the_frames_are_observed() {
    let registry = Registry::new().script(child).script(joiner).script(framer);
    let executor = framestep::Executor::builder().inspect(true);
    let mut runtime = Runtime::builder(registry).executor(executor).build();
    runtime.start(joiner()).detach();
    runtime.start(framer()).detach();
    let join = ["the end of 1v1: _ let _ = start(child()).await;"];
    for awaited in [
        "the next frame: _ next_frame().await;",
        "9 frames: _ wait_frames(9).await;",
    ] {
        assert_eq!(lines(&runtime, "framer"), [awaited]);
        assert_eq!(lines(&runtime, "joiner"), join);
        let child = &lines(&runtime, "child")[0];
        assert!(child.ends_with(": _ wait_seconds(9).await;"), "{child}");
        runtime.run_frame(0.25);
    }
}
