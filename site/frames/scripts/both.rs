// `join!` waits for all, `timeout` only so long.

async fn walk(to: f32) -> f32 {
    while with(|w: &mut World| w.hero < to) {
        with(|w: &mut World| w.hero += 0.5);
        next_frame().await;
    }
    to
}

async fn lamp() {
    animate(1, |part| with(|w: &mut World| w.lamp = part)).await;
}

async fn read(letter: Signal<u32>) -> u32 {
    letter.wait().await
}

async fn game() {
    let (place, ()) = join!(walk(5.0), lamp());
    println!("at {place}, and the lamp is on");

    let letter = Signal::new().named("letter");
    match timeout(1, read(letter.clone())).await {
        Ok(coins) => println!("{coins} coins"),
        Err(_) => println!("no letter"),
    }
    let reader = start(read(letter.clone()));
    letter.emit(5);
    println!("{} coins", reader.await.unwrap());
}
