//! Handles of behaviours: borrowing, comparing, finding.

use super::*;

/// A behaviour with only a number.
#[derive(Debug)]
struct Number(u32);

impl Behaviour for Number {}

#[test]
fn borrows_until_the_closure_returns_and_begins_then_what_was_started() {
    let log = Log::new();
    let scene = stage();
    let (a, b) = (scene.add(Number(1)), scene.add(Number(2)));
    let sum = a.with(|one| {
        a.start(says(log.clone(), "of a"));
        let sum = b.with(|two| {
            b.start(says(log.clone(), "of b"));
            one.0 + two.0
        });
        log.note("both are borrowed");
        sum
    });
    assert_eq!(sum, 3);
    log.check(&["both are borrowed", "F0: of a", "F0: of b"]);
}

#[test]
fn names_the_type_and_the_way_out_if_a_closure_has_the_behaviour() {
    let scene = stage();
    let number = scene.add(Number(1));
    let line = line!() + 1;
    number.with(|one| {
        assert_eq!(
            panic_of(|| number.with(|one| one.0)),
            format!(
                "the `hosts::scene::behaviour_handle::Number` is borrowed by the closure at {}:{line}:12, around \
                 this call: use its reference, or `spawn` the code that needs the state; in a \
                 destructor, use `with_deferred` for lent state",
                file!()
            )
        );
        let error = number.try_with(|one| one.0).unwrap_err();
        assert!(
            matches!(error, LendError::Borrowed { type_name, .. } if type_name.ends_with("Number"))
        );
        one.0 += 1;
    });
    assert_eq!(number.with(|number| number.0), 2);
}

#[test]
fn finds_the_behaviour_borrowed_by_its_callbacks_and_free_in_what_they_start() {
    let log = Log::new();
    let mut scene = stage();
    let mut actor = Actor::new("a", &log);
    for callback in CALLBACKS {
        let say = log.clone();
        actor = actor.on(callback, move |context| {
            let this = context.this();
            let borrowed = matches!(this.try_with(|_| ()), Err(LendError::Borrowed { .. }));
            say.note(if borrowed { "borrowed" } else { "free" });
            let say = say.clone();
            context.start(async move { this.with(|_| say.note("free")) });
        });
    }
    scene.add(actor);
    scene.run_frame(FRAME);
    drop(scene);
    log.check(&[
        "F1.host: a start",
        "borrowed",
        "free",
        "F1.host: a fixed_update",
        "borrowed",
        "free",
        "F1.host: a update",
        "borrowed",
        "free",
        "F1.host: a late_update",
        "borrowed",
        "free",
        "F1.host: a on_destroy",
        "borrowed",
    ]);
}

#[test]
fn names_the_type_and_the_way_out_if_the_behaviour_is_gone() {
    let mut scene = stage();
    let number = scene.add(Number(1));
    let orphan = {
        let number = number.clone();
        scene.executor().start(async move {
            next_frame().await;
            next_frame().await;
            number.with(|number| number.0)
        })
    };
    number.destroy();
    scene.run_frame(FRAME);
    let text = "the `hosts::scene::behaviour_handle::Number` has been destroyed: check `is_alive` first, or use \
                `try_with`";
    assert_eq!(panic_of(|| number.with(|number| number.0)), text);
    let error = number.try_with(|number| number.0).unwrap_err();
    assert!(matches!(error, LendError::Destroyed { .. }));
    assert_eq!(error.to_string(), text);
    scene.run_frame(FRAME);
    let error = result_of(scene.executor(), orphan).unwrap_err();
    assert_eq!(panic_text(&*error.into_panic()), text);
}

#[test]
fn blames_the_caller() {
    let mut scene = stage();
    let number = scene.add(Number(1));
    number.with(|_| {
        let here = format!("{}:{}", file!(), line!() + 1);
        assert_eq!(place_of_panic(|| number.with(|_| ())), here);
    });
    number.destroy();
    scene.run_frame(FRAME);
    let here = format!("{}:{}", file!(), line!() + 1);
    assert_eq!(place_of_panic(|| number.with(|_| ())), here);
}

#[test]
fn gives_the_behaviour_back_if_the_closure_panics() {
    let log = Log::new();
    let mut scene = stage();
    let number = scene.add(Number(1));
    let (this, say) = (number.clone(), log.clone());
    let coroutine = number.start(async move {
        this.with(|_| {
            this.start(says(say, "started before the panic"));
            panic!("on purpose");
        })
    });
    log.check(&["F0: started before the panic"]);
    let error = result_of(scene.executor(), coroutine).unwrap_err();
    assert!(error.is_panic());
    scene.run_frame(FRAME);
    assert!(number.is_alive());
    assert_eq!(number.with(|number| number.0), 1);
}

#[test]
fn is_equal_to_all_others_of_the_same_behaviour_also_when_that_is_gone() {
    let mut scene = stage();
    let (a, b) = (scene.add(Number(1)), scene.add(Number(1)));
    assert_eq!(a, a.clone());
    assert_eq!(scene.find(), Some(a.clone()));
    assert_ne!(a, b);
    assert_eq!(
        format!("{a:?}"),
        "BehaviourHandle { behaviour: \"hosts::scene::behaviour_handle::Number\", alive: true }"
    );
    a.destroy();
    scene.run_frame(FRAME);
    assert_eq!(a, a.clone());
    assert_ne!(a, scene.add(Number(1)));
}

/// Drops its value with the behaviour.
struct Holds {
    _held: Rc<()>,
    this: Option<BehaviourHandle<Holds>>,
}

impl Behaviour for Holds {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        self.this = Some(context.this());
        let this = context.this();
        context.start(async move {
            let _this = this;
            forever().await;
        });
    }
}

#[test]
fn keeps_nothing_alive() {
    let held = Rc::new(());
    let mut scene = stage();
    let [a, b] = [held.clone(), held.clone()].map(|held| {
        scene.add(Holds {
            _held: held,
            this: None,
        })
    });
    scene.run_frame(FRAME);
    a.destroy();
    scene.run_frame(FRAME);
    assert_eq!(Rc::strong_count(&held), 2);
    drop(scene);
    assert_eq!(Rc::strong_count(&held), 1);
    for gone in [a, b] {
        assert!(!gone.is_alive() && !gone.is_active());
        assert!(!gone.destroy() && !gone.pause() && !gone.resume());
        gone.stop_all();
        gone.set_active(true);
        assert!(gone.start(async {}).is_finished() && gone.spawn(async {}).is_finished());
    }
}

#[test]
fn is_found_by_type_until_it_is_destroyed_or_panics() {
    let mut scene = stage();
    assert_eq!(scene.find::<Number>(), None);
    let all = [1, 2, 3, 4].map(|number| scene.add(Number(number)));
    let log = Log::new();
    scene.add(Actor::new("other", &log).on("update", |_| panic!("on purpose")));
    let numbers = |scene: &Scene| {
        let found = scene.find_all::<Number>();
        assert_eq!(scene.handle().find_all::<Number>(), found);
        assert_eq!(scene.find::<Number>(), found.first().cloned());
        assert_eq!(scene.handle().find::<Number>(), found.first().cloned());
        let numbers = found.iter().map(|this| this.with(|number| number.0));
        numbers.collect::<Vec<_>>()
    };
    assert_eq!(numbers(&scene), [1, 2, 3, 4]);
    all[0].destroy();
    all[2].destroy();
    all[3].set_active(false);
    assert_eq!(numbers(&scene), [2, 4]);
    assert_eq!(scene.len(), 3);
    scene.begin_frame(FRAME);
    scene.run_phase(Phase::Update);
    assert_eq!(scene.find::<Actor>(), None);
    scene.run_phase(Phase::EndOfFrame);
    assert_eq!((numbers(&scene), scene.len()), (vec![2, 4], 2));
    assert_eq!(scene.heard.0.take().len(), 1);
}

/// Logs whether the behaviour can be borrowed when this is dropped.
struct AsksAtTheEnd(Log, &'static str, Option<BehaviourHandle<Asked>>);

struct Asked(Option<AsksAtTheEnd>);

impl Behaviour for Asked {}

impl Drop for AsksAtTheEnd {
    fn drop(&mut self) {
        let result = self.2.as_ref().unwrap().try_with(|_| ());
        let found = match result {
            Ok(()) => "found",
            Err(LendError::Destroyed { .. }) => "gone",
            Err(_) => "borrowed",
        };
        self.0.say(format_args!("{}: {found}", self.1));
    }
}

#[test]
fn is_there_for_the_destructors_of_coroutines_and_not_for_its_own() {
    let log = Log::new();
    let mut scene = stage();
    let asked = scene.add(Asked(None));
    let own = AsksAtTheEnd(log.clone(), "its own", Some(asked.clone()));
    asked.with(|behaviour| behaviour.0 = Some(own));
    let of_coroutine = AsksAtTheEnd(log.clone(), "a coroutine's", Some(asked.clone()));
    asked.start(async move {
        let _asks = of_coroutine;
        forever().await;
    });
    asked.destroy();
    scene.run_frame(FRAME);
    log.check(&["F1.host: a coroutine's: found", "F1.host: its own: gone"]);
}
