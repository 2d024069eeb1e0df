//! The sources of a game in a folder of its own, and the game that runs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Sources of a game in a folder of its own.
pub(crate) struct Sources {
    pub(crate) folder: PathBuf,
}

impl Sources {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let sources = Sources { folder };
        // What a game of an earlier run has left.
        let _ = fs::remove_dir_all(sources.folder.join("target/debug/framestep_live"));
        sources.copy(
            "",
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/game"),
        );
        sources
    }

    pub(crate) fn copy(&self, to: &str, from: &Path) {
        fs::create_dir_all(self.folder.join(to)).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let (path, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
            let to = Path::new(to).join(name.to_str().unwrap());
            if path.is_dir() {
                self.copy(to.to_str().unwrap(), &path);
                continue;
            }
            let live = env!("CARGO_MANIFEST_DIR");
            let durable = Path::new(live).parent().unwrap().join("framestep_durable");
            let text = fs::read_to_string(&path).unwrap();
            let text = text.replace("@live@", live);
            let text = text.replace("@durable@", durable.to_str().unwrap());
            self.write(to.to_str().unwrap().trim_end_matches(".in"), &text);
        }
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap()
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).unwrap();
    }

    /// Replaces text in a file, as the user of an editor would.
    pub(crate) fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{file} has no {from:?}");
        self.write(file, &text.replace(from, to));
    }

    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(&self.folder);
        command.env("CARGO_TARGET_DIR", self.folder.join("target"));
        // As many have it set: what is told of a program that has ended is not a piece of its backtrace.
        command.env("RUST_BACKTRACE", "1");
        command
    }

    pub(crate) fn start(&self) -> Game {
        self.start_with("live")
    }

    pub(crate) fn start_with(&self, features: &str) -> Game {
        let mut command = self.cargo();
        command.args(["run", "--quiet", "--features", features]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (to, from) = (
            process.stdin.take().unwrap(),
            process.stdout.take().unwrap(),
        );
        let mut game = Game {
            process,
            to,
            from: BufReader::new(from),
            last: String::new(),
        };
        assert_eq!(game.line(), "begins");
        game
    }
}

/// A running game.
pub(crate) struct Game {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    pub(crate) last: String,
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) const MAIN: &str = "src/main.rs";
pub(crate) const SCRIPTS: &str = "scripts/src/lib.rs";
pub(crate) const TOWN: &str = "town/src/lib.rs";
pub(crate) const WORLD: &str = "world/src/lib.rs";

impl Game {
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.from.read_line(&mut line).unwrap();
        assert!(read > 0, "the game has ended, after {}", self.last);
        line.trim_end().to_owned()
    }

    /// Lets it take new code, with which it ends.
    pub(crate) fn ends(&mut self) {
        for _ in 0..8 {
            // It may have ended.
            let _ = writeln!(self.to, "wait");
            if self.from.read_line(&mut String::new()).unwrap_or(0) == 0 {
                self.process.wait().unwrap();
                return;
            }
        }
        panic!("it goes on, after {}", self.last);
    }

    /// Asks for something again and again, until the game does not come to the end of it and another program has
    /// taken its place. Returns its answer.
    pub(crate) fn ask_until_it_hangs(&mut self, what: &str) -> [String; 5] {
        for _ in 0..9 {
            let answer = self.ask(what);
            if answer[4].contains("the new program goes on") {
                return answer;
            }
        }
        panic!("it does not hang, but {}", self.last);
    }

    /// Asks for something. Returns the answer: the frame, the number of scripts, the log, and what
    /// is told about the sources. The last but one says whether it builds, or does not watch yet.
    pub(crate) fn ask(&mut self, what: &str) -> [String; 5] {
        writeln!(self.to, "{what}").unwrap();
        let mut line = self.line();
        if line == "begins" {
            // Another program has taken its place, and has not heard the question.
            writeln!(self.to, "update").unwrap();
            line = self.line();
        }
        self.last.clone_from(&line);
        let parts: Vec<_> = line.splitn(5, " | ").map(str::to_owned).collect();
        parts.try_into().unwrap()
    }

    pub(crate) fn frames(&mut self, frames: u32) -> String {
        (0..frames).for_each(|_| drop(self.ask("frame")));
        let [.., log, _, _] = self.ask("look");
        log
    }

    /// Waits until something else than that is told, which contains this text.
    pub(crate) fn told_after(&mut self, before: &str, text: &str) -> String {
        for _ in 0..16 {
            let [.., builds, told] = self.ask("wait");
            if builds == "false" && told != before && told.contains(text) {
                return told;
            }
        }
        panic!("{text:?} is not told, but {}", self.last);
    }

    /// Waits until a build has begun.
    pub(crate) fn builds(&mut self) {
        for _ in 0..8 {
            let [.., builds, _] = self.ask("wait");
            if builds == "true" {
                return;
            }
        }
        panic!("it does not build, but {}", self.last);
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Waits until the process has ended.
    pub(crate) fn has_ended(&mut self) {
        self.process.wait().unwrap();
    }

    /// Waits until something is told that contains this text.
    pub(crate) fn told(&mut self, text: &str) -> String {
        for _ in 0..8 {
            let [.., builds, told] = self.ask("wait");
            if builds == "false" && told.contains(text) {
                return told;
            }
        }
        panic!("{text:?} is not told, but {}", self.last);
    }
}
