//! The driver and the server, started and ended together.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::Handle;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle, spawn_local};

use crate::driver::{self, Frames};
use crate::server;
use crate::world::World;

pub(crate) struct App {
    pub(crate) address: SocketAddr,
    pub(crate) scripts: Handle,
    pub(crate) frames: Frames,
    pub(crate) server: Task<io::Result<()>>,
    /// Returns how many scripts remained. It must end after the server, because the
    /// server's requests need it.
    pub(crate) driver: Task<usize>,
}

impl App {
    pub(crate) async fn begin(address: impl ToSocketAddrs) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let executor = driver::executor();
        let (scripts, frames) = (executor.handle(), Frames::default());
        let counted = frames.clone();
        let driver = Task::begin(|stop| async move {
            let mut world = World::default();
            let executor = driver::drive(executor, &mut world, counted, stop).await;
            executor.len()
        });
        let server = Task::begin(|stop| server::serve(listener, scripts.clone(), stop));
        Ok(App {
            address,
            scripts,
            frames,
            server,
            driver,
        })
    }
}

/// A task that can be ended.
pub(crate) struct Task<T> {
    task: JoinHandle<T>,
    stop: oneshot::Sender<()>,
}

impl<T: 'static> Task<T> {
    /// Begins the task that `make` returns. The task ends soon after `Stop` is ready.
    fn begin<F>(make: impl FnOnce(Stop) -> F) -> Self
    where
        F: Future<Output = T> + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let task = spawn_local(make(Stop(stopped)));
        Task { task, stop }
    }

    /// Requests the end of the task, and waits for it.
    pub(crate) async fn end(self) -> Result<T, JoinError> {
        // It fails only if the task has already ended. Then the join returns at once.
        let _ = self.stop.send(());
        self.task.await
    }
}

/// Ready when a task must end.
struct Stop(oneshot::Receiver<()>);

impl Future for Stop {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Dropping the `Task` also ends the task.
        Pin::new(&mut self.0).poll(cx).map(drop)
    }
}
