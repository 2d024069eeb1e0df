//! What verifying a save reports, and what it accepts.

use std::cell::{Cell, RefCell};
use std::panic::catch_unwind;
use std::rc::Rc;

use framestep_durable::prelude::*;

use crate::sleeps::reread;

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
    runtime.on_long_chapter(move |_| heard.set(heard.get() + 1));
    runtime.start(Long).detach();
    for _ in 0..6 {
        runtime.run_frame(0.1);
    }
    assert_eq!(reports.get(), 1);
    for _ in 0..3 {
        let save = runtime.save_state().unwrap();
        runtime.run_frame(0.1);
        runtime.rollback(&save).unwrap();
        runtime.run_frame(0.1);
    }
    assert_eq!(reports.get(), 1);
}

/// A chapter that becomes long at once.
#[derive(Serialize, Deserialize)]
struct LongAtOnce;

impl DurableScript for LongAtOnce {
    const NAME: &'static str = "long at once";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        for _ in 0..1_100 {
            time();
        }
        next_frame().await;
        Chapter::Done(3)
    }
}

#[test]
fn a_hook_for_long_chapters_that_panics_ends_no_script_and_stays() {
    let mut runtime = Runtime::new(Registry::new().with::<LongAtOnce>());
    let (calls, reports) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (called, reported) = (calls.clone(), reports.clone());
    runtime
        .executor()
        .on_report(move |_| reported.set(reported.get() + 1));
    runtime.on_long_chapter(move |_| {
        called.set(called.get() + 1);
        panic!("the hook panics");
    });
    let scripts = [runtime.start(LongAtOnce), runtime.spawn(LongAtOnce)];
    for _ in 0..2 {
        runtime.run_frame(0.1);
    }
    let ended = scripts.map(|script| runtime.take(script));
    assert_eq!(ended, [Some(Ok(3)), Some(Ok(3))]);
    assert_eq!((calls.get(), reports.get()), (2, 2));
}

#[test]
fn a_long_chapter_of_a_script_with_the_number_of_an_earlier_one_is_reported() {
    let mut runtime = Runtime::new(Registry::new().with::<LongAtOnce>());
    let calls = Rc::new(Cell::new(0));
    let called = calls.clone();
    runtime.on_long_chapter(move |_| called.set(called.get() + 1));
    let save = runtime.save_state().unwrap();
    runtime.start(LongAtOnce).detach();
    runtime.rollback(&save).unwrap();
    runtime.start(LongAtOnce).detach();
    assert_eq!(calls.get(), 2, "after a rollback");
    let file = reread(&Runtime::new(Registry::new().with::<LongAtOnce>()));
    runtime.restore(&file, Policy::Fail).unwrap();
    runtime.start(LongAtOnce).detach();
    assert_eq!(calls.get(), 3, "after a restore");
}

#[test]
#[cfg(target_os = "linux")]
fn a_long_chapter_ends_no_script_if_standard_error_is_full() {
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    let name = "trials::reports_a_long_chapter_on_standard_error";
    test.args(["--exact", "--ignored", "--nocapture", name]);
    // Of a failed test nothing could be printed either.
    let status = test.stderr(full.unwrap()).status().unwrap();
    assert!(status.success(), "{status}");
}

#[test]
#[ignore = "another test runs it in a separate process"]
fn reports_a_long_chapter_on_standard_error() {
    let mut runtime = Runtime::new(Registry::new().with::<LongAtOnce>());
    let script = runtime.start(LongAtOnce);
    runtime.run_frame(0.1);
    assert!(runtime.take(script).is_some_and(|ended| ended.is_ok()));
}

/// A `with` that panics records nothing, so a script that catches the panic continues
/// differently.
#[test]
fn a_script_that_catches_the_panic_of_a_with_is_restored_after_it() {
    #[derive(Serialize, Deserialize)]
    struct Catches;

    impl DurableScript for Catches {
        const NAME: &'static str = "catches";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            let _ = catch_unwind(|| with(|world: &mut u32| assert!(*world > 0)));
            wait_frames(9).await;
            Chapter::Done(())
        }
    }
    let mut runtime = Runtime::new(Registry::new().with::<Catches>());
    runtime.lend(&mut 0_u32, |runtime| runtime.start(Catches).detach());
    runtime.verify().unwrap();
}

/// A chapter without end: so many entries in each frame.
#[derive(Serialize, Deserialize)]
struct Endless {
    per_frame: u32,
}

impl DurableScript for Endless {
    const NAME: &'static str = "endless";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let _guard = defer(|stopped: &mut u32| *stopped += 1);
        loop {
            for _ in 1..self.per_frame {
                time();
            }
            next_frame().await;
        }
    }
}

#[test]
fn a_chapter_without_end_is_reported_at_each_power_of_ten_with_the_id() {
    let mut runtime = Runtime::new(Registry::new().with::<Endless>());
    let reports = Rc::new(RefCell::new(Vec::new()));
    let heard = reports.clone();
    runtime.on_long_chapter(move |chapter| heard.borrow_mut().push(*chapter));
    runtime.start(Endless { per_frame: 1 }).detach();
    let id = runtime.start(Endless { per_frame: 250 }).id();
    for _ in 0..900 {
        runtime.run_frame(0.1);
    }
    let of_long = |chapter: &&framestep_durable::LongChapter| chapter.script == id;
    let reports = reports.borrow();
    let entries = reports.iter().filter(of_long).map(|it| it.entries);
    assert_eq!(entries.collect::<Vec<_>>(), [1_000, 10_000, 100_000]);
    assert!(
        reports
            .iter()
            .all(|it| it.name == "endless" && !it.is_stopped)
    );
    assert_eq!(reports.len(), 3);
    let text = reports[0].to_string();
    assert!(text.contains("`endless` (#2) has 1000 entries"), "{text}");
}

#[test]
fn a_chapter_with_more_entries_than_the_limit_stops_its_script_with_an_error() {
    for limit in [1, 99, 100, 1_500] {
        let builder = Runtime::builder(Registry::new().with::<Endless>());
        let mut runtime = builder.max_entries(limit).build();
        let reports = Rc::new(RefCell::new(Vec::new()));
        let heard = reports.clone();
        runtime.on_long_chapter(move |chapter| heard.borrow_mut().push(*chapter));
        let mut stopped = 0_u32;
        let script = runtime.start(Endless { per_frame: 1 });
        for _ in 0..limit {
            runtime.run_frame_with(&mut stopped, 0.1);
        }
        assert_eq!((runtime.entries(script.id()), stopped), (Some(limit), 0));
        let save = runtime.save_state().unwrap();
        for _ in 0..2 {
            runtime.run_frame_with(&mut stopped, 0.1);
            assert!(!runtime.is_alive(script.id()));
            let error = runtime.result(&script).unwrap().unwrap_err();
            assert_eq!(error, JoinError::ChapterTooLong);
            runtime.verify().unwrap();
            runtime.rollback(&save).unwrap();
        }
        assert_eq!(stopped, 2, "its guard was dropped");
        let last = *reports.borrow().last().unwrap();
        assert!(last.is_stopped && last.entries == limit + 1, "{last}");
    }
}
