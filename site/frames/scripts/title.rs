// A title screen. The lamp blinks until a key is pressed; when the level is over, the title is back.

async fn blink() {
    loop {
        with(|w: &mut World| w.lamp = 1.0);
        wait_seconds(0.5).await;
        with(|w: &mut World| w.lamp = 0.0);
        wait_seconds(0.5).await;
    }
}

async fn title(key: &Signal<()>) {
    println!("press a key");
    select! {
        () = key.wait() => with(|w: &mut World| w.lamp = 0.0),
        () = blink() => {}
    }
}

async fn level() -> u32 {
    println!("the level begins");
    animate(1.5, |part| with(|w: &mut World| w.hero = 10.0 * part)).await;
    println!("the level is over");
    3 // coins
}

async fn player(key: Signal<()>) {
    for pause in [2.25, 3.0] {
        wait_seconds(pause).await;
        key.emit(());
    }
}

async fn game() {
    let key = Signal::new().named("key");
    start(player(key.clone()));
    for _ in 0..2 {
        title(&key).await;
        let coins = level().await;
        with(|w: &mut World| w.coins += coins);
    }
}
