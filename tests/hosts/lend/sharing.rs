use framestep::lend::try_with_ref;

use super::*;

fn ask_shared() -> Result<u32, LendError> {
    try_with_ref(|gold: &Gold| gold.0)
}

#[test]
fn shared_borrows_nest_and_a_value_comes_out() {
    let mut executor = unclamped();
    let sum = executor.spawn(async {
        with_ref(|outer: &Gold| with_ref(|inner: &Gold| outer.0 + inner.0 + ask_shared().unwrap()))
    });
    lend_frame(&mut executor, &mut Gold(7));
    assert_eq!(result_of(&executor, sum).unwrap(), 21);
}

#[test]
fn an_exclusive_borrow_inside_a_shared_one_is_refused_until_the_outermost_has_ended() {
    let mut executor = unclamped();
    executor.lend(&mut Gold(7), |executor| {
        executor.enter(|| {
            with_ref(|_: &Gold| {
                with_ref(|_: &Gold| assert!(is_borrowed()));
                assert!(is_borrowed());
            });
            assert_eq!(ask(), Ok(7));
        });
    });
}

#[test]
fn a_shared_borrow_inside_an_exclusive_one_is_refused_by_name() {
    let mut executor = unclamped();
    executor.lend(&mut Gold(7), |executor| {
        executor.enter(|| {
            let text = panic_of(|| with(|_: &mut Gold| with_ref(|gold: &Gold| gold.0)));
            assert!(
                text.contains("lend::Gold`") && text.contains("borrowed"),
                "{text}"
            );
            let text = panic_of(|| with_ref(|_: &Gold| with(|gold: &mut Gold| gold.0)));
            assert!(text.contains("borrowed"), "{text}");
            assert_eq!(ask(), Ok(7));
        });
    });
}

#[test]
fn of_another_type_both_kinds_nest_in_both() {
    let mut executor = unclamped();
    executor.lend(&mut Gold(7), |executor| {
        executor.lend(&mut Doors::default(), |executor| {
            executor.enter(|| {
                with_ref(|gold: &Gold| {
                    with(|doors: &mut Doors| doors.0.resize(gold.0 as usize, ""));
                });
                let doors = with(|_: &mut Gold| with_ref(|doors: &Doors| doors.0.len()));
                assert_eq!(doors, 7);
            });
        });
    });
}

#[test]
fn nothing_is_lent_outside() {
    let executor = unclamped();
    assert!(matches!(ask_shared(), Err(LendError::NotLent { .. })));
    let text = panic_of(|| executor.enter(|| with_ref(|gold: &Gold| gold.0)));
    assert!(text.contains("no `hosts::lend::Gold` is lent"), "{text}");
}

#[test]
fn a_panic_ends_the_borrows_that_it_leaves() {
    let mut executor = unclamped();
    executor.lend(&mut Gold(7), |executor| {
        executor.enter(|| {
            with_ref(|_: &Gold| {
                panic_of(|| with_ref(|_: &Gold| with_ref(|_: &Gold| panic!("on purpose"))));
                assert!(is_borrowed() && ask_shared() == Ok(7));
            });
            assert_eq!(ask(), Ok(7));
        });
    });
}

#[test]
fn what_is_started_inside_begins_after_the_outermost_closure() {
    let mut executor = unclamped();
    let mut gold = Gold(7);
    executor.spawn(async {
        with_ref(|_: &Gold| {
            with_ref(|gold: &Gold| {
                start(async { with(|gold: &mut Gold| gold.0 += 1) });
                assert_eq!(gold.0, 7);
            });
            assert_eq!(ask_shared(), Ok(7));
        });
        assert_eq!(ask(), Ok(8));
    });
    lend_frame(&mut executor, &mut gold);
    assert_eq!(gold.0, 8);
}
