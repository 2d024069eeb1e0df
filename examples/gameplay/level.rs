//! Levels, loaded on threads of their own.

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

/// Reads levels on threads, so that frames go on while a disk is slow.
///
/// The host begins the work between two frames, with [`begin`](Self::begin). So
/// no level is there in the frame that asked for it, however fast the disk.
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

    /// The level in `file`, for a script to await.
    pub(crate) async fn load(&self, file: &'static str) -> io::Result<Level> {
        say("level", &format!("asks for {file}"));
        let (reply, level) = oneshot::channel();
        self.requests.borrow_mut().push(Request { file, reply });
        // The thread wakes this script, which resumes in the next update.
        let level = level.await.map_err(io::Error::other)??;
        say("level", &format!("has loaded \"{}\"", level.name));
        Ok(level)
    }

    /// Starts a thread for every level asked for since the last call.
    pub(crate) fn begin(&self) {
        for request in self.requests.take() {
            let disk_delay = self.disk_delay;
            let thread = thread::spawn(move || {
                thread::sleep(disk_delay);
                // The script that asked may have been stopped since: then nobody listens.
                let _ = request.reply.send(read(request.file));
            });
            self.threads.borrow_mut().push(thread);
        }
    }

    /// Blocks until all threads have sent what they read.
    pub(crate) fn finish(&self) {
        for thread in self.threads.take() {
            // A thread that panicked sent nothing, which the script notices.
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
