use super::*;

#[test]
fn they_find_the_state_if_it_is_there_and_an_error_if_not() {
    let mut executor = unclamped();
    let log = Log::new();
    let mut gold = Gold(7);
    let [lent, borrowed, unlent] = [(); 3].map(|()| asks_when_it_goes(&executor, &log));
    executor.spawn(async move {
        lent.stop();
        with(|_: &mut Gold| borrowed.stop());
    });
    lend_frame(&mut executor, &mut gold);
    unlent.stop();
    log.check(&["there are 7", "borrowed", "not lent"]);
    drop(Asks(log.clone()));
    log.check(&["not lent"]);
}

#[test]
fn they_find_it_when_the_executor_is_dropped_while_it_lends() {
    let mut executor = unclamped();
    let log = Log::new();
    asks_when_it_goes(&executor, &log);
    executor.lend(&mut Gold(7), |executor| drop(mem::take(executor)));
    log.check(&["there are 7"]);
    assert!(!executor.enter(is_lent), "nothing was lent to the new one");
}

#[test]
fn they_find_it_given_back_when_a_panic_has_left_the_closure() {
    let mut executor = unclamped();
    let log = Log::new();
    let (inside, outside) = (Asks(log.clone()), Asks(log.clone()));
    executor.spawn(async move {
        let _outside = outside;
        with(move |_: &mut Gold| {
            let _inside = inside;
            panic!("on purpose");
        });
    });
    lend_frame(&mut executor, &mut Gold(7));
    log.check(&["borrowed", "there are 7"]);
}

#[test]
fn the_old_state_may_ask_when_it_is_replaced() {
    struct AsksForItself(Log);
    impl Drop for AsksForItself {
        fn drop(&mut self) {
            let asked = try_with(|_: &mut AsksForItself| ());
            self.0.note(asked.is_err());
        }
    }
    let mut executor = unclamped();
    let log = Log::new();
    let new = AsksForItself(log.clone());
    executor.spawn(async move { with(move |state: &mut AsksForItself| *state = new) });
    let mut state = AsksForItself(log.clone());
    executor.lend(&mut state, |executor| executor.run_frame(0.25));
    drop(state);
    log.check(&["true", "true"]);
}
