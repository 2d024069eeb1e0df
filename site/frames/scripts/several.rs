// Three scripts at once.

async fn walk() {
    for _ in 0..10 {
        with(|w: &mut World| w.hero += 0.9);
        next_frame().await;
    }
    println!("the hero is at the door");
}

async fn shine() {
    loop {
        animate(0.5, |part| with(|w: &mut World| w.lamp = part)).await;
        animate(0.5, |part| with(|w: &mut World| w.lamp = 1.0 - part)).await;
    }
}

async fn count() {
    for second in 1..=2 {
        wait_seconds(1).await;
        println!("{second}");
    }
}

async fn game() {
    let lamp = start(shine());
    start(count());
    walk().await;
    wait_seconds(1).await;
    lamp.stop();
}
