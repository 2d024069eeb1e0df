//! Input 29: coroutines that hold themselves, or each other. Other acts of a
//! coroutine on itself are tested in `stop`, `owners` and `join`.

use std::cell::RefCell;
use std::rc::Rc;

use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, unclamped};

type Slot = Rc<RefCell<Option<Coroutine<()>>>>;

#[test]
fn one_that_holds_its_own_handle_ends_like_any_other() {
    for stops in [false, true] {
        for returns in [false, true] {
            let mut executor = unclamped();
            let log = Log::new();
            let slot = Slot::default();
            let (take, dropped) = (slot.clone(), log.on_drop("dropped"));
            let own = executor.spawn(async move {
                let _dropped = dropped;
                let own = take.take().unwrap();
                let own = if stops { own.stop_on_drop() } else { own };
                next_frame().await;
                if !returns {
                    forever().await;
                }
                drop(own);
            });
            let id = own.id();
            slot.replace(Some(own));
            executor.run_frame(0.25);
            executor.run_frame(0.25);
            assert_eq!(executor.is_alive(id), !returns);
            drop(executor);
            log.check(&["dropped"]);
        }
    }
}

#[test]
fn two_that_hold_and_stop_each_other_end_together() {
    for first_to_go in 0..2 {
        let mut executor = unclamped();
        let log = Log::new();
        let slots = [Slot::default(), Slot::default()];
        let coroutines = [0, 1].map(|at| {
            let (take, dropped) = (slots[1 - at].clone(), log.on_drop(at));
            executor.spawn(async move {
                let _dropped = dropped;
                let other = take.take().unwrap().stop_on_drop();
                forever().await;
                drop(other);
            })
        });
        let ids = coroutines.each_ref().map(Coroutine::id);
        for (slot, coroutine) in slots.iter().zip(coroutines) {
            slot.replace(Some(coroutine));
        }
        executor.run_frame(0.25);
        log.check(&[]);
        assert!(executor.stop(ids[first_to_go]));
        executor.assert_empty();
        let mut gone = log.take();
        gone.sort_unstable();
        assert_eq!(gone, ["0", "1"]);
    }
}

#[test]
fn one_that_returns_its_own_handle_keeps_no_other() {
    struct Kept(#[expect(dead_code, reason = "it is kept")] Option<Coroutine<Kept>>);
    let mut executor = unclamped();
    let slot: Rc<RefCell<Option<Coroutine<Kept>>>> = Rc::default();
    let take = slot.clone();
    let own = executor.spawn(async move {
        next_frame().await;
        Kept(take.take())
    });
    slot.replace(Some(own));
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    executor.assert_empty();
    let next = executor.start(next_frame());
    executor.run_frame(0.25);
    assert!(next.is_finished());
}
