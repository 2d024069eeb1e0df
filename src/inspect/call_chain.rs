//! Through which `async fn`s a script has come to its wait.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The functions through which a script has come to a wait: the `async fn` with the innermost
/// `.await` first, the one that was started last.
///
/// A script has one if its executor was built with
/// [`Builder::call_chains`](crate::Builder::call_chains). It is noted as the wait begins, as addresses. The
/// first call of [`calls`](CallChain::calls), or a print, looks up the names, which takes milliseconds, and
/// more the first time in a program.
///
/// Clones share it. Two are equal if they have the same calls.
#[derive(Clone)]
pub struct CallChain(Arc<Chain>);

struct Chain {
    trace: Backtrace,
    calls: OnceLock<Vec<Call>>,
}

/// A function of a [`CallChain`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Call {
    /// The path of the function, such as `game::doors::open`. If an optimised build has inlined it, and
    /// has only `line-tables-only` as debug information, its last part, such as `{async_fn#0}`.
    pub function: String,
    /// The file and the line of the `.await`, such as `src/doors.rs:12`. `None` in a program without
    /// debug information.
    pub at: Option<String>,
}

/// How many calls are printed at most.
const PRINTED: usize = 24;

impl CallChain {
    /// Notes the functions that are being called on this thread. `None` if the target cannot.
    pub(crate) fn capture() -> Option<Self> {
        let trace = Backtrace::force_capture();
        (trace.status() == BacktraceStatus::Captured).then(|| {
            CallChain(Arc::new(Chain {
                trace,
                calls: OnceLock::new(),
            }))
        })
    }

    /// The functions, innermost first. Empty if the script itself is the future of a wait, or if the
    /// program has no symbols.
    ///
    /// Functions of framestep, of the standard library and of `futures` are left out.
    pub fn calls(&self) -> &[Call] {
        let Chain { trace, calls } = &*self.0;
        calls.get_or_init(|| calls_of(&trace.to_string()))
    }
}

/// The calls between a wait and the poll of its coroutine, in the text of a backtrace.
fn calls_of(trace: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut inner = "";
    for Frame { symbol, place } in frames_of(trace) {
        match Side::of(symbol, place) {
            Side::Executor => break,
            Side::Library => {}
            Side::Script => {
                if !is_around(symbol, inner) {
                    calls.push(Call {
                        function: function(symbol).to_owned(),
                        at: place.map(|place| without_column(place).to_owned()),
                    });
                }
                inner = symbol;
            }
        }
    }
    calls
}

/// A function in the text of a backtrace.
#[derive(Clone, Copy)]
struct Frame<'t> {
    symbol: &'t str,
    place: Option<&'t str>,
}

fn frames_of(trace: &str) -> Vec<Frame<'_>> {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    for line in trace.lines().map(str::trim) {
        if let (Some(place), Some(frame)) = (line.strip_prefix("at "), frames.last_mut()) {
            frame.place = Some(place);
            continue;
        }
        // A function that was inlined has no number.
        let symbol = match line.split_once(": ") {
            Some((number, symbol)) if number.bytes().all(|byte| byte.is_ascii_digit()) => symbol,
            _ => line,
        };
        frames.push(Frame {
            symbol,
            place: None,
        });
    }
    frames
}

/// Whose a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Script,
    /// That of this crate, of the standard library, or of another crate from elsewhere.
    Library,
    /// By which an executor polls or starts a coroutine.
    Executor,
}

impl Side {
    /// By its name, and by its file: debug information may have only the last part of the name of a
    /// function that was inlined.
    fn of(symbol: &str, place: Option<&str>) -> Self {
        const EXECUTOR: [&str; 4] = ["core/task", "core/run", "core/life/start", "executor"];
        const LIBRARIES: [&str; 7] = [
            "framestep_durable::",
            "std::",
            "core::",
            "alloc::",
            "futures",
            "__rust",
            "<unknown>",
        ];
        let path = path(symbol);
        let module = path
            .strip_prefix("framestep::")
            .map(|path| path.replace("::", "/"));
        let file = place.and_then(own_file).map(str::to_owned);
        if let Some(own) = file.or(module) {
            let is_executor = EXECUTOR.iter().any(|module| own.starts_with(module));
            return if is_executor {
                Side::Executor
            } else {
                Side::Library
            };
        }
        let is_elsewhere = |place: &str| {
            let place = place.replace('\\', "/");
            let folders = [
                "/rustc/",
                "/registry/src/",
                "/git/checkouts/",
                "/rustlib/src/",
            ];
            folders.iter().any(|folder| place.contains(folder))
        };
        if LIBRARIES.iter().any(|library| path.starts_with(library))
            || place.is_some_and(is_elsewhere)
        {
            Side::Library
        } else {
            Side::Script
        }
    }
}

/// The path of a file of this crate in its folder `src`.
fn own_file(place: &str) -> Option<&str> {
    const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");
    // The web has no backtraces, and its programs shall not contain a path of the machine that has built them.
    if cfg!(target_family = "wasm") {
        return None;
    }
    if let Some(file) = place.strip_prefix(SOURCE) {
        return Some(file);
    }
    // A backtrace shortens paths below the present folder.
    let here = std::env::current_dir().ok()?;
    let below = SOURCE.strip_prefix(here.to_str()?)?;
    place.strip_prefix('.')?.strip_prefix(below)
}

/// Whether `inner`, which it has called, is a closure or an `async` block of it, or of the same function: as the
/// macros make them. Of these, the innermost one is shown.
fn is_around(symbol: &str, inner: &str) -> bool {
    match inner.strip_prefix(symbol) {
        Some("") => function(symbol).len() + "::{{closure}}".len() < symbol.len(),
        Some(closure) => closure.starts_with("::{"),
        None => false,
    }
}

/// The path at the beginning of a symbol such as `<&mut game::Door as core::future::Future>::poll`.
fn path(symbol: &str) -> &str {
    if symbol == "<unknown>" {
        return symbol;
    }
    let path = symbol.trim_start_matches(['<', '&', ' ']);
    path.strip_prefix("mut ").unwrap_or(path)
}

/// The path of an `async fn`, whose body is a closure for the compiler.
fn function(symbol: &str) -> &str {
    let mut path = symbol;
    while let Some(shorter) = path.strip_suffix("::{{closure}}").or_else(|| {
        let (shorter, number) = path.rsplit_once("::{closure#")?;
        let number = number.strip_suffix('}')?;
        number
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(shorter)
    }) {
        path = shorter;
    }
    path
}

/// `src/doors.rs:12` of `./src/doors.rs:12:5`.
fn without_column(place: &str) -> &str {
    let place = place.strip_prefix("./").unwrap_or(place);
    let mut parts = place.rsplitn(3, ':');
    let (column, line) = (parts.next(), parts.next());
    let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    match column {
        Some(column) if is_number(Some(column)) && is_number(line) => {
            &place[..place.len() - column.len() - 1]
        }
        _ => place,
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{} at {at}", self.function),
            None => f.write_str(&self.function),
        }
    }
}

/// One call in each line, at most 24.
impl fmt::Display for CallChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.calls();
        let mut between = "";
        for call in calls.iter().take(PRINTED) {
            write!(f, "{between}{call}")?;
            between = "\n";
        }
        match calls.len().saturating_sub(PRINTED) {
            0 => Ok(()),
            more => write!(f, "\n.. and {more} more"),
        }
    }
}

impl fmt::Debug for CallChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallChain").field(&self.calls()).finish()
    }
}

impl PartialEq for CallChain {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.calls() == other.calls()
    }
}

impl Eq for CallChain {}

#[cfg(test)]
mod tests {
    use super::{calls_of, without_column};

    /// What the standard library prints, on Linux with debug information.
    const TRACE: &str = "   0: std::backtrace_rs::backtrace::trace
             at /rustc/5980/library/std/src/../../backtrace/src/backtrace/mod.rs:66:14
   1: framestep::inspect::awaited::note_wait
             at ./src/inspect/awaited.rs:53:9
   2: <framestep::wait::seconds::WaitSeconds as core::future::future::Future>::poll
             at ./src/wait/seconds.rs:241:18
   3: game::doors::open::{{closure}}
             at ./game/src/doors.rs:12:27
      game::doors::creak::{{closure}}
             at C:/game/src/doors.rs:40:9
   4: <core::pin::Pin<P> as core::future::future::Future>::poll
             at /rustc/5980/library/core/src/future/future.rs:133:9
   5: <&mut game::Slowly<F> as core::future::future::Future>::poll
      poll<game::Door>
             at /home/me/.cargo/registry/src/index.crates.io-6f17d22bba15001f/slow-1.0.0/src/lib.rs:9:1
      {async_fn#0}
             at ./game/src/scene.rs:8:3
   6: game::scene::{closure#0}::{closure#1}
             at ./game/src/scene.rs:3:7
   7: <core::future::poll_fn::PollFn<F> as core::future::future::Future>::poll
   8: game::scene::{closure#0}
             at ./game/src/scene.rs:2:5
   9: game::again::{{closure}}
  10: game::again::{{closure}}
  11: framestep::core::task::block::poll
             at ./src/core/task/block.rs:102:38
  12: game::main
             at ./game/src/main.rs:9:5
";

    #[test]
    fn the_calls_are_those_of_the_script_up_to_its_poll() {
        let calls: Vec<String> = calls_of(TRACE).iter().map(ToString::to_string).collect();
        assert_eq!(
            calls,
            [
                "game::doors::open at game/src/doors.rs:12",
                "game::doors::creak at C:/game/src/doors.rs:40",
                "<&mut game::Slowly<F> as core::future::future::Future>::poll",
                "{async_fn#0} at game/src/scene.rs:8",
                "game::scene at game/src/scene.rs:3",
                "game::again",
                "game::again",
            ]
        );
    }

    #[test]
    fn functions_of_this_crate_are_found_by_their_files_if_their_names_are_short() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let trace = format!(
            "   0: note
             at {source}/wait/phase_wait.rs:144:9
      {{async_fn#0}}
             at /game/src/doors.rs:12:27
      poll<framestep::wait::Animate>
             at {source}/combine/join.rs:30:9
      {{async_fn#0}}
             at /game/src/doors.rs:20:5
   1: poll
             at {source}/core/task/block.rs:102:38
      main
             at /game/src/main.rs:9:5
"
        );
        let places: Vec<_> = calls_of(&trace)
            .into_iter()
            .map(|call| call.at.unwrap())
            .collect();
        assert_eq!(places, ["/game/src/doors.rs:12", "/game/src/doors.rs:20"]);
    }

    #[test]
    fn without_symbols_there_are_no_calls() {
        assert_eq!(calls_of("   0: <unknown>\n   1: <unknown>\n"), []);
        assert_eq!(calls_of(""), []);
    }

    #[test]
    fn a_place_loses_its_column_and_nothing_else() {
        for (place, expected) in [
            ("./src/a.rs:1:2", "src/a.rs:1"),
            ("C:\\src\\a.rs:1:2", "C:\\src\\a.rs:1"),
            ("a.rs:1", "a.rs:1"),
            ("C:a.rs", "C:a.rs"),
        ] {
            assert_eq!(without_column(place), expected);
        }
    }
}
