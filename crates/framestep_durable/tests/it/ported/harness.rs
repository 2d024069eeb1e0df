//! What is compared, and how lines are counted.

use std::cell::RefCell;
use std::fmt::Debug;
use std::path::Path;

use framestep::Executor;

use crate::twin::{Game, Log};

thread_local! {
    static PRINTED: RefCell<Log> = const { RefCell::new(Vec::new()) };
}

/// Keeps a line that a plain script prints.
pub(crate) fn keep(line: String) {
    PRINTED.with_borrow_mut(|printed| printed.push(line));
}

/// All that plain scripts have printed.
pub(crate) fn printed((): &()) -> String {
    PRINTED.with_borrow(|printed| printed.join("\n"))
}

/// What a durable script does instead of printing, because a replay must not print again.
macro_rules! note {
    ($($text:tt)*) => {{
        let line = format!($($text)*);
        framestep_durable::with(move |log: &mut $crate::twin::Log| log.push(line));
    }};
}

pub(crate) use note;

/// All that durable scripts have printed.
pub(crate) fn lines(log: &Log) -> String {
    log.join("\n")
}

/// A plain script with its host.
pub(crate) struct Plain<W> {
    pub(crate) begin: fn(&mut W) -> Executor,
    pub(crate) frame: fn(u32, &mut Executor, &mut W),
    pub(crate) shown: fn(&W) -> String,
}

impl<W: Default> Plain<W> {
    /// What is to be seen after each of the first frames.
    pub(crate) fn film(&self, frames: u32) -> Vec<String> {
        let mut world = W::default();
        let mut executor = (self.begin)(&mut world);
        let frame = |frame| {
            (self.frame)(frame, &mut executor, &mut world);
            (self.shown)(&world)
        };
        (1..=frames).map(frame).collect()
    }
}

/// Plays the port beside the original, and the port beside its twins that are saved, loaded and
/// rolled back.
#[track_caller]
pub(crate) fn assert_same<W>(film: &[String], game: &Game<W>, shown: fn(&W) -> String)
where
    W: Clone + Default + Debug + PartialEq + 'static,
{
    assert!(
        film.iter().any(|frame| *frame != film[0]),
        "nothing happens"
    );
    let mut world = W::default();
    let mut runtime = (game.blank)();
    (game.begin)(&mut runtime, &mut world);
    for (frame, expected) in (0..).zip(film) {
        (game.frame)(frame, &mut runtime, &mut world);
        assert_eq!(shown(&world), *expected, "after frame {}", frame + 1);
    }
    let end = game.assert_like_its_twin();
    assert_eq!(Some(&shown(&end)), film.last());
}

/// The part of a file before the host, if there is one.
fn script(source: &str) -> &str {
    source
        .split_once("// The host.")
        .map_or(source, |(script, _)| script)
}

/// The lines that count.
fn lines_of(script: &str) -> impl Iterator<Item = &str> {
    let passed_over = ["//", "use ", "pub(crate) use ", "#[durable", "#[derive("];
    script
        .lines()
        .map(str::trim)
        .filter(move |line| !line.is_empty() && !passed_over.iter().any(|it| line.starts_with(it)))
}

/// How many lines differ: of a block of lines in place of others, the longer one counts.
pub(crate) fn changed_lines(plain: &str, durable: &str) -> usize {
    let [plain, durable] = [plain, durable].map(|file| lines_of(script(file)).collect::<Vec<_>>());
    // The longest common part of what is left from each pair of lines on.
    let mut common = vec![vec![0; durable.len() + 1]; plain.len() + 1];
    for i in (0..plain.len()).rev() {
        for j in (0..durable.len()).rev() {
            common[i][j] = if plain[i] == durable[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut changed) = (0, 0, 0);
    let (mut removed, mut added) = (0, 0);
    while i < plain.len() || j < durable.len() {
        if i < plain.len() && j < durable.len() && plain[i] == durable[j] {
            changed += std::mem::take(&mut removed).max(std::mem::take(&mut added));
            (i, j) = (i + 1, j + 1);
        } else if j == durable.len() || i < plain.len() && common[i + 1][j] >= common[i][j + 1] {
            removed += 1;
            i += 1;
        } else {
            added += 1;
            j += 1;
        }
    }
    changed + usize::max(removed, added)
}

/// A text as it is compared: what a formatter changes is left out, and who may use an item.
fn essence(text: &str) -> String {
    let text: String = lines_of(text)
        .map(|line| line.replace("pub(crate) ", ""))
        .collect();
    text.replace(|c: char| c.is_whitespace() || c == ',', "")
}

/// Each item of the script stands in one of the project's files.
#[track_caller]
pub(crate) fn assert_original(plain: &str, files: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &&str| std::fs::read_to_string(root.join(file)).expect(file);
    let originals: Vec<_> = files.iter().map(|file| essence(&read(file))).collect();
    for item in script(plain).split("\n\n") {
        let found = originals.iter().any(|text| text.contains(&essence(item)));
        assert!(found, "not in {files:?}: {item}");
    }
}

/// Makes a test of each folder.
macro_rules! ports {
    ($($name:ident: $frames:literal, $files:expr, $lines:literal;)*) => {
        $(
            #[test]
            fn $name() {
                let plain = $crate::ported::harness::Plain {
                    begin: $name::plain::begin,
                    frame: $name::plain::frame,
                    shown: $name::plain::shown,
                };
                let game = $crate::twin::Game {
                    blank: $name::durable::blank,
                    begin: $name::durable::begin,
                    frame: |frame, runtime, world| {
                        $name::durable::frame(frame + 1, runtime, world);
                    },
                    frames: $frames,
                };
                let shown = $name::durable::shown;
                $crate::ported::harness::assert_same(&plain.film($frames), &game, shown);

                let plain = include_str!(concat!(stringify!($name), "/plain.rs"));
                let durable = include_str!(concat!(stringify!($name), "/durable.rs"));
                $crate::ported::harness::assert_original(plain, $files);
                let changed = $crate::ported::harness::changed_lines(plain, durable);
                assert_eq!(changed, $lines, "changed lines");
            }
        )*
    };
}

pub(crate) use ports;
