//! The wheel against a sorted map: at the edges, and in long random runs.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::chunk::CHUNK;
use super::level::start_of;
use super::{Standing, TimerEntry, Wheel};
use crate::random::Random;

const TICK: u64 = start_of(1);
const SECOND: u64 = 1_000_000_000;
const FRAME: u64 = SECOND / 60;

/// The earliest deadline of a live key.
fn earliest(wheel: &mut Wheel, is_live: impl Fn(u64) -> bool) -> Option<u64> {
    wheel.earliest(0, |due| {
        if is_live(due.key) {
            Standing::Waiting
        } else {
            Standing::Dead
        }
    })
}

/// A wheel and a sorted map that receive the same operations.
///
/// Keys count up, so they are also the order of insertion.
struct Model {
    wheel: Wheel,
    /// The live timers, by deadline, then insertion.
    timers: BTreeSet<(u64, u64)>,
    live: HashSet<u64>,
    now: u64,
    next_key: u64,
    due: Vec<TimerEntry>,
}

impl Model {
    /// A pair whose clock starts at `now`.
    fn starting_at(now: u64) -> Self {
        let mut model = Self {
            wheel: Wheel::new(),
            timers: BTreeSet::new(),
            live: HashSet::new(),
            now: 0,
            next_key: 0,
            due: Vec::new(),
        };
        model.expire(now);
        model
    }

    fn insert(&mut self, deadline: u64) -> u64 {
        let key = self.next_key;
        self.next_key += 1;
        self.wheel.insert(deadline, key);
        self.timers.insert((deadline, key));
        self.live.insert(key);
        key
    }

    /// Returns `false` if the timer has fired or been cancelled before.
    fn cancel(&mut self, deadline: u64, key: u64) -> bool {
        let was_live = self.live.remove(&key);
        if was_live {
            self.timers.remove(&(deadline, key));
            self.wheel.note_dead(|entry| self.live.contains(&entry.key));
        }
        was_live
    }

    /// Expires and compares. Returns how many live timers fired.
    fn expire(&mut self, now: u64) -> usize {
        self.now = now;
        let mut due = std::mem::take(&mut self.due);
        due.clear();
        self.wheel.expire(now, &mut due);
        assert!(
            due.is_sorted_by_key(|entry| (entry.deadline_ns, entry.key)),
            "by deadline, then by insertion"
        );
        let mut fired = 0;
        for entry in &due {
            assert!(entry.deadline_ns <= now, "early");
            if self.live.remove(&entry.key) {
                let first = self.timers.pop_first().expect("a live timer is known");
                assert_eq!(first, (entry.deadline_ns, entry.key));
                fired += 1;
            }
        }
        if let Some(&(deadline, _)) = self.timers.first() {
            assert!(deadline > now, "lost");
        }
        self.due = due;
        fired
    }

    fn check_earliest(&mut self) {
        let earliest = earliest(&mut self.wheel, |key| self.live.contains(&key));
        let expected = self.timers.first().map(|&(ns, _)| ns);
        assert_eq!(earliest, expected);
    }

    /// Checks that everything stored is counted, and everything live is stored.
    fn check_contents(&self) {
        let mut stored = 0;
        let mut live = BTreeSet::new();
        self.wheel.for_each(|entry| {
            stored += 1;
            if self.live.contains(&entry.key) {
                live.insert((entry.deadline_ns, entry.key));
            }
        });
        assert_eq!(stored, self.wheel.len());
        assert_eq!(self.wheel.is_empty(), stored == 0);
        assert_eq!(live, self.timers);
    }

    fn dead(&self) -> usize {
        self.wheel.len() - self.live.len()
    }
}

/// A span from 0 to `u64::MAX`, with all magnitudes equally likely.
fn any_span(random: &mut Random) -> u64 {
    match random.below(8) {
        0 => random.below(3),
        1 => random.below(2 * TICK),
        2 => random.below(200) * TICK,
        3..=6 => {
            let bits = random.below(40);
            random.next() & ((1 << bits) - 1)
        }
        _ => random.wide(),
    }
}

fn expired(wheel: &mut Wheel, now: u64) -> Vec<(u64, u64)> {
    let mut due = Vec::new();
    wheel.expire(now, &mut due);
    due.iter().map(|due| (due.deadline_ns, due.key)).collect()
}

#[test]
fn a_timer_fires_at_its_deadline_and_not_a_nanosecond_before() {
    for deadline in [
        1,
        999,
        TICK - 1,
        TICK,
        TICK + 1,
        64 * TICK,
        4096 * TICK,
        u64::MAX,
    ] {
        let mut wheel = Wheel::new();
        wheel.insert(deadline, 7);
        assert_eq!(expired(&mut wheel, deadline - 1), []);
        assert_eq!(expired(&mut wheel, deadline), [(deadline, 7)]);
        assert!(wheel.is_empty());
        assert_eq!(expired(&mut wheel, deadline), []);
    }
}

#[test]
fn a_deadline_of_zero_fires_at_time_zero() {
    let mut wheel = Wheel::new();
    wheel.insert(0, 1);
    assert_eq!(expired(&mut wheel, 0), [(0, 1)]);
}

#[test]
fn timers_fire_by_deadline_then_by_insertion() {
    let mut wheel = Wheel::new();
    for (key, deadline) in [(0, 30), (1, 10), (2, 30), (3, 20), (4, 10)] {
        wheel.insert(deadline * SECOND, key);
    }
    let order: Vec<_> = expired(&mut wheel, 60 * SECOND)
        .into_iter()
        .map(|(_, key)| key)
        .collect();
    assert_eq!(order, [1, 4, 3, 0, 2]);
}

#[test]
fn equal_deadlines_keep_their_order_when_inserted_from_far_and_near() {
    let mut wheel = Wheel::new();
    let deadline = 10 * SECOND + 5;
    let mut key = 0;
    let mut now = 0;
    while now < deadline {
        // Neighbours on both sides, so that the slot has to be sorted.
        for offset in [1, 0, 2] {
            wheel.insert(deadline - 1 + offset, 3 * key + offset);
        }
        assert_eq!(expired(&mut wheel, now), []);
        key += 1;
        now += FRAME;
    }
    let order: Vec<_> = expired(&mut wheel, deadline + 1);
    let expected = [0, 1, 2]
        .into_iter()
        .flat_map(|offset| (0..key).map(move |key| (deadline - 1 + offset, 3 * key + offset)));
    assert!(order.into_iter().eq(expected));
}

#[test]
fn a_deadline_that_has_passed_fires_next_and_before_later_ones() {
    let mut wheel = Wheel::new();
    let now = 100 * SECOND;
    wheel.insert(now + 3, 0);
    assert_eq!(expired(&mut wheel, now), []);
    wheel.insert(now + 2, 1);
    wheel.insert(5, 2);
    wheel.insert(now, 3);
    wheel.insert(5, 4);
    assert_eq!(earliest(&mut wheel, |_| true), Some(5));
    assert_eq!(expired(&mut wheel, now), [(5, 2), (5, 4), (now, 3)]);
    assert_eq!(expired(&mut wheel, now + 3), [(now + 2, 1), (now + 3, 0)]);
}

#[test]
fn time_may_jump_from_zero_to_the_end() {
    let mut wheel = Wheel::new();
    let timers: Vec<(u64, u64)> = (0..64)
        .map(|bit| (1 << bit, bit))
        .chain([(u64::MAX, 64)])
        .collect();
    for &(deadline, key) in timers.iter().rev() {
        wheel.insert(deadline, key);
    }
    assert_eq!(expired(&mut wheel, u64::MAX), timers);
    wheel.insert(u64::MAX, 1);
    wheel.insert(0, 2);
    assert_eq!(expired(&mut wheel, u64::MAX), [(0, 2), (u64::MAX, 1)]);
}

#[test]
fn expiry_appends_to_the_due_entries() {
    let mut wheel = Wheel::new();
    let mut due = vec![TimerEntry {
        deadline_ns: 99,
        key: 99,
    }];
    wheel.insert(2, 0);
    wheel.insert(1, 1);
    wheel.expire(5, &mut due);
    let keys: Vec<_> = due.iter().map(|due| due.key).collect();
    assert_eq!(keys, [99, 1, 0]);
}

#[test]
fn time_that_went_backwards_loses_nothing() {
    let mut wheel = Wheel::new();
    wheel.insert(50 * SECOND, 0);
    assert_eq!(expired(&mut wheel, 20 * SECOND), []);
    wheel.insert(15 * SECOND, 1);
    wheel.insert(5 * SECOND, 2);
    assert_eq!(expired(&mut wheel, 10 * SECOND), [(5 * SECOND, 2)]);
    assert_eq!(
        expired(&mut wheel, 60 * SECOND),
        [(15 * SECOND, 1), (50 * SECOND, 0)]
    );
}

#[test]
fn the_earliest_deadline_skips_the_dead_and_is_the_same_when_read_again() {
    let mut wheel = Wheel::new();
    assert_eq!(earliest(&mut wheel, |_| true), None);
    for key in 0..10 {
        wheel.insert((10 + key) * SECOND, key);
    }
    assert_eq!(earliest(&mut wheel, |_| true), Some(10 * SECOND));
    assert_eq!(earliest(&mut wheel, |key| key >= 4), Some(14 * SECOND));
    assert_eq!(earliest(&mut wheel, |key| key >= 4), Some(14 * SECOND));
    wheel.insert(12 * SECOND, 20);
    assert_eq!(earliest(&mut wheel, |key| key >= 4), Some(12 * SECOND));
    assert_eq!(earliest(&mut wheel, |_| false), None);
    assert!(wheel.is_empty(), "what is known to be dead is dropped");
}

#[test]
fn the_earliest_deadline_may_wait_on_a_higher_level_than_a_later_one() {
    let mut wheel = Wheel::new();
    wheel.insert(70 * TICK, 0); // more than a level of 64 ticks away
    wheel.insert(30 * TICK, 3);
    assert_eq!(expired(&mut wheel, 30 * TICK), [(30 * TICK, 3)]);
    wheel.insert(80 * TICK, 1);
    wheel.insert(35 * TICK, 2);
    assert_eq!(earliest(&mut wheel, |key| key < 2), Some(70 * TICK));
}

#[test]
fn the_earliest_of_timers_some_of_which_are_held_is_the_one_that_is_due_first() {
    let mut random = Random(0x5EED_0301);
    for _ in 0..200 {
        let mut wheel = Wheel::new();
        let mut stands = Vec::<(u64, Standing)>::new();
        let (mut moment, mut now_ns, mut due) = (0, 0, Vec::new());
        for _ in 0..100 {
            match random.below(8) {
                0..4 => {
                    let most = 1 << random.below(40);
                    let deadline_ns = now_ns + 1 + random.below(most);
                    wheel.insert(deadline_ns, stands.len() as u64);
                    stands.push((deadline_ns, Standing::Waiting));
                }
                4 => {
                    for (_, stands) in &mut stands {
                        match (*stands, random.below(4)) {
                            (Standing::Dead, _) | (_, 0) => {}
                            (_, 1) => *stands = Standing::Held,
                            _ => *stands = Standing::Waiting,
                        }
                    }
                    moment += 1;
                }
                5 => {
                    if let Some((_, stands)) = stands.last_mut() {
                        *stands = Standing::Dead;
                    }
                }
                6 => {
                    now_ns += random.below(SECOND);
                    due.clear();
                    wheel.expire(now_ns, &mut due);
                    for due in &due {
                        stands[usize::try_from(due.key).unwrap()].1 = Standing::Dead;
                    }
                }
                _ => {}
            }
            let look_up = |due: TimerEntry| stands[usize::try_from(due.key).unwrap()].1;
            let waiting = stands
                .iter()
                .filter(|(_, stands)| *stands == Standing::Waiting);
            let first = waiting.map(|&(deadline_ns, _)| deadline_ns).min();
            assert_eq!(wheel.earliest(moment, look_up), first);
        }
    }
}

#[test]
fn a_key_inserted_again_after_it_fired_is_not_taken_for_the_old_timer() {
    for late_ns in [0, 1, SECOND] {
        let mut wheel = Wheel::new();
        wheel.insert(SECOND, 1);
        assert_eq!(earliest(&mut wheel, |_| true), Some(SECOND));
        wheel.insert(9 * SECOND, 2);
        assert_eq!(expired(&mut wheel, SECOND + late_ns), [(SECOND, 1)]);
        wheel.insert(5 * SECOND, 1);
        assert_eq!(earliest(&mut wheel, |_| true), Some(5 * SECOND));
    }
}

#[test]
fn sweeping_closes_gaps_and_keeps_the_order_of_equal_deadlines() {
    let mut model = Model::starting_at(0);
    let mut rng = Random(0x5EED_0006);
    let deadline = 100 * SECOND;
    for _ in 0..10_000 {
        model.insert(deadline);
    }
    for key in 0..10_000 {
        if rng.below(10) != 0 {
            model.cancel(deadline, key);
        }
    }
    let used = model.wheel.pool.count() - model.wheel.pool.count_free();
    // Of two neighbours that were swept, at least one is half full.
    assert!(used <= 2 * model.wheel.len() / CHUNK + 2, "{used} chunks");
    model.check_contents();
    let left = model.live.len();
    assert_eq!(model.expire(deadline), left);
}

#[test]
fn a_new_wheel_has_allocated_nothing_and_a_small_one_stays_small() {
    let mut wheel = Wheel::new();
    assert_eq!(wheel.pool.count(), 0);
    let due = expired(&mut wheel, 100 * SECOND);
    assert_eq!((due.capacity(), wheel.pool.count()), (0, 0));
    for round in 0..1000 {
        let now = (100 + round) * SECOND;
        wheel.insert(now + SECOND / 2, round);
        assert_eq!(expired(&mut wheel, now + SECOND / 2).len(), 1);
    }
    // One chunk that cascades, and one that its entries move to.
    assert_eq!(wheel.pool.count(), 2);
}

/// Timers that fire and are inserted again at once, for long enough that every
/// slot is used.
#[test]
fn a_steady_state_allocates_nothing() {
    let timers = 4_000;
    let mut rng = Random(0x5EED_0001);
    let mut wheel = Wheel::new();
    let mut due = Vec::new();
    let mut now = 0;
    for key in 0..timers {
        wheel.insert(rng.below(5 * SECOND), key);
    }
    let mut sizes = Vec::new();
    for frame in 0..60 * 500 {
        now += FRAME;
        due.clear();
        wheel.expire(now, &mut due);
        for entry in &due {
            let period = SECOND / 2 + entry.key * 900_000;
            wheel.insert(entry.deadline_ns + period, entry.key);
        }
        if frame % (60 * 50) == 60 * 50 - 1 {
            sizes.push((
                wheel.pool.capacity(),
                wheel.order.capacity(),
                due.capacity(),
            ));
        }
    }
    assert_eq!(wheel.len() as u64, timers);
    assert_eq!(sizes.last(), sizes.get(2), "{sizes:?}");
}

#[test]
fn room_for_chunks_grows_by_half_when_there_is_none_left() {
    let mut wheel = Wheel::new();
    let mut rooms = vec![0];
    for key in 0..1_000 * CHUNK as u64 {
        let chunks = wheel.pool.count();
        wheel.insert(SECOND, key);
        let (before, room) = (rooms[rooms.len() - 1], wheel.pool.capacity());
        if room != before {
            assert_eq!((chunks, room), (before, before + (before / 2).max(1)));
            rooms.push(room);
        }
    }
    assert_eq!(rooms[..6], [0, 1, 2, 3, 4, 6]);
    assert!(rooms.len() < 24, "{rooms:?}");
}

#[test]
fn chunks_in_no_list_are_free() {
    let mut model = Model::starting_at(0);
    let mut rng = Random(0x5EED_0002);
    let mut timers = Vec::new();
    for _ in 0..10_000 {
        let deadline = any_span(&mut rng);
        timers.push((deadline, model.insert(deadline)));
    }
    for (deadline, key) in timers {
        if rng.below(4) != 0 {
            model.cancel(deadline, key);
        }
    }
    model.check_contents();
    model.expire(u64::MAX);
    let wheel = &model.wheel;
    assert!(wheel.is_empty());
    assert_eq!(wheel.pool.count(), wheel.pool.count_free());
}

#[test]
fn dead_entries_stay_below_the_most_that_lived() {
    // The deaths that pay for the first chunk, and the chunk under way.
    let slack = 2 * CHUNK;
    let mut rng = Random(0x5EED_0003);

    // Time-outs that hardly ever fire: `window` of them are live at a time.
    for window in [1, 100, 2_000] {
        for longest in [SECOND / 10, 5 * SECOND, 600 * SECOND] {
            let mut model = Model::starting_at(0);
            let mut live = VecDeque::new();
            let mut most = 0;
            for round in 0..15_000 {
                let deadline = model.now + rng.below(longest);
                live.push_back((deadline, model.insert(deadline)));
                if live.len() > window {
                    let oldest = live.pop_front().expect("not empty");
                    model.cancel(oldest.0, oldest.1);
                }
                if round % 16 == 0 {
                    model.expire(model.now + SECOND / 1000);
                }
                most = most.max(model.live.len());
                let dead = model.dead();
                assert!(dead <= most + slack, "{dead} dead, {most} alive, {window}");
            }
        }
    }

    // All are cancelled, one after the other, the oldest or the youngest first.
    for newest_first in [false, true] {
        let mut model = Model::starting_at(0);
        let mut timers: VecDeque<_> = (0..20_000)
            .map(|_| {
                let deadline = rng.below(100 * SECOND);
                (deadline, model.insert(deadline))
            })
            .collect();
        if newest_first {
            timers.make_contiguous().sort_unstable();
        }
        while let Some((deadline, key)) = timers.pop_back() {
            model.cancel(deadline, key);
            let (dead, live) = (model.dead(), model.live.len());
            assert!(dead <= live + slack, "{dead} dead, {live} alive");
        }
    }
}

/// Tiny, near and huge spans, and those beside a border between slots.
fn span_beside_a_border(random: &mut Random) -> u64 {
    match random.below(15) {
        0..=2 => random.below(4),
        3..=5 => random.below(3 * TICK),
        6..=8 => random.below(8 * SECOND),
        9..=11 => (TICK << random.below(43)) - 1 + random.below(3),
        12..=13 => ((1 << random.below(64)) - 1_u64).saturating_add(random.below(3)),
        _ => random.next(),
    }
}

/// Beside a power of two, up to the end of time.
fn start_beside_a_border(random: &mut Random) -> u64 {
    let power = 1_u64 << random.below(64);
    match random.below(7) {
        0..=3 => power.saturating_add(random.below(5)).saturating_sub(2),
        4 => power.saturating_sub(random.below(2 * TICK)),
        5 => u64::MAX - random.below(2 * TICK),
        _ => 0,
    }
}

#[test]
fn beside_the_borders_the_wheel_does_what_a_sorted_map_does() {
    for seed in 1..=512 {
        let mut random = Random(seed);
        let mut model = Model::starting_at(start_beside_a_border(&mut random));
        let mut inserted = Vec::new();
        for _ in 0..random.below(200) {
            let next = model.timers.first().map_or(0, |&(ns, _)| ns);
            let span = span_beside_a_border(&mut random);
            let earlier = usize::try_from(random.below(1 << 16)).expect("small");
            let earlier = inserted.get(earlier % inserted.len().max(1)).copied();
            match (random.below(27), earlier) {
                (0..=7, _) => {
                    let deadline = model.now.saturating_add(span);
                    inserted.push((deadline, model.insert(deadline)));
                }
                (8, _) => {
                    let deadline = model.now.saturating_sub(span);
                    inserted.push((deadline, model.insert(deadline)));
                }
                (9..=11, Some((deadline, _))) => {
                    inserted.push((deadline, model.insert(deadline)));
                }
                (12..=16, Some((deadline, key))) => {
                    model.cancel(deadline, key);
                }
                (17..=20, _) => {
                    model.expire(model.now.saturating_add(span));
                }
                (21..=22, _) => {
                    model.expire(model.now.max(next));
                }
                (23..=24, _) => {
                    model.expire(model.now.max(next.saturating_sub(1)));
                }
                _ => model.check_earliest(),
            }
        }
        model.check_contents();
        model.check_earliest();
        model.expire(u64::MAX);
        assert!(
            model.timers.is_empty() && model.wheel.is_empty(),
            "seed {seed}"
        );
    }
}

/// Runs random operations from starts around every power of two. Returns how
/// many operations there were.
fn run_operations(seed: u64, rounds: u64, operations_each: u64) -> u64 {
    println!("seed {seed:#x}");
    let mut rng = Random(seed);
    let (mut operations, mut fired, mut cancelled) = (0, 0_usize, 0_usize);
    for bit in (0..=64)
        .cycle()
        .take(usize::try_from(65 * rounds).expect("small"))
    {
        let around = u64::try_from(1_u128 << bit).unwrap_or(u64::MAX);
        let before = any_span(&mut rng).min(2 * SECOND);
        let mut model = Model::starting_at(around.saturating_sub(before));
        // The latest inserts, the candidates for cancelling.
        let mut recent = [(0, u64::MAX); 256];
        for _ in 0..operations_each {
            let choice = usize::try_from(rng.below(256)).expect("small");
            match rng.below(16) {
                0..=7 => {
                    let deadline = model.now.saturating_add(any_span(&mut rng));
                    recent[choice] = (deadline, model.insert(deadline));
                }
                8 => {
                    let deadline = recent[choice].0;
                    recent[choice] = (deadline, model.insert(deadline));
                }
                9..=12 => {
                    let (deadline, key) = recent[choice];
                    cancelled += usize::from(model.cancel(deadline, key));
                }
                13..=14 => {
                    let to = model
                        .now
                        .saturating_add(any_span(&mut rng) >> rng.below(48));
                    fired += model.expire(to);
                }
                _ => model.check_earliest(),
            }
        }
        operations += operations_each;
        model.check_contents();
        fired += model.expire(u64::MAX);
        assert!(model.timers.is_empty() && model.wheel.is_empty());
    }
    println!("{operations} operations, {fired} fired, {cancelled} cancelled");
    assert!(fired > 0 && cancelled > 0);
    operations
}

#[test]
fn random_operations_agree_with_a_sorted_map() {
    run_operations(0x5EED_0004, 1, 3_000);
}

#[test]
#[ignore = "takes about half a minute with optimisations"]
fn fifty_million_random_operations_agree_with_a_sorted_map() {
    assert!(run_operations(0x5EED_0005, 13, 60_000) >= 50_000_000);
}
