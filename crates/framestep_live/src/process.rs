//! Runs cargo, and new programs on trial, as child processes that can be cancelled and end with the game.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use crate::cargo::Output;

/// How a command has ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) is_success: bool,
    pub(crate) output: Output,
    /// What it has printed to its standard error.
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

/// A command and all that it starts, which end with this process, however that ends.
///
/// On Unix they are a process group, which a shell ends once the pipe from this process is closed. Closing it
/// cancels them, too. On Windows, `taskkill` cancels them, and if this process is killed, they come to their end.
#[derive(Debug)]
pub(crate) struct Group {
    pipe: Option<ChildStdin>,
    pid: u32,
}

/// Runs its arguments, and ends the group of processes when its standard input is closed.
#[cfg(unix)]
const ENDS_WITH_PIPE: &str = r#"
exec 3<&0
"$@" </dev/null 3<&- &
command=$!
{ read -r _ <&3; kill -s TERM -- "-$$"; } >/dev/null 2>&1 &
watch=$!
wait "$command"
status=$?
kill "$watch" 2>/dev/null
exit "$status"
"#;

impl Group {
    /// Starts a command. Its standard input is empty.
    pub(crate) fn start(command: &Command) -> Result<(Self, Child), String> {
        let mut grouped = grouped(command);
        grouped.stdin(Stdio::piped());
        let mut child = grouped
            .spawn()
            .map_err(|error| not_started(command, &error))?;
        let (pipe, pid) = (child.stdin.take(), child.id());
        Ok((Group { pipe, pid }, child))
    }

    /// Ends all of it.
    pub(crate) fn cancel(&mut self) {
        drop(self.pipe.take());
        if cfg!(windows) {
            let pid = self.pid.to_string();
            let mut kill = Command::new("taskkill");
            kill.args(["/T", "/F", "/PID", &pid]).stderr(Stdio::null());
            // If there is no such program, it comes to its end.
            drop(kill.status());
        }
    }
}

#[cfg(unix)]
fn grouped(command: &Command) -> Command {
    use std::os::unix::process::CommandExt;

    let mut shell = Command::new("sh");
    shell.args(["-c", ENDS_WITH_PIPE, "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    copy_setting(command, &mut shell);
    shell.process_group(0);
    shell
}

#[cfg(not(unix))]
fn grouped(command: &Command) -> Command {
    let mut same = Command::new(command.get_program());
    same.args(command.get_args());
    copy_setting(command, &mut same);
    same
}

/// The folder and the variables of a command, and pipes for what it prints.
fn copy_setting(of: &Command, to: &mut Command) {
    if let Some(folder) = of.get_current_dir() {
        to.current_dir(folder);
    }
    for (name, value) in of.get_envs() {
        match value {
            Some(value) => to.env(name, value),
            None => to.env_remove(name),
        };
    }
    to.stdout(Stdio::piped()).stderr(Stdio::piped());
}

/// A running build.
#[derive(Debug)]
pub(crate) struct Build {
    group: Group,
}

impl Build {
    /// Begins a build, and calls `ended` on another thread at its end.
    pub(crate) fn begin(
        command: &Command,
        ended: impl FnOnce(Ended) + Send + 'static,
    ) -> Result<Self, String> {
        let (group, child) = Group::start(command)?;
        let thread = thread::Builder::new().name("framestep live: cargo".to_owned());
        let watched = thread.spawn(move || ended(watch(child)));
        watched.map_err(|error| format!("no thread can be started: {error}"))?;
        Ok(Build { group })
    }

    /// Ends cargo and its compilers.
    pub(crate) fn cancel(&mut self) {
        self.group.cancel();
    }
}

/// Reads what a command prints, until it ends.
pub(crate) fn watch(mut child: Child) -> Ended {
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

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;
    use std::sync::mpsc::channel;

    use super::{Build, Ended};

    fn run(script: &str) -> (Build, std::sync::mpsc::Receiver<Ended>) {
        let (tell, told) = channel();
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("WORD", "heard");
        let build = Build::begin(&command, move |ended| {
            let _ = tell.send(ended);
        });
        (build.unwrap(), told)
    }

    #[test]
    fn a_command_is_told_with_what_it_prints_and_how_it_ends() {
        let (_build, told) = run("read line; echo \"$WORD $line\" >&2; exit 3");
        let ended = told.recv().unwrap();
        assert_eq!((ended.is_success, &*ended.words), (false, "heard \n"));
        let (_build, told) = run("true");
        assert!(told.recv().unwrap().is_success);
    }

    #[test]
    fn a_command_and_what_it_has_started_end_when_the_pipe_from_this_process_closes() {
        // Both would print until the reader is gone.
        let (build, told) = run("while :; do echo; done & while :; do echo; done");
        // As the system does it when this process ends.
        drop(build);
        // All that could write to the pipe of its output is gone.
        assert!(!told.recv().unwrap().is_success);
        let (mut build, told) = run("while :; do echo; done");
        build.cancel();
        assert!(!told.recv().unwrap().is_success);
    }
}
