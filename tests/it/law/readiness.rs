//! From when on a wait is ready: docs/contract.md#law-stays-ready

use super::*;

/// A wait that one coroutine polls first and another looks at.
type Shared = Rc<RefCell<LocalBoxFuture<'static, ()>>>;

fn share(wait: impl Future + 'static) -> Shared {
    Rc::new(RefCell::new(wait.map(drop).boxed_local()))
}

async fn is_ready(wait: &Shared) -> bool {
    poll_fn(|cx| Poll::Ready(wait.borrow_mut().as_mut().poll(cx).is_ready())).await
}

// docs/contract.md#rule-2-every-wait-takes-time
#[test]
fn no_wait_is_ready_when_first_polled() {
    let executor = unclamped();
    let checks = executor.start(async {
        let waits = [
            share(next_frame()),
            share(wait_frames(0)),
            share(wait_seconds(0)),
            share(wait_seconds(-1)),
            share(wait_seconds_realtime(0)),
            share(wait_until(|| true)),
            share(wait_while(|| false)),
            share(fixed_update()),
            share(end_of_frame()),
            share(in_phase(Phase::Update)),
        ];
        for wait in &waits {
            assert!(!is_ready(wait).await);
        }
    });
    assert!(checks.is_finished());
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

// docs/contract.md#law-stays-ready
#[test]
fn a_wait_stays_ready_until_it_is_polled() {
    let mut executor = unclamped();
    let looks = executor.start(async {
        let mut frame = next_frame();
        let mut frames = wait_frames(2);
        let mut seconds = wait_seconds(0.25);
        let mut phase = end_of_frame();
        assert!(poll_once(&mut frame).await.is_pending());
        assert!(poll_once(&mut frames).await.is_pending());
        assert!(poll_once(&mut seconds).await.is_pending());
        assert!(poll_once(&mut phase).await.is_pending());
        for _ in 0..4 {
            in_phase(Phase::EarlyUpdate).await;
        }
        assert_eq!(time().frame, 4);
        assert!(poll_once(&mut frame).await.is_ready());
        assert!(poll_once(&mut frames).await.is_ready());
        assert_eq!(
            poll_once(&mut seconds).await.map(|()| ()),
            Poll::Ready(()),
            "its deadline has passed"
        );
        assert!(poll_once(&mut phase).await.is_ready());
    });
    for _ in 0..5 {
        executor.run_frame(0.25);
    }
    assert!(matches!(
        crate::support::result_of(&executor, looks),
        Ok(())
    ));
}
