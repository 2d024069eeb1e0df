//! Random changes, lengths and guards, compared with the definition.

use std::ops::Range;

use framestep::time::ClockGuard;

use framestep_testkit::Random;

use super::*;

const SEEDS: Range<u64> = 0..256;

fn between(range: Range<f64>, random: &mut Random) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let part = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
    range.start + part * (range.end - range.start)
}

fn any_scale(random: &mut Random) -> f64 {
    match random.below(7) {
        0 => between(0.0..3.0, random),
        1 => f64::from(random.within(0..40)) / 10.0,
        2 => 1.0,
        3 => 0.0,
        4 => 1.0 / 3.0,
        5 => between(1e-12..1e-6, random),
        _ => between(1e3..1e5, random),
    }
}

fn any_dt(random: &mut Random) -> u64 {
    match random.below(2) {
        0 => random.wide() >> 57,
        _ => 1_000_000 + random.below(39_000_000),
    }
}

#[test]
fn changes_agree_with_the_definition() {
    for seed in SEEDS {
        println!("seed {seed}");
        let random = &mut Random(seed);
        let (mut executor, child) = with_child();
        let game = executor.clock();
        let (mut game_model, mut child_model) = (Oracle::new(), Oracle::new());
        let (mut source, mut before) = (0_u128, (0, 0));
        for _ in 0..=random.below(59) {
            let dt_ns = any_dt(random);
            executor.begin_frame(nanos(dt_ns));
            source += u128::from(dt_ns);
            let game_now = game_model.at(source);
            let child_now = child_model.at(game_now);
            // Clocks that are not read are computed later, or never.
            if random.below(2) == 0 {
                assert_eq!(game.now().as_nanos(), game_now);
                assert_eq!(child.now().as_nanos(), child_now);
                assert_eq!(game.delta().as_nanos(), game_now - before.0);
                assert_eq!(child.delta().as_nanos(), child_now - before.1);
            }
            before = (game_now, child_now);
            if random.below(10) < 3 {
                let of_game = random.below(2) == 0;
                let scale = any_scale(random);
                let paused = random.below(5) == 0;
                let clock = if of_game { &game } else { &child };
                clock.set_scale(scale);
                if paused {
                    clock.pause()
                } else {
                    clock.resume()
                };
                let factor = if paused { 0.0 } else { scale };
                if of_game {
                    game_model.change(source, factor);
                } else {
                    child_model.change(game_now, factor);
                }
            }
        }
        assert_eq!(child.now().as_nanos(), before.1);
    }
}

#[test]
fn next_deadline_suffices_and_is_the_least_dt_but_for_its_rounding() {
    let (mut reached, mut never) = (0, 0);
    for seed in SEEDS {
        println!("seed {seed}");
        let random = &mut Random(seed);
        let scales = [(); 3].map(|()| any_scale(random));
        if scales.iter().product::<f64>() >= 1e6 {
            // The clock may be at its limit.
            continue;
        }
        let (passed_ns, length_ns) = (random.below(2_000_000_000), 1 + random.below(2_000_000_000));
        let mut executor = Executor::builder().max_delta(f64::INFINITY).build();
        let clocks = {
            let child = executor.clock().child();
            [executor.clock(), child.clone(), child.child()]
        };
        for (clock, scale) in clocks.iter().zip(scales) {
            clock.set_scale(scale);
        }
        executor.begin_frame(nanos(passed_ns));
        let wait = executor.start(clocks[2].wait_seconds(nanos(length_ns)).map(drop));
        let Some(missing) = executor.next_deadline() else {
            never += 1;
            update(&mut executor, nanos(u64::MAX));
            assert!(!wait.is_finished(), "not even at the end of time");
            continue;
        };
        reached += 1;
        // A wait takes at least a frame, and this one also some time.
        assert!(missing > Duration::ZERO);
        // Each clock reaches its reading up to half a nanosecond of it earlier, and each quotient
        // is rounded.
        let slack = scales
            .iter()
            .rev()
            .fold(0.0, |below, scale| (below + 0.5) / scale + 1.0);
        let slack = Duration::from_secs_f64(slack / 1e9) + nanos(1);
        if let Some(early) = missing.checked_sub(slack) {
            update(&mut executor, early);
            assert!(!wait.is_finished());
            assert_eq!(executor.next_deadline(), Some(slack));
            update(&mut executor, slack);
        } else {
            update(&mut executor, missing);
        }
        assert!(wait.is_finished());
    }
    assert!(
        reached > 50 && never > 50,
        "{reached} reached, {never} never"
    );
}

/// Without guards, the clock has exactly the scale that was set, in whatever order
/// guards were taken and dropped. docs/contract.md#decided-guards
#[test]
fn without_guards_the_scale_is_exactly_the_one_that_was_set() {
    for seed in SEEDS {
        println!("seed {seed}");
        let random = &mut Random(seed);
        let (mut executor, clock) = with_child();
        let mut guards: Vec<ClockGuard> = Vec::new();
        for _ in 0..=random.below(7) {
            guards.push(clock.scaled(between(0.001..3.0, random)));
        }
        let scale = between(0.001..10.0, random);
        clock.set_scale(scale);
        if random.below(2) == 0 {
            guards.push(clock.pause_guard());
        }
        while !guards.is_empty() {
            let at = random.below(guards.len() as u64);
            drop(guards.swap_remove(usize::try_from(at).unwrap()));
        }
        executor.begin_frame(1);
        assert!(is(clock.effective_scale(), scale));
    }
}
