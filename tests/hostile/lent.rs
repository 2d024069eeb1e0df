//! Input 23: borrows where no state is lent. Nested borrows, and those after a
//! panic, are in `lend`.

use framestep::Executor;
use framestep::lend::LendError;
use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{panic_of, result_of};

struct World(u32);

fn is_not_lent() -> bool {
    let asked = try_with(|world: &mut World| world.0 += 100);
    matches!(asked, Err(LendError::NotLent { .. }))
}

#[test]
fn on_another_thread_nothing_is_lent() {
    let mut executor = unclamped();
    let mut world = World(1);
    let asks = executor.spawn(async {
        next_frame().await;
        with(|world: &mut World| world.0 += 1);
        let elsewhere = std::thread::spawn(is_not_lent).join().unwrap();
        let inside = with(|world: &mut World| {
            world.0 += 1;
            // Borrowed here, so the other executor reports it as lent.
            std::thread::scope(|scope| scope.spawn(is_not_lent).join().unwrap())
        });
        let panics = std::thread::spawn(|| panic_of(|| with(|_: &mut World| ())));
        (elsewhere, inside, panics.join().unwrap())
    });
    for _ in 0..2 {
        executor.lend(&mut world, |executor| executor.run_frame(0.25));
    }
    let (elsewhere, inside, text) = result_of(&executor, asks).unwrap();
    assert!(elsewhere && inside);
    assert!(text.contains("World"), "names no type: {text}");
    assert_eq!(world.0, 3);
}

#[test]
fn on_a_thread_with_an_executor_of_its_own_that_has_its_own() {
    let mut executor = unclamped();
    let mut world = World(1);
    executor.spawn(async {
        let theirs = std::thread::spawn(|| {
            let (mut executor, mut world) = (Executor::new(), World(10));
            executor.spawn(async { with(|world: &mut World| world.0 += 1) });
            executor.lend(&mut world, |executor| executor.run_frame(0.25));
            world.0
        });
        assert_eq!(theirs.join().unwrap(), 11);
        with(|world: &mut World| world.0 += 1);
    });
    executor.lend(&mut world, |executor| executor.run_frame(0.25));
    assert_eq!(world.0, 2);
}

#[test]
fn after_a_panic_it_is_there_for_the_next_one_and_gone_after_the_lend() {
    let mut executor = unclamped();
    let mut world = World(0);
    for _ in 0..3 {
        executor.spawn(async {
            with(|world: &mut World| {
                world.0 += 1;
                std::panic::resume_unwind(Box::new("on purpose"));
            });
        });
        executor.spawn(async { with(|world: &mut World| world.0 += 10) });
    }
    executor.lend(&mut world, |executor| executor.run_frame(0.25));
    assert_eq!(world.0, 33);
    assert!(executor.enter(is_not_lent));
}
