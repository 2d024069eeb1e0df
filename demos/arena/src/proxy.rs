//! A cable between a node and the log, which can be cut.

use std::io;
use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Forwards connections to a port, unless it is cut: then nothing arrives, in either direction, and
/// nobody is told.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    is_cut: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let own = listener.local_addr()?.port();
        let (is_cut, cut) = watch::channel(false);
        let task = tokio::spawn(async move {
            while let Ok((from, _)) = listener.accept().await {
                tokio::spawn(forward(from, port, cut.clone()));
            }
        });
        Ok(Proxy {
            port: own,
            is_cut,
            task,
        })
    }

    pub(crate) fn cut(&self) {
        self.is_cut.send_replace(true);
    }

    /// Mends the cable. Connections that were cut end, so what was under way is lost.
    pub(crate) fn mend(&self) {
        self.is_cut.send_replace(false);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn forward(from: TcpStream, port: u16, mut cut: watch::Receiver<bool>) {
    if *cut.borrow() {
        let _ = cut.wait_for(|is_cut| !is_cut).await;
        return;
    }
    let Ok(to) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else {
        return;
    };
    // Ticks are small, and must not wait for more.
    let _ = (from.set_nodelay(true), to.set_nodelay(true));
    let ((from_read, from_write), (to_read, to_write)) = (from.into_split(), to.into_split());
    tokio::select! {
        () = pump(from_read, to_write, cut.clone()) => {}
        () = pump(to_read, from_write, cut) => {}
    }
}

/// Ends with the connection, or after it was cut and mended.
async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut cut: watch::Receiver<bool>) {
    let mut bytes = vec![0; 16 << 10];
    loop {
        tokio::select! {
            biased;
            () = is_cut(&mut cut) => break,
            read = from.read(&mut bytes) => match read {
                Ok(count @ 1..) if to.write_all(&bytes[..count]).await.is_ok() => {}
                _ => return,
            }
        }
    }
    let _ = cut.wait_for(|is_cut| !is_cut).await;
}

async fn is_cut(cut: &mut watch::Receiver<bool>) {
    let _ = cut.wait_for(|is_cut| *is_cut).await;
}
