//! Runs cargo as a child process that can be cancelled.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::cargo::Output;

/// How a build has ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) is_success: bool,
    pub(crate) output: Output,
    /// What cargo itself has printed.
    pub(crate) words: String,
}

/// Cargo as this process was started by it, or as it is found.
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // `cargo run` tells the program about its package. For the cargo within, that is noise.
    for (name, _) in std::env::vars_os() {
        let is_of_package = |name: &str| {
            ["CARGO_PKG_", "CARGO_MANIFEST_"]
                .iter()
                .any(|it| name.starts_with(it))
                || [
                    "CARGO_CRATE_NAME",
                    "CARGO_BIN_NAME",
                    "CARGO_PRIMARY_PACKAGE",
                ]
                .contains(&name)
        };
        if name.to_str().is_some_and(is_of_package) {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// Runs cargo to its end, and returns what it prints.
pub(crate) fn output(mut command: Command) -> Result<String, String> {
    let done = command
        .output()
        .map_err(|error| not_started(&command, &error))?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&done.stderr).trim_end().to_owned())
    }
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    let program = PathBuf::from(command.get_program());
    format!("`{}` cannot be started: {error}", program.display())
}

/// A running build.
#[derive(Debug)]
pub(crate) struct Build {
    pid: u32,
}

impl Build {
    /// Begins a build, and calls `ended` on another thread at its end.
    pub(crate) fn begin(
        mut command: Command,
        ended: impl FnOnce(Ended) + Send + 'static,
    ) -> Result<Self, String> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: cargo's compilers are cancelled with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .spawn()
            .map_err(|error| not_started(&command, &error))?;
        let pid = child.id();
        let thread = thread::Builder::new().name("framestep live: cargo".to_owned());
        let watched = thread.spawn(move || ended(watch(child)));
        watched.map_err(|error| format!("no thread can be started: {error}"))?;
        Ok(Build { pid })
    }

    /// Ends cargo and its compilers.
    pub(crate) fn cancel(&self) {
        let pid = self.pid.to_string();
        let (program, args) = if cfg!(windows) {
            ("taskkill", ["/T", "/F", "/PID", &pid].map(str::to_owned))
        } else {
            let group = format!("-{pid}");
            ("kill", ["-s", "TERM", "--", &group].map(str::to_owned))
        };
        // If there is no such program, the build comes to its end.
        let killed = Command::new(program)
            .args(args)
            .stderr(Stdio::null())
            .status();
        drop(killed);
    }
}

/// Reads what a build prints, until it ends.
fn watch(mut child: Child) -> Ended {
    let stderr = child.stderr.take();
    let words = thread::spawn(move || {
        let mut words = Vec::new();
        if let Some(mut stderr) = stderr {
            // What was read until then is all there is.
            let _ = stderr.read_to_end(&mut words);
        }
        String::from_utf8_lossy(&words).into_owned()
    });
    let mut output = Output::default();
    let lines = child
        .stdout
        .take()
        .map(|stdout| BufReader::new(stdout).lines());
    for line in lines.into_iter().flatten().map_while(Result::ok) {
        output.read(&line);
    }
    let is_success = child.wait().is_ok_and(|status| status.success());
    let words = words.join().unwrap_or_default();
    Ended {
        is_success,
        output,
        words,
    }
}

impl Ended {
    /// What is shown of a build that has failed: the compiler's words, or else cargo's.
    pub(crate) fn errors(self) -> Vec<String> {
        if self.output.errors.is_empty() {
            let is_progress = |line: &&str| {
                let word = line.trim_start().split(' ').next().unwrap_or_default();
                ["Compiling", "Blocking", "Finished", "Locking", "Updating"].contains(&word)
            };
            let lines = self.words.lines().filter(|line| !is_progress(line));
            return vec![lines.collect::<Vec<_>>().join("\n")];
        }
        self.output.errors
    }
}

/// The arguments of a command, for messages.
pub(crate) fn shown(command: &Command) -> String {
    let args = command.get_args().map(OsStr::to_string_lossy);
    format!("cargo {}", args.collect::<Vec<_>>().join(" "))
}
