//! Save states on other threads.

use std::thread;

use framestep_durable::SendSave;
use framestep_durable::prelude::*;

const BELL: Signal<String> = signal("bell");
const LEVEL: Watch<f64> = watch("level", Default::default);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct World {
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Question {
    text: String,
}

impl Request for Question {
    const NAME: &'static str = "question";
    type Answer = Option<f32>;
}

#[durable]
async fn ringer(round: u32) -> Chapter {
    let length = with(move |world: &mut World| {
        world.log.push(format!("round {round}"));
        world.log.len()
    });
    select! {
        rung = BELL.wait() => with(move |world: &mut World| world.log.push(rung)),
        _ = wait_frames(7) => LEVEL.set(length as f64),
    }
    let answer = timeout(0.4, ask(|| Question { text: "?".into() })).await;
    with(move |world: &mut World| world.log.push(format!("{answer:?}")));
    animate(0.3, |share| {
        with(|world: &mut World| {
            if share > 0.5 {
                world.log.clear();
            }
        });
    })
    .await;
    Chapter::Next(ringer(round + 1))
}

#[durable]
async fn joiner() -> u32 {
    let owner = BELL.wait().await.len() as u32;
    let mut ticks = interval(0.2);
    ticks.tick().await;
    ticks.tick().await;
    owner
}

fn registry() -> Registry {
    Registry::new().script(ringer).script(joiner)
}

/// A game, and a save state of it in each frame.
fn play(mut each_frame: impl FnMut(&mut Runtime, &mut World)) {
    let (mut runtime, mut world) = (Runtime::new(registry()), World::default());
    let owner = runtime.owner();
    runtime.spawn(ringer(0)).detach();
    runtime.enter(|| owner.start(joiner())).detach();
    let _held = runtime.start(joiner());
    for frame in 0..60 {
        if frame % 11 == 5 {
            runtime.named(&BELL).emit(format!("bell {frame}"));
        }
        each_frame(&mut runtime, &mut world);
        runtime.run_frame_with(&mut world, 0.06);
    }
}

#[test]
fn a_save_state_that_another_thread_writes_has_the_same_bytes() {
    const fn is_send<T: Send + Sync + 'static>() {}
    is_send::<SendSave>();
    let mut written = 0;
    play(|runtime, world| {
        let save = runtime.save_state().unwrap();
        let bytes = (save.to_bytes(), save.to_bytes_with(world));
        let (checksum, text) = (save.checksum_with(world), save.to_string());
        let json = serde_json::to_string(&save).unwrap();
        let (sent, world) = (save.into_send(), world.clone());
        let writer = thread::spawn(move || {
            let save = sent.into_save_state();
            assert_eq!(save.checksum_with(&world), checksum);
            assert_eq!(save.to_string(), text);
            assert_eq!(serde_json::to_string(&save).unwrap(), json);
            (save.to_bytes(), save.to_bytes_with(&world))
        });
        assert_eq!(writer.join().unwrap(), bytes);
        written += bytes.1.len();
    });
    assert!(written > 60 * 100);
}

#[test]
fn a_file_can_be_read_on_another_thread() {
    play(|runtime, world| {
        let save = runtime.save_state().unwrap();
        let file = save.to_bytes_with(world);
        let reader = thread::spawn(move || {
            let (save, world) = SaveState::from_bytes_with::<World>(&file).unwrap();
            (save.into_send(), world)
        });
        let (sent, loaded) = reader.join().unwrap();
        assert_eq!(loaded, *world);
        let mut other = Runtime::new(registry());
        let restored = other
            .restore(&sent.into_save_state(), Policy::Fail)
            .unwrap();
        assert_eq!(restored, framestep_durable::Restored::default());
        assert_eq!(other.save_state().unwrap().diff(&save), []);
    });
}

#[test]
fn a_runtime_goes_back_to_a_save_state_that_was_sent_away_and_back() {
    let mut earlier = None;
    play(|runtime, world| {
        let Some((save, sent, before)) = earlier.take() else {
            let save = runtime.save_state().unwrap();
            earlier = Some((save.clone(), save.into_send(), world.clone()));
            return;
        };
        let sent: SendSave = sent;
        let back = thread::spawn(move || sent)
            .join()
            .unwrap()
            .into_save_state();
        let now = runtime.save_state().unwrap();
        runtime.rollback(&back).unwrap();
        assert_eq!(runtime.save_state().unwrap().diff(&save), []);
        let after = std::mem::replace(world, before);
        // From there, the game goes on the same way: one frame later, it is as it was.
        runtime.run_frame_with(world, 0.06);
        assert_eq!(*world, after);
        runtime.rollback(&now).unwrap();
    });
}

#[test]
fn a_damaged_save_state_stays_damaged_on_its_way() {
    let mut runtime = Runtime::new(registry());
    runtime.spawn(joiner()).detach();
    runtime.run_frame_with(&mut World::default(), 0.1);
    let save = runtime.save_state().unwrap();
    let mut json = serde_json::to_value(&save).unwrap();
    json["lists"] = serde_json::json!([1, 2, 3]);
    let damaged: SaveState = serde_json::from_value(json).unwrap();
    let sent = damaged.into_send().into_save_state();
    assert_eq!(
        runtime.restore(&sent, Policy::Fail),
        Err(RestoreError::Damaged)
    );
    assert_eq!(runtime.save_state().unwrap().diff(&save), []);
}
