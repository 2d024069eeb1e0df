use super::*;

#[test]
fn with_outside_of_a_lend_names_the_type_and_what_to_do() {
    let mut executor = unclamped();
    let ended = executor.spawn(async { with(|gold: &mut Gold| gold.0) });
    executor.run_frame(0.25);
    let error = result_of(&executor, ended).unwrap_err();
    let text = panic_text(&*error.into_panic());
    assert!(
        text.contains("lend::Gold`") && text.contains("executor.lend("),
        "{text}"
    );
    assert!(text.contains("with_deferred"), "{text}");
    // The same outside executors, and with another type lent.
    let text = text.trim_end_matches(" (nothing is lent here)");
    assert_eq!(panic_of(|| with(|gold: &mut Gold| gold.0)), text);
    let lent = |executor: &mut Executor| executor.enter(|| with(|gold: &mut Gold| gold.0));
    assert_eq!(
        panic_of(|| executor.lend(&mut Doors::default(), lent)),
        format!("{text} (lent here: `hosts::lend::Doors`)")
    );
}

#[test]
fn nested_borrows_of_one_type_are_refused_and_of_another_work() {
    let mut executor = unclamped();
    let (mut gold, mut doors) = (Gold(1), Doors::default());
    let refused = executor.spawn(async {
        with(|gold: &mut Gold| {
            gold.0 += 1;
            with(|doors: &mut Doors| {
                doors.0.push("inside");
                assert!(is_borrowed());
            });
            with(|doors: &mut Doors| doors.0.push("again"));
            with(|_: &mut Gold| unreachable!("it is borrowed"));
        });
    });
    let after = executor.spawn(async { ask() });
    executor.lend(&mut gold, |executor| {
        executor.lend(&mut doors, |executor| executor.run_frame(0.25));
    });
    let error = result_of::<()>(&executor, refused).unwrap_err();
    let text = panic_text(&*error.into_panic());
    assert!(
        text.contains("lend::Gold`") && text.contains("borrowed"),
        "{text}"
    );
    assert!(text.contains("spawn"), "{text}");
    assert_eq!(result_of(&executor, after).unwrap(), Ok(2));
    assert_eq!(doors.0, ["inside", "again"]);
}

#[test]
fn the_inner_of_two_being_borrowed_the_outer_is_not_found() {
    let mut executor = unclamped();
    let (mut outer, mut inner) = (Gold(1), Gold(2));
    executor.lend(&mut outer, |executor| {
        executor.lend(&mut inner, |executor| {
            executor.enter(|| {
                with(|gold: &mut Gold| {
                    assert_eq!(gold.0, 2);
                    assert!(is_borrowed());
                });
            });
        });
    });
}

#[test]
fn the_error_says_which_and_why() {
    let mut executor = unclamped();
    let error = ask().unwrap_err();
    assert!(matches!(error, LendError::NotLent { type_name, .. } if type_name.ends_with("Gold")));
    assert!(error.to_string().contains("is lent"), "{error}");
    executor.lend(&mut Gold(0), |executor| {
        let error = executor.enter(|| with(|_: &mut Gold| ask().unwrap_err()));
        let LendError::Borrowed { type_name, .. } = error else {
            panic!("it is borrowed: {error}");
        };
        assert!(type_name.ends_with("Gold"), "{type_name}");
    });
}

#[test]
fn the_error_says_what_is_lent_instead() {
    struct Silver;
    let mut executor = unclamped();
    let nothing = executor.enter(|| ask().unwrap_err()).to_string();
    assert!(!nothing.contains("lent here"), "{nothing}");
    let text = executor.lend(&mut Silver, |executor| {
        executor.enter(|| ask().unwrap_err()).to_string()
    });
    assert!(text.contains("innermost state lent here is a `"), "{text}");
    assert!(text.ends_with("Silver`)"), "{text}");
}

#[test]
fn the_panic_is_at_the_callers_line() {
    thread_local! {
        static PANICKED_AT: RefCell<Option<String>> = const { RefCell::new(None) };
    }
    // The hook stays, because other tests panic at the same time, on other
    // threads.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICKED_AT.set(info.location().map(ToString::to_string));
        usual(info);
    }));
    let line = line!() + 1;
    panic_of(|| with(|_: &mut Gold| ()));
    let at = PANICKED_AT.take().expect("it panicked");
    assert!(at.starts_with(&format!("{}:{line}:", file!())), "{at}");
}
