//! A NATS server for a test.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use framestep_rooms::log::{LogError, NatsLog};

/// A server on a free port of the loopback, with a folder of its own. It ends with this value.
pub(crate) struct NatsServer {
    program: PathBuf,
    process: Child,
    port: u16,
    folder: PathBuf,
}

impl NatsServer {
    /// Starts one. `None`, with a message, if the program is missing.
    pub(crate) async fn start(test: &str) -> Option<Self> {
        Self::start_with(test, "").await
    }

    /// The same with more settings of `JetStream`.
    pub(crate) async fn start_with(test: &str, settings: &str) -> Option<Self> {
        Self::start_program("nats-server".as_ref(), test, settings).await
    }

    /// The same with the executable of some version.
    pub(crate) async fn start_program(program: &Path, test: &str, settings: &str) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let folder =
            std::env::temp_dir().join(format!("framestep-rooms-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let configuration = format!(
            "jetstream {{\n store_dir: \"{}\"\n {settings}\n}}\n",
            folder.display()
        );
        std::fs::write(folder.join("nats.conf"), configuration).unwrap();
        let Some(process) = spawn(program, port, &folder) else {
            eprintln!("skipped: there is no nats-server (Debian: apt install nats-server)");
            return None;
        };
        let server = NatsServer {
            program: program.to_owned(),
            process,
            port,
            folder,
        };
        server.wait().await;
        Some(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills the server, and starts it again on what it has stored.
    pub(crate) async fn kill_and_restart(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.process = spawn(&self.program, self.port, &self.folder).unwrap();
        self.wait().await;
    }

    async fn wait(&self) {
        // By their number: a machine that is slow takes longer for each.
        for _ in 0..2_400 {
            // One with users answers that there are none in this address.
            if !matches!(
                NatsLog::connect(&self.url()).await,
                Err(LogError::Unreachable(_))
            ) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("nats-server does not answer");
    }
}

fn spawn(program: &Path, port: u16, folder: &Path) -> Option<Child> {
    Command::new(program)
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-c"])
        .arg(folder.join("nats.conf"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
