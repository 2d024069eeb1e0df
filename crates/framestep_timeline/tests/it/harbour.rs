//! Events that come too early, permits that are not given back, values that are passed, stops by
//! an owner, and two clocks: what the findings and the pictures say about them.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;

use framestep::prelude::*;
use framestep_timeline::{Film, Filter, FindingKind};

use crate::support::{plain, recorded};

/// The findings of a film, without the folder and the columns of places.
fn findings(film: &Film) -> Vec<String> {
    let findings = film.findings();
    findings
        .iter()
        .map(|it| plain(file!(), &it.to_string()))
        .collect()
}

/// Each night, a boy emits `tip` after `walk` frames. The officer comes home after `home` frames,
/// and waits for it for ten frames.
fn nights(nights: u64, walk: u64, home: u64) -> (Film, u32) {
    let (mut executor, recorder) = recorded();
    let tip = Signal::<()>::new().named("tip");
    let tells = tip.clone();
    let line = line!();
    executor.script("boy").start(async move {
        for _ in 0..nights {
            wait_frames(walk).await;
            tells.emit(());
            wait_frames(40 - walk).await;
        }
        wait_seconds(1_000).await;
    });
    executor.script("officer").start(async move {
        for _ in 0..nights {
            wait_frames(home).await;
            let night = timeout(2.5, tip.wait()).await;
            wait_frames(if night.is_ok() { 40 - walk } else { 30 - home }).await;
        }
        wait_seconds(1_000).await;
    });
    executor.run_frames(40 * nights, 0.25);
    (recorder.film(), line)
}

#[test]
fn an_event_is_missed_again_and_again_shortly_before_the_wait_for_it() {
    let (film, line) = nights(3, 7, 12);
    assert_eq!(film.findings()[0].kind, FindingKind::MissedEvent);
    let expected = format!(
        "boy (0v1) emitted tip after _:{} in frames 7, 47, 87, each time while nobody waited for \
         it: officer (1v1) began to wait for it 5 frames later (_:{}), and got none of them",
        line + 3,
        line + 12
    );
    assert_eq!(findings(&film), [expected]);
    // In time, or too early by more than a second: then the one has nothing to do with the other.
    assert_eq!(findings(&nights(3, 12, 7).0), [""; 0]);
}

/// A lever emits `gate` in these frames. A keeper waits for it from frame 5 on, again and again.
fn gate(emissions: &'static [u64], rounds: u32) -> Vec<String> {
    let (mut executor, recorder) = recorded();
    let gate = Signal::<()>::new().named("gate");
    let opens = gate.clone();
    executor.script("lever").start(async move {
        for frame in emissions {
            wait_until(move || time().frame == *frame).await;
            opens.emit(());
        }
        wait_seconds(1_000).await;
    });
    executor.script("keeper").start(async move {
        wait_frames(5).await;
        for _ in 0..rounds {
            gate.wait().await;
            wait_frames(3).await;
        }
        wait_seconds(1_000).await;
    });
    executor.run_frames(60, 0.25);
    findings(&recorder.film())
}

#[test]
fn an_event_that_is_missed_once_counts_if_the_waiter_gets_no_other() {
    let missed = &gate(&[2], 1)[..];
    assert!(
        missed[0].starts_with("lever (0v1) emitted gate after _:")
            && missed[0].contains(" in frame 2, while nobody waited for it: keeper (1v1) began to wait for it 3 frames later (_:")
            && missed[0].ends_with("), and still waits"),
        "{missed:?}"
    );
    // The wait is told of once.
    assert_eq!(missed.len(), 1);
    // It gets the next one.
    assert_eq!(gate(&[2, 9], 1), [""; 0]);
    // A beat that is emitted in each frame is missed often, and heard soon.
    assert_eq!(gate(&[2, 3, 4, 6, 7, 8, 10, 12, 13, 14], 2), [""; 0]);
}

/// A skua takes one of two permits, passes it on, and ends. `gives_back`: in that frame, somebody
/// drops it.
fn cranes(gives_back: Option<u64>, waiters: bool) -> (Film, u32) {
    let (mut executor, recorder) = recorded();
    let cranes = Semaphore::new(2).named("cranes");
    let shelf = Rc::new(RefCell::new(None));
    let (keeps, takes) = (cranes.clone(), shelf.clone());
    let line = line!();
    executor.script("skua").start(async move {
        next_frame().await;
        *takes.borrow_mut() = Some(keeps.acquire().await);
        wait_frames(4).await;
    });
    executor.script("porter").start(async move {
        wait_until(move || Some(time().frame) == gives_back).await;
        shelf.take();
    });
    for number in 0..3 {
        let cranes = cranes.clone();
        executor.script(format!("ship {number}")).start(async move {
            wait_frames(if waiters { 6 } else { 6 + 13 * number }).await;
            let _crane = cranes.acquire().await;
            wait_frames(12).await;
        });
    }
    executor.run_frames(60, 0.25);
    (recorder.film(), line)
}

#[test]
fn a_permit_that_nobody_gives_back_after_its_taker_has_ended_is_found() {
    let (film, line) = cranes(None, true);
    let expected = format!(
        "skua (0v1) took a permit of cranes in frame 1 (_:{}) and ended in frame 5, and nobody has \
         given it back; scripts have waited for long for one 2 times since, the longest ship 2 \
         (4v1): 24 frames, since frame 6",
        line + 3
    );
    let found = film.findings();
    assert_eq!(found[0].kind, FindingKind::LostPermits);
    assert_eq!(findings(&film)[0], expected);
    // A part of the film knows it, before and after.
    assert_eq!(findings(&film.clone().frames(30..=50))[0], expected);
    // It is no fault if somebody gives it back, or if nobody has to wait.
    let none = |film: &Film| {
        let found = film.findings();
        found.iter().all(|it| it.kind != FindingKind::LostPermits)
    };
    assert!(none(&cranes(Some(20), true).0));
    assert!(none(&cranes(None, false).0));
    // From a file, the part does not know what comes later.
    let text = serde_json::to_string(&film.frames(0..=30)).unwrap();
    assert!(none(&serde_json::from_str(&text).unwrap()));
}

/// Boats go out when the tide is `wanted`. The tide rises by `step` in each round.
fn tide(step: i32, wanted: fn(&i32) -> bool) -> (Film, u32) {
    let (mut executor, recorder) = recorded();
    let tide = Watch::new(0).named("tide").shown();
    let water = tide.clone();
    executor.script("moon").start(async move {
        for round in 0..6 {
            for hour in 0..5 {
                wait_frames(3).await;
                water.set(if round < 3 { hour } else { hour * step - 1 });
            }
        }
        wait_seconds(1_000).await;
    });
    let line = line!() + 6;
    for number in 0..2 {
        let tide = tide.clone();
        executor.script(format!("boat {number}")).start(async move {
            loop {
                wait_frames(2).await;
                tide.wait_for(wanted).await;
                wait_frames(7).await;
            }
        });
    }
    executor.run_frames(95, 0.25);
    (recorder.film(), line)
}

#[test]
fn a_watch_whose_value_passes_that_for_which_scripts_wait_is_found() {
    let (film, line) = tide(2, |water| *water == 2);
    let expected = format!(
        "boat 0 (1v1) and 1 more wait for watch tide since frame 48 (_:{line}), while it was set \
         14 times; earlier waits there ended after 3 at most, when it was 2; since then it was \
         1, 3, 5, 7, -1"
    );
    assert_eq!(film.findings()[0].kind, FindingKind::PassedValue);
    assert_eq!(findings(&film), [expected]);
    // One that takes what is at least as high is served.
    assert_eq!(findings(&tide(2, |water| *water >= 2).0), [""; 0]);
}

/// A mayor has an owner for his parade. A marshal of it replaces the lamplighter of the streets.
fn parade(inherits: bool) -> (Film, u32) {
    let (mut executor, recorder) = recorded();
    let streets = executor.owner().named("streets");
    let lamps = streets
        .script("lamplighter")
        .start(wait_seconds(1_000))
        .stop_on_drop();
    let lamps = Rc::new(Cell::new(Some(lamps)));
    streets.script("cat").start(wait_seconds(1_000));
    let handle = streets.handle();
    let kept = lamps.clone();
    let line = line!();
    executor.script("mayor").start(async move {
        wait_frames(2).await;
        let parade = owner().named("parade");
        parade.script("marshal").start(async move {
            next_frame().await;
            drop(lamps.take());
            let new = if inherits {
                script("lamplighter").start(wait_seconds(1_000))
            } else {
                handle.script("lamplighter").start(wait_seconds(1_000))
            };
            lamps.set(Some(new.stop_on_drop()));
        });
        wait_frames(9).await;
        drop(parade);
        wait_seconds(1_000).await;
    });
    executor.run_frames(20, 0.25);
    let film = recorder.film();
    drop(kept);
    (film, line)
}

#[test]
fn a_script_that_ends_with_an_owner_that_it_has_got_from_its_parent_is_found() {
    let (film, line) = parade(true);
    let expected = format!(
        "lamplighter (0v2) was stopped in frame 11 by mayor (2v1) after _:{}; no script of its \
         owner parade is left; it got that owner from marshal (3v1), which started it (_:{}) in \
         the place of lamplighter (0v1), one of streets",
        line + 14,
        line + 8
    );
    assert_eq!(film.findings()[0].kind, FindingKind::StoppedWithOwner);
    assert_eq!(findings(&film), std::slice::from_ref(&expected));
    let svg = plain(file!(), &film.svg().to_string());
    let hover = format!(
        "lamplighter (0v2) stopped\nframe 11, 2.75s, Update\nby mayor (2v1) after _:{}; no script \
         of its owner parade is left<",
        line + 14
    );
    assert!(svg.contains(&hover), "{svg}");
    // The one before was stopped by the marshal, and its owner has others.
    assert!(
        svg.contains(&format!("by marshal (3v1) after _:{}<", line + 5)),
        "{svg}"
    );
    // It is in the parts that have that frame.
    assert_eq!(findings(&film.clone().frames(5..=15)), [expected]);
    assert_eq!(findings(&film.frames(12..=15)), [""; 0]);
    assert_eq!(findings(&parade(false).0), [""; 0]);
}

/// A ferry waits on the game clock, and on realtime for the night. The game runs faster in the
/// second night, if `sleeps`.
fn ferry(sleeps: bool) -> Film {
    let (mut executor, recorder) = recorded();
    executor.script("ferry").start(async {
        loop {
            wait_seconds(1).await;
            wait_seconds(2).await;
            wait_seconds_realtime(4).await;
        }
    });
    executor.run_frames(40, 0.25);
    executor.clock().set_scale(if sleeps { 4.0 } else { 1.0 });
    executor.run_frames(40, 0.25);
    recorder.film()
}

#[test]
fn a_wait_on_another_clock_than_the_others_is_dashed_and_found_if_the_clocks_differ() {
    let film = ferry(true);
    let text = &findings(&film)[0];
    assert_eq!(film.findings()[0].kind, FindingKind::OtherClock);
    assert!(
        text.starts_with("ferry (0v1) waits on realtime (_:")
            && text.contains("), and elsewhere on the game clock: on the game clock, its ")
            && text.ends_with(" waits there took 4.00 s to 16.0 s"),
        "{text}"
    );
    let film = ferry(false);
    assert_eq!(findings(&film), [""; 0]);
    let svg = film.svg().to_string();
    let odd = svg.matches("class=\"bar h1 odd\"").count();
    let bars = svg.matches("class=\"bar h1").count();
    assert_eq!((odd, bars), (4, 11), "with the legend");
    // A part in which it waits on the one clock only knows the others.
    let part = film.clone().frames(14..=20).svg().to_string();
    assert_eq!(part.matches("class=\"bar h1 odd\"").count(), 2);
    assert!(svg.contains("timer on another clock than usual"));
    assert!(svg.contains(">realtime, until "), "{svg}");
}

#[test]
fn a_part_of_a_film_does_not_say_that_what_ends_later_never_ends() {
    let (mut executor, recorder) = recorded();
    let gate = Signal::<()>::new().named("gate");
    let opens = gate.clone();
    let boat = executor.script("boat").start(wait_seconds(1_000));
    executor.script("keeper").start(async move {
        gate.wait().await;
        wait_seconds(1_000).await;
    });
    executor.script("menu").start(async move {
        wait_frames(3).await;
        boat.pause();
        wait_frames(30).await;
        boat.resume();
        opens.emit(());
        wait_seconds(1_000).await;
    });
    executor
        .script("lost")
        .start(async { std::future::pending::<()>().await });
    executor.run_frames(50, 0.25);
    let film = recorder.film();
    let whole = findings(&film);
    assert_eq!(whole.len(), 1, "{whole:?}");
    let part = film.clone().frames(5..=25);
    assert_eq!(findings(&part), whole);
    let svg = part.svg().to_string();
    assert_eq!(svg.matches("endless\"").count(), 2, "lost, and the legend");
    // So does a part of the part, and with fewer scripts.
    assert_eq!(findings(&part.clone().frames(10..=22)), whole);
    let few = part.clone().only(&Filter::new().name("boat"));
    assert_eq!(findings(&few), [""; 0]);
    // A file has the part only.
    let text = serde_json::to_string(&part).unwrap();
    let read: Film = serde_json::from_str(&text).unwrap();
    assert_eq!(findings(&read), [""; 0]);
    assert_eq!(findings(&read.frames(10..=22)), [""; 0]);
    let text = serde_json::to_string(&film.frames(5..=50)).unwrap();
    let read: Film = serde_json::from_str(&text).unwrap();
    assert_eq!(findings(&read), whole);
}

#[test]
fn a_wait_in_another_crate_shows_a_line_of_the_script_before_it() {
    let (mut executor, recorder) = recorded();
    let gate = Signal::<()>::new().named("gate");
    let line = line!() + 1;
    executor.script("keeper").start(async move {
        // The standard library polls the wait, and does not pass the line on.
        pin!(gate.wait()).as_mut().await;
    });
    executor.run_frames(30, 0.25);
    let film = recorder.film();
    let found = &film.findings()[0];
    let expected = format!("(_:{line}, in core/src/future/future.rs:");
    let text = plain(file!(), &found.to_string());
    assert!(text.contains(&expected), "{text}");
    let place = plain(file!(), &found.place.clone().unwrap());
    assert_eq!(place, format!("_:{line}"));
    let still = film.at(9).unwrap();
    let place = still.get("keeper").unwrap().waits[0].place.clone().unwrap();
    assert!(
        plain(file!(), &place).starts_with(&expected[1..]),
        "{place}"
    );
}

#[test]
fn lanes_that_have_something_to_say_come_before_busy_ones() {
    let (mut executor, recorder) = recorded();
    for number in 0..40 {
        executor.script(format!("busy {number}")).start(async {
            loop {
                next_frame().await;
            }
        });
    }
    let bell = Signal::<()>::new().named("bell");
    executor.script("ringer").start(async move {
        next_frame().await;
        bell.emit(());
        wait_seconds(1_000).await;
    });
    executor.script("sleeper").start(async {
        for frames in [1, 1, 45] {
            for _ in 0..2 {
                wait_frames(frames).await;
            }
        }
    });
    let stopped = executor.script("stopped").start(wait_seconds(1_000));
    executor.script("quiet").start(wait_seconds(1_000));
    executor.run_frames(5, 0.25);
    stopped.stop();
    executor.run_frames(100, 0.25);
    let film = recorder.film();
    let svg = film.svg().most_lanes(10).to_string();
    for (name, is_shown) in [
        ("ringer", true),
        ("sleeper", true),
        ("stopped", true),
        ("quiet", false),
        ("busy 39", false),
    ] {
        assert_eq!(svg.contains(&format!(">{name}<")), is_shown, "{name}");
    }
    assert!(svg.contains("34 of them not shown: most_lanes(44) shows all"));
    let page = film.html().most_lanes(44).to_string();
    assert!(page.contains(">quiet<") && !page.contains("not shown"));
}
