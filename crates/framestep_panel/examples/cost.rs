//! What the panel costs: `cargo run --release --example cost`.

mod scene;

use std::time::{Duration, Instant};

use framestep_panel::Panel;
use scene::Scene;

const FRAMES: u32 = 300;

fn main() {
    for count in [10, 1_000, 10_000] {
        println!("{count} scripts, for each frame:");
        measure("no panel", count, |_, _| {});
        measure("closed", count, |panel, _| panel.close());
        measure("closed, and listening", count, |panel, scene| {
            panel.listen(&scene.executor);
        });
        measure("open", count, |panel, _| panel.open());
        measure("open, and listening", count, |panel, scene| {
            panel.listen(&scene.executor);
            panel.open();
        });
    }
}

fn measure(what: &str, count: usize, begin: impl Fn(&mut Panel, &Scene)) {
    let mut scene = Scene::lively(count);
    let mut panel = Panel::new();
    begin(&mut panel, &scene);
    let (mut runs, mut looks, mut longest) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    for frame in 0..FRAMES + 60 {
        let began = Instant::now();
        scene.run(1.0 / 60.0);
        let ran = Instant::now();
        panel.look(&scene.executor);
        panel.warnings();
        panel.rows();
        if frame >= 60 {
            runs += ran - began;
            looks += ran.elapsed();
            longest = longest.max(ran.elapsed());
        }
    }
    let (run, look) = (runs / FRAMES, looks / FRAMES);
    println!(
        "  {what:<22} the executor {run:>10.1?}, the panel {look:>10.1?}, at most {longest:>10.1?}"
    );
}
