// The gate opens if the lever is pulled within two seconds.

async fn gate(lever: Signal<()>) -> bool {
    select! {
        () = lever.wait() => {
            println!("the lever is pulled");
            animate(1, |part| with(|w: &mut World| w.door = part)).await;
            true
        }
        () = hurry() => false,
    }
}

async fn hurry() {
    for left in 1..=2 {
        println!("tick {left}");
        wait_seconds(1).await;
    }
}

async fn hero(lever: Signal<()>) {
    while with(|w: &mut World| w.hero < 6.0) {
        with(|w: &mut World| w.hero += 1.0);
        next_frame().await;
    }
    lever.emit(());
}

async fn game() {
    let lever = Signal::new().named("lever");
    let open = start(gate(lever.clone()));
    start(hero(lever));
    if open.await.unwrap() {
        println!("the gate is open");
    } else {
        println!("too late");
    }
}
