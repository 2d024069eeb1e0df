//! The scripts of the scene: what each actor does, from its point of view.

use godot::classes::{Engine, INode2D, Node2D};
use godot::prelude::*;
use godot_framestep::prelude::*;

use crate::figure::{Figure, Kind, add, change};

const GROUND: f32 = 600.0;
const GATE: f32 = 900.0;

/// The scene. It makes the actors, and starts a script for each.
#[derive(GodotClass, Debug)]
#[class(base = Node2D, init)]
pub(crate) struct Stage {
    /// The same for all runs: the demo is the same each time.
    #[init(val = 7)]
    random: u64,
    base: Base<Node2D>,
}

#[godot_api]
impl Stage {
    /// The guard lets somebody in.
    #[signal]
    fn let_in();

    /// The hero has passed the gate.
    #[signal]
    fn passed();

    /// The hero has landed on the slime.
    #[signal]
    fn stomped();

    #[signal]
    fn coins_changed(coins: u32);

    /// A night, for `GDScript`: `await stage.night().join()` returns the number of coins.
    #[func]
    fn night(&self) -> Gd<FramestepScript> {
        let stage = self.to_gd();
        stage
            .spawn_script(night(stage.clone()))
            .named("night")
            .for_godot()
    }

    fn below(&mut self, limit: u64) -> f32 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.random >> 33) % limit) as f32
    }
}

#[godot_api]
impl INode2D for Stage {
    fn ready(&mut self) {
        let stage = self.to_gd();
        let parent = stage.clone().upcast::<Node2D>();
        add(&parent, Kind::Sky, Vector2::ZERO, "ffffff");
        for _ in 0..70 {
            let at = Vector2::new(self.below(1280), self.below(380));
            let star = add(&parent, Kind::Star, at, "dfe6ff");
            let patience = 0.4 + self.below(100) / 40.0;
            drop(
                star.spawn_script(twinkle(star.clone(), patience))
                    .named("star"),
            );
        }
        let lift = add(&parent, Kind::Lift, Vector2::new(1225.0, 420.0), "ffffff");
        drop(lift.spawn_script(ride(lift.clone())).named("lift"));
        add(
            &parent,
            Kind::Castle,
            Vector2::new(GATE - 130.0, GROUND),
            "ffffff",
        );
        let gate = add(&parent, Kind::Gate, Vector2::new(GATE, GROUND), "ffffff");
        drop(
            gate.spawn_script(open_and_close(stage.clone(), gate.clone()))
                .named("gate"),
        );
        for (x, patience) in [(GATE - 95.0, 0.06), (GATE + 95.0, 0.09), (420.0, 0.075)] {
            let torch = add(
                &parent,
                Kind::Torch,
                Vector2::new(x, GROUND - 130.0),
                "ffffff",
            );
            drop(
                torch
                    .spawn_script(flicker(stage.clone(), torch.clone(), patience))
                    .named("torch"),
            );
        }
        for _ in 0..40 {
            let at = Vector2::new(400.0 + self.below(500), 90.0 + self.below(200));
            let bat = add(&parent, Kind::Bat, at, "5d63a6");
            drop(
                bat.spawn_script(flutter(stage.clone(), bat.clone()))
                    .named("bat"),
            );
        }
    }
}

/// A star fades and returns.
async fn twinkle(mut star: Gd<Figure>, patience: f32) {
    loop {
        wait_seconds(patience * 3.0).await;
        for alpha in [0.3, 1.0] {
            let from = star.get_modulate().a;
            animate(patience, |part: f32| {
                star.set_modulate(Color::WHITE.with_alpha(from + (alpha - from) * part));
            })
            .await;
        }
    }
}

/// A torch flickers.
async fn flicker(stage: Gd<Stage>, torch: Gd<Figure>, patience: f32) {
    let mut stage = stage;
    loop {
        wait_seconds(patience).await;
        let size = stage.bind_mut().below(100) / 100.0;
        change(&torch, |torch| torch.motion = size);
    }
}

/// A bat flies from place to place, and beats its wings meanwhile.
async fn flutter(mut stage: Gd<Stage>, mut bat: Gd<Figure>) {
    let beats = async |bat: &Gd<Figure>, beat: f32| {
        let mut at = 0.0;
        loop {
            at += beat * delta_seconds();
            change(bat, |bat| bat.motion = at);
            next_frame().await;
        }
    };
    let beat = 2.0 + stage.bind_mut().below(100) / 50.0;
    let wings = bat.clone();
    let flies = async {
        loop {
            let from = bat.get_position();
            let (x, y) = {
                let mut stage = stage.bind_mut();
                (stage.below(1100) + 80.0, stage.below(260) + 60.0)
            };
            let to = Vector2::new(x, y);
            let seconds = from.distance_to(to) / 120.0;
            animate(seconds, |part: f32| {
                let bob = Vector2::new(0.0, (part * 20.0).sin() * 14.0);
                bat.set_position(from.lerp(to, part) + bob);
            })
            .await;
        }
    };
    join!(beats(&wings, beat), flies);
}

/// The lift moves with the physics.
async fn ride(mut lift: Gd<Figure>) {
    loop {
        for speed in [-90.0, 90.0] {
            for _ in 0..150 {
                fixed_update().await;
                let step = Vector2::new(0.0, speed * delta_seconds());
                lift.translate(step);
            }
            wait_seconds(0.8).await;
        }
    }
}

/// The gate opens when the guard says so, and closes behind the guest, or after 6 seconds.
async fn open_and_close(stage: Gd<Stage>, gate: Gd<Figure>) {
    let mut let_in = stage.signals().let_in().emissions();
    while let_in.next().await.is_some() {
        animate(1.2, |part| change(&gate, |gate| gate.motion = part)).await;
        let passed = stage.signals().passed().emitted();
        let _is_late = timeout(6, passed).await.is_err();
        // It falls faster and faster.
        animate(0.5, |part: f32| {
            change(&gate, |gate| gate.motion = 1.0 - part * part);
        })
        .await;
        script("shake").start(shake(stage.clone(), 4.0));
    }
}

/// One night: the coins, the guard, the slime and the hero. They all end with it.
async fn night(stage: Gd<Stage>) -> u32 {
    let parent = stage.clone().upcast::<Node2D>();
    let hero = add(&parent, Kind::Hero, Vector2::new(-40.0, GROUND), "3f7d5a");
    let guard = add(&parent, Kind::Guard, Vector2::new(700.0, GROUND), "5a6296");
    let slime = add(&parent, Kind::Slime, Vector2::new(1130.0, GROUND), "6fd08c");
    let coins: Vec<_> = (0..5)
        .map(|number| {
            let at = Vector2::new(120.0 + number as f32 * 62.0, GROUND - 40.0);
            let coin = add(&parent, Kind::Coin, at, "ffffff");
            let script = coin.spawn_script(shine(coin.clone(), hero.clone()));
            script.named("coin")
        })
        .collect();
    drop(guard.spawn_script(patrol(guard.clone())).named("guard"));
    drop(
        slime
            .spawn_script(hop(stage.clone(), slime.clone()))
            .named("slime"),
    );
    drop(
        hero.spawn_script(count(stage.clone(), coins))
            .named("purse"),
    );

    let adventure = hero.spawn_script(adventure(stage.clone(), hero.clone(), guard.clone()));
    let found = adventure.named("hero").await.unwrap_or_default();
    for mut figure in [hero, guard, slime] {
        if figure.is_instance_valid() {
            figure.queue_free();
        }
    }
    wait_seconds(1).await;
    found
}

/// Walks to a place, at 130 pixels a second.
async fn walk(mut who: Gd<Figure>, to: f32) {
    loop {
        let at = who.get_position();
        let way = to - at.x;
        let step = 130.0 * delta_seconds();
        if way.abs() <= step {
            change(&who, |who| who.motion = 0.0);
            return;
        }
        change(&who, |who| {
            who.facing = way.signum();
            who.motion += 1.6 * delta_seconds();
        });
        who.set_position(at + Vector2::new(step * way.signum(), 0.0));
        next_frame().await;
    }
}

/// Says a line, letter by letter.
async fn say(who: &Gd<Figure>, line: &str) {
    let words = add(
        &who.clone().upcast(),
        Kind::Words,
        Vector2::new(0.0, -150.0),
        "ffffff",
    );
    for (end, _) in line.char_indices().skip(1) {
        change(&words, |words| line[..end].clone_into(&mut words.text));
        wait_seconds(0.035).await;
    }
    change(&words, |words| line.clone_into(&mut words.text));
    wait_seconds(0.9).await;
    words.clone().queue_free();
}

/// Jumps to a place, in an arc.
async fn jump(mut who: Gd<Figure>, to: f32, height: f32) {
    let from = who.get_position();
    animate(0.7, |part: f32| {
        let y = from.y - height * 4.0 * part * (1.0 - part);
        who.set_position(Vector2::new(from.x + (to - from.x) * part, y));
    })
    .await;
}

/// What the hero does tonight.
async fn adventure(stage: Gd<Stage>, hero: Gd<Figure>, guard: Gd<Figure>) -> u32 {
    walk(hero.clone(), 520.0).await;
    say(&guard, "Halt! Who goes there?").await;
    say(&hero, "A friend. And it is late.").await;
    say(&guard, "So it is. Come in.").await;
    stage.signals().let_in().emit();
    join!(walk(guard.clone(), 760.0), wait_seconds(1.2));
    walk(hero.clone(), 1000.0).await;
    stage.signals().passed().emit();
    jump(hero.clone(), 1130.0, 150.0).await;
    stage.signals().stomped().emit();
    jump(hero.clone(), 1200.0, 60.0).await;
    walk(hero.clone(), 1330.0).await;
    5
}

/// The guard walks up and down until somebody is near, and listens then.
async fn patrol(guard: Gd<Figure>) {
    loop {
        for to in [640.0, 820.0] {
            select! {
                () = walk(guard.clone(), to) => {}
                () = nears(guard.clone()) => {
                    change(&guard, |guard| (guard.facing, guard.motion) = (-1.0, 0.0));
                    return;
                }
            }
            wait_seconds(0.7).await;
        }
    }
}

/// Waits until the hero is near.
async fn nears(guard: Gd<Figure>) {
    let stage = guard.get_parent();
    wait_until(move || {
        let hero = stage
            .as_ref()
            .and_then(|stage| stage.try_get_node_as::<Node2D>("Hero"));
        hero.is_some_and(|hero| (hero.get_position().x - guard.get_position().x).abs() < 260.0)
    })
    .await;
}

/// A coin turns until the hero takes it.
async fn shine(mut coin: Gd<Figure>, hero: Gd<Figure>) {
    let turns = async {
        loop {
            let part: f32 = delta_seconds();
            change(&coin, |coin| coin.motion += 0.6 * part);
            next_frame().await;
        }
    };
    let at = coin.get_position();
    let taken = wait_until(move || (hero.get_position().x - at.x).abs() < 12.0);
    select! {
        () = turns => {}
        () = taken => {}
    }
    animate(0.35, |part: f32| {
        coin.set_position(at - Vector2::new(0.0, 70.0 * part));
        coin.set_modulate(Color::WHITE.with_alpha(1.0 - part));
    })
    .await;
    coin.queue_free();
}

/// Counts the coins, whichever is first.
async fn count(stage: Gd<Stage>, mut coins: Vec<Coroutine<()>>) {
    for count in 1.. {
        if coins.is_empty() {
            return;
        }
        let (taken, _) = race(&mut coins).await;
        drop(coins.remove(taken));
        stage.signals().coins_changed().emit(count);
    }
}

/// The slime hops, until somebody lands on it.
async fn hop(stage: Gd<Stage>, slime: Gd<Figure>) {
    let mut stomped = stage.signals().stomped().emissions();
    let hops = async {
        loop {
            wait_seconds(0.5).await;
            animate(0.3, |part| change(&slime, |slime| slime.motion = part)).await;
            let hops = jump(slime.clone(), slime.get_position().x, 46.0);
            let stretches = animate(0.3, |part: f32| {
                change(&slime, |slime| slime.motion = 1.0 - part);
            });
            join!(hops, stretches);
        }
    };
    select! {
        () = hops => {}
        _ = stomped.next() => {}
    }
    let at = slime.get_position();
    script("slow motion").start(slow_motion());
    script("shake").start(shake(stage.clone(), 12.0));
    for number in 0..36 {
        burst(&stage, at - Vector2::new(0.0, 20.0), number);
    }
    animate(0.15, |part| change(&slime, |slime| slime.motion = part)).await;
    slime.clone().queue_free();
}

/// A spark flies and falls, and ends with its node.
fn burst(stage: &Gd<Stage>, at: Vector2, number: u32) {
    let colors = ["6fd08c", "b7f2c4", "ffd27a"];
    let parent = stage.clone().upcast::<Node2D>();
    let mut spark = add(&parent, Kind::Spark, at, colors[number as usize % 3]);
    let angle = number as f32 * 0.55;
    let speed = Vector2::new(angle.cos(), angle.sin() - 1.2) * (120.0 + (number * 53 % 160) as f32);
    let node = spark.clone();
    let flies = async move {
        animate(1.1, |part: f32| {
            spark.set_position(at + speed * part + Vector2::new(0.0, 420.0 * part * part));
            spark.set_modulate(Color::WHITE.with_alpha(1.0 - part));
        })
        .await;
        spark.queue_free();
    };
    drop(node.spawn_script(flies).named("spark"));
}

/// A third of the speed, for 30 frames.
async fn slow_motion() {
    Engine::singleton().set_time_scale(0.3);
    wait_frames(30).await;
    Engine::singleton().set_time_scale(1.0);
}

/// The picture shakes, less and less.
async fn shake(mut stage: Gd<Stage>, strength: f32) {
    animate(0.5, |part: f32| {
        let left = strength * (1.0 - part);
        let (x, y) = ((part * 70.0).sin(), (part * 90.0).cos());
        stage.set_position(Vector2::new(x, y) * left);
    })
    .await;
    stage.set_position(Vector2::ZERO);
}
