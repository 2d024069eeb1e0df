//! Tasks of tokio and of Bevy's pools: scripts await them, and they get answers from the world.

use std::thread;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_framestep::Framestep;
use bevy_framestep::futures::FutureExt;
use bevy_framestep::prelude::*;
use framestep::Executor;
use framestep::task::RemoteHandle;

use super::{alive, app, log, take_log};

#[derive(Resource, Default)]
struct Players(Vec<String>);

fn remote(app: &App) -> RemoteHandle {
    let framestep = app.world().non_send::<Framestep>();
    framestep.with_executor(Executor::remote)
}

/// What a task does: it has no world, and asks for one.
async fn join(game: RemoteHandle, name: &'static str) -> usize {
    let join = move || {
        resource_mut(|players: &mut Players| {
            players.0.push(name.to_owned());
            players.0.len()
        })
    };
    game.call_async(join).await.unwrap()
}

/// Updates until the thread has ended.
fn update_until_joined<T>(app: &mut App, thread: thread::JoinHandle<T>) -> T {
    while !thread.is_finished() {
        app.update();
        thread::yield_now();
    }
    thread.join().unwrap()
}

#[test]
fn a_task_of_tokio_gets_answers_from_the_world() {
    let mut app = app();
    app.init_resource::<Players>();
    let game = remote(&app);
    let server = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(async {
            let first = join(game.clone(), "Ada").await;
            (first, join(game, "Bob").await)
        })
    });
    assert_eq!(update_until_joined(&mut app, server), (1, 2));
    assert_eq!(app.world().resource::<Players>().0, ["Ada", "Bob"]);
    assert_eq!(alive(&app), 0);
}

/// The world of a call is that of the next scripts, whichever their phase.
#[test]
fn the_answer_comes_with_the_next_scripts() {
    let mut app = app();
    app.init_resource::<Players>();
    let game = remote(&app);
    let mut answer = game.call_async(|| time().phase);
    app.update();
    let script = app.world_mut().start_script(|| async move {
        let phase = (&mut answer).await.unwrap();
        log(format!("called in {phase:?}"));
    });
    assert!(script.is_finished());
    assert_eq!(take_log(&mut app), ["called in None"]);
}

/// There and back: the script awaits the task, which asks the world.
#[cfg(feature = "tasks")]
#[test]
fn a_script_awaits_a_task_that_asks_the_world() {
    use bevy_tasks::IoTaskPool;

    let mut app = app();
    app.init_resource::<Players>();
    app.add_plugins(bevy_app::TaskPoolPlugin::default());
    let game = remote(&app);
    let script = app.world_mut().start_script(|| async move {
        let task = IoTaskPool::get().spawn(join(game, "Ada"));
        log(format!("{} player", task.await));
    });
    while !script.is_finished() {
        app.update();
        thread::yield_now();
    }
    assert_eq!(take_log(&mut app), ["1 player"]);
}

/// A script awaits the handle of a task of tokio, which runs on a thread of its own.
#[test]
fn a_script_awaits_a_task_of_tokio() {
    let mut app = app();
    let (handle, stop) = {
        let (send, receive) = std::sync::mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap();
            send.send(runtime.handle().clone()).unwrap();
            _ = runtime.block_on(stopped);
        });
        (receive.recv().unwrap(), stop)
    };
    let script = app.world_mut().start_script(move || async move {
        let reply = handle.spawn(async { 6 * 7 }).await;
        log(format!("{reply:?}"));
    });
    while !script.is_finished() {
        app.update();
        thread::yield_now();
    }
    assert_eq!(take_log(&mut app), ["Ok(42)"]);
    drop(stop);
}

#[test]
fn an_app_that_has_ended_is_an_error() {
    let app = app();
    let game = remote(&app);
    let answer = game.call_async(|| resource(|players: &Players| players.0.len()));
    drop(app);
    let late = game.call_async(|| 7);
    assert!(answer.now_or_never().unwrap().is_err());
    let error = late.now_or_never().unwrap().unwrap_err().to_string();
    assert!(error.contains(file!()), "{error}");
}
