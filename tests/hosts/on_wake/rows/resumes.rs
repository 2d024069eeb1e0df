//! Pauses that end, and clocks that run faster.

use framestep::prelude::*;

use super::Row;

pub(super) const ROWS: &[Row] = &[
    ("Coroutine::resume, a timer", |e| {
        let script = e.start(wait_seconds(1));
        script.pause();
        Box::new(move |_| assert!(script.resume()))
    }),
    ("Coroutine::resume, a wake", |e| {
        let script = e.spawn(async {});
        script.pause();
        e.run_frame(0.25);
        Box::new(move |_| assert!(script.resume()))
    }),
    ("Executor::resume", |e| {
        let id = e.start(wait_seconds(1)).id();
        e.pause(id);
        e.run_frame(0.25);
        Box::new(move |e| assert!(e.resume(id)))
    }),
    ("Handle::resume, a timer put aside", |e| {
        let id = e.start(wait_seconds(0.25)).id();
        e.pause(id);
        e.run_frame(0.25);
        e.run_frame(0.25);
        Box::new(move |e| assert!(e.handle().resume(id)))
    }),
    ("Owner::resume, timers", |e| {
        let owner = e.owner();
        owner.start(wait_seconds(1));
        owner.pause();
        Box::new(move |_| {
            assert!(owner.resume());
            std::mem::forget(owner);
        })
    }),
    ("Owner::resume, what was spawned in the pause", |e| {
        let owner = e.owner();
        owner.pause();
        owner.start(next_frame());
        Box::new(move |_| {
            assert!(owner.resume());
            std::mem::forget(owner);
        })
    }),
    ("Clock::resume, the game", |e| {
        e.start(wait_seconds(1));
        e.clock().pause();
        Box::new(|e| assert!(e.clock().resume()))
    }),
    ("Clock::resume, a child", |e| {
        let child = e.clock().child();
        e.start(child.wait_seconds(1));
        child.pause();
        Box::new(move |_| assert!(child.resume()))
    }),
    ("Clock::set_scale, from 0", |e| {
        e.start(wait_seconds(1));
        e.clock().set_scale(0);
        Box::new(|e| e.clock().set_scale(0.5))
    }),
    ("Clock::set_scale, higher", |e| {
        e.start(wait_seconds(1));
        Box::new(|e| e.clock().set_scale(2))
    }),
    ("Clock::set_scale, a child", |e| {
        let child = e.realtime().child();
        e.start(child.wait_seconds(1));
        Box::new(move |_| child.set_scale(1.5))
    }),
    ("Clock::set_scale, a parent", |e| {
        let (parent, child) = {
            let parent = e.clock().child();
            let child = parent.child();
            (parent, child)
        };
        e.start(child.wait_seconds(1));
        Box::new(move |_| parent.set_scale(1.5))
    }),
];
