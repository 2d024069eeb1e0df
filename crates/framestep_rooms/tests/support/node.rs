//! A node in this process, and what it says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use framestep_rooms::log::Log;
use framestep_rooms::{Room, Server, ServerError, ServerNote};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::patience::patient;

/// A server with short times.
pub(crate) fn server(log: impl Log, name: &str, build: &str, shards: u32) -> Server {
    Server::on(log)
        .named(name)
        .build_id(build)
        .shards(shards)
        .threads(2)
        .ticks_per_second(100)
        .failover_timeout(Duration::from_millis(100))
        .snapshot_interval(Duration::from_millis(200))
        .probe_frames(false)
}

/// A node, and what it has said.
pub(crate) struct Node {
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) ended: JoinHandle<Result<(), ServerError>>,
    pub(crate) notes: Arc<Mutex<Vec<ServerNote>>>,
    /// That there is another note.
    heard: Arc<Notify>,
}

impl Node {
    pub(crate) fn start<R: Room>(server: Server) -> Self {
        let notes = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = oneshot::channel::<()>();
        let heard = Arc::new(Notify::new());
        let told = (notes.clone(), heard.clone());
        let server = server
            .on_note(move |note| {
                told.0.lock().unwrap().push(note.clone());
                told.1.notify_waiters();
            })
            .room::<R>();
        let ended = tokio::spawn(server.serve(async {
            let _ = stopped.await;
        }));
        Node {
            stop,
            ended,
            notes,
            heard,
        }
    }

    /// What it has said that has these words.
    pub(crate) fn said(&self, words: &str) -> Vec<ServerNote> {
        let notes = self.notes.lock().unwrap();
        let said = notes.iter().filter(|note| note.to_string().contains(words));
        said.cloned().collect()
    }

    /// Waits until it says this.
    pub(crate) async fn says(&self, words: &str) -> ServerNote {
        let said = async {
            loop {
                let next = self.heard.notified();
                if let Some(note) = self.said(words).first() {
                    return note.clone();
                }
                next.await;
            }
        };
        let said = patient(said).await;
        said.unwrap_or_else(|| panic!("{words}: {:#?}", self.notes.lock().unwrap()))
    }

    /// Stops it, and returns its warnings.
    pub(crate) async fn stop(self) -> Vec<String> {
        self.stop.send(()).unwrap();
        let ended = patient(self.ended).await;
        ended.expect("it stops").unwrap().unwrap();
        warnings(&self.notes.lock().unwrap())
    }
}

/// Those of the notes that are warnings.
pub(crate) fn warnings(notes: &[ServerNote]) -> Vec<String> {
    let warnings = notes.iter().filter(|note| note.is_warning());
    warnings.map(ToString::to_string).collect()
}
