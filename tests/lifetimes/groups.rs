//! Groups of scripts.

use std::cell::RefCell;
use std::rc::Rc;

use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, unclamped};

async fn after(seconds: u64, number: u64) -> u64 {
    wait_seconds(seconds).await;
    number
}

#[test]
fn the_values_come_in_the_order_of_the_scripts_when_the_last_has_ended() {
    let mut executor = unclamped();
    let values = executor.start(async {
        let mut group = group();
        assert!(group.is_empty());
        for (seconds, number) in [(3, 10), (1, 20), (2, 30)] {
            group.start(after(seconds, number));
        }
        group.spawn(after(0, 40));
        assert_eq!(group.len(), 4);
        (group.join().await.unwrap(), time().frame)
    });
    executor.run_frames(3, 1);
    assert_eq!(
        values.take_output().unwrap().unwrap(),
        (vec![10, 20, 30, 40], 3)
    );
}

#[test]
fn an_empty_group_is_joined_at_once() {
    let executor = unclamped();
    let joined = executor.start(async { group::<u64>().join().await.unwrap() });
    assert!(joined.take_output().unwrap().unwrap().is_empty());
}

#[test]
fn dropping_the_group_or_its_wait_stops_all_in_the_order_they_were_added() {
    struct Says(&'static str, Log);
    impl Drop for Says {
        fn drop(&mut self) {
            self.1.say(self.0);
        }
    }
    for joins in [false, true] {
        let mut executor = unclamped();
        let log = Log::new();
        let say = log.clone();
        let parent = executor.start(async move {
            let mut group = group();
            for name in ["one", "two", "three"] {
                let says = Says(name, say.clone());
                group.start(async move {
                    let _says = says;
                    // On the owner of the group, too.
                    start(forever());
                    forever().await;
                });
            }
            if joins {
                group.join().await.unwrap();
            }
            forever().await;
        });
        assert_eq!(executor.len(), 7);
        executor.run_frame(1);
        parent.stop();
        log.check(&["F1.host: one", "F1.host: two", "F1.host: three"]);
        executor.assert_empty();
    }
}

#[test]
fn what_a_script_of_the_group_starts_is_awaited_too() {
    let mut executor = unclamped();
    let joined = executor.start(async {
        let mut group = group();
        group.start(async {
            start(wait_seconds(3));
        });
        group.join().await.unwrap();
        time().frame
    });
    executor.run_frames(3, 1);
    assert_eq!(joined.take_output().unwrap().unwrap(), 3);
}

#[test]
fn the_first_that_is_stopped_or_panics_ends_the_others_in_that_run() {
    let mut executor = unclamped();
    for panics in [false, true] {
        let frame = executor.time().frame;
        let joined = executor.start(async move {
            let mut group = group();
            group.start(after(60, 1));
            let breaks = group.start(async move {
                wait_seconds(2).await;
                assert!(!panics, "broken");
                stop(current());
                forever().await;
                2
            });
            let id = breaks.id();
            group.start(after(1, 3));
            let error = group.join().await.unwrap_err();
            assert_eq!((error.id(), error.is_panic()), (id, panics));
            time().frame
        });
        executor.run_frames(2, 1);
        assert_eq!(joined.take_output().unwrap().unwrap(), frame + 2);
        executor.assert_empty();
    }
}

#[test]
fn the_first_error_ends_the_others_in_that_run() {
    let mut executor = unclamped();
    let (joined, all) = (
        executor.start(async {
            let mut group = group();
            group.start(async {
                wait_seconds(60).await;
                Ok(())
            });
            group.start(async {
                wait_seconds(2).await;
                Err("no")
            });
            let joined = group.try_join().await.unwrap();
            (joined, time().frame)
        }),
        executor.start(async {
            let mut group = group();
            group.start(async { Ok::<_, ()>(after(2, 1).await) });
            group.start(async { Ok(after(1, 2).await) });
            group.try_join().await.unwrap()
        }),
    );
    executor.run_frames(2, 1);
    assert_eq!(joined.take_output().unwrap().unwrap(), (Err("no"), 2));
    assert_eq!(all.take_output().unwrap().unwrap(), Ok(vec![1, 2]));
    executor.assert_empty();
}

#[test]
fn a_script_that_is_added_is_stopped_with_the_group() {
    let executor = unclamped();
    let elsewhere = executor.start(after(60, 1));
    let id = elsewhere.id();
    let kept = Rc::new(RefCell::new(None));
    executor.enter(|| {
        let mut group = group();
        assert_eq!(group.add(elsewhere).id(), id);
        kept.replace(Some(group));
    });
    assert!(executor.is_alive(id));
    kept.take();
    assert!(!executor.is_alive(id));
}

#[test]
fn a_group_counts_on_the_clock_of_its_maker_and_pauses_with_its_owner() {
    let mut executor = unclamped();
    let half = executor.clock().child();
    half.set_scale(0.5);
    let owner = executor.owner_on(&half);
    let joined = owner.start(async {
        let mut group = group();
        group.start(after(1, 1));
        group.join().await.unwrap();
    });
    executor.run_frame(1);
    owner.pause();
    executor.run_frames(5, 1);
    owner.resume();
    assert!(!joined.is_finished());
    executor.run_frame(1);
    assert!(joined.is_finished());
}
