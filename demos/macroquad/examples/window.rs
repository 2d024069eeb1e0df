//! The guide's smallest program for macroquad: docs/guide/engines.md.

use framestep::next_frame; // macroquad has one, too: this one is for scripts
use framestep::prelude::*;
use macroquad::prelude::*;

#[derive(Default)]
struct World {
    ball: Vec2,
    clicked: Signal<Vec2>,
}

/// Rolls to each place that is clicked, in half a second, and rests for a frame.
async fn ball() {
    let clicked = with_ref(|world: &World| world.clicked.clone());
    loop {
        let to = clicked.wait().await;
        let from = with_ref(|world: &World| world.ball);
        let roll = |t| with(|world: &mut World| world.ball = from.lerp(to, t));
        animate(0.5, roll).await;
        next_frame().await;
    }
}

#[macroquad::main("ball")]
async fn main() {
    let mut world = World::default();
    let mut executor = Executor::new();
    executor.spawn(ball());
    loop {
        if is_mouse_button_pressed(MouseButton::Left) {
            world.clicked.emit(mouse_position().into());
        }
        executor.lend(&mut world, |executor| executor.run_frame(get_frame_time()));
        clear_background(BLACK);
        draw_circle(world.ball.x, world.ball.y, 20.0, SKYBLUE);
        macroquad::window::next_frame().await; // macroquad's
    }
}
