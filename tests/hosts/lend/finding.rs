use super::*;

#[test]
fn what_is_lent_is_found_in_every_frame_in_which_it_is() {
    let mut timeline = Timeline::with_dt(0.25);
    let mut gold = Gold(0);
    timeline.frames_are(move |executor, dt| {
        // Odd frames only.
        if executor.time().frame % 2 == 0 {
            executor.lend(&mut gold, |executor| executor.run_frame(dt));
        } else {
            executor.run_frame(dt);
        }
    });
    timeline.row("finds", |mark| async move {
        loop {
            if is_lent() {
                mark.hit();
            }
            next_frame().await;
        }
    });
    timeline.row("late", |mark| async move {
        for _ in 0..4 {
            end_of_frame().await;
            if is_lent() {
                mark.hit();
            }
        }
    });
    timeline.check(
        "
        frame 0 1 2 3 4 5
        finds - * - * - *
        late  - Z - Z
        ",
    );
}

#[test]
fn the_host_has_its_state_back_between_frames() {
    let mut executor = unclamped();
    let mut gold = Gold(0);
    executor.spawn(async {
        loop {
            with(|gold: &mut Gold| gold.0 += 1);
            next_frame().await;
        }
    });
    for _ in 0..3 {
        lend_frame(&mut executor, &mut gold);
        gold.0 *= 10;
    }
    assert_eq!(gold.0, 1110);
}

#[test]
fn a_value_comes_out_of_the_closures() {
    let mut executor = unclamped();
    let mut gold = Gold(7);
    let twice = executor.spawn(async { with(|gold: &mut Gold| gold.0 * 2) });
    let frame = executor.lend(&mut gold, |executor| {
        executor.run_frame(0.25);
        executor.time().frame
    });
    assert_eq!(frame, 1);
    assert_eq!(result_of(&executor, twice).unwrap(), 14);
}

#[test]
fn states_of_several_types_are_found_by_type() {
    let mut executor = unclamped();
    let (mut gold, mut doors, mut number) = (Gold(1), Doors::default(), 5_u8);
    executor.spawn(async {
        with(|doors: &mut Doors| doors.0.push("open"));
        with(|gold: &mut Gold| gold.0 += 1);
        with(|number: &mut u8| *number += 1);
    });
    executor.lend(&mut gold, |executor| {
        executor.lend(&mut doors, |executor| {
            executor.lend(&mut number, |executor| executor.run_frame(0.25));
        });
    });
    assert_eq!((gold, doors, number), (Gold(2), Doors(vec!["open"]), 6));
}

#[test]
fn of_two_of_one_type_the_inner_one_is_found_and_the_outer_one_again_after() {
    let mut executor = unclamped();
    let (mut outer, mut inner) = (Gold(0), Gold(0));
    executor.start(async {
        loop {
            next_frame().await;
            with(|gold: &mut Gold| gold.0 = gold.0 * 10 + u32::try_from(time().frame).unwrap());
        }
    });
    executor.lend(&mut outer, |executor| {
        executor.run_frame(0.25);
        executor.lend(&mut inner, |executor| executor.run_frame(0.25));
        executor.run_frame(0.25);
    });
    assert_eq!((outer, inner), (Gold(13), Gold(2)));
}

#[test]
fn what_an_inner_lend_lends_is_gone_after_it() {
    let mut executor = unclamped();
    let (mut gold, mut doors) = (Gold(0), Doors::default());
    executor.lend(&mut doors, |executor| {
        executor.lend(&mut gold, |executor| assert!(executor.enter(is_lent)));
        assert!(!executor.enter(is_lent));
        executor.enter(|| with(|doors: &mut Doors| doors.0.push("here")));
    });
    assert_eq!(doors.0, ["here"]);
}

#[test]
fn it_is_found_in_custom_phases_in_run_until_and_by_what_is_started_from_outside() {
    let mut executor = unclamped();
    let mut gold = Gold(0);
    let add = |n| with(move |gold: &mut Gold| gold.0 += n);
    executor
        .script("")
        .in_phase(Phase::Custom(3))
        .spawn(async move { add(1) });
    executor.lend(&mut gold, |executor| {
        executor.run_phase(Phase::Custom(3));
        executor.run_until(
            async move {
                wait_seconds(1).await;
                add(10);
            },
            0.25,
        );
        executor.start(async move { add(100) });
        executor.handle().start(async move { add(1_000) });
        executor.enter(|| add(10_000));
    });
    assert_eq!(gold.0, 11_111);
}

#[test]
fn conditions_borrow_it_too() {
    let mut timeline = Timeline::with_dt(0.25);
    let mut gold = Gold(0);
    timeline.frames_are(move |executor, dt| {
        gold.0 += 1;
        executor.lend(&mut gold, |executor| executor.run_frame(dt));
    });
    timeline.row("rich", |mark| async move {
        wait_until(|| with(|gold: &mut Gold| gold.0 >= 3)).await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3 4
        rich  - - - *
        ",
    );
}

#[test]
fn it_is_lent_to_one_executor_only() {
    let mut lends = unclamped();
    let other = unclamped();
    let mut gold = Gold(0);
    lends.lend(&mut gold, |lends| {
        assert!(lends.enter(is_lent));
        assert!(!other.enter(is_lent));
        assert!(!is_lent(), "outside of executors");
        lends.enter(|| {
            other.enter(|| assert!(!is_lent(), "the innermost executor counts"));
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(!is_lent(), "nothing is lent to other threads"));
            });
            assert!(is_lent());
        });
    });
}

#[test]
fn anything_that_is_static_can_be_lent() {
    trait Speaks {
        fn speak(&mut self) -> &'static str;
    }
    impl Speaks for u32 {
        fn speak(&mut self) -> &'static str {
            *self += 1;
            "moo"
        }
    }
    type Leaked = &'static mut u32;
    struct Nothing;
    struct Large([u64; 1_000]);

    let mut executor = unclamped();
    let said = executor.spawn(async {
        with(|_: &mut Nothing| ());
        with(|large: &mut Large| large.0[999] += 1);
        with(|rc: &mut Rc<Cell<u32>>| rc.set(1));
        with(|leaked: &mut Leaked| **leaked += 1);
        with(|cow: &mut Box<dyn Speaks>| cow.speak())
    });
    let mut nothing = Nothing;
    let mut large = Box::new(Large([0; 1_000]));
    let mut rc = Rc::new(Cell::new(0_u32));
    let mut number = Box::leak(Box::new(5_u32)) as Leaked;
    let mut cow: Box<dyn Speaks> = Box::new(0_u32);
    executor.lend(&mut nothing, |executor| {
        executor.lend(&mut *large, |executor| {
            executor.lend(&mut rc, |executor| {
                executor.lend(&mut number, |executor| {
                    executor.lend(&mut cow, |executor| executor.run_frame(0.25));
                });
            });
        });
    });
    assert_eq!((large.0[999], rc.get(), *number), (1, 1, 6));
    assert_eq!(result_of(&executor, said).unwrap(), "moo");
    // SAFETY: the pointer came from a box, and there is no other.
    drop(unsafe { Box::from_raw(number) });
}

#[test]
fn the_state_may_be_replaced_as_a_whole() {
    let mut executor = unclamped();
    let mut doors = Doors(vec!["old"]);
    let old = executor.spawn(async { with(mem::take::<Doors>) });
    executor.spawn(async { with(|doors: &mut Doors| *doors = Doors(vec!["new"])) });
    executor.lend(&mut doors, |executor| executor.run_frame(0.25));
    assert_eq!(result_of(&executor, old).unwrap().0, ["old"]);
    assert_eq!(doors.0, ["new"]);
}
