//! A match and a rematch over TLS, with the accounts of `nats.conf`. Without `nats-server` or `openssl`,
//! nothing is tested.

#[path = "../../../crates/framestep_rooms/tests/support/patience.rs"]
mod patience;

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use framestep_rooms::log::{Log as _, NatsLog};
use framestep_rooms::{Client, RoomClient, Watch};

use crate::game::{Act, Phase, Table, View};
use crate::serve::prometheus::Numbers;
use crate::{nats, server};
use patience::patient;

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn has(program: &str, argument: &str) -> bool {
    std::process::Command::new(program)
        .arg(argument)
        .output()
        .is_ok()
}

/// The connection of a user.
async fn connect(folder: &Path, port: u16, user: &str) -> NatsLog {
    crate::connect(&nats::url(port), folder, user)
        .await
        .unwrap()
}

/// A player at the table.
struct Hand {
    room: RoomClient<Table>,
    watch: Watch<Table>,
    name: &'static str,
}

impl Hand {
    async fn sit(folder: &Path, port: u16, name: &'static str) -> Self {
        let client = Client::on(connect(folder, port, name).await, name)
            .await
            .unwrap();
        let room = client.room::<Table>("table-1").unwrap();
        Hand {
            watch: room.watch().await.unwrap(),
            room,
            name,
        }
    }

    /// The next view that fits. In each, there is no card but the player's own.
    async fn until(&mut self, fits: impl Fn(&View) -> bool) -> View {
        let look = async {
            loop {
                let view = self.watch.next().await.unwrap().expect("it is open").view;
                let own = view.seats.iter().find(|seat| seat.player == self.name);
                assert_eq!(own.map_or(0, |seat| seat.cards), view.hand.len());
                if fits(&view) {
                    return view;
                }
            }
        };
        patient(look).await.expect("the view comes")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_players_play_a_match_and_a_rematch_and_see_no_hand_but_their_own() {
    if !has("nats-server", "--version") || !has("openssl", "version") {
        eprintln!("skipped: there is no nats-server, or no openssl");
        return;
    }
    let folder = Folder(std::env::temp_dir().join(format!("cards-{}", std::process::id())));
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let _nats = nats::start("nats-server".as_ref(), &folder.0, port)
        .await
        .unwrap();
    // Who does not know the certificate is told what to do.
    let url = nats::url(port).replace("//", "//node:node-secret@");
    let error = NatsLog::connect(&url).await.unwrap_err().to_string();
    assert!(
        error.contains("is not accepted") && error.contains("`SSL_CERT_FILE`"),
        "{error}"
    );
    let log = connect(&folder.0, port, "node").await;
    let node = server(log, "a")
        .shards(2)
        .probe_frames(false)
        .on_note(|_| ());
    let health = node.health();
    let numbers = Numbers::install();
    assert!(!health.is_ready());
    let play = async {
        let gateway = connect(&folder.0, port, "gateway").await;
        let gateway = Client::on(gateway, "gateway").await.unwrap();
        gateway.open::<Table>("table-1", &7).await.unwrap();
        // Eve looks for the hand of alice, with the rights of bob.
        let eve = connect(&folder.0, port, "bob").await;
        let mut spied = eve.hear("view.*.*.alice").await.unwrap();

        let mut alice = Hand::sit(&folder.0, port, "alice").await;
        let mut bob = Hand::sit(&folder.0, port, "bob").await;
        let seats = |view: &View| view.seats.iter().filter(|seat| seat.is_here).count();
        alice.until(|view| seats(view) == 2).await;
        for matches in 1..=2 {
            alice.room.send(&Act::Ready).await.unwrap();
            bob.room.send(&Act::Ready).await.unwrap();
            for round in 1..=5 {
                let is_on = |view: &View| {
                    view.phase == Phase::Round(round)
                        && view.matches == matches
                        && view.hand.len() == 6 - usize::from(round)
                        && view.seats.iter().all(|seat| !seat.has_played)
                };
                let (mine, yours) = (alice.until(is_on).await, bob.until(is_on).await);
                assert!(mine.hand.iter().all(|card| !yours.hand.contains(card)));
                // A card of somebody else has no effect.
                alice.room.send(&Act::Play(yours.hand[0])).await.unwrap();
                alice.room.send(&Act::Play(mine.hand[0])).await.unwrap();
                bob.room.send(&Act::Play(yours.hand[0])).await.unwrap();
            }
            let view = alice.until(|view| view.phase == Phase::Ended).await;
            assert_eq!(view.seats.iter().map(|seat| seat.won).sum::<u32>(), 5);
        }
        // She is gone, and comes back.
        let name = alice.name;
        drop(alice);
        let is_gone = |view: &View| {
            let of_it = view.seats.iter().find(|seat| seat.player == name);
            of_it.is_some_and(|seat| !seat.is_here)
        };
        bob.until(is_gone).await;
        assert!(health.is_ready(), "{health}");
        let numbers = numbers.render();
        for name in [
            "rooms_shards{part=\"runs\"} 2",
            "rooms_frames_total{shard=",
            "rooms_inputs_total{shard=",
            "rooms_log_seconds_count{shard=",
        ] {
            assert!(numbers.contains(name), "{name}: {numbers}");
        }
        // It has ended: she may not hear that.
        let spied = patient(spied.next()).await;
        assert_eq!(spied, Some(None));
    };
    Box::pin(node.serve(play)).await.unwrap();
    assert!(!health.is_ready());
}
