//! Destructors in durable scripts that give something back to the world.

use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;

use framestep::lend::try_with;
use framestep_durable::prelude::*;

use crate::twin::Game;

/// The bullets that are free.
type Pool = Vec<u32>;

/// Returns to its pool when its script ends.
struct Bullet(u32);

impl Drop for Bullet {
    fn drop(&mut self) {
        let bullet = self.0;
        assert!(with_deferred(move |pool: &mut Pool| pool.push(bullet)));
    }
}

/// Flies for so many frames.
#[durable]
async fn fly(frames: u64) {
    let Some(bullet) = with(|pool: &mut Pool| pool.pop()).map(Bullet) else {
        return;
    };
    wait_frames(frames).await;
    drop(bullet);
    let _late = Bullet(10);
    next_frame().await;
    assert_ne!(frames, 3, "this one hits");
}

#[durable]
async fn shoots() {
    let shots: Vec<_> = (1..5).map(|frames| start(fly(frames))).collect();
    wait_frames(3).await;
    drop(
        shots
            .into_iter()
            .map(ScriptHandle::stop_on_drop)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn an_object_returns_to_its_pool_once_however_its_script_ends() {
    let game = Game {
        blank: || crate::twin::quiet(Registry::new().script(fly).script(shoots)),
        begin: |runtime, pool: &mut Pool| {
            pool.extend(0..4);
            runtime.lend(pool, |runtime| runtime.start(shoots()).detach());
        },
        frame: |_, runtime, pool: &mut Pool| runtime.run_frame_with(pool, 0.1),
        frames: 7,
    };
    let (runtime, pool) = game.play();
    assert!(runtime.scripts().is_empty());
    assert_eq!(pool, [3, 10, 2, 10, 1, 10, 0]);
    game.assert_like_its_twin();
}

/// Makes a call in its destructor that a durable script must not make.
struct Refused;

impl Drop for Refused {
    fn drop(&mut self) {
        let _ = try_with(|pool: &mut Pool| pool.push(1));
    }
}

#[durable]
async fn fails(panics: bool) {
    let _refused = Refused;
    next_frame().await;
    assert!(!panics, "the first panic");
}

/// Runs the script, and returns its result and what was reported.
fn ends(panics: bool) -> (Result<(), JoinError>, Vec<String>) {
    let builder = framestep::Executor::builder().propagate_panics(false);
    let mut runtime = Runtime::with(builder, Registry::new().script(fails));
    let reports = Rc::new(RefCell::new(Vec::new()));
    let noted = Rc::clone(&reports);
    runtime
        .executor()
        .on_report(move |report| noted.borrow_mut().push(report.to_string()));
    let (script, mut pool) = (runtime.spawn(fails(panics)), Pool::new());
    for _ in 0..3 {
        runtime.run_frame_with(&mut pool, 0.1);
    }
    let result = runtime.take(script).expect("it has ended");
    (result, reports.take())
}

#[test]
fn a_refused_call_is_a_report_while_a_panic_unwinds_and_no_abort() {
    let (result, reports) = ends(true);
    assert_eq!(result, Err(JoinError::Panicked("the first panic".into())));
    let said = reports
        .iter()
        .find(|report| report.contains("`try_with` at"));
    let said = said.expect("it is reported");
    let line = Location::caller().file();
    for part in [line, "`fails`", "`with_deferred`"] {
        assert!(said.contains(part), "{said}");
    }
    let (result, _) = ends(false);
    let Err(JoinError::Panicked(text)) = result else {
        panic!("without one it is a panic: {result:?}");
    };
    assert!(
        text.contains("`try_with` at") && text.contains(line),
        "{text}"
    );
}
