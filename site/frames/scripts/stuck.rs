// The gate stays shut: what does it wait for?

async fn gate(opened: Signal<()>) {
    opened.wait().await;
    animate(1, |part| with(|w: &mut World| w.door = part)).await;
    println!("the gate is open");
}

async fn winch(open: Signal<()>) {
    for turn in 1..=3 {
        wait_seconds(0.5).await;
        println!("turn {turn}");
    }
    open.emit(());
}

async fn game() {
    let opened = Signal::new().named("gate opened");
    let open = Signal::new().named("gate open");
    let gate = start(gate(opened));
    start(winch(open));
    let _ = timeout(6, gate).await;
    println!("the end");
}
