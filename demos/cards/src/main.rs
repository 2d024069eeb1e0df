//! A card game with hidden hands, on three nodes.
//!
//! `cargo run` starts `nats-server` with accounts and TLS, three nodes with health and metrics, and a gateway
//! that opens a table. `cargo run -- play alice` is a player in a terminal, beside it.

mod game;
mod nats;
mod serve;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use async_nats::ConnectOptions;
use framestep_rooms::log::NatsLog;
use framestep_rooms::{Client, Server};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use game::{Act, Phase, Table, View};

type Error = Box<dyn std::error::Error>;

const USAGE: &str = "usage: framestep-cards                   nats-server, three nodes, a table
       framestep-cards node URL NAME PORT
       framestep-cards play NAME [TABLE]    as alice or bob, on the table `table-1`";

/// Where the server of NATS that `cargo run` starts has its files.
fn folder() -> PathBuf {
    std::env::temp_dir().join("framestep-cards")
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => serve::all().await,
        ["node", url, name, port] => serve::node(url, name, port.parse()?).await,
        ["play", name] => play(name, "table-1").await,
        ["play", name, table] => play(name, table).await,
        _ => Err(USAGE.into()),
    }
}

/// The connection of a user of `nats.conf`, encrypted, to a server with its files in a folder.
async fn connect(url: &str, folder: &Path, user: &str) -> Result<NatsLog, Error> {
    let options = ConnectOptions::with_user_and_password(user.to_owned(), format!("{user}-secret"))
        .custom_inbox_prefix(format!("_INBOX_{user}"));
    Ok(NatsLog::connect_with(url, nats::with_tls(options, folder)).await?)
}

/// The server of a node, with what its rooms need.
fn server(log: NatsLog, name: &str) -> Server {
    Server::on(log).named(name).room::<Table>()
}

fn print(view: &View) {
    let seats: Vec<String> = view
        .seats
        .iter()
        .map(|seat| {
            let mut marks = String::new();
            for (is_so, mark) in [
                (!seat.is_here, " gone"),
                (seat.is_ready, " ready"),
                (seat.has_played, " played"),
            ] {
                marks.push_str(if is_so { mark } else { "" });
            }
            format!("{} {}{marks}", seat.player, seat.won)
        })
        .collect();
    println!(
        "{:?}, {} s: {} | {}",
        view.phase,
        view.seconds_left,
        view.said,
        seats.join(", ")
    );
    println!(
        "  your hand: {:?}   (a number plays it, `r` is ready)",
        view.hand
    );
}

async fn play(name: &str, table: &str) -> Result<(), Error> {
    let client = Client::on(
        connect(&nats::url(nats::PORT), &folder(), name).await?,
        name,
    )
    .await?;
    let room = client.room::<Table>(table)?;
    let mut views = room.watch().await?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut last: Option<View> = None;
    loop {
        tokio::select! {
            view = views.next() => {
                let Some(view) = view? else {
                    println!("the table is closed");
                    return Ok(());
                };
                let mut view = view.view;
                let seconds = std::mem::replace(&mut view.seconds_left, 0);
                if last.as_ref() != Some(&view) {
                    print(&View { seconds_left: seconds, ..view.clone() });
                }
                if view.phase == Phase::Closed {
                    return Ok(());
                }
                last = Some(view);
            }
            line = lines.next_line() => {
                let Some(line) = line? else {
                    return Ok(());
                };
                match (line.trim(), line.trim().parse()) {
                    ("r", _) => drop(room.send(&Act::Ready).await?),
                    (_, Ok(card)) => drop(room.send(&Act::Play(card)).await?),
                    _ => println!("a number or `r`"),
                }
            }
        }
    }
}
