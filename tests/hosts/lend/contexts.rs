use framestep::lend::{Lend, try_with_as, with_as, with_deferred_as};

use super::*;

/// An engine's context, with two lifetimes.
struct Context<'a> {
    gold: &'a mut u32,
    names: &'a RefCell<Vec<&'a str>>,
}

enum InContext {}

impl Lend for InContext {
    type Of<'a> = Context<'a>;
}

#[test]
fn a_context_with_lifetimes_is_borrowed_by_its_key() {
    let mut executor = unclamped();
    let name = String::from("door");
    let (mut gold, names) = (1, RefCell::new(vec![&*name]));
    let length = executor.spawn(async {
        with_as::<InContext, _>(|context| {
            *context.gold += 1;
            context.names.borrow_mut().push("added");
            context.names.borrow()[0].len()
        })
    });
    let mut context = Context {
        gold: &mut gold,
        names: &names,
    };
    executor.lend_as::<InContext, _>(&mut context, |executor| executor.run_frame(0.25));
    assert_eq!(*names.borrow(), ["door", "added"]);
    assert_eq!(gold, 2);
    assert_eq!(result_of(&executor, length).unwrap(), 4);
}

#[test]
fn it_is_refused_like_plain_state() {
    let mut executor = unclamped();
    let (mut gold, names) = (1, RefCell::default());
    let asked = || try_with_as::<InContext, _>(|context| *context.gold);
    assert!(matches!(asked(), Err(LendError::NotLent { .. })));
    let mut context = Context {
        gold: &mut gold,
        names: &names,
    };
    executor.lend_as::<InContext, _>(&mut context, |executor| {
        executor.enter(|| {
            let nested = with_as::<InContext, _>(|_| asked());
            assert!(matches!(nested, Err(LendError::Borrowed { .. })));
            let text = panic_of(|| with_as::<InContext, _>(|_| with_as::<InContext, _>(|_| ())));
            assert!(text.contains("InContext` is borrowed"), "{text}");
            assert_eq!(asked(), Ok(1));
        });
    });
    assert!(executor.enter(asked).is_err());
}

#[test]
fn a_key_and_a_plain_type_of_the_same_name_are_two_things() {
    /// A number, and a key for something else.
    struct Number(u32);
    impl Lend for Number {
        type Of<'a> = &'a str;
    }
    let mut executor = unclamped();
    executor.lend(&mut Number(5), |executor| {
        executor.enter(|| {
            assert!(try_with_as::<Number, _>(|text| text.len()).is_err());
            assert_eq!(with(|number: &mut Number| number.0), 5);
        });
        executor.lend_as::<Number, _>(&mut "text", |executor| {
            executor.enter(|| {
                assert_eq!(with_as::<Number, _>(|text| text.len()), 4);
                assert_eq!(with(|number: &mut Number| number.0), 5);
                assert!(try_with(|_: &mut &str| ()).is_err());
            });
        });
    });
}

#[test]
fn a_part_of_what_is_borrowed_may_be_lent_on() {
    let mut executor = unclamped();
    let handle = executor.handle();
    let (mut gold, names) = (1, RefCell::default());
    let asked = || with_as::<InContext, _>(|context| *context.gold);
    let mut context = Context {
        gold: &mut gold,
        names: &names,
    };
    executor.lend_as::<InContext, _>(&mut context, |executor| {
        executor.enter(|| {
            with_as::<InContext, _>(|context| {
                let inner = RefCell::default();
                let mut shorter = Context {
                    gold: context.gold,
                    names: &inner,
                };
                handle.lend_as::<InContext, _>(&mut shorter, |handle| {
                    assert_eq!(handle.enter(asked), Some(1));
                });
            });
            assert_eq!(asked(), 1);
        });
    });
}

#[test]
fn a_closure_of_with_deferred_waits_for_the_next_context() {
    let mut executor = unclamped();
    let (mut gold, names) = (1, RefCell::new(Vec::new()));
    assert!(executor.enter(|| with_deferred_as::<InContext>(|context| {
        *context.gold += 10;
        context.names.borrow_mut().push("soon");
    })));
    // Another type does not count.
    lend_frame(&mut executor, &mut Gold(0));
    assert!(names.borrow().is_empty());
    let mut context = Context {
        gold: &mut gold,
        names: &names,
    };
    executor.lend_as::<InContext, _>(&mut context, |_| ());
    assert_eq!(*names.borrow(), ["soon"]);
    assert_eq!(gold, 11);
}
