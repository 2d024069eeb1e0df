//! What tokio's scheduler costs at the least: each coroutine wakes itself
//! while it is polled, which spares it the clone of a waker, and the queue of
//! the `LocalSet` goes round and round.
//!
//! These are no frames, only as many polls as frames would have had: nothing
//! stops the queue at the end of one. It is a bound for tokio's rows, not a
//! way to write a game, and only has W1.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use ::tokio::task::LocalSet;

use crate::actor::Actor;
use crate::systems::{Order, System, World};

/// The tasks that a `LocalSet` runs in one poll.
const TASKS_PER_POLL: i64 = 61;

fn awake(index: usize) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        loop {
            let mut yielded = false;
            poll_fn(|cx| {
                if yielded {
                    return Poll::Ready(());
                }
                yielded = true;
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
            actor.resumed();
        }
    }
}

struct Queue {
    set: LocalSet,
    size: i64,
    /// Task polls that are still to be made; below zero, made too early.
    owed: i64,
}

impl World for Queue {
    fn steps(&mut self, count: u64) {
        let mut cx = Context::from_waker(Waker::noop());
        self.owed += count as i64 * self.size;
        while self.owed > 0 {
            let _ = Pin::new(&mut self.set).poll(&mut cx);
            self.owed -= TASKS_PER_POLL;
        }
    }
}

pub(crate) struct TokioSelfWake;

impl System for TokioSelfWake {
    fn name(&self) -> &'static str {
        "tokio-self-wake"
    }

    fn future_bytes(&self) -> usize {
        size_of_val(&awake(0))
    }

    /// Its tasks are aligned to cache lines, in pairs.
    fn leaves_gaps(&self) -> bool {
        true
    }

    /// It stops at a multiple of the tasks in a poll.
    fn tolerance(&self, _workload: &str) -> f64 {
        0.001
    }

    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        if order == Order::Aged {
            return None;
        }
        let set = LocalSet::new();
        for index in 0..size {
            set.spawn_local(awake(index));
        }
        let mut queue = Queue {
            set,
            size: size as i64,
            owed: 0,
        };
        queue.steps(1);
        Some(Box::new(queue))
    }
}
