use super::*;

#[test]
fn clocks_outlive_their_executor_and_stand_still() {
    let (mut executor, child) = with_child();
    let game = executor.clock();
    let handle = executor.handle();
    assert_eq!(handle.clock().as_ref(), Some(&game));
    let wait = child.wait_seconds(1);
    executor.run_frame(1);
    drop(executor);
    assert!(handle.clock().is_none());
    for clock in [&game, &child, &child.child().child()] {
        let now = clock.now();
        clock.set_scale(0.5);
        clock.pause();
        clock.resume();
        assert_eq!(clock.now(), now);
        clock.delta();
        assert!(is(clock.effective_scale(), 1.0));
    }
    assert_eq!((game.now(), child.now()), (millis(1000), millis(1000)));
    drop(wait);
}

#[test]
fn handles_of_one_clock_are_equal() {
    let (executor, child) = with_child();
    assert_eq!(executor.clock(), executor.clock());
    assert_eq!(child, child.clone());
    assert_ne!(child, executor.clock());
    assert_ne!(child, executor.clock().child());
    child.pause();
    let text = format!("{child:?}");
    assert_eq!(text, "Clock { now: 0ns, scale: 1.0, paused: true, .. }");
}

#[test]
fn ten_thousand_clocks_with_a_wait_each() {
    let mut executor = unclamped();
    let order = Rc::new(RefCell::new(Vec::new()));
    let mut clocks = Vec::new();
    for _ in 0..10_000 {
        clocks.push(executor.clock().child());
    }
    // The last clock waits first.
    for (i, clock) in clocks.iter().enumerate().rev() {
        let wait = clock.wait_seconds(1 + i as u64 % 2);
        let order = order.clone();
        executor.start(async move {
            wait.await;
            order.borrow_mut().push(i);
        });
    }
    for i in (0..10_000).step_by(4) {
        clocks[i].pause();
    }
    update(&mut executor, 1);
    let second: Vec<usize> = (0..10_000).filter(|i| i % 4 == 2).collect();
    assert_eq!(order.take(), second);
    update(&mut executor, 1);
    let odd: Vec<usize> = (0..10_000).filter(|i| i % 2 == 1).collect();
    assert_eq!(order.take(), odd);
    for clock in &clocks {
        clock.resume();
    }
    update(&mut executor, 1);
    let first: Vec<usize> = (0..10_000).filter(|i| i % 4 == 0).collect();
    assert_eq!(order.take(), first);
    executor.assert_empty();
}

#[test]
fn clocks_that_come_and_go_in_a_phase_that_is_never_run() {
    let executor = unclamped();
    let game = executor.clock();
    let (mut last, mut kept) = (game.child(), Vec::new());
    for i in 0..1_000 {
        let child = game.child();
        let wait = child.wait_seconds(1).in_phase(Phase::Custom(3));
        let coroutine = executor.start(wait);
        if i % 100 == 0 {
            kept.push(coroutine);
        } else {
            coroutine.stop();
        }
        last = child;
    }
    assert_eq!(executor.len(), 10);
    let mut executor = executor;
    executor.begin_frame(1);
    executor.run_phase(Phase::Custom(3));
    assert!(kept.iter().all(Coroutine::is_finished));
    assert_eq!(last.now(), millis(1000));
}

#[test]
fn a_line_of_a_hundred_thousand_clocks_does_not_overflow_the_stack() {
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let thread = small.spawn(|| {
        let mut executor = unclamped();
        let mut last = executor.clock().child();
        let first = last.clone();
        for _ in 0..100_000 {
            last = last.child();
        }
        first.set_scale(2);
        let wait = executor.start(last.wait_seconds(1));
        assert_eq!(executor.next_deadline(), Some(millis(500)));
        update(&mut executor, 0.25);
        assert_eq!(last.now(), millis(500));
        update(&mut executor, 0.25);
        assert!(wait.is_finished());
        assert_eq!(last.delta(), millis(500));
    });
    thread.unwrap().join().unwrap();
}
