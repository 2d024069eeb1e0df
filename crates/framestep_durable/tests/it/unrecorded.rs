//! Waits that are not recorded: a save, a check and a restore name the script and the line.

use std::cell::{Cell, RefCell};

use framestep_durable::prelude::*;

thread_local! {
    static SIGNAL: framestep::sync::Signal<u32> = framestep::sync::Signal::new();
    static WATCH: framestep::sync::Watch<u32> = framestep::sync::Watch::new(1);
    static PERMITS: framestep::sync::Semaphore = framestep::sync::Semaphore::new(0);
    static PROMISED: RefCell<Option<framestep::sync::Resolver<u32>>> = const { RefCell::new(None) };
    static SENDER: RefCell<Option<futures::channel::oneshot::Sender<u32>>> =
        const { RefCell::new(None) };
    static IS_PLAIN: Cell<bool> = const { Cell::new(true) };
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Awaits {
    Signal,
    Watch,
    Semaphore,
    Promise,
    Channel,
    PlainFrame,
    SignalBesideTimer,
    ChannelAfterSteps,
    FrameAfterTimer,
}

use Awaits::*;

/// Waits for something that is not recorded, and then for a long time.
#[derive(Serialize, Deserialize)]
struct Waits(Awaits);

impl DurableScript for Waits {
    const NAME: &'static str = "waits";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        if matches!(self.0, ChannelAfterSteps | FrameAfterTimer) {
            next_frame().await;
        }
        match self.0 {
            Signal => drop(SIGNAL.with(Clone::clone).wait().await),
            Watch => drop(WATCH.with(Clone::clone).changed().await),
            Semaphore => drop(PERMITS.with(Clone::clone).acquire().await),
            Promise => {
                let (resolver, promise) = framestep::sync::promise();
                PROMISED.set(Some(resolver));
                let _ = promise.await;
            }
            Channel | ChannelAfterSteps => {
                let (sender, receiver) = futures::channel::oneshot::channel();
                SENDER.set(Some(sender));
                let _ = receiver.await;
            }
            PlainFrame | FrameAfterTimer => {
                select! {
                    _ = framestep::wait_frames(3) => {}
                    _ = wait_seconds(60) => {}
                }
            }
            SignalBesideTimer => {
                let signal = SIGNAL.with(Clone::clone);
                select! {
                    _ = signal.wait() => {}
                    _ = wait_seconds(0.35) => {}
                }
            }
        }
        wait_seconds(60).await;
        Chapter::Done(())
    }
}

const ALL: [Awaits; 9] = [
    Signal,
    Watch,
    Semaphore,
    Promise,
    Channel,
    PlainFrame,
    SignalBesideTimer,
    ChannelAfterSteps,
    FrameAfterTimer,
];

fn begun(awaits: Awaits) -> Runtime {
    let mut runtime = Runtime::new(Registry::new().with::<Waits>().with::<Changes>());
    runtime.start(Waits(awaits)).detach();
    for _ in 0..2 {
        runtime.run_frame(0.1);
    }
    runtime
}

#[test]
fn a_save_refuses_what_is_not_recorded_and_names_the_script() {
    for awaits in ALL {
        let error = begun(awaits).save_state().expect_err("it is not recorded");
        let SaveError::NotRecorded { name, .. } = &error else {
            panic!("{awaits:?}: {error}");
        };
        assert_eq!(name, "waits", "{awaits:?}");
        let text = error.to_string();
        for part in ["`waits` (#1)", "not recorded", "`framestep_durable`"] {
            assert!(text.contains(part), "{awaits:?}: {text}");
        }
        if awaits == ChannelAfterSteps {
            let here = concat!(" at ", file!(), ":");
            assert!(
                text.contains("after the end of `next_frame()`") && text.contains(here),
                "{text}"
            );
        }
    }
}

#[test]
fn a_check_names_the_line() {
    for awaits in ALL {
        let text = begun(awaits)
            .verify()
            .expect_err("it is not recorded")
            .to_string();
        let here = concat!(" at ", file!(), ":");
        let parts: &[&str] = match awaits {
            Promise | Channel => &["not recorded"],
            ChannelAfterSteps => &["not recorded", "after the end of `next_frame()`", here],
            PlainFrame | FrameAfterTimer => &["`wait_frames()` of `framestep`"],
            _ => &["not recorded", here],
        };
        for part in parts {
            assert!(text.contains(part), "{awaits:?}: {text}");
        }
    }
}

#[test]
fn a_script_that_does_not_wait_for_it_any_more_is_saved() {
    let mut runtime = begun(SignalBesideTimer);
    assert!(runtime.save_state().is_err());
    for _ in 0..3 {
        runtime.run_frame(0.1);
    }
    runtime.verify().unwrap();
    let save = runtime.save_state().unwrap();
    runtime.run_frame(0.1);
    runtime.rollback(&save).unwrap();
}

/// Waits for a signal that is recorded, or, in its next build, for one that is not.
#[derive(Serialize, Deserialize)]
struct Changes;

impl DurableScript for Changes {
    const NAME: &'static str = "changes";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        next_frame().await;
        if IS_PLAIN.get() {
            select! {
                _ = SIGNAL.with(Clone::clone).wait() => {}
                _ = wait_seconds(60) => {}
            }
        } else {
            wait_seconds(60).await;
        }
        Chapter::Done(())
    }
}

#[test]
fn a_restore_refuses_a_script_that_now_waits_for_what_is_not_recorded() {
    IS_PLAIN.set(false);
    let mut runtime = Runtime::new(Registry::new().with::<Changes>());
    let before = runtime.save_state().unwrap();
    runtime.start(Changes).detach();
    runtime.run_frame(0.1);
    let save = runtime.save_state().unwrap();
    runtime.rollback(&before).unwrap();
    IS_PLAIN.set(true);
    let file = SaveState::from_bytes(&save.to_bytes()).unwrap();
    for error in [
        runtime.rollback(&save).unwrap_err(),
        runtime.restore(&file, Policy::Fail).unwrap_err(),
    ] {
        let text = error.to_string();
        let here = concat!("awaits at ", file!(), ":");
        for part in ["`changes`", "entry 2", "not recorded", here] {
            assert!(text.contains(part), "{text}");
        }
    }
}
