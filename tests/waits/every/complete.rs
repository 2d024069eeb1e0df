//! The tables have all waits and combinators: each public type and function is in them, or
//! is listed as something else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use framestep_testkit::combinators::COMBINATORS;
use framestep_testkit::exports::{exported, functions_of};
use framestep_testkit::waits::WAITS;

/// Public types that are not awaited.
const OTHER_TYPES: &[&str] = &[
    "Behaviour",
    "Budget",
    "Builder",
    "Clock",
    "ClockGuard",
    "CoroutineId",
    "CoroutineInfo",
    "Defer",
    "DeferCall",
    "Elapsed",
    "Executor",
    "Group",
    "FRAME_RATES",
    "Handle",
    "JoinError",
    "Lend",
    "MissedTicks",
    "Moment",
    "Outcome",
    "ScriptBuilder",
    "Owner",
    "PauseGuard",
    "OwnerHandle",
    "PendingStop",
    "Permit",
    "Semaphore",
    "Phase",
    "Profile",
    "RemoteHandle",
    "SpawnError",
    "Report",
    "OutputSource",
    "Scene",
    "SceneContext",
    "SceneHandle",
    "Script",
    "Seconds",
    "SendOwner",
    "Signal",
    "Snapshot",
    "Source",
    "SourceKind",
    "State",
    "BehaviourHandle",
    "Tick",
    "Time",
    "TimerClock",
    "TraceEvent",
    "TraceHook",
    "TraceKind",
    "Wait",
    "WaitNote",
    "Waiting",
    "Watch",
    "WatchReader",
    "LendError",
    "Canceled",
    "Resolver",
];

/// Waits of a script that is on an owner, which those of the table need not be. Their tests are
/// in `lifetimes`.
const OF_OWNERS: &[&str] = &["StopRequested"];

/// Waits that any thread resumes, like a future of another crate: no run is promised. Their tests
/// are in `events`.
const OF_ANY_THREAD: &[&str] = &["Promise"];

/// Public functions that return a wait of the table under another name.
const SAME_WAITS: &[&str] = &[
    // They make a coroutine, as `start` does.
    "spawn",
    "spawn_in",
    "start_from",
    "start_in",
    "start_with",
    // They return a handle, or a wait for its end.
    "named",
    "stop_on_drop",
    // They return the handle of a script of a group.
    "add",
    // They return the same wait, in another phase or with another policy.
    "in_phase",
    "missed_ticks",
    "first_after",
    "with_present",
    // The next item of a stream.
    "next",
    "tick",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src")
}

fn sources(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be read").path();
        // The hidden door of the companion is no part of the public interface.
        let is_hidden = path == root().join("durable");
        if path.is_dir() && !is_hidden {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(fs::read_to_string(path).expect("it is text"));
        }
    }
    found
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Each public function of `src`, with the type that it returns.
fn functions() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for text in sources(&root()) {
        for word in ["pub fn ", "pub async fn "] {
            for rest in text.split(word).skip(1) {
                let name: String = rest.chars().take_while(|&char| is_name(char)).collect();
                let head = rest.split(" {\n").next().expect("there is one");
                let head = head.split("\nwhere").next().expect("there is one");
                let returned = head.rsplit_once("-> ").map_or("", |(_, returned)| returned);
                let awaited = if word.contains("async") {
                    "impl Future"
                } else {
                    returned
                };
                found.push((name, awaited.trim().to_owned()));
            }
        }
    }
    assert!(found.contains(&("next_frame".into(), "NextFrame".into())));
    found
}

#[test]
fn each_public_type_is_in_the_table_or_is_no_wait() {
    let waits: BTreeSet<&str> = WAITS.iter().map(|row| row.of).collect();
    for name in exported() {
        if name.starts_with(|first: char| first.is_uppercase()) {
            let wait = waits.contains(&*name)
                || OF_OWNERS.contains(&&*name)
                || OF_ANY_THREAD.contains(&&*name);
            let other = OTHER_TYPES.contains(&&*name);
            assert!(
                wait != other,
                "{name}: a row of crates/framestep_testkit/src/waits/table.rs, or one of the other types?"
            );
        }
    }
    for text in sources(&root()) {
        for name in OTHER_TYPES {
            for what in ["Future", "Stream"] {
                let named = format!(" {what} for {name}");
                let mut found = text.split(&named).skip(1);
                let is_one = found.any(|rest| !rest.starts_with(is_name));
                assert!(!is_one, "{name} can be awaited");
            }
        }
    }
}

#[test]
fn each_public_function_that_returns_a_wait_is_in_the_table() {
    let calls: BTreeSet<(&str, &str)> = WAITS.iter().map(|row| (row.call, row.of)).collect();
    let mut found = BTreeSet::new();
    for (name, returned) in functions() {
        let of: String = returned.chars().take_while(|&char| is_name(char)).collect();
        // The type of an `async fn` has no name.
        let row = calls.iter().find(|&&(call, waits)| {
            call == name && (waits == of || returned.starts_with("impl Future"))
        });
        let is_wait = WAITS.iter().any(|row| row.of == of) || returned.starts_with("impl Future");
        if is_wait {
            let is_same = SAME_WAITS.contains(&&*name);
            assert!(
                is_same || row.is_some(),
                "`{name}` returns {returned}: crates/framestep_testkit/src/waits/table.rs needs a row of it"
            );
        }
        found.extend(row);
    }
    let missing: Vec<_> = calls.difference(&found).collect();
    assert!(missing.is_empty(), "no public function returns {missing:?}");
}

/// Functions of `src/wait` that only the guide explains: other waits in another form.
const ONLY_IN_THE_GUIDE: &[&str] = &[
    "changes_of",
    "debounce",
    "every_frames",
    "frames",
    "on_clock",
    "throttle",
    "yield_now",
];

#[test]
fn each_wait_is_in_the_tables_of_the_documents() {
    let page = |path: &str| fs::read_to_string(root().join("..").join(path)).expect("it is there");
    let guide = page("docs/guide/waits.md");
    for row in WAITS {
        let call = format!("{}(", row.call);
        assert!(guide.contains(&call), "docs/guide/waits.md has no `{call}`");
    }
    let mut waits = functions_of("wait");
    waits.retain(|name| !ONLY_IN_THE_GUIDE.contains(&&**name));
    for path in ["docs/contract.md", "src/lib.rs"] {
        let page = page(path);
        // The rows of tables, and of the list in the tour.
        let rows = page.lines().map(|line| line.trim_start_matches("//! "));
        let rows: Vec<&str> = rows.filter(|row| row.starts_with(['|', '-'])).collect();
        for name in &waits {
            let named = format!("`{name}");
            let mut found = rows.iter().flat_map(|row| row.split(&named).skip(1));
            assert!(
                found.any(|rest| !rest.starts_with(is_name)),
                "the table of waits in {path} has no `{name}`"
            );
        }
    }
    assert!(waits.contains("next_frame"), "{waits:?}");
}

#[test]
fn each_combinator_of_the_crate_is_in_the_table() {
    let mut names = functions_of("combine");
    for text in sources(&root()) {
        let lines = text.lines().skip_while(|line| *line != "#[macro_export]");
        let macros = lines.filter_map(|line| line.strip_prefix("macro_rules! "));
        names.extend(macros.map(|name| name.replace(" {", "!")));
    }
    names.retain(|name| !name.starts_with("__"));
    for name in &names {
        assert!(
            COMBINATORS
                .iter()
                .any(|row| row.ours.is_some() && row.name == name),
            "crates/framestep_testkit/src/combinators.rs needs a row of `{name}`"
        );
        let page = fs::read_to_string(root().join("../docs/guide/waits.md"));
        assert!(
            page.expect("it is there").contains(&format!("`{name}")),
            "docs/guide/waits.md has no `{name}`"
        );
    }
    assert!(
        names.contains("race") && names.contains("select!"),
        "{names:?}"
    );
}

/// A type of another crate would tie the versions of this crate to those of the other. Its traits,
/// such as `Stream`, are implemented, and not exported.
#[test]
fn each_exported_type_is_of_this_crate() {
    for text in sources(&root()) {
        for export in text.split("\npub use ").skip(1) {
            let krate = export.split("::").next().expect("there is one");
            assert!(
                !["futures", "pin_project", "slab", "waker_fn"].contains(&krate),
                "pub use {}",
                export.lines().next().expect("there is one")
            );
        }
    }
}
