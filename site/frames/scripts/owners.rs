// A script ends with its owner: here the level, which is dropped.

async fn torch(rest: f64) {
    loop {
        with(|w: &mut World| w.lamp = 1.0);
        wait_seconds(rest).await;
        with(|w: &mut World| w.lamp = 0.0);
        wait_seconds(rest).await;
    }
}

async fn coins() {
    loop {
        wait_seconds(0.75).await;
        with(|w: &mut World| w.coins += 1);
    }
}

async fn game() {
    let level = owner().named("level");
    level.start(torch(0.25));
    level.start(coins());
    wait_seconds(2).await;

    println!("pause: their timers stand still");
    level.pause();
    wait_seconds(1).await;
    level.resume();

    wait_seconds(1.5).await;
    println!("the level ends, and its scripts with it");
    drop(level);
    wait_seconds(1).await;
}
