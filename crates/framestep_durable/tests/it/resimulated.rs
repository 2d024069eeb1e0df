//! Frames that are run again after a rollback, and what is done once in each of them.

use std::cell::RefCell;

use framestep_durable::prelude::*;

thread_local! {
    /// What the player hears: no rollback takes it back.
    static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn play(sound: String) {
    HEARD.with_borrow_mut(|heard| heard.push(sound));
}

fn heard() -> Vec<String> {
    HEARD.take()
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct World {
    /// The input of this frame.
    input: char,
    blows: String,
    frame: u64,
}

/// Strikes if the input says so: with a sound in each frame in which it does.
#[durable]
async fn hero() {
    loop {
        let blow = with(|world: &mut World| {
            world.blows.push(world.input);
            world.frame = time().frame;
            (world.input, time().frame)
        });
        if blow.0 != '.' {
            effect_once_per_frame(format!("{}", blow.0), move || {
                play(format!("{}{}", blow.0, blow.1));
            });
        }
        next_frame().await;
    }
}

/// Says in each phase whether it is resimulated.
#[durable]
async fn phases() {
    loop {
        for phase in [Phase::Update, Phase::EndOfFrame] {
            in_phase(phase).await;
            effect(move || {
                let again = if is_resimulated() { " again" } else { "" };
                play(format!("{} {phase:?}{again}", time().frame));
            });
        }
    }
}

fn registry() -> Registry {
    Registry::new().script(hero).script(phases)
}

/// A game as netcode runs it: it saves each frame, and goes back when an input was another one.
struct Game {
    runtime: Runtime,
    world: World,
    /// Before each frame, from the first one.
    past: Vec<(SaveState, World)>,
}

impl Game {
    fn new() -> Self {
        let game = Game {
            runtime: Runtime::new(registry()),
            world: World::default(),
            past: Vec::new(),
        };
        game.runtime.spawn(hero()).detach();
        game
    }

    fn frame(&mut self, input: char) {
        let save = self.runtime.save_state().unwrap();
        self.past.push((save, self.world.clone()));
        self.world.input = input;
        self.runtime.run_frame_with(&mut self.world, 0.1);
    }

    /// Goes back before a frame.
    fn rollback(&mut self, to: usize) {
        let (save, world) = self.past[to].clone();
        self.past.truncate(to);
        self.runtime.rollback(&save).unwrap();
        self.world = world;
    }

    fn checksum(&self) -> u64 {
        self.runtime.checksum_with(&self.world).unwrap()
    }
}

#[test]
fn a_sound_is_heard_once_however_often_its_frame_is_run() {
    let mut game = Game::new();
    for _ in 0..4 {
        for input in ".a.b".chars() {
            game.frame(input);
        }
        game.rollback(0);
    }
    assert_eq!(heard(), ["a2", "b4"]);
}

/// ```text
/// frame      1 2 3 4 5
/// predicted  . a . a
/// in truth   . a b .     the sound of frame 4 has been heard, that of frame 3 is new
/// then               c
/// ```
#[test]
fn after_a_misprediction_only_the_sounds_that_were_missing_are_heard() {
    let mut game = Game::new();
    for input in ".a.a".chars() {
        game.frame(input);
    }
    assert_eq!(heard(), ["a2", "a4"]);
    game.rollback(1);
    for input in "ab.c".chars() {
        game.frame(input);
    }
    assert_eq!(heard(), ["b3", "c5"]);
    assert_eq!(game.world.blows, ".ab.c");
}

/// What is recorded is the same on a machine that has never gone back.
#[test]
fn a_game_that_has_gone_back_is_the_same_as_one_that_has_not() {
    let mut back = Game::new();
    for input in "..a.".chars() {
        back.frame(input);
    }
    back.rollback(1);
    let mut straight = Game::new();
    for (at, input) in ".a.bc".chars().enumerate() {
        straight.frame(input);
        if at > 0 {
            back.frame(input);
        }
    }
    assert_eq!(back.world, straight.world);
    assert_eq!(back.checksum(), straight.checksum());
}

/// Two rollbacks, the second one further back than the first.
#[test]
fn a_frame_is_resimulated_until_the_furthest_one_is_reached_again() {
    let mut game = Game::new();
    let mut again = Vec::new();
    let mut frame = |game: &mut Game| {
        again.push(game.runtime.enter(is_resimulated));
        game.frame('.');
    };
    (0..3).for_each(|_| frame(&mut game));
    game.rollback(2);
    (0..2).for_each(|_| frame(&mut game));
    game.rollback(1);
    (0..4).for_each(|_| frame(&mut game));
    let all = "... R. RRR.".replace(' ', "");
    let said: String = again.iter().map(|is| if *is { 'R' } else { '.' }).collect();
    assert_eq!(said, all);
}

#[test]
fn each_way_back_in_a_timeline_resimulates_the_frames_up_to_the_furthest_one() {
    type Back = fn(&mut Runtime, &SaveState);
    let ways: [Back; 3] = [
        |runtime, save| runtime.rollback(save).unwrap(),
        |runtime, save| drop(runtime.rollback_with(save, Policy::Fail).unwrap()),
        |runtime, save| drop(runtime.reload_at(registry(), save, Policy::Fail).unwrap()),
    ];
    for back in ways {
        let mut game = Game::new();
        (0..4).for_each(|_| game.frame('.'));
        back(&mut game.runtime, &game.past[2].0);
        let again = [(); 3].map(|()| {
            let again = game.runtime.enter(is_resimulated);
            game.frame('.');
            again
        });
        assert_eq!(again, [true, true, false]);
    }
}

#[test]
fn a_rollback_into_the_middle_of_a_frame_resimulates_only_the_phases_after_it() {
    let mut runtime = Runtime::new(registry());
    runtime.start(phases()).detach();
    runtime.begin_frame(0.1);
    runtime.run_phase(Phase::Update);
    let save = runtime.save_state().unwrap();
    runtime.run_phase(Phase::EndOfFrame);
    runtime.begin_frame(0.1);
    runtime.run_phase(Phase::Update);
    assert_eq!(heard(), ["1 Update", "1 EndOfFrame", "2 Update"]);
    runtime.rollback(&save).unwrap();
    runtime.run_phase(Phase::EndOfFrame);
    runtime.begin_frame(0.1);
    runtime.run_phase(Phase::Update);
    runtime.run_phase(Phase::EndOfFrame);
    let said = ["1 EndOfFrame again", "2 Update again", "2 EndOfFrame"];
    assert_eq!(heard(), said);
}

#[test]
fn a_loaded_game_resimulates_nothing() {
    let mut game = Game::new();
    for input in ".aa".chars() {
        game.frame(input);
    }
    assert_eq!(heard(), ["a2", "a3"]);
    let file = game.past[1].0.to_bytes();
    game.world = game.past[1].1.clone();
    let save = SaveState::from_bytes(&file).unwrap();
    game.runtime.restore(&save, Policy::Fail).unwrap();
    assert!(!game.runtime.enter(is_resimulated));
    for input in "aa".chars() {
        game.frame(input);
    }
    assert_eq!(heard(), ["a2", "a3"]);
}

/// A game in which the player takes time back, and plays on.
#[test]
fn a_game_that_goes_on_from_the_past_is_heard_again() {
    let mut game = Game::new();
    for input in "aaaa".chars() {
        game.frame(input);
    }
    assert_eq!(heard(), ["a1", "a2", "a3", "a4"]);
    game.rollback(1);
    game.runtime.forget_future();
    game.frame('a');
    game.frame('b');
    assert_eq!(heard(), ["a2", "b3"]);
}

#[test]
fn the_second_run_of_the_sync_test_is_resimulated() {
    let mut runtime = Runtime::builder(registry()).sync_test::<World>().build();
    let mut world = World {
        input: 'a',
        ..World::default()
    };
    runtime.spawn(hero()).detach();
    runtime.spawn(phases()).detach();
    for _ in 0..2 {
        runtime.run_frame_with(&mut world, 0.1);
    }
    let sounds = heard();
    let count = |sound: &str| sounds.iter().filter(|heard| *heard == sound).count();
    assert_eq!((count("a1"), count("a2")), (1, 1));
    assert_eq!((count("2 Update"), count("2 Update again")), (1, 1));
}

#[test]
fn a_deed_that_panics_counts_as_not_done() {
    #[durable]
    async fn clumsy() {
        effect_once_per_frame("fall", || {
            play("fall".into());
            panic!("it falls");
        });
    }
    let mut runtime = Runtime::new(Registry::new().script(clumsy));
    runtime.spawn(clumsy()).detach();
    let save = runtime.save_state().unwrap();
    for _ in 0..2 {
        runtime.rollback(&save).unwrap();
        runtime.run_frame(0.1);
    }
    assert_eq!(heard(), ["fall", "fall"]);
}

#[test]
fn what_a_script_does_must_not_depend_on_it() {
    #[durable]
    async fn careless() {
        let _ = is_resimulated();
    }
    let mut runtime = Runtime::new(Registry::new().script(careless));
    let careless = runtime.start(careless());
    let Err(JoinError::Panicked(text)) = runtime.take(careless).unwrap() else {
        panic!("it has an output");
    };
    assert_eq!(
        text,
        "`is_resimulated` was called in the script `careless`, outside of a closure: its answer is not \
         recorded, so what a script does must not depend on it. Call it in the closure of `effect` or \
         `with`"
    );
    runtime.run_frame(0.1);
}

#[test]
fn outside_of_durable_scripts_nothing_is_resimulated() {
    let mut executor = framestep::Executor::new();
    executor.start(async {
        assert!(!is_resimulated());
        effect_once_per_frame("a", || play("plain".into()));
        effect_once_per_frame("a", || play("plain".into()));
    });
    executor.run_frame(0.1);
    assert_eq!(heard(), ["plain", "plain"]);
}
