//! A game without a player: balls that jump, each with its own script. And a gate that stays shut:
//! the panel says why.

use framestep::inspect::describe;
use framestep::prelude::*;
use macroquad::prelude::{
    BLACK, Color, clear_background, draw_circle, draw_line, draw_rectangle_lines, screen_height,
    screen_width,
};

const COUNT: u8 = 9;

pub(crate) struct Balls {
    heights: [f32; COUNT as usize],
    glow: f32,
    /// How far the gate is open: from 0 to 1.
    gate: f32,
    /// It holds the scripts.
    _owner: Owner,
    _castle: Owner,
}

impl Balls {
    pub(crate) fn new(executor: &Executor) -> Self {
        let owner = executor.owner().named("balls");
        let whistle = Signal::new().named("whistle");
        let blown = whistle.clone();
        executor.script("whistle").spawn(async move {
            loop {
                wait_seconds(3).await;
                blown.emit(());
            }
        });
        for number in 0..COUNT {
            let script = owner.script(format!("ball {number}"));
            script.spawn(jump(number, whistle.clone()));
        }
        executor.script("glow").spawn(glow());
        let castle = owner.child().named("castle");
        let opened = Signal::new().named("gate opened");
        castle.script("gatekeeper").spawn(keep(opened));
        let open = Signal::new().named("gate open");
        castle.script("winch").spawn(wind(open));
        Balls {
            heights: [0.0; COUNT as usize],
            glow: 0.0,
            gate: 0.0,
            _owner: owner,
            _castle: castle,
        }
    }

    pub(crate) fn draw(&self) {
        clear_background(BLACK);
        let floor = screen_height() - 60.0;
        draw_line(
            0.0,
            floor,
            4000.0,
            floor,
            2.0,
            Color::new(0.4, 0.4, 0.5, 1.0),
        );
        let mut x = 60.0;
        for height in self.heights {
            let colour = Color::new(0.9, 0.5 + 0.4 * self.glow, 0.3, 1.0);
            draw_circle(x, floor - 20.0 - height, 20.0, colour);
            x += 90.0;
        }
        let (left, top) = (screen_width() - 120.0, floor - 120.0);
        let stone = Color::new(0.5, 0.5, 0.6, 1.0);
        draw_rectangle_lines(left, top, 80.0, 120.0, 8.0, stone);
        for bar in 0..5_u8 {
            let x = left + 12.0 + 14.0 * f32::from(bar);
            draw_line(x, top, x, floor - 110.0 * self.gate, 3.0, stone);
        }
    }
}

/// Opens the gate. Nothing emits its signal: the winch emits another one, by mistake.
async fn keep(opened: Signal<()>) {
    describe("waits for the winch");
    opened.wait().await;
    animate(2, |part| with(|balls: &mut Balls| balls.gate = part)).await;
}

async fn wind(open: Signal<()>) {
    loop {
        wait_seconds(2).await;
        open.emit(());
    }
}

/// Jumps at its own pace. Every third ball waits for the whistle.
async fn jump(number: u8, whistle: Signal<()>) {
    loop {
        if number.is_multiple_of(3) {
            describe("waits for the whistle");
            whistle.wait().await;
        } else {
            describe("rests");
            wait_seconds(0.3 * f32::from(number)).await;
        }
        describe("jumps");
        animate(0.8, |part| {
            let height = 480.0 * part * (1.0 - part);
            with(|balls: &mut Balls| balls.heights[usize::from(number)] = height);
        })
        .await;
    }
}

async fn glow() {
    loop {
        wait_frames(30).await;
        with(|balls: &mut Balls| balls.glow = 1.0 - balls.glow);
    }
}
