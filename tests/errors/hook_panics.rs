//! Panics of the host's hooks: reported, printed, or passed on to the host.
//! docs/contract.md#decided-hooks-that-panic

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::task::Budget;
use framestep::{Builder, Executor};

use framestep_testkit::{panic_of, panic_text};

/// The outcome of a hook's panic: the reports and the panics that reach the host.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    /// The function that set the hook, the frame, and the message.
    reported: Vec<(&'static str, u64, Option<String>)>,
    raised: Vec<String>,
}

/// Runs two frames of the executor that `set_up` makes, and drops it.
fn heard(builder: Builder, set_up: impl FnOnce(&Executor)) -> Heard {
    let mut executor = builder.build();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let list = reports.clone();
    executor.on_report(move |report| {
        if let Report::HookPanicked {
            hook,
            frame,
            message,
            ..
        } = report
        {
            list.borrow_mut().push((*hook, *frame, message.clone()));
        }
    });
    set_up(&executor);
    let mut raised = Vec::new();
    for _ in 0..2 {
        raised.extend(caught(|| executor.run_frame(0.25)));
    }
    raised.extend(caught(|| drop(executor)));
    let reported = reports.take();
    Heard { reported, raised }
}

/// The text of a panic of `call`, if it panics.
fn caught(call: impl FnOnce()) -> Option<String> {
    let caught = catch_unwind(AssertUnwindSafe(call));
    caught.err().map(|payload| panic_text(&*payload))
}

fn reported(hook: &'static str, message: &str) -> Heard {
    Heard {
        reported: vec![(hook, 1, Some(message.to_owned()))],
        raised: Vec::new(),
    }
}

fn raised(message: &str) -> Heard {
    Heard {
        reported: Vec::new(),
        raised: vec![message.to_owned()],
    }
}

fn strict() -> [Builder; 2] {
    [
        Executor::builder().strict(true),
        Executor::builder().propagate_panics(true),
    ]
}

fn unwraps(executor: &Executor) {
    executor.on_unobserved(|result: Result<(), &str>, _| assert_eq!(result, Ok(())));
    executor.spawn(async { Err::<(), _>("no such level") });
}

#[test]
fn that_for_unobserved_outputs_fails_a_test_of_a_strict_executor() {
    for builder in strict() {
        let heard = heard(builder, unwraps);
        assert!(heard.reported.is_empty(), "{heard:?}");
        assert!(heard.raised[0].contains("no such level"), "{heard:?}");
    }
    let heard = heard(Executor::builder(), unwraps);
    assert!(heard.raised.is_empty());
    let [("on_unobserved", 1, Some(message))] = &heard.reported[..] else {
        panic!("{heard:?}");
    };
    assert!(message.contains("no such level"), "{message}");
}

#[test]
fn that_for_unobserved_outputs_fails_the_drop_of_a_strict_executor_if_no_run_follows() {
    let text = panic_of(|| {
        let executor = Executor::builder().strict(true).build();
        executor.on_unobserved(|result: Result<(), &str>, _| assert_eq!(result, Ok(())));
        drop(executor.start(async { Err::<(), _>("no such level") }));
    });
    assert!(text.contains("no such level"), "{text}");
}

fn traces(executor: &Executor) {
    let events = Cell::new(0);
    executor.on_trace(move |_| {
        events.set(events.get() + 1);
        assert_ne!(events.get(), 2, "on purpose");
    });
    executor.spawn(async {
        next_frame().await;
    });
}

#[test]
fn that_for_a_trace_is_heard() {
    for builder in strict() {
        let heard = heard(builder, traces);
        assert!(heard.raised[0].contains("on purpose"), "{heard:?}");
    }
    let heard = heard(Executor::builder(), traces);
    assert!(matches!(heard.reported[..], [("on_trace", 1, _)]));
    assert!(heard.raised.is_empty());
}

const NO_CLOCK: &str = "no clock here";

/// A stopwatch that panics at its second reading.
fn broken() -> impl Fn() -> Duration + Clone + 'static {
    let reads = Rc::new(Cell::new(0));
    move || {
        reads.set(reads.get() + 1);
        if reads.get() == 2 {
            std::panic::panic_any(NO_CLOCK);
        }
        Duration::from_millis(reads.get())
    }
}

#[test]
fn a_stopwatch_of_slow_polls_is_heard() {
    let polls = |executor: &Executor| drop(executor.spawn(async {}));
    for builder in strict() {
        let builder = builder.slow_poll(9).stopwatch(broken());
        assert_eq!(heard(builder, polls), raised(NO_CLOCK));
    }
    let builder = Executor::builder().slow_poll(9).stopwatch(broken());
    assert_eq!(heard(builder, polls), reported("stopwatch", NO_CLOCK));
}

#[test]
fn a_stopwatch_of_budgets_is_heard() {
    let works = |executor: &Executor| {
        let budget = Budget::new(1);
        for _ in 0..2 {
            let job = budget.clone();
            executor.spawn(async move { job.checkpoint().await });
        }
    };
    for builder in strict() {
        assert_eq!(heard(builder.stopwatch(broken()), works), raised(NO_CLOCK));
    }
    assert_eq!(
        heard(Executor::builder().stopwatch(broken()), works),
        reported("stopwatch", NO_CLOCK)
    );
}

#[test]
fn that_for_reports_is_heard_by_the_host_and_is_called_again() {
    for builder in strict() {
        let mut executor = builder.build();
        let calls = Rc::new(Cell::new(0));
        let count = calls.clone();
        executor.on_report(move |report| {
            count.set(count.get() + 1);
            panic!("{report}");
        });
        for frame in 1..=2 {
            let text = panic_of(AssertUnwindSafe(|| executor.run_frame(f32::NAN)));
            assert!(
                text.starts_with(&format!("frame {frame}: the dt")),
                "{text}"
            );
        }
        assert_eq!(calls.get(), 2);
    }
}

#[test]
fn one_of_several_is_passed_on_and_the_others_are_reported() {
    let heard = heard(Executor::builder().strict(true), |executor| {
        executor.on_unobserved(|number: u32, _| panic!("hook {number}"));
        executor.spawn(async { 1_u32 });
        executor.spawn(async { 2_u32 });
        executor.spawn(async { panic!("script") });
    });
    assert_eq!(heard.raised, ["hook 1"]);
    assert_eq!(
        heard.reported,
        [("on_unobserved", 1, Some("hook 2".to_owned()))]
    );
}
