//! Waits that name no phase resume at home: docs/contract.md#rule-4-home

use framestep_testkit::timeline::{Mark, in_quarters};

use super::*;

/// The phases of diagrams as homes, a row for each.
fn at_each_home(script: impl AsyncFn(Mark) + Copy + 'static) -> Timeline {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for home in DRAWN {
        timeline.row(&format!("{home:?}"), |mark| async move {
            let at_home = framestep::task::script("")
                .in_phase(home)
                .start(async move { script(mark).await });
            assert_eq!(at_home.home(), Some(home));
            at_home.await.unwrap();
        });
    }
    timeline
}

#[test]
fn every_wait_without_a_phase_resumes_at_home() {
    at_each_home(async |mark| {
        next_frame().await;
        mark.hit();
        wait_frames(2).await;
        mark.hit();
        wait_seconds(0.25).await;
        mark.hit();
        wait_seconds_realtime(0.5).await;
        mark.hit();
        wait_until(|| true).await;
        mark.hit();
        clock().wait_seconds(0.25).await;
        mark.hit();
    })
    .check(
        "
        frame       0 1 2 3 4 5 6 7 8
        EarlyUpdate - E - E E - E E E
        FixedUpdate - F - F F - F F F
        Update      - * - * * - * * *
        LateUpdate  - L - L L - L L L
        EndOfFrame  - Z - Z Z - Z Z Z
        ",
    );
}

#[test]
fn what_is_built_on_waits_resumes_at_home() {
    at_each_home(async |mark| {
        assert!(timeout(0.5, forever()).await.is_err());
        mark.hit();
        let mut ticks = interval(0.25);
        ticks.tick().await;
        mark.hit();
        let mut frames = frames();
        futures::StreamExt::next(&mut frames).await;
        mark.hit();
        animate(0.25, |_| ()).await;
        mark.hit();
    })
    .check(
        "
        frame       0 1 2 3 4 5
        EarlyUpdate - - E E E E
        FixedUpdate - - F F F F
        Update      - - * * * *
        LateUpdate  - - L L L L
        EndOfFrame  - - Z Z Z Z
        ",
    );
}

#[test]
fn a_wait_that_names_a_phase_resumes_there_and_the_next_one_at_home() {
    at_each_home(async |mark| {
        next_frame().in_phase(Phase::LateUpdate).await;
        mark.hit();
        next_frame().await;
        mark.hit();
        end_of_frame().await;
        mark.hit();
        wait_seconds(0.25).await;
        mark.hit();
    })
    .check(
        "
        frame       0 1 2  3 4
        EarlyUpdate - L EZ E
        FixedUpdate - L FZ F
        Update      - L *Z *
        LateUpdate  - L LZ L
        EndOfFrame  - L Z  Z Z
        ",
    );
}

#[test]
fn at_home_on_fixed_steps_a_step_takes_the_place_of_a_frame() {
    let mut executor = in_quarters();
    let log = Log::new();
    let say = log.clone();
    let asked = Rc::new(Cell::new(0));
    let count = asked.clone();
    executor
        .script("")
        .in_phase(Phase::FixedUpdate)
        .start(async move {
            wait_seconds(0.5).await;
            say.say("seconds");
            wait_until(move || {
                count.set(count.get() + 1);
                count.get() == 3
            })
            .await;
            say.say("condition");
            next_frame().await;
            say.say("frame");
        });
    // Eight steps in one frame, then one.
    executor.run_frame(2.0);
    assert_eq!(asked.get(), 3);
    log.check(&["F1.FixedUpdate: seconds", "F1.FixedUpdate: condition"]);
    executor.run_frame(0.25);
    log.check(&["F2.FixedUpdate: frame"]);
}

#[test]
fn a_phase_is_settled_at_the_first_poll() {
    let mut executor = unclamped();
    let log = Log::new();
    // Made by a script with home Update, first polled by one with home
    // LateUpdate, and then by the first again.
    let shared = Rc::new(std::cell::RefCell::new(None));
    let (put, say) = (shared.clone(), log.clone());
    executor.start(async move {
        *put.borrow_mut() = Some(wait_seconds(0.5));
        next_frame().await;
        let wait = put.borrow_mut().take().unwrap();
        wait.await;
        say.say("ended");
    });
    executor
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(async move {
            let mut wait = shared.borrow_mut().take().unwrap();
            assert!(futures::poll!(&mut wait).is_pending());
            *shared.borrow_mut() = Some(wait);
        });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&["F2.LateUpdate: ended"]);
}

/// What `f` returns in a coroutine of `owner` whose home is `LateUpdate`, and which
/// continues in another phase.
async fn late<T: 'static>(f: impl FnOnce() -> T + 'static) -> T {
    let owner = owner();
    let script = owner.script("").in_phase(Phase::LateUpdate).start(async {
        next_frame().in_phase(Phase::EarlyUpdate).await;
        f()
    });
    script.await.unwrap()
}

#[test]
fn free_functions_hand_on_the_home_of_the_calling_coroutine() {
    let make = || {
        [
            start(async {}).home(),
            spawn(async {}).home(),
            script("script").start(async {}).home(),
            script("script").spawn(async {}).home(),
        ]
    };
    let homes = unclamped().run_until(late(make), 0.25);
    assert_eq!(homes, [Some(Phase::LateUpdate); 4]);
}

#[test]
fn so_do_owners_and_it_does_not_matter_who_made_them() {
    let mut executor = unclamped();
    let others = executor.owner();
    let make = move || {
        let (own, handle) = (owner(), others.handle());
        [
            own.start(async {}).home(),
            own.child().spawn(async {}).home(),
            own.script("script").start(async {}).home(),
            others.start(async {}).home(),
            others.script("script").spawn(async {}).home(),
            handle.start(async {}).home(),
            handle.spawn(async {}).home(),
            handle.script("script").start(async {}).home(),
        ]
    };
    let homes = executor.run_until(late(make), 0.25);
    assert_eq!(homes, [Some(Phase::LateUpdate); 8]);
}

#[test]
fn so_do_behaviours() {
    let mut scene = framestep::scene::Scene::new();
    let this = scene.add(Idle);
    let made_here = this.start(async {}).home();
    let make = move || {
        [
            this.start(async {}).home(),
            this.spawn(async {}).home(),
            this.script("script").start(async {}).home(),
        ]
    };
    let script = scene.executor().start(late(make));
    scene.run_frame(0.25);
    assert_eq!(
        script.take_output().unwrap().unwrap(),
        [Some(Phase::LateUpdate); 3]
    );
    assert_eq!(made_here, Some(Phase::Update));
}

#[test]
fn the_owner_of_another_executor_has_no_calling_coroutine() {
    let other = unclamped();
    let owner = other.owner();
    let home = unclamped().run_until(late(move || owner.start(async {}).home()), 0.25);
    assert_eq!(home, Some(Phase::Update));
}

struct Idle;

impl framestep::scene::Behaviour for Idle {}

#[test]
fn an_executor_and_its_handles_start_at_home_in_update_without_an_owner() {
    let mut executor = unclamped();
    let make = || {
        framestep::task::handle().start(forever());
        framestep::task::handle().spawn(forever());
        framestep::task::handle().script("script").start(forever());
        framestep::task::handle().script("script").spawn(forever());
        let remote = framestep::task::remote();
        let thread = std::thread::spawn(move || {
            remote.spawn(forever);
            remote.call(|| drop(start(forever())));
        });
        thread.join().unwrap();
        unclamped().start(forever()).home()
    };
    assert_eq!(executor.run_until(late(make), 0.25), Some(Phase::Update));
    executor.run_frame(0.25);
    let snapshot = executor.snapshot();
    assert_eq!(snapshot.iter().count(), 6);
    for script in &snapshot {
        assert_eq!((script.home(), script.owner()), (Phase::Update, None));
    }
}

#[test]
fn a_call_that_names_a_phase_hands_on_nothing_else() {
    let make = || {
        let owner = owner();
        [
            script("")
                .in_phase(Phase::EndOfFrame)
                .start(async {})
                .home(),
            script("")
                .in_phase(Phase::EndOfFrame)
                .spawn(async {})
                .home(),
            script("script")
                .in_phase(Phase::EndOfFrame)
                .start(async {})
                .home(),
            owner
                .script("")
                .in_phase(Phase::EndOfFrame)
                .start(async {})
                .home(),
            owner
                .handle()
                .script("")
                .in_phase(Phase::EndOfFrame)
                .spawn(async {})
                .home(),
            framestep::task::handle()
                .script("")
                .in_phase(Phase::EndOfFrame)
                .start(async {})
                .home(),
        ]
    };
    let homes = unclamped().run_until(late(make), 0.25);
    assert_eq!(homes, [Some(Phase::EndOfFrame); 6]);
}

#[test]
fn a_spawn_in_another_phase_begins_in_the_run_under_way_and_then_stays_at_home() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        in_phase(Phase::LateUpdate).await;
        spawn(async move {
            say.say("begins");
            next_frame().await;
            say.say("at home");
        });
    });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&["F1.LateUpdate: begins", "F2: at home"]);
}

/// The calling coroutine is the innermost one of all executors, even if a coroutine of the owner's
/// executor runs the other executor.
#[test]
fn what_a_coroutine_of_another_executor_begins_on_an_owner_is_at_home_in_update() {
    let mut executor = unclamped();
    let owner = std::rc::Rc::new(executor.owner());
    let begins = executor
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(async move {
            next_frame().await;
            let own = owner.clone();
            let mut other = unclamped();
            let script = other.script("").in_phase(Phase::EarlyUpdate);
            let begins = script.start(async move {
                next_frame().await;
                own.start(async {}).home()
            });
            other.run_frame(0.25);
            let of_other = begins.take_output().unwrap().unwrap();
            [of_other, owner.start(async {}).home()]
        });
    executor.run_frame(0.25);
    let homes = begins.take_output().unwrap().unwrap();
    assert_eq!(homes, [Some(Phase::Update), Some(Phase::LateUpdate)]);
}

#[test]
fn what_the_host_starts_between_runs_is_at_home_in_update() {
    let executor = unclamped();
    let owner = executor.owner();
    let handle = executor.handle();
    let homes = [
        executor.start(async {}).home(),
        executor.spawn(async {}).home(),
        executor.enter(|| start(async {}).home()),
        owner.start(async {}).home(),
        owner.handle().spawn(async {}).home(),
        handle.start(async {}).home(),
    ];
    assert_eq!(homes, [Some(Phase::Update); 6]);
    let homes = [
        executor
            .script("")
            .in_phase(Phase::LateUpdate)
            .start(async {})
            .home(),
        owner
            .script("")
            .in_phase(Phase::LateUpdate)
            .start(async {})
            .home(),
        owner
            .handle()
            .script("")
            .in_phase(Phase::LateUpdate)
            .start(async {})
            .home(),
        owner
            .handle()
            .script("")
            .in_phase(Phase::LateUpdate)
            .spawn(async {})
            .home(),
        handle
            .script("")
            .in_phase(Phase::LateUpdate)
            .start(async {})
            .home(),
        handle
            .script("")
            .in_phase(Phase::LateUpdate)
            .spawn(async {})
            .home(),
    ];
    assert_eq!(homes, [Some(Phase::LateUpdate); 6]);
}

#[test]
fn a_snapshot_shows_the_home() {
    let mut executor = unclamped();
    executor
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(async {
            next_frame().in_phase(Phase::EarlyUpdate).await;
        });
    executor.run_frame(0.25);
    executor
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(forever());
    let snapshot = executor.snapshot();
    let homes: Vec<_> = snapshot
        .iter()
        .map(framestep::inspect::CoroutineInfo::home)
        .collect();
    assert_eq!(homes, [Phase::LateUpdate]);
}
