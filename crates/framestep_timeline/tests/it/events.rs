//! Signals, watches and semaphores that have a name: which one, who has it, and who hears it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep_timeline::{Film, Filter, FindingKind, Recorder};

use crate::support::{plain, recorded};

/// The findings of a film, without the folder and the columns of places.
fn findings(film: &Film) -> Vec<String> {
    let findings = film.findings();
    let all = findings.iter();
    all.map(|it| plain(file!(), &it.to_string())).collect()
}

/// Two signals of one name: the guests wait for that of the cook, and the innkeeper emits his own.
fn supper(guests: u32) -> (Film, [u32; 4]) {
    let (mut executor, recorder) = recorded();
    let shared = Rc::new(Cell::new(None::<Signal<()>>));
    let named = line!() + 3;
    let cook = shared.clone();
    executor.script("cook").start(async move {
        cook.set(Some(Signal::new().named("supper")));
        wait_frames(500).await;
    });
    let heard = shared.take().unwrap();
    let waits = line!() + 5;
    for number in 0..guests {
        let heard = heard.clone();
        executor
            .script(format!("guest {number}"))
            .start(async move { heard.wait().await });
    }
    let rung = line!() + 1;
    let bell = Signal::new().named("supper");
    let after = line!() + 2;
    executor.script("innkeeper").start(async move {
        wait_frames(20).await;
        bell.emit(());
    });
    executor.run_frames(60, 0.25);
    (recorder.film(), [named, waits, rung, after])
}

#[test]
fn a_wait_for_another_signal_of_the_same_name_is_found() {
    let (film, [named, waits, rung, after]) = supper(5);
    assert_eq!(film.findings()[0].kind, FindingKind::OtherSource);
    let expected = format!(
        "guest 0 (1v1) and 4 more wait for another signal named supper since frame 0 (_:{waits}): \
         for supper #1 (named at _:{named} by cook (0v1) in frame 0), and innkeeper (6v1) emitted \
         supper #2 (named at _:{rung}) in frame 20 after _:{after}, which did not wake them"
    );
    assert_eq!(findings(&film), [expected]);
    // One guest alone is told of in the singular.
    assert!(findings(&supper(1).0)[0].starts_with("guest 0 (1v1) waits for another signal"));
}

#[test]
fn a_picture_distinguishes_signals_of_one_name_and_draws_what_nobody_hears_hollow() {
    let svg = supper(1).0.svg().to_string();
    assert!(svg.contains("innkeeper (2v1) emits supper #2"));
    assert!(svg.contains("nobody listens"));
    assert!(svg.contains("signal supper #1"));
    assert!(svg.contains("bar h4 endless"), "it waits to the end");
    // A single signal of a name needs no number.
    let svg = crate::support::scene().svg().to_string();
    assert!(svg.contains("signal lever") && !svg.contains("lever #"));
}

#[test]
fn a_wait_for_permits_names_the_script_that_holds_them_and_what_it_waits_for() {
    let (mut executor, recorder) = recorded();
    let oven = Semaphore::new(1).named("oven");
    let (first, second) = (oven.clone(), oven);
    let line = line!();
    executor.script("baker").start(async move {
        wait_frames(3).await;
        let _oven = first.acquire().await;
        wait_seconds(1_000).await;
    });
    executor.script("cook").start(async move {
        wait_frames(4).await;
        let _oven = second.acquire().await;
    });
    executor.run_frames(60, 0.25);
    let expected = format!(
        "cook (1v1) waits for a permit of oven since frame 4 (_:{}); held by baker (0v1) since \
         frame 3 (_:{}), which waits until 1000.75s",
        line + 8,
        line + 3
    );
    let whole = findings(&recorder.film());
    assert_eq!(whole, std::slice::from_ref(&expected));
    // A film that begins later knows it as well.
    assert_eq!(findings(&recorder.film().frames(30..=60)), [expected]);
}

#[test]
fn permits_that_have_been_dropped_are_held_by_nobody() {
    let (mut executor, recorder) = recorded();
    let oven = Semaphore::new(2).named("oven");
    let (first, second, third) = (oven.clone(), oven.clone(), oven.clone());
    executor.script("first").start(async move {
        let permit = first.acquire().await;
        next_frame().await;
        drop(permit);
        wait_seconds(1_000).await;
    });
    let stopped = executor.script("stopped").start(async move {
        let _permit = second.acquire().await;
        wait_seconds(1_000).await;
    });
    executor.run_frames(2, 0.25);
    stopped.stop();
    let many = executor.script("many").start(async move {
        let _both = third.acquire_many(2).await;
        wait_seconds(1_000).await;
    });
    executor
        .script("waits")
        .start(async move { drop(oven.acquire().await) });
    executor.run_frames(30, 0.25);
    let text = &findings(&recorder.film())[0];
    assert!(
        text.contains("; 2 held by many (2v1) since frame 2 (_:"),
        "{text}"
    );
    assert!(
        !text.contains("first") && !text.contains("stopped"),
        "{text}"
    );
    many.stop();
    executor.run_frames(30, 0.25);
    assert_eq!(findings(&recorder.film()), [""; 0]);
}

#[test]
fn a_cycle_of_joins_permits_and_watches_is_one_finding() {
    let (mut executor, recorder) = recorded();
    let oven = Semaphore::new(1).named("oven");
    let pantry = Watch::new(0).named("pantry");
    let (flour, sacks) = (pantry.clone(), pantry);
    let bakes = oven.clone();
    let line = line!();
    executor.script("baker").start(async move {
        let _oven = bakes.acquire().await;
        let errand = script("errand").start(async move {
            flour.wait_for(|flour| *flour > 1).await;
        });
        drop(errand.await);
    });
    executor.script("miller").start(async move {
        next_frame().await;
        sacks.set(1);
        let _oven = oven.acquire().await;
        sacks.set(2);
    });
    executor.run_frames(60, 0.25);
    let film = recorder.film();
    assert_eq!(film.findings()[0].kind, FindingKind::Cycle);
    let expected = format!(
        "baker (0v1) waits at _:{} for the end of errand (1v1), which waits at _:{} for watch \
         pantry, emitted by no other live script than miller (2v1), which waits at _:{} for a permit of oven, held \
         since frame 0 at _:{} by baker: a cycle since frame 1",
        line + 6,
        line + 4,
        line + 11,
        line + 2,
    );
    assert_eq!(findings(&film)[0], expected);
}

#[test]
fn a_script_that_waits_for_what_it_holds_itself_is_a_cycle() {
    let (mut executor, recorder) = recorded();
    let key = Semaphore::new(1).named("key");
    executor.script("smith").start(async move {
        let _first = key.acquire().await;
        let _second = key.acquire().await;
    });
    executor.run_frames(3, 0.25);
    let text = &findings(&recorder.film())[0];
    assert!(text.starts_with("smith (0v1) waits at _:"), "{text}");
    assert!(
        text.contains("for a permit of key, held since frame 0 at _:"),
        "{text}"
    );
    assert!(text.ends_with("by smith: a cycle since frame 0"), "{text}");
}

/// A grumbler leaves a race at frame 10; the guard comes at frame 13, or earlier.
fn grumbler(guard_at: u64, waits_again: bool) -> (Film, u32) {
    let (mut executor, recorder) = recorded();
    let here = Signal::<()>::new().named("guard.here");
    let comes = here.clone();
    let line = line!() + 2;
    executor.script("grumbler").start(async move {
        select! {
            () = wait_frames(10) => {}
            () = here.wait() => {}
        }
        if waits_again {
            here.wait().await;
        }
        wait_seconds(1_000).await;
    });
    executor.script("guard").start(async move {
        wait_frames(guard_at).await;
        comes.emit(());
    });
    executor.run_frames(40, 0.25);
    (recorder.film(), line)
}

#[test]
fn the_event_of_a_branch_that_has_lost_is_found_if_nobody_hears_it() {
    let (film, line) = grumbler(13, false);
    let expected = format!(
        "grumbler (0v1) left its race in frame 10 (_:{line}), because the wait for 10 frames won; \
         guard (1v1) emitted guard.here in frame 13 after _:{}, to nobody",
        line + 10
    );
    assert_eq!(film.findings()[0].kind, FindingKind::LostBranch);
    assert_eq!(findings(&film), [expected]);
    // It came in time, or to a script that waits again.
    assert_eq!(findings(&grumbler(5, false).0), [""; 0]);
    assert_eq!(findings(&grumbler(13, true).0), [""; 0]);
}

/// An owl waits for `dusk`, which the sun emits in frame 5; nobody emits `night`.
fn owl() -> (Executor, Recorder, impl Fn(&Executor)) {
    let (executor, recorder) = recorded();
    let dusk = Signal::<()>::new().named("dusk");
    let night = Signal::<()>::new().named("night");
    let heard = dusk.clone();
    let play = move |executor: &Executor| {
        let (heard, dusk, night) = (heard.clone(), dusk.clone(), night.clone());
        executor
            .script("owl")
            .start(async move { night.wait().await });
        executor.script("bat").start(async move {
            loop {
                heard.wait().await;
            }
        });
        executor.script("sun").start(async move {
            wait_frames(5).await;
            dusk.emit(());
            wait_seconds(1_000).await;
        });
    };
    (executor, recorder, play)
}

#[test]
fn a_film_that_is_filtered_or_cut_says_nothing_false() {
    let (mut executor, recorder, play) = owl();
    play(&executor);
    executor.run_frames(40, 0.25);
    let film = recorder.film();
    let whole = findings(&film.clone().only(&Filter::new().name("owl")));
    // The bat is hidden, and waits for dusk all the same.
    assert!(
        whole[0].starts_with("owl (0v1) waits for signal night"),
        "{whole:?}"
    );
    assert!(
        whole[0].contains("nobody has emitted it since"),
        "{whole:?}"
    );
    assert!(!whole[0].contains("dusk"), "{whole:?}");
    // What is hidden has no finding of its own.
    assert_eq!(whole.len(), 1);
    // The emission before a cut is known.
    let cut = findings(&film.frames(20..=40).only(&Filter::new().name("bat")));
    let emitted = "bat (1v1) waits for signal dusk since frame 5, and it was emitted for the last time before that, in frame 5";
    assert!(cut[0].starts_with(emitted), "{cut:?}");
}

#[test]
fn a_recorder_that_comes_late_or_leaves_out_scripts_says_so() {
    // One that records the owl only does not know what the others wait for.
    let (mut executor, _, play) = owl();
    let recorder = Recorder::new().only(Filter::new().name("owl"));
    recorder.watch(&executor);
    play(&executor);
    executor.run_frames(40, 0.25);
    let text = &findings(&recorder.film())[0];
    assert!(text.contains("nobody has emitted it since ("), "{text}");

    // One that comes late does not know what was emitted before.
    let (mut executor, _, play) = owl();
    play(&executor);
    let night = Signal::<()>::new().named("night too");
    executor.run_frames(20, 0.25);
    let recorder = Recorder::new();
    recorder.watch(&executor);
    executor
        .script("cat")
        .start(async move { night.wait().await });
    executor.run_frames(40, 0.25);
    let text = &findings(&recorder.film())[0];
    assert!(
        text.contains("waits for signal night too since frame 20, and nobody"),
        "{text}"
    );
}

#[test]
fn the_value_of_a_watch_is_in_findings_pictures_and_events() {
    let (mut executor, recorder) = recorded();
    let gold = Watch::new(3).named("gold").shown();
    let earn = gold.clone();
    executor
        .script("thief")
        .start(async move { gold.wait_for(|gold| *gold > 100).await });
    executor.script("miner").start(async move {
        for gold in [7, 40] {
            wait_frames(5).await;
            earn.set(gold);
        }
        wait_seconds(1_000).await;
    });
    executor.run_frames(40, 0.25);
    let film = recorder.film();
    let text = &findings(&film)[0];
    assert!(
        text.contains("; its value is 40; miner (1v1) set it last, in frame 10 after"),
        "{text}"
    );
    let svg = film.svg().to_string();
    assert!(
        svg.contains("its value: 40 in frame 10, before 7 in frame 5"),
        "{svg}"
    );
    assert!(
        film.frames(20..=40).findings()[0]
            .to_string()
            .contains("its value is 40")
    );
}

#[test]
fn a_lane_shows_its_last_five_waits_with_their_lines() {
    let (mut executor, recorder) = recorded();
    let line = line!();
    executor.script("hero").start(async {
        for _ in 0..9 {
            next_frame().await;
        }
        wait_frames(2).await;
        wait_seconds(1).await;
        wait_frames(3).await;
        wait_frames(4).await;
        wait_frames(1_000).await;
    });
    executor.run_frames(60, 0.25);
    let svg = plain(file!(), &recorder.film().svg().to_string());
    let expected = format!(
        "its last waits:\n\
         frame 9: for 2 frames at _:{}\n\
         frame 11: until 3.75s at _:{}\n\
         frame 15: for 3 frames at _:{}\n\
         frame 18: for 4 frames at _:{}\n\
         frame 22: for 1,000 frames at _:{}<",
        line + 5,
        line + 6,
        line + 7,
        line + 8,
        line + 9
    );
    assert!(svg.contains(&expected), "{svg}");
}

#[test]
fn polls_that_are_slow_beside_the_others_are_found() {
    let now = Rc::new(Cell::new(0));
    let clock = now.clone();
    let mut executor = Executor::new();
    let recorder = Recorder::new().stopwatch(move || Duration::from_micros(clock.get()));
    recorder.watch(&executor);
    let work = now.clone();
    let line = line!() + 3;
    executor.script("candles").start(async move {
        for number in 0..100 {
            next_frame().await;
            let took = if number % 25 == 24 { 2_000 } else { 15 };
            work.set(work.get() + took);
        }
        wait_seconds(1_000).await;
    });
    // Two slow polls may be the fault of another program.
    executor.script("moths").start(async move {
        for number in 0..100 {
            next_frame().await;
            now.set(now.get() + if number % 50 == 9 { 2_000 } else { 15 });
        }
        wait_seconds(1_000).await;
    });
    executor.run_frames(120, 0.25);
    let film = recorder.film();
    assert_eq!(film.findings()[0].kind, FindingKind::Outliers);
    let expected = format!(
        "candles (0v1) took up to 2.00 ms in 4 of its 101 polls, and 15.0 µs in most, after the \
         .await at _:{line}; in frames 25, 50, 75, 100"
    );
    assert_eq!(findings(&film), [expected]);
    assert_eq!(film.svg().to_string().matches("tick slow").count(), 4);
}

#[test]
fn a_mark_of_the_user_is_a_line_in_the_picture() {
    let run = |mark: Option<&str>| {
        let (mut executor, recorder) = recorded();
        executor.script("owl").start(wait_seconds(1_000));
        executor.run_frames(5, 0.25);
        if let Some(text) = mark {
            recorder.mark(text);
        }
        executor.run_frames(5, 0.25);
        recorder.film()
    };
    let film = run(Some("night <1>"));
    let svg = film.svg().to_string();
    assert!(svg.contains("night &lt;1&gt;\nframe 5, 1.25s"), "{svg}");
    assert_eq!(svg.matches("class=\"mark\"").count(), 1);
    // It is a part of the run: another one that has none differs.
    let difference = film.difference(&run(None)).unwrap();
    let left = difference.left.as_deref();
    assert_eq!((difference.frame, left), (5, Some("mark night <1>")));
}

#[test]
fn a_film_keeps_all_this_in_a_file_and_an_older_file_still_opens() {
    let (film, _) = supper(3);
    let text = serde_json::to_string(&film).unwrap();
    let read: Film = serde_json::from_str(&text).unwrap();
    assert_eq!(read, film);
    assert_eq!(findings(&read), findings(&film));

    // The version before has no identities, no permits and no emissions before the film.
    let mut parts: serde_json::Value = serde_json::from_str(&text).unwrap();
    let format = parts["framestep_timeline"].as_u64().unwrap();
    parts["framestep_timeline"] = (format - 99).into();
    for field in ["sources", "is_filtered"] {
        parts.as_object_mut().unwrap().remove(field);
    }
    for field in ["held", "emitted"] {
        parts["base"].as_object_mut().unwrap().remove(field);
    }
    let old: Film = serde_json::from_value(parts.clone()).unwrap();
    assert_eq!(old.scripts(), film.scripts());

    parts["framestep_timeline"] = 7_777.into();
    let error = serde_json::from_value::<Film>(parts)
        .unwrap_err()
        .to_string();
    let expected = format!(
        "this film has format 7777; this version of framestep_timeline reads format {format}"
    );
    assert_eq!(error, expected);
}

#[test]
fn sources_that_nothing_refers_to_are_forgotten() {
    let mut executor = Executor::new();
    let recorder = Recorder::new().keep_frames(4);
    recorder.watch(&executor);
    executor.script("spawner").start(async {
        loop {
            for _ in 0..20 {
                let signal = Signal::<()>::new().named("scene");
                let waits = signal.clone();
                start(async move { waits.wait().await });
                signal.emit(());
            }
            next_frame().await;
        }
    });
    executor.run_frames(2_000, 0.25);
    // 40,000 signals; the last thousand emissions are known.
    let bytes = recorder.bytes();
    assert!(bytes < 2_000_000, "{bytes}");
    assert!(serde_json::to_string(&recorder.film()).unwrap().len() < 2_000_000);
}
