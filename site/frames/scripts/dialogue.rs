// A dialogue box. A key shows the rest of a line at once, and then the next line.

async fn type_out(line: &str) {
    for end in 1..=line.len() {
        println!("{}", &line[..end]);
        wait_seconds(0.2).await;
    }
}

async fn say(line: &str, key: &Signal<()>) {
    select! {
        () = type_out(line) => {}
        () = key.wait() => println!("{line}"),
    }
    key.wait().await;
}

async fn player(key: Signal<()>) {
    for pause in [0.75, 1.0, 3.0] {
        wait_seconds(pause).await;
        println!("(a key)");
        key.emit(());
    }
}

async fn game() {
    let key = Signal::new().named("key");
    let player = start(player(key.clone()));
    say("Who is there?", &key).await;
    with(|w: &mut World| w.lamp = 1.0);
    say("A friend.", &key).await;
    player.stop();
}
