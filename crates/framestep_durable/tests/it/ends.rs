//! Ended scripts and runtimes leave nothing behind.

use std::cell::Cell;
use std::rc::Rc;

use framestep_durable::prelude::*;

thread_local! {
    static ALIVE: Cell<i32> = const { Cell::new(0) };
}

/// Counts itself.
struct Counted;

impl Counted {
    fn new() -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

#[derive(Serialize, Deserialize)]
struct Holds {
    children: u32,
}

impl DurableScript for Holds {
    const NAME: &'static str = "holds";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        let _counted = Counted::new();
        let _guard = defer(|log: &mut Vec<&'static str>| log.push("left"));
        if self.children > 0 {
            let children = self.children - 1;
            let child = start(Holds { children });
            let found = child.await.unwrap_or(100);
            return Chapter::Done(found + 1);
        }
        wait_seconds(10).await;
        Chapter::Done(0)
    }
}

fn runtime() -> Runtime {
    Runtime::new(Registry::new().with::<Holds>())
}

#[test]
fn a_runtime_that_is_dropped_drops_its_scripts() {
    let runtime = runtime();
    let handle = runtime.start(Holds { children: 3 });
    assert_eq!(ALIVE.get(), 4);
    drop(runtime);
    assert_eq!(ALIVE.get(), 0);
    drop(handle);
}

#[test]
fn a_dropped_runtime_leaves_no_reference_cycle_behind() {
    let alive = Rc::new(());
    let runtime = runtime();
    runtime.on_long_chapter({
        let alive = alive.clone();
        move |_| drop(alive.clone())
    });
    runtime.start(Holds { children: 1 }).detach();
    let save = runtime.save_state().unwrap();
    drop(runtime);
    // What hooks own is dropped with the runtime.
    assert_eq!(Rc::strong_count(&alive), 1);
    drop(save);
    assert_eq!(ALIVE.get(), 0);
}

#[test]
fn a_restore_drops_the_earlier_scripts_without_effects_of_their_guards() {
    let mut log: Vec<&'static str> = Vec::new();
    let mut runtime = runtime();
    let empty = runtime.save_state().unwrap();
    let handle = runtime.start(Holds { children: 2 });
    let three = runtime.save_state().unwrap();
    runtime.lend(&mut log, |runtime| {
        runtime.rollback(&empty).unwrap();
        assert_eq!(ALIVE.get(), 0);
        assert!(runtime.executor().is_empty() && runtime.scripts().is_empty());
        for _ in 0..3 {
            runtime.rollback(&three).unwrap();
            assert_eq!(ALIVE.get(), 3);
        }
    });
    assert!(log.is_empty());
    // After a stop, unlike a restore, guards run.
    runtime.lend(&mut log, |runtime| {
        runtime.enter(|| stop(ScriptId::from_raw(3)))
    });
    runtime.run_frame_with(&mut log, 0.1);
    assert_eq!(log, ["left"; 3]);
    assert_eq!(runtime.take(handle), Some(Ok(102)));
    assert_eq!(ALIVE.get(), 0);
}

#[test]
fn a_handle_of_the_host_finds_its_script_after_a_restore() {
    let mut log: Vec<&'static str> = Vec::new();
    let mut first = runtime();
    let handle = first.start(Holds { children: 0 });
    first.run_frame_with(&mut log, 0.1);
    let file = first.save().unwrap().to_bytes();

    let mut second = runtime();
    let save = SaveState::from_bytes(&file).unwrap();
    second.restore(&save, Policy::Fail).unwrap();
    let again = second.enter(|| handle.id().handle::<u32>()).unwrap();
    assert!(second.result(&again).is_none());
    for _ in 0..100 {
        second.run_frame_with(&mut log, 0.1);
    }
    assert_eq!(second.take(again), Some(Ok(0)));
    assert!(second.enter(|| handle.id().handle::<u32>()).is_none());
    assert_eq!(ALIVE.get(), 1);
}

#[test]
fn ten_thousand_chapters_take_no_more_memory_than_one() {
    #[derive(Serialize, Deserialize)]
    struct Forever {
        rounds: u32,
    }

    impl DurableScript for Forever {
        const NAME: &'static str = "forever";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            for _ in 0..3 {
                next_frame().await;
            }
            Chapter::Next(Forever {
                rounds: self.rounds + 1,
            })
        }
    }
    let mut runtime = Runtime::new(Registry::new().with::<Forever>());
    let id = runtime.start(Forever { rounds: 0 }).id();
    let mut sizes = Vec::new();
    for frame in 1..=30_000 {
        runtime.run_frame(0.1);
        assert!(runtime.entries(id).unwrap() < 3);
        if frame % 3_000 == 0 {
            sizes.push(runtime.save_state().unwrap().to_bytes().len());
        }
    }
    let largest = sizes.iter().max().unwrap();
    assert!(*largest < sizes[0] + 40, "{sizes:?}");
}
