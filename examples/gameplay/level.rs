//! Levels, each loaded on its own thread.

use std::cell::RefCell;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fs, io, thread};

use futures::channel::oneshot;

use crate::stage::say;

#[derive(Default)]
pub(crate) struct Level {
    name: String,
    pub(crate) door_seconds: f32,
    pub(crate) posts: Vec<f32>,
    pub(crate) fuse_seconds: u32,
}

impl Level {
    fn parse(text: &str) -> io::Result<Level> {
        let mut level = Level::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            level
                .parse_line(line)
                .ok_or_else(|| io::Error::other(format!("not a line of a level: `{line}`")))?;
        }
        Ok(level)
    }

    fn parse_line(&mut self, line: &str) -> Option<()> {
        let (key, value) = line.split_once(char::is_whitespace)?;
        let value = value.trim();
        match key {
            "name" => self.name = value.into(),
            "door" => self.door_seconds = value.parse().ok()?,
            "posts" => {
                let posts: Result<_, _> = value.split_whitespace().map(str::parse).collect();
                self.posts = posts.ok()?;
            }
            "fuse" => self.fuse_seconds = value.parse().ok()?,
            _ => return None,
        }
        Some(())
    }
}

/// Reads levels on threads, so that a slow disk does not hold up the frames.
///
/// The host starts the threads between two frames, with [`begin`](Self::begin). So
/// a level never arrives in the frame that requested it, however fast the disk is.
pub(crate) struct Loader {
    requests: RefCell<Vec<Request>>,
    threads: RefCell<Vec<JoinHandle<()>>>,
    disk_delay: Duration,
}

struct Request {
    file: &'static str,
    reply: oneshot::Sender<io::Result<Level>>,
}

impl Loader {
    pub(crate) fn new(disk_delay: Duration) -> Self {
        Loader {
            requests: RefCell::default(),
            threads: RefCell::default(),
            disk_delay,
        }
    }

    /// Loads the level in `file`. Scripts await it.
    pub(crate) async fn load(&self, file: &'static str) -> io::Result<Level> {
        say("level", &format!("asks for {file}"));
        let (reply, level) = oneshot::channel();
        self.requests.borrow_mut().push(Request { file, reply });
        // The thread wakes this script, which resumes in the next update.
        let level = level.await.map_err(io::Error::other)??;
        say("level", &format!("has loaded \"{}\"", level.name));
        Ok(level)
    }

    /// Starts a thread for each level that was requested since the last call.
    pub(crate) fn begin(&self) {
        for request in self.requests.take() {
            let disk_delay = self.disk_delay;
            let thread = thread::spawn(move || {
                thread::sleep(disk_delay);
                // An error means that the script has been stopped.
                let _ = request.reply.send(read(request.file));
            });
            self.threads.borrow_mut().push(thread);
        }
    }

    /// Blocks until all threads have sent what they read.
    pub(crate) fn finish(&self) {
        for thread in self.threads.take() {
            // A thread that panicked has sent nothing: the script receives an
            // error.
            let _ = thread.join();
        }
    }
}

fn read(file: &str) -> io::Result<Level> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/gameplay");
    let text = fs::read_to_string(folder.join(file))
        .map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
    Level::parse(&text)
}
