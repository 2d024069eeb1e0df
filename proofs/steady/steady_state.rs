//! In the steady state nothing allocates: no frame, wait or spawn.

use std::cell::Cell;
use std::rc::Rc;

use futures::{FutureExt, StreamExt};

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{UNLIMITED, unclamped};
use framestep_testkit::waits::{Arg, Given, Row, WAITS};
use framestep_testkit::{allocations_of, live_bytes};

fn frames(executor: &mut Executor, count: u32, dt: f64) {
    for _ in 0..count {
        executor.run_frame(dt);
    }
}

/// Warms up `executor` and counts the allocations of later frames. A wheel that
/// counts frames uses its third level for the first time in frame 4,096.
fn steady_allocations(executor: &mut Executor, dt: f64) -> u64 {
    frames(executor, 5_000, dt);
    allocations_of(|| frames(executor, 1_000, dt))
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations_of(|| drop(Box::new(1))), 1);
    assert_eq!(allocations_of(|| ()), 0);
    let before = live_bytes();
    let mut bytes: Vec<u8> = Vec::with_capacity(100);
    assert_eq!(live_bytes() - before, 100);
    bytes.reserve_exact(1_000);
    assert_eq!(live_bytes() - before, 1_000);
    drop(bytes);
    assert_eq!(live_bytes() - before, 0);
}

#[test]
fn empty_frames_do_not_allocate() {
    let mut executor = unclamped();
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
}

/// Each wait of the table again and again, at home and in other phases, while the host
/// sends in every frame.
fn allocations_of_waits(rows: &[&Row]) -> u64 {
    let builder = Executor::builder().max_delta(UNLIMITED);
    let mut executor = builder.fixed_delta(0.25).build();
    let given = Given::new(&executor.handle());
    let begin = |row: &Row, seconds: f64| {
        [None, Some(Phase::LateUpdate), Some(Phase::FixedUpdate)].map(|phase| {
            let mut given = given.clone().with(Arg::Length(seconds));
            given = given.with(Arg::Holds(|| time().frame % 3 == 0));
            given.phase = phase;
            executor.start((row.repeated)(given))
        })
    };
    // A wheel that becomes empty gives back its memory: in each, one timer stays.
    for row in WAITS
        .iter()
        .filter(|row| row.counts_time() && !row.is_made_of_others)
    {
        begin(row, 1e9);
    }
    for row in rows {
        begin(row, 1.0);
    }
    let mut frames = |count| {
        for _ in 0..count {
            given.send(2);
            executor.run_frame(0.25);
        }
    };
    frames(5_000);
    allocations_of(|| frames(1_000))
}

#[test]
fn no_wait_allocates_except_those_that_say_so() {
    let (other, rest): (Vec<&Row>, Vec<&Row>) = WAITS.iter().partition(|row| row.allocates);
    if allocations_of_waits(&rest) > 0 {
        for row in rest {
            let allocations = allocations_of_waits(&[row]);
            assert_eq!(allocations, 0, "{} of {}, {:?}", row.call, row.of, row.rule);
        }
        panic!("together they allocate");
    }
    for row in other {
        let allocations = allocations_of_waits(&[row]);
        assert!(allocations > 0, "{} of {}", row.call, row.of);
    }
}

#[test]
fn next_frame_does_not_allocate() {
    let mut executor = unclamped();
    for _ in 0..100 {
        executor.start(async {
            loop {
                next_frame().await;
            }
        });
    }
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
}

#[test]
fn phases_do_not_allocate() {
    let mut executor = unclamped();
    for phase in framestep_testkit::PHASES {
        executor.start(async move {
            loop {
                in_phase(phase).await;
                next_frame().in_phase(phase).await;
            }
        });
    }
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
}

#[test]
fn waits_on_clocks_that_change_their_speed_do_not_allocate() {
    let mut executor = unclamped();
    let child = executor.clock().child();
    for i in 0..100 {
        let clock = if i % 2 == 0 {
            child.clone()
        } else {
            child.child()
        };
        executor.start(async move {
            loop {
                clock.wait_seconds(f64::from(i % 7) * 0.25).await;
                clock.set_scale([0.5, 1.0, 2.0][(time().frame % 3) as usize]);
                wait_seconds(0.5).in_phase(Phase::LateUpdate).await;
            }
        });
    }
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
}

#[test]
fn wait_frames_and_conditions_do_not_allocate() {
    let mut executor = unclamped();
    for i in 0..100 {
        executor.start(async move {
            loop {
                wait_frames(i % 7).await;
                wait_until(|| time().frame % 3 == 0).await;
            }
        });
    }
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
}

#[test]
fn wait_seconds_does_not_allocate_once_a_crowd_has_been_there() {
    let mut executor = unclamped();
    let mut crowd: Vec<_> = (0..400_u32)
        .map(|i| {
            executor.start(async move {
                let length = 0.5 + f64::from(i) * 0.011;
                loop {
                    wait_seconds(length).await;
                    wait_seconds_realtime(length).await;
                }
            })
        })
        .collect();
    frames(&mut executor, 5_000, 0.25);
    // The memory for the crowd is kept; the other timers meet in different
    // slots in every frame.
    for coroutine in crowd.drain(50..) {
        assert!(coroutine.stop());
    }
    for dt in [1.0 / 64.0, 0.25] {
        let allocations = allocations_of(|| frames(&mut executor, 4_000, dt));
        assert_eq!(allocations, 0, "frames of {dt} s");
    }
}

#[test]
fn a_dropped_timer_does_not_allocate() {
    let mut executor = unclamped();
    for _ in 0..100 {
        executor.start(async {
            loop {
                futures::select_biased! {
                    () = wait_seconds(10) => (),
                    () = next_frame() => (),
                }
            }
        });
    }
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
}

#[test]
fn waits_made_of_others_do_not_allocate() {
    let mut executor = unclamped();
    for _ in 0..20 {
        executor.start(async {
            loop {
                let _ = timeout(0.5, std::future::pending::<()>()).await;
                let _ = timeout(0.5, next_frame()).await;
                animate(1, |_| ()).await;
            }
        });
        executor.start(async {
            let (mut ticks, mut frames) = (interval(0.5), framestep::wait::frames());
            loop {
                futures::select_biased! {
                    _ = ticks.tick() => (),
                    _ = frames.select_next_some() => (),
                }
            }
        });
    }
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
}

#[test]
fn select_and_join_do_not_allocate() {
    let mut executor = unclamped();
    for _ in 0..20 {
        executor.start(async {
            let mut long = wait_seconds(1e6);
            loop {
                let child = start(wait_frames(3).map(drop)).stop_on_drop();
                select! {
                    _ = &mut long => unreachable!(),
                    _ = child => unreachable!(),
                    _ = wait_seconds(10) => unreachable!(),
                    _ = async { next_frame().await } => (),
                }
                let ((), joined) = join!(
                    async { wait_seconds(0.5).await },
                    start(next_frame().map(drop))
                );
                joined.unwrap();
            }
        });
    }
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
}

#[test]
fn join_all_and_race_allocate_once_for_the_futures_and_once_for_the_outputs() {
    fn allocations(script: impl AsyncFn() + 'static) -> u64 {
        let mut executor = unclamped();
        executor.start(async move {
            loop {
                script().await;
                next_frame().await;
            }
        });
        steady_allocations(&mut executor, 0.25)
    }
    fn numbers() -> impl Iterator<Item = impl Future<Output = u64>> {
        (0..64).map(std::future::ready)
    }
    fn waits() -> impl Iterator<Item = impl Future<Output = u64>> {
        (0..64).map(|i| next_frame().map(move |()| i))
    }
    assert_eq!(
        allocations(async || assert_eq!(join_all(numbers()).await.len(), 64)),
        2 * 1_000
    );
    assert_eq!(
        allocations(async || assert_eq!(race(numbers()).await, (0, 0))),
        1_000
    );
    // A round takes two frames.
    assert_eq!(
        allocations(async || assert_eq!(join_all(waits()).await.len(), 64)),
        1_000
    );
    assert_eq!(
        allocations(async || assert_eq!(race(waits()).await, (0, 0))),
        500
    );
}

#[test]
fn spawn_and_start_do_not_allocate() {
    let mut executor = unclamped();
    executor.start(async {
        loop {
            for _ in 0..10 {
                drop(spawn(next_frame().map(drop)));
                drop(start(next_frame().map(drop)));
            }
            next_frame().await;
        }
    });
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
}

#[test]
fn spawning_from_the_host_does_not_allocate() {
    let mut executor = unclamped();
    let mut round = |count| {
        for _ in 0..count {
            for _ in 0..10 {
                drop(executor.spawn(next_frame().map(drop)));
            }
            executor.run_frame(0.25);
        }
    };
    round(1_000);
    assert_eq!(allocations_of(|| round(1_000)), 0);
}

#[test]
fn join_does_not_allocate() {
    let mut executor = unclamped();
    let joined = Rc::new(Cell::new(0_u32));
    for _ in 0..10 {
        let joined = joined.clone();
        executor.start(async move {
            loop {
                start(next_frame().map(drop)).await.unwrap();
                spawn(next_frame().map(drop)).await.unwrap();
                joined.set(joined.get() + 1);
            }
        });
    }
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
    assert!(joined.get() > 10_000);
}

#[test]
fn wakes_between_coroutines_do_not_allocate() {
    let mut executor = unclamped();
    let baton = Rc::new(Cell::new(0_u32));
    let wakers: Rc<[Cell<Option<std::task::Waker>>; 2]> = Rc::default();
    for i in 0..2 {
        let (baton, wakers) = (baton.clone(), wakers.clone());
        executor.start(async move {
            loop {
                std::future::poll_fn(|cx| {
                    if baton.get() % 2 == i {
                        return std::task::Poll::Ready(());
                    }
                    wakers[i as usize].set(Some(cx.waker().clone()));
                    std::task::Poll::Pending
                })
                .await;
                baton.set(baton.get() + 1);
                if let Some(waker) = wakers[1 - i as usize].take() {
                    waker.wake();
                }
                next_frame().await;
            }
        });
    }
    assert_eq!(steady_allocations(&mut executor, 0.25), 0);
    assert!(baton.get() > 4_000);
}

#[test]
fn a_million_wakes_of_one_coroutine_are_one_entry() {
    let mut executor = unclamped();
    let kept = Rc::new(Cell::new(None));
    let keep = kept.clone();
    executor.start(std::future::poll_fn(move |cx| {
        keep.set(Some(cx.waker().clone()));
        std::task::Poll::<()>::Pending
    }));
    let waker: std::task::Waker = kept.take().unwrap();
    let mut round = |wakes| {
        for _ in 0..wakes {
            waker.wake_by_ref();
        }
        executor.run_frame(0.25);
    };
    round(10);
    round(10);
    // Cloning the waker in the poll may cost, the wakes may not.
    let few = allocations_of(|| round(10));
    let many = allocations_of(|| round(1_000_000));
    assert_eq!(few, many);
}

#[test]
fn coroutines_spawned_from_afar_leave_nothing_behind() {
    let mut executor = unclamped();
    executor.on_report(|_| ());
    let remote = executor.remote();
    let mut round = |frames: u32| {
        for frame in 0..frames {
            // They end at once, in the next frame, or by a panic.
            assert!(remote.spawn(|| async {}));
            assert!(remote.spawn(|| next_frame().map(drop)));
            let panics = frame % 2 == 0;
            assert!(remote.spawn(move || async move {
                if panics {
                    std::panic::resume_unwind(Box::new([0_u8; 64]));
                }
            }));
            executor.run_frame(0.25);
        }
        executor.run_frame(0.25);
        executor.assert_empty();
        live_bytes()
    };
    let before = round(100);
    assert_eq!(round(1_000), before);
}

#[test]
fn slots_of_coroutines_spawned_from_afar_are_used_again() {
    let mut executor = unclamped();
    let remote = executor.remote();
    for _ in 0..1_000 {
        assert!(remote.spawn(|| async {}));
        executor.run_frame(0.25);
    }
    let next = executor.spawn(async {});
    // A key prints as a slot and the occupants before this one.
    let id = next.id().to_string();
    let slot: u32 = id.split('v').next().unwrap().parse().unwrap();
    assert!(slot < 10, "{id}");
}
