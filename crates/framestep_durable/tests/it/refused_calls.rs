//! Calls of framestep's own that cannot be recorded: each panics where it is made, with what to call instead.

use framestep::task::Budget;
use framestep_durable::prelude::*;

type World = Vec<String>;

#[durable]
async fn calls(which: u32) {
    match which {
        0 => Budget::of_units(3).checkpoint().await,
        1 => Budget::of_units(3).checkpoint_cost(2).await,
        2 => drop(framestep::task::current()),
        3 => drop(framestep::lend::try_with_ref(|_: &World| ())),
        _ => drop(framestep::task::handle()),
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
    ];
    for (which, (call, instead)) in (0..).zip(expected) {
        let builder = framestep::Executor::builder().propagate_panics(false);
        let mut runtime = Runtime::with(builder, Registry::new().script(calls));
        runtime.executor().on_report(|_| ());
        let script = runtime.spawn(calls(which));
        runtime.run_frame_with(&mut World::new(), 0.1);
        let Some(Err(JoinError::Panicked(text))) = runtime.take(script) else {
            panic!("`{call}` is not refused");
        };
        let call = format!("`{call}` at {}:", file!());
        assert!(text.starts_with(&call) && text.contains(instead), "{text}");
        assert!(text.contains("the durable script `calls`"), "{text}");
    }
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
