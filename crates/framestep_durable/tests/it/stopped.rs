//! Who has stopped a script, and where: the errors of joins, saved and restored between the stop and
//! the join, replayed after the join, and in another build.

use framestep_durable::{RuntimeHandle, prelude::*};

use crate::sleeps::reread;
use crate::twin::{Game, Log, MOMENTS, log, moment, quiet};

#[derive(Serialize, Deserialize)]
struct Walk;

impl DurableScript for Walk {
    const NAME: &'static str = "walk";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_seconds(60).await;
        Chapter::Done(())
    }
}

/// Every way in which the second script is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Way {
    Handle,
    Number,
    StopAll,
    Within,
    InClosure,
    GroupDropped,
    GroupFails,
    Race,
    Timeout,
    OnDrop,
    /// With the script that has the handle.
    WithHandle,
    HostNumber,
    HostHandle,
    HostStopAll,
    HostWithin,
    HostDropsOwner,
    HostDeactivates,
}

const WAYS: [Way; 17] = [
    Way::Handle,
    Way::Number,
    Way::StopAll,
    Way::Within,
    Way::InClosure,
    Way::GroupDropped,
    Way::GroupFails,
    Way::Race,
    Way::Timeout,
    Way::OnDrop,
    Way::WithHandle,
    Way::HostNumber,
    Way::HostHandle,
    Way::HostStopAll,
    Way::HostWithin,
    Way::HostDropsOwner,
    Way::HostDeactivates,
];

/// What scripts and the host say: the line of the call that stops.
#[derive(Clone, Default)]
struct World {
    line: Option<u32>,
    host: Option<RuntimeHandle>,
}

fn at(line: u32) {
    with(move |world: &mut World| world.line = Some(line));
}

#[derive(Serialize, Deserialize)]
struct Director {
    way: Way,
    owner: OwnerId,
}

impl DurableScript for Director {
    const NAME: &'static str = "director";
    type Output = ();

    #[rustfmt::skip]
    async fn run(self) -> Chapter<Self> {
        let Director { way, owner } = self;
        let walk = owner.start(Walk);
        let id = walk.id();
        wait_frames(2).await;
        match way {
            Way::Handle => { walk.stop(); at(line!()); }
            Way::Number => { stop(id); at(line!()); }
            Way::StopAll => { owner.stop_all(); at(line!()); }
            Way::Within => { at(line!()); owner.stop_within(0.25).await; }
            Way::InClosure => with(move |world: &mut World| {
                let host = world.host.as_ref().unwrap();
                host.executor().enter(|| stop(id)).unwrap(); world.line = Some(line!());
            }),
            Way::GroupDropped => {
                let mut walks = group();
                walks.add(walk);
                drop(walks);
            }
            Way::GroupFails => {
                let mut walks = group();
                walks.add(walk);
                walks.start(Fails);
                assert!(walks.join().await.is_err_and(|error| error.is_panic()));
            }
            Way::Race => select! {
                _ = walk.stop_on_drop() => {}
                () = wait_frames(2) => {}
            },
            Way::Timeout => assert!(timeout(0.25, walk.stop_on_drop()).await.is_err()),
            Way::OnDrop => drop(walk.stop_on_drop()),
            Way::WithHandle => {
                let _walk = walk.stop_on_drop();
                wait_seconds(60).await;
            }
            _ => wait_seconds(60).await,
        }
        wait_frames(60).await;
        Chapter::Done(())
    }
}

#[derive(Serialize, Deserialize)]
struct Fails;

impl DurableScript for Fails {
    const NAME: &'static str = "fails";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        next_frame().await;
        panic!("it snaps")
    }
}

fn registry() -> Registry {
    let registry = Registry::new().with::<Director>().with::<Walk>();
    registry.with::<Fails>().with::<Joins>().with::<Itself>()
}

const WALK: ScriptId = ScriptId::from_raw(2);

/// Runs frames until the second script is stopped, with a handle of the host, which it returns. With
/// `files`, loads a file before each. What the host does, it does in frame 3.
#[rustfmt::skip]
fn until_stopped(
    way: Way, owner: OwnerId, files: bool, runtime: &mut Runtime, world: &mut World,
) -> ScriptHandle<()> {
    let mut handle = runtime.enter(|| WALK.handle()).unwrap();
    while runtime.is_alive(WALK) {
        if files {
            runtime.restore(&reread(runtime), Policy::Fail).unwrap();
            handle = runtime.enter(|| WALK.handle()).unwrap();
        }
        if runtime.time().frame == 3 {
            world.line = match way {
                Way::HostNumber => { runtime.enter(|| stop(WALK)); Some(line!()) }
                Way::HostHandle => { handle.stop(); Some(line!()) }
                Way::HostStopAll => { runtime.enter(|| owner.stop_all()); Some(line!()) }
                Way::HostWithin => { ScriptHandle::from(runtime.enter(|| owner.stop_within(0.25))).detach(); Some(line!()) }
                Way::HostDropsOwner => { runtime.enter(|| owner.remove()); Some(line!()) }
                Way::HostDeactivates => { runtime.enter(|| owner.set_active(false)); Some(line!()) }
                Way::WithHandle => { runtime.enter(|| stop(ScriptId::from_raw(1))); None }
                _ => world.line,
            };
        }
        runtime.run_frame_with(world, 0.125);
        assert!(runtime.time().frame < 20, "{way:?}");
    }
    handle
}

/// The script that the error names.
fn stopped_by(way: Way) -> Option<&'static str> {
    match way {
        Way::Within
        | Way::HostWithin
        | Way::HostNumber
        | Way::HostHandle
        | Way::HostStopAll
        | Way::HostDropsOwner
        | Way::HostDeactivates => None,
        _ => Some("director"),
    }
}

#[test]
fn each_way_of_stopping_is_named_also_after_a_save_and_a_rollback() {
    for way in WAYS {
        let mut runtime = quiet(registry());
        let owner = runtime.owner();
        let mut world = World {
            host: Some(runtime.host().clone()),
            ..World::default()
        };
        runtime.start(Director { way, owner }).detach();
        let _kept = runtime.enter(|| WALK.handle::<()>());
        let before = runtime.save().unwrap();
        let handle = until_stopped(way, owner, false, &mut runtime, &mut world);

        let error = runtime.result(&handle).unwrap().unwrap_err();
        let place = world.line.map(|line| format!("{}:{line}", file!()));
        assert_eq!(error.stopped_by(), stopped_by(way), "{way:?}");
        assert_eq!(error.stopped_at(), place.as_deref(), "{way:?}");
        assert!(error.is_stopped() && !error.is_panic());
        let by = stopped_by(way).map_or_else(String::new, |by| format!(", by `{by}`"));
        let at = place.map_or_else(String::new, |place| format!(", at {place}"));
        let text = format!("the script was stopped{by}{at}");
        assert_eq!(error.to_string(), text);

        // Saved between the stop and the join.
        let file = runtime.save().unwrap().to_bytes();
        let save = SaveState::from_bytes(&file).unwrap();
        assert!(save.to_string().contains(&format!("ended: #2: {text}\n")));
        let mut other = quiet(registry());
        other.restore(&save, Policy::Fail).unwrap();
        let restored = other.enter(|| WALK.handle()).unwrap();
        assert_eq!(other.save_state().unwrap().to_bytes(), file, "{way:?}");
        let error_of = |runtime: &Runtime, handle: ScriptHandle<()>| {
            runtime.take(handle).unwrap().unwrap_err().to_string()
        };
        assert_eq!(error_of(&other, restored), text, "{way:?}");

        // Gone back before the stop, and from file to file.
        for files in [false, true] {
            runtime.rollback(&before).unwrap();
            world.line = None;
            let handle = until_stopped(way, owner, files, &mut runtime, &mut world);
            assert_eq!(error_of(&runtime, handle), text, "{way:?}, {files}");
        }
    }
}

/// Stops itself after some frames.
#[derive(Serialize, Deserialize)]
struct Itself {
    frames: u64,
}

impl DurableScript for Itself {
    const NAME: &'static str = "itself";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        if self.frames > 0 {
            wait_frames(self.frames).await;
        }
        stop(current());
        wait_seconds(60).await;
        Chapter::Done(())
    }
}

#[test]
fn scripts_that_end_in_their_first_poll_or_before_it_are_no_exception() {
    let mut runtime = quiet(registry());
    let at_once = [
        runtime.start(Itself { frames: 0 }),
        runtime.spawn(Itself { frames: 0 }),
    ];
    let never = runtime.spawn(Walk);
    let line = line!() + 1;
    never.stop();
    runtime.run_frame(0.125);
    for handle in at_once {
        let error = runtime.take(handle).unwrap().unwrap_err();
        assert_eq!(error.stopped_by(), Some("itself"));
        assert!(error.stopped_at().is_some_and(|at| at.starts_with(file!())));
    }
    let error = runtime.take(never).unwrap().unwrap_err();
    let place = format!("{}:{line}", file!());
    assert_eq!(error.stopped_at(), Some(&*place));
    // Its owner accepts none: nobody has stopped it.
    let owner = runtime.owner();
    runtime.enter(|| owner.remove());
    let refused = runtime.enter(|| owner.start(Walk));
    let error = runtime.take(refused).unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the script was stopped");
}

/// Joins scripts that others stop, and says much later why there is no result.
#[derive(Clone, Serialize, Deserialize)]
struct Joins {
    owner: OwnerId,
    told: Vec<String>,
}

const BY_HOST: u32 = 5 * MOMENTS;

impl DurableScript for Joins {
    const NAME: &'static str = "joins";
    type Output = ();

    async fn run(mut self) -> Chapter<Self> {
        let owner = self.owner;
        if self.told.is_empty() {
            // The host stops the second script of the runtime.
            let by_host = start(Walk).await.unwrap_err();
            let walk = start(Walk);
            walk.stop();
            wait_frames(2).await;
            let by_handle = walk.await.unwrap_err();
            let itself = start(Itself { frames: 1 }).await.unwrap_err();
            let walks = [owner.start(Walk), owner.start(Walk)];
            let [first, second] = walks;
            let (of_owner, ()) = join!(first, async {
                next_frame().await;
                owner.stop_all();
            });
            let of_owner = of_owner.unwrap_err();
            next_frame().await;
            let later = second.await.unwrap_err();
            let mut walks = group();
            walks.start(Walk);
            let id = walks.start(Walk).id();
            let (of_group, _) = join!(walks.join(), async {
                next_frame().await;
                stop(id)
            });
            let of_group = of_group.unwrap_err();
            let left = owner.start(Walk);
            owner.stop_within(0.15).await;
            let within = left.await.unwrap_err();
            wait_frames(3).await;
            let errors = [
                by_host, by_handle, itself, of_owner, later, of_group, within,
            ];
            for error in &errors {
                log(error.to_string());
                self.told.push(error.to_string());
            }
            return Chapter::Next(self);
        }
        wait_frames(2).await;
        log(self.told.join("; "));
        Chapter::Done(())
    }
}

#[test]
fn a_script_that_has_joined_it_knows_it_in_each_replay() {
    let game = Game {
        blank: || quiet(registry()),
        begin: |runtime, log: &mut Log| {
            let (owner, told) = (runtime.owner(), Vec::new());
            runtime.lend(log, |runtime| runtime.start(Joins { owner, told }).detach());
        },
        frame: |at, runtime, log| {
            if at == BY_HOST {
                runtime.enter(|| stop(WALK));
            }
            moment(at, runtime, log);
        },
        frames: 24 * MOMENTS,
    };
    let log = game.assert_like_its_twin();
    let by: Vec<&str> = log
        .iter()
        .map(|line| line.split(&format!(", at {}:", file!())).next().unwrap())
        .collect();
    assert_eq!(
        by[..7],
        [
            "the script was stopped",
            "the script was stopped, by `joins`",
            "the script was stopped, by `itself`",
            "the script was stopped, by `joins`",
            "the script was stopped, by `joins`",
            "the script was stopped, by `joins`",
            "the script was stopped",
        ]
    );
    assert_eq!(log.len(), 8);
    let joined: Vec<&str> = log[..7]
        .iter()
        .map(|line| line.split(" F").next().unwrap())
        .collect();
    assert!(log[7].starts_with(&joined.join("; ")));
}

/// The same scripts in other lines: each call is in the line in which the macro is.
macro_rules! build {
    ($name:ident) => {
        mod $name {
            use framestep_durable::prelude::*;

            use super::Walk;

            #[derive(Serialize, Deserialize)]
            pub(super) struct Boss;

            impl DurableScript for Boss {
                const NAME: &'static str = "boss";
                type Output = ();

                async fn run(self) -> Chapter<Self> {
                    let walk = start(Walk);
                    next_frame().await;
                    walk.stop();
                    wait_frames(2).await;
                    let error = walk.await.unwrap_err();
                    wait_frames(2).await;
                    with(|texts: &mut Vec<String>| texts.push(error.to_string()));
                    wait_frames(9).await;
                    Chapter::Done(())
                }
            }

            #[derive(Serialize, Deserialize)]
            pub(super) struct Unwraps;

            impl DurableScript for Unwraps {
                const NAME: &'static str = "unwraps";
                type Output = ();

                async fn run(self) -> Chapter<Self> {
                    let walk = start(Walk);
                    walk.stop();
                    walk.await.unwrap();
                    Chapter::Done(())
                }
            }

            pub(super) fn runtime() -> Runtime {
                let registry = Registry::new().with::<Boss>().with::<Walk>();
                crate::twin::quiet(registry.with::<Unwraps>())
            }
        }
    };
}

build!(first_build);
build!(second_build);

#[test]
fn the_line_is_in_no_checksum_and_stays_that_of_the_build_that_made_the_call() {
    let (mut first, mut second) = (first_build::runtime(), second_build::runtime());
    first.start(first_build::Boss).detach();
    second.start(second_build::Boss).detach();
    let mut texts = [Vec::<String>::new(), Vec::new()];
    // Stopped in frame 1, joined in frame 3.
    for frame in 1..=4 {
        first.run_frame_with(&mut texts[0], 0.125);
        second.run_frame_with(&mut texts[1], 0.125);
        let saves = [reread(&first), reread(&second)];
        assert_ne!(saves[0].to_string(), saves[1].to_string());
        assert_eq!(saves[0].checksum(), saves[1].checksum(), "in frame {frame}");
        assert_eq!(first.checksum(), second.checksum());
        assert_eq!(saves[0].diff(&saves[1]), []);
        // The second build continues the game of the first one.
        let mut later = second_build::runtime();
        later.restore(&saves[0], Policy::Fail).unwrap();
        let mut said = Vec::new();
        for _ in frame..5 {
            later.run_frame_with(&mut said, 0.125);
        }
        texts[0] = said;
    }
    second.run_frame_with(&mut texts[1], 0.125);
    let [[of_first], [of_second]] = texts.map(|texts| <[String; 1]>::try_from(texts).unwrap());
    let expected = format!("the script was stopped, by `boss`, at {}:", file!());
    assert!(of_first.starts_with(&expected) && of_second.starts_with(&expected));
    assert_ne!(of_first, of_second);
}

#[test]
fn nor_is_it_in_the_recorded_panic_of_an_unwrap() {
    let (first, second) = (first_build::runtime(), second_build::runtime());
    let handles = (
        first.start(first_build::Unwraps),
        second.start(second_build::Unwraps),
    );
    assert_eq!(first.checksum(), second.checksum());
    let [one, other] = [first.take(handles.0), second.take(handles.1)];
    let Some(Err(JoinError::Panicked(text))) = &one else {
        panic!("{one:?}");
    };
    assert!(
        text.ends_with("Stopped { by: Some(\"unwraps\"), .. }"),
        "{text}"
    );
    assert_eq!(one, other);
}

#[test]
fn a_save_shows_what_a_join_has_returned() {
    let mut runtime = first_build::runtime();
    runtime.start(first_build::Boss).detach();
    for _ in 0..4 {
        runtime.run_frame_with(&mut Vec::<String>::new(), 0.125);
    }
    let text = reread(&runtime).to_string();
    let join = text.lines().find(|line| line.contains("the end of `join`"));
    let said = format!(": the script was stopped, by `boss`, at {}:", file!());
    assert!(join.is_some_and(|line| line.contains(&said)), "{text}");
}

#[test]
fn errors_that_differ_in_the_line_alone_are_equal() {
    let runtime = Runtime::new(Registry::new().with::<Walk>());
    let walks = [runtime.start(Walk), runtime.start(Walk)];
    walks[0].stop();
    runtime.enter(|| stop(walks[1].id()));
    let [one, other] = walks.map(|walk| runtime.take(walk).unwrap().unwrap_err());
    assert_eq!(one, other);
    assert_ne!(one.stopped_at(), other.stopped_at());
}
