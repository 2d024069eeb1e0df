use super::*;

#[test]
fn the_closure_may_put_the_executor_elsewhere() {
    let mut executor = unclamped();
    let mut gold = Gold(0);
    let digs = executor.start(async {
        loop {
            next_frame().await;
            with(|gold: &mut Gold| gold.0 += 1);
        }
    });
    let mut elsewhere = None;
    executor.lend(&mut gold, |executor| {
        executor.run_frame(0.25);
        let mut old = mem::replace(executor, unclamped());
        assert!(
            !executor.enter(is_lent),
            "the new one has been lent nothing"
        );
        old.run_frame(0.25);
        elsewhere = Some(old);
    });
    assert_eq!(gold.0, 2);
    // Neither of them leads to it any more.
    let mut old = elsewhere.expect("put there");
    assert!(!executor.enter(is_lent));
    assert!(!old.enter(is_lent));
    old.run_frame(0.25);
    assert!(result_of(&old, digs).unwrap_err().is_panic());
}

#[test]
fn what_another_executor_lends_in_between_is_taken_back_from_that() {
    let mut first = unclamped();
    first.lend(&mut Gold(1), |first| {
        let mut second = mem::replace(first, unclamped());
        first.lend(&mut Gold(2), |first| {
            mem::swap(first, &mut second);
            assert_eq!((first.enter(ask), second.enter(ask)), (Ok(1), Ok(2)));
        });
        assert_eq!(first.enter(ask), Ok(1));
        assert!(!second.enter(is_lent));
    });
    assert!(!first.enter(is_lent));
}

#[test]
fn a_closure_may_drop_the_executor_and_continue() {
    let mut executor = unclamped();
    let log = Log::new();
    asks_when_it_goes(&executor, &log);
    let handle = executor.handle();
    let mut gold = Gold(7);
    executor.lend(&mut gold, |executor| {
        executor.lend(&mut Doors::default(), |executor| {
            *executor = unclamped();
            assert!(handle.time().is_none());
            assert!(handle.start(async {}).is_finished());
        });
    });
    log.check(&["there are 7"]);
    assert_eq!(gold.0, 7);
}

#[test]
fn a_coroutine_may_run_an_executor_of_its_own_inside_and_lend_on_what_it_has() {
    let mut outer = unclamped();
    let log = Log::new();
    let say = log.clone();
    outer.spawn(async move {
        let mut inner = unclamped();
        let also = say.clone();
        inner.start(async move {
            loop {
                next_frame().await;
                also.note(format_args!("inner: {:?}", ask().ok()));
                let _ = try_with(|gold: &mut Gold| gold.0 += 1);
            }
        });
        with(|gold: &mut Gold| {
            inner.run_frame(0.25);
            inner.lend(gold, |inner| inner.run_frame(0.25));
            gold.0 *= 10;
            inner.run_frame(0.25);
        });
        say.note(format_args!("outer: {:?}", ask().ok()));
    });
    let mut gold = Gold(1);
    lend_frame(&mut outer, &mut gold);
    log.check(&[
        "inner: None",
        "inner: Some(1)",
        "inner: None",
        "outer: Some(20)",
    ]);
}

#[test]
fn an_executor_that_is_lent_may_be_run_by_a_coroutine_of_another() {
    let mut outer = unclamped();
    let mut inner = unclamped();
    let log = Log::new();
    let say = log.clone();
    inner.start(async move {
        loop {
            next_frame().await;
            say.say(ask().unwrap_or(0));
        }
    });
    outer.start(async {
        loop {
            next_frame().await;
            with(|inner: &mut Executor| inner.lend(&mut Gold(5), |inner| inner.run_frame(0.5)));
        }
    });
    for _ in 0..2 {
        outer.lend(&mut inner, |outer| outer.run_frame(0.25));
    }
    log.check(&["F1: 5", "F2: 5"]);
}

#[test]
fn an_executor_lends_inside_its_own_coroutine_and_is_stepped_outside() {
    let executor = unclamped();
    let handle = executor.handle();
    let own = Rc::new(RefCell::new(Some(executor)));
    let taken = own.clone();
    let stepped = handle.start(async move {
        let mut executor = taken.take().expect("put there");
        executor.spawn(async { with(|gold: &mut Gold| gold.0 += 1) });
        let mut state = Gold(1);
        executor.lend(&mut state, |executor| {
            with(|gold: &mut Gold| {
                gold.0 *= 10;
                executor.lend(gold, |executor| {
                    panic_of(|| executor.run_frame(0.25));
                    with(|gold: &mut Gold| gold.0 += 1);
                });
                gold.0 *= 10;
            });
        });
        taken.replace(Some(executor));
        state
    });
    let mut executor = own.take().expect("put back");
    assert_eq!(result_of(&executor, stepped).unwrap(), Gold(110));
    assert!(!executor.enter(is_lent));
    // The coroutine spawned inside has not begun yet.
    let mut gold = Gold(0);
    executor.lend(&mut gold, |executor| executor.run_frame(0.25));
    assert_eq!(gold, Gold(1));
}
