//! Wakes of scripts that wait for foreign futures.

use futures::channel::oneshot;
use futures::stream::FuturesUnordered;

use framestep::prelude::*;
use framestep::sync::Signal;

use super::{Row, elsewhere, waker_of};

pub(super) const ROWS: &[Row] = &[
    ("a waker", |e| {
        let waker = waker_of(e);
        Box::new(move |_| waker.wake())
    }),
    ("a waker by reference", |e| {
        let waker = waker_of(e);
        Box::new(move |_| waker.wake_by_ref())
    }),
    ("a waker in enter", |e| {
        let waker = waker_of(e);
        Box::new(move |e| e.enter(|| waker.wake()))
    }),
    ("a waker in with", |e| {
        let waker = waker_of(e);
        Box::new(move |e| {
            e.lend(&mut 1_u32, |e| {
                e.enter(|| with(|_: &mut u32| waker.wake()));
            });
        })
    }),
    ("a waker on another thread", |e| {
        let waker = waker_of(e);
        Box::new(move |_| elsewhere(move || waker.wake()))
    }),
    ("Signal::emit", |e| {
        let signal = Signal::new();
        let heard = signal.clone();
        e.start(async move { heard.wait().await });
        Box::new(move |_| signal.emit(1))
    }),
    ("a channel", |e| {
        let (sender, receiver) = oneshot::channel();
        e.start(receiver);
        Box::new(move |_| sender.send(1).unwrap())
    }),
    ("the end of a channel", |e| {
        let (sender, receiver) = oneshot::channel::<u32>();
        e.start(receiver);
        Box::new(move |_| drop(sender))
    }),
    ("a channel on another thread", |e| {
        let (sender, receiver) = oneshot::channel();
        e.start(receiver);
        Box::new(move |_| elsewhere(move || sender.send(1).unwrap()))
    }),
    ("a channel behind another's waker", |e| {
        let (sender, receiver) = oneshot::channel::<u32>();
        e.start(async move {
            let mut futures = FuturesUnordered::from_iter([receiver]);
            futures::StreamExt::next(&mut futures).await;
        });
        // It wakes itself once, to let others run first.
        e.run_frame(0.25);
        Box::new(move |_| sender.send(1).unwrap())
    }),
    ("a signal emitted in a start", |e| {
        let signal = Signal::new();
        let heard = signal.clone();
        e.start(async move { heard.wait().await });
        Box::new(move |e| drop(e.start(async move { signal.emit(1) })))
    }),
];
