//! The nodes: three processes, each with `/health` and `/metrics` for those who watch over them.

use std::path::Path;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use framestep_rooms::{Client, Health};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

use crate::game::Table;
use crate::{Error, connect, folder, nats, server};

pub(crate) mod prometheus;
use prometheus::Numbers;

/// Starts everything, and runs until Ctrl-C.
pub(crate) async fn all() -> Result<(), Error> {
    let url = nats::url(nats::PORT);
    let _nats = nats::start(Path::new("nats-server"), &folder(), nats::PORT).await?;
    let mut nodes = Vec::new();
    for (name, port) in [("a", "9001"), ("b", "9002"), ("c", "9003")] {
        let node = Command::new(std::env::current_exe()?)
            .args(["node", &url, name, port])
            .stdin(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        println!("node {name}: http://127.0.0.1:{port}/health and /metrics");
        nodes.push(node);
    }
    // The gateway. Nobody else opens tables, or knows their seeds.
    let gateway = Client::on(connect(&url, &folder(), "gateway").await?, "gateway").await?;
    let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let seed = u64::try_from(seed & u128::from(u64::MAX))?;
    gateway.open::<Table>("table-1", &seed).await?;
    println!("table-1 is open: `cargo run -p framestep-cards -- play alice`, and bob beside her");
    tokio::signal::ctrl_c().await?;
    // Their standard input ends, and they drain.
    for node in &mut nodes {
        node.stdin.take();
    }
    for mut node in nodes {
        node.wait().await?;
    }
    Ok(())
}

/// A node, until its standard input ends.
pub(crate) async fn node(url: &str, name: &str, port: u16) -> Result<(), Error> {
    let numbers = Numbers::install();
    let server = server(connect(url, &folder(), "node").await?, name);
    let page = TcpListener::bind(("127.0.0.1", port)).await?;
    tokio::spawn(answer_all(page, server.health(), numbers));
    let stop = async {
        let _ = tokio::io::stdin().read(&mut [0]).await;
    };
    Ok(server.serve(stop).await?)
}

async fn answer_all(page: TcpListener, health: Health, numbers: Numbers) {
    while let Ok((stream, _)) = page.accept().await {
        // One that is slow or wrong does not stop the others.
        let (health, numbers) = (health.clone(), numbers.clone());
        tokio::spawn(async move { answer(stream, &health, &numbers).await });
    }
}

async fn answer(mut stream: TcpStream, health: &Health, numbers: &Numbers) -> std::io::Result<()> {
    let mut request = [0; 1_024];
    let length = stream.read(&mut request).await?;
    let request = String::from_utf8_lossy(&request[..length]);
    let (status, body) = match request.split(' ').nth(1) {
        Some("/health") if health.is_ready() => ("200 OK", format!("{health}\n")),
        Some("/health") => ("503 Service Unavailable", format!("{health}\n")),
        Some("/metrics") => ("200 OK", numbers.render()),
        _ => ("404 Not Found", "/health or /metrics\n".to_owned()),
    };
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).await
}
