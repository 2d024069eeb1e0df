//! Starts `nats-server` with TLS, for a machine that nobody else reaches.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use async_nats::ConnectOptions;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::Error;

const CONFIGURATION: &str = include_str!("../nats.conf");
const TLS: &str = "# tls {
#   cert_file: \"server.pem\"
#   key_file: \"server-key.pem\"
# }";
/// How often it is asked whether it has started: a machine that is slow takes longer for it.
const STARTS: u32 = 2_400;
/// The port of `nats.conf`.
pub(crate) const PORT: u16 = 4222;

/// The address, with which connections are encrypted.
pub(crate) fn url(port: u16) -> String {
    format!("tls://127.0.0.1:{port}")
}

fn certificate(folder: &Path) -> PathBuf {
    folder.join("server.pem")
}

/// A connection trusts the certificate of this folder, and no other one.
pub(crate) fn with_tls(options: ConnectOptions, folder: &Path) -> ConnectOptions {
    options
        .require_tls(true)
        .add_root_certificates(certificate(folder))
}

/// A certificate that signs itself, by `openssl`. A game has one of its certificate authority.
async fn make_certificate(folder: &Path) -> Result<(), Error> {
    if certificate(folder).exists() {
        return Ok(());
    }
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
        ])
        .args(["-days", "3650", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(folder.join("server-key.pem"))
        .arg("-out")
        .arg(certificate(folder))
        .stderr(Stdio::null())
        .status()
        .await
        .map_err(|error| {
            format!("openssl cannot be started, which makes the certificate: {error}")
        })?;
    if !made.success() {
        return Err("openssl has made no certificate".into());
    }
    Ok(())
}

/// Starts a server with its files in a folder. It ends with this value.
pub(crate) async fn start(program: &Path, folder: &Path, port: u16) -> Result<Child, Error> {
    std::fs::create_dir_all(folder)?;
    make_certificate(folder).await?;
    let path = |name: &str| folder.join(name).display().to_string();
    let tls = format!(
        "tls {{\n  cert_file: \"{}\"\n  key_file: \"{}\"\n}}",
        path("server.pem"),
        path("server-key.pem")
    );
    let configuration = CONFIGURATION
        .replace(TLS, &tls)
        .replace("port: 4222", &format!("port: {port}"))
        .replace("\"nats-store\"", &format!("\"{}\"", path("store")));
    std::fs::write(folder.join("nats.conf"), configuration)?;
    let server = Command::new(program)
        .arg("-c")
        .arg(folder.join("nats.conf"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    let server = server.map_err(|error| {
        format!("nats-server cannot be started (Debian: apt install nats-server): {error}")
    })?;
    for _ in 0..STARTS {
        let connected = tokio::net::TcpStream::connect(("127.0.0.1", port)).await;
        if connected.is_ok() {
            return Ok(server);
        }
        sleep(Duration::from_millis(50)).await;
    }
    Err("nats-server does not answer".into())
}
