// An arrow stuns the enemy: its patrol and the timers of it stand still. The third arrow kills it.

async fn patrol() {
    loop {
        animate(1, |part| with(|w: &mut World| w.hero = 2.0 + 5.0 * part)).await;
        wait_seconds(0.5).await;
        animate(1, |part| with(|w: &mut World| w.hero = 7.0 - 5.0 * part)).await;
        wait_seconds(0.5).await;
    }
}

async fn enemy(arrow: Signal<()>) {
    let body = owner().named("body");
    body.start(patrol());
    for lives in (0..3).rev() {
        arrow.wait().await;
        println!("hit, {lives} lives left");
        body.pause();
        wait_seconds(0.75).await;
        body.resume();
    }
    println!("the enemy is dead");
} // `body` is dropped, and stops the patrol

async fn game() {
    let arrow = Signal::new().named("arrow");
    let enemy = start(enemy(arrow.clone()));
    for _ in 0..3 {
        wait_seconds(1.5).await;
        arrow.emit(());
    }
    enemy.await.unwrap();
    with(|w: &mut World| w.coins += 5);
}
