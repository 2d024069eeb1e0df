//! When a wait becomes ready: docs/contract.md#law-stays-ready

use super::*;

/// A wait that one coroutine polls first, and another polls later.
type Shared = Rc<RefCell<LocalBoxFuture<'static, ()>>>;

fn share(wait: impl Future + 'static) -> Shared {
    Rc::new(RefCell::new(wait.map(drop).boxed_local()))
}

async fn is_ready(wait: &Shared) -> bool {
    poll_fn(|cx| Poll::Ready(wait.borrow_mut().as_mut().poll(cx).is_ready())).await
}

#[test]
fn a_wait_is_ready_from_the_beginning_of_the_run_in_which_it_is_due() {
    let mut executor = unclamped();
    let log = Log::new();
    let waits = [
        ("next_frame", share(next_frame())),
        ("wait_frames(2)", share(wait_frames(2))),
        ("wait_seconds", share(wait_seconds(0.25))),
        ("in_phase", share(in_phase(Phase::Update))),
        ("late", share(next_frame().in_phase(Phase::LateUpdate))),
        ("early", share(in_phase(Phase::EarlyUpdate))),
    ];
    // Polled before the waiters are: it began to wait before them.
    let looked_at = waits.clone();
    let say = log.clone();
    executor.start(async move {
        for phase in [Phase::EarlyUpdate, Phase::Update, Phase::LateUpdate] {
            in_phase(phase).await;
            for (name, wait) in &looked_at {
                if is_ready(wait).await {
                    drop(wait.replace(forever().boxed_local()));
                    say.say(name);
                }
            }
        }
    });
    executor.start(async move {
        for (_, wait) in &waits {
            assert!(!is_ready(wait).await);
        }
        forever().await;
    });
    executor.run_frame(0.25);
    log.check(&[
        "F1.EarlyUpdate: early",
        "F1: next_frame",
        "F1: wait_seconds",
        "F1: in_phase",
        "F1.LateUpdate: late",
    ]);
}
