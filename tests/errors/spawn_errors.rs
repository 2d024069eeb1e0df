//! Coroutines that cannot run are reported, by name and with the caller's line.
//! docs/contract.md#decided-refused

use std::cell::RefCell;
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::{Report, SpawnError};
use framestep::prelude::*;
use framestep::scene::{Behaviour, Scene};
use framestep::task::OwnerHandle;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, panic_of};

/// The name, the line and the reason of each refusal.
type Refusals = Rc<RefCell<Vec<(String, u32, SpawnError)>>>;

/// Notes the refusals that an executor reports.
fn refusals_of(executor: &Executor) -> Refusals {
    let refusals = Refusals::default();
    let list = refusals.clone();
    executor.on_report(move |report| {
        let Report::Refused {
            name,
            place,
            reason,
        } = report
        else {
            panic!("{report}");
        };
        assert_eq!(place.file(), file!());
        list.borrow_mut()
            .push((name.to_string(), place.line(), *reason));
    });
    refusals
}

async fn patrol() {
    forever().await;
}

const PATROL: &str = concat!(module_path!(), "::patrol");

#[test]
fn each_way_to_start_on_an_inactive_owner_is_reported_with_its_line() {
    let executor = unclamped();
    let refusals = refusals_of(&executor);
    let owner = executor.owner();
    let handle = owner.handle();
    owner.set_active(false);
    let late = |owner: &OwnerHandle| owner.script("").in_phase(Phase::LateUpdate);
    let first = line!() + 2;
    let refused = [
        owner.start(patrol()),
        owner.spawn(patrol()),
        late(&owner.handle()).start(patrol()),
        late(&owner.handle()).spawn(patrol()),
        handle.start(patrol()),
        handle.spawn(patrol()),
        late(&handle).start(patrol()),
        late(&handle).spawn(patrol()),
    ];
    for coroutine in refused {
        assert!(coroutine.take_output().unwrap().unwrap_err().is_stopped());
    }
    let expected: Vec<_> = (first..first + 8)
        .map(|line| (PATROL.to_owned(), line, SpawnError::OwnerInactive))
        .collect();
    assert_eq!(refusals.take(), expected);
    owner.set_active(true);
    assert!(!owner.start(patrol()).is_finished());
    assert!(refusals.borrow().is_empty());
}

#[test]
fn a_name_that_was_given_at_the_start_is_reported() {
    let executor = unclamped();
    let refusals = refusals_of(&executor);
    let owner = executor.owner();
    let handle = owner.handle();
    owner.set_active(false);
    owner.script("goblin").start(patrol());
    handle
        .script("archer")
        .in_phase(Phase::Update)
        .spawn(patrol());
    let names: Vec<_> = refusals.take().into_iter().map(|of| of.0).collect();
    assert_eq!(names, ["goblin", "archer"]);
}

#[test]
fn an_owner_that_is_gone_refuses() {
    let executor = unclamped();
    let refusals = refusals_of(&executor);
    let (parent, log) = (executor.owner(), Log::new());
    let (handle, child) = (parent.handle(), parent.child());
    // A coroutine that starts another in its destructor, while its owner is being
    // dropped.
    let (own, note) = (handle.clone(), log.clone());
    let starts = OnDrop(Some(Box::new(move || {
        own.start(patrol());
        note.note("dropped");
    })));
    parent.start(async move { (forever().await, starts) });
    drop(parent);
    log.check(&["dropped"]);
    handle.spawn(patrol());
    child.spawn(patrol());
    let reasons: Vec<_> = refusals.take().into_iter().map(|of| of.2).collect();
    assert_eq!(reasons, [SpawnError::OwnerGone; 3]);
}

/// Calls a closure when it is dropped.
struct OnDrop(Option<Box<dyn FnOnce()>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(f) = self.0.take() {
            f();
        }
    }
}

#[test]
fn a_script_that_outlives_its_owner_until_its_next_wait_is_refused_by_name() {
    let mut executor = unclamped();
    let refusals = refusals_of(&executor);
    let owner = Rc::new(RefCell::new(Some(executor.owner())));
    let own = owner.clone();
    owner.borrow().as_ref().unwrap().spawn(async move {
        drop(own.take());
        script("late").start(patrol());
        start(patrol());
    });
    executor.run_frame(0.25);
    let names: Vec<_> = refusals.take().into_iter().map(|of| of.0).collect();
    assert_eq!(names, ["late", PATROL]);
}

#[test]
fn a_behaviour_refuses_while_it_is_inactive_and_once_it_is_gone() {
    struct Door;
    impl Behaviour for Door {}
    let scene = Scene::new();
    let refusals = refusals_of(scene.executor());
    let door = scene.add(Door);
    door.set_active(false);
    let line = line!() + 1;
    door.start(patrol());
    door.destroy();
    let mut scene = scene;
    scene.run_frame(0.25);
    door.script("opens").spawn(patrol());
    assert_eq!(
        refusals.take(),
        [
            (PATROL.to_owned(), line, SpawnError::OwnerInactive),
            ("opens".to_owned(), line + 4, SpawnError::OwnerGone)
        ]
    );
}

#[test]
fn an_executor_that_is_being_dropped_refuses_and_tells_its_own_hook() {
    let executor = unclamped();
    let refusals = refusals_of(&executor);
    let handle = executor.handle();
    let by_handle = OnDrop(Some(Box::new(move || drop(handle.start(patrol())))));
    let by_function = OnDrop(Some(Box::new(|| drop(spawn(patrol())))));
    executor.start(async move { (forever().await, by_handle, by_function) });
    drop(executor);
    let reasons: Vec<_> = refusals.take().into_iter().map(|of| of.2).collect();
    assert_eq!(reasons, [SpawnError::ExecutorGone; 2]);
}

#[test]
fn a_dead_executor_tells_the_one_that_runs_the_caller() {
    let mut executor = unclamped();
    let refusals = refusals_of(&executor);
    let dead = unclamped().handle();
    executor.spawn(async move {
        dead.start(patrol());
    });
    executor.run_frame(0.25);
    let reasons: Vec<_> = refusals.take().into_iter().map(|of| of.2).collect();
    assert_eq!(reasons, [SpawnError::ExecutorGone]);
}

#[test]
fn the_future_is_dropped_also_if_the_hook_panics_or_the_stack_unwinds() {
    let executor = unclamped();
    executor.on_report(|_| panic!("by the hook"));
    let log = Log::new();
    let owner = executor.owner();
    owner.set_active(false);
    let dropped = log.on_drop("dropped");
    owner.start(async move { drop(dropped) });
    log.check(&["dropped"]);

    let dropped = log.on_drop("dropped while unwinding");
    let text = panic_of(move || {
        let _starts = OnDrop(Some(Box::new(move || {
            owner.start(async move { drop(dropped) });
        })));
        panic!("the host's own");
    });
    assert_eq!(text, "the host's own");
    log.check(&["dropped while unwinding"]);
}

#[test]
fn a_future_whose_destructor_panics_does_not_abort_while_the_stack_unwinds() {
    let executor = unclamped();
    let refusals = refusals_of(&executor);
    let owner = executor.owner();
    owner.set_active(false);
    let text = panic_of(move || {
        let _starts = OnDrop(Some(Box::new(move || {
            let bomb = OnDrop(Some(Box::new(|| panic!("by the future"))));
            owner.start(async move { drop(bomb) });
        })));
        panic!("the host's own");
    });
    assert_eq!(text, "the host's own");
    assert_eq!(refusals.take().len(), 1);
}

#[test]
fn the_report_says_what_was_refused_where_and_why() {
    let executor = unclamped();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let list = reports.clone();
    executor.on_report(move |report| list.borrow_mut().push(report.to_string()));
    let owner = executor.owner();
    owner.set_active(false);
    let line = line!() + 1;
    owner.script("goblin").start(patrol());
    assert_eq!(
        *reports.borrow(),
        [format!(
            "coroutine `goblin`, made at {}:{line}:28, was refused and does not run: its owner, or \
             an owner above that, is inactive",
            file!()
        )]
    );
}

#[test]
fn a_start_in_on_destroy_is_refused_because_the_behaviour_goes() {
    struct Door;
    impl Behaviour for Door {
        fn on_destroy(&mut self, context: &framestep::scene::SceneContext<'_, Self>) {
            context.spawn(patrol());
        }
    }
    let mut scene = Scene::new();
    let reasons = Rc::new(RefCell::new(Vec::new()));
    let list = reasons.clone();
    scene.executor().on_report(move |report| {
        if let Report::Refused { reason, .. } = report {
            list.borrow_mut().push(*reason);
        }
    });
    scene.add(Door).destroy();
    scene.run_frame(0.25);
    assert_eq!(reasons.take(), [SpawnError::OwnerGone]);
}
