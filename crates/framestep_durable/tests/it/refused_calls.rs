//! Calls of framestep's own that cannot be recorded: each panics where it is made, with what to call instead.

use std::cell::RefCell;

use framestep::sync::promise as own_promise;
use framestep::task::Budget;
use framestep_durable::{RuntimeHandle, prelude::*};

type World = Vec<String>;

const KNOCK: Signal<u32> = signal("knock");

thread_local! {
    /// The runtime, as a script of an odd game finds it.
    static HOST: RefCell<Option<RuntimeHandle>> = const { RefCell::new(None) };
}

fn host() -> RuntimeHandle {
    HOST.with_borrow(|host| host.clone().unwrap())
}

#[durable]
async fn calls(which: u32) {
    match which {
        0 => Budget::of_units(3).checkpoint().await,
        1 => Budget::of_units(3).checkpoint_cost(2).await,
        2 => drop(framestep::task::current()),
        3 => drop(framestep::lend::try_with_ref(|_: &World| ())),
        4 => drop(framestep::task::handle()),
        5 => drop(own_promise::<u32>().1.try_take()),
        6 => drop(own_promise::<u32>().0.send(3)),
        7 => assert!(own_promise::<u32>().0.is_canceled()),
        8 => drop(host().start(says())),
        9 => drop(host().spawn(says())),
        10 => drop(host().owner()),
        11 => host().forget_future(),
        12 => drop(host().executor().enter(|| start(says()))),
        _ => host().executor().named(&KNOCK).unwrap().emit(1),
    }
}

#[test]
fn a_call_that_cannot_be_recorded_panics_with_its_line_and_says_what_to_call() {
    let expected = [
        ("Budget::checkpoint", "`next_frame()`"),
        ("Budget::checkpoint", "`next_frame()`"),
        ("current", "that of `framestep_durable`"),
        ("try_with_ref", "`with`"),
        ("handle", "`runtime.host()`"),
        ("Promise::try_take", "that of `framestep_durable`"),
        ("Resolver::send", "that of `framestep_durable`"),
        ("Resolver::is_canceled", "that of `framestep_durable`"),
        ("RuntimeHandle::start", "such as `start`"),
        ("RuntimeHandle::spawn", "such as `start`"),
        ("RuntimeHandle::owner", "the function of this name"),
        ("RuntimeHandle::forget_future", "the closure of a `with`"),
        ("Handle::enter", "A script is in its executor"),
        ("Signal::emit", "Declare the source as a constant"),
    ];
    for (which, (call, instead)) in (0..).zip(expected) {
        let builder = framestep::Executor::builder().propagate_panics(false);
        let mut runtime = Runtime::with(builder, Registry::new().script(calls).script(says));
        HOST.set(Some(runtime.host().clone()));
        runtime.executor().on_report(|_| ());
        let script = runtime.spawn(calls(which));
        runtime.run_frame_with(&mut World::new(), 0.1);
        let Some(Err(JoinError::Panicked(text))) = runtime.take(script) else {
            panic!("`{call}` is not refused");
        };
        let call = format!("`{call}` at {}:", file!());
        assert!(text.starts_with(&call) && text.contains(instead), "{text}");
        assert!(text.contains("the durable script `calls`"), "{text}");
        assert!(runtime.scripts().is_empty(), "`{call}` has started one");
    }
    HOST.set(None);
}

#[durable]
async fn calls_in_closures() {
    let both = effect(|| {
        let (resolver, mut promise) = own_promise();
        resolver.send(3).unwrap();
        host().start(says()).detach();
        host().executor().enter(|| start(says()).detach());
        host().executor().named(&KNOCK).unwrap().emit(4);
        promise.try_take().unwrap()
    });
    with(move |world: &mut World| world.push(format!("{both:?}")));
    wait_seconds(1000).await;
}

#[test]
fn the_same_call_in_a_closure_is_a_part_of_that_and_done_once() {
    let registry = Registry::new().script(calls_in_closures).script(says);
    let (mut runtime, mut world) = (Runtime::new(registry), World::new());
    HOST.set(Some(runtime.host().clone()));
    runtime.spawn(calls_in_closures()).detach();
    runtime.run_frame_with(&mut world, 0.1);
    let scripts = runtime.scripts();
    assert_eq!(scripts.len(), 3);
    let save = runtime.save().unwrap();
    runtime.restore(&save, Policy::Fail).unwrap();
    assert_eq!(runtime.scripts(), scripts);
    HOST.set(None);
}

/// What a helper reads that knows only framestep.
fn reads() -> String {
    format!(
        "{} in {}",
        framestep::task::current_name(),
        framestep::task::home()
    )
}

#[durable]
async fn says() {
    for _ in 0..3 {
        let read = reads();
        with(move |world: &mut World| world.push(read));
        next_frame().await;
    }
}

#[test]
fn the_name_and_the_home_of_a_script_are_read_in_a_restored_one_too() {
    let blank = || Runtime::new(Registry::new().script(says));
    let (mut runtime, mut world) = (blank(), World::new());
    runtime.lend(&mut world, |runtime| {
        runtime
            .enter(|| start_in(Phase::LateUpdate, says()))
            .detach();
    });
    for _ in 0..3 {
        runtime.verify().unwrap();
        let save = runtime.save_state().unwrap();
        runtime = blank();
        runtime.restore(&save, Policy::Fail).unwrap();
        runtime.run_frame_with(&mut world, 0.1);
    }
    assert_eq!(world, ["says in LateUpdate"; 3]);
}
