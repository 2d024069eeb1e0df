//! Hashes of the lent state around effects: the first effect that two peers do differently is named, also
//! if it returns nothing.

use framestep_durable::prelude::*;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct World {
    random: u64,
    damage: u64,
    speed: f32,
    moved: f32,
    names: Vec<String>,
}

/// What goes wrong on the second peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Fault {
    None,
    /// The host has initialised it differently.
    World,
    /// The host changes it between two frames.
    Host,
    Effect,
    WithOnce,
    Animation,
    Condition,
    /// A chapter that is over.
    EarlierChapter,
    Child,
    MoreEffects,
}

thread_local! {
    static FAULT: std::cell::Cell<Fault> = const { std::cell::Cell::new(Fault::None) };
}

fn has(fault: Fault) -> u64 {
    u64::from(FAULT.get() == fault)
}

const HITS: u32 = line!() + 6;

#[durable]
async fn hits() {
    loop {
        wait_frames(2).await;
        with(|world: &mut World| {
            world.random = world
                .random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            world.damage += (world.random >> 33) % 6 + has(Fault::Effect);
        });
    }
}

#[durable]
async fn lord() {
    wait_frames(3).await;
    with_once("reward", |world: &mut World| {
        world.damage += has(Fault::WithOnce);
    });
    animate(0.3, |share| {
        with(|world: &mut World| world.moved = share + has(Fault::Animation) as f32);
    })
    .await;
    wait_until(|| {
        with(|world: &mut World| world.damage += has(Fault::Condition));
        true
    })
    .await;
    start(child()).await.unwrap();
    if has(Fault::MoreEffects) == 1 {
        with(|_: &mut World| ());
    }
    with(|_: &mut World| ());
    wait_seconds(9).await;
}

#[durable]
async fn child() {
    with(|world: &mut World| world.names.push(format!("child {}", has(Fault::Child))));
}

#[durable]
async fn rounds(round: u32) -> Chapter {
    with(move |world: &mut World| {
        let more = u64::from(round == 2) * has(Fault::EarlierChapter);
        world.damage += more;
    });
    wait_frames(1).await;
    Chapter::Next(rounds(round + 1))
}

fn play(fault: Fault, hashes: bool) -> SaveState {
    FAULT.set(fault);
    let registry = Registry::new().script(hits).script(lord);
    let registry = registry.script(child).script(rounds);
    let mut builder = Runtime::builder(registry);
    if hashes {
        builder = builder.hash_effects::<World>();
    }
    let mut runtime = builder.build();
    let mut world = World {
        random: 1 + has(Fault::World),
        ..World::default()
    };
    runtime.spawn(hits()).detach();
    runtime.spawn(lord()).detach();
    runtime.spawn(rounds(0)).detach();
    for frame in 0..20 {
        world.speed += has(Fault::Host) as f32 * f32::from(u8::from(frame == 9));
        runtime.run_frame_with(&mut world, 0.1);
    }
    runtime.save_state().unwrap()
}

fn first(fault: Fault) -> String {
    let (here, there) = (play(Fault::None, true), play(fault, true));
    let found = here.diff(&there);
    found
        .first()
        .unwrap_or_else(|| panic!("{fault:?}"))
        .to_string()
}

#[test]
fn without_hashes_effects_that_return_nothing_hide_each_difference() {
    for fault in [Fault::World, Fault::Host, Fault::Effect, Fault::Child] {
        assert_eq!(play(Fault::None, false).diff(&play(fault, false)), []);
    }
}

#[test]
fn equal_games_have_no_difference() {
    assert_eq!(play(Fault::None, true).diff(&play(Fault::None, true)), []);
    // One of them hashes nothing: there is nothing to compare.
    assert_eq!(
        play(Fault::None, true).diff(&play(Fault::Effect, false)),
        []
    );
}

#[test]
fn the_first_effect_that_is_done_differently_is_named_with_its_line() {
    assert_eq!(
        first(Fault::Effect),
        format!(
            "script `hits` (#1), entry 2: a `with` at {}:{HITS} leaves what the host lends in one state; \
             there in another, and it was the same state before",
            file!()
        )
    );
    for (fault, script, entry) in [
        (Fault::WithOnce, "`lord` (#2)", 2),
        (Fault::Child, "`child` (#4)", 1),
        (Fault::EarlierChapter, "`rounds` (#3)", 1),
    ] {
        let said = first(fault);
        assert!(
            said.starts_with(&format!("script {script}, entry {entry}: a `with")),
            "{said}"
        );
        assert!(
            said.ends_with("in another, and it was the same state before"),
            "{said}"
        );
    }
}

#[test]
fn a_difference_that_no_effect_has_made_is_said_to_be_before_one() {
    for fault in [
        Fault::World,
        Fault::Host,
        Fault::Animation,
        Fault::Condition,
    ] {
        let said = first(fault);
        assert!(said.contains(": before a `"), "{fault:?}: {said}");
        assert!(
            said.contains("the host changes it, or a closure of `animate`"),
            "{said}"
        );
    }
}

#[test]
fn an_effect_that_only_one_peer_does_is_named() {
    let said = first(Fault::MoreEffects);
    assert!(
        said.starts_with("the next effect is a `with` at "),
        "{said}"
    );
    assert!(
        said.contains(" of script `rounds` (#3); there a `with` at "),
        "{said}"
    );
    assert!(said.ends_with(" of script `lord` (#2)"), "{said}");
}

#[test]
fn hashes_are_in_files_and_go_back_in_a_rollback_but_are_in_no_checksum() {
    let (hashed, plain) = (play(Fault::None, true), play(Fault::None, false));
    assert_eq!(hashed.checksum(), plain.checksum());
    let file = SaveState::from_bytes(&hashed.to_bytes()).unwrap();
    assert_eq!(file.diff(&hashed), []);
    let other = play(Fault::Effect, true);
    assert_eq!(file.diff(&other), hashed.diff(&other));
    let sent = hashed.clone().into_send().into_save_state();
    assert_eq!(sent.diff(&other), hashed.diff(&other));

    FAULT.set(Fault::None);
    let registry = Registry::new().script(hits);
    let mut runtime = Runtime::builder(registry).hash_effects::<World>().build();
    runtime.spawn(hits()).detach();
    let mut world = World::default();
    let mut saves = Vec::new();
    for _ in 0..9 {
        runtime.run_frame_with(&mut world, 0.1);
        saves.push((runtime.save_state().unwrap(), world.clone()));
    }
    runtime.rollback(&saves[4].0).unwrap();
    world = saves[4].1.clone();
    for (save, _) in &saves[5..] {
        runtime.run_frame_with(&mut world, 0.1);
        assert_eq!(runtime.save_state().unwrap().diff(save), []);
    }
}
