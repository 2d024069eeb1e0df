//! Messages that the client of NATS cannot read: it ends the connection. `nats-server` passes headers and subjects on
//! as they are, so any player can send them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use framestep_rooms::log::{Log as _, NatsLog};
use framestep_rooms::{Client, Player, Topic};
use tokio::time::{sleep, timeout};

use crate::patience::patient;
use crate::support::NatsServer;
use crate::views::until;
use crate::{Sum, start};

/// A player with the text protocol of NATS.
struct Attacker(BufReader<TcpStream>);

impl Attacker {
    fn connect(server: &NatsServer) -> Self {
        let address = server.url().replace("nats://", "");
        let mut attacker = Attacker(BufReader::new(TcpStream::connect(address).unwrap()));
        attacker.write(b"CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true}\r\n");
        attacker
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    /// Sends a message with these headers.
    fn send(&mut self, subject: &[u8], headers: &[u8]) {
        let length = headers.len();
        let line = [
            b"HPUB ",
            subject,
            format!(" {length} {length}\r\n").as_bytes(),
        ]
        .concat();
        self.write(&[&line, headers, b"\r\n"].concat());
    }

    /// Waits until the server has what was sent.
    fn flush(&mut self) {
        self.write(b"PING\r\n");
        let mut line = String::new();
        while line != "PONG\r\n" {
            line.clear();
            self.0.read_line(&mut line).unwrap();
        }
    }
}

const HEADERS: [&[u8]; 4] = [
    b"garbage\r\n\r\n",
    b"NATS/1.0\r\nno colon\r\n\r\n",
    b"NATS/1.0\r\nname: \xff\r\n\r\n",
    b"NATS/1.0 abc\r\n\r\n",
];

/// ```text
/// log    alice  eve, with headers and subjects that are no text  alice
/// entry  1      2 .. 7                                           8
/// ```
#[tokio::test]
async fn a_reader_reads_what_the_client_cannot() {
    let Some(server) = NatsServer::start("unreadable-log").await else {
        return;
    };
    let log = NatsLog::connect(&server.url()).await.unwrap();
    log.prepare(1, 4_096).await.unwrap();
    let topic = |player| Topic::Input("sum".into(), Player::new(player).unwrap());
    log.append(0, &topic("alice"), "a", b"one").await.unwrap();
    let mut eve = Attacker::connect(&server);
    for headers in HEADERS {
        eve.send(b"log.0.room.sum.eve", headers);
    }
    for subject in [&b"\xff.eve"[..], b"a\x7f.eve"] {
        eve.write(&[b"PUB log.0.room.", subject, b" 3\r\neve\r\n"].concat());
    }
    eve.flush();
    log.append(0, &topic("alice"), "b", b"two").await.unwrap();
    let mut reader = log.read(0, 1).await.unwrap();
    let mut entries = Vec::new();
    let read = async {
        while entries.len() < 8 {
            let batch = reader.next(Duration::from_millis(200)).await.unwrap();
            entries.extend(batch.entries);
        }
    };
    patient(read).await.expect("they are read");
    assert!(entries.iter().map(|entry| entry.seq).eq(1..=8));
    let topics: Vec<_> = entries.into_iter().map(|entry| entry.topic).collect();
    let (alice, of_eve) = (Some(topic("alice")), Some(topic("eve")));
    assert_eq!(topics[0], alice);
    assert!(topics[1..5].iter().all(|it| *it == of_eve), "{topics:?}");
    assert_eq!(topics[5..], [None, None, alice]);

    let mut inbox = log.hear("watch.*.*").await.unwrap();
    assert_eq!(inbox.connections(), 1);
    let heard = async {
        // The server may not have the subscription yet.
        while inbox.connections() < 2 {
            eve.send(b"rooms.watch.0.sum", HEADERS[0]);
            eve.flush();
            sleep(Duration::from_millis(20)).await;
        }
        loop {
            log.say("watch.0.sum", b"begins".to_vec()).await.unwrap();
            if let Ok(message) = timeout(Duration::from_millis(200), inbox.next()).await {
                return message.expect("it goes on").channel;
            }
        }
    };
    assert_eq!(patient(heard).await.expect("it hears again"), "watch.0.sum");
}

/// ```text
/// eve    garbage to the log, and to those who hear watchers, again and again
/// alice  sends 1 .. 20, and sees their sum; a node that starts then reads the same log
/// ```
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_client_cannot_read_stops_no_room() {
    let Some(server) = NatsServer::start("unreadable").await else {
        return;
    };
    let first = start(&server.url(), "a").await;
    let client = Client::at(&server.url(), "alice").await.unwrap();
    let room = client.open::<Sum>("sum", &0).await.unwrap();
    let beats = until(&room, |sum| sum.beats > 2).await.beats;
    let shard = client.shard("sum");
    let mut eve = Attacker::connect(&server);
    let mut expected = 0;
    for by in 1..=20_u64 {
        for headers in HEADERS {
            eve.send(format!("log.{shard}.room.sum.eve").as_bytes(), headers);
            eve.send(format!("rooms.watch.{shard}.sum.eve").as_bytes(), headers);
        }
        eve.write(format!("PUB log.{shard}.room.").as_bytes());
        eve.write(b"\xff\xfe.eve 0\r\n\r\nPUB rooms.watch.\xc3(.sum 0\r\n\r\n");
        eve.flush();
        room.send(&by).await.unwrap();
        expected += by;
    }
    let sum = until(&room, |sum| sum.sum == expected).await;
    until(&room, |later| later.beats > sum.beats.max(beats) + 20).await;
    let second = start(&server.url(), "b").await;
    first.0.send(()).unwrap();
    patient(first.1).await.unwrap().unwrap().unwrap();
    until(&room, |later| later.beats > sum.beats + 40).await;
    second.0.send(()).unwrap();
    patient(second.1).await.unwrap().unwrap().unwrap();
}
