//! Files that are truncated, changed, or something else: an error, and the runtime stays as
//! before.

use framestep_durable::prelude::*;

use framestep_testkit::Random;

#[derive(Serialize, Deserialize)]
struct Busy {
    number: u32,
}

impl DurableScript for Busy {
    const NAME: &'static str = "busy";
    type Output = String;

    async fn run(self) -> Chapter<Self> {
        let number = self.number;
        with(move |world: &mut Vec<u32>| world.push(number));
        select! {
            _ = wait_seconds(f64::from(number + 2)) => {}
            _ = async { join!(wait_frames(9), wait_steps(90), next_frame()) } => {}
        }
        if number < 3 {
            let child = start(Busy { number: number + 1 }).await;
            return Chapter::Done(child.unwrap_or_default() + "x");
        }
        let until = wait_until(|| with_ref(|world: &Vec<u32>| world.len() > 40));
        let _ = timeout(2, until).await;
        animate(1, |share| {
            with(|world: &mut Vec<u32>| {
                world.push((share * 10.0).to_bits());
            });
        })
        .await;
        Chapter::Done("done".into())
    }
}

fn registry() -> Registry {
    Registry::new().with::<Busy>()
}

fn busy(frames: u32) -> (Runtime, Vec<u32>) {
    let mut runtime = Runtime::new(registry());
    // A forged file can have scripts that panic.
    runtime.executor().on_report(|_| ());
    let clock = runtime.enter(|| ClockId::GAME.child());
    let owner = runtime.enter(|| owner_on(clock));
    runtime.enter(|| owner.pause());
    let mut world = Vec::new();
    runtime.lend(&mut world, |runtime| {
        for number in 0..4 {
            runtime.start(Busy { number }).detach();
            runtime.enter(|| owner.start(Busy { number })).detach();
        }
    });
    for _ in 0..frames {
        runtime.run_frame_with(&mut world, 0.1);
    }
    (runtime, world)
}

/// Restores a file into a runtime that is busy. If that fails, the runtime must continue like
/// its twin.
fn try_file(bytes: &[u8]) -> Result<(), RestoreError> {
    let (mut runtime, mut world) = busy(3);
    let before = runtime.save_state().unwrap().checksum();
    let restored = SaveState::from_bytes(bytes)
        .and_then(|save| runtime.restore(&save, Policy::Fail).map(drop));
    if restored.is_err() {
        assert_eq!(runtime.save_state().unwrap().checksum(), before);
    }
    for _ in 0..4 {
        runtime.run_frame_with(&mut world, 0.1);
    }
    restored
}

fn file() -> Vec<u8> {
    busy(17).0.save().unwrap().to_bytes()
}

#[test]
fn a_file_that_is_truncated_anywhere_is_an_error() {
    let file = file();
    assert_eq!(try_file(&file), Ok(()));
    for len in 0..file.len() {
        let cut = SaveState::from_bytes(&file[..len]);
        assert!(cut.is_err(), "{len}");
    }
    assert_eq!(
        try_file(&file[..file.len() / 2]),
        Err(RestoreError::Damaged)
    );
}

#[test]
fn a_file_with_one_changed_bit_is_an_error() {
    let file = file();
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(SaveState::from_bytes(&changed).is_err(), "{at}");
    }
}

#[test]
fn something_else_is_not_a_save_and_another_version_is_named() {
    assert_eq!(try_file(b""), Err(RestoreError::NotASave));
    assert_eq!(try_file(&[0; 500]), Err(RestoreError::NotASave));
    assert_eq!(try_file(b"framestp"), Err(RestoreError::Damaged));
    let mut other = file();
    let own = std::mem::replace(&mut other[8], 77);
    let error = try_file(&other).unwrap_err();
    let expected =
        format!("the save has version 77 of the format, and this build reads version {own}");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_save_of_a_runtime_with_other_fixed_steps_is_an_error() {
    let builder = framestep::Executor::builder().fixed_delta(0.5);
    let mut runtime = Runtime::with(builder, registry());
    let save = SaveState::from_bytes(&file()).unwrap();
    let error = runtime.restore(&save, Policy::Fail).unwrap_err();
    let expected = "the save is from a runtime with a `fixed_delta` of 20ms and a `max_delta` of \
                    333.33334ms, and this one has 500ms and 333.33334ms: make the runtime with \
                    those of the save (`Runtime::with`)";
    assert_eq!(error.to_string(), expected);
    assert!(runtime.scripts().is_empty());
    runtime.run_frame(0.1);
}

#[test]
fn a_world_that_is_missing_unexpected_or_of_another_type_is_named() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct World {
        gold: Option<u32>,
    }
    let save = SaveState::from_bytes(&file()).unwrap();
    let with = save.to_bytes_with(&World { gold: Some(7) });
    let (_, world) = SaveState::from_bytes_with::<World>(&with).unwrap();
    assert_eq!(world, World { gold: Some(7) });

    let checksum = |gold| save.checksum_with(&World { gold });
    assert_eq!(checksum(Some(7)), checksum(Some(7)));
    assert_ne!(checksum(Some(7)), checksum(Some(8)));
    assert_eq!(save.checksum_with(&()), save.checksum());

    assert_eq!(try_file(&with), Err(RestoreError::HasWorld));
    let world = |file: &[u8]| SaveState::from_bytes_with::<World>(file).map(drop);
    assert_eq!(world(&file()), Err(RestoreError::NoWorld));
    let other = save.to_bytes_with(&"a text");
    let text = world(&other).unwrap_err().to_string();
    let end = "World`: its fields have changed since, or it is of another type";
    assert!(text.ends_with(end), "{text}");
    assert_eq!(world(&with[..with.len() - 1]), Err(RestoreError::Damaged));
}

/// Changed content with a matching checksum. Such a file can contain anything, but it must not
/// end the program.
#[test]
fn files_with_a_forged_checksum_do_not_end_the_program() {
    let cases = std::env::var("FRAMESTEP_DURABLE_FILES").ok();
    let cases = cases.map_or(400, |cases| cases.parse().expect("a number"));
    let mut random = Random(7);
    let original = file();
    let (mut refused, mut read) = (0_u32, 0_u32);
    std::panic::set_hook(Box::new(|_| ()));
    for case in 0..cases {
        let mut forged = original.clone();
        for _ in 0..=random.below(3) {
            let at = 16 + random.below(forged.len() as u64 - 16) as usize;
            match random.below(4) {
                0 => forged[at] = random.next() as u8,
                1 => forged[at] ^= 1 << random.below(8),
                2 => drop(forged.remove(at)),
                _ => forged.insert(at, random.next() as u8),
            }
        }
        let checksum = crc32fast::hash(&forged[16..]);
        forged[12..16].copy_from_slice(&checksum.to_le_bytes());
        let tried = std::panic::catch_unwind(|| try_file(&forged));
        match tried {
            Ok(Ok(())) => read += 1,
            Ok(Err(_)) => refused += 1,
            Err(payload) => {
                let _ = std::panic::take_hook();
                eprintln!("case {case}");
                std::panic::resume_unwind(payload);
            }
        }
    }
    let _ = std::panic::take_hook();
    assert!(refused > 0 && read + refused == cases);
}

#[test]
fn a_save_state_survives_every_format_of_serde() {
    let (runtime, _) = busy(17);
    let save = runtime.save_state().unwrap();
    let json = serde_json::to_string(&save).unwrap();
    let again: SaveState = serde_json::from_str(&json).unwrap();
    assert_eq!(again.checksum(), save.checksum());
    let mut other = Runtime::new(registry());
    other.restore(&again, Policy::Fail).unwrap();
    assert_eq!(other.save_state().unwrap().checksum(), save.checksum());
}

#[derive(Serialize, Deserialize)]
struct Holds;

impl DurableScript for Holds {
    const NAME: &'static str = "holds";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let _slow = ClockId::GAME.clock().scaled(0.5);
        wait_seconds(9).await;
        Chapter::Done(())
    }
}

#[test]
fn a_checksum_without_a_save_state_is_that_of_one_in_each_frame() {
    let registry = Registry::new().with::<Busy>().with::<Holds>();
    let mut runtime = Runtime::new(registry);
    let mut world: Vec<u32> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for frame in 0..120_u32 {
        match frame {
            0 => runtime.spawn(Busy { number: 0 }).detach(),
            7 => runtime.spawn(Holds).detach(),
            _ => {}
        }
        runtime.run_frame_with(&mut world, 0.1);
        let save = runtime.save_state().unwrap();
        let checksum = runtime.checksum_with(&world).unwrap();
        assert_eq!(checksum, save.checksum_with(&world), "{frame}");
        assert_eq!(runtime.checksum(), Ok(save.checksum()), "{frame}");
        assert_ne!(checksum, runtime.checksum_with(&(&world, 1)).unwrap());
        assert!(seen.insert(checksum), "{frame}: not even the time is in it");
    }
    // What only the host has done counts as well.
    let before = runtime.checksum();
    let script = runtime.scripts()[0].0;
    runtime.enter(|| pause(script));
    assert_ne!(runtime.checksum(), before);
}

#[test]
fn a_runtime_that_cannot_be_saved_has_no_checksum() {
    let mut runtime = Runtime::new(Registry::new().with::<Busy>());
    runtime.run_frame(0.1);
    let before = runtime.checksum().unwrap();
    let other = runtime.executor().spawn(framestep::wait_frames(9));
    let error = runtime.checksum().unwrap_err();
    assert_eq!(error, runtime.save_state().unwrap_err());
    other.stop();
    assert_eq!(runtime.checksum(), Ok(before));
}

#[test]
#[should_panic(expected = "has no checksum: ")]
fn a_world_that_does_not_serialise_is_named() {
    struct World;
    impl Serialize for World {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no"))
        }
    }
    let runtime = Runtime::new(Registry::new());
    let _ = runtime.checksum_with(&World);
}
