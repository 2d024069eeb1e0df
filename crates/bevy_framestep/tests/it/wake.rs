//! Apps that sleep while nothing happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::next_frame_in;
use bevy_framestep::prelude::*;
use futures::channel::oneshot;

use super::{app, app_with, log, take_log};

#[derive(Message, Clone)]
struct Ping;

#[derive(Event, Clone)]
struct Knock;

/// An app, and how often it was woken.
fn sleepy_app() -> (App, Arc<AtomicU32>) {
    let wakes = Arc::new(AtomicU32::new(0));
    let counter = wakes.clone();
    let mut app = app_with(FramestepPlugin::default().wake_with(move |world| {
        assert!(world.contains_resource::<super::Log>(), "all is there");
        let wakes = counter.clone();
        move || {
            wakes.fetch_add(1, Ordering::Relaxed);
        }
    }));
    app.add_message::<Ping>();
    app.finish();
    (app, wakes)
}

/// How often it was woken by the frame and since.
fn woken(wakes: &AtomicU32) -> u32 {
    wakes.swap(0, Ordering::Relaxed)
}

/// Once after each frame that ends with a script waiting for the next frame.
#[test]
fn as_long_as_a_script_is_awake() {
    let (mut app, wakes) = sleepy_app();
    app.update();
    assert_eq!(woken(&wakes), 0);
    app.world_mut().start_script(|| wait_frames(3));
    assert_eq!(woken(&wakes), 1, "it was started outside of a frame");
    let frames: Vec<u32> = (0..4)
        .map(|_| {
            app.update();
            woken(&wakes)
        })
        .collect();
    assert_eq!(frames, [1, 1, 0, 0]);
}

/// Calls from another thread wake the app, once until the next frame.
#[test]
fn from_another_thread() {
    let (mut app, wakes) = sleepy_app();
    let senders: Vec<oneshot::Sender<()>> = (0..2)
        .map(|_| {
            let (sender, receiver) = oneshot::channel();
            app.world_mut().start_script(move || async move {
                receiver.await.unwrap();
                log(format!("frame {}", time().frame));
            });
            sender
        })
        .collect();
    app.update();
    woken(&wakes);
    let sends = move || {
        for sender in senders {
            sender.send(()).unwrap();
        }
    };
    thread::spawn(sends).join().unwrap();
    assert_eq!(woken(&wakes), 1);
    app.update();
    assert_eq!(take_log(&mut app), ["frame 2", "frame 2"]);
    assert_eq!(woken(&wakes), 0);
}

/// Scripts that systems wake in a frame run in it, and need no other frame.
#[test]
fn wakes_in_a_frame() {
    let (mut app, wakes) = sleepy_app();
    app.world_mut().start_script(|| async {
        loop {
            next_event::<Knock>().await;
            log(format!("frame {}", time().frame));
        }
    });
    app.add_systems(Update, |mut commands: Commands| commands.trigger(Knock));
    woken(&wakes);
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["frame 1", "frame 2"]);
    assert_eq!(woken(&wakes), 0);
}

/// A condition is checked in each frame, and a message that a script has written is read in
/// the next one.
#[test]
fn conditions_and_messages() {
    let (mut app, wakes) = sleepy_app();
    app.world_mut().start_script(|| async {
        next_message::<Ping>().await;
        log(format!("ping in frame {}", time().frame));
    });
    app.world_mut().start_script(|| async {
        wait_until_world(|_| true).await;
        write_message(Ping);
    });
    woken(&wakes);
    assert_eq!(next_frame_in(app.world()), Some(Duration::ZERO));
    app.update();
    assert_eq!(take_log(&mut app), [""; 0]);
    assert_eq!(woken(&wakes), 1);
    app.update();
    assert_eq!(take_log(&mut app), ["ping in frame 2"]);
    assert_eq!(woken(&wakes), 0);
    assert_eq!(next_frame_in(app.world()), None);
}

/// A condition that a script waits for since it was started outside of a frame, once until
/// the next frame.
#[test]
fn a_condition_outside_of_a_frame() {
    let (mut app, wakes) = sleepy_app();
    app.update();
    woken(&wakes);
    for _ in 0..2 {
        app.world_mut()
            .start_script(|| wait_until_world(World::contains_resource::<super::Log>));
    }
    assert_eq!(woken(&wakes), 1);
    app.update();
    assert_eq!(woken(&wakes), 0);
    assert_eq!(super::alive(&app), 0);
}

/// A timer wakes the app when it is due. This waits as long as that takes.
#[test]
fn timers() {
    let (woken, wakes) = mpsc::channel();
    let mut app = app_with(FramestepPlugin::default().wake_with(move |_| {
        let woken = woken.clone();
        move || {
            woken
                .send(thread::current().name().map(str::to_string))
                .unwrap();
        }
    }));
    app.finish();
    app.world_mut().start_script(|| async {
        wait_seconds(Duration::from_nanos(1)).await;
        log("due");
        wait_seconds(60).await;
    });
    wakes.recv().unwrap();
    app.update();
    let alarm = wakes.recv().unwrap();
    assert_eq!(alarm.as_deref(), Some("framestep alarm"));
    app.update();
    assert_eq!(take_log(&mut app), ["due"]);
    // The thread ends with the app, and the callback with it.
    drop(app);
    assert!(wakes.recv().is_err());
}

/// The callback panics when the first timer is due. The thread goes on for the next one.
#[test]
fn a_panic_of_the_callback_is_not_the_last_alarm() {
    let (woken, wakes) = mpsc::channel();
    let has_panicked = Arc::new(AtomicBool::new(false));
    let mut app = app_with(FramestepPlugin::default().wake_with(move |_| {
        let (woken, has_panicked) = (woken.clone(), has_panicked.clone());
        move || {
            if thread::current().name() == Some("framestep alarm") {
                woken.send(()).unwrap();
                let is_second = has_panicked.swap(true, Ordering::Relaxed);
                assert!(is_second, "the first alarm");
            }
        }
    }));
    app.finish();
    app.world_mut().start_script(|| async {
        loop {
            wait_seconds(0.05).await;
        }
    });
    for _ in 0..2 {
        app.update();
        wakes.recv_timeout(Duration::from_mins(1)).unwrap();
    }
}

#[test]
fn when_the_next_frame_is_needed() {
    let mut app = app();
    assert_eq!(next_frame_in(app.world()), None);
    app.world_mut().start_script(|| async {
        wait_seconds(0.5).await;
        in_phase(Phase::LateUpdate).await;
        timeout(1, wait_until_world(|_| false)).await.unwrap_err();
    });
    let half = Duration::from_millis(500);
    assert_eq!(next_frame_in(app.world()), Some(half));
    app.update();
    assert_eq!(next_frame_in(app.world()), Some(half));
    app.update();
    assert_eq!(next_frame_in(app.world()), Some(half / 2));
    app.update();
    assert_eq!(next_frame_in(app.world()), Some(Duration::ZERO));
    for _ in 0..4 {
        app.update();
    }
    assert_eq!(next_frame_in(app.world()), None);
}
