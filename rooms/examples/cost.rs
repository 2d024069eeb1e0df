//! What a room costs: 60 rooms of 20 scripts on a log in memory, or in NATS with a URL as argument.
//! Prints the microseconds of a thread for a room and frame, hashes, saves and views included.

use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::log::{Log, MemoryLog, NatsLog};
use framestep_rooms::{Client, Player, Room, Server, ShardStatus};
use tokio::time::{Instant, timeout};

const ROOMS: usize = 60;
const SCRIPTS: u64 = 20;

#[derive(Serialize, Deserialize)]
struct Arena {
    units: Vec<(i64, u32)>,
}

/// Walks, stops, and looks around.
#[durable]
async fn patrol(unit: usize, step: u64) -> Chapter {
    let pause = (unit as u64 * 7 + step * 13) % 90;
    wait_frames(10 + pause).await;
    with(move |arena: &mut Arena| arena.units[unit].0 += 1);
    for _ in 0..3 {
        next_frame().await;
    }
    with(move |arena: &mut Arena| arena.units[unit].1 += 1);
    Chapter::Next(patrol(unit, step + 1))
}

impl Room for Arena {
    const NAME: &'static str = "arena";
    type Args = ();
    type Input = u32;
    type View = (i64, u32);

    fn registry() -> Registry {
        Registry::new().with::<Patrol>()
    }

    fn open(runtime: &Runtime, (): ()) -> Self {
        for unit in 0..SCRIPTS {
            runtime
                .spawn(patrol(usize::try_from(unit).unwrap_or(0), 0))
                .detach();
        }
        Arena {
            units: vec![(0, 0); usize::try_from(SCRIPTS).unwrap_or(0)],
        }
    }

    fn input(&mut self, _: &Runtime, _: Player, unit: u32) {
        self.units[unit as usize % 20].1 += 1;
    }

    fn view(&self) -> (i64, u32) {
        self.units[0]
    }
}

async fn measure(log: impl Log + Clone) {
    let play = async {
        let client = Client::on(log.clone(), "alice").await.expect("a client");
        for number in 0..ROOMS {
            client
                .open::<Arena>(&format!("arena-{number}"), &())
                .await
                .expect("it opens");
        }
        let mut statuses = log.hear("status.*").await.expect("it hears");
        let until = Instant::now() + Duration::from_secs(8);
        let (mut frames, mut busy, mut gap) = (0, 0.0, 0.0_f64);
        while let Ok(Some(message)) = timeout(
            until.saturating_duration_since(Instant::now()),
            statuses.next(),
        )
        .await
        {
            let status: ShardStatus = serde_json::from_slice(&message.body).expect("a status");
            if status.rooms.is_empty()
                || until.saturating_duration_since(Instant::now()) > Duration::from_secs(6)
            {
                continue;
            }
            let rooms = u32::try_from(status.rooms.len()).unwrap_or(0)
                * u32::try_from(status.frames).unwrap_or(0);
            frames += rooms;
            busy += status.busy * f64::from(u32::try_from(status.frames).unwrap_or(0));
            gap = gap.max(status.gap);
        }
        println!(
            "{frames} frames of rooms, {:.1} us each, the longest gap {gap:.1} ms",
            busy / f64::from(frames)
        );
    };
    let server = Server::on(log.clone())
        .room::<Arena>()
        .threads(1)
        .serve(play);
    server.await.expect("it serves");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    match std::env::args().nth(1) {
        Some(url) => measure(NatsLog::connect(&url).await.expect("a NATS server")).await,
        None => measure(MemoryLog::new()).await,
    }
}
