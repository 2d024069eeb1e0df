//! What an operator does with a cluster of rooms.
//!
//! `cargo install framestep_rooms --features cli`

mod top;

use std::process::ExitCode;

use framestep_rooms::Operator;
use framestep_rooms::log::NatsLog;

type Error = Box<dyn std::error::Error>;

const USAGE: &str = "usage: rooms top [URL] [--once] [--rooms | --room NAME | --prefer BUILD]
           the shards, each second; or all rooms, or one. --prefer lets the nodes of a build run the
           shards, although another one was started later
       rooms replay (--room NAME | --shard NUMBER) [--until FRAME] [--frames COUNT] -- SERVER ARGUMENTS..
           computes a shard again, with the server's own executable: what was in the log, the first frame
           that differs, and the view at the end. It only reads
       rooms close ROOM [URL]             ends a room, also a broken one: its name is free
       rooms kick ROOM PLAYER [URL]       removes a player from a room
       rooms restart SHARD [URL]          begins a shard without rooms that no node can load

URL is nats://USER:PASSWORD@HOST, and nats://127.0.0.1:4222 without one.";

/// The words of the command line.
pub(crate) struct Words(Vec<String>);

impl Words {
    /// Takes a word, if it is there.
    fn has(&mut self, word: &str) -> bool {
        let place = self.0.iter().position(|it| it == word);
        place.is_some_and(|place| self.0.remove(place) == word)
    }

    /// Takes an option with its value.
    fn value(&mut self, name: &str) -> Result<Option<String>, Error> {
        let Some(place) = self.0.iter().position(|it| it == name) else {
            return Ok(None);
        };
        self.0.remove(place);
        if place >= self.0.len() {
            return Err(format!("{name} needs a value").into());
        }
        Ok(Some(self.0.remove(place)))
    }

    fn number(&mut self, name: &str) -> Result<Option<u64>, Error> {
        let Some(text) = self.value(name)? else {
            return Ok(None);
        };
        let number = text.parse();
        Ok(Some(
            number.map_err(|_| format!("{name}: `{text}` is no number"))?,
        ))
    }

    /// Takes the next word.
    fn next(&mut self, what: &str) -> Result<String, Error> {
        if self.0.is_empty() {
            return Err(format!("{what} is missing\n\n{USAGE}").into());
        }
        Ok(self.0.remove(0))
    }

    /// The last word, which is the address.
    fn url(&mut self) -> Result<String, Error> {
        let url = if self.0.is_empty() {
            "nats://127.0.0.1:4222".to_owned()
        } else {
            self.0.remove(0)
        };
        match self.0.first() {
            Some(word) => Err(format!("`{word}` is not understood\n\n{USAGE}").into()),
            None if url.starts_with("--") => {
                Err(format!("there is no option {url}\n\n{USAGE}").into())
            }
            None => Ok(url),
        }
    }

    async fn operator(&mut self) -> Result<Operator, Error> {
        Ok(Operator::on(NatsLog::connect(&self.url()?).await?))
    }
}

/// Starts a server's executable, which prints the replay instead of running as a node.
fn replay(words: &mut Words) -> Result<ExitCode, Error> {
    let end = words.0.iter().position(|it| it == "--");
    let end = end.ok_or_else(|| format!("`-- SERVER` is missing\n\n{USAGE}"))?;
    let mut server = words.0.split_off(end).into_iter().skip(1);
    let program = server
        .next()
        .ok_or("the executable of the server is missing")?;
    let asked = serde_json::json!({
        "room": words.value("--room")?,
        "shard": words.number("--shard")?,
        "until": words.number("--until")?,
        "frames": words.number("--frames")?.unwrap_or(30),
    });
    if let Some(word) = words.0.first() {
        return Err(format!("`{word}` is not understood\n\n{USAGE}").into());
    }
    if asked["room"].is_null() && asked["shard"].is_null() {
        return Err("--room NAME or --shard NUMBER is missing".into());
    }
    let status = std::process::Command::new(&program)
        .args(server)
        .env("FRAMESTEP_ROOMS_REPLAY", asked.to_string())
        .status()
        .map_err(|error| format!("{program} cannot be started: {error}"))?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn run(words: &mut Words) -> Result<ExitCode, Error> {
    match &*words.next("a command")? {
        "top" => top::run(words).await?,
        "replay" => return replay(words),
        "close" => {
            let room = words.next("the room")?;
            words.operator().await?.close(&room).await?;
            println!("room {room} is closed in its next frame");
        }
        "kick" => {
            let (room, player) = (words.next("the room")?, words.next("the player")?);
            words.operator().await?.kick(&room, &player).await?;
            println!("{player} is removed from room {room} in its next frame");
        }
        "restart" => {
            let shard = words.next("the shard")?;
            let shard = shard
                .parse()
                .map_err(|_| format!("`{shard}` is no shard"))?;
            words.operator().await?.restart(shard).await?;
            println!("shard {shard} begins without rooms");
        }
        "help" | "--help" | "-h" => println!("{USAGE}"),
        word => return Err(format!("there is no command {word}\n\n{USAGE}").into()),
    }
    Ok(ExitCode::SUCCESS)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut words = Words(std::env::args().skip(1).collect());
    match run(&mut words).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("rooms: {error}");
            ExitCode::FAILURE
        }
    }
}
