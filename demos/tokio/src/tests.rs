//! The driver and the server on tokio's paused clock: there is no socket, nothing sleeps,
//! and all times are exact.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use framestep::Handle;
use framestep::prelude::*;
use hyper::{Method, StatusCode};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncWriteExt, duplex};
use tokio::runtime;
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::driver::{self, Frames, PACE};
use crate::game::{LENGTH, WARM_UP};
use crate::server;
use crate::world::World;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Runs `neighbour` beside the driver, until it returns. Returns how many scripts remained.
fn beside<F>(neighbour: impl FnOnce(Handle, Frames) -> F) -> usize
where
    F: Future<Output = ()> + 'static,
{
    let runtime = runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    LocalSet::new().block_on(&runtime, async {
        let executor = driver::executor();
        let frames = Frames::default();
        let neighbour = spawn_local(neighbour(executor.handle(), frames.clone()));
        let stop = async { neighbour.await.unwrap() };
        let mut world = World::default();
        driver::drive(executor, &mut world, frames, stop)
            .await
            .len()
    })
}

/// How long `script` takes from its first frame on, and how many frames run until its end.
async fn measured(
    script: impl Future + 'static,
    scripts: &Handle,
    frames: &Frames,
) -> (Duration, u64) {
    let (began, before) = (Instant::now(), frames.count());
    scripts.spawn(script).await.unwrap();
    (began.elapsed(), frames.count() - before)
}

#[test]
fn a_script_begun_by_a_neighbour_ends_in_time() {
    beside(|scripts, frames| async move {
        let hour = scripts.spawn(wait_seconds(3_600));
        sleep(ms(1_500)).await;
        assert_eq!(frames.count(), 1);
        // The driver sleeps for an hour, unless this wakes it.
        let script = wait_seconds(0.5);
        assert_eq!(measured(script, &scripts, &frames).await, (ms(500), 2));
        hour.stop();
        sleep(ms(1_000)).await;
        // Now it sleeps indefinitely.
        let script = wait_seconds(0.25);
        assert_eq!(measured(script, &scripts, &frames).await, (ms(250), 2));
    });
}

#[test]
fn what_a_script_awaits_of_tokio_wakes_the_driver() {
    beside(|scripts, frames| async move {
        sleep(ms(100)).await;
        let script = sleep(ms(70));
        assert_eq!(measured(script, &scripts, &frames).await, (ms(70), 2));

        let (send, receive) = oneshot::channel();
        let script = scripts.spawn(receive);
        sleep(ms(70)).await;
        send.send(7).unwrap();
        assert_eq!(script.await.unwrap(), Ok(7));
    });
}

#[test]
fn frames_keep_their_distance_and_there_are_none_without_work() {
    let left = beside(|scripts, frames| async move {
        sleep(ms(60_000)).await;
        assert_eq!(frames.count(), 0);
        let busy = scripts.spawn(async {
            loop {
                next_frame().await;
            }
        });
        sleep(ms(1_005)).await;
        // At once, then every 10 ms.
        assert_eq!(frames.count(), 101);
        busy.stop();
        sleep(ms(60_000)).await;
        assert_eq!(frames.count(), 101);
        scripts.spawn(std::future::pending::<()>());
    });
    assert_eq!(left, 1);
}

/// More than the 128 operations that tokio grants a task before it must yield.
#[test]
fn a_thousand_messages_of_tokio_arrive_in_one_frame() {
    beside(|scripts, frames| async move {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..1_000).map(|_| oneshot::channel()).unzip();
        let arrived = Rc::new(RefCell::new(Vec::new()));
        for receiver in receivers {
            let arrived = arrived.clone();
            scripts.spawn(async move {
                receiver.await.unwrap();
                arrived.borrow_mut().push(time().frame);
            });
        }
        sleep(ms(100)).await;
        assert_eq!(frames.count(), 1);
        for sender in senders {
            sender.send(()).unwrap();
        }
        sleep(ms(100)).await;
        let in_frame_2 = arrived.borrow().iter().filter(|&&frame| frame == 2).count();
        assert_eq!(in_frame_2, 1_000);
    });
}

type Answer = (StatusCode, String);

/// A request on a separate connection, which needs no socket.
fn request(scripts: &Handle, method: Method, path: &'static str) -> Coroutine<Answer> {
    let (here, there) = duplex(4_096);
    let for_request = scripts.clone();
    spawn_local(async {
        // Dropping it shuts the connection down.
        let connections = GracefulShutdown::new();
        server::connection(there, for_request, connections.watcher()).await;
    });
    scripts.spawn(async move {
        let mut client = Client::over(here).await.unwrap();
        client.ask(method, path, "").await.unwrap()
    })
}

async fn waiting(scripts: &Handle) -> usize {
    let look = scripts.spawn(async { with_ref(|world: &World| world.waiting) });
    look.await.unwrap()
}

fn answer(status: StatusCode, text: &str) -> Answer {
    (status, text.to_owned())
}

#[test]
fn a_long_poll_is_answered_when_the_match_is_over() {
    beside(|scripts, frames| async move {
        let opened = request(&scripts, Method::POST, "/rooms").await.unwrap();
        assert_eq!(opened, answer(StatusCode::CREATED, "1"));
        let began = Instant::now();
        let result = request(&scripts, Method::GET, "/rooms/1/result");
        let before = frames.count();
        assert_eq!(result.await.unwrap(), answer(StatusCode::OK, "over 0:0"));
        let game = Duration::from_secs_f64(WARM_UP + LENGTH);
        // The room was open a few frames before the answer arrived; the answer to the long
        // poll takes a few more.
        let took = began.elapsed();
        assert!(
            took + 10 * PACE > game && took < game + 10 * PACE,
            "{took:?}"
        );
        assert!(frames.count() - before < 20, "{frames:?}");
    });
}

#[test]
fn the_script_of_a_request_ends_with_its_client_and_the_match_does_not() {
    beside(|scripts, _| async move {
        request(&scripts, Method::POST, "/rooms").await.unwrap();
        let result = request(&scripts, Method::GET, "/rooms/1/result");
        sleep(ms(100)).await;
        assert_eq!(waiting(&scripts).await, 1);
        result.stop();
        sleep(ms(100)).await;
        assert_eq!(waiting(&scripts).await, 0);
        let report = request(&scripts, Method::GET, "/rooms/1").await.unwrap();
        assert_eq!(report, answer(StatusCode::OK, "warm-up 0:0"));
    });
}

#[test]
fn a_closed_room_answers_those_who_wait_for_it() {
    beside(|scripts, _| async move {
        request(&scripts, Method::POST, "/rooms").await.unwrap();
        let result = request(&scripts, Method::GET, "/rooms/1/result");
        sleep(ms(100)).await;
        let closed = request(&scripts, Method::DELETE, "/rooms/1").await.unwrap();
        assert_eq!(closed.0, StatusCode::OK);
        assert_eq!(result.await.unwrap(), answer(StatusCode::GONE, "closed"));
        let report = request(&scripts, Method::GET, "/rooms/1").await.unwrap();
        assert_eq!(report.0, StatusCode::NOT_FOUND);
    });
}

/// A client without a request ends at once. A client that never sends the rest of its
/// request does not keep the server from ending.
#[test]
fn the_server_ends_although_a_client_is_silent() {
    for (sent, took) in [
        ("", Duration::ZERO),
        (
            "POST /rooms HTTP/1.1\r\ncontent-length: 5\r\n\r\n",
            server::PATIENCE,
        ),
    ] {
        beside(|scripts, _| async move {
            let connections = GracefulShutdown::new();
            let (mut here, there) = duplex(4_096);
            let watcher = connections.watcher();
            spawn_local(server::connection(there, scripts.clone(), watcher));
            here.write_all(sent.as_bytes()).await.unwrap();
            sleep(ms(100)).await;
            let began = Instant::now();
            server::end(connections, &scripts).await;
            assert_eq!(began.elapsed(), took);
        });
    }
}
