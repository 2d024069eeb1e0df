//! A server that speaks the protocol of NATS, and answers what a test says.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What is answered to a message on a subject: headers, which may be empty, and a body.
type Answer = dyn Fn(&str) -> Option<(String, String)> + Send + Sync;

/// Starts one of a version. Returns its address. It ends with the runtime of the test.
pub(crate) async fn nats(
    version: &'static str,
    answer: impl Fn(&str) -> Option<(String, String)> + Send + Sync + 'static,
) -> String {
    nats_that_hangs(version, Arc::default(), answer).await
}

/// The same, which does nothing more once it hangs. Its connections stay.
pub(crate) async fn nats_that_hangs(
    version: &'static str,
    hangs: Arc<AtomicBool>,
    answer: impl Fn(&str) -> Option<(String, String)> + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    let answer: Arc<Answer> = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(serve(stream, version, hangs.clone(), answer.clone()));
        }
    });
    url
}

/// Serves a connection until it ends.
async fn serve(
    stream: TcpStream,
    version: &str,
    hangs: Arc<AtomicBool>,
    answer: Arc<Answer>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let info = format!(
        r#"INFO {{"server_id":"F","version":"{version}","proto":1,"headers":true,"max_payload":1048576,"jetstream":true}}"#
    );
    stream.write_all(format!("{info}\r\n").as_bytes()).await?;
    let mut inboxes: Vec<(String, String)> = Vec::new();
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        if hangs.load(Ordering::SeqCst) {
            pending::<()>().await;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["PING"] => stream.write_all(b"PONG\r\n").await?,
            ["SUB", subject, id] => {
                inboxes.push((subject.trim_end_matches('*').to_owned(), id.to_owned()));
            }
            [kind @ ("PUB" | "HPUB"), subject, ref rest @ ..] => {
                let length: usize = rest.last().unwrap().parse().unwrap();
                let mut body = vec![0; length + 2];
                stream.read_exact(&mut body).await?;
                // A reply, the length of the headers of an HPUB, and the whole length.
                let reply = rest[0];
                let has_reply = rest.len() == if kind == "HPUB" { 3 } else { 2 };
                let inbox = inboxes
                    .iter()
                    .find(|(inbox, _)| reply.starts_with(&**inbox));
                let (Some((_, id)), true) = (inbox, has_reply) else {
                    continue;
                };
                if let Some((headers, body)) = answer(subject) {
                    let headers = format!("NATS/1.0\r\n{headers}\r\n");
                    let (head, all) = (headers.len(), headers.len() + body.len());
                    let message = format!("HMSG {reply} {id} {head} {all}\r\n{headers}{body}\r\n");
                    stream.write_all(message.as_bytes()).await?;
                }
            }
            _ => {}
        }
    }
}
