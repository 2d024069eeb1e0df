//! Several waits as one.

use std::future::poll_fn;
use std::task::Poll;

use futures::future::{join_all, select_all};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use crate::program::language::Mode;
use crate::program::system::{System, Waiting};
use crate::program::trace::Got;
use crate::swallow;

/// `item` is called for each that is over, if that can be known.
pub(super) fn group<S: System>(
    mode: Mode,
    waits: Vec<Waiting>,
    item: impl Fn(&Got) + 'static,
) -> Waiting {
    match mode {
        Mode::All => all(waits).boxed_local(),
        Mode::Muffled => swallow(all(waits)).boxed_local(),
        Mode::First => first(waits).boxed_local(),
        Mode::Unordered => unordered(waits, item).boxed_local(),
        Mode::MuffledUnordered => swallow(unordered(waits, item)).boxed_local(),
        Mode::FirstUnordered => first_unordered(waits).boxed_local(),
        Mode::TheirJoinAll => join_all(waits).map(Got::All).boxed_local(),
        Mode::TheirSelectAll => one_by_one(waits, item).boxed_local(),
        Mode::JoinAll | Mode::Race | Mode::Join | Mode::Select => S::group(mode, waits),
    }
}

/// Waits for all, and polls the pending ones in order.
pub async fn all(waits: Vec<Waiting>) -> Got {
    let mut waits: Vec<(Option<Waiting>, Got)> = waits
        .into_iter()
        .map(|wait| (Some(wait), Got::Nothing))
        .collect();
    poll_fn(move |cx| {
        for (slot, got) in &mut waits {
            if let Some(Poll::Ready(ready)) = slot.as_mut().map(|wait| wait.as_mut().poll(cx)) {
                *got = ready;
                *slot = None;
            }
        }
        if waits.iter().any(|(wait, _)| wait.is_some()) {
            return Poll::Pending;
        }
        Poll::Ready(Got::All(waits.drain(..).map(|(_, got)| got).collect()))
    })
    .await
}

/// Waits for one; of several that are ready, the first.
pub async fn first(mut waits: Vec<Waiting>) -> Got {
    poll_fn(move |cx| {
        for (at, wait) in waits.iter_mut().enumerate() {
            if let Poll::Ready(got) = wait.as_mut().poll(cx) {
                return Poll::Ready(Got::One(at, Box::new(got)));
            }
        }
        Poll::Pending
    })
    .await
}

async fn unordered(waits: Vec<Waiting>, item: impl Fn(&Got)) -> Got {
    let mut waits: FuturesUnordered<Waiting> = waits.into_iter().collect();
    let mut all = Vec::new();
    while let Some(got) = waits.next().await {
        item(&got);
        all.push(got);
    }
    Got::All(all)
}

async fn first_unordered(waits: Vec<Waiting>) -> Got {
    let mut waits: FuturesUnordered<Waiting> = waits.into_iter().collect();
    waits.next().await.unwrap_or(Got::Nothing)
}

async fn one_by_one(mut waits: Vec<Waiting>, item: impl Fn(&Got)) -> Got {
    let mut all = Vec::new();
    while !waits.is_empty() {
        let (got, at, left) = select_all(waits).await;
        let got = Got::One(at, Box::new(got));
        item(&got);
        all.push(got);
        waits = left;
    }
    Got::All(all)
}
