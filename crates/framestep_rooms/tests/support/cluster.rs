//! Three servers of NATS in a cluster, whose cables can be cut.

use std::net::TcpListener as StdListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How many servers there are.
const COUNT: usize = 3;

struct Server {
    process: Child,
    port: u16,
    is_stopped: bool,
}

/// A cluster on the loopback. It ends with this value.
pub(crate) struct Cluster {
    program: PathBuf,
    folder: PathBuf,
    servers: Vec<Server>,
    /// Of each server, whether it is cut off from the others.
    cut: Vec<watch::Sender<bool>>,
}

fn free_port() -> u16 {
    let listener = StdListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Cluster {
    pub(crate) async fn start(program: &Path) -> Self {
        let folder = std::env::temp_dir().join(format!("framestep-cluster-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let ports: Vec<(u16, u16)> = (0..COUNT).map(|_| (free_port(), free_port())).collect();
        let cut: Vec<_> = (0..COUNT).map(|_| watch::Sender::new(false)).collect();
        let mut servers = Vec::new();
        for (number, &(port, routes)) in ports.iter().enumerate() {
            let mut cables = Vec::new();
            for other in (0..COUNT).filter(|other| *other != number) {
                let cable = cable(ports[other].1, &cut[number], &cut[other]).await;
                cables.push(format!("nats://127.0.0.1:{cable}"));
            }
            let configuration = format!(
                "server_name: s{number}\nlisten: 127.0.0.1:{port}\njetstream {{ store_dir: \"{}\" }}\ncluster {{ \
                 name: c, listen: 127.0.0.1:{routes}, no_advertise: true, routes: [{}] }}\n",
                folder.join(format!("store-{number}")).display(),
                cables.join(", ")
            );
            std::fs::write(folder.join(format!("{number}.conf")), configuration).unwrap();
            servers.push(Server {
                process: spawn(program, &folder, number),
                port,
                is_stopped: false,
            });
        }
        Cluster {
            program: program.to_owned(),
            folder,
            servers,
            cut,
        }
    }

    pub(crate) fn url(&self) -> String {
        let url = |server: &Server| format!("nats://127.0.0.1:{}", server.port);
        self.servers.iter().map(url).collect::<Vec<_>>().join(",")
    }

    /// The server that leads the most of these streams.
    pub(crate) async fn leader(&self, streams: &[String]) -> usize {
        let leads = async {
            let context = jetstream::new(async_nats::connect(self.urls()).await.ok()?);
            let mut leads = [0; COUNT];
            for stream in streams {
                let info = context.get_stream(stream).await.ok()?;
                let leader = info.cached_info().cluster.as_ref()?.leader.clone()?;
                leads[leader.strip_prefix('s')?.parse::<usize>().ok()?] += 1;
            }
            (0..COUNT).max_by_key(|server| leads[*server])
        };
        timeout(Duration::from_secs(10), leads)
            .await
            .ok()
            .flatten()
            .unwrap_or(0)
    }

    fn urls(&self) -> Vec<String> {
        self.url().split(',').map(str::to_owned).collect()
    }

    /// As by `kill -9`.
    pub(crate) fn kill(&mut self, number: usize) {
        let process = &mut self.servers[number].process;
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Ends it as an operator does.
    pub(crate) fn end(&mut self, number: usize) {
        self.signal(number, "TERM");
        self.servers[number].process.wait().unwrap();
    }

    pub(crate) fn begin(&mut self, number: usize) {
        self.servers[number].process = spawn(&self.program, &self.folder, number);
    }

    /// Loses what the server has stored. It must have ended.
    pub(crate) fn lose_disk(&self, number: usize) {
        std::fs::remove_dir_all(self.folder.join(format!("store-{number}"))).unwrap();
    }

    pub(crate) fn set_stopped(&mut self, number: usize, is_stopped: bool) {
        self.servers[number].is_stopped = is_stopped;
        self.signal(number, if is_stopped { "STOP" } else { "CONT" });
    }

    pub(crate) fn set_cut(&self, number: usize, is_cut: bool) {
        self.cut[number].send_replace(is_cut);
    }

    fn signal(&self, number: usize, signal: &str) {
        let pid = self.servers[number].process.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &pid])
            .status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.process.kill();
            let _ = server.process.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn spawn(program: &Path, folder: &Path, number: usize) -> Child {
    Command::new(program)
        .arg("-c")
        .arg(folder.join(format!("{number}.conf")))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A cable to a port, which says nothing while one of its ends is cut off. Returns its own port.
async fn cable(to: u16, one: &watch::Sender<bool>, other: &watch::Sender<bool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let ends = Arc::new([one.subscribe(), other.subscribe()]);
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let is_cut = ends.iter().any(|end| *end.borrow());
            let far = TcpStream::connect(("127.0.0.1", to)).await;
            if let (Ok(far), false) = (far, is_cut) {
                let ((near_reads, near_writes), (far_reads, far_writes)) =
                    (near.into_split(), far.into_split());
                tokio::spawn(pump(near_reads, far_writes, ends.clone()));
                tokio::spawn(pump(far_reads, near_writes, ends.clone()));
            }
        }
    });
    port
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    ends: Arc<[watch::Receiver<bool>; 2]>,
) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        while ends.iter().any(|end| *end.borrow()) {
            sleep(Duration::from_millis(20)).await;
        }
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}
