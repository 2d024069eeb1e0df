//! A fixed scenario on loopback, which prints the same lines every time. It is a
//! separate task beside the executor; the requests that it makes are scripts.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use framestep::Handle;
use framestep::prelude::*;
use hyper::{Method, StatusCode};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::client::Client;
use crate::driver::{Frames, PACE};
use crate::world::World;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Long enough for a script to sleep through the whole demo.
const LONG: u32 = 3_600;

/// A request on a separate connection.
async fn ask(address: SocketAddr, method: Method, path: &str, body: &str) -> (StatusCode, String) {
    let answer = async {
        let mut client = Client::connect(address).await?;
        client.ask(method, path, body).await
    };
    match answer.await {
        Ok(answer) => answer,
        Err(error) => panic!("{path}: {error}"),
    }
}

/// A player: waits for the whistle, kicks, and waits for the result.
async fn player(address: SocketAddr, side: &str, kicks: u32) -> String {
    let game = async {
        let mut client = Client::connect(address).await?;
        while client.ask(Method::GET, "/rooms/1", "").await?.1 == "warm-up 0:0" {
            wait_seconds(0.05).await;
        }
        for _ in 0..kicks {
            client.ask(Method::POST, "/rooms/1/kicks", side).await?;
            wait_seconds(0.02).await;
        }
        client.ask(Method::GET, "/rooms/1/result", "").await
    };
    match game.await {
        Ok((_, result)) => result,
        Err(error) => panic!("player: {error}"),
    }
}

/// How many requests wait for a result, read in a script.
async fn waiting(scripts: &Handle) -> Outcome<usize> {
    let look = scripts.spawn(async { with_ref(|world: &World| world.waiting) });
    Ok(look.await?)
}

async fn until_waiting(scripts: &Handle, requests: usize) -> Outcome<()> {
    while waiting(scripts).await? != requests {
        sleep(PACE).await;
    }
    Ok(())
}

/// How many frames the executor takes while the caller sleeps.
async fn frames_within(length: Duration, frames: &Frames) -> u64 {
    let before = frames.count();
    sleep(length).await;
    frames.count() - before
}

pub(crate) async fn play() -> Outcome<()> {
    let began = Instant::now();
    let app = App::begin("127.0.0.1:0").await?;
    let (scripts, address) = (app.scripts.clone(), app.address);
    let request = |method: Method, path: &'static str| {
        let script = ask(address, method, path, "");
        scripts.spawn(script).named(path)
    };

    assert_eq!(
        frames_within(Duration::from_millis(200), &app.frames).await,
        0
    );
    println!("nothing to do for 0.2 s: 0 frames");

    a_match(&scripts, address).await?;
    waits(&scripts, &app.frames).await?;
    hangs_up(&scripts, address).await?;

    let result = request(Method::GET, "/rooms/2/result");
    until_waiting(&scripts, 1).await?;
    let (status, closed) = request(Method::DELETE, "/rooms/2").await?;
    println!("DELETE /rooms/2: {status}, {closed}");
    let (status, text) = result.await?;
    assert_eq!(status, StatusCode::GONE);
    println!("the request that waited for its result: {status}, {text}");

    request(Method::POST, "/rooms").await?;
    let result = request(Method::GET, "/rooms/3/result");
    until_waiting(&scripts, 1).await?;
    app.server.end().await??;
    let (status, text) = result.await?;
    assert_eq!(status, StatusCode::GONE);
    println!("shut down: the request that waited has its answer, {status}, {text}");
    assert_eq!(app.driver.end().await?, 0);
    println!("no script is left");

    let most = began.elapsed().div_duration_f64(PACE);
    #[allow(clippy::cast_precision_loss, reason = "a few hundred")]
    let all = app.frames.count() as f64;
    assert!(all <= most, "{all} frames, more than {most}");
    println!("no more frames than one in {} ms", PACE.as_millis());
    Ok(())
}

async fn a_match(scripts: &Handle, address: SocketAddr) -> Outcome<()> {
    let (status, number) = scripts
        .spawn(ask(address, Method::POST, "/rooms", ""))
        .await?;
    assert_eq!((status, number.as_str()), (StatusCode::CREATED, "1"));
    println!("POST /rooms: {status}, room {number}");
    let (status, report) = scripts
        .spawn(ask(address, Method::GET, "/rooms/1", ""))
        .await?;
    println!("GET /rooms/1: {status}, {report}");
    let (status, _) = scripts
        .spawn(ask(address, Method::GET, "/rooms/7", ""))
        .await?;
    assert_eq!(status, StatusCode::NOT_FOUND);
    println!("GET /rooms/7: {status}");

    let players = [("left", 3), ("right", 1)]
        .map(|(side, kicks)| scripts.spawn(player(address, side, kicks)).named(side));
    for player in players {
        let result = player.await?;
        assert_eq!(result, "over 3:1");
        println!("a player got: {result}");
    }
    Ok(())
}

/// Scripts that another task begins while the driver sleeps for an hour.
async fn waits(scripts: &Handle, frames: &Frames) -> Outcome<()> {
    let hour = scripts.spawn(wait_seconds(LONG)).stop_on_drop();
    sleep(4 * PACE).await;

    let (began, before) = (Instant::now(), frames.count());
    scripts.spawn(wait_seconds(0.25)).await?;
    let took = began.elapsed();
    // Not after an hour, however slow the machine is.
    let in_time = Duration::from_millis(250)..Duration::from_secs(300);
    assert!(in_time.contains(&took), "{took:?}");
    println!(
        "a script that waits for 0.25 s, begun by another task: in time, {} frames",
        frames.count() - before
    );

    let before = frames.count();
    scripts.spawn(sleep(Duration::from_millis(100))).await?;
    println!(
        "a script that awaits a timer of tokio: woken, {} frames",
        frames.count() - before
    );
    drop(hour);
    sleep(4 * PACE).await;
    assert_eq!(frames_within(Duration::from_millis(200), frames).await, 0);
    println!("nothing to do again: 0 frames");
    Ok(())
}

async fn hangs_up(scripts: &Handle, address: SocketAddr) -> Outcome<()> {
    scripts
        .spawn(ask(address, Method::POST, "/rooms", ""))
        .await?;
    let request = scripts
        .spawn(ask(address, Method::GET, "/rooms/2/result", ""))
        .stop_on_drop();
    until_waiting(scripts, 1).await?;
    println!("GET /rooms/2/result: it waits");
    drop(request);
    until_waiting(scripts, 0).await?;
    println!("its client hangs up: the script of the request has ended");
    let (status, _) = scripts
        .spawn(ask(address, Method::GET, "/rooms/2", ""))
        .await?;
    assert_eq!(status, StatusCode::OK);
    println!("GET /rooms/2: {status}, the match goes on");
    Ok(())
}
