//! Starts and ends `nats-server`.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, ServerAddr};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

const CONFIGURATION: &str = include_str!("../nats.conf");
/// How long it may take to end.
const END: Duration = Duration::from_secs(20);
/// How often it is asked whether it has started: a machine that is slow takes longer for it.
const STARTS: u32 = 3_000;

/// A `nats-server` of this process, with its files in a folder.
#[derive(Debug)]
pub(crate) struct Nats {
    program: PathBuf,
    folder: PathBuf,
    child: Child,
    pub(crate) port: u16,
    /// For websockets.
    pub(crate) web_port: u16,
}

/// A port of the loopback that nobody uses.
pub(crate) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

impl Nats {
    pub(crate) async fn start(folder: &Path) -> Result<Self, String> {
        Self::start_program("nats-server".as_ref(), folder).await
    }

    /// The same with the executable of some version.
    pub(crate) async fn start_program(program: &Path, folder: &Path) -> Result<Self, String> {
        let failed = |error: io::Error| error.to_string();
        let (port, web_port) = (free_port().map_err(failed)?, free_port().map_err(failed)?);
        let configuration = CONFIGURATION
            .replace("port: 9222", &format!("port: {web_port}"))
            .replace(
                "\"nats-store\"",
                &format!("\"{}\"", folder.join("store").display()),
            );
        std::fs::create_dir_all(folder).map_err(failed)?;
        std::fs::write(folder.join("nats.conf"), configuration).map_err(failed)?;
        let child = spawn(program, folder, port)?;
        let mut nats = Nats {
            program: program.to_owned(),
            folder: folder.to_owned(),
            child,
            port,
            web_port,
        };
        nats.answers().await?;
        Ok(nats)
    }

    /// The address for a user of `nats.conf`.
    pub(crate) fn url(&self, user: &str) -> String {
        url(self.port, user)
    }

    /// Ends it as by `kill -9`, and starts it again with the same files after a while.
    pub(crate) async fn kill(&mut self, away: Duration) -> Result<(), String> {
        self.stop().await;
        sleep(away).await;
        self.child = spawn(&self.program, &self.folder, self.port)?;
        self.answers().await
    }

    pub(crate) async fn end(mut self) {
        self.stop().await;
    }

    async fn stop(&mut self) {
        // The end of its input ends it.
        drop(self.child.stdin.take());
        let _ = timeout(END, self.child.wait()).await;
    }

    /// Copies the store into a folder for another server, while this one writes into it.
    pub(crate) async fn copy(&self, folder: &Path) -> Result<(), String> {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        // Its answer does not matter: files may go while they are copied.
        let copied = Command::new("cp")
            .arg("-a")
            .args([self.folder.join("store"), folder.join("store")])
            .stderr(Stdio::null())
            .status()
            .await;
        copied.map(drop).map_err(|error| error.to_string())
    }

    async fn answers(&mut self) -> Result<(), String> {
        for _ in 0..STARTS {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))
                .await
                .is_ok()
            {
                return Ok(());
            }
            if self.child.try_wait().ok().flatten().is_some() {
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
        let log = std::fs::read_to_string(self.folder.join("nats.log")).unwrap_or_default();
        Err(format!("nats-server does not start:\n{log}"))
    }
}

pub(crate) fn url(port: u16, user: &str) -> String {
    format!("nats://{user}:{user}-secret@127.0.0.1:{port}")
}

/// Connects as the user of an address, again and again.
pub(crate) async fn connect(url: &str) -> Result<Client, String> {
    let address: ServerAddr = url
        .parse()
        .map_err(|error| format!("the address of NATS: {error}"))?;
    let (user, password) = (
        address.username().unwrap_or_default(),
        address.password().unwrap_or_default(),
    );
    let options = ConnectOptions::with_user_and_password(user.to_owned(), password.to_owned());
    let connected = options.max_reconnects(None).connect(address).await;
    connected.map_err(|error| error.to_string())
}

fn spawn(program: &Path, folder: &Path, port: u16) -> Result<Child, String> {
    let log = File::options()
        .create(true)
        .append(true)
        .open(folder.join("nats.log"));
    let log = log.map_err(|error| error.to_string())?;
    if version(program).is_none() {
        return Err(
            "the arena needs `nats-server`, which is not installed. Debian and Ubuntu: \
             `apt-get install nats-server`; macOS: `brew install nats-server`; others: \
             https://nats.io/download. Rooms also run without it, on one machine: see \
             docs/guide/rooms.md"
                .to_owned(),
        );
    }
    let child = Command::new("sh")
        .args(["-c", KEEPER, "keeper"])
        .arg(program)
        .arg("-c")
        .arg(folder.join("nats.conf"))
        .arg("-p")
        .arg(port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn();
    child.map_err(|error| format!("nats-server cannot be started: {error}"))
}

/// Runs a program, and ends it as by `kill -9` when the input ends: by [`Nats::kill`], or with the
/// process that has started it, however that ends.
const KEEPER: &str = r#"
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
{ cat <&3 >/dev/null; kill -9 $program; } 2>/dev/null &
exec 3<&-
wait $program
"#;

/// The version of an executable, as it says. `None` if there is none.
pub(crate) fn version(program: &Path) -> Option<String> {
    let version = std::process::Command::new(program)
        .arg("--version")
        .stderr(Stdio::null())
        .output();
    Some(
        String::from_utf8_lossy(&version.ok()?.stdout)
            .trim()
            .to_owned(),
    )
}
