//! Owners: enemies whose scripts end with them, a pause menu, and a squad that ends together.

use framestep::prelude::*;

struct Enemy {
    name: &'static str,
    scripts: Owner,
}

impl Enemy {
    /// The owner is a child of the level's owner: a pause of the level pauses its
    /// enemies.
    fn new(name: &'static str, level: &Owner) -> Self {
        let scripts = level.child();
        scripts.start(patrol(name));
        Enemy { name, scripts }
    }
}

impl Drop for Enemy {
    fn drop(&mut self) {
        println!("          {} is gone", self.name);
    }
}

fn say(text: &str) {
    println!("frame {:2}: {text}", time().frame);
}

/// A guard: its destructor runs when the script ends, even if it is stopped.
struct Footsteps(&'static str);

impl Drop for Footsteps {
    fn drop(&mut self) {
        println!("          the steps of {} fall silent", self.0);
    }
}

async fn patrol(name: &'static str) {
    let _sound = Footsteps(name);
    for post in 1.. {
        wait_seconds(0.5).await;
        say(&format!("{name} is at post {post}"));
    }
}

/// Stops its members when it returns, or when it is stopped itself.
async fn squad() {
    let members = owner();
    members.start(patrol("the captain"));
    members.start(patrol("the recruit"));
    wait_seconds(0.75).await;
    say("the squad is called back");
}

fn run(executor: &mut Executor, frames: u32, what: &str) {
    println!("----- {what}");
    for _ in 0..frames {
        executor.run_frame(0.25);
    }
}

fn main() {
    let mut executor = Executor::new();
    let level = executor.owner();
    let goblin = Enemy::new("the goblin", &level);
    let troll = Enemy::new("the troll", &level);
    run(&mut executor, 3, "three frames of a quarter of a second");

    level.pause();
    executor.start(async {
        wait_seconds(0.5).await;
        say("the menu has opened");
    });
    run(
        &mut executor,
        4,
        "paused: half a second later the menu is open",
    );
    level.resume();
    run(&mut executor, 1, "on we go: a quarter of a second was left");

    println!("----- a hit");
    drop(goblin);
    run(&mut executor, 2, "the troll is alone");

    troll.scripts.set_active(false);
    let refused = troll.scripts.start(patrol("nobody"));
    assert!(refused.is_finished());
    troll.scripts.set_active(true);
    troll.scripts.start(squad());
    run(&mut executor, 3, "the troll has called a squad");
    assert!(executor.is_empty());
    println!("----- the end of the level");
}
