//! Rules of a role that a history of the simulator meets too seldom.

use super::*;
use crate::entry::{Entry, Tick, Topic};
use crate::member::Heartbeat;

/// A state without rooms.
#[derive(Default)]
struct Empty {
    has_state: bool,
}

impl Fold for Empty {
    fn load(&mut self, _: Option<&[u8]>) -> Result<(), String> {
        self.has_state = true;
        Ok(())
    }

    fn load_empty(&mut self, _: u64, _: u64) {
        self.has_state = true;
    }

    fn empty(&self) -> Option<u64> {
        Some(0)
    }

    fn unload(&mut self) {
        self.has_state = false;
    }

    fn frame(&mut self, _: u64, _: &[Entry]) {
        assert!(self.has_state);
    }

    fn hash(&mut self) -> u64 {
        0
    }

    fn save(&mut self) -> Result<Vec<u8>, String> {
        Ok(Vec::new())
    }

    fn out(&self) -> u32 {
        0
    }
}

const OLD: Build = 1;
const NEW: Build = 2;
const FAILOVER_TIMEOUT: Duration = Duration::from_millis(40);

fn heartbeat(node: &str, build: Build) -> Heartbeat {
    Heartbeat {
        node: node.into(),
        build,
        generation: build,
        leaves: false,
        code: build,
        settings: "".into(),
        begins: Vec::new(),
        refuses: Vec::new(),
    }
}

/// An entry, and the place after it, if it is a tick of the old build.
fn ticked(at: &Position, entries: &mut Vec<Entry>, hands_over: bool) -> Position {
    let tick = Tick {
        format: Tick::FORMAT,
        frame: at.frame + 1,
        by: "old".into(),
        build: OLD,
        generation: OLD,
        before: at.chain,
        state: 0,
        hands_over,
        out: 0,
        empty: Some(0),
    };
    entries.push(Entry {
        seq: entries.len() as u64 + 1,
        topic: Some(Topic::Tick),
        body: tick.to_bytes().into(),
    });
    at.after(&tick, &entries[usize::try_from(at.seq).unwrap()..])
}

/// ```text
/// log    tick | input, tick: saved | tick | tick: hands over, its save was lost | inputs ..
/// node                       loads | reads, longer than any wait ............. | has read all: ticks
/// ```
///
/// It must not load again: no newer save will ever come, and each load begins the reading anew.
#[test]
fn an_empty_shard_that_was_handed_over_goes_on_however_long_its_log_is_read() {
    let mut log = Vec::new();
    let first = ticked(&Position::start(), &mut log, false);
    log.push(Entry {
        seq: 2,
        topic: Some(Topic::Answer("room".into())),
        body: [].into(),
    });
    let saved = ticked(&first, &mut log, false);
    let then = ticked(&saved, &mut log, false);
    let last = ticked(&then, &mut log, true);
    assert!(!saved.is_empty() && last.is_empty() && last.hands_over);

    let settings = Settings {
        step: Duration::from_millis(5),
        snapshot_interval: Duration::from_secs(5),
        failover_timeout: FAILOVER_TIMEOUT,
        standbys: 1,
        retry_after: FAILOVER_TIMEOUT,
    };
    let mut members = Members::new(Duration::MAX, 1);
    // A node of the old build is there, and leaves: it will not save.
    for it in [
        Heartbeat {
            leaves: true,
            ..heartbeat("old", OLD)
        },
        heartbeat("new", NEW),
    ] {
        members.hear(Duration::ZERO, it);
    }
    let mut role = Role::new("new".into(), NEW, 0, settings);
    let (mut fold, mut out) = (Empty::default(), Vec::new());
    let mut now = Duration::ZERO;
    let mut on = |event, wait: Duration| {
        now += wait;
        out.clear();
        role.on(now, event, &members, &mut fold, &mut out);
        out.clone()
    };

    assert!(matches!(
        on(Event::Time, Duration::ZERO)[..],
        [Command::Load { .. }]
    ));
    let loaded = Loaded {
        save: Some((saved.clone(), Arc::from([]))),
        first: 1,
        unread: None,
    };
    assert!(matches!(
        on(Event::Loaded(loaded), Duration::ZERO)[..],
        [Command::Follow { from: 2 }]
    ));
    for entry in &log[1..] {
        assert!(on(Event::Read(entry.clone()), FAILOVER_TIMEOUT * 100).is_empty());
    }
    let answer = on(Event::Idle, FAILOVER_TIMEOUT * 100);
    assert!(
        matches!(answer[..], [Command::Began, Command::Append { .. }]),
        "{answer:?}"
    );
}
