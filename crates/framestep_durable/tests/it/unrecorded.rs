//! Waits that are not recorded: a save, a check and a restore name the script and the line.

use std::cell::{Cell, RefCell};

use framestep_durable::prelude::*;

thread_local! {
    static SIGNAL: framestep::sync::Signal<u32> = framestep::sync::Signal::new();
    static SENDER: RefCell<Option<futures::channel::oneshot::Sender<u32>>> =
        const { RefCell::new(None) };
    static IS_PLAIN: Cell<bool> = const { Cell::new(true) };
    static PLAIN: RefCell<Option<framestep::Coroutine<()>>> = const { RefCell::new(None) };
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Does {
    Signal,
    Emit,
    EmitOne,
    Subscribe,
    WaitFor,
    NamedEmit,
    NamedWait,
    Watch,
    Get,
    Set,
    Update,
    NamedGet,
    Semaphore,
    Take,
    Permits,
    NamedTake,
    Promise,
    Join,
    ChangesOf,
    With,
    TryWithRef,
    Start,
    Spawn,
    Script,
    Owner,
    ChildClock,
    Handle,
    Channel,
    ChannelAfterSteps,
    ChannelBesideTimer,
}

use Does::*;

/// Does something that is not recorded, and then waits for a long time.
#[derive(Serialize, Deserialize)]
struct Waits(Does);

impl DurableScript for Waits {
    const NAME: &'static str = "waits";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        use framestep::{sync, task, wait};
        if self.0 == ChannelAfterSteps {
            next_frame().await;
        }
        match self.0 {
            Signal => drop(SIGNAL.with(Clone::clone).wait().await),
            Emit => SIGNAL.with(|signal| signal.emit(1)),
            EmitOne => drop(SIGNAL.with(|signal| signal.emit_one(1))),
            Subscribe => drop(SIGNAL.with(Clone::clone).subscribe()),
            WaitFor => drop(SIGNAL.with(|signal| signal.wait_for(|_| true))),
            NamedEmit => sync::signal("plain").emit(1),
            NamedWait => drop(sync::signal::<u32>("plain").wait().await),
            Watch => drop(sync::Watch::new(1).changed().await),
            Get => drop(sync::Watch::new(1).get()),
            Set => sync::Watch::new(1).set(2),
            Update => sync::Watch::new(1).update(|value| *value += 1),
            NamedGet => drop(sync::watch("plain", || 1).get()),
            Semaphore => drop(sync::Semaphore::new(0).acquire().await),
            Take => drop(sync::Semaphore::new(1).try_acquire()),
            Permits => sync::Semaphore::new(1).add(1),
            NamedTake => drop(sync::semaphore("plain", 1).try_acquire()),
            Promise => drop(sync::promise::<u32>().1.await),
            Join => drop(PLAIN.take().unwrap().await),
            ChangesOf => drop(wait::changes_of(|| 1).next().await),
            With => framestep::with(|_: &mut u32| ()),
            TryWithRef => drop(framestep::lend::try_with_ref(|_: &u32| ())),
            Start => drop(framestep::start(async {})),
            Spawn => drop(framestep::spawn(async {})),
            Script => drop(task::script("named")),
            Owner => drop(task::owner()),
            ChildClock => drop(clock().child()),
            Handle => drop(task::handle()),
            Channel | ChannelAfterSteps => {
                let (sender, receiver) = futures::channel::oneshot::channel();
                SENDER.set(Some(sender));
                let _ = receiver.await;
            }
            ChannelBesideTimer => {
                let (sender, receiver) = futures::channel::oneshot::channel();
                SENDER.set(Some(sender));
                select! {
                    _ = receiver => {}
                    _ = wait_seconds(0.35) => {}
                }
            }
        }
        wait_seconds(60).await;
        Chapter::Done(())
    }
}

const REFUSED: [Does; 27] = [
    Signal, Emit, EmitOne, Subscribe, WaitFor, NamedEmit, NamedWait, Watch, Get, Set, Update,
    NamedGet, Semaphore, Take, Permits, NamedTake, Promise, Join, ChangesOf, With, TryWithRef,
    Start, Spawn, Script, Owner, ChildClock, Handle,
];

const FOREIGN: [Does; 2] = [Channel, ChannelAfterSteps];

fn runtime() -> Runtime {
    Runtime::new(Registry::new().with::<Waits>().with::<Changes>())
}

fn begun(does: Does) -> Runtime {
    let mut runtime = runtime();
    runtime.start(Waits(does)).detach();
    for _ in 0..2 {
        runtime.run_frame(0.1);
    }
    runtime
}

#[test]
fn what_is_framesteps_own_and_cannot_be_recorded_is_refused_at_the_call_with_the_line() {
    for does in REFUSED {
        let runtime = runtime();
        let plain = framestep::Executor::new();
        PLAIN.set(Some(plain.start(std::future::pending())));
        let script = runtime.start(Waits(does));
        let Some(Err(JoinError::Panicked(why))) = runtime.take(script) else {
            panic!("{does:?} is not refused");
        };
        let here = concat!(" at ", file!(), ":");
        let instead = match does {
            ChildClock | Handle => "Let the host",
            _ => "`framestep_durable`",
        };
        for part in [here, "`waits`", "framestep's own", instead] {
            assert!(why.contains(part), "{does:?}: {why}");
        }
        PLAIN.take();
    }
}

#[test]
fn a_save_refuses_what_is_not_recorded_and_names_the_script() {
    for does in FOREIGN {
        let error = begun(does).save_state().expect_err("it is not recorded");
        let SaveError::NotRecorded { name, .. } = &error else {
            panic!("{does:?}: {error}");
        };
        assert_eq!(name, "waits", "{does:?}");
        let text = error.to_string();
        for part in ["`waits` (#1)", "not recorded", "`framestep_durable`"] {
            assert!(text.contains(part), "{does:?}: {text}");
        }
        if does == ChannelAfterSteps {
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
    for does in FOREIGN {
        let text = begun(does).verify().expect_err("it is not recorded");
        let text = text.to_string();
        let here = concat!(" at ", file!(), ":");
        let parts: &[&str] = match does {
            ChannelAfterSteps => &["not recorded", "after the end of `next_frame()`", here],
            _ => &["not recorded"],
        };
        for part in parts {
            assert!(text.contains(part), "{does:?}: {text}");
        }
    }
}

#[test]
fn a_script_that_does_not_wait_for_it_any_more_is_saved() {
    let mut runtime = begun(ChannelBesideTimer);
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
        let here = concat!(" at ", file!(), ":");
        for part in ["`changes`", "entry 2", "panics", "framestep's own", here] {
            assert!(text.contains(part), "{text}");
        }
    }
}

/// One branch tells the other: with a channel, or with a promise.
#[durable]
async fn tells(is_recorded: bool) -> u32 {
    if is_recorded {
        let (id, found) = promise("found");
        let sends = async {
            wait_seconds(0.25).await;
            id.send(7).unwrap();
            wait_seconds(0.25).await;
        };
        return join!(found, sends).0.unwrap();
    }
    let (sender, receiver) = futures::channel::oneshot::channel();
    let sends = async {
        wait_seconds(0.25).await;
        sender.send(7).unwrap();
        wait_seconds(0.25).await;
    };
    join!(receiver, sends).0.unwrap()
}

/// What has the waker of a script is hidden in it: that may be another thread as well. So a channel is refused, even
/// between two branches, where a replay would do the same.
#[test]
fn a_channel_between_two_branches_is_refused_and_a_promise_is_saved() {
    let registry = Registry::new().script(tells);
    let begun = |is_recorded| {
        let mut runtime = Runtime::new(registry.clone());
        let script = runtime.start(tells(is_recorded));
        runtime.run_frame(0.125);
        (runtime, script)
    };
    let error = begun(false).0.save_state().unwrap_err().to_string();
    for part in ["`tells` (#1)", "not recorded"] {
        assert!(error.contains(part), "{error}");
    }
    let (mut runtime, script) = begun(true);
    for _ in 0..3 {
        let save = runtime.save_state().unwrap();
        runtime.run_frame(0.125);
        runtime.rollback(&save).unwrap();
        runtime.run_frame(0.125);
    }
    assert_eq!(runtime.take(script), Some(Ok(7)));
}
