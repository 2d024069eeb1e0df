//! Messages that the client of NATS cannot read: it ends the connection. `nats-server` passes headers and subjects on
//! as they are, so any player can send them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use framestep_rooms::{Client, Server};

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

    /// Sends a message with these headers, and the same without headers to a subject that is no text.
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
    // The whole log is read.
    let mut replay = Server::at(server.url())
        .room::<Sum>()
        .replay(shard, u64::MAX)
        .await
        .unwrap();
    while replay.next().await.unwrap().is_some() {}
    let second = start(&server.url(), "b").await;
    first.0.send(()).unwrap();
    patient(first.1).await.unwrap().unwrap().unwrap();
    until(&room, |later| later.beats > sum.beats + 40).await;
    second.0.send(()).unwrap();
    patient(second.1).await.unwrap().unwrap().unwrap();
}
