//! Serves the page, with what it needs to know, on the loopback.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

const PAGE: &str = include_str!("../web/index.html");
/// Connections at once.
const MOST: usize = 16;

/// Serves the page while it lives.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) url: String,
    task: tokio::task::JoinHandle<()>,
}

impl Page {
    /// On this port, 0 for a free one.
    pub(crate) async fn serve(port: u16, web_port: u16, shard: u32) -> Result<Self, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = listener
            .map_err(|error| format!("the page's port {port}: {error}. Choose another: --page"))?;
        let port = listener
            .local_addr()
            .map_err(|error| error.to_string())?
            .port();
        let settings = serde_json::json!({
            "socket": format!("ws://127.0.0.1:{web_port}"),
            "player": "alice",
            "password": "alice-secret",
            "room": "arena-0",
            "shard": shard,
        });
        let page: Arc<str> = PAGE
            .replace("null /* settings */", &settings.to_string())
            .into();
        let places = Arc::new(Semaphore::new(MOST));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(place) = places.clone().try_acquire_owned() else {
                    continue;
                };
                let page = page.clone();
                tokio::spawn(async move {
                    let _ = timeout(Duration::from_secs(5), answer(stream, &page)).await;
                    drop(place);
                });
            }
        });
        Ok(Page {
            url: format!("http://127.0.0.1:{port}"),
            task,
        })
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(stream: TcpStream, page: &str) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first).await?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 || line.trim().is_empty() || first.len() > 4_096
        {
            break;
        }
    }
    let (status, body) = match first.split_whitespace().nth(1) {
        Some("/") => ("200 OK", page),
        _ => ("404 Not Found", ""),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}
