//! What the executor's snapshots say about durable scripts, before a save and after it.

use framestep_durable::prelude::*;

#[derive(Serialize, Deserialize)]
struct Choice;

impl Request for Choice {
    const NAME: &'static str = "choice";
    type Answer = u32;
}

const KNOCK: Signal<u32> = Signal::new("knock");
const GOLD: Value<u32> = Value::new("gold");

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

    other.set(&GOLD, 1);
    other.run_frame(0.25);
    assert_eq!(waits(&other), ["signal knock"]);
}
