//! Thousands of events, waits for them, and scripts that are awaited together.

use std::pin::Pin;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use framestep::prelude::*;
use framestep::task::offload;
use framestep::wait::debounce_by_key;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{forever, poll_once};

use super::{Subject, run_large, subject};

/// A script whose group has a script whose group has a script, `depth` times.
fn nested(depth: usize) -> Pin<Box<dyn Future<Output = usize>>> {
    Box::pin(async move {
        if depth == 0 {
            next_frame().await;
            return 0;
        }
        let mut inner = group();
        inner.spawn(nested(depth - 1));
        inner.join().await.unwrap()[0] + 1
    })
}

pub(super) const SUBJECTS: &[Subject] = &[
    subject("n events of emit_one for n that are stopped", 20_000, |n| {
        let executor = unclamped();
        executor.on_report(|_| ());
        let (signal, owner) = (Signal::new(), executor.owner());
        for _ in 0..n {
            owner.start(signal.wait());
        }
        for event in 0..n {
            assert!(signal.emit_one(event).is_none());
        }
        drop(owner);
    }),
    subject(
        "n events of emit_one, and n subscriptions that end",
        20_000,
        |n| {
            let mut executor = unclamped();
            let signal = Signal::new();
            for _ in 0..n {
                executor.start(signal.wait());
            }
            let others: Vec<_> = (0..n).map(|_| signal.subscribe()).collect();
            for event in 0..n {
                assert!(signal.emit_one(event).is_none());
            }
            drop(others);
            executor.run_frame(0.25);
            executor.assert_empty();
        },
    ),
    subject(
        "an event of emit_one that n refuse, one by one",
        20_000,
        |n| {
            let mut executor = unclamped();
            executor.on_report(|_| ());
            let signal = Signal::new();
            for _ in 0..n {
                executor.start(signal.wait_for(|&wanted| wanted));
            }
            assert!(signal.emit_one(false).is_none());
            executor.run_frame(0.25);
            assert_eq!(executor.len(), n);
        },
    ),
    subject(
        "n waits that keep an event each, stopped last to first",
        20_000,
        |n| {
            let executor = unclamped();
            let signal = Signal::with_limit(2);
            let scripts: Vec<_> = (0..n)
                .map(|event| {
                    let script = executor.start(signal.wait());
                    script.pause();
                    signal.emit(event);
                    script
                })
                .collect();
            for script in scripts.iter().rev() {
                assert!(script.stop());
            }
        },
    ),
    subject(
        "n waits that keep an event each, resumed in turn",
        20_000,
        |n| {
            let mut executor = unclamped();
            let signal = Signal::with_limit(2);
            let scripts: Vec<_> = (0..n)
                .map(|event| {
                    let script = executor.start(signal.wait());
                    script.pause();
                    signal.emit(event);
                    script
                })
                .collect();
            for (event, script) in scripts.iter().enumerate() {
                if event % 3 > 0 {
                    script.resume();
                }
            }
            executor.run_frame(0.25);
            assert_eq!(executor.len(), n.div_ceil(3));
        },
    ),
    subject(
        "n events, read by a subscription and 100 that lag",
        20_000,
        |n| {
            let mut executor = unclamped();
            executor.on_report(|_| ());
            let signal = Signal::with_limit(64);
            let lagging: Vec<_> = (0..100).map(|_| signal.subscribe()).collect();
            let mut events = signal.subscribe();
            let reader = executor.start(async move {
                for _ in 0..n {
                    events.next().await;
                }
            });
            for event in 0..n {
                signal.emit(event);
                if event % 50 == 49 {
                    executor.run_frame(0.25);
                }
            }
            executor.run_frame(0.25);
            assert!(reader.is_finished());
            assert!(lagging.iter().all(|events| events.missed() > 0));
        },
    ),
    subject(
        "n streams of one watch, dropped last to first",
        20_000,
        |n| {
            let watch = Watch::new(0);
            let mut streams: Vec<_> = (0..n).map(|_| watch.subscribe()).collect();
            watch.set(1);
            while streams.pop().is_some() {}
        },
    ),
    subject("n that acquire one permit after the other", 20_000, |n| {
        let mut executor = unclamped();
        executor.on_report(|_| ());
        let permits = Semaphore::new(1);
        for _ in 0..n {
            let permit = permits.acquire();
            executor.start(async move { drop(permit.await) });
        }
        while !executor.is_empty() {
            executor.run_frame(0.25);
        }
    }),
    subject(
        "n that wait for a permit, stopped last to first",
        20_000,
        |n| {
            let executor = unclamped();
            let permits = Semaphore::new(0);
            let scripts: Vec<_> = (0..n).map(|_| executor.start(permits.acquire())).collect();
            for script in scripts.iter().rev() {
                assert!(script.stop());
            }
            assert_eq!(permits.available(), 0);
        },
    ),
    subject("n permits, taken, added and returned", 20_000, |n| {
        let executor = unclamped();
        let permits = Semaphore::new(n);
        let taken: Vec<_> = (0..n).map(|_| permits.try_acquire().unwrap()).collect();
        for _ in 0..n {
            executor.start(permits.acquire_many(2));
        }
        permits.add(n);
        drop(taken);
        assert_eq!(permits.available(), 0);
    }),
    subject("n promises that are kept in one frame", 20_000, |n| {
        let mut executor = unclamped();
        let resolvers: Vec<_> = (0..n)
            .map(|_| {
                let (resolver, promise) = promise();
                executor.start(promise);
                resolver
            })
            .collect();
        for resolver in resolvers {
            resolver.send(1).unwrap();
        }
        executor.run_frame(0.25);
        executor.assert_empty();
    }),
    subject("a group of n that end in one frame", 20_000, |n| {
        let mut executor = unclamped();
        let wave = executor.start(async move {
            let mut wave = group();
            for _ in 0..n {
                wave.spawn(next_frame());
            }
            wave.join().await.unwrap().len()
        });
        executor.run_frames(3, 0.25);
        assert_eq!(wave.take_output().unwrap().unwrap(), n);
    }),
    subject("a group of n that end in n frames", 4_000, |n| {
        let mut executor = unclamped();
        let wave = executor.start(async move {
            let mut wave = group();
            for frame in 0..n {
                wave.start(async move {
                    wait_frames(frame as u64).await;
                    Ok::<_, ()>(())
                });
            }
            wave.try_join().await.unwrap().unwrap().len()
        });
        while !executor.is_empty() {
            executor.run_frame(0.25);
        }
        assert_eq!(wave.take_output().unwrap().unwrap(), n);
    }),
    subject("n groups in one another", 4_000, |n| {
        let mut executor = unclamped();
        let all = executor.start(nested(n));
        executor.run_frames(3, 0.25);
        assert_eq!(all.take_output().unwrap().unwrap(), n);
    }),
    subject(
        "n groups of one owner, dropped first to last",
        20_000,
        |n| {
            let mut executor = unclamped();
            executor.start(async move {
                let mut groups = Vec::new();
                for _ in 0..n {
                    let mut group = group();
                    group.start(forever());
                    groups.push(group);
                }
                next_frame().await;
                drop(groups);
            });
            executor.run_frame(0.25);
            executor.assert_empty();
        },
    ),
    subject("when_each of n that end in one frame", 20_000, |n| {
        let mut executor = unclamped();
        let count = executor.start(async move {
            let scripts: Vec<_> = (0..n).map(|_| start(next_frame())).collect();
            when_each(scripts).count().await
        });
        executor.run_frame(0.25);
        assert_eq!(count.take_output().unwrap().unwrap(), n);
    }),
    subject(
        "when_each of n of which half is ready at once",
        20_000,
        |n| {
            let executor = unclamped();
            let never = Watch::new(0);
            executor.start(async move {
                let waits = (0..n).map(|at| {
                    let never = never.clone();
                    async move {
                        if at % 2 == 0 {
                            never.changed().await;
                        }
                    }
                });
                let mut each = when_each(waits);
                for _ in 0..n / 2 {
                    each.next().await;
                }
                forever().await;
            });
        },
    ),
    subject(
        "FuturesUnordered of n waits, one for each frame",
        4_000,
        |n| {
            let mut executor = unclamped();
            let count = executor.start(async move {
                let waits: FuturesUnordered<_> = (0..n).map(|at| wait_frames(at as u64)).collect();
                waits.count().await
            });
            while !executor.is_empty() {
                executor.run_frame(0.25);
            }
            assert_eq!(count.take_output().unwrap().unwrap(), n);
        },
    ),
    subject(
        "join_all and try_join_all of n, polled 20 times",
        5_000,
        |n| {
            let mut executor = unclamped();
            executor.start(async move {
                let tried = try_join_all((0..n).map(|_| async {
                    wait_frames(20).await;
                    Ok::<_, ()>(())
                }));
                let joined = join_all((0..n).map(|_| wait_frames(20)));
                let frames = async {
                    for _ in 0..20 {
                        next_frame().await;
                    }
                };
                join!(tried, joined, frames).0.unwrap();
            });
            executor.run_frames(20, 0.25);
            executor.assert_empty();
        },
    ),
    subject("n keys of one debounce_by_key", 20_000, |n| {
        let mut executor = unclamped();
        let hits = Signal::with_limit(1 << 20);
        let settled = debounce_by_key(0.5, hits.subscribe(), |&hit| hit).with_limit(1 << 20);
        let settled = executor.start(settled.take(n).count());
        for hit in 0..n {
            hits.emit(hit);
        }
        while !settled.is_finished() {
            executor.run_frame(0.25);
        }
    }),
    subject("n sources that are found by name, twice", 20_000, |n| {
        let executor = unclamped();
        for key in (0..n as u64).chain(0..n as u64) {
            executor.named(&watch("gold", || 3).keyed(key)).set(4);
        }
    }),
    subject("n jobs that arrive in order", 20_000, |n| {
        let builder = Executor::builder().offload(|job| job());
        let mut executor = builder.offload_in_order(true).build();
        for _ in 0..n {
            executor.start(async { offload(|| ()).await });
        }
        executor.run_frames(2, 0.25);
        executor.assert_empty();
    }),
    subject(
        "20 frames of n intervals and n streams over time",
        10_000,
        |n| {
            let mut executor = unclamped();
            let hits = Signal::new();
            for _ in 0..n {
                executor.start(interval(0.5).for_each(async |_| ()));
                executor.start(every_frames(2).for_each(async |_| ()));
                executor.start(frames().for_each(async |_| ()));
                executor.start(changes_of(|| time().frame / 4).for_each(async |_| ()));
                executor.start(debounce(0.5, hits.subscribe()).for_each(async |()| ()));
                executor.start(throttle(0.5, hits.subscribe()).for_each(async |()| ()));
            }
            for _ in 0..20 {
                hits.emit(());
                executor.run_frame(0.25);
            }
        },
    ),
    subject(
        "n ticks that are due at once, and n one by one",
        20_000,
        |n| {
            let mut executor = unclamped();
            executor.on_report(|_| ());
            executor.start(async move {
                let (mut all, mut single) = (interval(0.01), interval(0.01));
                let mut left = n as u64;
                while left > 0 {
                    left = left.saturating_sub(all.ticks().await);
                }
                for _ in 0..n {
                    single.tick().await;
                }
            });
            executor.run_frame(1_000);
            while !executor.is_empty() {
                executor.run_frame(0.01);
            }
        },
    ),
    subject("20 frames of n timers, moved in each frame", 10_000, |n| {
        let mut executor = unclamped();
        for _ in 0..n {
            executor.start(async {
                let mut wait = wait_seconds(100);
                for _ in 0..20 {
                    assert!(poll_once(&mut wait).await.is_pending());
                    next_frame().await;
                    wait.reset(100);
                }
            });
        }
        executor.run_frames(20, 0.25);
        executor.assert_empty();
    }),
    subject("n animations and timeouts of 20 frames", 10_000, |n| {
        let mut executor = unclamped();
        for _ in 0..n {
            executor.start(timeout(10, animate(5, |_| ())));
        }
        executor.run_frames(20, 0.25);
        executor.assert_empty();
    }),
    subject("n that are requested to stop", 20_000, |n| {
        let mut executor = unclamped();
        let owner = executor.owner();
        for _ in 0..n {
            owner.start(stop_requested());
        }
        owner.request_stop();
        executor.run_frame(0.25);
        executor.assert_empty();
    }),
    subject(
        "a line of n owners that is requested to stop",
        10_000,
        |n| {
            let mut executor = unclamped();
            let mut line = vec![executor.owner()];
            for at in 1..n {
                let child = line[at - 1].child();
                child.start(stop_requested());
                line.push(child);
            }
            line[0].request_stop();
            executor.run_frame(0.25);
            executor.assert_empty();
        },
    ),
    subject("a snapshot of n that wait for named sources", 10_000, |n| {
        let executor = Executor::builder().inspect(true).build();
        let (bell, gold, tokens) = (
            Signal::<()>::new().named("bell"),
            Watch::new(0).named("gold"),
            Semaphore::new(0).named("tokens"),
        );
        for at in 0..n {
            let script = match at % 3 {
                0 => executor.start(next_frame()),
                1 => {
                    let bell = bell.clone();
                    executor.start(async move { bell.wait().await })
                }
                _ => {
                    let (gold, tokens) = (gold.clone(), tokens.clone());
                    executor.start(async move {
                        futures::future::select(gold.changed(), tokens.acquire()).await;
                    })
                }
            };
            drop(script.named(format!("script {at}")));
        }
        let snapshot = executor.snapshot();
        assert_eq!(snapshot.iter().count(), executor.len());
        assert!(snapshot.to_string().len() > n);
    }),
    subject(
        "n closures of with_deferred, defer and defer_call",
        10_000,
        |n| {
            let mut executor = unclamped();
            let mut calls = 0_usize;
            executor.lend(&mut calls, |executor| {
                executor.start(async move {
                    for _ in 0..n {
                        with_deferred(|calls: &mut usize| *calls += 1);
                        drop(defer(|calls: &mut usize| *calls += 1));
                        drop(defer_call(|| ()));
                    }
                });
                executor.run_frame(0.25);
            });
            assert_eq!(calls, 2 * n);
        },
    ),
];

#[test]
fn events_and_what_is_awaited_together_of_very_many_take_no_time() {
    run_large(SUBJECTS);
}
