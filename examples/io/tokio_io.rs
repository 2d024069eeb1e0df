//! Network I/O in a script: tokio's types, awaited while tokio runs on a thread of its own.

use std::error::Error;
use std::io;
use std::thread;
use std::time::Duration;

use framestep::prelude::*;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::runtime;
use tokio::sync::{mpsc, oneshot};

const FRAME: Duration = Duration::from_millis(16);

/// A script: it says a few things to a server, one after the other.
async fn chat(
    address: impl ToSocketAddrs,
    answers: mpsc::UnboundedSender<String>,
) -> io::Result<()> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    for word in ["hello", "how are you", "bye"] {
        stream.write_all(format!("{word}\n").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_line(&mut answer).await?;
        // Nobody listens once the other script has ended.
        let _ = answers.send(answer.trim().to_owned());
        wait_seconds(0.1).await;
    }
    Ok(())
}

/// Another script: it shows what arrives.
async fn show(mut answers: mpsc::UnboundedReceiver<String>) {
    while let Some(answer) = answers.recv().await {
        println!("frame {:>2}: the server says \"{answer}\"", time().frame);
    }
}

/// A server for one guest, on tokio's thread.
async fn echo(listener: TcpListener) -> io::Result<()> {
    let (mut stream, _) = listener.accept().await?;
    let (mut reader, mut writer) = stream.split();
    tokio::io::copy(&mut reader, &mut writer).await?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let tokio = runtime.handle().clone();
    let (shut_down, done) = oneshot::channel::<()>();
    let io_thread = thread::spawn(move || runtime.block_on(done));

    // What a script awaits finds the runtime that this thread has entered.
    let _entered = tokio.enter();
    let listener = tokio.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    tokio.spawn(echo(listener));

    let mut executor = Executor::new();
    let (answers, received) = mpsc::unbounded_channel();
    let chat = executor.start(chat(address, answers));
    executor.start(show(received));
    while !executor.is_empty() && executor.time().elapsed.as_secs() < 5 {
        executor.run_frame(FRAME);
        thread::sleep(FRAME);
    }

    // Should it hang, this is where the time is up: it is stopped.
    chat.stop();
    executor.run_until(chat, FRAME)??;
    println!("frame {:>2}: hung up", executor.time().frame);

    // Fails only if the thread has ended before, as the join tells.
    let _ = shut_down.send(());
    io_thread.join().expect("tokio's thread does not panic")?;
    Ok(())
}
