//! Waits for assets, in headless apps that load from memory.
//!
//! Nothing here depends on the speed of a thread. The pool that loads assets has no threads:
//! loads continue only in [`load_all`]. A file is read when the test has opened it.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bevy_app::App;
use bevy_asset::io::memory::{Dir, MemoryAssetReader};
use bevy_asset::io::{
    AssetReader, AssetReaderError, AssetSourceBuilder, AssetSourceId, PathStream, Reader,
};
use bevy_asset::{
    Asset, AssetApp, AssetEvent, AssetLoader, AssetPlugin, AssetServer, Assets, Handle, LoadContext,
};
use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;
use bevy_framestep::{AssetFailed, WaitForAsset, next_frame_in};
use bevy_reflect::TypePath;
use bevy_tasks::{IoTaskPool, TaskPoolBuilder, futures_lite::future::yield_now};
use bevy_time::TimePlugin;
use futures::FutureExt;

/// A file that names other files.
#[derive(Asset, TypePath)]
struct Level {
    #[dependency]
    parts: Vec<Handle<Level>>,
}

#[derive(TypePath)]
struct LevelLoader;

impl AssetLoader for LevelLoader {
    type Asset = Level;
    type Settings = ();
    type Error = io::Error;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        (): &(),
        context: &mut LoadContext<'_>,
    ) -> io::Result<Level> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        let text = String::from_utf8_lossy(&bytes);
        if text == "broken" {
            return Err(io::Error::other("there is no level in it"));
        }
        let mut parts = Vec::new();
        for name in text.split_whitespace() {
            match name.strip_prefix("and_read:") {
                Some(file) => drop(context.read_asset_bytes(file.to_string()).await),
                None => parts.push(context.load(name.to_string())),
            }
        }
        Ok(Level { parts })
    }

    fn extensions(&self) -> &[&str] {
        &["level"]
    }
}

/// Reads files from memory that the test has opened.
#[derive(Clone)]
struct Gated {
    reader: MemoryAssetReader,
    open: Open,
}

type Open = Arc<Mutex<HashSet<PathBuf>>>;

impl AssetReader for Gated {
    async fn read<'a>(&'a self, path: &'a Path) -> Result<impl Reader + 'a, AssetReaderError> {
        while !self.open.lock().unwrap().contains(path) {
            yield_now().await;
        }
        self.reader.read(path).await
    }

    async fn read_meta<'a>(&'a self, path: &'a Path) -> Result<impl Reader + 'a, AssetReaderError> {
        self.reader.read_meta(path).await
    }

    async fn read_directory<'a>(
        &'a self,
        path: &'a Path,
    ) -> Result<Box<PathStream>, AssetReaderError> {
        self.reader.read_directory(path).await
    }

    async fn is_directory<'a>(&'a self, path: &'a Path) -> Result<bool, AssetReaderError> {
        self.reader.is_directory(path).await
    }
}

const FILES: [(&str, &str); 5] = [
    ("castle.level", "tower.level yard.level"),
    ("tower.level", "stairs.level"),
    ("yard.level", ""),
    ("stairs.level", ""),
    ("broken.level", "broken"),
];

#[derive(Resource, Default)]
struct Log(Vec<String>);

struct Fixture {
    app: App,
    open: Open,
    /// The process has only one pool.
    _turn: MutexGuard<'static, ()>,
}

impl Fixture {
    fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        IoTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(0).build());
        let root = Dir::default();
        for (name, text) in FILES {
            root.insert_asset_text(Path::new(name), text);
        }
        root.insert_asset_text(Path::new("ruin.level"), "yard.level broken.level");
        root.insert_asset_text(Path::new("maze.level"), "ruin.level");
        root.insert_asset_text(Path::new("island.level"), "bridge.level");
        root.insert_asset_text(Path::new("mine.level"), "broken.level and_read:map.level");
        root.insert_asset_text(Path::new("map.level"), "");
        let open = Open::default();
        let reader = Gated {
            reader: MemoryAssetReader { root },
            open: open.clone(),
        };
        let mut app = App::new();
        app.register_asset_source(
            AssetSourceId::Default,
            AssetSourceBuilder::new(move || Box::new(reader.clone())),
        );
        let assets = AssetPlugin {
            watch_for_changes_override: Some(false),
            use_asset_processor_override: Some(false),
            ..AssetPlugin::default()
        };
        app.add_plugins((TimePlugin, assets, FramestepPlugin::default()));
        app.init_asset::<Level>()
            .register_asset_loader(LevelLoader)
            .init_resource::<Log>();
        Fixture {
            app,
            open,
            _turn: turn,
        }
    }

    /// Opens these files, finishes all loads that can be, and runs a frame.
    fn frame(&mut self, files: &[&str]) {
        self.open
            .lock()
            .unwrap()
            .extend(files.iter().map(PathBuf::from));
        load_all();
        self.app.update();
    }

    fn start<F: Future<Output = ()> + 'static>(&mut self, script: impl FnOnce() -> F + 'static) {
        self.app.world_mut().start_script(script);
    }

    /// What was logged since the last call.
    fn log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.app.world_mut().resource_mut::<Log>().0)
    }
}

/// Does the work of the pool on this thread, until nothing progresses. Each load takes a few
/// polls.
fn load_all() {
    IoTaskPool::get().scope(|scope| {
        scope.spawn(async {
            for _ in 0..1_000 {
                yield_now().await;
            }
        });
    });
}

fn load(name: &'static str) -> Handle<Level> {
    resource(|assets: &AssetServer| assets.load(name))
}

async fn report(name: &'static str, wait: WaitForAsset) {
    let result = match wait.await {
        Ok(()) => "loaded".to_string(),
        Err(failed) => failed.to_string(),
    };
    let frame = time().frame;
    resource_mut(|log: &mut Log| log.0.push(format!("{frame}: {name}: {result}")));
}

async fn load_and_report(name: &'static str) {
    let handle = load(name);
    report(name, wait_for_asset(&handle)).await;
}

/// In the frame in which the last dependency of a dependency is loaded.
#[test]
fn with_all_dependencies() {
    let mut fixture = Fixture::new();
    fixture.start(|| load_and_report("castle.level"));
    fixture.frame(&[]);
    fixture.frame(&["castle.level"]);
    fixture.frame(&["tower.level", "yard.level"]);
    assert_eq!(fixture.log(), [""; 0]);
    fixture.frame(&["stairs.level"]);
    assert_eq!(fixture.log(), ["4: castle.level: loaded"]);
    let levels = fixture.app.world().resource::<Assets<Level>>();
    assert!(levels.iter().any(|(_, level)| level.parts.len() == 2));
}

/// In the phase of the wait, even for a failure. If the asset is loaded, the wait is ready at
/// once.
#[test]
fn in_another_phase() {
    async fn late(name: &'static str) {
        let handle = load(name);
        let result = wait_for_asset(&handle).in_phase(Phase::LateUpdate).await;
        let (phase, frame) = (time().phase, time().frame);
        let line = format!("{phase:?} of {frame}: {name} {}", result.is_ok());
        resource_mut(|log: &mut Log| log.0.push(line));
        let again = wait_for_asset(&handle).in_phase(Phase::EarlyUpdate).await;
        assert_eq!(again.is_ok(), result.is_ok());
        assert_eq!((time().phase, time().frame), (phase, frame));
    }

    let mut fixture = Fixture::new();
    fixture.start(|| late("yard.level"));
    fixture.start(|| late("ruin.level"));
    fixture.frame(&[]);
    assert_eq!(fixture.log(), [""; 0]);
    fixture.frame(&["yard.level", "ruin.level"]);
    assert_eq!(fixture.log(), ["Some(LateUpdate) of 2: yard.level true"]);
    fixture.frame(&["broken.level"]);
    assert_eq!(fixture.log(), ["Some(LateUpdate) of 3: ruin.level false"]);
    fixture.frame(&[]);
    let framestep = fixture.app.world().non_send::<Framestep>();
    assert!(framestep.with_executor(framestep::Executor::is_empty));
}

/// A phase is chosen before the wait begins.
#[test]
fn in_a_phase_too_late() {
    let mut fixture = Fixture::new();
    let begun = fixture.app.world_mut().start_script(|| async {
        let mut wait = wait_for_asset(&load("yard.level"));
        assert!((&mut wait).now_or_never().is_none());
        drop(wait.in_phase(Phase::LateUpdate));
    });
    assert!(
        begun
            .take_output()
            .unwrap()
            .is_err_and(|ended| ended.is_panic())
    );
}

/// If the asset is loaded, the wait is ready at once, here before the first frame of the
/// script.
#[test]
fn at_once() {
    let mut fixture = Fixture::new();
    let yard = fixture.app.world().resource::<AssetServer>();
    let yard: Handle<Level> = yard.load("yard.level");
    fixture.frame(&["yard.level"]);
    fixture.start(move || async move { report("yard.level", wait_for_asset(yard.id())).await });
    assert_eq!(fixture.log(), ["1: yard.level: loaded"]);
}

/// The wait keeps the asset alive, even if it has only an id.
#[test]
fn nobody_else_holds_it() {
    let mut fixture = Fixture::new();
    fixture.start(|| {
        let handle = load("yard.level").untyped();
        report("yard.level", wait_for_asset(&handle))
    });
    fixture.start(|| {
        let id = load("stairs.level").id();
        report("stairs.level", wait_for_asset(id))
    });
    fixture.frame(&[]);
    fixture.frame(&["yard.level"]);
    assert_eq!(fixture.log(), ["2: yard.level: loaded"]);
}

#[test]
fn missing_and_broken_files() {
    let mut fixture = Fixture::new();
    fixture.start(|| load_and_report("bridge.level"));
    fixture.start(|| load_and_report("broken.level"));
    fixture.frame(&["bridge.level"]);
    let log = fixture.log();
    assert_eq!(log.len(), 1);
    assert!(log[0].starts_with("1: bridge.level: cannot load bridge.level: Path not found"));
    fixture.frame(&["broken.level"]);
    let log = fixture.log();
    assert_eq!(log.len(), 1);
    assert!(log[0].starts_with("2: broken.level: cannot load broken.level: "));
    assert!(log[0].contains("there is no level in it"));
}

/// A dependency of a dependency fails while the script waits, and later once more for a
/// wait that begins then.
#[test]
fn a_dependency_fails() {
    let mut fixture = Fixture::new();
    fixture.start(|| async {
        load_and_report("maze.level").await;
        load_and_report("maze.level").await;
    });
    fixture.frame(&["maze.level", "ruin.level"]);
    assert_eq!(fixture.log(), [""; 0]);
    fixture.frame(&["broken.level"]);
    let log = fixture.log();
    assert!(log[0].starts_with("2: maze.level: cannot load broken.level: "));
    assert_eq!(log[1], log[0]);
}

/// A dependency fails while the asset itself is still being loaded, before the wait begins or
/// after. The asset server wakes no waker when the asset is loaded.
#[test]
fn a_dependency_fails_first() {
    let mut fixture = Fixture::new();
    fixture.start(|| load_and_report("mine.level"));
    fixture.frame(&["mine.level"]);
    fixture.frame(&["broken.level"]);
    assert_eq!(fixture.log(), [""; 0]);
    fixture.start(|| load_and_report("mine.level"));
    fixture.frame(&["map.level"]);
    let log = fixture.log();
    assert_eq!(log.len(), 2);
    assert!(log[0].starts_with("3: mine.level: cannot load broken.level: "));
    assert!(log[1].starts_with("3: mine.level: cannot load broken.level: "));
}

/// Loads are finished in frames, so an app that sleeps does not sleep meanwhile.
#[test]
fn it_needs_frames() {
    let mut fixture = Fixture::new();
    fixture.start(|| load_and_report("yard.level"));
    fixture.frame(&[]);
    assert_eq!(next_frame_in(fixture.app.world()), Some(Duration::ZERO));
    fixture.frame(&["yard.level"]);
    assert_eq!(fixture.log(), ["2: yard.level: loaded"]);
    assert_eq!(next_frame_in(fixture.app.world()), None);
}

/// The path is that of the dependency, and the cause is that of the asset server.
#[test]
fn the_error() {
    let mut fixture = Fixture::new();
    fixture.start(|| async {
        let island = load("island.level");
        let Err(AssetFailed::Load {
            path: Some(path),
            error,
        }) = wait_for_asset(&island).await
        else {
            panic!("it has no bridge");
        };
        resource_mut(|log: &mut Log| log.0.push(format!("{path}: {error}")));
    });
    fixture.frame(&["island.level"]);
    fixture.frame(&["bridge.level"]);
    let log = fixture.log();
    assert_eq!(log, ["bridge.level: Path not found: bridge.level"]);
}

/// The asset server does not know an asset that was made by hand.
#[test]
fn not_loading() {
    let mut fixture = Fixture::new();
    fixture.start(|| async {
        let level = Level { parts: Vec::new() };
        let handle = resource_mut(|levels: &mut Assets<Level>| levels.add(level));
        let result = wait_for_asset(&handle).await;
        assert!(
            matches!(result, Err(AssetFailed::NotLoading { id }) if id == handle.id().untyped())
        );
        resource_mut(|log: &mut Log| log.0.push(result.unwrap_err().to_string()));
    });
    let log = fixture.log();
    assert_eq!(log.len(), 1);
    assert!(log[0].starts_with("the asset server does not load the asset "));
}

#[test]
fn no_asset_plugin() {
    let mut app = App::new();
    let plugin = FramestepPlugin::default().on_report(|report| {
        assert!(report.to_string().contains("need `AssetPlugin`"));
    });
    app.add_plugins((TimePlugin, plugin));
    let script = app.world_mut().start_script(|| async {
        let _ = wait_for_asset(Handle::<Level>::default().id()).await;
        unreachable!();
    });
    assert!(script.is_finished());
}

/// The events of one asset, without those of another one.
#[test]
fn asset_events() {
    let mut fixture = Fixture::new();
    fixture.start(|| async {
        let level = || Level { parts: Vec::new() };
        let first = resource_mut(|levels: &mut Assets<Level>| levels.add(level()));
        let second = resource_mut(|levels: &mut Assets<Level>| levels.add(level()));
        let say = |event: AssetEvent<Level>| {
            let line = match event {
                AssetEvent::Added { .. } => "added",
                AssetEvent::Modified { .. } => "modified",
                _ => "another",
            };
            resource_mut(|log: &mut Log| log.0.push(format!("{}: {line}", time().frame)));
        };
        say(next_asset_event(&second).await);
        resource_mut(|levels: &mut Assets<Level>| {
            levels.get_mut(&first).unwrap().parts.clear();
        });
        wait_frames(2).await;
        resource_mut(|levels: &mut Assets<Level>| {
            levels.get_mut(&second).unwrap().parts.clear();
        });
        let event = next_asset_event(second.id())
            .in_phase(Phase::EndOfFrame)
            .await;
        assert_eq!(time().phase, Some(Phase::EndOfFrame));
        say(event);
    });
    for _ in 0..6 {
        fixture.frame(&[]);
    }
    let log = fixture.log();
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(
        log[0].ends_with("added") && log[1].ends_with("modified"),
        "{log:?}"
    );
}
