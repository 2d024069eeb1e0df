//! The waker and the trace hooks of the host may call any function, and take a save state.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use framestep_durable::{RuntimeHandle, ScriptHandle, prelude::*};

use crate::sleeps::reread;

const KNOCK: Signal<u32> = signal("knock");
const LEVEL: Watch<u32> = watch("level", Default::default);

type Call = Box<dyn FnMut()>;

thread_local! {
    /// What the waker of the host calls, once: a waker itself must be `Send`.
    static ON_WAKE: RefCell<Option<Call>> = const { RefCell::new(None) };
}

fn call_on_wake(runtime: &Runtime, f: impl FnMut() + 'static) {
    ON_WAKE.set(Some(Box::new(f)));
    let wake = || {
        if let Some(mut f) = ON_WAKE.take() {
            f();
        }
    };
    runtime.executor().on_wake(wake);
}

#[derive(Serialize, Deserialize)]
struct Riddle;

impl Request for Riddle {
    const NAME: &'static str = "riddle";
    type Answer = u32;
}

/// Waits for an event, a change or an answer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Waits {
    Knock,
    Level,
    Answer,
    Frame,
}

impl DurableScript for Waits {
    const NAME: &'static str = "waits";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        Chapter::Done(match self {
            Waits::Knock => KNOCK.wait().await,
            Waits::Level => LEVEL.changed().await,
            Waits::Answer => ask(|| Riddle).await,
            Waits::Frame => {
                wait_frames(2).await;
                1
            }
        })
    }
}

fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Waits>())
}

/// A runtime that its hooks can use.
fn shared() -> (Rc<RefCell<Runtime>>, RuntimeHandle) {
    let runtime = blank();
    let host = runtime.host().clone();
    (Rc::new(RefCell::new(runtime)), host)
}

/// Panics when it is dropped.
struct Bang(Rc<Cell<u32>>);

impl Drop for Bang {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
        panic!("a destructor of the host panics");
    }
}

#[test]
fn a_hook_that_panics_as_it_is_dropped_does_not_hinder_the_end_of_its_runtime() {
    let dropped = Rc::new(Cell::new(0));
    let bang = || Bang(Rc::clone(&dropped));
    let (of_losses, of_chapters) = (bang(), bang());
    let runtime = blank();
    runtime.on_loss(move |_| _ = &of_losses);
    runtime.on_long_chapter(move |_| _ = &of_chapters);
    let host = runtime.host().clone();
    drop(runtime);
    assert_eq!(dropped.get(), 2);
    // It would never hear anything.
    let late = bang();
    host.on_loss(move |_| _ = &late);
    assert_eq!(dropped.get(), 3);
}

type Happens = fn(&RuntimeHandle, u32);

/// What happens to three scripts that wait for the same.
const SHARED: [(Waits, Happens); 2] = [
    (Waits::Knock, |host, value| {
        host.executor().named(&KNOCK).unwrap().emit(value);
    }),
    (Waits::Level, |host, value| {
        host.executor().named(&LEVEL).unwrap().set(value);
    }),
];

fn three(host: &RuntimeHandle, waits: Waits) -> Vec<ScriptHandle<u32>> {
    (0..3).map(|_| host.start(waits)).collect()
}

#[test]
fn a_save_state_by_the_waker_of_the_host_has_all_scripts_of_an_event_woken() {
    for (waits, happens) in SHARED {
        let (runtime, host) = shared();
        let handles = three(&host, waits);
        let saved: Rc<RefCell<Option<SaveState>>> = Rc::default();
        let (of, put) = (Rc::clone(&runtime), Rc::clone(&saved));
        call_on_wake(&runtime.borrow(), move || {
            put.replace(Some(reread(&of.borrow())));
        });
        happens(&host, 7);
        let save = saved.take().expect("the waker was called");
        let mut later = blank();
        later.restore(&save, Policy::Fail).unwrap();
        let ids = handles.iter().map(ScriptHandle::id);
        let kept: Vec<_> = ids
            .map(|id| later.enter(|| id.handle::<u32>()).unwrap())
            .collect();
        later.run_frame(0.1);
        for handle in kept {
            assert_eq!(later.take(handle), Some(Ok(7)), "{waits:?}");
        }
    }
}

#[test]
fn a_waker_of_the_host_that_panics_keeps_no_script_from_an_event() {
    for (waits, happens) in SHARED {
        let (runtime, host) = shared();
        let handles = three(&host, waits);
        call_on_wake(&runtime.borrow(), || panic!("the waker panics"));
        happens(&host, 7);
        runtime.borrow_mut().run_frame(0.1);
        for handle in handles {
            assert_eq!(host.take(handle), Some(Ok(7)), "{waits:?}");
        }
    }
}

#[test]
fn the_waker_of_the_host_may_use_a_runtime_that_rolls_back() {
    let (runtime, host) = shared();
    let asks = host.start(Waits::Answer);
    host.spawn(Waits::Frame).detach();
    let save = runtime.borrow().save_state().unwrap();
    runtime.borrow_mut().run_frame(0.1);
    let of = host.clone();
    call_on_wake(&runtime.borrow(), move || {
        for (id, Riddle) in of.requests() {
            assert!(of.answer(id, &3));
        }
        of.executor().named(&LEVEL).unwrap().set(8);
    });
    runtime.borrow_mut().rollback(&save).unwrap();
    assert_eq!(host.executor().named(&LEVEL).unwrap().get(), 8);
    runtime.borrow_mut().run_frame(0.1);
    assert_eq!(host.take(asks), Some(Ok(3)));
}

#[test]
fn a_trace_hook_may_use_a_runtime_that_rolls_back() {
    let (runtime, host) = shared();
    let owner = host.owner();
    host.executor()
        .enter(|| owner.start(Waits::Frame))
        .unwrap()
        .detach();
    let save = runtime.borrow().save_state().unwrap();
    runtime.borrow_mut().run_frame(0.1);
    let (of, calls) = (host.clone(), Rc::new(Cell::new(0)));
    let counted = Rc::clone(&calls);
    let hook = runtime.borrow().executor().on_full_trace(move |_| {
        if counted.replace(counted.get() + 1) == 0 {
            of.executor()
                .enter(|| framestep_durable::owner().remove())
                .unwrap();
            of.start(Waits::Frame).detach();
        }
    });
    runtime.borrow_mut().rollback(&save).unwrap();
    assert!(calls.get() > 0, "the rollback makes coroutines");
    drop(hook);
    assert_eq!(host.scripts().len(), 2);
    let mut runtime = runtime.borrow_mut();
    for _ in 0..3 {
        runtime.save().unwrap();
        runtime.run_frame(0.1);
    }
    assert_eq!(host.scripts(), []);
}

#[test]
fn a_restore_with_hooks_that_panic_succeeds() {
    let (runtime, host) = shared();
    let waits = host.start(Waits::Frame);
    let save = reread(&runtime.borrow());
    call_on_wake(&runtime.borrow(), || panic!("the waker panics"));
    let hook = runtime
        .borrow()
        .executor()
        .on_full_trace(|_| panic!("the hook panics"));
    let restored = catch_unwind(AssertUnwindSafe(|| {
        runtime.borrow_mut().restore(&save, Policy::Fail)
    }));
    assert!(restored.is_ok_and(|restored| restored.is_ok()));
    drop(hook);
    let waits = host
        .executor()
        .enter(|| waits.id().handle::<u32>())
        .flatten()
        .unwrap();
    for _ in 0..2 {
        runtime.borrow_mut().run_frame(0.1);
    }
    assert_eq!(host.take(waits), Some(Ok(1)));
}

#[test]
fn a_save_state_by_a_trace_hook_while_an_owner_changes_can_be_restored() {
    let changes: [fn(&RuntimeHandle, OwnerId); 4] = [
        |host, owner| assert!(host.executor().enter(|| owner.remove()).unwrap()),
        |host, owner| host.executor().enter(|| owner.set_active(false)).unwrap(),
        |host, owner| host.executor().enter(|| owner.stop_all()).unwrap(),
        |host, owner| {
            assert!(
                host.executor().enter(|| owner.pause()).unwrap()
                    && host.executor().enter(|| owner.resume()).unwrap()
            );
        },
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let (runtime, host) = shared();
        let owner = host.owner();
        let below = host.executor().enter(|| owner.child()).unwrap();
        for owner in [owner, below, owner, below] {
            host.executor()
                .enter(|| owner.start(Waits::Knock))
                .unwrap()
                .detach();
        }
        let taken: Rc<RefCell<Vec<SaveState>>> = Rc::default();
        let (of, put) = (Rc::clone(&runtime), Rc::clone(&taken));
        let hook = runtime.borrow().executor().on_full_trace(move |_| {
            if let Ok(Ok(runtime)) = of.try_borrow().map(|runtime| runtime.save_state()) {
                put.borrow_mut().push(runtime);
            }
        });
        change(&host, owner);
        runtime.borrow_mut().run_frame(0.1);
        drop(hook);
        assert!(at > 1 || taken.borrow().len() > 2, "change {at}");
        for save in taken.take() {
            let file = SaveState::from_bytes(&save.to_bytes()).unwrap();
            let mut later = blank();
            let restored = later.restore(&file, Policy::Fail);
            assert!(restored.is_ok(), "change {at}: {restored:?}");
            // The hook also hears of the pause, before the resume.
            later.host().executor().enter(|| owner.resume()).unwrap();
            later.named(&KNOCK).emit(1);
            later.run_frame(0.1);
            assert_eq!(later.scripts(), [], "change {at}");
        }
    }
}
