//! Conditions, closures, clones and destructors use the watch that calls them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::FutureExt;

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{panic_of, result_of};

/// Sets its watch when it is cloned or dropped, `echoes` times in all.
struct Echo {
    own: Rc<RefCell<Option<Watch<Echo>>>>,
    echoes: Rc<Cell<u32>>,
    name: u32,
}

impl Echo {
    fn sets_again(&self) {
        let watch = self.own.borrow().clone();
        if let (Some(watch), left @ 1..) = (watch, self.echoes.get()) {
            self.echoes.set(left - 1);
            watch.set(Echo {
                own: self.own.clone(),
                echoes: self.echoes.clone(),
                name: self.name + 100,
            });
        }
    }
}

impl Clone for Echo {
    fn clone(&self) -> Self {
        self.sets_again();
        Echo {
            own: self.own.clone(),
            echoes: Rc::default(),
            name: self.name,
        }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.sets_again();
    }
}

/// A watch of echoes, and the number of remaining echoes.
fn echoing() -> (Watch<Echo>, Rc<Cell<u32>>) {
    let (own, echoes) = (Rc::new(RefCell::new(None)), Rc::new(Cell::new(0)));
    let watch = Watch::new(Echo {
        own: own.clone(),
        echoes: echoes.clone(),
        name: 1,
    });
    *own.borrow_mut() = Some(watch.clone());
    (watch, echoes)
}

fn name(watch: &Watch<Echo>) -> u32 {
    watch.with(|echo| echo.name)
}

/// Breaks the circle of a watch whose value holds it.
fn let_go(watch: &Watch<Echo>) {
    let own = watch.with(|echo| echo.own.clone());
    own.take();
}

#[test]
fn a_clone_may_set_the_watch_that_is_read() {
    let (watch, echoes) = echoing();
    echoes.set(1);
    assert_eq!(watch.get().name, 1, "what was there when it was read");
    assert_eq!(name(&watch), 101);
    let_go(&watch);
}

#[test]
fn a_destructor_may_set_the_watch_that_it_leaves() {
    let mut executor = unclamped();
    let (watch, echoes) = echoing();
    let mut changes = watch.subscribe();
    let changed = executor.start(watch.changed());
    echoes.set(3);
    let next = watch.with(|echo| Echo {
        own: echo.own.clone(),
        echoes: echo.echoes.clone(),
        name: 2,
    });
    // Dropping 1 sets 101, which drops 2, which sets 102, and so on.
    watch.set(next);
    assert_eq!(echoes.get(), 0);
    assert_eq!(name(&watch), 201);
    assert_eq!(changes.next().now_or_never().flatten().unwrap().name, 201);
    executor.run_frame(0.25);
    assert!(changed.is_finished());
    let_go(&watch);
}

#[test]
fn a_condition_may_set_the_watch_and_is_asked_again_in_the_next_run() {
    let mut executor = unclamped();
    let (log, health) = (Log::new(), Watch::new(0));
    let (say, watch) = (log.clone(), health.clone());
    executor.start(async move {
        let (ask, set) = (say.clone(), watch.clone());
        let condition = move |&health: &i32| {
            ask.say(format!("asked of {health}"));
            set.set(health + 1);
            health == 2
        };
        watch.wait_for(condition).await;
        say.say("holds");
    });
    log.check(&["F0: asked of 0"]);
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: asked of 1", "F2: asked of 2", "F2: holds"]);
    assert_eq!(health.get(), 3);
}

#[test]
fn a_condition_that_wakes_others_loses_none() {
    let mut executor = unclamped();
    let (log, health) = (Log::new(), Watch::new(0));
    for name in ["a", "b"] {
        let (log, health) = (log.clone(), health.clone());
        executor.start(async move {
            health.wait_for(|&health| health >= 2).await;
            log.say(name);
        });
    }
    let (set, watch) = (health.clone(), health.clone());
    executor.start(watch.wait_for(move |&health| {
        if health == 1 {
            set.set(2);
        }
        health == 2
    }));
    health.set(1);
    executor.run_frame(0.25);
    log.check(&["F1: a", "F1: b"]);
    executor.run_frame(0.25);
    executor.assert_empty();
}

#[test]
fn closures_may_come_back() {
    let health = Watch::new(10);
    let seen = health.with(|&before| {
        health.set(before - 1);
        health.with(|&now| (before, now))
    });
    assert_eq!(seen, (10, 9));

    // A reader keeps what it reads.
    let seen = health.with(|&before| {
        health.update(|value| *value += 100);
        health.with(|&now| (before, now))
    });
    assert_eq!(seen, (9, 109));
}

#[test]
fn the_closure_of_an_update_has_the_value_for_itself() {
    let health = Watch::new(10);
    let reader = health.reader();
    let uses: [(&str, &dyn Fn()); 7] = [
        ("get", &|| _ = health.get()),
        ("with", &|| health.with(|_| ())),
        ("set", &|| health.set(1)),
        ("update", &|| health.update(|_| ())),
        ("update_if", &|| _ = health.update_if(|_| true)),
        ("replace", &|| _ = health.replace(1)),
        ("reader", &|| _ = reader.get()),
    ];
    for (name, inside) in uses {
        let line = line!() + 2;
        let text = panic_of(|| {
            health.update(|health| {
                *health += 1;
                inside();
            });
        });
        let place = format!("{}:{line}:20", file!());
        let expected = format!(
            "a watch was read or changed inside the closure of its own `update`, called at \
             {place}: use the argument of that closure, or do it before or after the `update`"
        );
        assert_eq!(text, expected, "{name}");
    }
    assert_eq!(health.get(), 17);
    health.update(|_| assert_eq!(format!("{health:?}"), "Watch { .. }"));
}

#[test]
fn a_condition_may_update_its_own_watch() {
    let mut executor = unclamped();
    let health = Watch::new(3);
    let polls = std::rc::Rc::new(std::cell::Cell::new(0));
    let (own, count) = (health.clone(), polls.clone());
    let falls = executor.start(health.wait_for(move |&health| {
        count.set(count.get() + 1);
        own.update(|health| *health -= 1);
        health == 0
    }));
    executor.run_frames(3, 0.25);
    // Checked once in each run, so that it cannot block the frame.
    assert_eq!(result_of(&executor, falls).unwrap(), 0);
    assert_eq!((polls.get(), health.get()), (4, -1));
}

#[test]
fn a_script_that_is_started_in_an_update_may_wait_for_it() {
    let mut executor = unclamped();
    let health = Watch::new(10);
    let dies = health.update(|value| {
        *value = 0;
        executor.start(health.wait_for(|&health| health == 0))
    });
    assert!(!dies.is_finished());
    executor.run_frame(0.25);
    result_of(&executor, dies).unwrap();

    // Even if the update changes nothing.
    let mut scripts = None;
    health.update_if(|_| {
        let mut present = health.subscribe().with_present();
        let present = executor.start(async move { present.next().await });
        scripts = Some((executor.start(health.wait_for(|_| true)), present));
        false
    });
    executor.run_frame(0.25);
    let (waits, present) = scripts.unwrap();
    assert_eq!(result_of(&executor, waits).unwrap(), 0);
    assert_eq!(result_of(&executor, present).unwrap(), Some(0));
}

#[test]
fn a_panic_of_a_condition_ends_its_coroutine_alone() {
    let mut executor = unclamped();
    let health = Watch::new(10);
    let panics = executor.start(health.wait_for(|&health| {
        assert!(health > 0, "on purpose");
        false
    }));
    let dies = executor.start(health.wait_for(|&health| health <= 0));
    health.set(0);
    executor.run_frame(0.25);
    assert!(result_of(&executor, panics).unwrap_err().is_panic());
    result_of(&executor, dies).unwrap();
    assert_eq!(health.get(), 0);
}

#[test]
fn the_closure_of_an_update_has_the_value_for_itself_while_another_reads_it() {
    let health = Watch::new(10);
    health.with(|before| {
        let uses: [&dyn Fn(); 2] = [&|| _ = health.get(), &|| health.set(1)];
        for inside in uses {
            let text = panic_of(|| {
                health.update(|health| {
                    *health += 1;
                    inside();
                });
            });
            assert!(text.contains("inside the closure of its own `update`"));
        }
        assert_eq!(*before, 10);
    });
    // As without a reader, the value is what the closures have left.
    assert_eq!(health.get(), 12);
}

/// Sets its watch to 100 the first time it is cloned.
struct SetsOnce {
    value: u32,
    own: Rc<RefCell<Option<Watch<SetsOnce>>>>,
}

impl Clone for SetsOnce {
    fn clone(&self) -> Self {
        let own = self.own.clone();
        let watch = own.take();
        if let Some(watch) = watch {
            watch.set(SetsOnce {
                value: 100,
                own: own.clone(),
            });
        }
        SetsOnce {
            value: self.value,
            own,
        }
    }
}

#[test]
fn an_update_changes_the_value_that_its_own_clone_has_set() {
    let updates: [fn(&Watch<SetsOnce>); 3] = [
        |watch| watch.update(|value| value.value += 1),
        |watch| {
            watch.update_if(|value| {
                value.value += 1;
                true
            });
        },
        |watch| {
            let before = watch.replace(SetsOnce {
                value: 101,
                own: Rc::default(),
            });
            assert_eq!(before.value, 100);
        },
    ];
    for update in updates {
        let own = Rc::new(RefCell::new(None));
        let watch = Watch::new(SetsOnce {
            value: 1,
            own: own.clone(),
        });
        let mut changes = watch.subscribe();
        watch.with(|read| {
            *own.borrow_mut() = Some(watch.clone());
            update(&watch);
            assert_eq!(read.value, 1);
        });
        assert_eq!(watch.with(|value| value.value), 101);
        let seen = changes.next().now_or_never().flatten();
        assert_eq!(seen.map(|value| value.value), Some(101));
    }
}
