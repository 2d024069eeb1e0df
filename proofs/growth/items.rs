//! Which public types hold any number of others, and the subjects that measure them. A new public
//! type needs a row.

use framestep_testkit::exports::exported;

use super::all_subjects;

/// What a public type holds.
enum Holds {
    /// Any number of others: these subjects measure it.
    Many(&'static [&'static str]),
    /// No list of its own: a handle, a wait of one thing, or a plain value.
    One,
}

use Holds::{Many, One};

const ITEMS: &[(&str, Holds)] = &[
    ("Acquire", One),
    ("Animate", One),
    ("Behaviour", One),
    ("Budget", Many(&["10 frames of n jobs with 3 units each"])),
    ("Builder", One),
    ("Canceled", One),
    ("Changed", One),
    ("Changes", One),
    ("ChangesOf", One),
    ("Checkpoint", One),
    (
        "Clock",
        Many(&[
            "n clocks in a line, each with a sleeper",
            "the clock above n clocks with sleepers changes its scale n times",
            "n guards of one clock, dropped one by one",
        ]),
    ),
    ("ClockGuard", One),
    (
        "Coroutine",
        Many(&["n joiners of one", "a line of n joins"]),
    ),
    ("CoroutineId", One),
    (
        "CoroutineInfo",
        Many(&["n waits of one coroutine, dropped first to last"]),
    ),
    ("Debounce", One),
    ("Defer", One),
    ("DeferCall", One),
    ("Elapsed", One),
    ("Ended", One),
    ("EveryFrames", One),
    (
        "Executor",
        Many(&[
            "end of an executor of n that wait",
            "n executors, ended last to first",
        ]),
    ),
    ("Finished", One),
    ("Frames", One),
    (
        "Group",
        Many(&[
            "a group of n that end in one frame",
            "n groups in one another",
            "n groups of one owner, dropped first to last",
        ]),
    ),
    ("Handle", One),
    ("InPhase", One),
    (
        "Interval",
        Many(&["n ticks that are due at once, and n one by one"]),
    ),
    (
        "JoinAll",
        Many(&[
            "join_all of n that end in one run",
            "join_all and try_join_all of n, polled 20 times",
        ]),
    ),
    ("JoinError", One),
    (
        "JoinGroup",
        Many(&[
            "a group of n that end in one frame",
            "n groups in one another",
        ]),
    ),
    (
        "Lend",
        Many(&["1,000 lends beside n closures for another state"]),
    ),
    ("MissedTicks", One),
    ("Moment", One),
    ("ScriptBuilder", One),
    ("ScriptJoin", One),
    ("NextFrame", One),
    ("NextItem", One),
    ("NextTick", One),
    ("NextTicks", One),
    (
        "On",
        Many(&["n futures of one coroutine on clocks of their own"]),
    ),
    ("OnError", One),
    ("Outcome", One),
    (
        "Owner",
        Many(&[
            "n owners below one, ended one by one",
            "a line of n owners, dropped from the bottom",
            "a line of n owners that is requested to stop",
            "n that are requested to stop",
        ]),
    ),
    ("PauseGuard", One),
    ("OwnerHandle", One),
    ("PendingStop", One),
    ("Permit", One),
    (
        "Semaphore",
        Many(&[
            "n that acquire one permit after the other",
            "n that wait for a permit, stopped last to first",
            "n permits, taken, added and returned",
        ]),
    ),
    (
        "Phase",
        Many(&["n waits of one coroutine in 200 phases, one by one"]),
    ),
    ("Profile", One),
    ("Promise", Many(&["n promises that are kept in one frame"])),
    ("Race", Many(&["a race of n, polled 20 times in vain"])),
    ("SpawnError", One),
    ("RemoteCall", One),
    ("RemoteCallError", One),
    ("RemoteHandle", Many(&["n spawns from afar in one frame"])),
    ("Report", One),
    ("Resolver", One),
    ("OutputSource", One),
    (
        "Scene",
        Many(&["a line of n behaviours, each destroyed by the next"]),
    ),
    ("SceneContext", One),
    ("SceneHandle", One),
    ("Script", One),
    ("Seconds", One),
    ("SendOwner", One),
    (
        "Signal",
        Many(&[
            "a signal with n that wait",
            "n events of emit_one for n that are stopped",
            "n events of emit_one, and n subscriptions that end",
            "an event of emit_one that n refuse, one by one",
            "n waits that keep an event each, stopped last to first",
            "n waits that keep an event each, resumed in turn",
            "a signal with n events and n subscriptions, dropped",
        ]),
    ),
    (
        "Snapshot",
        Many(&[
            "a snapshot of n in a paused owner",
            "a snapshot of n that wait for named sources",
        ]),
    ),
    ("Source", One),
    ("SourceKind", One),
    ("State", One),
    ("StopRequested", One),
    ("StopWithin", One),
    (
        "Subscription",
        Many(&["n events, read by a subscription and 100 that lag"]),
    ),
    ("BehaviourHandle", One),
    ("Throttle", One),
    ("Tick", One),
    ("Time", One),
    ("Timeout", One),
    ("TimerClock", One),
    ("TraceEvent", One),
    ("TraceHook", One),
    ("TraceKind", One),
    (
        "TryJoinAll",
        Many(&["join_all and try_join_all of n, polled 20 times"]),
    ),
    ("TryJoinGroup", Many(&["a group of n that end in n frames"])),
    ("Wait", One),
    ("WaitFrames", Many(&["n frame counts that are cancelled"])),
    (
        "WaitSeconds",
        Many(&[
            "n timers that are cancelled, of one deadline",
            "20 frames of n timers, moved in each frame",
        ]),
    ),
    ("WaitSecondsRealtime", One),
    ("WaitSignal", One),
    ("WaitSignalFor", One),
    ("WaitSteps", One),
    (
        "WaitUntil",
        Many(&["n conditions in a phase never run, dropped"]),
    ),
    ("WaitNote", One),
    ("WaitWatch", One),
    ("WaitWhile", One),
    ("Waiting", One),
    (
        "Watch",
        Many(&[
            "a watch with n that wait",
            "n streams of one watch, dropped last to first",
        ]),
    ),
    ("WatchReader", One),
    (
        "WhenEach",
        Many(&[
            "when_each of n that end in one frame",
            "when_each of n of which half is ready at once",
        ]),
    ),
    ("Call", One),
    ("CallChain", One),
    ("Closed", One),
    ("DebounceByKey", Many(&["n keys of one debounce_by_key"])),
    ("Ease", One),
    ("Easing", One),
    ("Job", One),
    ("Key", One),
    ("Named", Many(&["n sources that are found by name, twice"])),
    ("Offload", Many(&["n jobs that arrive in order"])),
    ("OffloadError", One),
    ("OrClosed", One),
    ("Sample", One),
    ("Tween", One),
    ("Leg", One),
    ("LendError", One),
    ("Sequence", One),
    ("YieldNow", One),
];

/// The public types: no functions, and no constants.
fn exported_types() -> Vec<String> {
    let names = exported().into_iter();
    let types = names
        .filter(|name| name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase));
    types.collect()
}

#[test]
fn each_public_type_that_holds_others_has_a_subject() {
    let exported = exported_types();
    assert!(exported.len() > 90, "{exported:?}");
    for name in &exported {
        let rows = ITEMS.iter().filter(|(item, _)| item == name).count();
        assert_eq!(
            rows, 1,
            "`{name}` needs a row that says whether it holds any number of others"
        );
    }
    let subjects = all_subjects();
    for (item, holds) in ITEMS {
        assert!(exported.iter().any(|name| name == item), "`{item}` is gone");
        let Many(measured) = holds else {
            continue;
        };
        for name in *measured {
            let has = subjects.iter().any(|subject| subject.name == *name);
            assert!(has, "`{item}`: there is no subject `{name}`");
        }
    }
}
