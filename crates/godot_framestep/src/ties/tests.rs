//! Scripts of nodes that are paused and freed, without an engine: a node is a number.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use framestep::prelude::*;

use super::{OLD, Ties};

/// Records the end of its script when it is dropped.
struct Guard(u32, Rc<RefCell<Vec<u32>>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.1.borrow_mut().push(self.0);
    }
}

async fn stand_guard(guard: Guard) {
    let _guard = guard;
    wait_seconds(3_600).await;
}

#[test]
fn the_scripts_of_a_node_end_with_it_and_no_others() {
    let executor = Executor::new();
    let (ties, ended) = (Ties::new(executor.handle()), Rc::default());
    for node in [1, 1, 2] {
        let (owner, _) = ties.tie(node, || (node, None)).unwrap();
        owner.start(stand_guard(Guard(node, Rc::clone(&ended))));
    }
    ties.end(1);
    assert_eq!(*ended.borrow(), [1, 1]);
    ties.end(1);
    assert_eq!(executor.len(), 1);
    ties.stop(2);
    assert_eq!(*ended.borrow(), [1, 1, 2]);
}

#[test]
fn a_node_is_new_until_it_has_ended() {
    let executor = Executor::new();
    let ties = Ties::new(executor.handle());
    let is_new = |node: u32| ties.tie(node, || (node, None)).unwrap().1;
    assert_eq!([is_new(1), is_new(1), is_new(2)], [true, false, true]);
    ties.end(1);
    assert!(is_new(1));
    drop(executor);
    assert!(ties.tie(3, || (3, None)).is_none());
}

#[test]
fn a_destructor_may_end_and_tie_other_nodes() {
    struct EndsOther(Rc<Ties<u32, u32>>);

    impl Drop for EndsOther {
        fn drop(&mut self) {
            self.0.end(2);
            let (owner, _) = self.0.tie(3, || (3, None)).unwrap();
            owner.spawn(next_frame());
        }
    }

    let mut executor = Executor::new();
    let ties = Rc::new(Ties::new(executor.handle()));
    let guard = EndsOther(ties.clone());
    let first = ties.tie(1, || (1, None)).unwrap().0.start(async {
        let _guard = guard;
        wait_seconds(1).await;
    });
    let second = ties.tie(2, || (2, None)).unwrap().0.start(wait_seconds(1));
    ties.end(1);
    assert!(first.is_finished() && second.is_finished());
    executor.run_frame(0.25);
    assert_eq!(executor.len(), 1);
}

/// A script runs as often as its node was able to process.
#[test]
fn scripts_stand_still_while_their_node_cannot_process() {
    let mut executor = Executor::new();
    let ties = Ties::new(executor.handle());
    let counts: Rc<RefCell<[u32; 8]>> = Rc::default();
    for node in 0..8 {
        let counts = counts.clone();
        let (owner, _) = ties.tie(node, || (node, None)).unwrap();
        owner.spawn(async move {
            loop {
                counts.borrow_mut()[node] += 1;
                wait_seconds(0.25).await;
            }
        });
    }
    let (mut paused, mut expected) = (BTreeSet::new(), [0; 8]);
    for frame in 0..1_000_usize {
        let node = frame * 5 % 8;
        if frame % 3 == 0 && !paused.remove(&node) {
            paused.insert(node);
        }
        ties.sync(|node| paused.contains(node));
        executor.run_frame(0.25);
        for node in (0..8).filter(|node| !paused.contains(node)) {
            expected[node] += 1;
        }
        assert_eq!(*counts.borrow(), expected, "{frame}");
    }
}

/// Godot tells the watch of a node that something changes. Until it is old, a node is asked.
#[test]
fn a_node_that_is_watched_is_asked_when_its_watch_says_so() {
    let executor = Executor::new();
    let ties = Ties::new(executor.handle());
    let asked: RefCell<Vec<u32>> = RefCell::default();
    let paused: RefCell<BTreeSet<u32>> = RefCell::default();
    let sync = || {
        ties.sync(|&node| {
            asked.borrow_mut().push(node);
            paused.borrow().contains(&node)
        });
        asked.take()
    };
    let sleeps = |node: u32| {
        let (owner, _) = ties.tie(node, || (node, None)).unwrap();
        owner.start(wait_seconds(3_600))
    };
    let scripts: Vec<_> = (0..20).map(sleeps).collect();
    for _ in 0..OLD {
        assert_eq!(sync().len(), 20);
        assert!(ties.grow_old().is_empty());
    }
    // Some in each frame.
    let watched: Vec<_> = ties.grow_old().into_iter().map(|(key, _)| key).collect();
    assert_eq!(watched, (0..16).collect::<Vec<_>>());
    assert_eq!(sync(), [16, 17, 18, 19]);
    assert_eq!(ties.grow_old().len(), 4);
    assert!(sync().is_empty() && ties.grow_old().is_empty());

    paused.borrow_mut().insert(3);
    ties.ask_soon(3);
    ties.ask_soon(4);
    assert!(!scripts[3].is_paused());
    assert_eq!(sync(), [3, 4]);
    assert!(scripts[3].is_paused() && !scripts[4].is_paused());
    assert!(sync().is_empty());

    // Its watch is gone.
    ties.unwatch(3);
    ties.unwatch(3);
    paused.borrow_mut().clear();
    assert_eq!(sync(), [3]);
    assert!(!scripts[3].is_paused());
    // It has ended, and others are asked.
    ties.end(3);
    ties.ask_soon(3);
    ties.unwatch(3);
    ties.unwatch(7);
    assert_eq!(sync(), [7]);
}

/// As when a node moves to another parent.
#[test]
fn a_node_that_ends_and_is_tied_again_is_asked_and_watched_once() {
    let executor = Executor::new();
    let ties = Ties::new(executor.handle());
    let mut watched = 0;
    for frame in 0..OLD + 60 {
        if frame % 7 == 0 && frame < 60 {
            ties.end(1);
        }
        let (owner, _) = ties.tie(1, || (1, None)).unwrap();
        owner.start(wait_seconds(3_600));
        ties.sync(|_| false);
        watched += ties.grow_old().len();
    }
    assert_eq!(watched, 1);
    let asked = RefCell::new(0);
    ties.sync(|_| {
        *asked.borrow_mut() += 1;
        false
    });
    assert_eq!(asked.take(), 0);
}
