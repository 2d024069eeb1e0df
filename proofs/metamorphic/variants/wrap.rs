//! What variants put around each wait.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use framestep::prelude::*;
use futures::FutureExt;

use framestep_testkit::program::{Settings, Wait, Waiting};

use super::Variant;

impl Variant {
    /// Wraps `plain`, which is made from `wait` and counts on `clock`.
    pub(super) fn wrap(
        self,
        settings: &Settings,
        wait: &Wait,
        plain: Waiting,
        clock: &Clock,
    ) -> Waiting {
        match self {
            Variant::Select => async {
                select! {
                    got = plain => got,
                    () = std::future::pending() => unreachable!("it is never ready"),
                }
            }
            .boxed_local(),
            Variant::Join => async { join!(plain, std::future::ready(())).0 }.boxed_local(),
            Variant::Race => {
                let never = async {
                    wait_seconds(f64::INFINITY).await;
                    unreachable!("it never ends")
                };
                race([plain, never.boxed_local()])
                    .map(|(_, got)| got)
                    .boxed_local()
            }
            Variant::Timeout => {
                let year = 365.0 * 24.0 * 3600.0;
                let got = timeout(year, plain).map(|got| got.expect("no program takes a year"));
                got.boxed_local()
            }
            Variant::OnItsClock => on_clock(clock, plain).boxed_local(),
            Variant::InItsOwnScript => {
                async { start(plain).await.expect("nothing stops it") }.boxed_local()
            }
            Variant::ForeignWaker | Variant::ForeignWakers | Variant::OnlyWoken
                if !self.shows(settings, wait) =>
            {
                let behind = Behind {
                    wait: plain,
                    passes: Arc::new(Passes::new()),
                    by: self,
                };
                behind.boxed_local()
            }
            _ => plain,
        }
    }
}

impl Variant {
    /// Whether a foreign waker around a wait may show: the contract says what it does.
    fn shows(self, settings: &Settings, wait: &Wait) -> bool {
        let is_turn = |wait: &Wait| matches!(wait, Wait::Yield);
        let may_move = |wait: &Wait| matches!(wait, Wait::Timer(..));
        // One that was called for a timer before it is moved counts for that run:
        // docs/contract.md#rule-4-wakes
        wait.has(may_move)
            // Behind another waker, it may lose its place: docs/contract.md#rule-8-moved-waits
            || settings.pauses && wait.has(is_turn)
            // What is woken behind a wrapper that passes on no waker stays unpolled.
            || self == Variant::OnlyWoken && wait.has(Wait::is_muffled)
    }
}

/// Polls a wait with a waker that passes wakes on to that of its own poll.
struct Behind {
    wait: Waiting,
    passes: Arc<Passes>,
    by: Variant,
}

struct Passes {
    to: Mutex<Option<Waker>>,
    woken: AtomicBool,
}

impl Passes {
    fn new() -> Self {
        Passes {
            to: Mutex::default(),
            woken: AtomicBool::new(true),
        }
    }
}

impl Wake for Passes {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Relaxed);
        let waker = self.to.lock().unwrap().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Future for Behind {
    type Output = <Waiting as Future>::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.by == Variant::ForeignWakers {
            self.passes = Arc::new(Passes::new());
        }
        let before = self.passes.to.lock().unwrap().replace(cx.waker().clone());
        drop(before);
        let woken = self.passes.woken.swap(false, Ordering::Relaxed);
        if self.by == Variant::OnlyWoken && !woken {
            return Poll::Pending;
        }
        let waker = self.passes.clone().into();
        self.wait.as_mut().poll(&mut Context::from_waker(&waker))
    }
}
