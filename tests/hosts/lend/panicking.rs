use super::*;

#[test]
fn a_panic_in_the_closure_ends_its_coroutine_and_gives_the_state_back() {
    let mut executor = unclamped();
    let log = Log::new();
    let mut gold = Gold(0);
    let panics = executor.spawn(async {
        with(|gold: &mut Gold| {
            gold.0 += 1;
            panic!("on purpose");
        });
    });
    let say = log.clone();
    executor.spawn(async move {
        loop {
            say.say(with(|gold: &mut Gold| gold.0));
            next_frame().await;
        }
    });
    lend_frame(&mut executor, &mut gold);
    lend_frame(&mut executor, &mut gold);
    log.check(&["F1: 1", "F2: 1"]);
    assert!(result_of(&executor, panics).unwrap_err().is_panic());
}

#[test]
fn a_panic_out_of_nested_closures_gives_back_what_each_had() {
    let mut executor = unclamped();
    let (mut gold, mut doors) = (Gold(0), Doors::default());
    executor.spawn(async {
        let nested = || {
            with(|_: &mut Gold| with(|_: &mut Doors| panic!("on purpose")));
        };
        assert!(catch_unwind(nested).is_err());
        with(|gold: &mut Gold| {
            let inner = || with(|_: &mut Doors| panic!("on purpose"));
            assert!(catch_unwind(inner).is_err());
            with(|doors: &mut Doors| doors.0.push("usable"));
            assert!(
                is_borrowed(),
                "of the outer one nothing has been given back"
            );
            gold.0 += 1;
        });
    });
    executor.lend(&mut gold, |executor| {
        executor.lend(&mut doors, |executor| executor.run_frame(0.25));
    });
    assert_eq!((gold.0, doors.0), (1, vec!["usable"]));
}

#[test]
fn a_lend_that_unwinds_takes_its_state_back() {
    let mut executor = unclamped();
    let (mut outer, mut inner) = (Gold(1), Gold(2));
    executor.lend(&mut outer, |executor| {
        let unwinds = || executor.lend(&mut inner, |_| panic!("on purpose"));
        assert_eq!(panic_of::<()>(unwinds), "on purpose");
        assert_eq!(executor.enter(ask), Ok(1));
    });
    assert_eq!((outer, inner), (Gold(1), Gold(2)));
    assert!(!executor.enter(is_lent));
}

#[test]
fn run_until_may_unwind_through_a_lend() {
    let mut executor = unclamped();
    let mut gold = Gold(0);
    let unwinds = || {
        executor.lend(&mut gold, |executor| {
            executor.run_until(async { with(|_: &mut Gold| panic!("on purpose")) }, 0.25);
        });
    };
    assert_eq!(panic_of(unwinds), "on purpose");
    assert!(!executor.enter(is_lent));
    assert_eq!(
        executor.lend(&mut gold, |executor| executor.enter(ask)),
        Ok(0)
    );
}
