//! Generic scripts, each type with a name of its own; and aliases of `Result`.

use framestep_durable::prelude::*;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet};

/// A kind of enemies, which knows the name of its patrol in files.
trait Kind: Serialize + DeserializeOwned + 'static {
    const PATROL: &'static str;
    const PACE: f64;

    fn noise(&self) -> String;
}

#[derive(Serialize, Deserialize)]
struct Goblin {
    name: String,
}

#[derive(Serialize, Deserialize)]
struct Troll(u32);

impl Kind for Goblin {
    const PATROL: &'static str = "patrol of a goblin";
    const PACE: f64 = 0.1;

    fn noise(&self) -> String {
        format!("{} giggles", self.name)
    }
}

impl Kind for Troll {
    const PATROL: &'static str = "patrol of a troll";
    const PACE: f64 = 0.25;

    fn noise(&self) -> String {
        "grunt ".repeat(self.0 as usize)
    }
}

/// Makes noise at each of its posts.
#[durable(name = K::PATROL)]
async fn patrol<K: Kind>(kind: K, post: u32) -> Chapter<u32> {
    log(format!("{} at {post}", kind.noise()));
    wait_seconds(K::PACE).await;
    if post == 0 {
        return Chapter::Done(7);
    }
    Chapter::Next(patrol(kind, post - 1))
}

/// The type and the length are in its name alone, not in its state.
#[durable(name = K::BEACON)]
async fn beacon<K, const N: usize>() -> [u8; 2]
where
    K: Lamp<N>,
{
    wait_frames(N as u64).await;
    [N as u8, K::COLOUR]
}

trait Lamp<const N: usize>: 'static {
    const BEACON: &'static str;
    const COLOUR: u8;
}

/// No state, and no serde.
struct Red;

impl Lamp<2> for Red {
    const BEACON: &'static str = "red beacon, 2";
    const COLOUR: u8 = 3;
}

impl Lamp<5> for Red {
    const BEACON: &'static str = "red beacon, 5";
    const COLOUR: u8 = 4;
}

const NAME: &str = "a name from a constant";

#[durable(name = NAME)]
async fn waits_for_all() -> u32 {
    let (goblin, troll) = join!(
        patrol(
            Goblin {
                name: "Grix".into()
            },
            1
        )
        .into_future(),
        start(patrol(Troll(2), 2)),
    );
    let beacons = (beacon::<Red, 2>().await, beacon::<Red, 5>().await);
    log(format!("{beacons:?}"));
    goblin.unwrap() + troll.unwrap()
}

fn registry() -> Registry {
    Registry::new()
        .script(patrol::<Goblin>)
        .script(patrol::<Troll>)
        .script(beacon::<Red, 2>)
        .script(beacon::<Red, 5>)
        .script(waits_for_all)
}

#[test]
fn each_type_of_a_generic_script_is_saved_under_its_name() {
    let game = Game {
        blank: || quiet(registry()),
        begin: |runtime, log: &mut Log| {
            runtime.lend(log, |runtime| runtime.start(waits_for_all()).detach());
        },
        frame: moment,
        frames: 17 * MOMENTS,
    };
    let log = game.assert_like_its_twin();
    let line = |words: &str| log.iter().any(|line| line.starts_with(words));
    for words in [
        "Grix giggles at 0",
        "grunt grunt  at 0",
        "(Ok([2, 3]), Ok([5, 4]))",
    ] {
        assert!(line(words), "{words}: {log:?}");
    }
    let runtime = quiet(registry());
    let script = runtime.spawn(patrol(Troll(1), 0));
    let save = runtime.save().unwrap().to_string();
    assert!(save.contains("script #1 `patrol of a troll`"), "{save}");
    script.stop();
}

#[test]
fn a_file_does_not_show_that_a_script_is_generic() {
    #[derive(Serialize, Deserialize)]
    struct ByHand {
        kind: Troll,
        post: u32,
    }

    impl DurableScript for ByHand {
        const NAME: &'static str = Troll::PATROL;
        type Output = u32;

        async fn run(self) -> Chapter<Self> {
            Chapter::Done(self.post)
        }
    }

    let state = |json: &serde_json::Value| json["scripts"][0]["state"].clone();
    let generic = Runtime::new(registry());
    generic.spawn(patrol(Troll(4), 9)).detach();
    let by_hand = Runtime::new(Registry::new().with::<ByHand>());
    by_hand
        .spawn(ByHand {
            kind: Troll(4),
            post: 9,
        })
        .detach();
    let saves = [generic, by_hand].map(|runtime| {
        let save = runtime.save_state().unwrap();
        state(&serde_json::to_value(save).unwrap())
    });
    assert!(!saves[0].is_null());
    assert_eq!(saves[0], saves[1]);
}

#[test]
#[should_panic(
    expected = "generic::patrol<it::macros::generic::two_types_with_one_name_are_refused_by_the_registry::Ogre>` have the \
                same name in files, `patrol of a troll`: a file could not tell them apart"
)]
fn two_types_with_one_name_are_refused_by_the_registry() {
    #[derive(Serialize, Deserialize)]
    struct Ogre;

    impl Kind for Ogre {
        const PATROL: &'static str = Troll::PATROL;
        const PACE: f64 = 1.0;

        fn noise(&self) -> String {
            String::new()
        }
    }

    drop(registry().script(patrol::<Ogre>));
}

/// An alias with one parameter, as `std::io` has one.
type Attempt<T> = Result<T, String>;
/// An alias of which the chapter is not the only parameter.
type Either<T, E> = Result<T, E>;

fn odd(number: u32) -> Attempt<u32> {
    if number % 2 == 1 {
        Ok(number)
    } else {
        Err(format!("{number} is even"))
    }
}

#[durable]
async fn sums(left: u32, sum: u32) -> Attempt<Chapter<u32>> {
    wait_frames(1).await;
    if left == 0 {
        return Ok(Chapter::Done(sum));
    }
    Ok(Chapter::Next(sums(left - 1, sum + odd(sum + 1)? + 1)))
}

#[durable]
async fn tries(number: u32) -> Attempt<u32> {
    wait_frames(1).await;
    Ok(odd(number)? + 1)
}

#[durable]
async fn one_or_the_other(number: u32) -> Either<Chapter, String> {
    odd(number)?;
    Ok(Chapter::Next(one_or_the_other(number + 1)))
}

mod elsewhere {
    pub(super) type Outcome<T> = std::result::Result<T, u8>;
}

#[durable]
async fn by_a_path(fails: bool) -> elsewhere::Outcome<Chapter<()>> {
    wait_frames(1).await;
    if fails {
        Err(3)?;
    }
    Ok(Chapter::Done(()))
}

fn output<S: DurableScript>(script: S) -> S::Output {
    let mut runtime = Runtime::new(Registry::new().with::<S>());
    let script = runtime.start(script);
    for _ in 0..6 {
        runtime.run_frame(0.1);
        runtime.verify().unwrap();
    }
    runtime.take(script).unwrap().unwrap()
}

#[test]
fn in_an_alias_of_result_a_chapter_may_fail() {
    assert_eq!(output(sums(2, 0)), Ok(6)); // 0 + 1 + 1, then 2 + 3 + 1
    assert_eq!(output(sums(1, 1)), Err("2 is even".to_owned()));
    assert_eq!(output(tries(3)), Ok(4));
    assert_eq!(output(tries(4)), Err("4 is even".to_owned()));
    assert_eq!(output(one_or_the_other(1)), Err("2 is even".to_owned()));
    assert_eq!(output(by_a_path(true)), Err(3));
    assert_eq!(output(by_a_path(false)), Ok(()));
}
