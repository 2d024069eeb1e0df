//! `when_each`.

use std::cell::Cell;
use std::future::ready;
use std::rc::Rc;

use futures::StreamExt;

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{counted, forever};

async fn after(seconds: u64, number: u64) -> u64 {
    wait_seconds(seconds).await;
    number
}

#[test]
fn handles_come_in_the_order_of_their_ends() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let scripts = [(3, 30), (1, 10), (2, 20)];
        let mut each = when_each(scripts.map(|(seconds, number)| start(after(seconds, number))));
        while let Some((index, number)) = each.next().await {
            say.say(format!("{index}: {}", number.unwrap()));
        }
        say.say("over");
    });
    executor.run_frames(3, 1);
    log.check(&["F1: 1: 10", "F2: 2: 20", "F3: 0: 30", "F3: over"]);
}

#[test]
fn ends_in_the_meantime_keep_their_order() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let scripts = [3, 1, 2].map(|seconds| start(after(seconds, seconds)));
        let mut each = when_each(scripts);
        let say = &say;
        join!(
            async { wait_seconds(3).await },
            // Awaits nothing until all have ended.
            async {
                let first = each.next().await;
                say.say(format!("{first:?}"));
                wait_seconds(9).await;
                let rest: Vec<_> = each.map(|(index, _)| index).collect().await;
                say.say(format!("{rest:?}"));
            }
        );
    });
    executor.run_frames(10, 1);
    log.check(&["F1: Some((1, Ok(1)))", "F10: [2, 0]"]);
}

#[test]
fn those_that_are_ready_come_first_and_none_ends_it() {
    let executor = unclamped();
    let seen = executor.start(async {
        let seen: Vec<_> = when_each([ready('a'), ready('b')]).collect().await;
        let none = when_each::<std::future::Ready<()>>([]).next().await;
        (seen, none)
    });
    let seen = seen.take_output().unwrap().unwrap();
    assert_eq!(seen, (vec![(0, 'a'), (1, 'b')], None));
}

#[test]
fn a_poll_polls_only_what_was_woken() {
    let mut executor = unclamped();
    let polls: Vec<Rc<Cell<u32>>> = (0..100).map(|_| Rc::default()).collect();
    let waits = polls.clone().into_iter().enumerate();
    let waits = waits.map(|(number, polls)| counted(polls, after(number as u64 + 1, 0)));
    let count = executor.start(when_each(waits.collect::<Vec<_>>()).count());
    executor.run_frames(100, 1);
    assert_eq!(count.take_output().unwrap().unwrap(), 100);
    assert!(polls.iter().all(|polls| polls.get() == 2), "{polls:?}");
}

#[test]
fn a_future_that_wakes_itself_does_not_block_the_frame() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let count = polls.clone();
    let wakes = std::future::poll_fn(move |cx| {
        count.set(count.get() + 1);
        cx.waker().wake_by_ref();
        std::task::Poll::<()>::Pending
    });
    executor.start(async move { when_each([wakes]).next().await });
    executor.run_frames(5, 1);
    assert_eq!(polls.get(), 6);
}

#[test]
fn dropping_it_detaches_the_handles_that_are_left() {
    let executor = unclamped();
    let script = executor.start(async {
        let mut each = when_each([start(forever())]);
        select! {
            _ = each.next() => {}
            () = ready(()) => {}
        }
    });
    assert!(script.is_finished());
    assert_eq!(executor.len(), 1);
}

#[test]
fn a_panic_of_one_is_its_item() {
    let mut executor = unclamped();
    let items = executor.start(async {
        let broken = start(async {
            next_frame().await;
            panic!("broken")
        });
        let stopped = start(forever());
        stopped.stop();
        let each = when_each([broken, stopped]);
        each.map(|(index, item)| (index, item.unwrap_err().is_panic()))
            .collect::<Vec<_>>()
            .await
    });
    executor.run_frame(1);
    assert_eq!(
        items.take_output().unwrap().unwrap(),
        [(1, false), (0, true)]
    );
}

#[test]
fn the_first_poll_of_a_coroutine_polls_each_future_once_like_all_others() {
    for n in [10, 100] {
        let mut executor = unclamped();
        let polls = Rc::new(Cell::new(0));
        let never = Watch::new(0);
        let counts = polls.clone();
        executor.start(async move {
            let futures = (0..2 * n).map(|number| {
                let (counts, never) = (counts.clone(), never.clone());
                counted(counts, async move {
                    if number < n {
                        never.wait_for(|&value| value > 0).await;
                    }
                })
            });
            let mut each = when_each(futures);
            for _ in 0..n {
                each.next().await;
            }
            each.next().await;
        });
        assert_eq!(polls.get(), 2 * n);
        executor.run_frames(5, 0.25);
        assert_eq!(polls.get(), 2 * n);
    }
}
