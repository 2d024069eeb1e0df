//! The sync test of a runtime: each run is done twice, and a difference is named.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep_durable::prelude::*;

const KNOCK: Signal<u32> = signal("knock");
const STAGE: Watch<u32> = watch("stage", Default::default);

thread_local! {
    /// What no rollback takes back.
    static OUTSIDE: Cell<u32> = const { Cell::new(0) };
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

fn count_outside() -> u32 {
    OUTSIDE.replace(OUTSIDE.get() + 1)
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct World {
    gold: u32,
    log: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Score(u32);

#[derive(Serialize, Deserialize)]
struct Question;

impl Request for Question {
    const NAME: &'static str = "question";
    type Answer = u32;
}

/// Uses most of what there is, and depends only on what is recorded.
#[durable]
async fn fair(round: u32) -> Chapter<u32> {
    let before = with(move |world: &mut World| {
        CALLS.set(CALLS.get() + 1);
        world.log.push(format!("round {round}"));
        world.gold
    });
    select! {
        by = KNOCK.wait() => with(move |world: &mut World| world.gold += by),
        _ = wait_frames(3) => STAGE.set(round),
    }
    let child = start(helper(before));
    fixed_update().await;
    let answer = timeout(0.5, ask(|| Question)).await.unwrap_or(1);
    let helped = child.await.unwrap_or(0);
    with(move |world: &mut World| world.gold += answer + helped);
    if round == 9 {
        return Chapter::Done(before);
    }
    Chapter::Next(fair(round + 1))
}

#[durable]
async fn helper(number: u32) -> u32 {
    let _left = defer(|world: &mut World| world.log.push("helped".into()));
    animate(0.2, |share| {
        with(|world: &mut World| {
            world.gold += u32::from(share > 0.5);
        });
    })
    .await;
    end_of_frame().await;
    number % 3
}

const UNFAIR: u32 = line!() + 4;

/// Goes wrong in the ways that the number says.
#[durable]
async fn unfair(how: u32) {
    wait_frames(2).await;
    match how {
        0 => drop(with(|_: &mut World| count_outside())),
        1 => with(|world: &mut World| world.gold += count_outside()),
        2 => {
            if count_outside() % 2 == 0 {
                with(|world: &mut World| world.gold += 1);
            }
        }
        3 => {
            wait_until(|| with_ref(|_: &World| count_outside() % 4 == 1)).await;
        }
        4 => {
            animate(0.1, |_| {
                with(|world: &mut World| world.gold += count_outside());
            })
            .await;
            with(|world: &mut World| world.gold += 1);
        }
        5 => {
            let _last = defer(|world: &mut World| world.gold += count_outside());
        }
        6 => wait_seconds(f64::from(count_outside())).await,
        7 => {
            // The order differs from set to set.
            let numbers: HashSet<u32> = (0..99).collect();
            for number in numbers {
                with(move |world: &mut World| world.log.push(number.to_string()));
            }
        }
        _ => {
            // The same in both runs, but not later.
            if OUTSIDE.get() < 9 {
                with(|world: &mut World| world.gold += 1);
            }
            wait_frames(5).await;
        }
    }
    with(|world: &mut World| world.log.push("after".into()));
    wait_seconds(9).await;
}

/// Awaits what is not recorded.
#[durable]
async fn asleep() {
    wait_frames(2).await;
    let (_sender, receiver) = futures::channel::oneshot::channel::<()>();
    let _ = receiver.await;
}

fn registry() -> Registry {
    Registry::new()
        .script(fair)
        .script(helper)
        .script(unfair)
        .script(asleep)
}

fn tested() -> Runtime {
    Runtime::builder(registry()).sync_test::<World>().build()
}

/// Plays a game that does most of what a host may do.
fn play(mut runtime: Runtime, by_phase: bool) -> (Vec<u64>, World) {
    let (mut world, mut checksums) = (World::default(), Vec::new());
    let owner = runtime.owner();
    let held = runtime.lend(&mut world, |runtime| {
        runtime.enter(|| owner.start(helper(2)))
    });
    runtime.lend(&mut world, |runtime| runtime.start(fair(0)).detach());
    let fair = runtime.spawn(fair(5));
    for frame in 0..150 {
        for (id, Question) in runtime.requests() {
            if frame % 3 == 0 {
                runtime.answer(id, &frame);
            }
        }
        if frame % 7 == 3 {
            runtime.named(&KNOCK).emit(frame);
        }
        if by_phase {
            runtime.begin_frame(0.03);
            runtime.lend(&mut world, |runtime| {
                runtime.run_phase(framestep::Phase::EarlyUpdate);
                while runtime.begin_fixed_step() {
                    runtime.run_phase(framestep::Phase::FixedUpdate);
                }
            });
            world.gold += 1;
            runtime.lend(&mut world, |runtime| {
                use framestep::Phase::{EndOfFrame, LateUpdate, Update};
                for phase in [Update, LateUpdate, EndOfFrame] {
                    runtime.run_phase(phase);
                }
            });
        } else {
            runtime.run_frame_with(&mut world, 0.03);
        }
        checksums.push(runtime.save_state().unwrap().checksum_with(&world));
    }
    assert_eq!(runtime.take(held), Some(Ok(2)));
    assert!(matches!(runtime.take(fair), Some(Ok(_))));
    (checksums, world)
}

#[test]
fn a_runtime_under_test_does_what_one_without_a_test_does() {
    for by_phase in [false, true] {
        CALLS.set(0);
        let plain = play(Runtime::new(registry()), by_phase);
        let calls = CALLS.take();
        assert_eq!(play(tested(), by_phase), plain);
        // Except for what starts in `lend`, each effect is done twice.
        assert!(CALLS.get() > 2 * (calls - 2) && calls > 9, "{calls}");
        assert!(plain.1.log.len() > 20);
    }
}

/// The message of the test that `how` fails, and the frame.
fn failure(how: u32) -> String {
    OUTSIDE.set(0);
    let mut runtime = tested();
    runtime.spawn(fair(0)).detach();
    runtime.spawn(unfair(how)).detach();
    failure_of(&mut runtime)
}

fn failure_of(runtime: &mut Runtime) -> String {
    let mut world = World::default();
    let played = catch_unwind(AssertUnwindSafe(|| {
        for frame in 0..20 {
            OUTSIDE.set(OUTSIDE.get() + frame);
            runtime.run_frame_with(&mut world, 0.05);
        }
    }));
    let payload = played.expect_err("the test fails");
    payload.downcast_ref::<String>().unwrap().clone()
}

#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

fn line(after: u32) -> String {
    format!("{}:{}", file!(), UNFAIR + after)
}

#[test]
fn an_effect_that_returns_something_else_the_second_time_is_named() {
    let text = failure(0);
    assert_says(
        &text,
        &[
            "the sync test of `run_frame_with` failed in frame 3: done again",
            "script `unfair` (#2), entry 2: a `with` at ",
            &line(3),
            " returned 5, and 6 the second time. It depends on what is in neither",
        ],
    );
}

#[test]
fn an_effect_that_changes_the_world_differently_is_named_although_it_returns_nothing() {
    let text = failure(1);
    assert_says(
        &text,
        &[
            "entry 2: a `with` at ",
            &line(4),
            " changed what the host lends in two",
        ],
    );
}

#[test]
fn a_script_that_goes_another_way_is_named_when_its_chapter_is_replayed() {
    let text = failure(2);
    assert_says(&text, &["script `unfair` (#2)", "entry 2", &line(7)]);
}

#[test]
fn a_condition_that_reads_something_else_is_named_by_what_follows() {
    let text = failure(3);
    assert_says(&text, &[&line(11)]);
    assert_says(
        &text,
        &[
            "script `unfair` (#2)",
            "entry 2: ",
            "the end of `wait_until()` at ",
        ],
    );
}

#[test]
fn a_closure_that_is_no_effect_is_named_by_the_effect_that_comes_next() {
    let text = failure(4);
    assert_says(
        &text,
        &["what the host lends differs", "the closures of `animate`"],
    );
    let text = failure(5);
    assert_says(
        &text,
        &[
            "what the host lends differs before this: script `unfair` (#2)",
            "`defer`",
        ],
    );
}

#[test]
fn the_order_of_a_set_is_found() {
    let text = failure(7);
    assert_says(
        &text,
        &["script `unfair` (#2), entry ", ": a `with` at ", &line(28)],
    );
}

#[test]
fn what_is_the_same_twice_but_not_later_is_found_by_a_replay() {
    let text = failure(8);
    assert_says(
        &text,
        &[
            "failed in frame ",
            "the script `unfair` (#2) does not fit its save, at entry 2",
            &line(34),
        ],
    );
}

#[test]
fn what_only_a_replay_does_is_found_in_the_same_frame() {
    #[durable]
    async fn third() {
        if count_outside() == 2 {
            with(|world: &mut World| world.gold += 1);
        }
        wait_frames(9).await;
    }
    let registry = Registry::new().script(third);
    let mut runtime = Runtime::builder(registry).sync_test::<World>().build();
    runtime.spawn(third()).detach();
    let text = failure_of(&mut runtime);
    assert_says(
        &text,
        &[
            "failed in frame 1: ",
            "the script `third` (#1) does not fit its save",
        ],
    );
}

#[test]
fn a_result_of_which_serde_skips_a_part_is_found_and_the_message_says_that() {
    #[derive(Serialize, Deserialize)]
    struct Chest {
        gold: u32,
        #[serde(skip)]
        keys: u32,
    }

    #[durable]
    async fn opens() {
        let chest = with(|_: &mut World| Chest { gold: 1, keys: 7 });
        wait_frames(3).await;
        with(move |world: &mut World| world.gold += chest.gold + chest.keys);
        wait_frames(9).await;
    }
    let registry = Registry::new().script(opens);
    let mut runtime = Runtime::builder(registry).sync_test::<World>().build();
    runtime.spawn(opens()).detach();
    let text = failure_of(&mut runtime);
    assert_says(
        &text,
        &[
            "failed in frame 4: ",
            "a field of a result of `with` that serde skips",
        ],
    );
}

#[test]
fn a_deadline_that_depends_on_the_outside_is_named() {
    let text = failure(6);
    assert_says(&text, &["failed in frame 3"]);
}

#[test]
fn a_script_that_cannot_be_saved_is_named_at_once() {
    let mut runtime = tested();
    runtime.spawn(asleep()).detach();
    let text = failure_of(&mut runtime);
    assert_says(
        &text,
        &["failed in frame 3: ", "the script `asleep` (#1)", file!()],
    );
}

#[test]
fn all_states_that_are_lent_must_be_known() {
    let builder = || Runtime::builder(registry()).sync_test::<World>();
    let (mut score, mut world) = (Score(0), World::default());
    let mut play = |mut runtime: Runtime| {
        runtime.spawn(fair(0)).detach();
        runtime.lend(&mut score, |runtime| {
            for _ in 0..9 {
                runtime.run_frame_with(&mut world, 0.1);
            }
        });
    };
    play(builder().sync_test::<Score>().build());
    let failed = catch_unwind(AssertUnwindSafe(|| play(builder().build())));
    let text = failed.unwrap_err().downcast::<String>().unwrap();
    assert_says(
        &text,
        &[
            "the host lends a `",
            "Score`, which the test does not know",
            "::Score>()`",
        ],
    );
}

#[test]
fn scripts_without_a_world_can_be_tested() {
    #[durable]
    async fn ticks() {
        for number in 0.. {
            next_frame().await;
            STAGE.set(number);
        }
    }
    let registry = Registry::new().script(ticks);
    let mut runtime = Runtime::builder(registry).sync_test::<()>().build();
    runtime.spawn(ticks()).detach();
    for _ in 0..9 {
        runtime.run_frame(0.1);
    }
    assert_eq!(runtime.named(&STAGE).get(), 7);
}

#[test]
fn questions_that_the_host_has_taken_are_not_asked_again() {
    let mut runtime = tested();
    let mut world = World::default();
    runtime.spawn(fair(0)).detach();
    let mut asked = 0;
    for _ in 0..25 {
        runtime.run_frame_with(&mut world, 0.05);
        asked += runtime.requests::<Question>().len();
    }
    assert!((1..4).contains(&asked), "{asked}");
}

/// A world that a clone hides something of.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Hidden {
    gold: u32,
    by_name: Named,
    #[serde(skip)]
    luck: u32,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Named {
    enemies: HashMap<u32, u32>,
}

const LUCKY: u32 = line!() + 7;

#[durable]
async fn lucky() {
    wait_frames(2).await;
    with(|world: &mut Hidden| world.luck = 3);
    wait_frames(2).await;
    with(|world: &mut Hidden| world.gold += world.luck);
}

fn found_through_bytes(mut world: Hidden, through_bytes: bool) -> Option<String> {
    let builder = Runtime::builder(Registry::new().script(lucky));
    let mut runtime = if through_bytes {
        builder.sync_test_through_bytes::<Hidden>().build()
    } else {
        builder.sync_test::<Hidden>().build()
    };
    runtime.spawn(lucky()).detach();
    let play = || (0..9).for_each(|_| runtime.run_frame_with(&mut world, 0.1));
    let payload = catch_unwind(AssertUnwindSafe(play)).err()?;
    Some(payload.downcast_ref::<String>().unwrap().clone())
}

#[test]
fn a_field_that_serde_skips_is_found_through_bytes_at_the_effect_that_reads_it() {
    assert_eq!(found_through_bytes(Hidden::default(), false), None);
    let said = found_through_bytes(Hidden::default(), true).unwrap();
    let named = format!(
        "script `lucky` (#1), entry 4: a `with` at {}:{LUCKY} changed what",
        file!()
    );
    assert!(said.contains(&named), "{said}");
    assert!(said.contains("a field that serde skips"), "{said}");
}

#[test]
fn the_order_of_a_map_in_the_world_is_found_through_bytes_with_its_field() {
    let world = || Hidden {
        by_name: Named {
            enemies: (0..50).map(|number| (number, number)).collect(),
        },
        ..Hidden::default()
    };
    assert_eq!(found_through_bytes(world(), false), None);
    let said = found_through_bytes(world(), true).unwrap();
    let named = "is another one after it was written and read back: `by_name.enemies` has its items in \
                 another order";
    assert!(said.contains(named), "{said}");
    assert!(said.contains("use a `BTreeMap`"), "{said}");
}

#[test]
fn a_game_whose_state_is_all_in_its_bytes_passes_through_bytes() {
    let registry = Registry::new().script(fair).script(helper);
    let builder = Runtime::builder(registry);
    let mut runtime = builder.sync_test_through_bytes::<World>().build();
    let mut world = World::default();
    runtime.spawn(fair(1)).detach();
    for _ in 0..40 {
        runtime.run_frame_with(&mut world, 0.1);
        for (id, _) in runtime.requests::<Question>() {
            runtime.answer(id, &2);
        }
    }
    assert!(world.gold > 0);
}
