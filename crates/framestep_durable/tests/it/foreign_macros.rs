//! The macros that poll several futures, of framestep and of other crates, in functions with `#[durable]`.

use framestep_durable::prelude as engine;
use framestep_durable::prelude::*;
use futures::FutureExt;

use crate::twin::{Game, Log, quiet};

const BELL: Signal<u32> = signal("bell");

fn log(what: impl Into<String>) {
    let what = what.into();
    with(move |log: &mut Log| log.push(what));
}

/// Whether it is an error depends on the frames.
async fn fails_after(frames: u64) -> Result<u64, String> {
    wait_frames(frames).await;
    if frames > 2 {
        Err(format!("after {frames}"))
    } else {
        Ok(frames)
    }
}

#[durable]
async fn by_path() {
    let both = futures::join!(wait_seconds(0.2), BELL.wait(), async {
        wait_frames(2).await;
        log("two frames");
        4
    });
    log(format!("{both:?}"));
    let both = futures::try_join!(fails_after(1), fails_after(2));
    log(format!("{both:?}"));
    let both = futures::try_join!(fails_after(4), fails_after(3));
    log(format!("{both:?}"));
    let (mut bell, mut time) = (
        Box::pin(BELL.wait().fuse()),
        Box::pin(wait_seconds(0.2).fuse()),
    );
    loop {
        futures::select_biased! {
            bell = bell => log(format!("{bell}")),
            () = time => log("time"),
            complete => break,
        }
    }
}

/// Framestep's own, by the name that a game gives it.
#[durable]
async fn by_another_name() {
    engine::select! {
        bell = BELL.wait() => log(format!("{bell}")),
        () = wait_seconds(0.2) => log("time"),
    }
}

mod by_name {
    use framestep_durable::prelude::*;
    use futures::{join, try_join};

    use super::{BELL, fails_after, log};

    #[durable]
    pub(super) async fn by_name() {
        let both = join!(wait_seconds(0.2), BELL.wait(), async {
            wait_frames(2).await;
            log("two frames");
            4
        });
        log(format!("{both:?}"));
        let both = try_join!(fails_after(1), fails_after(2));
        log(format!("{both:?}"));
    }
}

#[test]
fn macros_of_futures_poll_waits_as_framesteps_own_do() {
    let game = Game {
        blank: || quiet(Registry::new().script(by_path).script(by_name::by_name)),
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                runtime.start(by_path()).detach();
                runtime.start(by_name::by_name()).detach();
            });
        },
        frame: |at, runtime, log: &mut Log| {
            if at % 3 == 1 {
                runtime.named(&BELL).emit(at);
            }
            runtime.run_frame_with(log, 0.1);
        },
        frames: 14,
    };
    let (runtime, log) = game.play();
    assert!(runtime.scripts().is_empty(), "{log:?}");
    let mut expected = vec!["two frames", "((), 1, 4)", "two frames", "((), 1, 4)"];
    expected.extend(["Ok((1, 2))", "Ok((1, 2))", "Err(\"after 3\")", "7", "time"]);
    assert_eq!(log, expected);
    game.assert_like_its_twin();
}

#[test]
fn framesteps_own_select_works_by_any_path() {
    let game = Game {
        blank: || quiet(Registry::new().script(by_another_name)),
        begin: |runtime, _| runtime.start(by_another_name()).detach(),
        frame: |_, runtime, log: &mut Log| runtime.run_frame_with(log, 0.1),
        frames: 3,
    };
    let (_, log) = game.play();
    assert_eq!(log, ["time"]);
    game.assert_like_its_twin();
}

#[durable]
async fn says(name: String) -> u32 {
    log(format!("{name} begins"));
    wait_frames(2).await;
    log(format!("{name} ends"));
    7
}

#[durable]
async fn starts_them(is_enabled: bool) {
    let both = join!(says("a".into()), says("b".into()));
    log(format!("{both:?}"));
    select! {
        seven = says("c".into()), if is_enabled => log(format!("{seven:?}")),
        _ = next_frame() => log("next frame"),
    }
    select! {
        () = std::future::ready(()) => log("ready"),
        seven = says("d".into()) => log(format!("{seven:?}")),
    }
}

#[test]
fn a_branch_starts_its_script_when_it_is_polled_first() {
    let registry = Registry::new().script(starts_them).script(says);
    let (mut runtime, mut log) = (quiet(registry), Log::new());
    runtime.lend(&mut log, |runtime| {
        runtime.start(starts_them(false)).detach();
    });
    for _ in 0..5 {
        runtime.run_frame_with(&mut log, 0.1);
    }
    assert!(runtime.scripts().is_empty());
    let both = ["a begins", "b begins", "a ends", "b ends", "(Ok(7), Ok(7))"];
    assert_eq!(
        log[..5],
        both,
        "in the order of the branches, as the functions of a plain script"
    );
    assert_eq!(
        log[5..],
        ["next frame", "ready"],
        "`c` is disabled, `d` is never polled"
    );
}
