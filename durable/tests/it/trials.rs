//! What verifying a save reports, and what it accepts.

use std::cell::Cell;
use std::panic::catch_unwind;
use std::rc::Rc;

use framestep_durable::prelude::*;

use crate::sleeps::Sleeps;

#[test]
fn a_chapter_that_has_become_long_is_reported_once_even_when_it_is_rolled_back() {
    #[derive(Serialize, Deserialize)]
    struct Long;

    impl DurableScript for Long {
        const NAME: &'static str = "long";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            loop {
                for _ in 0..300 {
                    time();
                }
                next_frame().await;
            }
        }
    }
    let mut runtime = Runtime::new(Registry::new().with::<Long>());
    let reports = Rc::new(Cell::new(0));
    let heard = reports.clone();
    runtime.on_long_chapter(move |_, _| heard.set(heard.get() + 1));
    runtime.start(Long).detach();
    for _ in 0..6 {
        runtime.run_frame(0.1);
    }
    assert_eq!(reports.get(), 1);
    for _ in 0..3 {
        let snapshot = runtime.snapshot().unwrap();
        runtime.run_frame(0.1);
        runtime.rollback(&snapshot).unwrap();
        runtime.run_frame(0.1);
    }
    assert_eq!(reports.get(), 1);
}

#[test]
fn a_wait_behind_a_foreign_waker_is_refused_with_the_name_of_the_script() {
    #[derive(Serialize, Deserialize)]
    struct Guilty;

    impl DurableScript for Guilty {
        const NAME: &'static str = "guilty";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            let waits: futures::stream::FuturesUnordered<_> = (1..3).map(wait_frames).collect();
            futures::StreamExt::collect::<Vec<()>>(waits).await;
            Chapter::Done(())
        }
    }
    let runtime = Runtime::new(Registry::new().with::<Guilty>().with::<Sleeps>());
    runtime.start(Sleeps).detach();
    runtime.start(Guilty).detach();
    let error = runtime.snapshot().unwrap_err().to_string();
    assert!(error.contains("`guilty`"), "{error}");
}

/// A step that panics records nothing, so a script that catches the panic continues
/// differently.
#[test]
fn a_script_that_catches_the_panic_of_a_step_is_restored_after_it() {
    #[derive(Serialize, Deserialize)]
    struct Catches;

    impl DurableScript for Catches {
        const NAME: &'static str = "catches";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            let _ = catch_unwind(|| step(|world: &mut u32| assert!(*world > 0)));
            wait_frames(9).await;
            Chapter::Done(())
        }
    }
    let mut runtime = Runtime::new(Registry::new().with::<Catches>());
    runtime.lend(&mut 0_u32, |runtime| runtime.start(Catches).detach());
    runtime.verify().unwrap();
}
