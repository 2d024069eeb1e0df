//! Two scales and a pause: the model is a sum over the frames.

use super::*;

#[derive(Clone, Copy)]
struct Setting {
    game_scale: f64,
    child_scale: f64,
    game_paused: bool,
    child_paused: bool,
}

impl Setting {
    fn game(self) -> f64 {
        if self.game_paused {
            0.0
        } else {
            self.game_scale
        }
    }

    fn child(self) -> f64 {
        let own = if self.child_paused {
            0.0
        } else {
            self.child_scale
        };
        self.game() * own
    }
}

fn put(clock: &Clock, scale: f64, paused: bool) {
    clock.set_scale(scale);
    if paused {
        clock.pause();
    } else {
        clock.resume();
    }
}

#[test]
fn every_setting_followed_by_every_other() {
    let mut settings = Vec::new();
    for game_scale in [0.0, 0.25, 1.0, 2.0] {
        for child_scale in [0.0, 0.5, 1.0, 4.0] {
            for (game_paused, child_paused) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                settings.push(Setting {
                    game_scale,
                    child_scale,
                    game_paused,
                    child_paused,
                });
            }
        }
    }
    for &first in &settings {
        for (i, &second) in settings.iter().enumerate() {
            follow(first, second, 1 + u32::try_from(i % 3).unwrap());
        }
    }
}

/// Six frames; `second` holds from the frame after `change` on.
fn follow(first: Setting, second: Setting, change: u32) {
    let (mut executor, child) = with_child();
    let game = executor.clock();
    put(&game, first.game_scale, first.game_paused);
    put(&child, first.child_scale, first.child_paused);
    let (mut game_s, mut child_s, mut real_s) = (0.0, 0.0, 0.0);
    for frame in 1..=6_u32 {
        let now = if frame <= change { first } else { second };
        let dt = 0.25 * f64::from(frame);
        let delta = [dt * now.game(), dt * now.child()];
        game_s += delta[0];
        child_s += delta[1];
        real_s += dt;
        executor.begin_frame(dt);
        if frame == change {
            put(&game, second.game_scale, second.game_paused);
            put(&child, second.child_scale, second.child_paused);
        }
        let time = executor.time();
        assert!(is(time.elapsed.as_secs_f64(), game_s));
        assert!(is(time.delta.as_secs_f64(), delta[0]));
        assert!(is(time.scale, now.game()));
        assert!(is(time.unscaled_elapsed.as_secs_f64(), real_s));
        assert!(is(child.now().as_secs_f64(), child_s));
        assert!(is(child.delta().as_secs_f64(), delta[1]));
        assert!(is(child.effective_scale(), now.child()));
    }
}

#[test]
fn a_pause_is_a_flag() {
    let (mut executor, child) = with_child();
    assert!(!child.is_paused() && !child.resume());
    assert!(child.pause() && !child.pause());
    child.set_scale(2);
    assert!(child.is_paused());
    assert!(is(child.scale(), 2.0));
    executor.begin_frame(1);
    assert!(is(child.effective_scale(), 0.0));
    assert!(child.resume() && !child.resume());
    executor.begin_frame(1);
    assert_eq!(child.now(), millis(2000));
    assert!(executor.clock().pause());
    assert!(!child.is_paused());
}
