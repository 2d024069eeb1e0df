//! HTTP: each request is a script.
//!
//! | request | answer | its script |
//! |---|---|---|
//! | `POST /rooms` | 201 and the number of the room; its match begins | ends at once; the match continues |
//! | `GET /rooms/1` | 200 and the state of the match | ends at once |
//! | `POST /rooms/1/kicks` with `left` or `right` | 202 | emits the kick to the match |
//! | `GET /rooms/1/result` | 200 and the result, once the match is over; 410 if the room is closed before | waits; **ends with its request** if the client hangs up |
//! | `DELETE /rooms/1` | 200; its match is stopped | ends at once |

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::time::Duration;

use framestep::Handle;
use framestep::prelude::*;
use framestep::task::Outcome;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::spawn_local;

use crate::world::{Side, Waits, World};

const LONGEST_BODY: usize = 1024;

/// How long the server's shutdown waits for current requests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

type Answer = (StatusCode, String);

/// Accepts connections until `stop` is ready. Then it closes all rooms, which answers
/// the waiting requests. It returns when the last connection has ended, or after
/// [`PATIENCE`].
pub(crate) async fn serve(
    listener: TcpListener,
    scripts: Handle,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let connections = GracefulShutdown::new();
    tokio::pin!(stop);
    let stopped = loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break Ok(()),
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                spawn_local(connection(stream, scripts.clone(), connections.watcher()));
            }
            Err(error) => break Err(error),
        }
    };
    drop(listener);
    end(connections, &scripts).await;
    stopped
}

/// Closes all rooms and waits until the connections have ended, for at most
/// [`PATIENCE`]: a client may never send the rest of its request.
pub(crate) async fn end(connections: GracefulShutdown, scripts: &Handle) {
    scripts.spawn(async { with(World::close_all) });
    // Remaining connections end with the process.
    let _ = tokio::time::timeout(PATIENCE, connections.shutdown()).await;
}

/// Answers the requests of one client.
pub(crate) async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    scripts: Handle,
    watcher: Watcher,
) {
    let service = service_fn(move |request| answer(request, scripts.clone()));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A client that hangs up early is an error here. The server continues.
    let _ = watcher.watch(connection).await;
}

async fn answer(
    request: Request<Incoming>,
    scripts: Handle,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let (status, text) = match Limited::new(body, LONGEST_BODY).collect().await {
        Ok(body) => {
            let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
            // If the client hangs up, hyper drops this future, and the handle with it.
            let script = scripts
                .spawn(respond(head.method, head.uri.path().to_owned(), body))
                .stop_on_drop();
            script.await.unwrap_or_else(|error| {
                if error.is_panic() {
                    (StatusCode::INTERNAL_SERVER_ERROR, "a bug".to_owned())
                } else {
                    (StatusCode::SERVICE_UNAVAILABLE, "shutting down".to_owned())
                }
            })
        }
        Err(_) => (StatusCode::BAD_REQUEST, "no body to be had".to_owned()),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    Ok(response)
}

/// The script of a request.
async fn respond(method: Method, path: String, body: String) -> Answer {
    let no_such_thing = || (StatusCode::NOT_FOUND, "no such thing".to_owned());
    let parts: Vec<_> = path.split('/').skip(1).collect();
    let (number, rest) = match parts.as_slice() {
        ["rooms"] if method == Method::POST => {
            let number = with(World::open);
            return (StatusCode::CREATED, number.to_string());
        }
        ["rooms", number, rest @ ..] => match number.parse() {
            Ok(number) => (number, rest),
            Err(_) => return no_such_thing(),
        },
        _ => return no_such_thing(),
    };
    let answer = match (method, rest) {
        (Method::GET, []) => report(number),
        (Method::DELETE, []) => with(|world: &mut World| world.close(number))
            .then(|| (StatusCode::OK, "closed".to_owned())),
        (Method::POST, ["kicks"]) => kick(number, &body),
        (Method::GET, ["result"]) => result(number).await,
        _ => None,
    };
    answer.unwrap_or_else(no_such_thing)
}

fn report(number: u32) -> Option<Answer> {
    with_ref(|world: &World| {
        let room = world.room(number)?;
        Some((StatusCode::OK, room.report.get().to_string()))
    })
}

fn kick(number: u32, body: &str) -> Option<Answer> {
    let side = match body {
        "left" => Side::Left,
        "right" => Side::Right,
        _ => return Some((StatusCode::BAD_REQUEST, "left or right?".to_owned())),
    };
    with_ref(|world: &World| {
        world.room(number)?.kicks.emit(side);
        Some((StatusCode::ACCEPTED, "kicked".to_owned()))
    })
}

/// Waits for the end of the match, however it ends.
async fn result(number: u32) -> Option<Answer> {
    let (finished, report) = with_ref(|world: &World| {
        let room = world.room(number)?;
        Some((room.finished.clone(), room.report.clone()))
    })?;
    let _waits = Waits::begin();
    Some(match finished.await {
        Outcome::Finished => (StatusCode::OK, report.get().to_string()),
        Outcome::Stopped => (StatusCode::GONE, "closed".to_owned()),
        Outcome::Panicked => (StatusCode::INTERNAL_SERVER_ERROR, "a bug".to_owned()),
    })
}
