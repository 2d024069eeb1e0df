//! An HTTP client for scripts: scripts await all its functions.

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;

use framestep::prelude::*;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

pub(crate) type Answer = Result<(StatusCode, String), Box<dyn Error>>;

/// A connection to the server.
pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    /// Reads and writes the socket. It ends with the client, which closes the
    /// connection.
    _connection: Coroutine<()>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self, Box<dyn Error>> {
        Self::over(TcpStream::connect(address).await?).await
    }

    pub(crate) async fn over(
        stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    ) -> Result<Self, Box<dyn Error>> {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = spawn(async {
            // The current request gets the error.
            let _ = connection.await;
        });
        Ok(Client {
            sender,
            _connection: connection.named("connection").stop_on_drop(),
        })
    }

    pub(crate) async fn ask(&mut self, method: Method, path: &str, body: &str) -> Answer {
        let body = Full::from(body.to_owned());
        let request = Request::builder().method(method).uri(path).body(body)?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
