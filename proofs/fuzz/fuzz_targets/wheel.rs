//! The timer wheel against a sorted map: nothing early, lost, twice or out of
//! order, wherever in the range of `u64` the clock stands.

#![no_main]

// The wheel is no part of the public surface, and needs nothing of the crate.
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "the crate's own file"
)]
#[path = "../../../src/core/timer/wheel/mod.rs"]
mod wheel;

use std::collections::{BTreeMap, BTreeSet};

use libfuzzer_sys::fuzz_target;
use wheel::{Standing, TimerEntry, Wheel};

/// What has been read of the input.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// Any number; one near a power of two as likely as not.
    fn number(&mut self) -> Option<u64> {
        let head = self.byte()?;
        let bit = u64::from(head & 63);
        let near = (1_u64 << bit)
            .wrapping_add(u64::from(self.byte()?))
            .wrapping_sub(128);
        if head & 64 == 0 {
            return Some(near);
        }
        let mut number = 0;
        for _ in 0..=bit / 8 {
            number = number << 8 | u64::from(self.byte()?);
        }
        Some(number)
    }
}

#[derive(Default)]
struct Expected {
    /// The live timers, by deadline, then insertion.
    timers: BTreeMap<(u64, u64), u64>,
    live: BTreeSet<u64>,
    inserted: Vec<(u64, u64)>,
}

impl Expected {
    fn insert(&mut self, wheel: &mut Wheel, deadline_ns: u64) {
        let key = self.inserted.len() as u64;
        self.inserted.push((deadline_ns, key));
        self.timers.insert((deadline_ns, key), key);
        self.live.insert(key);
        wheel.insert(deadline_ns, key);
    }

    fn cancel(&mut self, wheel: &mut Wheel, choice: u64) {
        let Some(&(deadline_ns, key)) = self.pick(choice) else {
            return;
        };
        if self.live.remove(&key) {
            self.timers.remove(&(deadline_ns, key));
            wheel.note_dead(|entry| self.live.contains(&entry.key));
        }
    }

    fn pick(&self, choice: u64) -> Option<&(u64, u64)> {
        let count = self.inserted.len() as u64;
        let index = choice.checked_rem(count)?;
        self.inserted.get(usize::try_from(index).ok()?)
    }

    fn expire(&mut self, wheel: &mut Wheel, now_ns: u64) {
        let mut due: Vec<TimerEntry> = Vec::new();
        wheel.expire(now_ns, &mut due);
        for entry in due {
            assert!(entry.deadline_ns <= now_ns, "early");
            if self.live.remove(&entry.key) {
                let (first, _) = self.timers.pop_first().expect("not twice");
                assert_eq!(first, (entry.deadline_ns, entry.key), "in order");
            }
        }
        let next = self.timers.first_key_value();
        assert!(next.is_none_or(|(&(ns, _), _)| ns > now_ns), "lost");
    }

    fn check_earliest(&self, wheel: &mut Wheel) {
        let standing = |entry: TimerEntry| {
            if self.live.contains(&entry.key) {
                Standing::Waiting
            } else {
                Standing::Dead
            }
        };
        let earliest = wheel.earliest(0, standing);
        let expected = self.timers.first_key_value().map(|(&(ns, _), _)| ns);
        assert_eq!(earliest, expected);
    }
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes(data);
    let mut wheel = Wheel::new();
    let mut expected = Expected::default();
    let mut now_ns = bytes.number().unwrap_or(0);
    expected.expire(&mut wheel, now_ns);
    while let Some(choice) = bytes.byte() {
        let Some(number) = bytes.number() else {
            break;
        };
        match choice & 7 {
            0 | 1 => expected.insert(&mut wheel, now_ns.saturating_add(number)),
            2 => expected.insert(&mut wheel, number),
            3 => {
                // One that shares its deadline with others.
                if let Some(&(deadline_ns, _)) = expected.pick(number) {
                    expected.insert(&mut wheel, deadline_ns);
                }
            }
            4 => expected.cancel(&mut wheel, number),
            5 => {
                now_ns = now_ns.saturating_add(number);
                expected.expire(&mut wheel, now_ns);
            }
            6 => {
                // To just before, at or just behind the next deadline.
                if let Some((&(next_ns, _), _)) = expected.timers.first_key_value() {
                    let aside = next_ns.saturating_add(number % 3).saturating_sub(1);
                    now_ns = now_ns.max(aside);
                }
                expected.expire(&mut wheel, now_ns);
            }
            _ => expected.check_earliest(&mut wheel),
        }
        assert!(!wheel.is_empty() || expected.timers.is_empty());
    }
    expected.check_earliest(&mut wheel);
    expected.expire(&mut wheel, u64::MAX);
    assert!(expected.timers.is_empty() && wheel.is_empty());
});
