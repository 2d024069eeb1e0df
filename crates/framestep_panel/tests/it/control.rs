//! Pausing, stepping, stopping, and lines.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep_panel::Panel;

use crate::{DT, opened, run};

#[test]
fn the_game_is_paused_and_stepped_by_a_frame() {
    let (mut executor, mut panel) = opened();
    run(&mut executor, &mut panel, 2);
    panel.set_paused(true);
    run(&mut executor, &mut panel, 5);
    assert_eq!(executor.time().frame, 2);
    panel.one_frame();
    run(&mut executor, &mut panel, 5);
    assert_eq!(executor.time().frame, 3);
    panel.set_paused(false);
    run(&mut executor, &mut panel, 1);
    assert_eq!(executor.time().frame, 4);
}

#[test]
fn one_step_takes_several_frames_of_an_engine_that_has_its_own_clock() {
    let mut executor = Executor::builder().fixed_delta(0.625).build();
    let mut panel = Panel::new();
    panel.open();
    panel.look(&executor);
    panel.set_paused(true);
    let steps = executor.start(wait_steps(2));
    let mut frames = Vec::new();
    for _ in 0..2 {
        panel.one_step();
        for _ in 0..5 {
            if panel.speed_of_frame().is_some() {
                executor.run_frame(DT);
            }
            panel.look(&executor);
        }
        frames.push(executor.time().frame);
    }
    assert_eq!(frames, [3, 5]);
    assert!(steps.is_finished());
}

#[test]
fn one_step_ends_at_the_next_fixed_step() {
    let mut executor = Executor::builder().fixed_delta(0.3125).build();
    let mut panel = Panel::new();
    panel.open();
    run(&mut executor, &mut panel, 1);
    let steps = executor.start(wait_steps(3));
    for step in 1..=3 {
        panel.one_step();
        run(&mut executor, &mut panel, 2);
        assert_eq!(executor.time().frame, 1 + step);
    }
    assert!(steps.is_finished());
}

#[test]
fn slow_motion_scales_every_dt() {
    let mut panel = Panel::new();
    panel.open();
    panel.set_speed(0.25);
    assert_eq!(panel.dt(1.0_f32), Some(0.25));
    assert_eq!(panel.dt(1.0_f64), Some(0.25));
    assert_eq!(
        panel.dt(Duration::from_secs(1)),
        Some(Duration::from_millis(250))
    );
    panel.shift_speed(true);
    assert_eq!(panel.pace().speed.to_string(), "0.5");
    for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        panel.set_speed(nonsense);
        assert_eq!(panel.pace().speed.to_string(), "0.5");
    }
    (0..99).for_each(|_| panel.shift_speed(false));
    assert!(panel.pace().speed > 0.0);
}

#[test]
fn scripts_are_stopped_and_paused_in_the_next_look() {
    let (mut executor, mut panel) = opened();
    let door = executor.start(wait_seconds(9));
    panel.pause(door.id());
    assert!(!door.is_paused());
    run(&mut executor, &mut panel, 1);
    assert!(door.is_paused());
    panel.resume(door.id());
    run(&mut executor, &mut panel, 1);
    assert!(!door.is_paused());
    panel.stop(door.id());
    panel.stop(door.id());
    run(&mut executor, &mut panel, 1);
    assert!(door.is_finished());
    assert_eq!(panel.shown().unwrap().scripts().len(), 0);
}

#[test]
fn a_line_is_opened_by_the_host_or_copied() {
    let (mut executor, mut panel) = opened();
    let (door, line) = (executor.start(async { wait_seconds(9).await }), line!());
    run(&mut executor, &mut panel, 1);
    let at = panel
        .shown()
        .unwrap()
        .script(door.id())
        .unwrap()
        .line()
        .unwrap();
    assert_eq!(at.line(), line);
    assert_eq!(panel.open_line(at), Some(at.to_string()));
    let opened = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&opened);
    panel.on_line(move |at| log.borrow_mut().push(at.line()));
    assert_eq!(panel.open_line(at), None);
    assert_eq!(*opened.borrow(), [line]);
}

#[test]
fn only_a_host_that_offers_it_is_asked_to_restart() {
    let mut panel = Panel::new();
    panel.restart();
    assert!(!panel.take_restart());
    panel.offer_restart();
    panel.restart();
    assert!(panel.take_restart());
    assert!(!panel.take_restart());
    assert_eq!(panel.dt(DT), Some(DT));
}
