//! A guard: walks from post to post, on fixed steps.

use framestep::prelude::*;

use crate::stage::say;

/// In meters per second.
const SPEED: f32 = 1.5;

pub(crate) async fn walk(posts: Vec<f32>) {
    let mut x = 0.0;
    for &post in posts.iter().cycle() {
        walk_to(&mut x, post).await;
        say("guard", &format!("is at {x:.1} m"));
        wait_seconds(0.5).in_phase(Phase::FixedUpdate).await;
    }
}

/// Moves by the same length in every fixed step, whatever the frame rate.
async fn walk_to(x: &mut f32, post: f32) {
    loop {
        fixed_update().await;
        let step = delta_seconds() * SPEED;
        let left = post - *x;
        if left.abs() <= step {
            *x = post;
            return;
        }
        *x += step.copysign(left);
    }
}
