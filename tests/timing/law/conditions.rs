//! `wait_until` and `wait_while`: docs/contract.md#law-wait-until

use super::*;

#[test]
fn wait_until_asks_once_in_each_update_of_a_later_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    let (ask, say) = (log.clone(), log.clone());
    executor.start(async move {
        wait_until(move || {
            ask.say("asked");
            time().frame >= 3
        })
        .await;
        say.say("done");
    });
    log.check(&[]); // not in the frame in which it is awaited
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: asked", "F2: asked", "F3: asked", "F3: done"]);
}

#[test]
fn wait_while_is_wait_until_the_opposite() {
    let mut executor = unclamped();
    let log = Log::new();
    let (ask, say) = (log.clone(), log.clone());
    executor.start(async move {
        wait_while(move || {
            ask.say("asked");
            time().frame < 3
        })
        .await;
        say.say("done");
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: asked", "F2: asked", "F3: asked", "F3: done"]);
}

#[test]
fn a_condition_that_holds_already_still_takes_a_frame() {
    begun_in_each_phase(|| wait_until(|| true)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E *
        FixedUpdate - F *
        Update      - * *
        LateUpdate  - L *
        EndOfFrame  - Z *
        ",
    );
    begun_in_each_phase(|| wait_while(|| false)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E *
        FixedUpdate - F *
        Update      - * *
        LateUpdate  - L *
        EndOfFrame  - Z *
        ",
    );
}

#[test]
fn a_condition_in_a_phase_is_asked_in_that_phase_only() {
    let mut executor = framestep::Executor::builder()
        .max_delta(1)
        .fixed_delta(0.25)
        .build();
    for phase in PHASES {
        let asked = Rc::new(RefCell::new(Vec::new()));
        let ask = asked.clone();
        let wait = executor.start(async move {
            wait_until(move || {
                ask.borrow_mut().push(time().phase);
                false
            })
            .in_phase(phase)
            .await;
        });
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        assert_eq!(*asked.borrow(), [Some(phase); 2]);
        assert!(wait.stop());
    }
    ended_in_each_phase(|phase| wait_while(|| time().frame < 2).in_phase(phase)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - - E
        FixedUpdate - - F
        Update      - - *
        LateUpdate  - - L
        EndOfFrame  - - Z
        ",
    );
}

#[test]
fn a_condition_is_asked_in_every_fixed_step() {
    let mut executor = framestep::Executor::builder()
        .max_delta(1)
        .fixed_delta(0.25)
        .build();
    let log = Log::new();
    let ask = log.clone();
    executor.start(async move {
        wait_until(move || {
            ask.say("asked");
            time().frame == 2
        })
        .in_phase(Phase::FixedUpdate)
        .await;
    });
    executor.run_frame(0.75);
    executor.run_frame(0.75);
    log.check(&[
        "F1.FixedUpdate: asked",
        "F1.FixedUpdate: asked",
        "F1.FixedUpdate: asked",
        "F2.FixedUpdate: asked", // holds
    ]);
}

#[test]
fn a_condition_is_asked_once_a_run_however_often_its_coroutine_is_polled() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, receiver) = async_channel::unbounded();
    let ask = log.clone();
    let say = log.clone();
    executor.start(async move {
        let asks = wait_until(move || {
            ask.say("asked");
            false
        });
        let receives = async {
            while let Ok(message) = receiver.recv().await {
                say.say(message);
            }
        };
        futures::join!(asks, receives);
    });
    executor.start(async move {
        for message in ["a", "b"] {
            next_frame().await;
            sender.send(message).await.unwrap();
        }
    });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    // Each message is a second poll of the run.
    log.check(&["F1: asked", "F1: a", "F2: asked", "F2: b"]);
}
