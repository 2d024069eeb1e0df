//! Network I/O in a script: tokio's types, awaited while tokio runs on its own
//! thread.

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

/// A script that sends a few lines to a server and waits for each answer.
async fn chat(
    address: impl ToSocketAddrs,
    answers: mpsc::UnboundedSender<String>,
) -> io::Result<()> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    for word in ["hello", "how are you", "bye"] {
        stream.write_all(format!("{word}\n").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_line(&mut answer).await?;
        // An error means that the other script has ended.
        let _ = answers.send(answer.trim().to_owned());
        wait_seconds(0.1).await;
    }
    Ok(())
}

/// A script that prints the answers.
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

    // tokio's types find the runtime that this thread has entered.
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

    // Stops the script if it has not ended within five seconds.
    chat.stop();
    executor.run_until(chat, FRAME)??;
    println!("frame {:>2}: hung up", executor.time().frame);

    // An error means that the thread has ended; the join below shows why.
    let _ = shut_down.send(());
    io_thread.join().expect("tokio's thread does not panic")?;
    Ok(())
}
