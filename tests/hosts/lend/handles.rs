use super::*;

#[test]
fn a_handle_lends_to_what_is_started_in_it() {
    let executor = unclamped();
    let handle = executor.handle();
    let mut gold = Gold(1);
    let asked = handle.lend(&mut gold, |handle| {
        handle.start(async { with(|gold: &mut Gold| gold.0 += 1) });
        handle.enter(ask).unwrap()
    });
    assert_eq!(asked, Some(Ok(2)));
    assert_eq!(gold.0, 2);
    assert!(!executor.enter(is_lent));
}

#[test]
fn not_if_the_executor_is_gone() {
    let handle = unclamped().handle();
    let lent = handle.lend(&mut Gold(1), |_| unreachable!("there is none to lend to"));
    assert_eq!(lent, None::<()>);
}

#[test]
fn inside_a_coroutine_it_lends_for_the_length_of_the_closure() {
    let mut executor = unclamped();
    let handle = executor.handle();
    let (mut gold, mut doors) = (Gold(1), Doors::default());
    executor.spawn(async move {
        handle.lend(&mut Gold(5), |_| {
            with(|gold: &mut Gold| assert_eq!(gold.0, 5));
        });
        with(|gold: &mut Gold| assert_eq!(gold.0, 1));
        // Inside a closure, starts are held until its end: this one finds the outer
        // gold.
        with(|_: &mut Doors| {
            handle.lend(&mut Gold(5), |handle| {
                handle.start(async { with(|gold: &mut Gold| gold.0 += 1) });
            });
        });
    });
    executor.lend(&mut doors, |executor| lend_frame(executor, &mut gold));
    assert_eq!(gold.0, 2);
}

#[test]
fn a_closure_that_panics_or_drops_the_executor_leaves_nothing_lent() {
    let mut executor = unclamped();
    let handle = executor.handle();
    let text = panic_of(|| handle.lend(&mut Gold(1), |_| -> () { panic!("on purpose") }));
    assert_eq!(text, "on purpose");
    assert!(!executor.enter(is_lent));
    let log = Log::new();
    asks_when_it_goes(&executor, &log);
    handle.lend(&mut Gold(7), |handle| {
        drop(mem::replace(&mut executor, unclamped()));
        assert!(handle.time().is_none());
    });
    log.check(&["there are 7"]);
}
